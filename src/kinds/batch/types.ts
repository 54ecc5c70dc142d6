/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type {
  JobConditionInput,
  PodFailurePolicyInput,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnExitCodesRequirementInput,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyOnPodConditionsPatternInput,
  PodFailurePolicyRuleInput,
  SuccessPolicyInput,
  SuccessPolicyRuleInput,
  UncountedTerminatedPods,
  UncountedTerminatedPodsInput,
} from './v1/job/schema.js';
