/**
 * The fields of a FlowSchema.
 */
import * as z from 'zod';
import {
  always,
  defaulted,
  hint,
  int32,
  mapList,
  namedString,
  optional,
  pointer,
  setList,
  timeOrNull,
  enumString,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';

const priorityLevelReferenceShape = () => ({ name: z.string() });
interface PriorityLevelReference extends Output<typeof priorityLevelReferenceShape> {}
interface PriorityLevelReferenceInput extends Input<typeof priorityLevelReferenceShape> {}
const priorityLevelReference: Type<PriorityLevelReference, PriorityLevelReferenceInput> = type(
  'PriorityLevelConfigurationReference',
  priorityLevelReferenceShape,
);

const flowDistinguisherMethodShape = () => ({
  type: enumString<'ByUser' | 'ByNamespace'>('v1.FlowDistinguisherMethodType'),
});
export interface FlowDistinguisherMethod extends Output<typeof flowDistinguisherMethodShape> {}
export interface FlowDistinguisherMethodInput extends Input<typeof flowDistinguisherMethodShape> {}
const flowDistinguisherMethod: Type<FlowDistinguisherMethod, FlowDistinguisherMethodInput> = type(
  'FlowDistinguisherMethod',
  flowDistinguisherMethodShape,
);

const userSubjectShape = () => ({ name: z.string() });
interface UserSubject extends Output<typeof userSubjectShape> {}
interface UserSubjectInput extends Input<typeof userSubjectShape> {}
const userSubject: Type<UserSubject, UserSubjectInput> = type('UserSubject', userSubjectShape);

const groupSubjectShape = () => ({ name: z.string() });
interface GroupSubject extends Output<typeof groupSubjectShape> {}
interface GroupSubjectInput extends Input<typeof groupSubjectShape> {}
const groupSubject: Type<GroupSubject, GroupSubjectInput> = type('GroupSubject', groupSubjectShape);

const serviceAccountSubjectShape = () => ({ namespace: z.string(), name: z.string() });
export interface ServiceAccountSubject extends Output<typeof serviceAccountSubjectShape> {}
export interface ServiceAccountSubjectInput extends Input<typeof serviceAccountSubjectShape> {}
const serviceAccountSubject: Type<ServiceAccountSubject, ServiceAccountSubjectInput> = type(
  'ServiceAccountSubject',
  serviceAccountSubjectShape,
);

const flowSubjectShape = () => ({
  kind: enumString<'User' | 'Group' | 'ServiceAccount'>('v1.SubjectKind'),
  user: pointer(userSubject()),
  group: pointer(groupSubject()),
  serviceAccount: pointer(serviceAccountSubject()),
});
export interface FlowSubject extends Output<typeof flowSubjectShape> {}
export interface FlowSubjectInput extends Input<typeof flowSubjectShape> {}
const flowSubject: Type<FlowSubject, FlowSubjectInput> = type('Subject', flowSubjectShape);

const resourcePolicyRuleShape = () => ({
  verbs: setList(z.string()),
  apiGroups: setList(z.string()),
  resources: setList(z.string()),
  clusterScope: optional(z.boolean()),
  namespaces: always(hint(z.array(z.string()).nullable(), { listType: 'set' })),
});
export interface ResourcePolicyRule extends Output<typeof resourcePolicyRuleShape> {}
export interface ResourcePolicyRuleInput extends Input<typeof resourcePolicyRuleShape> {}
const resourcePolicyRule: Type<ResourcePolicyRule, ResourcePolicyRuleInput> = type(
  'ResourcePolicyRule',
  resourcePolicyRuleShape,
);

const nonResourcePolicyRuleShape = () => ({
  verbs: setList(z.string()),
  nonResourceURLs: setList(z.string()),
});
export interface NonResourcePolicyRule extends Output<typeof nonResourcePolicyRuleShape> {}
export interface NonResourcePolicyRuleInput extends Input<typeof nonResourcePolicyRuleShape> {}
const nonResourcePolicyRule: Type<NonResourcePolicyRule, NonResourcePolicyRuleInput> = type(
  'NonResourcePolicyRule',
  nonResourcePolicyRuleShape,
);

const policyRulesWithSubjectsShape = () => ({
  subjects: z.array(flowSubject()),
  resourceRules: optional(z.array(resourcePolicyRule())),
  nonResourceRules: optional(z.array(nonResourcePolicyRule())),
});
export interface PolicyRulesWithSubjects extends Output<typeof policyRulesWithSubjectsShape> {}
export interface PolicyRulesWithSubjectsInput extends Input<typeof policyRulesWithSubjectsShape> {}
const policyRulesWithSubjects: Type<PolicyRulesWithSubjects, PolicyRulesWithSubjectsInput> = type(
  'PolicyRulesWithSubjects',
  policyRulesWithSubjectsShape,
);

const flowSchemaSpecShape = () => ({
  priorityLevelConfiguration: priorityLevelReference(),
  matchingPrecedence: defaulted(int32(), 1000),
  distinguisherMethod: pointer(flowDistinguisherMethod()),
  rules: optional(z.array(policyRulesWithSubjects())),
});
export interface FlowSchemaSpec extends Output<typeof flowSchemaSpecShape> {}
export interface FlowSchemaSpecInput extends Input<typeof flowSchemaSpecShape> {}
const flowSchemaSpec: Type<FlowSchemaSpec, FlowSchemaSpecInput> = type('FlowSchemaSpec', flowSchemaSpecShape);

const flowSchemaConditionShape = () => ({
  type: optional(namedString('v1.FlowSchemaConditionType')),
  status: optional(enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus')),
  lastTransitionTime: timeOrNull(),
  reason: optional(z.string()),
  message: optional(z.string()),
});
export interface FlowSchemaCondition extends Output<typeof flowSchemaConditionShape> {}
export interface FlowSchemaConditionInput extends Input<typeof flowSchemaConditionShape> {}
export const flowSchemaCondition: Type<FlowSchemaCondition, FlowSchemaConditionInput> = type(
  'FlowSchemaCondition',
  flowSchemaConditionShape,
);

const flowSchemaStatusShape = () => ({ conditions: optional(mapList(flowSchemaCondition(), 'type')) });
export interface FlowSchemaStatus extends Output<typeof flowSchemaStatusShape> {}
export interface FlowSchemaStatusInput extends Input<typeof flowSchemaStatusShape> {}
const flowSchemaStatus: Type<FlowSchemaStatus, FlowSchemaStatusInput> = type('FlowSchemaStatus', flowSchemaStatusShape);

export const flowSchemaShape = () => ({ spec: always(flowSchemaSpec()), status: always(flowSchemaStatus()) });
