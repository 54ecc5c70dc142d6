/**
 * Comprehensions: a fold over the items of a list or the keys of a map. What the fold starts from is computed when it is
 * first needed, which is what `cel.bind` rests on: a variable nobody uses costs nothing.
 */
import { Failure, failureOf, type Result } from '../failure.js';
import { intOf } from '../numbers.js';
import { referenceClass } from '../runtime-type.js';
import { CelList, CelMap, CelObject, type CelValue } from '../values.js';
import type { Frame, Step } from './frame.js';

/** The parts of a comprehension, planned, and the places of its variables. */
export interface Fold {
  readonly range: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
  readonly accumulator: number;
  readonly item: number;
  /** The second variable: `item` is the index or the key then. */
  readonly second: number | undefined;
}

/** The variable that gathers, with what it starts from. */
export function accumulatorLoad(place: number, start: Step): Step {
  return (frame) => {
    const known = frame.locals[place];
    if (known !== undefined) return known;
    const value = start(frame);
    frame.locals[place] = value;
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

/** What cannot be folded over is returned as a failure. */
function iterate(frame: Frame, fold: Fold, values: CelValue): Failure | undefined {
  if (values instanceof CelList) overList(frame, fold, values);
  else if (values instanceof CelMap) overMap(frame, fold, values);
  else if (values instanceof CelObject) overFields(frame, fold, values);
  else if (fold.second === undefined) {
    return new Failure(`got '${referenceClass(values)}', expected iterable type`);
  } else return new Failure(`unsupported comprehension range type: ${referenceClass(values)}`);
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
    if (!goesOn(frame, fold)) return;
  }
}

/** An item that must not be what it is fails where it is used. */
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
    if (!goesOn(frame, fold)) return;
  }
}

function overFields(frame: Frame, fold: Fold, object: CelObject): void {
  for (const name of object.fieldNames()) {
    frame.locals[fold.item] = name;
    if (fold.second !== undefined) frame.locals[fold.second] = readValue(() => object.get(name));
    if (!goesOn(frame, fold)) return;
  }
}

function readValue(read: () => CelValue | undefined): Result {
  try {
    return read() ?? null;
  } catch (error) {
    return failureOf(error);
  }
}

/** One round. Only a condition that is clearly false ends the fold; one that fails does not. */
function goesOn(frame: Frame, { condition, step, accumulator }: Fold): boolean {
  if (condition(frame) === false) return false;
  frame.locals[accumulator] = step(frame);
  return true;
}
