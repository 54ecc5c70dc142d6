/** What is said of an operator or a function that a value does not have. */
import { Failure, NO_SUCH_OVERLOAD } from '../failure.js';
import { typeNameOf } from '../runtime-type.js';
import { CelDuration, CelTimestamp, type CelValue } from '../values.js';

/** Texts, times and durations look for functions of their own before they give up, and then name none. */
export function missingOperator(name: string, first: CelValue): Failure {
  const receives = typeof first === 'string' || first instanceof CelTimestamp || first instanceof CelDuration;
  return receives ? NO_SUCH_OVERLOAD : new Failure(`no such overload: ${name}`);
}

/** `no such overload: int(bool)`. */
export function missingOverload(name: string, args: readonly CelValue[]): Failure {
  return new Failure(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}
