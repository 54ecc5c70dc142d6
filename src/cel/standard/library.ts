/**
 * The standard library: declarations (`declarations.ts`) with their implementations.
 *
 * Overloads of one operator share a function that dispatches on runtime types. The evaluator calls the functions that
 * return failures; the library's own `call`s wrap them and throw, as all libraries do.
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

/** Functions by overload id. Their arguments match the declared types. */
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

/**
 * Undefined for functions that the evaluator implements: logic and the conditional, which do not evaluate all
 * arguments, and `[]`.
 */
function functionOf(name: string, id: string): ((...args: CelValue[]) => Result) | undefined {
  if (id === 'equals') return (left, right) => celEquals(left as CelValue, right as CelValue);
  if (id === 'not_equals') return (left, right) => !celEquals(left as CelValue, right as CelValue);
  const run = STANDARD_FUNCTIONS.get(id) ?? UNARY_OPERATORS.get(name) ?? BINARY_OPERATORS.get(name);
  return run as ((...args: CelValue[]) => Result) | undefined;
}
