/**
 * Prints a patched document as the reference server does in errors. Its patch libraries keep unopened parts as text, so
 * duplicate keys and the spelling of numbers are preserved. spec: Operations
 */
import type { ParsedBody } from '../util/json.js';
import { escapeForPages, isRecord } from '../util/json.js';

/**
 * @example
 * printPatched({ value: { b: '<', a: 1 } }) // '{"b":"\\u003c","a":1}'
 */
export function printPatched(document: ParsedBody): string {
  return escapeForPages(print(document.value, document));
}

function print(value: unknown, document: ParsedBody): string {
  if (Array.isArray(value)) return `[${value.map((item) => print(item, document)).join(',')}]`;
  if (!isRecord(value)) return typeof value === 'object' ? String(value) : printScalar(value);
  const repeated = document.duplicates?.get(value);
  const entries = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .flatMap((key) => [...(repeated?.get(key) ?? []), value[key]].map((item) => [key, item] as const));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${print(item, document)}`).join(',')}}`;
}

function printScalar(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null');
}
