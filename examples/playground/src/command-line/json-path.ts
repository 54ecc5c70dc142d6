/**
 * A subset of JSONPath templates: text, `{.a.b}`, `{.items[*].metadata.name}`, `{.a[0]}`, `{.a['b.c']}` and literals
 * (`{"\n"}`). Loops and filters are rejected with an error.
 */
import { isJson } from './json.js';
import { LineError } from './split-words.js';

type Step = { readonly key: string } | { readonly index: number } | 'all';

/** Evaluates a template against a document. Missing values print as nothing. */
export function jsonPathText(template: string, document: unknown): string {
  // kubectl accepts a single path without braces.
  const whole = /^[.[]/.test(template) ? `{${template}}` : template;
  return whole.replaceAll(/\{([^{}]*)\}/g, (_, inside: string) => {
    const literal = /^\s*(["'])(.*)\1\s*$/.exec(inside);
    if (literal !== null) return (literal[2] ?? '').replaceAll('\\n', '\n').replaceAll('\\t', '\t');
    return valuesAt(document, inside.trim()).map(valueText).join(' ');
  });
}

/** All values at a path (without its braces). */
export function valuesAt(document: unknown, path: string): readonly unknown[] {
  let found: readonly unknown[] = [document];
  for (const step of stepsOf(path)) found = found.flatMap((value) => below(value, step));
  return found;
}

function below(value: unknown, step: Step): readonly unknown[] {
  if (step === 'all') return Array.isArray(value) ? value : isJson(value) ? Object.values(value) : [];
  if ('index' in step) return Array.isArray(value) && value.length > 0 ? value.slice(step.index).slice(0, 1) : [];
  return isJson(value) && Object.hasOwn(value, step.key) ? [value[step.key]] : [];
}

const STEP = /^(?:\.((?:\\.|[^.[\]\\])+)|\[(-?\d+)\]|\[\*\]|\['((?:[^'\\]|\\.)*)'\])/;

function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = [];
  let rest = path.replace(/^[$@]/, '');
  if (rest === '.' || rest === '') return steps;
  while (rest !== '') {
    const [all = '', key, index, quoted] = STEP.exec(rest) ?? [];
    if (all === '') {
      throw new LineError(
        `error: unsupported JSONPath "${path}": fields, [0], [*] and ['name'] are supported, loops and filters are not`,
      );
    }
    const name = (key ?? quoted)?.replaceAll(/\\(.)/g, '$1');
    if (index !== undefined) steps.push({ index: Number(index) });
    else steps.push(name === undefined || name === '*' ? 'all' : { key: name });
    rest = rest.slice(all.length);
  }
  return steps;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
