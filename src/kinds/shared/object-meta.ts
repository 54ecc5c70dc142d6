/**
 * The schema of `metadata`, the same for every kind. Validation is not part of the schema (see `server/steps/validate`),
 * because it needs the kind's name rule and the live object.
 */
import {
  anything,
  boolean,
  hint,
  int64,
  list,
  map,
  mapList,
  namedString,
  optional,
  pointer,
  type Shape,
  string,
  type Type,
  time,
  type,
} from '../../schema/declare.js';
import type { ObjectNode } from '../../schema/schema-node.js';

const ownerReference: Type = type(
  'OwnerReference',
  () => ({
    apiVersion: string(),
    kind: string(),
    name: string(),
    uid: namedString('types.UID'),
    controller: pointer(boolean()),
    blockOwnerDeletion: pointer(boolean()),
  }),
  { atomic: true },
);

const managedFieldsEntry: Type = type('ManagedFieldsEntry', () => ({
  manager: optional(string()),
  operation: optional(namedString('v1.ManagedFieldsOperationType')),
  apiVersion: optional(string()),
  time: pointer(time()),
  fieldsType: optional(string()),
  fieldsV1: pointer(anything('v1.FieldsV1')),
  subresource: optional(string()),
}));

/** In wire order. */
const metaShape = (): Shape => ({
  name: optional(string()),
  generateName: optional(string()),
  namespace: optional(string()),
  selfLink: optional(string()),
  uid: optional(namedString('types.UID')),
  resourceVersion: optional(string()),
  generation: optional(int64()),
  creationTimestamp: hint(optional(time()), { presence: 'always' }),
  deletionTimestamp: pointer(time()),
  deletionGracePeriodSeconds: pointer(int64()),
  labels: optional(map(string())),
  annotations: optional(map(string())),
  ownerReferences: optional(mapList(ownerReference(), 'uid')),
  finalizers: optional(hint(list(string()), { listType: 'set', patchStrategy: 'merge' })),
  managedFields: optional(list(managedFieldsEntry())),
});

/** Metadata that is part of another object, such as a pod template or a claim template. */
export const templateMeta: Type = type('ObjectMeta', metaShape);

export const objectMetaNode = (): ObjectNode => templateMeta().node as ObjectNode;
