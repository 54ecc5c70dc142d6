/** A week of CronJob runs across a daylight saving change: every scheduled Job is created, within a time limit. */

import { createCluster } from 'orchplane';
import { type Controller, type ControllerContext, controllers, cronJobs } from 'orchplane/controllers';
import { CronJob, Job } from 'orchplane/kinds';
import { fakeClock, sequentialIds } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { template } from '../../unit/controllers/job-fixture.js';
import { readVectors } from '../../vectors/read.js';

const WEEK = 7 * 86_400_000;
const MINUTE = 60_000;
const TWO_DAYS = 2 * 86_400_000;

interface Week {
  readonly schedule: string;
  readonly timeZone?: string | undefined;
  readonly from: string;
  readonly ms?: number;
}

/** The times of all created Jobs in order, the remaining history, the status and the duration. */
async function week({ schedule, timeZone, from, ms = WEEK }: Week) {
  const clock = fakeClock({ now: Date.parse(from) });
  const made: string[] = [];
  const cluster = createCluster({
    clock,
    ids: sequentialIds(),
    controllers: controllers([cronJobs(), finisher((name) => made.push(timeOf(name)))]),
  });
  const jobTemplate = { spec: { template: template() } };
  const spec = { schedule, jobTemplate, ...(timeZone === undefined ? {} : { timeZone }) };
  await cluster.api(CronJob).create({ metadata: { name: 'w' }, spec });
  await cluster.settle();
  const spentMs = cpuTimer();
  await clock.advance(ms);
  const tookMs = spentMs();
  const kept = (await cluster.api(Job).list()).items.map(({ metadata }) => timeOf(metadata.name));
  const { status } = await cluster.api(CronJob).get('w');
  await cluster.close();
  return { made, kept, status, tookMs };
}

/** Completes every Job as soon as it exists. */
function finisher(onJob: (name: string) => void): Controller {
  return {
    name: 'finisher',
    needs: [Job],
    start(context: ControllerContext) {
      const jobs = context.informer(Job);
      const queue = context.queue(async (key) => {
        const job = jobs.at(key);
        if (job === undefined || job.status.conditions !== undefined) return;
        const { name, namespace } = job.metadata;
        onJob(name);
        const lastTransitionTime = context.now();
        const conditions = (['SuccessCriteriaMet', 'Complete'] as const).map((type) => {
          return { type, status: 'True' as const, lastProbeTime: lastTransitionTime, lastTransitionTime };
        });
        const status = { startTime: lastTransitionTime, completionTime: lastTransitionTime, succeeded: 1, conditions };
        await context.client.api(Job, namespace).status.update(name, { ...job, status });
      });
      jobs.onKey((key) => queue.add(key));
    },
  };
}

function timeOf(name: string): string {
  return new Date(Number(name.split('-').at(-1)) * MINUTE).toISOString().replace('.000Z', 'Z');
}

/** Every five minutes of elapsed time, independent of the local time. */
function everyFiveMinutes(from: string): string[] {
  const start = Date.parse(from);
  return Array.from({ length: TWO_DAYS / (5 * MINUTE) }, (_none, at) =>
    new Date(start + (at + 1) * 5 * MINUTE).toISOString().replace('.000Z', 'Z'),
  );
}

test.each([
  { timeZone: 'America/New_York', from: '2026-03-07T12:00:00Z', change: 'forward' },
  { timeZone: 'America/New_York', from: '2026-10-31T12:00:00Z', change: 'back' },
])('runs every five minutes in $timeZone when clocks go $change', async ({ timeZone, from }) => {
  const { made, kept, status, tookMs } = await week({ schedule: '*/5 * * * *', timeZone, from, ms: TWO_DAYS });
  const expected = everyFiveMinutes(from);
  expect(made).toEqual(expected);
  expect(kept).toEqual(expected.slice(-3));
  expect(status).toEqual({ lastScheduleTime: expected.at(-1), lastSuccessfulTime: expected.at(-1) });
  expect(tookMs).toBeLessThan(20_000);
});

test('skips a daily run in the missing hour and repeats it in the doubled hour', async () => {
  const spring = await week({ schedule: '30 2 * * *', timeZone: 'America/New_York', from: '2026-03-06T00:00:00Z' });
  expect(spring.made).toEqual([
    '2026-03-06T07:30:00Z',
    '2026-03-07T07:30:00Z',
    '2026-03-09T06:30:00Z',
    '2026-03-10T06:30:00Z',
    '2026-03-11T06:30:00Z',
    '2026-03-12T06:30:00Z',
  ]);
  const autumn = await week({ schedule: '30 1 * * *', timeZone: 'America/New_York', from: '2026-10-30T00:00:00Z' });
  expect(autumn.made.filter((time) => time.startsWith('2026-11-01'))).toHaveLength(2);
});

interface CronVector {
  readonly expr: string;
  readonly error?: string;
  readonly zone?: string;
  readonly from?: string;
  readonly next?: readonly string[];
}

/** Beyond this duration the fake clock has too many other timers to run. */
const FAR = 400 * 86_400_000;

describe('CronJob schedule vectors in cron.json', () => {
  const vectors = readVectors('cron') as CronVector[];
  const runnable = vectors.filter(({ expr, error, from = '', next = [] }) => {
    // `cron-jobs-invalid.test.ts` covers schedules that contain a time zone.
    if (error !== undefined || next.length === 0 || expr.includes('TZ')) return false;
    return next.every((time) => Date.parse(time) - Date.parse(from) < FAR);
  });

  test.each(runnable)('runs $expr from $from in $zone', async ({ expr, zone: timeZone, from = '', next = [] }) => {
    // Times within one minute have the same Job name.
    const expected = [...new Set(next.map((time) => `${time.slice(0, 16)}:00Z`))];
    const ms = Date.parse(next.at(-1) ?? from) - Date.parse(from);
    expect((await week({ schedule: expr, timeZone, from, ms })).made).toEqual(expected);
  });
});
