/** Message types of the group `batch`, in the notation of `../notation.ts`. */
import type { GroupTypes } from '../notation.js';

export const batch: GroupTypes = {
  name: 'batch',
  group: 'batch',
  versions: [
    {
      version: 'v1',
      kinds: 'CronJob+ Job+',
      types: `
CronJob metadata:ObjectMeta spec:CronJobSpec status:CronJobStatus
CronJobSpec schedule startingDeadlineSeconds*:int64 concurrencyPolicy suspend*:bool jobTemplate:JobTemplateSpec
  successfulJobsHistoryLimit*:int32 failedJobsHistoryLimit*:int32 timeZone*
CronJobStatus active[]:ObjectReference lastScheduleTime=4*:Time lastSuccessfulTime*:Time
Job metadata:ObjectMeta spec:JobSpec status:JobStatus
JobCondition type status lastProbeTime:Time lastTransitionTime:Time reason message
JobSpec parallelism*:int32 completions*:int32 activeDeadlineSeconds*:int64 selector*:LabelSelector
  manualSelector*:bool template:PodTemplateSpec backoffLimit*:int32 ttlSecondsAfterFinished*:int32 completionMode*
  suspend*:bool podFailurePolicy*:PodFailurePolicy backoffLimitPerIndex*:int32 maxFailedIndexes*:int32
  podReplacementPolicy* managedBy* successPolicy*:SuccessPolicy
JobStatus conditions[]:JobCondition startTime*:Time completionTime*:Time active:int32 succeeded:int32 failed:int32
  completedIndexes uncountedTerminatedPods*:UncountedTerminatedPods ready*:int32 failedIndexes* terminating*:int32
JobTemplateSpec metadata:ObjectMeta spec:JobSpec
PodFailurePolicy rules[]:PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement containerName* operator values[]:int32
PodFailurePolicyOnPodConditionsPattern type status
PodFailurePolicyRule action onExitCodes*:PodFailurePolicyOnExitCodesRequirement
  onPodConditions[]:PodFailurePolicyOnPodConditionsPattern
SuccessPolicy rules[]:SuccessPolicyRule
SuccessPolicyRule succeededIndexes* succeededCount*:int32
UncountedTerminatedPods succeeded[] failed[]
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'CronJob+',
      types: ``,
    },
  ],
};
