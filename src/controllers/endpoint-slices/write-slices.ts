/**
 * Writes slices: new ones, changed ones, and away with what is left over.
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
  /** Told of each write. */
  readonly slices: OwnSlices;
  /** The Service or Endpoints that the slices belong to. */
  readonly owner: ApiObject;
  readonly changes: SliceChanges;
  /** The last touch before a slice is sent. */
  readonly annotated?: (plan: SlicePlan) => SlicePlan;
}

/** Rejects with the first refusal, told as the reference tells it. */
export async function writeSlices(writes: SliceWrites): Promise<void> {
  const { create, update, remove } = writes.changes;
  if (create.length + update.length + remove.length === 0) return;
  await writes.slices.write(writes.key, (wrote) => writeAll(writes, wrote));
}

async function writeAll(
  { client, owner, changes, slices, annotated = (plan) => plan }: SliceWrites,
  wrote: (slice: StoredSlice) => void,
): Promise<void> {
  const { kind, metadata } = owner;
  const { name, namespace = '' } = metadata;
  const api = client.api(EndpointSlice, namespace);
  const whose = `EndpointSlice for ${kind} ${namespace}/${name}`;
  // What is going away gets no more slices: they would have to be collected after it.
  if (metadata.deletionTimestamp === undefined) {
    for (const plan of changes.create) {
      try {
        wrote(await api.create(bodyOf(annotated(plan))));
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        throw told(`failed to create ${whose}`, error);
      }
    }
  }
  for (const plan of changes.update) {
    const { name: slice = '', ...rest } = annotated(plan);
    try {
      wrote(await api.update({ ...bodyOf(rest), metadata: { ...rest.metadata, name: slice } }));
    } catch (error) {
      throw told(`failed to update ${slice} ${whose}`, error);
    }
  }
  for (const slice of changes.remove) {
    const { name: gone, uid } = slice.metadata;
    try {
      await api.delete(gone, { preconditions: { uid } });
      slices.removing(slice);
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) throw told(`failed to delete ${gone} ${whose}`, error);
    }
  }
}

/** The queue looks at what kind of refusal it was, so that stays. */
function told(text: string, error: unknown): unknown {
  if (StatusError.is(error)) {
    return new StatusError({ ...error.status, message: `${text}: ${error.message}` }, { cause: error });
  }
  return error;
}
