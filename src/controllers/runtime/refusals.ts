/**
 * Refusals that a controller takes as they are.
 */
import { StatusError } from '../../meta/errors.js';

/** Nothing is made any more where everything goes. Another Forbidden, say for want of quota, is worth another attempt. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!StatusError.is(error, 'Forbidden')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

/** What a failure says, for events and conditions. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
