/**
 * The schema of `metadata`, the same for every kind. Validation is not part of the schema (see `server/steps/validate`),
 * because it needs the kind's name rule and the live object.
 */
import * as z from 'zod';
import type { ObjectMetaInput } from '../../meta/object.js';
import { objectFromZod } from '../../schema/from-zod.js';
import { hint, int64, mapList, namedString, optional, pointer, struct, time } from '../../schema/hints.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import { once, type Type, type as typeNamed } from '../../schema/type.js';

const ownerReference = once(() =>
  hint(
    struct('OwnerReference', {
      apiVersion: z.string(),
      kind: z.string(),
      name: z.string(),
      uid: namedString('types.UID'),
      controller: pointer(z.boolean()),
      blockOwnerDeletion: pointer(z.boolean()),
    }),
    { atomic: true },
  ),
);

const managedFieldsEntry = once(() =>
  struct('ManagedFieldsEntry', {
    manager: optional(z.string()),
    operation: optional(namedString('v1.ManagedFieldsOperationType')),
    apiVersion: optional(z.string()),
    time: pointer(time()),
    fieldsType: optional(z.string()),
    fieldsV1: pointer(hint(z.unknown(), { goType: 'v1.FieldsV1' })),
    subresource: optional(z.string()),
  }),
);

/** In wire order. */
const metaShape = () => ({
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
  ownerReferences: optional(mapList(ownerReference(), 'uid')),
  finalizers: optional(hint(z.array(z.string()), { listType: 'set', patchStrategy: 'merge' })),
  managedFields: optional(z.array(managedFieldsEntry())),
});

/** Metadata that is part of another object, such as a pod template or a claim template. */
export const templateMeta: Type<ObjectMetaInput> = typeNamed('ObjectMeta', metaShape);

export const objectMetaNode: () => ObjectNode = once(() => objectFromZod(templateMeta(), 'metadata'));
