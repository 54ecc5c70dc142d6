/** Operators and functions that look at the types of their values themselves, by name. */
import type { Result } from '../failure.js';
import type { CelValue } from '../values.js';
import { add, divide, modulo, multiply, negate, not, subtract } from './arithmetic.js';
import { isIn, size } from './collections.js';
import { greater, greaterEquals, less, lessEquals } from './order.js';
import { contains, endsWith, matches, startsWith } from './text.js';

export type Unary = (value: CelValue) => Result;
export type Binary = (left: CelValue, right: CelValue) => Result;

export const UNARY_OPERATORS: ReadonlyMap<string, Unary> = new Map([
  ['!_', not],
  ['-_', negate],
  ['size', size],
]);

export const BINARY_OPERATORS: ReadonlyMap<string, Binary> = new Map([
  ['_+_', add],
  ['_-_', subtract],
  ['_*_', multiply],
  ['_/_', divide],
  ['_%_', modulo],
  ['_<_', less],
  ['_<=_', lessEquals],
  ['_>_', greater],
  ['_>=_', greaterEquals],
  ['@in', isIn],
  ['contains', contains],
  ['startsWith', startsWith],
  ['endsWith', endsWith],
  ['matches', matches],
]);
