/** Scenarios of Jobs and CronJobs. */
import {
  BATCH,
  CORE,
  cronJob,
  failed,
  from,
  job,
  jobSpec,
  kubelet,
  patch,
  pause,
  post,
  remove,
  service,
  succeeded,
  template,
} from './controllers-steps.mjs';

const J = `${BATCH}/jobs/j`;

const failurePolicy = (action, more) => ({
  rules: [{ action, onExitCodes: { operator: 'In', values: [7] }, ...more }],
});
export const JOBS = {
  'job-parallel-completions': [
    job('j', { completions: 3, parallelism: 2 }),
    kubelet('ready'),
    succeeded({ count: 1 }),
    succeeded(),
    succeeded(),
  ],
  'job-work-queue': [job('j', { parallelism: 2 }), succeeded({ count: 1 }), succeeded()],
  'job-scale-parallelism': [
    job('j', { completions: 4, parallelism: 1 }),
    patch(J, { spec: { parallelism: 3 } }),
    kubelet('ready'),
    patch(J, { spec: { parallelism: 1 } }),
    patch(J, { spec: { parallelism: 0 } }),
  ],
  'job-backoff-limit': [job('j', { backoffLimit: 0 }), kubelet('ready'), failed(1)],
  'job-backoff-limit-parallel': [
    job('j', { backoffLimit: 0, parallelism: 2, completions: 2 }),
    kubelet('ready'),
    failed(1, { count: 1 }),
  ],
  'job-failure-policy-ignore': [
    job('j', { backoffLimit: 0, podFailurePolicy: failurePolicy('Ignore') }),
    failed(7),
    pause(3_000),
    failed(1),
  ],
  'job-failure-policy-fail': [
    job('j', { completions: 2, parallelism: 2, podFailurePolicy: failurePolicy('FailJob') }),
    kubelet('ready'),
    failed(7, { count: 1 }),
  ],
  'job-failure-policy-count': [job('j', { backoffLimit: 0, podFailurePolicy: failurePolicy('Count') }), failed(7)],
  'job-indexed-backoff': [
    job('j', {
      completions: 2,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 0,
      maxFailedIndexes: 1,
    }),
    failed(1, { count: 1 }),
    succeeded(),
  ],
  'job-indexed-fail-index': [
    job('j', {
      completions: 2,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 1,
      podFailurePolicy: failurePolicy('FailIndex'),
    }),
    failed(7, { count: 1 }),
    succeeded(),
  ],
  'job-success-policy': [
    job('j', {
      completions: 3,
      parallelism: 3,
      completionMode: 'Indexed',
      successPolicy: { rules: [{ succeededCount: 1 }] },
    }),
    kubelet('ready'),
    succeeded({ count: 1 }),
  ],
  'job-elastic-indexed': [
    job('j', { completions: 3, parallelism: 3, completionMode: 'Indexed' }),
    patch(J, { spec: { completions: 2, parallelism: 2 } }),
    succeeded(),
  ],
  'job-created-suspended': [job('j', { suspend: true }), patch(J, { spec: { suspend: false } }), succeeded()],
  'job-suspended-while-running': [
    job('j', { parallelism: 2, completions: 2 }),
    kubelet('ready'),
    patch(J, { spec: { suspend: true } }),
    patch(J, { spec: { suspend: false } }),
    kubelet('ready'),
  ],
  'job-deadline-with-running-pods': [job('j', { activeDeadlineSeconds: 4 }), kubelet('ready'), pause(6_000)],
  'job-ttl-zero': [job('j', { ttlSecondsAfterFinished: 0 }), succeeded()],
  'job-replacement-after-failure': [
    job('j', { podReplacementPolicy: 'Failed', backoffLimit: 3 }),
    kubelet('bound'),
    kubelet('ready'),
    remove(`${CORE}/pods/none`),
    failed(1),
    pause(11_000),
  ],
  'job-managed-elsewhere': [job('j', { managedBy: 'example.com/other' })],
  'job-foreground': [job('j', { parallelism: 2 }), kubelet('ready'), remove(J, 'Foreground')],
  'job-background': [job('j', { parallelism: 2 }), kubelet('ready'), remove(J, 'Background')],
  'job-orphan': [job('j', { parallelism: 1 }), kubelet('ready'), remove(J, 'Orphan')],
  'job-zero-completions': [job('j', { completions: 0 })],
  'job-indexed-with-service': [
    service('sub', { clusterIP: 'None', selector: { app: 'j' } }),
    job('j', {
      completionMode: 'Indexed',
      completions: 1,
      template: template('j', { restartPolicy: 'Never', subdomain: 'sub' }),
    }),
    kubelet('ready'),
  ],
};

const owned = (name) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  name,
  uid: from('c', 'metadata.uid'),
  controller: true,
});
const ownJob = (name) =>
  post(`${BATCH}/jobs`, name, { metadata: { ownerReferences: [owned('c')] }, spec: jobSpec({}) });
export const CRON_JOBS = {
  'cronjob-runs': [
    cronJob('c', {}),
    pause(62_000),
    succeeded(),
    patch(`${BATCH}/cronjobs/c`, { spec: { suspend: true } }),
    remove(`${BATCH}/cronjobs/c`),
  ],
  'cronjob-forbid': [cronJob('c', { concurrencyPolicy: 'Forbid' }), pause(122_000)],
  'cronjob-replace': [cronJob('c', { concurrencyPolicy: 'Replace' }), pause(122_000)],
  'cronjob-history': [
    { ...cronJob('c', { suspend: true, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }), id: 'c' },
    ownJob('j1'),
    succeeded(),
    ownJob('j2'),
    succeeded(),
  ],
  'cronjob-schedule-and-time-zone': [
    cronJob('c', { schedule: '0 0 1 1 *', timeZone: 'Europe/Paris' }),
    patch(`${BATCH}/cronjobs/c`, { spec: { schedule: '0 0 2 1 *' } }),
  ],
  'cronjob-unparseable': [
    cronJob('c', { schedule: 'TZ=Europe/Paris 0 0 1 1 *' }),
    cronJob('e', { schedule: '0 0 31 2 *' }),
  ],
  'cronjob-job-deleted-while-active': [
    { ...cronJob('c', { suspend: true }), id: 'c' },
    ownJob('j1'),
    remove(`${BATCH}/jobs/j1`),
  ],
};
