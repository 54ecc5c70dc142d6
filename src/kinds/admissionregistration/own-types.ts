/**
 * The types of policies that every version of the group declares for itself. Those of rules (`OperationType`,
 * `ScopeType`) and of the reinvocation policy are v1's in all of them.
 */
export const OWN_POLICY_TYPES: readonly string[] = [
  'ValidatingAdmissionPolicySpec',
  'ValidatingAdmissionPolicyStatus',
  'ValidatingAdmissionPolicyBindingSpec',
  'ParamKind',
  'ParamRef',
  'ParameterNotFoundActionType',
  'MatchResources',
  'NamedRuleWithOperations',
  'MatchPolicyType',
  'FailurePolicyType',
  'MatchCondition',
  'Validation',
  'ValidationAction',
  'AuditAnnotation',
  'Variable',
  'TypeChecking',
  'ExpressionWarning',
];
