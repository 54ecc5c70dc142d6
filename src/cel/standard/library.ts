/**
 * The standard library: the functions of the language, what they are called (declarations.ts) and what they do.
 *
 * Overloads of one operator share a function, since it looks at its values anyway. The evaluator calls the functions
 * that return failures; the library's own `call`s are the same ones, which throw, as those of all libraries do.
 */
import { celEquals } from '../equality.js';
import { orThrow, type Result } from '../failure.js';
import type { FunctionDeclaration, Library, Overload } from '../library.js';
import { STANDARD_MACROS } from '../parse/standard-macros.js';
import type { CelValue } from '../values.js';
import { CONVERSION_FUNCTIONS } from './conversions.js';
import { STANDARD_DECLARATIONS, STANDARD_TYPES } from './declarations.js';
import { BINARY_OPERATORS, UNARY_OPERATORS } from './operators.js';
import { TIME_FUNCTIONS } from './time.js';

/** Functions by overload that get values of the types they are declared for. */
export const STANDARD_FUNCTIONS: ReadonlyMap<string, (...args: CelValue[]) => Result> = new Map([
  ...CONVERSION_FUNCTIONS,
  ...TIME_FUNCTIONS,
]);

export const STANDARD_LIBRARY: Library = {
  name: 'standard',
  functions: STANDARD_DECLARATIONS.map(({ name, overloads }) => ({
    name,
    overloads: overloads.map((overload) => withCall(name, overload)),
  })),
  macros: STANDARD_MACROS,
  variables: STANDARD_TYPES,
};

function withCall(name: FunctionDeclaration['name'], overload: Overload): Overload {
  const run = functionOf(name, overload.id);
  return run === undefined ? overload : { ...overload, call: (...args) => orThrow(run(...args)) };
}

/** Undefined for what only the evaluator does: logic and the conditional, which do not need all arguments; `[]`. */
function functionOf(name: string, id: string): ((...args: CelValue[]) => Result) | undefined {
  if (id === 'equals') return (left, right) => celEquals(left as CelValue, right as CelValue);
  if (id === 'not_equals') return (left, right) => !celEquals(left as CelValue, right as CelValue);
  const run = STANDARD_FUNCTIONS.get(id) ?? UNARY_OPERATORS.get(name) ?? BINARY_OPERATORS.get(name);
  return run as ((...args: CelValue[]) => Result) | undefined;
}
