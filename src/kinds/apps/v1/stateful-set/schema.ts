/**
 * The shape of a StatefulSet.
 */
import * as z from 'zod';
import {
  always,
  defaulted,
  defaultedPointer,
  int32,
  int64,
  intOrString,
  mapList,
  namedString,
  optional,
  pointer,
  enumString,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { podTemplateSpec } from '../../../core/v1/pod-spec/pod-spec.js';
import { requiredPointer } from '../../../shared/required-pointer.js';
import { conditionParts, labelSelector } from '../../../shared/types.js';
import { claimTemplate } from './claim-template.js';

const rollingUpdateStatefulSetStrategyShape = () => ({
  partition: defaultedPointer(int32(), 0),
  maxUnavailable: pointer(intOrString()),
});
export interface RollingUpdateStatefulSetStrategy extends Output<typeof rollingUpdateStatefulSetStrategyShape> {}
export interface RollingUpdateStatefulSetStrategyInput extends Input<typeof rollingUpdateStatefulSetStrategyShape> {}
const rollingUpdateStatefulSetStrategy: Type<RollingUpdateStatefulSetStrategy, RollingUpdateStatefulSetStrategyInput> =
  type('RollingUpdateStatefulSetStrategy', rollingUpdateStatefulSetStrategyShape);

const statefulSetUpdateStrategyShape = () => ({
  // Filled in by the kind, which has to know whether it was given.
  type: always(enumString<'OnDelete' | 'RollingUpdate'>('v1.StatefulSetUpdateStrategyType')),
  rollingUpdate: pointer(rollingUpdateStatefulSetStrategy()),
});
export interface StatefulSetUpdateStrategy extends Output<typeof statefulSetUpdateStrategyShape> {}
export interface StatefulSetUpdateStrategyInput extends Input<typeof statefulSetUpdateStrategyShape> {}
const statefulSetUpdateStrategy: Type<StatefulSetUpdateStrategy, StatefulSetUpdateStrategyInput> = type(
  'StatefulSetUpdateStrategy',
  statefulSetUpdateStrategyShape,
);

type Retention = 'Delete' | 'Retain';

const retentionPolicyShape = () => ({
  whenDeleted: defaulted(enumString<Retention>('v1.PersistentVolumeClaimRetentionPolicyType'), 'Retain'),
  whenScaled: defaulted(enumString<Retention>('v1.PersistentVolumeClaimRetentionPolicyType'), 'Retain'),
});
export interface StatefulSetPersistentVolumeClaimRetentionPolicy extends Output<typeof retentionPolicyShape> {}
export interface StatefulSetPersistentVolumeClaimRetentionPolicyInput extends Input<typeof retentionPolicyShape> {}
const retentionPolicy: Type<
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetPersistentVolumeClaimRetentionPolicyInput
> = type('StatefulSetPersistentVolumeClaimRetentionPolicy', retentionPolicyShape);

const statefulSetOrdinalsShape = () => ({
  start: always(int32()),
});
export interface StatefulSetOrdinals extends Output<typeof statefulSetOrdinalsShape> {}
export interface StatefulSetOrdinalsInput extends Input<typeof statefulSetOrdinalsShape> {}
const statefulSetOrdinals: Type<StatefulSetOrdinals, StatefulSetOrdinalsInput> = type(
  'StatefulSetOrdinals',
  statefulSetOrdinalsShape,
);

const statefulSetSpecShape = () => ({
  replicas: defaultedPointer(int32(), 1),
  selector: requiredPointer(labelSelector()),
  template: podTemplateSpec(),
  volumeClaimTemplates: optional(z.array(claimTemplate())),
  serviceName: always(z.string()),
  podManagementPolicy: defaulted(enumString<'OrderedReady' | 'Parallel'>('v1.PodManagementPolicyType'), 'OrderedReady'),
  updateStrategy: always(statefulSetUpdateStrategy()),
  revisionHistoryLimit: defaultedPointer(int32(), 10),
  minReadySeconds: optional(int32()),
  persistentVolumeClaimRetentionPolicy: defaultedPointer(retentionPolicy(), {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  }),
  ordinals: pointer(statefulSetOrdinals()),
});
export interface StatefulSetSpec extends Output<typeof statefulSetSpecShape> {}
export interface StatefulSetSpecInput extends Input<typeof statefulSetSpecShape> {}
const statefulSetSpec: Type<StatefulSetSpec, StatefulSetSpecInput> = type('StatefulSetSpec', statefulSetSpecShape);

const statefulSetConditionShape = () => ({
  type: namedString('v1.StatefulSetConditionType'),
  ...conditionParts(),
});
export interface StatefulSetCondition extends Output<typeof statefulSetConditionShape> {}
export interface StatefulSetConditionInput extends Input<typeof statefulSetConditionShape> {}
const statefulSetCondition: Type<StatefulSetCondition, StatefulSetConditionInput> = type(
  'StatefulSetCondition',
  statefulSetConditionShape,
);

const statefulSetStatusShape = () => ({
  observedGeneration: optional(int64()),
  replicas: int32(),
  readyReplicas: optional(int32()),
  currentReplicas: optional(int32()),
  updatedReplicas: optional(int32()),
  currentRevision: optional(z.string()),
  updateRevision: optional(z.string()),
  collisionCount: pointer(int32()),
  conditions: optional(mapList(statefulSetCondition(), 'type')),
  availableReplicas: always(int32()),
});
export interface StatefulSetStatus extends Output<typeof statefulSetStatusShape> {}
export interface StatefulSetStatusInput extends Input<typeof statefulSetStatusShape> {}
const statefulSetStatus: Type<StatefulSetStatus, StatefulSetStatusInput> = type(
  'StatefulSetStatus',
  statefulSetStatusShape,
);

export const statefulSetShape = () => ({ spec: always(statefulSetSpec()), status: always(statefulSetStatus()) });
