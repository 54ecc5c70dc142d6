/**
 * What calls cost when they run. Libraries are asked first; the rest is priced by the overload, and a call whose
 * overload is known only when it runs costs one. spec: CEL cost
 */

import { Failure, type Result } from '../failure.js';
import { characterCount } from '../library/text.js';
import type { Library, PricedCall } from '../library.js';
import { CelBytes, CelList, CelMap, CelObject, CelOpaque, CelOptional, type CelValue } from '../values.js';
import { spend } from '../work-budget.js';

/** The same long text is asked for its size by every round of a loop; it is counted once. */
const LONG = 200;

let lastText = '';

let lastCount = 0;

export const COST_OF_VARIABLE = 1;
export const COST_OF_LIST = 10;
export const COST_OF_MAP = 30;
export const COST_OF_OBJECT = 40;

/** To go through ten characters costs one. */
const TRAVERSAL = 0.1;
/** Four characters of a regular expression are about one part of it. */
const REGEX = 0.25;

/** Most prices are known before a call runs. They are charged then, so that nothing is done that is not paid for. */
export interface Price {
  /** Undefined when the price depends on the result. */
  readonly before: (args: readonly Result[]) => number | undefined;
  /** The same where it is known before. */
  readonly after: (args: readonly Result[], result: Result) => number;
}

export const ONE: Price = { before: () => 1, after: () => 1 };

/** Operators and what is like them are the language's own; libraries are not asked for them. */
const OPERATORS = /^[@!_-]/;
const STANDARD = new Set(['contains', 'startsWith', 'endsWith', 'matches', 'size', 'dyn', 'type', 'int', 'string']);

export function priceOf(name: string, overload: string, libraries: readonly Library[]): Price {
  const standard = standardPrice(overload);
  if (OPERATORS.test(name) || STANDARD.has(name)) return standard;
  const prices = libraries.flatMap(({ price }) => price ?? []);
  if (prices.length === 0) return standard;
  const priceIn = (args: readonly Result[], call: (args: readonly CelValue[]) => PricedCall): number => {
    const asked = call(args.map(priced));
    for (const price of prices) {
      const cost = price(asked);
      if (cost !== undefined) return cost;
    }
    return standard.after(args, null);
  };
  return {
    before: (args) => {
      let isResultAsked = false;
      const cost = priceIn(args, (values) => ({
        function: name,
        overload,
        args: values,
        // A library does not say whether it will look at the result; it shows.
        get result() {
          isResultAsked = true;
          return null;
        },
      }));
      return isResultAsked ? undefined : cost;
    },
    after: (args, result) =>
      priceIn(args, (values) => ({ function: name, overload, args: values, result: priced(result) })),
  };
}

/** Of `==`: libraries know best how values of their own types compare. */
export function priceOfEquality(
  libraries: readonly Library[],
): (left: Result, right: Result, result: Result) => number {
  const prices = libraries.flatMap(({ price }) => price ?? []);
  return (left, right, result) => {
    if (left instanceof CelOpaque || left instanceof CelObject) {
      const call = { function: '_==_', overload: 'equals', args: [left, priced(right)], result: priced(result) };
      for (const price of prices) {
        const cost = price(call);
        if (cost !== undefined) return cost;
      }
    }
    return shorter(left, right);
  };
}

/** Failures are as large as null. */
function priced(value: Result): CelValue {
  return value instanceof Failure ? null : value;
}

/** What it costs to compare two values: nobody looks beyond the end of the shorter one. */
export function shorter(left: Result, right: Result): number {
  if (typeof left === 'bigint' && typeof right === 'bigint') return 1;
  return Math.ceil(Math.min(actualSize(left), actualSize(right)) * TRAVERSAL);
}

type Early = (args: readonly Result[]) => number;

const text: Early = ([value]) => Math.ceil(actualSize(value as Result) * TRAVERSAL);
const comparison: Early = ([left, right]) => shorter(left as Result, right as Result);
const joined: Early = ([left, right]) =>
  Math.ceil((actualSize(left as Result) + actualSize(right as Result)) * TRAVERSAL);

const PRICES: ReadonlyMap<string, Early> = new Map<string, Early>([
  ['starts_with_string', text],
  ['ends_with_string', text],
  ['string_to_bytes', text],
  ['bytes_to_string', text],
  ['strings_quote', text],
  ['string_format', text],
  ['in_list', ([, list]) => actualSize(list as Result)],
  ...['less', 'greater', 'less_equals', 'greater_equals'].flatMap((relation) => [
    [`${relation}_string`, comparison] as const,
    [`${relation}_bytes`, comparison] as const,
  ]),
  ['equals', comparison],
  ['not_equals', comparison],
  ['add_string', joined],
  ['add_bytes', joined],
  [
    'matches_string',
    // One character more, so that an empty text does not make an expensive expression free.
    ([value, pattern]) =>
      Math.ceil((1 + actualSize(value as Result)) * TRAVERSAL) * Math.ceil(actualSize(pattern as Result) * REGEX),
  ],
  [
    'contains_string',
    ([value, part]) =>
      Math.ceil(actualSize(value as Result) * TRAVERSAL) * Math.ceil(actualSize(part as Result) * TRAVERSAL),
  ],
]);

function standardPrice(overload: string): Price {
  const of = PRICES.get(overload);
  return of === undefined ? ONE : { before: of, after: of };
}

function sizeOfText(text: string): number {
  if (text.length < LONG) return characterCount(text);
  // To see that it is the same may mean to compare it.
  spend(text.length === lastText.length ? text.length / 8 : 0);
  if (text !== lastText) {
    spend(text.length * 2);
    lastCount = characterCount(text);
    lastText = text;
  }
  return lastCount;
}

/** Characters, bytes, items, entries; 1 for everything that has no size. */
export function actualSize(value: Result): number {
  if (typeof value === 'string') return sizeOfText(value);
  if (typeof value !== 'object' || value === null || value instanceof Failure) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof CelObject) return value.fieldNames().length;
  if (value instanceof CelBytes) return value.bytes.length;
  if (value instanceof CelOptional && value.value !== undefined) return actualSize(value.value);
  return value instanceof CelOpaque ? (value.size ?? 1) : 1;
}
