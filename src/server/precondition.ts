/**
 * The 409 of a write whose precondition (uid, resourceVersion) the live object does not meet.
 */
import { storageConflictMessage } from '../kinds/shared/storage-conflict.js';
import { serviceGroup } from '../meta/dialect.js';
import { errors, type StatusError } from '../meta/errors.js';
import type { WriteOperation } from './write-operation.js';

/** `why` names the precondition that failed. */
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

/** Groups that the reference server serves from separate servers, with the group in the storage key. */
const EXTENSION_GROUPS = ['apiextensions', 'apiregistration'].map(serviceGroup);
