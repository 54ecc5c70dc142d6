/**
 * The `status` subresource of user-defined kinds.
 */
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { SubresourceStrategy } from './subresource.js';

/** Writes change only the status. Metadata is reset too; the main endpoint resets the status. */
export const status: SubresourceStrategy = Object.freeze({
  verbs: ['get', 'update', 'patch'] as const,
  ownableFields: { except: ['spec'] },
  prepare: keepAllButStatus,
});

function keepAllButStatus(draft: DraftObject, live: ApiObject): void {
  for (const field of Object.keys(draft)) {
    if (field !== 'status' && field !== 'metadata' && live[field] === undefined) delete draft[field];
  }
  for (const field of Object.keys(live)) if (field !== 'status' && field !== 'metadata') draft[field] = live[field];
  const { resourceVersion, managedFields } = draft.metadata;
  // A write whose ownership cannot be computed removes the managedFields.
  draft.metadata = { ...(live.metadata as DraftObject['metadata']), managedFields };
  if (resourceVersion !== undefined) draft.metadata.resourceVersion = resourceVersion;
}
