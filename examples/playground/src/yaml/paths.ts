/**
 * Reads values by the paths that the server writes: `.spec.containers[name="web"].image`, `spec.containers[0].image`.
 */
import { stepsOf } from '../editor/outline.js';

type Json = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined if the path does not exist. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of stepsOf(path)) found = below(found, step);
  return found;
}

function below(value: unknown, step: string): unknown {
  if (isMap(value)) {
    const name = step.startsWith('[') ? step.slice(1, -1) : step;
    return value[name] ?? value[unquoted(name)];
  }
  if (!Array.isArray(value) || !step.startsWith('[')) return undefined;
  const inside = step.slice(1, -1);
  if (/^\d+$/.test(inside)) return value[Number(inside)];
  return value.find((item: unknown) => itemMatches(item, inside));
}

function itemMatches(item: unknown, keys: string): boolean {
  return [...keys.matchAll(/([^=,]*)=("(?:[^"\\]|\\.)*"|[^,]*)/g)].every(([, key = '', wanted = '']) => {
    const field = key === '' ? item : isMap(item) ? item[key] : undefined;
    return String(field) === unquoted(wanted);
  });
}

function unquoted(word: string): string {
  return /^".*"$/.test(word) ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word;
}

/** A value in one line, for tables: `3`, `"web:1"`, `{…}`. */
export function shortText(value: unknown): string {
  if (value === undefined) return '(absent)';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
