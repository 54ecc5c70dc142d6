/** Message types of the group `flowcontrol.apiserver`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const flowcontrol: GroupTypes = {
  name: 'flowcontrol',
  group: serviceGroup('flowcontrol.apiserver'),
  versions: [
    {
      version: 'v1',
      kinds: 'FlowSchema+ PriorityLevelConfiguration+',
      types: `
ExemptPriorityLevelConfiguration nominalConcurrencyShares*:int32 lendablePercent*:int32
FlowDistinguisherMethod type
FlowSchema metadata:ObjectMeta spec:FlowSchemaSpec status:FlowSchemaStatus
FlowSchemaCondition type status lastTransitionTime:Time reason message
FlowSchemaSpec priorityLevelConfiguration:PriorityLevelConfigurationReference matchingPrecedence:int32
  distinguisherMethod*:FlowDistinguisherMethod rules[]:PolicyRulesWithSubjects
FlowSchemaStatus conditions[]:FlowSchemaCondition
GroupSubject name
LimitResponse type queuing*:QueuingConfiguration
LimitedPriorityLevelConfiguration nominalConcurrencyShares*:int32 limitResponse:LimitResponse lendablePercent*:int32
  borrowingLimitPercent*:int32
NonResourcePolicyRule verbs[] nonResourceURLs=6[]
PolicyRulesWithSubjects subjects[]:Subject resourceRules[]:ResourcePolicyRule
  nonResourceRules[]:NonResourcePolicyRule
PriorityLevelConfiguration metadata:ObjectMeta spec:PriorityLevelConfigurationSpec
  status:PriorityLevelConfigurationStatus
PriorityLevelConfigurationCondition type status lastTransitionTime:Time reason message
PriorityLevelConfigurationReference name
PriorityLevelConfigurationSpec type limited*:LimitedPriorityLevelConfiguration
  exempt*:ExemptPriorityLevelConfiguration
PriorityLevelConfigurationStatus conditions[]:PriorityLevelConfigurationCondition
QueuingConfiguration queues:int32 handSize:int32 queueLengthLimit:int32
ResourcePolicyRule verbs[] apiGroups[] resources[] clusterScope:bool namespaces[]
ServiceAccountSubject namespace name
Subject kind user*:UserSubject group*:GroupSubject serviceAccount*:ServiceAccountSubject
UserSubject name
      `,
    },
    {
      version: 'v1beta3',
      like: 'v1',
      kinds: 'FlowSchema+ PriorityLevelConfiguration+',
      types: `
LimitedPriorityLevelConfiguration nominalConcurrencyShares:int32 limitResponse:LimitResponse lendablePercent*:int32
  borrowingLimitPercent*:int32
      `,
    },
    {
      version: 'v1beta2',
      like: 'v1',
      kinds: 'FlowSchema+ PriorityLevelConfiguration+',
      types: `
LimitedPriorityLevelConfiguration assuredConcurrencyShares:int32 limitResponse:LimitResponse lendablePercent*:int32
  borrowingLimitPercent*:int32
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'FlowSchema+ PriorityLevelConfiguration+',
      types: `
LimitedPriorityLevelConfiguration assuredConcurrencyShares:int32 limitResponse:LimitResponse lendablePercent*:int32
  borrowingLimitPercent*:int32
      `,
    },
  ],
};
