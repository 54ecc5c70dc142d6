/**
 * Writes the planned changes of slices.
 */
import type { Client } from '../../client/client.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { isNamespaceTerminating } from '../runtime/refusals.js';
import type { OwnSlices } from './own-slices.js';
import { bodyOf, type SliceChanges, type SlicePlan, type StoredSlice } from './slice.js';

export interface SliceWrites {
  readonly client: Client;
  /** The key of the service. */
  readonly key: string;
  /** Records each write. */
  readonly slices: OwnSlices;
  /** The Service or Endpoints that the slices belong to. */
  readonly owner: ApiObject;
  readonly changes: SliceChanges;
  /** Adds annotations before a slice is sent. */
  readonly annotated?: (plan: SlicePlan) => SlicePlan;
}

/** Rejects with the first failure, with the reference server's message. */
export async function writeSlices(writes: SliceWrites): Promise<void> {
  const { create, update, remove } = writes.changes;
  if (create.length + update.length + remove.length === 0) return;
  await writes.slices.write(writes.key, (recordWrite) => writeAll(writes, recordWrite));
}

async function writeAll(
  { client, owner, changes, slices, annotated = (plan) => plan }: SliceWrites,
  recordWrite: (slice: StoredSlice) => void,
): Promise<void> {
  const { kind, metadata } = owner;
  const { name, namespace = '' } = metadata;
  const api = client.api(EndpointSlice, namespace);
  const description = `EndpointSlice for ${kind} ${namespace}/${name}`;
  // An owner that is being deleted gets no new slices: they would have to be garbage-collected.
  if (metadata.deletionTimestamp === undefined) {
    for (const plan of changes.create) {
      try {
        recordWrite(await api.create(bodyOf(annotated(plan))));
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        throw withContext(`failed to create ${description}`, error);
      }
    }
  }
  for (const plan of changes.update) {
    const { name: slice = '', ...rest } = annotated(plan);
    try {
      recordWrite(await api.update({ ...bodyOf(rest), metadata: { ...rest.metadata, name: slice } }));
    } catch (error) {
      throw withContext(`failed to update ${slice} ${description}`, error);
    }
  }
  for (const slice of changes.remove) {
    const { name: deletedName, uid } = slice.metadata;
    try {
      await api.delete(deletedName, { preconditions: { uid } });
      slices.recordDelete(slice);
    } catch (error) {
      if (!StatusError.is(error, 'NotFound'))
        throw withContext(`failed to delete ${deletedName} ${description}`, error);
    }
  }
}

/** Prefixes the message and keeps the status, because the queue checks the reason. */
function withContext(text: string, error: unknown): unknown {
  if (StatusError.is(error)) {
    return new StatusError({ ...error.status, message: `${text}: ${error.message}` }, { cause: error });
  }
  return error;
}
