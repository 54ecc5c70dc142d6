/**
 * Refusals that are no failures.
 */
import { StatusError } from '../../meta/errors.js';

/** Nothing new may be made there any more: who wanted to make something need not try again. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!StatusError.is(error)) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}
