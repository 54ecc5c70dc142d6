/** Shorthand for the declarations of libraries. The receiver is the first parameter of a member. */
import type { FunctionDeclaration, Overload } from '../library.js';
import type { CelType } from '../types.js';

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
