/**
 * `enum` validation. The allowed values are prepared once, because a long list may be checked against many allowed
 * values.
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
      // Null never matches, not even a listed null.
      if (kind === 'null') return false;
      // As in the reference server, the value is first converted to the type of the listed one: a float is truncated,
      // and an integer becomes the character with that code.
      if (kind === 'number') {
        return numbers.has(floatOf(value)) || integers.has(String(truncated(floatOf(value))));
      }
      if (contents.has(contentOf(value))) return true;
      return kind === 'integer' && (numbers.has(Number(value)) || contents.has(contentOf(characterOf(value))));
    },
  };
}

/** Converts integers outside of the int64 range to floats. */
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

/**
 * Returns equal results for equal values: scalars stay themselves, and other values become a string that no scalar
 * results in.
 */
function contentOf(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? encodeSorted(settled(value)) : value;
}
