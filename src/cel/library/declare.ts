/**
 * Helpers to declare library functions and to check their arguments. The receiver of a member function is its first
 * parameter. The evaluator passes only arguments that match the declared types; anything else fails with "no such
 * overload".
 */
import type { FunctionDeclaration, Overload } from '../library.js';
import type { CelType } from '../types.js';
import { CelError, type CelValue } from '../values.js';

type Call = Overload['call'];

export function declare(name: string, ...overloads: readonly Overload[]): FunctionDeclaration {
  return { name, overloads };
}

export function member(id: string, params: readonly CelType[], result: CelType, call?: Call): Overload {
  return { id, member: true, params, result, ...(call && { call }) };
}

export function global(id: string, params: readonly CelType[], result: CelType, call?: Call): Overload {
  return { id, member: false, params, result, ...(call && { call }) };
}

/** The error for arguments of the wrong type. */
export function noSuchOverload(): CelError {
  return new CelError('no such overload');
}

export function asString(value: CelValue | undefined): string {
  if (typeof value !== 'string') throw noSuchOverload();
  return value;
}

export function asInt(value: CelValue | undefined): bigint {
  if (typeof value !== 'bigint') throw noSuchOverload();
  return value;
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
