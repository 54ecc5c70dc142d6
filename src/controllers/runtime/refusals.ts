/**
 * Refusals that a controller takes as they are.
 */
import { StatusError } from '../../meta/errors.js';

/** Nothing is made any more where everything goes. Another Forbidden, say for want of quota, is worth another attempt. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!StatusError.is(error, 'Forbidden')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

/** For a write to an object that may be gone by now: then there is nothing to be done. */
export async function ignoringAbsence(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

/** For a create that somebody else may have been quicker with. */
export async function ignoringPresence(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}
