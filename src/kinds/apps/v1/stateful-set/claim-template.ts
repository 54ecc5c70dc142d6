/**
 * Claims that a StatefulSet makes for each of its pods. They stand in its spec as whole objects, status and all.
 */
import * as z from 'zod';
import {
  always,
  defaulted,
  mapList,
  namedString,
  optional,
  pointer,
  resourceList,
  timeOrNull,
  enumString,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { type AccessMode, persistentVolumeClaimSpec } from '../../../core/v1/pod-spec/claim-spec.js';
import { templateMeta } from '../../../shared/object-meta.js';

const claimConditionShape = () => ({
  type: namedString('v1.PersistentVolumeClaimConditionType'),
  status: enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus'),
  lastProbeTime: timeOrNull(),
  lastTransitionTime: timeOrNull(),
  reason: optional(z.string()),
  message: optional(z.string()),
});
interface ClaimCondition extends Output<typeof claimConditionShape> {}
interface ClaimConditionInput extends Input<typeof claimConditionShape> {}
const claimCondition: Type<ClaimCondition, ClaimConditionInput> = type(
  'PersistentVolumeClaimCondition',
  claimConditionShape,
);

const modifyVolumeStatusShape = () => ({
  targetVolumeAttributesClassName: optional(z.string()),
  status: enumString<'Pending' | 'InProgress' | 'Infeasible'>('v1.PersistentVolumeClaimModifyVolumeStatus'),
});
interface ModifyVolumeStatus extends Output<typeof modifyVolumeStatusShape> {}
interface ModifyVolumeStatusInput extends Input<typeof modifyVolumeStatusShape> {}
const modifyVolumeStatus: Type<ModifyVolumeStatus, ModifyVolumeStatusInput> = type(
  'ModifyVolumeStatus',
  modifyVolumeStatusShape,
);

const claimStatusShape = () => ({
  phase: defaulted(enumString<'Pending' | 'Bound' | 'Lost'>('v1.PersistentVolumeClaimPhase'), 'Pending'),
  accessModes: optional(z.array(enumString<AccessMode>('v1.PersistentVolumeAccessMode'))),
  capacity: optional(resourceList()),
  conditions: optional(mapList(claimCondition(), 'type')),
  allocatedResources: optional(resourceList()),
  allocatedResourceStatuses: optional(z.record(z.string(), namedString('v1.ClaimResourceStatus'))),
  currentVolumeAttributesClassName: pointer(z.string()),
  modifyVolumeStatus: pointer(modifyVolumeStatus()),
});
interface ClaimStatus extends Output<typeof claimStatusShape> {}
interface ClaimStatusInput extends Input<typeof claimStatusShape> {}
const claimStatus: Type<ClaimStatus, ClaimStatusInput> = type('PersistentVolumeClaimStatus', claimStatusShape);

const claimTemplateShape = () => ({
  kind: optional(z.string()),
  apiVersion: optional(z.string()),
  metadata: always(templateMeta()),
  spec: always(persistentVolumeClaimSpec()),
  status: always(claimStatus()),
});
export interface ClaimTemplate extends Output<typeof claimTemplateShape> {}
export interface ClaimTemplateInput extends Input<typeof claimTemplateShape> {}
export const claimTemplate: Type<ClaimTemplate, ClaimTemplateInput> = type('PersistentVolumeClaim', claimTemplateShape);
