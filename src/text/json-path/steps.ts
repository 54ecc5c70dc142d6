/**
 * The steps of a JSONPath: each maps the values found so far to the next values.
 *
 * A failed step also returns the values it had so far. Only existence filters use them: `[?(@.ports[9])]` is true for
 * every item whose port list is too short.
 */

import { append } from '../../util/arrays.js';
import { isRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { compareUtf8, goKind } from '../go/go-value.js';

type Values = readonly unknown[];

export interface Outcome {
  readonly values: Values;
  readonly failed: boolean;
}

/** Maps values to the next values. Throws {@link TooManyValuesError}. */
export type JsonPathStep = (values: Values, budget: ValueBudget) => Outcome;

/** The path found too many values: a few repeated steps can find billions in a small object. */
export class TooManyValuesError extends Error {
  override readonly name = 'TooManyValues';
}

/** Maximum values that all steps of one evaluation may find: about as many as an object of maximum size contains. */
export const MAX_VALUES = 250_000;

/** What a step costs besides the values that it adds, and what each of its values costs. */
const STEP_COST = 1 / 8;
/** The characters that are compared for the cost of one value. */
const COMPARED_PER_VALUE = 64;

export class ValueBudget {
  #left: number;
  readonly #outer: ValueBudget | undefined;
  readonly #keys: Map<object, readonly string[]>;

  /** What is spent counts for `outer`, too. */
  constructor(max = MAX_VALUES, outer?: ValueBudget) {
    this.#left = max;
    this.#outer = outer;
    this.#keys = outer === undefined ? new Map() : outer.#keys;
  }

  get left(): number {
    return this.#left;
  }

  /** Adds what is missing to `count`. */
  fillTo(count: number): void {
    this.#left = Math.max(this.#left, count);
  }

  /** Throws {@link TooManyValuesError} if less is left. */
  spend(count = 1): void {
    if (this.#left < count) throw new TooManyValuesError('too many values');
    this.#outer?.spend(count);
    this.#left -= count;
  }

  /** The sorted names of an object, which are listed once for all paths: there may be a hundred thousand. */
  keysOf(record: object): readonly string[] {
    return getOrInsertComputed(this.#keys, record, () => Object.keys(record).sort());
  }
}

const found = (values: Values): Outcome => ({ values, failed: false });
const failure = (values: Values): Outcome => ({ values, failed: true });

export function run(steps: readonly JsonPathStep[], start: Values, budget: ValueBudget): Outcome {
  let outcome = found(start);
  budget.spend(STEP_COST);
  for (const step of steps) {
    budget.spend(STEP_COST * (1 + outcome.values.length));
    outcome = step(outcome.values, budget);
    if (outcome.failed) break;
  }
  return outcome;
}

/** The step of an unknown word; always fails. */
export const unknownWordStep: JsonPathStep = failure;

export function fieldStep(name: string): JsonPathStep {
  return (values) =>
    found(values.flatMap((value) => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : [])));
}

/** A string literal; yields one value, regardless of the input. */
export function textStep(text: string): JsonPathStep {
  return () => found([text]);
}

/** A number in a path compares by its notation: `1.0` with fractions, `1` with whole numbers. */
export class PathNumber {
  readonly value: number;
  readonly isFraction: boolean;

  constructor(value: number, isFraction: boolean) {
    this.value = value;
    this.isFraction = isFraction;
  }
}

export function literalStep(literal: PathNumber | boolean): JsonPathStep {
  return (values) => found(values.map(() => literal));
}

/** Converts a PathNumber to a number. */
export function plainValue(value: unknown): unknown {
  return value instanceof PathNumber ? value.value : value;
}

/** The contents of lists and maps, and the bytes of strings. */
export const wildcard: JsonPathStep = (values, budget) => {
  const all: unknown[] = [];
  for (const value of values) append(all, inside(value, budget));
  return found(all);
};

/** Pays for the values before they are listed. */
function inside(value: unknown, budget: ValueBudget): Values {
  if (Array.isArray(value)) {
    budget.spend(value.length);
    return value;
  }
  if (typeof value === 'string') {
    budget.spend(value.length);
    return [...new TextEncoder().encode(value)];
  }
  if (!isRecord(value)) return [];
  // The order of the reference server is random here.
  const keys = budget.keysOf(value);
  budget.spend(keys.length);
  return keys.map((key) => value[key]);
}

/** The values and all nested values, except empty ones. */
export const descend: JsonPathStep = (values, budget) => {
  const all: unknown[] = [];
  const open = [...values].reverse();
  budget.spend(open.length);
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && value !== '') all.push(value);
    if (typeof value !== 'object' || value === null) continue;
    const items = inside(value, budget);
    if (items.length > 0) all.push(value);
    // Pushed one by one: a list may have more items than a call may have arguments.
    for (let index = items.length - 1; index >= 0; index--) open.push(items[index]);
  }
  return found(all);
};

export interface SliceBounds {
  readonly from?: number;
  readonly to?: number;
  readonly by?: number;
  /** `to` is derived from `from`, which selects a single item. */
  readonly isDerived?: boolean;
}

export function sliceStep({ from = 0, to, by = 1, isDerived = false }: SliceBounds): JsonPathStep {
  return (values, budget) => {
    const items: unknown[] = [];
    for (const value of values) {
      if (value === null || value === undefined) continue;
      if (!Array.isArray(value)) return failure(values);
      const { length } = value;
      const start = from < 0 ? from + length : from;
      let end = to ?? length;
      if (end < 0 || (end === 0 && isDerived)) end += length;
      // An empty range ends the step without error.
      if (start === end) return found(items);
      if (start < 0 || start >= length || end > length || end < start || by <= 0) return failure(values);
      for (let index = start; index < end; index += by) {
        budget.spend();
        items.push(value[index]);
      }
    }
    return found(items);
  };
}

export function unionStep(parts: readonly (readonly JsonPathStep[])[]): JsonPathStep {
  return (values, budget) => {
    const all: unknown[] = [];
    for (const steps of parts) {
      const part = run(steps, values, budget);
      if (part.failed) return failure(values);
      for (const value of part.values) {
        budget.spend();
        all.push(value);
      }
    }
    return found(all);
  };
}

export interface Comparison {
  readonly operator: string;
  readonly right: readonly JsonPathStep[];
}

/** Keeps the list items that satisfy the comparison or, without one, for which the path finds something. */
export function filterStep(left: readonly JsonPathStep[], comparison?: Comparison): JsonPathStep {
  const passes = comparison === undefined ? exists(left) : compared(left, comparison);
  return (values, budget) => {
    const items: unknown[] = [];
    for (const value of values) {
      if (!Array.isArray(value)) return failure(values);
      for (const item of value) {
        budget.spend();
        const result = passes(item, budget);
        if (result === undefined) return failure(values);
        if (result) items.push(item);
      }
    }
    return found(items);
  };
}

/** Undefined if the items cannot be compared. */
type Test = (item: unknown, budget: ValueBudget) => boolean | undefined;

function exists(steps: readonly JsonPathStep[]): Test {
  return (item, budget) => run(steps, [item], budget).values.length > 0;
}

function compared(left: readonly JsonPathStep[], { operator, right }: Comparison): Test {
  return (item, budget) => {
    const leftOutcome = run(left, [item], budget);
    if (leftOutcome.failed || leftOutcome.values.length > 1) return undefined;
    if (leftOutcome.values.length === 0) return false;
    const rightOutcome = run(right, [item], budget);
    if (rightOutcome.failed || rightOutcome.values.length > 1) return undefined;
    return rightOutcome.values.length === 0
      ? false
      : compare(leftOutcome.values[0], operator, rightOutcome.values[0], budget);
  };
}

const COMPARABLE: ReadonlySet<string> = new Set(['string', 'bool', 'int64', 'float64']);

/** Compares values of the same type; whole numbers and fractions are different types. */
function compare(left: unknown, operator: string, right: unknown, budget: ValueBudget): boolean | undefined {
  const kind = kindOf(left);
  if (kind !== kindOf(right) || !COMPARABLE.has(kind)) return undefined;
  const [leftValue, rightValue] = [plainValue(left), plainValue(right)];
  if (typeof leftValue === 'string') budget.spend(leftValue.length / COMPARED_PER_VALUE);
  if (operator === '==') return leftValue === rightValue;
  if (operator === '!=') return leftValue !== rightValue;
  if (kind === 'bool') return undefined;
  const order =
    kind === 'string'
      ? compareUtf8(leftValue as string, rightValue as string)
      : sign(leftValue as number, rightValue as number);
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      return undefined;
  }
}

function kindOf(value: unknown): string {
  if (value instanceof PathNumber) return value.isFraction ? 'float64' : 'int64';
  return goKind(value);
}

function sign(left: number | bigint, right: number | bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
