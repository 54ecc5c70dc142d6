/**
 * Finds a text in another one in time proportional to their lengths. The search of JavaScript engines needs the product of the
 * lengths for some texts.
 */
import { spendWork } from '../work-budget.js';

/** The engine's search is fast enough for parts of at most this length. */
const SHORT = 16;
/** Work per character in the slowest case. */
const STEP = 5;

/** Like `String.indexOf`. */
export function firstIndexOf(text: string, part: string, from = 0): number {
  spendWork((text.length + part.length) * STEP);
  return part.length <= SHORT ? text.indexOf(part, from) : search(text, part, { from });
}

/** Like `String.lastIndexOf`. */
export function lastIndexOf(text: string, part: string, last: number): number {
  spendWork((text.length + part.length) * STEP);
  return part.length <= SHORT ? text.lastIndexOf(part, last) : search(text, part, { from: 0, last });
}

/** Like `String.split`. */
export function splitText(text: string, by: string): string[] {
  spendWork((text.length + by.length) * STEP);
  if (by.length <= SHORT) return text.split(by);
  const parts: string[] = [];
  let from = 0;
  for (let at = search(text, by, { from }); at >= 0; at = search(text, by, { from })) {
    parts.push(text.slice(from, at));
    from = at + by.length;
  }
  return [...parts, text.slice(from)];
}

/**
 * The first index of the part in the text, or with `last` the last index that is not above it; -1 if there is none. The algorithm of
 * Knuth, Morris and Pratt.
 */
function search(text: string, part: string, { from, last }: { readonly from: number; readonly last?: number }): number {
  const end = Math.min(text.length, (last ?? text.length) + part.length);
  if (end - from < part.length) return -1;
  const borders = bordersOf(part);
  let found = -1;
  let length = 0;
  for (let at = from; at < end; at++) {
    length = extended(part, borders, { length, unit: text.charCodeAt(at) });
    if (length < part.length) continue;
    found = at + 1 - length;
    if (last === undefined) return found;
    length = borders[length - 1] as number;
  }
  return found;
}

/** For each prefix of the part, the length of its longest proper prefix that is also its suffix. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  for (let at = 1; at < part.length; at++) {
    borders[at] = extended(part, borders, { length: borders[at - 1] as number, unit: part.charCodeAt(at) });
  }
  return borders;
}

/** The length of the longest prefix of the part that ends with a unit, after a prefix of a length. */
function extended(
  part: string,
  borders: Int32Array,
  { length, unit }: { readonly length: number; readonly unit: number },
): number {
  let matched = length;
  while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
  return part.charCodeAt(matched) === unit ? matched + 1 : matched;
}
