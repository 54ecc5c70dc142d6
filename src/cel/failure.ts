/**
 * Failures as values. An expression may fail many times and still have a result (`exists` over items that lack a
 * field), so evaluation steps return failures instead of throwing. Only at the boundaries (library functions, views of
 * stored objects, the outcome) is a failure a thrown CelError.
 */

import { CelError, type CelValue } from './values.js';
import { spendWork } from './work-budget.js';

export class Failure {
  constructor(readonly message: string) {}
}

/** A missing variable. An unchecked expression then tries the next interpretation of the name. */
export class MissingVariable extends Failure {}

export type Result = CelValue | Failure;

export const NO_SUCH_OVERLOAD = new Failure('no such overload');

/** Extra work of throwing compared to returning. */
const THROWN = 2000;

/** Converts a caught CelError to a failure; rethrows other errors. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof CelError)) throw error;
  spendWork(THROWN);
  return new Failure(error.message);
}

/** Throws a failure as a CelError; returns other results. */
export function orThrow(result: Result): CelValue {
  if (result instanceof Failure) throw new CelError(result.message);
  return result;
}
