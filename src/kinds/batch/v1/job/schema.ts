/**
 * The shape of a Job. A CronJob holds the spec as a template, without a Job's defaults, so they do not stand here.
 */
import * as z from 'zod';
import {
  always,
  defaulted,
  hint,
  int32,
  int64,
  namedString,
  optional,
  pointer,
  setList,
  time,
  timeOrNull,
  enumString,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { podTemplateSpec } from '../../../core/v1/pod-spec/pod-spec.js';
import { labelSelector } from '../../../shared/types.js';

const onExitCodesShape = () => ({
  containerName: pointer(z.string()),
  operator: enumString<'In' | 'NotIn'>('v1.PodFailurePolicyOnExitCodesOperator'),
  values: hint(z.array(int32()), { listType: 'set' }),
});
export interface PodFailurePolicyOnExitCodesRequirement extends Output<typeof onExitCodesShape> {}
export interface PodFailurePolicyOnExitCodesRequirementInput extends Input<typeof onExitCodesShape> {}
const onExitCodes: Type<PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnExitCodesRequirementInput> = type(
  'PodFailurePolicyOnExitCodesRequirement',
  onExitCodesShape,
);

const onPodConditionsShape = () => ({
  type: namedString('v1.PodConditionType'),
  status: defaulted(enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus'), 'True'),
});
export interface PodFailurePolicyOnPodConditionsPattern extends Output<typeof onPodConditionsShape> {}
export interface PodFailurePolicyOnPodConditionsPatternInput extends Input<typeof onPodConditionsShape> {}
const onPodConditions: Type<PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyOnPodConditionsPatternInput> = type(
  'PodFailurePolicyOnPodConditionsPattern',
  onPodConditionsShape,
);

const podFailurePolicyRuleShape = () => ({
  action: enumString<'Count' | 'FailIndex' | 'FailJob' | 'Ignore'>('v1.PodFailurePolicyAction'),
  onExitCodes: pointer(onExitCodes()),
  onPodConditions: optional(z.array(onPodConditions())),
});
export interface PodFailurePolicyRule extends Output<typeof podFailurePolicyRuleShape> {}
export interface PodFailurePolicyRuleInput extends Input<typeof podFailurePolicyRuleShape> {}
const podFailurePolicyRule: Type<PodFailurePolicyRule, PodFailurePolicyRuleInput> = type(
  'PodFailurePolicyRule',
  podFailurePolicyRuleShape,
);

const podFailurePolicyShape = () => ({
  rules: z.array(podFailurePolicyRule()),
});
export interface PodFailurePolicy extends Output<typeof podFailurePolicyShape> {}
export interface PodFailurePolicyInput extends Input<typeof podFailurePolicyShape> {}
const podFailurePolicy: Type<PodFailurePolicy, PodFailurePolicyInput> = type('PodFailurePolicy', podFailurePolicyShape);

const successPolicyRuleShape = () => ({
  succeededIndexes: pointer(z.string()),
  succeededCount: pointer(int32()),
});
export interface SuccessPolicyRule extends Output<typeof successPolicyRuleShape> {}
export interface SuccessPolicyRuleInput extends Input<typeof successPolicyRuleShape> {}
const successPolicyRule: Type<SuccessPolicyRule, SuccessPolicyRuleInput> = type(
  'SuccessPolicyRule',
  successPolicyRuleShape,
);

const successPolicyShape = () => ({
  rules: z.array(successPolicyRule()),
});
export interface SuccessPolicy extends Output<typeof successPolicyShape> {}
export interface SuccessPolicyInput extends Input<typeof successPolicyShape> {}
const successPolicy: Type<SuccessPolicy, SuccessPolicyInput> = type('SuccessPolicy', successPolicyShape);

const jobSpecShape = () => ({
  parallelism: pointer(int32()),
  completions: pointer(int32()),
  activeDeadlineSeconds: pointer(int64()),
  podFailurePolicy: pointer(podFailurePolicy()),
  successPolicy: pointer(successPolicy()),
  backoffLimit: pointer(int32()),
  backoffLimitPerIndex: pointer(int32()),
  maxFailedIndexes: pointer(int32()),
  selector: pointer(labelSelector()),
  manualSelector: pointer(z.boolean()),
  template: podTemplateSpec(),
  ttlSecondsAfterFinished: pointer(int32()),
  completionMode: pointer(enumString<'Indexed' | 'NonIndexed'>('v1.CompletionMode')),
  suspend: pointer(z.boolean()),
  podReplacementPolicy: pointer(enumString<'Failed' | 'TerminatingOrFailed'>('v1.PodReplacementPolicy')),
  managedBy: pointer(z.string()),
});
export interface JobSpec extends Output<typeof jobSpecShape> {}
export interface JobSpecInput extends Input<typeof jobSpecShape> {}
export const jobSpec: Type<JobSpec, JobSpecInput> = type('JobSpec', jobSpecShape, { reusable: true });

const jobConditionShape = () => ({
  type: enumString<'Suspended' | 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet'>('v1.JobConditionType'),
  status: enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus'),
  lastProbeTime: timeOrNull(),
  lastTransitionTime: timeOrNull(),
  reason: optional(z.string()),
  message: optional(z.string()),
});
export interface JobCondition extends Output<typeof jobConditionShape> {}
export interface JobConditionInput extends Input<typeof jobConditionShape> {}
const jobCondition: Type<JobCondition, JobConditionInput> = type('JobCondition', jobConditionShape);

const uncountedTerminatedPodsShape = () => ({
  succeeded: optional(setList(namedString('types.UID'))),
  failed: optional(setList(namedString('types.UID'))),
});
export interface UncountedTerminatedPods extends Output<typeof uncountedTerminatedPodsShape> {}
export interface UncountedTerminatedPodsInput extends Input<typeof uncountedTerminatedPodsShape> {}
const uncountedTerminatedPods: Type<UncountedTerminatedPods, UncountedTerminatedPodsInput> = type(
  'UncountedTerminatedPods',
  uncountedTerminatedPodsShape,
);

const jobStatusShape = () => ({
  conditions: optional(hint(z.array(jobCondition()), { patchMergeKey: 'type', patchStrategy: 'merge' })),
  startTime: pointer(time()),
  completionTime: pointer(time()),
  active: optional(int32()),
  succeeded: optional(int32()),
  failed: optional(int32()),
  terminating: pointer(int32()),
  completedIndexes: optional(z.string()),
  failedIndexes: pointer(z.string()),
  uncountedTerminatedPods: pointer(uncountedTerminatedPods()),
  ready: pointer(int32()),
});
export interface JobStatus extends Output<typeof jobStatusShape> {}
export interface JobStatusInput extends Input<typeof jobStatusShape> {}
const jobStatus: Type<JobStatus, JobStatusInput> = type('JobStatus', jobStatusShape);

export const jobShape = () => ({ spec: always(jobSpec()), status: always(jobStatus()) });
