/**
 * Errors of writes that controllers expect and ignore.
 */
import { StatusError } from '../../meta/errors.js';

/** Whether a create was rejected because the namespace is being deleted. Other Forbidden errors (quota) are retried. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!StatusError.is(error, 'Forbidden')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

/** Awaits a write and ignores NotFound: the object was deleted meanwhile. */
export async function ignoreNotFound(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

/** Awaits a create and ignores AlreadyExists: another client created the object first. */
export async function ignoreAlreadyExists(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}
