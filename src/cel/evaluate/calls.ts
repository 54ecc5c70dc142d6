/**
 * Calls: how arguments are computed, what happens when one of them fails, and what it costs. With one or two arguments
 * all are computed and the call is paid for even if it fails; with more, and where the overload is found while it runs,
 * the first failure ends it, and unless it was the last argument's the call costs nothing.
 */
import { celEquals } from '../equality.js';
import { Failure, failureOf, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import type { Overload } from '../library.js';
import { fits } from '../runtime-type.js';
import { STANDARD_FUNCTIONS } from '../standard/library.js';
import type { Binary, Unary } from '../standard/operators.js';
import { missingOverload } from '../standard/operators.js';
import type { CelType } from '../types.js';
import { CelOptional, type CelValue } from '../values.js';
import { ONE, type Price } from './call-cost.js';
import type { Step } from './frame.js';

export function unaryStep(run: Unary, value: Step, price: Price): Step {
  return (frame) => {
    const argument = value(frame);
    const known = price === ONE ? 1 : price.before([argument]);
    if (known !== undefined) frame.charge(known);
    const result = argument instanceof Failure ? argument : run(argument);
    if (known === undefined) frame.charge(price.after([argument], result));
    return result;
  };
}

export function binaryStep(run: Binary, left: Step, right: Step, price: Price): Step {
  if (price === ONE) {
    return (frame) => {
      const first = left(frame);
      const second = right(frame);
      frame.charge(1);
      return first instanceof Failure ? first : second instanceof Failure ? second : run(first, second);
    };
  }
  return (frame) => {
    const first = left(frame);
    const second = right(frame);
    const known = price.before([first, second]);
    if (known !== undefined) frame.charge(known);
    const result = first instanceof Failure ? first : second instanceof Failure ? second : run(first, second);
    if (known === undefined) frame.charge(price.after([first, second], result));
    return result;
  };
}

type ComparisonPrice = (left: Result, right: Result, result: Result) => number;

export function equalityStep(left: Step, right: Step, options: { equal: boolean; price: ComparisonPrice }): Step {
  const { equal, price } = options;
  return (frame) => {
    const first = left(frame);
    const second = right(frame);
    const result =
      first instanceof Failure ? first : second instanceof Failure ? second : compared(first, second, equal);
    frame.charge(price(first, second, result));
    return result;
  };
}

function compared(left: CelValue, right: CelValue, equal: boolean): Result {
  try {
    return celEquals(left, right) === equal;
  } catch (error) {
    const failure = failureOf(error);
    // What cannot be compared is not equal: only the question whether it is equal fails.
    return equal ? failure : true;
  }
}

export function manyStep(run: (args: readonly CelValue[]) => Result, args: readonly Step[], price: Price): Step {
  return (frame) => {
    const values: Result[] = [];
    for (const argument of args) {
      const value = argument(frame);
      values.push(value);
      if (!(value instanceof Failure)) continue;
      if (values.length === args.length) frame.charge(price.after(values, value));
      return value;
    }
    const known = price.before(values);
    if (known !== undefined) frame.charge(known);
    const result = run(values as CelValue[]);
    if (known === undefined) frame.charge(price.after(values, result));
    return result;
  };
}

/** `&&` with `decisive` false, `||` with true: a decisive term makes the failures of all others not matter. */
export function logicStep(terms: readonly Step[], decisive: boolean): Step {
  return (frame) => {
    let failure: Failure | undefined;
    for (const term of terms) {
      const value = term(frame);
      if (value === decisive) return decisive;
      if (typeof value !== 'boolean') failure ??= value instanceof Failure ? value : NO_SUCH_OVERLOAD;
    }
    return failure ?? !decisive;
  };
}

/** Failures do not end a fold. */
export function notStrictlyFalseStep(value: Step): Step {
  return (frame) => {
    const result = value(frame);
    frame.charge(1);
    return typeof result === 'boolean' ? result : true;
  };
}

/** `a.or(b)` and `a.orValue(b)`: the second is computed only when it is needed, and the call itself is free. */
export function optionalOrStep(left: Step, right: Step, unwraps: boolean): Step {
  return (frame) => {
    const first = left(frame);
    if (!(first instanceof CelOptional)) return first;
    if (first.value === undefined) return right(frame);
    return unwraps ? first.value : first;
  };
}

type Call = (args: readonly CelValue[]) => Result;

/** Runs one overload, if the values fit it. Undefined when nothing is known that it does. */
export function overloadCall(name: string, overload: Overload): Call | undefined {
  const run = implementation(overload);
  if (run === undefined) return undefined;
  const { params } = overload;
  return (args) => (allFit(params, args) ? run(args) : missingOverload(name, args));
}

/** Runs the first overload that the values fit. */
export function dispatchCall(name: string, overloads: readonly Overload[]): Call {
  const candidates = overloads.flatMap((overload) => {
    const run = implementation(overload);
    return run === undefined ? [] : [{ params: overload.params, run }];
  });
  return (args) => {
    for (const { params, run } of candidates) if (allFit(params, args)) return run(args);
    return missingOverload(name, args);
  };
}

function allFit(params: Overload['params'], args: readonly CelValue[]): boolean {
  if (params.length !== args.length) return false;
  for (let index = 0; index < args.length; index++) {
    if (!fits(params[index] as CelType, args[index] as CelValue)) return false;
  }
  return true;
}

function implementation({ id, call }: Overload): Call | undefined {
  const standard = STANDARD_FUNCTIONS.get(id);
  if (standard !== undefined) return (args) => standard(...args);
  if (call === undefined) return undefined;
  return (args) => {
    try {
      return call(...args);
    } catch (error) {
      return failureOf(error);
    }
  };
}
