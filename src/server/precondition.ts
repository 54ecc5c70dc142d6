/**
 * The 409 of a write that the store turns down, because the object is not the one that was meant.
 */
import { storageConflictMessage } from '../kinds/shared/storage-conflict.js';
import { serviceGroup } from '../meta/dialect.js';
import { errors, type StatusError } from '../meta/errors.js';
import type { WriteOperation } from './write-operation.js';

/** `why` is the precondition that failed. */
export function preconditionFailed(write: WriteOperation, name: string, why: string): StatusError {
  const { served, namespace, dryRun } = write;
  const resource = served.groupResource;
  const isBelowGroup = served.kind.representation === 'document' || EXTENSION_GROUPS.includes(served.kind.group);
  return errors.conflict(
    resource,
    name,
    storageConflictMessage({ resource, isBelowGroup, namespace, name, dryRun }, why),
  );
}

/** Whose kinds are served by servers of their own. */
const EXTENSION_GROUPS = ['apiextensions', 'apiregistration'].map(serviceGroup);
