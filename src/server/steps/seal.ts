/**
 * A finished draft → the object that is stored: fields in wire order, empty metadata gone, frozen all the way down.
 */
import { inWireOrder } from '../../crd/value/wire-order.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { storedField } from '../../schema/arrange.js';
import { type Field, fieldsOf, type ObjectNode } from '../../schema/structural.js';
import type { MutableRecord } from '../../util/json.js';
import { deepFreeze, setOwn } from '../../util/json.js';

/** The object with its version; without one for a dry-run create, which has none. */
export function seal(schema: ObjectNode, draft: DraftObject, resourceVersion: string | undefined): ApiObject {
  const sealed = sealExceptMetadata(schema, draft, resourceVersion);
  Object.freeze(sealed.metadata);
  return Object.freeze(sealed);
}

/** The same but for the last stroke: the object and its metadata can still be given a version in place. */
export function sealExceptMetadata(
  schema: ObjectNode,
  draft: DraftObject,
  resourceVersion: string | undefined,
): ApiObject {
  const metadata = almostSealedMetadata(draft.metadata, resourceVersion);
  if (schema.representation === 'struct') return arranged(schema, draft, metadata) as unknown as ApiObject;
  const object = ordered(schema, draft, metadata);
  for (const name of Object.keys(object)) if (name !== 'metadata') deepFreeze(object[name]);
  return object as unknown as ApiObject;
}

/** Metadata alone, for an object of which nothing else has changed. */
export function sealMetadata(draft: DraftMeta, resourceVersion: string): ApiObject['metadata'] {
  return Object.freeze(almostSealedMetadata(draft, resourceVersion)) as unknown as ApiObject['metadata'];
}

function almostSealedMetadata(draft: DraftMeta, resourceVersion: string | undefined): MutableRecord {
  const metadata = arrangeMetadata(draft, resourceVersion);
  freezeInside(metadata);
  return metadata;
}

function freezeInside(record: MutableRecord): void {
  for (const name in record) if (typeof record[name] === 'object') deepFreeze(record[name]);
}

/** The draft's fields in their stored form, frozen. */
function arranged(schema: ObjectNode, draft: DraftObject, metadata: MutableRecord): MutableRecord {
  const body = draft as unknown as MutableRecord;
  const out: MutableRecord = {};
  const fields = fieldsOf(schema);
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as Field;
    const { name } = field;
    if (name === 'metadata') out['metadata'] = metadata;
    else if (Object.hasOwn(body, name)) {
      const given = body[name];
      const value = typeof given === 'object' ? storedField(field, given, true) : given;
      // The names of structs are ours.
      if (value !== undefined) out[name] = value;
    }
  }
  return out;
}

/** The same for a document, whose keys are in order on the wire, known or not. */
function ordered(
  schema: ObjectNode,
  { metadata: _metadata, ...rest }: DraftObject,
  metadata: MutableRecord,
): MutableRecord {
  const body: MutableRecord = inWireOrder(rest);
  const out: MutableRecord = {};
  for (const name of schema.fields.keys()) {
    if (name === 'metadata') out['metadata'] = metadata;
    else if (Object.hasOwn(body, name) && body[name] !== undefined) setOwn(out, name, body[name]);
  }
  if (schema.preserveUnknown) {
    for (const name of Object.keys(body)) if (!schema.fields.has(name)) setOwn(out, name, body[name]);
  }
  return out;
}

function arrangeMetadata(from: DraftMeta, resourceVersion: string | undefined): MutableRecord {
  const out: MutableRecord = {};
  if (from.name) out['name'] = from.name;
  if (from.generateName) out['generateName'] = from.generateName;
  if (from.namespace) out['namespace'] = from.namespace;
  if (from.selfLink) out['selfLink'] = from.selfLink;
  if (from.uid) out['uid'] = from.uid;
  if (resourceVersion !== undefined) out['resourceVersion'] = resourceVersion;
  if (from.generation) out['generation'] = from.generation;
  out['creationTimestamp'] = from.creationTimestamp ?? null;
  if (from.deletionTimestamp) out['deletionTimestamp'] = from.deletionTimestamp;
  if (from.deletionGracePeriodSeconds !== undefined) {
    out['deletionGracePeriodSeconds'] = from.deletionGracePeriodSeconds;
  }
  if (hasKeys(from.labels)) out['labels'] = from.labels;
  if (hasKeys(from.annotations)) out['annotations'] = from.annotations;
  if (from.ownerReferences?.length) out['ownerReferences'] = from.ownerReferences;
  if (from.finalizers?.length) out['finalizers'] = from.finalizers;
  if (from.managedFields?.length) out['managedFields'] = from.managedFields;
  return out;
}

function hasKeys(record: object | undefined): boolean {
  for (const _key in record) return true;
  return false;
}
