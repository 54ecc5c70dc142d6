/**
 * What the steps of a JSONPath do: each takes the values found so far and finds the next.
 *
 * A step that fails still says what it had in hand. Nobody sees that but a filter that asks only whether something is
 * there: `[?(@.ports[9])]` is true for every item whose list of ports is too short.
 */

import { isRecord } from '../../util/json.js';
import { byBytes, goKind } from '../go/go-value.js';

type Values = readonly unknown[];

export interface Outcome {
  readonly values: Values;
  readonly failed: boolean;
}

/** Finds the next values. Throws {@link TooManyValues}. */
export type JsonPathStep = (values: Values, budget: Budget) => Outcome;

/** A path has found more than anybody looks at: a few steps that repeat themselves find billions in a small object. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues';
}

/** How many values all steps of one evaluation may find together: about as many as an object that can be sent holds. */
const MAX_VALUES = 250_000;

export class Budget {
  #left = MAX_VALUES;

  spend(): void {
    if (this.#left-- === 0) throw new TooManyValues(`more than ${MAX_VALUES} values`);
  }
}

const found = (values: Values): Outcome => ({ values, failed: false });
const lost = (values: Values): Outcome => ({ values, failed: true });

export function run(steps: readonly JsonPathStep[], start: Values, budget: Budget): Outcome {
  let outcome = found(start);
  for (const step of steps) {
    outcome = step(outcome.values, budget);
    if (outcome.failed) break;
  }
  return outcome;
}

/** A word that nobody knows. */
export const failing: JsonPathStep = lost;

export function fieldStep(name: string): JsonPathStep {
  return (values) =>
    found(values.flatMap((value) => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : [])));
}

/** A text is there whatever there is beside it. */
export function textStep(text: string): JsonPathStep {
  return () => found([text]);
}

/** A number in a path is what it is written as: `1.0` compares with fractions, `1` with whole numbers. */
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

/** A value as others may see it. */
export function plainValue(value: unknown): unknown {
  return value instanceof PathNumber ? value.value : value;
}

/** Everything that lists and maps hold; of a text, its bytes. */
export const wildcard: JsonPathStep = (values, budget) => {
  const all: unknown[] = [];
  for (const value of values) {
    for (const item of inside(value)) {
      budget.spend();
      all.push(item);
    }
  }
  return found(all);
};

function inside(value: unknown): Values {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...new TextEncoder().encode(value)];
  if (!isRecord(value)) return [];
  // The reference has no order here.
  return Object.keys(value)
    .sort()
    .map((key) => value[key]);
}

/** The values and all that is in them, as far as there is anything inside. */
export const descend: JsonPathStep = (values, budget) => {
  const all: unknown[] = [];
  const open = [...values].reverse();
  while (open.length > 0) {
    const value = open.pop();
    budget.spend();
    if (typeof value === 'string' && value !== '') all.push(value);
    if (typeof value !== 'object' || value === null) continue;
    const items = inside(value);
    if (items.length > 0) all.push(value);
    // One by one: a list may have more items than a call has arguments.
    for (let index = items.length - 1; index >= 0; index--) open.push(items[index]);
  }
  return found(all);
};

export interface SliceBounds {
  readonly from?: number;
  readonly to?: number;
  readonly by?: number;
  /** `to` is there because `from` names a single item. */
  readonly isDerived?: boolean;
}

export function sliceStep({ from = 0, to, by = 1, isDerived = false }: SliceBounds): JsonPathStep {
  return (values, budget) => {
    const items: unknown[] = [];
    for (const value of values) {
      if (value === null || value === undefined) continue;
      if (!Array.isArray(value)) return lost(values);
      const { length } = value;
      const start = from < 0 ? from + length : from;
      let end = to ?? length;
      if (end < 0 || (end === 0 && isDerived)) end += length;
      // Nothing at all is asked for, and nothing more is looked at.
      if (start === end) return found(items);
      if (start < 0 || start >= length || end > length || end < start || by <= 0) return lost(values);
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
      if (part.failed) return lost(values);
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

/** Those items of lists that compare as they should; without a comparison, those where something is found. */
export function filterStep(left: readonly JsonPathStep[], comparison?: Comparison): JsonPathStep {
  const passes = comparison === undefined ? isThere(left) : compared(left, comparison);
  return (values, budget) => {
    const items: unknown[] = [];
    for (const value of values) {
      if (!Array.isArray(value)) return lost(values);
      for (const item of value) {
        budget.spend();
        const verdict = passes(item, budget);
        if (verdict === undefined) return lost(values);
        if (verdict) items.push(item);
      }
    }
    return found(items);
  };
}

/** Undefined: cannot be said. */
type Test = (item: unknown, budget: Budget) => boolean | undefined;

function isThere(steps: readonly JsonPathStep[]): Test {
  return (item, budget) => run(steps, [item], budget).values.length > 0;
}

function compared(left: readonly JsonPathStep[], { operator, right }: Comparison): Test {
  return (item, budget) => {
    const ours = run(left, [item], budget);
    if (ours.failed || ours.values.length > 1) return undefined;
    if (ours.values.length === 0) return false;
    const theirs = run(right, [item], budget);
    if (theirs.failed || theirs.values.length > 1) return undefined;
    return theirs.values.length === 0 ? false : compare(ours.values[0], operator, theirs.values[0]);
  };
}

const COMPARABLE: ReadonlySet<string> = new Set(['string', 'bool', 'int64', 'float64']);

/** Only what is of one type can be compared; whole numbers and others are two. */
function compare(left: unknown, operator: string, right: unknown): boolean | undefined {
  const kind = kindOf(left);
  if (kind !== kindOf(right) || !COMPARABLE.has(kind)) return undefined;
  const [ours, theirs] = [plainValue(left), plainValue(right)];
  if (operator === '==') return ours === theirs;
  if (operator === '!=') return ours !== theirs;
  if (kind === 'bool') return undefined;
  const order = kind === 'string' ? byBytes(ours as string, theirs as string) : sign(ours as number, theirs as number);
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
