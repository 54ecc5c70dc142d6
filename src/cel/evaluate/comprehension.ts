/**
 * Comprehensions: folds over the items of a list or the keys of a map. The initial accumulator value is computed on
 * first use; `cel.bind` relies on it: an unused variable costs nothing.
 */
import { Failure, failureOf, type Result } from '../failure.js';
import { intOf } from '../numbers.js';
import { goTypeName } from '../runtime-type.js';
import { CelList, CelMap, CelObject, type CelValue } from '../values.js';
import type { Frame, Step } from './frame.js';

/** The planned parts of a comprehension and the slots of its variables. */
export interface Fold {
  readonly range: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
  readonly accumulator: number;
  readonly item: number;
  /** The second variable; if present, `item` holds the index or key. */
  readonly second: number | undefined;
}

/** Loads the accumulator and computes its initial value on first use. */
export function accumulatorLoad(slot: number, start: Step): Step {
  return (frame) => {
    const known = frame.locals[slot];
    if (known !== undefined) return known;
    const value = start(frame);
    frame.locals[slot] = value;
    return value;
  };
}

export function foldStep(fold: Fold): Step {
  const { range, result, accumulator } = fold;
  return (frame) => {
    const values = range(frame);
    if (values instanceof Failure) return values;
    frame.locals[accumulator] = undefined;
    const refused = iterate(frame, fold, values);
    return refused ?? result(frame);
  };
}

/** Iterates over the values; returns a failure if they are not iterable. */
function iterate(frame: Frame, fold: Fold, values: CelValue): Failure | undefined {
  if (values instanceof CelList) overList(frame, fold, values);
  else if (values instanceof CelMap) overMap(frame, fold, values);
  else if (values instanceof CelObject) overFields(frame, fold, values);
  else if (fold.second === undefined) {
    return new Failure(`got '${goTypeName(values)}', expected iterable type`);
  } else return new Failure(`unsupported comprehension range type: ${goTypeName(values)}`);
  return undefined;
}

function overList(frame: Frame, fold: Fold, list: CelList): void {
  const { item, second } = fold;
  const { locals } = frame;
  for (let index = 0; index < list.size; index++) {
    if (second === undefined) locals[item] = itemAt(list, index);
    else {
      locals[item] = intOf(index);
      locals[second] = itemAt(list, index);
    }
    if (!runIteration(frame, fold)) return;
  }
}

/** An invalid item fails where it is used. */
function itemAt(list: CelList, index: number): Result {
  try {
    return list.at(index);
  } catch (error) {
    return failureOf(error);
  }
}

function overMap(frame: Frame, fold: Fold, map: CelMap): void {
  for (const key of map.keys()) {
    frame.locals[fold.item] = key;
    if (fold.second !== undefined) frame.locals[fold.second] = readValue(() => map.get(key));
    if (!runIteration(frame, fold)) return;
  }
}

function overFields(frame: Frame, fold: Fold, object: CelObject): void {
  for (const name of object.fieldNames()) {
    frame.locals[fold.item] = name;
    if (fold.second !== undefined) frame.locals[fold.second] = readValue(() => object.get(name));
    if (!runIteration(frame, fold)) return;
  }
}

function readValue(read: () => CelValue | undefined): Result {
  try {
    return read() ?? null;
  } catch (error) {
    return failureOf(error);
  }
}

/** Runs one iteration. Only a condition that is false ends the fold; a failing one does not. */
function runIteration(frame: Frame, { condition, step, accumulator }: Fold): boolean {
  if (condition(frame) === false) return false;
  frame.locals[accumulator] = step(frame);
  return true;
}
