/**
 * The fields that are the server's own: who the object is, since when, which generation, and what a client may not
 * touch. Runs after mutating admission. spec: ObjectMeta
 */

import { keepLive } from '../../kinds/shared/strategies.js';
import type { SubresourceStrategy } from '../../kinds/subresource.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { zeroValue } from '../../schema/decode.js';
import type { WriteJob } from '../job.js';

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
function generateName(prefix: string, job: WriteJob): string {
  const { generatedName } = job.served.kind.strategy;
  if (generatedName !== undefined) return generatedName(prefix);
  return prefix.slice(0, MAX_GENERATED_PREFIX) + job.context.ids.suffix(SUFFIX_LENGTH);
}

/** Who a new object is, and since when. */
export function identify({ metadata }: DraftObject, job: WriteJob): void {
  metadata.creationTimestamp = job.moment.now;
  metadata.uid = job.context.ids.uid();
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, job);
}

/** The rest, of an object that is somebody already. */
export function prepareForCreate(draft: DraftObject, job: WriteJob): void {
  const { metadata } = draft;
  const { strategy } = job.served.kind;
  if (strategy.generation !== undefined) metadata.generation = 1;
  if (strategy.statusApart) resetStatus(draft, job);
  strategy.prepareForCreate?.(draft, job.moment);
}

export function prepareForUpdate(
  draft: DraftObject,
  live: ApiObject,
  about: { readonly job: WriteJob; readonly subresource: SubresourceStrategy | undefined },
): void {
  const { metadata } = draft;
  const before = live.metadata;
  const { job, subresource } = about;
  const { strategy } = job.served.kind;
  if (metadata.generation !== before.generation) metadata.generation = before.generation;
  if (subresource === undefined && strategy.statusApart) keepLive(draft, live, ['status']);
  if (subresource === undefined) strategy.prepareForUpdate?.(draft, live, job.moment);
  else subresource.prepareForUpdate(draft, live, job.moment);
  if (strategy.generation?.(draft as unknown as ApiObject, live) === true) {
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

function resetStatus(draft: DraftObject, job: WriteJob): void {
  const field = job.served.schema.fields.get('status');
  const empty = field?.presence === 'always' ? zeroValue(field.node) : undefined;
  if (empty === undefined) delete draft['status'];
  else draft['status'] = empty;
}
