/**
 * Values of which a schema has a list. A default may be a long list of values that each must be one of many: the list is
 * looked at once, and printed only so often.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { notSupported } from '../../../../meta/field-error.js';
import { isRecord, printJson } from '../../../../util/json.js';

/** Later reports leave the list out. */
const MAX_LISTS = 100;

/** The lists of all schemas that one value is judged by. */
export class Enums {
  readonly #lists = new Map<readonly unknown[], Listed>();

  errors(allowed: readonly unknown[], value: unknown, field: string): FieldError[] {
    if (allowed.length === 0) return [];
    let list = this.#lists.get(allowed);
    if (list === undefined) {
      list = { contents: new Set(allowed.map(contentOf)), shown: allowed.map(textOf), reports: 0 };
      this.#lists.set(allowed, list);
    }
    // Null never matches, not even itself.
    if (value !== null && list.contents.has(contentOf(value))) return [];
    list.reports++;
    return [notSupported(field, value, list.reports > MAX_LISTS ? [] : list.shown)];
  }
}

interface Listed {
  readonly contents: ReadonlySet<unknown>;
  readonly shown: readonly string[];
  reports: number;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : printJson(value);
}

/** Equal for equal values: plain values are their own, others a text that no plain value is. */
function contentOf(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? printJson(sorted(value)) : value;
}

/** With the fields of every object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
