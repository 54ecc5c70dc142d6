/**
 * Refusals that a controller takes as they are.
 */
import { StatusError } from '../../meta/errors.js';

/** Nothing is made any more where everything goes. Another Forbidden, say for want of quota, is worth another attempt. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!StatusError.is(error, 'Forbidden')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}
