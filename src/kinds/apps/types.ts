/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type {
  RollingUpdateStatefulSetStrategy,
  RollingUpdateStatefulSetStrategyInput,
  StatefulSetCondition,
  StatefulSetConditionInput,
  StatefulSetOrdinals,
  StatefulSetOrdinalsInput,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetPersistentVolumeClaimRetentionPolicyInput,
  StatefulSetStatusInput,
  StatefulSetUpdateStrategy,
  StatefulSetUpdateStrategyInput,
} from './v1/stateful-set/schema.js';
