/**
 * The schema of `metadata`, the same for every kind. Its rules are code (`server/steps/validate`), because they need
 * the kind's name rule and the old object.
 */
import * as z from 'zod';
import { objectFromZod } from '../../schema/from-zod.js';
import { hint, int64, mapList, namedString, optional, pointer, struct, time } from '../../schema/hints.js';
import type { ObjectNode } from '../../schema/structural.js';

const ownerReference = hint(
  struct('OwnerReference', {
    apiVersion: z.string(),
    kind: z.string(),
    name: z.string(),
    uid: namedString('types.UID'),
    controller: pointer(z.boolean()),
    blockOwnerDeletion: pointer(z.boolean()),
  }),
  { atomic: true },
);

const managedFieldsEntry = struct('ManagedFieldsEntry', {
  manager: optional(z.string()),
  operation: optional(namedString('v1.ManagedFieldsOperationType')),
  apiVersion: optional(z.string()),
  time: pointer(time()),
  fieldsType: optional(z.string()),
  fieldsV1: pointer(hint(z.unknown(), { goType: 'v1.FieldsV1' })),
  subresource: optional(z.string()),
});

/** In wire order. */
export const objectMetaNode: ObjectNode = objectFromZod(
  struct('ObjectMeta', {
    name: optional(z.string()),
    generateName: optional(z.string()),
    namespace: optional(z.string()),
    selfLink: optional(z.string()),
    uid: optional(namedString('types.UID')),
    resourceVersion: optional(z.string()),
    generation: optional(int64()),
    creationTimestamp: hint(optional(time()), { presence: 'always' }),
    deletionTimestamp: pointer(time()),
    deletionGracePeriodSeconds: pointer(int64()),
    labels: optional(z.record(z.string(), z.string())),
    annotations: optional(z.record(z.string(), z.string())),
    ownerReferences: optional(mapList(ownerReference, 'uid')),
    finalizers: optional(hint(z.array(z.string()), { listType: 'set', patchStrategy: 'merge' })),
    managedFields: optional(z.array(managedFieldsEntry)),
  }),
  'metadata',
);
