/**
 * Values of which a schema has a list. The list is looked at once: one value may be a long list of values that each
 * must be one of many.
 */
import { printGoValue } from '../../text/go/go-value.js';
import { encodeSorted, escapeForPages, isRecord } from '../../util/json.js';
import type { AllowedValues } from './finding.js';
import { floatOf, jsonKind } from './json-kind.js';
import { truncated } from './numbers.js';

export interface Enumeration {
  readonly shown: AllowedValues;
  /** `should be one of [a b]`. */
  readonly text: string;
  has(value: unknown): boolean;
}

export function enumerationOf(given: readonly unknown[]): Enumeration {
  const allowed = given.map(settled);
  const contents = new Set(allowed.map(contentOf));
  const integers = new Set(allowed.filter((one) => jsonKind(one) === 'integer').map(String));
  const numbers = new Set(allowed.filter((one) => jsonKind(one) === 'number').map(floatOf));
  return {
    shown: allowed.map(shownInList),
    text: `should be one of ${printGoValue([...allowed])}`,
    has(value) {
      const kind = jsonKind(value);
      // Null never matches, not even itself.
      if (kind === 'null') return false;
      // A value is first made what the listed one is: a fraction is cut off, an integer becomes the character it counts.
      if (kind === 'number') {
        return numbers.has(floatOf(value)) || integers.has(String(truncated(floatOf(value))));
      }
      if (contents.has(contentOf(value))) return true;
      return kind === 'integer' && (numbers.has(Number(value)) || contents.has(contentOf(characterOf(value))));
    },
  };
}

/** Integers beyond 64 bits are no integers. */
function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled);
  if (isRecord(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, settled(value[key])]));
  return jsonKind(value) === 'number' ? floatOf(value) : value;
}

function shownInList(value: unknown): string {
  return typeof value === 'string' ? value : escapeForPages(encodeSorted(value));
}

function characterOf(value: unknown): string {
  const code = Number(value);
  return code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
}

/** Equal for equal values: plain values are their own, others a text that no plain value is. */
function contentOf(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? encodeSorted(settled(value)) : value;
}
