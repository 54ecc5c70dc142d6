/**
 * Arguments of the value libraries. The evaluator hands over only what fits the declared types; what does not fit after
 * all fails as a call that nobody declared.
 */
import { CelError, type CelValue } from '../values.js';

/** What an operation says to values it is not made for. */
export function noSuchOverload(): CelError {
  return new CelError('no such overload');
}

export function textOf(value: CelValue | undefined): string {
  if (typeof value !== 'string') throw noSuchOverload();
  return value;
}

export function intOf(value: CelValue | undefined): bigint {
  if (typeof value !== 'bigint') throw noSuchOverload();
  return value;
}

/** The value as one of a class. */
export function instanceOf<Value>(
  // The parameters of the constructor do not matter: it is only asked about, never called.
  kind: abstract new (...args: never[]) => Value,
  value: unknown,
): Value {
  if (!(value instanceof kind)) throw noSuchOverload();
  return value;
}
