/**
 * Turns a finished draft into the object to store: fields in wire order, empty metadata removed, deeply frozen.
 */
import { inWireOrder } from '../../crd/value/wire-order.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { storedField } from '../../schema/arrange.js';
import { type Field, fieldsOf, type ObjectNode } from '../../schema/schema-node.js';
import { deepFreeze, type MutableRecord, setOwn } from '../../util/json.js';

/** `resourceVersion` is undefined for a dry-run create, unless the client supplied one. */
export function seal(schema: ObjectNode, draft: DraftObject, resourceVersion: string | undefined): ApiObject {
  const sealed = sealContent(schema, draft, resourceVersion);
  Object.freeze(sealed.metadata);
  return Object.freeze(sealed);
}

/** As {@link seal}, but the object and its metadata stay mutable, so that the commit can set the resourceVersion in place. */
export function sealContent(schema: ObjectNode, draft: DraftObject, resourceVersion: string | undefined): ApiObject {
  const metadata = metadataInWireOrder(draft.metadata, resourceVersion);
  if (schema.representation === 'struct') return structInWireOrder(schema, draft, metadata) as unknown as ApiObject;
  const object = documentInWireOrder(schema, draft, metadata);
  for (const name of Object.keys(object)) if (name !== 'metadata') deepFreeze(object[name]);
  return object as unknown as ApiObject;
}

/** Seals metadata only, for an object in which nothing else has changed. */
export function sealMetadata(draft: DraftMeta, resourceVersion: string): ApiObject['metadata'] {
  return Object.freeze(metadataInWireOrder(draft, resourceVersion)) as unknown as ApiObject['metadata'];
}

function metadataInWireOrder(draft: DraftMeta, resourceVersion: string | undefined): MutableRecord {
  const metadata = arrangeMetadata(draft, resourceVersion);
  freezeMembers(metadata);
  return metadata;
}

function freezeMembers(record: MutableRecord): void {
  for (const name in record) if (typeof record[name] === 'object') deepFreeze(record[name]);
}

/** The fields of a struct in wire order, frozen. */
function structInWireOrder(schema: ObjectNode, draft: DraftObject, metadata: MutableRecord): MutableRecord {
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
      // Field names of structs come from the schema, so plain assignment is safe.
      if (value !== undefined) out[name] = value;
    }
  }
  return out;
}

/** The fields of a document: all keys are sorted on the wire, also unknown ones. */
function documentInWireOrder(
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
