/** What the types of this package are for; see `meta.ts` for the notation. */
export const batchDescriptions = `
CronJob Makes jobs at given times.
CronJobSpec When jobs are made, and which.
 schedule The times, as cron writes them.
 timeZone The time zone of the times; that of the controller unless said otherwise.
 startingDeadlineSeconds How late a job may start; later it counts as failed.
 concurrencyPolicy What to do while a job still runs: Allow another, Forbid it, or Replace the running one.
 suspend True: no new jobs for now. Running ones go on.
 jobTemplate The jobs to make.
 successfulJobsHistoryLimit How many successful jobs are kept; 3 unless said otherwise.
 failedJobsHistoryLimit How many failed jobs are kept; 1 unless said otherwise.
CronJobStatus What has become of the jobs.
 active The jobs that are running.
 lastScheduleTime When a job was last made.
 lastSuccessfulTime When a job last ended well.
JobTemplateSpec The jobs that are made.
 metadata Labels and annotations of the jobs.
 spec What the jobs do.
Job Runs pods until enough of them have ended well.
JobSpec What is to be done, and how often.
 parallelism How many pods run at a time.
 completions How many pods must end well.
 activeDeadlineSeconds How long the job may last.
 podFailurePolicy What a failed pod means.
 successPolicy When the job counts as successful.
 backoffLimit How many failures until the job counts as failed.
 backoffLimitPerIndex The same for every index.
 maxFailedIndexes How many indexes may fail.
 selector Selects the pods; usually made by the server.
 manualSelector Whether the selector and its labels are the user's own.
 template The pods to make.
 ttlSecondsAfterFinished How long the job is kept after its end.
 completionMode NonIndexed, or Indexed: every pod has a number.
 suspend True: its pods go, and the job waits.
 podReplacementPolicy When a pod is replaced: TerminatingOrFailed or Failed.
 managedBy The controller that looks after the job.
JobStatus How far the job has come.
 startTime When the job began.
 completionTime When it ended well.
 active How many pods are running.
 succeeded How many pods ended well.
 failed How many pods failed.
 terminating How many pods are on their way out.
 completedIndexes Indexes that ended well.
 failedIndexes Indexes that failed.
 uncountedTerminatedPods Pods that have ended and are not counted yet.
 ready How many pods are ready.
UncountedTerminatedPods Pods that have ended and are not counted yet.
 succeeded Those that ended well.
 failed Those that failed.
JobCondition A statement about the state of a job.
PodFailurePolicy What a failed pod means.
 rules The rules; the first that matches decides.
PodFailurePolicyRule A rule about failed pods.
 action FailJob, FailIndex, Ignore or Count.
 onExitCodes Matches by exit code.
 onPodConditions Matches by conditions of the pod.
PodFailurePolicyOnExitCodesRequirement Exit codes.
 containerName The container; any when absent.
 operator In or NotIn.
 values The codes.
PodFailurePolicyOnPodConditionsPattern A condition of a pod.
 type Its type.
 status Its status; True unless said otherwise.
SuccessPolicy When a job counts as successful.
 rules The rules; one of them is enough.
SuccessPolicyRule Indexes that must end well.
 succeededIndexes Which indexes.
 succeededCount How many of them.
`;
