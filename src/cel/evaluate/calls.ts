/**
 * Evaluates calls: arguments, failing arguments and cost. With one or two arguments, all are evaluated and the call is
 * charged even if one fails. With more arguments, or if the overload is chosen at run time, the first failure ends the
 * call, and the call is charged only if the last argument failed.
 */
import { celEquals } from '../equality.js';
import { Failure, failureOf, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import type { Overload } from '../library.js';
import { fits } from '../runtime-type.js';
import { STANDARD_FUNCTIONS } from '../standard/library.js';
import { type BinaryFunction, missingOverload, type UnaryFunction } from '../standard/operators.js';
import type { CelType } from '../types.js';
import { CelOptional, type CelValue } from '../values.js';
import { type CallCost, UNIT_COST } from './call-cost.js';
import type { Step } from './frame.js';

export function unaryStep(run: UnaryFunction, value: Step, price: CallCost): Step {
  return (frame) => {
    const argument = value(frame);
    const known = price === UNIT_COST ? 1 : price.before([argument]);
    if (known !== undefined) frame.charge(known);
    const result = argument instanceof Failure ? argument : run(argument);
    if (known === undefined) frame.charge(price.after([argument], result));
    return result;
  };
}

export function binaryStep(run: BinaryFunction, left: Step, right: Step, price: CallCost): Step {
  if (price === UNIT_COST) {
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

type ComparisonCost = (left: Result, right: Result, result: Result) => number;

export function equalityStep(left: Step, right: Step, options: { equal: boolean; price: ComparisonCost }): Step {
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
    // Incomparable values are not equal: `==` fails, `!=` is true.
    return equal ? failure : true;
  }
}

export function manyStep(run: (args: readonly CelValue[]) => Result, args: readonly Step[], price: CallCost): Step {
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

/** `&&` (`decisive` false) and `||` (`decisive` true): a decisive term absorbs the failures of all others. */
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

/** `@not_strictly_false`: a failure counts as true, so that it does not end a comprehension. */
export function notStrictlyFalseStep(value: Step): Step {
  return (frame) => {
    const result = value(frame);
    frame.charge(1);
    return typeof result === 'boolean' ? result : true;
  };
}

/** `a.or(b)` and `a.orValue(b)`: the second operand is evaluated only if needed, and the call itself is free. */
export function optionalOrStep(left: Step, right: Step, unwraps: boolean): Step {
  return (frame) => {
    const first = left(frame);
    if (!(first instanceof CelOptional)) return first;
    if (first.value === undefined) return right(frame);
    return unwraps ? first.value : first;
  };
}

type Call = (args: readonly CelValue[]) => Result;

/**
 * Returns a function that runs one overload if the arguments match; undefined if the overload has no implementation.
 */
export function overloadCall(name: string, overload: Overload): Call | undefined {
  const run = implementation(overload);
  if (run === undefined) return undefined;
  const { params } = overload;
  return (args) => (allFit(params, args) ? run(args) : missingOverload(name, args));
}

/** Returns a function that runs the first matching overload. */
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
