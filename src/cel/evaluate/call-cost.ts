/**
 * Costs of calls at run time. Libraries take precedence; otherwise the overload determines the cost, and a call whose
 * overload is chosen at run time costs one.
 */

import { REGEX, TRAVERSAL } from '../cost/range.js';
import { Failure, type Result } from '../failure.js';
import { characterCount } from '../library/text.js';
import type { EvaluatedCall, Library } from '../library.js';
import { CelBytes, CelList, CelMap, CelObject, CelOpaque, CelOptional, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';

export const COST_OF_VARIABLE = 1;

export const COST_OF_LIST = 10;

export const COST_OF_MAP = 30;

export const COST_OF_OBJECT = 40;

/**
 * The cost of a call. Most costs are known before the call and are charged first, so that no work is done beyond the
 * limit.
 */
export interface CallCost {
  /** Undefined if the cost depends on the result. */
  readonly before: (args: readonly Result[]) => number | undefined;
  /** The cost when the result is known. */
  readonly after: (args: readonly Result[], result: Result) => number;
}

export const UNIT_COST: CallCost = { before: () => 1, after: () => 1 };

/** Names of operators. Libraries are not asked for the cost of these and of the functions below. */
const OPERATORS = /^[@!_-]/;

const STANDARD = new Set(['contains', 'startsWith', 'endsWith', 'matches', 'size', 'dyn', 'type', 'int', 'string']);

/** The cost function of a call. */
export function callCostOf(name: string, overload: string, libraries: readonly Library[]): CallCost {
  const standard = standardCost(overload);
  if (OPERATORS.test(name) || STANDARD.has(name)) return standard;
  const costFunctions = libraries.flatMap(({ actualCost: costFunction }) => costFunction ?? []);
  if (costFunctions.length === 0) return standard;
  const libraryCost = (args: readonly Result[], call: (args: readonly CelValue[]) => EvaluatedCall): number => {
    const evaluated = call(args.map(sizedValue));
    for (const costFunction of costFunctions) {
      const cost = costFunction(evaluated);
      if (cost !== undefined) return cost;
    }
    return standard.after(args, null);
  };
  return {
    before: (args) => {
      let isResultRead = false;
      const cost = libraryCost(args, (values) => ({
        function: name,
        overload,
        args: values,
        // Detects whether the library reads the result.
        get result() {
          isResultRead = true;
          return null;
        },
      }));
      return isResultRead ? undefined : cost;
    },
    after: (args, result) =>
      libraryCost(args, (values) => ({ function: name, overload, args: values, result: sizedValue(result) })),
  };
}

function standardCost(overload: string): CallCost {
  const of = STANDARD_COSTS.get(overload);
  return of === undefined ? UNIT_COST : { before: of, after: of };
}

type CostFunction = (args: readonly Result[]) => number;

const text: CostFunction = ([value]) => Math.ceil(actualSize(value) * TRAVERSAL);

const comparison: CostFunction = ([left, right]) => comparisonCost(left as Result, right);

const joined: CostFunction = ([left, right]) => Math.ceil((actualSize(left) + actualSize(right)) * TRAVERSAL);

const STANDARD_COSTS: ReadonlyMap<string, CostFunction> = new Map<string, CostFunction>([
  ['starts_with_string', text],
  ['ends_with_string', text],
  ['string_to_bytes', text],
  ['bytes_to_string', text],
  ['strings_quote', text],
  ['string_format', text],
  ['in_list', ([, list]) => actualSize(list)],
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
    // Add one, so that matching an empty string is not free.
    ([value, pattern]) => Math.ceil((1 + actualSize(value)) * TRAVERSAL) * Math.ceil(actualSize(pattern) * REGEX),
  ],
  [
    'contains_string',
    ([value, part]) => Math.ceil(actualSize(value) * TRAVERSAL) * Math.ceil(actualSize(part) * TRAVERSAL),
  ],
]);

/** The cost function of `==`. Libraries determine the cost for values of their own types. */
export function equalityCost(libraries: readonly Library[]): (left: Result, right: Result, result: Result) => number {
  const costFunctions = libraries.flatMap(({ actualCost: costFunction }) => costFunction ?? []);
  return (left, right, result) => {
    if (left instanceof CelOpaque || left instanceof CelObject) {
      const call = {
        function: '_==_',
        overload: 'equals',
        args: [left, sizedValue(right)],
        result: sizedValue(result),
      };
      for (const costFunction of costFunctions) {
        const cost = costFunction(call);
        if (cost !== undefined) return cost;
      }
    }
    return comparisonCost(left, right);
  };
}

/** A failure has the size of null. */
function sizedValue(value: Result): CelValue {
  return value instanceof Failure ? null : value;
}

/** The cost of comparing two values, bounded by the smaller one. */
export function comparisonCost(left: Result | undefined, right: Result | undefined): number {
  if (typeof left === 'bigint' && typeof right === 'bigint') return 1;
  return Math.ceil(Math.min(actualSize(left), actualSize(right)) * TRAVERSAL);
}

/** The size for cost calculation: characters, bytes, items or entries; 1 for everything else. */
export function actualSize(value: Result | undefined): number {
  if (typeof value === 'string') return sizeOfText(value);
  if (typeof value !== 'object' || value === null || value instanceof Failure) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof CelObject) return value.fieldNames().length;
  if (value instanceof CelBytes) return value.bytes.length;
  if (value instanceof CelOptional && value.value !== undefined) return actualSize(value.value);
  return value instanceof CelOpaque ? (value.size ?? 1) : 1;
}

/** The size of the last string of at least this length is cached, because loops often ask for the same one. */
const LONG = 200;

let lastText = '';

let lastCount = 0;

function sizeOfText(text: string): number {
  if (text.length < LONG) return characterCount(text);
  // The comparison below may have to read both strings.
  spendWork(text.length === lastText.length ? text.length / 8 : 0);
  if (text !== lastText) {
    spendWork(text.length * 2);
    lastCount = characterCount(text);
    lastText = text;
  }
  return lastCount;
}
