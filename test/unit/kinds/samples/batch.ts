/** Samples of Jobs and CronJobs. */
import { CronJob, Job } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const pods = { matchLabels: { a: 'b' } };
const template = {
  metadata: { labels: { a: 'b' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
};
const cron = { schedule: '@hourly', jobTemplate: { spec: { template } } };

const common = {
  wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
  deletedAtOnce: true,
  unconditionalUpdate: true,
  createOnUpdate: false,
} as const;

export const samples: readonly KindSample[] = [
  {
    kind: Job,
    ...common,
    // A generated selector belongs to one Job and must be part of every update; a manual one need not.
    body: { spec: { template, manualSelector: true, selector: pods } },
    change: { spec: { template, manualSelector: true, selector: pods, parallelism: 2, completions: 1 } },
    // A delete orphans the pods first.
    deletedAtOnce: false,
  },
  { kind: CronJob, body: { spec: cron }, change: { spec: { ...cron, suspend: true } }, ...common },
];
