/**
 * Errors of writes that controllers expect and ignore.
 */
import { StatusError } from '../../meta/errors.js';
import type { StatusReason } from '../../meta/status.js';

/** Whether a create was rejected because the namespace is being deleted. Other Forbidden errors (quota) are retried. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!StatusError.is(error, 'Forbidden')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

/** Awaits a write and ignores errors with these reasons. Undefined after such an error. */
export async function ignoring<Value>(
  reasons: readonly StatusReason[],
  write: Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await write;
  } catch (error) {
    if (reasons.some((reason) => StatusError.is(error, reason))) return undefined;
    throw error;
  }
}

/** Awaits a write and ignores NotFound: the object was deleted meanwhile. */
export const ignoreNotFound = (write: Promise<unknown>) => ignoring(['NotFound'], write);

/** Awaits a create and ignores AlreadyExists: another client created the object first. */
export const ignoreAlreadyExists = (write: Promise<unknown>) => ignoring(['AlreadyExists'], write);
