/**
 * The Go types of policies that each version of the group declares for itself. `OperationType`, `ScopeType` and the
 * reinvocation policy are v1's in all versions.
 */
/** The names of these types. */
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
