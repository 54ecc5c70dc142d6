/**
 * Fields that the server owns: identity, timestamps, generation, and fields that a client may not set. Runs after
 * mutating admission. spec: Conventions
 */

import { keepLive } from '../../kinds/shared/strategies.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { zeroValue } from '../../schema/decode.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import { append } from '../../util/arrays.js';
import { type MutableRecord, setOwn } from '../../util/json.js';
import type { WriteOperation, WriteTarget } from '../write-operation.js';

/**
 * Removes metadata that a client may not choose, before any plugin sees the object. An object that an update or an apply
 * creates keeps some of it, as in the reference server.
 */
export function clearSystemFields(metadata: DraftMeta, fromUpdate = false): void {
  // Assigned, not deleted: a deletion would make the object slow for everything that follows.
  metadata.creationTimestamp = undefined;
  metadata.uid = undefined;
  if (fromUpdate) return;
  if (metadata.deletionTimestamp !== undefined) metadata.deletionTimestamp = undefined;
  if (metadata.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds = undefined;
  if (metadata.selfLink !== undefined) metadata.selfLink = undefined;
}

const MAX_GENERATED_PREFIX = 58;
const SUFFIX_LENGTH = 5;

/** Sets the server's fields of a new object, or keeps those of the live one, and runs the kind's own preparation. */
export function prepare(draft: DraftObject, target: WriteTarget, write: WriteOperation): void {
  if (target.live === undefined) prepareForCreate(draft, write);
  else prepareForUpdate(draft, target.live, target, write);
}

function prepareForCreate(draft: DraftObject, write: WriteOperation): void {
  const { metadata } = draft;
  const { strategy } = write.served.kind;
  metadata.creationTimestamp = write.hookContext.now;
  metadata.uid = write.server.ids.uid();
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, write);
  if (strategy.write.generation !== undefined) metadata.generation = 1;
  if (strategy.write.separateStatus) resetStatus(draft, write);
  strategy.create.prepare?.(draft, write.hookContext);
  const warnings = strategy.create.warnings?.(draft as unknown as ApiObject);
  if (warnings !== undefined) append(write.warnings, warnings);
}

/** Cuts the prefix so that the name is at most as long as a DNS label, and appends five random characters. */
function generateName(prefix: string, write: WriteOperation): string {
  const { generate } = write.served.kind.strategy.name;
  if (generate !== undefined) return generate(prefix);
  return prefix.slice(0, MAX_GENERATED_PREFIX) + write.server.ids.suffix(SUFFIX_LENGTH);
}

function prepareForUpdate(
  draft: DraftObject,
  live: ApiObject,
  { subresource }: WriteTarget,
  write: WriteOperation,
): void {
  const { metadata } = draft;
  const before = live.metadata;
  const { strategy } = write.served.kind;
  if (metadata.generation !== before.generation) metadata.generation = before.generation;
  if (subresource === undefined && strategy.write.separateStatus) keepLive(draft, live, ['status']);
  if (subresource === undefined) strategy.update.prepare?.(draft, live, write.hookContext);
  else subresource.prepare(draft, live, write.hookContext);
  const isChanged = strategy.write.generation?.(draft as unknown as ApiObject, live) === true;
  if (isChanged || (subresource === undefined && hasPrunedFields(write))) {
    metadata.generation = (before.generation ?? 0) + 1;
  }
  metadata.uid ||= before.uid;
  metadata.creationTimestamp = before.creationTimestamp;
  if (before.deletionTimestamp !== undefined) metadata.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
  }
}

/**
 * Whether an apply contained undeclared fields in a part that it may change. The reference server stores them and prunes them
 * when it reads the object.
 */
export function hasPrunedFields({ prunedParts, served, request }: WriteOperation): boolean {
  const parts = prunedParts.filter((part) => part !== 'metadata');
  if (!Object.hasOwn(served.kind.subresources, 'status')) return parts.length > 0;
  const isOfStatus = request.subresource === 'status';
  return parts.some((part) => (part === 'status') === isOfStatus);
}

function resetStatus(draft: DraftObject, write: WriteOperation): void {
  const field = write.served.schema.fields.get('status');
  const empty = field?.presence === 'always' ? zeroValue(field.node) : undefined;
  if (empty === undefined) delete draft['status'];
  else draft['status'] = empty;
}

/** The zero values of a struct's fields without any defaults; with or without bytes and fields that a client must give. */
export function zeroFields(node: ObjectNode, given: 'zero' | 'absent' = 'zero'): MutableRecord {
  const out: MutableRecord = {};
  for (const { name, node: inner, presence } of node.fields.values()) {
    if (presence !== 'always' && !(presence === 'given' && given === 'zero')) continue;
    // Absent bytes are null in the reference server.
    if (given === 'absent' && inner.type === 'scalar' && inner.scalar === 'bytes') continue;
    setOwn(out, name, inner.type === 'object' ? zeroFields(inner, given) : zeroValue(inner));
  }
  return out;
}
