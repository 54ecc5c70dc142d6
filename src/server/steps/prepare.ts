/**
 * The fields that are the server's own: who the object is, since when, which generation, and what a client may not
 * touch. Runs after mutating admission. spec: ObjectMeta
 */

import { keepLive } from '../../kinds/shared/strategies.js';
import type { SubresourceStrategy } from '../../kinds/subresource.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { zeroValue } from '../../schema/decode.js';
import type { WriteOperation } from '../write-operation.js';

/** What a client may not choose is taken away before anybody looks at the object. */
export function wipeSystemFields(metadata: DraftMeta): void {
  // Assigned, not deleted: a deletion would make the object slow for everything that follows.
  metadata.creationTimestamp = undefined;
  metadata.uid = undefined;
  if (metadata.deletionTimestamp !== undefined) metadata.deletionTimestamp = undefined;
  if (metadata.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds = undefined;
  if (metadata.selfLink !== undefined) metadata.selfLink = undefined;
}

const MAX_GENERATED_PREFIX = 58;
const SUFFIX_LENGTH = 5;

/** `prefix` cut so that the whole name is at most a label long, and five characters. */
function generateName(prefix: string, job: WriteOperation): string {
  const { generate } = job.served.kind.strategy.name;
  if (generate !== undefined) return generate(prefix);
  return prefix.slice(0, MAX_GENERATED_PREFIX) + job.server.ids.suffix(SUFFIX_LENGTH);
}

/** Who a new object is, and since when. */
export function assignIdentity({ metadata }: DraftObject, job: WriteOperation): void {
  metadata.creationTimestamp = job.context.now;
  metadata.uid = job.server.ids.uid();
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, job);
}

/** The rest, of an object that is somebody already. */
export function prepareForCreate(draft: DraftObject, job: WriteOperation): void {
  const { metadata } = draft;
  const { strategy } = job.served.kind;
  if (strategy.write.generation !== undefined) metadata.generation = 1;
  if (strategy.write.separateStatus) resetStatus(draft, job);
  strategy.create.prepare?.(draft, job.context);
}

export function prepareForUpdate(
  draft: DraftObject,
  live: ApiObject,
  about: { readonly job: WriteOperation; readonly subresource: SubresourceStrategy | undefined },
): void {
  const { metadata } = draft;
  const before = live.metadata;
  const { job, subresource } = about;
  const { strategy } = job.served.kind;
  if (metadata.generation !== before.generation) metadata.generation = before.generation;
  if (subresource === undefined && strategy.write.separateStatus) keepLive(draft, live, ['status']);
  if (subresource === undefined) strategy.update.prepare?.(draft, live, job.context);
  else subresource.prepare(draft, live, job.context);
  if (strategy.write.generation?.(draft as unknown as ApiObject, live) === true) {
    metadata.generation = (before.generation ?? 0) + 1;
  }
  metadata.uid ||= before.uid;
  metadata.creationTimestamp = before.creationTimestamp;
  if (before.deletionTimestamp !== undefined) metadata.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
  }
  // It goes when the object is stored, which a trial never is.
  if (metadata.selfLink !== undefined && !job.dryRun) metadata.selfLink = undefined;
}

function resetStatus(draft: DraftObject, job: WriteOperation): void {
  const field = job.served.schema.fields.get('status');
  const empty = field?.presence === 'always' ? zeroValue(field.node) : undefined;
  if (empty === undefined) delete draft['status'];
  else draft['status'] = empty;
}
