/**
 * Failures as values. An expression may fail a hundred thousand times and still come to a result (`exists` over items
 * that lack a field), so inside an evaluation nothing is thrown: functions return what went wrong like any other
 * result. Only at the edges — functions of libraries, views of stored objects, the outcome — is it a thrown CelError.
 */

import type { CelValue } from './values.js';
import { CelError } from './values.js';
import { spend } from './work-budget.js';

export class Failure {
  constructor(readonly message: string) {}
}

/** A variable that is not there. An expression without types tries the next meaning of a name then. */
export class MissingVariable extends Failure {}

export type Result = CelValue | Failure;

export const NO_SUCH_OVERLOAD = new Failure('no such overload');

/** To throw costs about this much more than to return. */
const THROWN = 2000;

/** The failure behind something that was thrown; what is no failure of an expression is thrown on. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof CelError)) throw error;
  spend(THROWN);
  return new Failure(error.message);
}

/** For the edges where failures are thrown. */
export function orThrow(result: Result): CelValue {
  if (result instanceof Failure) throw new CelError(result.message);
  return result;
}
