/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type {
  MatchCondition,
  MatchConditionInput,
  MatchResources,
  MatchResourcesInput,
  NamedRuleWithOperations,
  NamedRuleWithOperationsInput,
  RuleWithOperations,
  RuleWithOperationsInput,
} from './v1/match-resources.js';
export type { ParamKind, ParamKindInput, ParamRef, ParamRefInput, Variable, VariableInput } from './v1/policy-parts.js';
export type {
  AuditAnnotation,
  AuditAnnotationInput,
  ExpressionWarning,
  ExpressionWarningInput,
  TypeChecking,
  TypeCheckingInput,
} from './v1/validating-admission-policy.js';
