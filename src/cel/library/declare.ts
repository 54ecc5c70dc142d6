/**
 * Helpers to declare library functions. The receiver of a member function is its first parameter. The evaluator passes
 * only arguments that match the declared types; anything else fails with "no such overload".
 */
import type { FunctionDeclaration, Overload } from '../library.js';
import type { CelType, HasValues } from '../types.js';
import { CelError, type CelValue } from '../values.js';

/** The values of a list of parameter types. */
type Values<Params extends readonly CelType[]> = {
  [Index in keyof Params]: Params[Index] extends HasValues<infer Value>
    ? unknown extends Value
      ? CelValue
      : Value
    : CelValue;
};

type Call<Params extends readonly CelType[]> = (...args: Values<Params>) => CelValue;

export function declare(name: string, ...overloads: readonly Overload[]): FunctionDeclaration {
  return { name, overloads };
}

export function member<const Params extends readonly CelType[]>(
  id: string,
  params: Params,
  result: CelType,
  call?: Call<Params>,
): Overload {
  return { ...global(id, params, result, call), member: true };
}

export function global<const Params extends readonly CelType[]>(
  id: string,
  params: Params,
  result: CelType,
  call?: Call<Params>,
): Overload {
  return { id, member: false, params, result, ...(call && { call: call as NonNullable<Overload['call']> }) };
}

/** A member function with one overload. */
export function memberFunction<const Params extends readonly CelType[]>(
  name: string,
  id: string,
  params: Params,
  result: CelType,
  call?: Call<Params>,
): FunctionDeclaration {
  return declare(name, member(id, params, result, call));
}

/** A global function with one overload. */
export function globalFunction<const Params extends readonly CelType[]>(
  name: string,
  id: string,
  params: Params,
  result: CelType,
  call?: Call<Params>,
): FunctionDeclaration {
  return declare(name, global(id, params, result, call));
}

/** The error for arguments of the wrong type. */
export function noSuchOverload(): CelError {
  return new CelError('no such overload');
}

/** Checks that a value is an instance of a class. */
export function asInstance<Value>(
  // The constructor is only used for `instanceof`, so its parameters do not matter.
  kind: abstract new (...args: never[]) => Value,
  value: unknown,
): Value {
  if (!(value instanceof kind)) throw noSuchOverload();
  return value;
}
