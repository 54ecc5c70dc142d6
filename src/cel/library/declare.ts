/** Shorthand for the declarations of libraries. The receiver is the first parameter of a member. */
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
