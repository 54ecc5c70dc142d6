/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type {
  FlowDistinguisherMethod,
  FlowDistinguisherMethodInput,
  FlowSchemaConditionInput,
  FlowSchemaStatusInput,
  NonResourcePolicyRule,
  NonResourcePolicyRuleInput,
  PolicyRulesWithSubjects,
  PolicyRulesWithSubjectsInput,
  ResourcePolicyRule,
  ResourcePolicyRuleInput,
  ServiceAccountSubject,
  ServiceAccountSubjectInput,
} from './v1/flow-schema/schema.js';
export type {
  LimitResponse,
  LimitResponseInput,
  QueuingConfiguration,
  QueuingConfigurationInput,
} from './v1/priority-level-configuration.js';
