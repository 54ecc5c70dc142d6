/** CronJobs that validation rejects today but that may be stored: old schedules and unknown time zones. */
import { type Controller, type ControllerContext, cronJobs, type Reconcile } from 'orchplane/controllers';
import { expect, test } from 'vitest';
import { Schedules } from '../../../src/controllers/cron-job/runs.js';
import { liveHeap } from '../../fixtures/live-heap.js';
import { CronWorld } from './cron-job-fixture.js';

const orch = { domain: 'orch.io' };

/** Reconciles one CronJob with this spec; returns the events, the number of created Jobs and the result. */
async function reconcileOnce(spec: object, now = '2030-01-01T00:10:00Z') {
  const events: string[] = [];
  const created: unknown[] = [];
  let reconcile: Reconcile = async () => undefined;
  const metadata = { name: 'c', namespace: 'default', uid: 'u', creationTimestamp: '2030-01-01T00:00:00Z' };
  const jobTemplate = { metadata: {}, spec: {} };
  const cronJob = { metadata, spec: { concurrencyPolicy: 'Allow', jobTemplate, ...spec }, status: {} };
  const informer = {
    at: () => cronJob,
    controlledBy: () => [],
    get: () => undefined,
    onKey: () => undefined,
    subscribe: () => undefined,
  };
  const context = {
    clock: { now: () => Date.parse(now) },
    dialect: { ...orch, subkey: (domain: string, name: string) => `${domain}/${name}` },
    informer: () => informer,
    queue: (given: Reconcile) => {
      reconcile = given;
      return { add: () => undefined };
    },
    events: {
      record: (_about: unknown, type: string, reason: string, message: string) =>
        void events.push(`${type} ${reason} ${message}`),
    },
    client: {
      api: () => ({
        create: async (job: { metadata: object }) => {
          created.push(job);
          return { apiVersion: 'batch/v1', kind: 'Job', ...job };
        },
        status: { update: async () => undefined },
      }),
    },
  };
  const controller: Controller = cronJobs();
  controller.start(context as unknown as ControllerContext);
  const result = await reconcile('default/c');
  return { events, created: created.length, result };
}

test('records a warning for an unknown time zone', async () => {
  const { events, created, result } = await reconcileOnce({ schedule: '* * * * *', timeZone: 'Nowhere/Land' });
  expect(events).toEqual(['Warning UnknownTimeZone invalid timeZone: "Nowhere/Land": unknown time zone Nowhere/Land']);
  expect([created, result?.requeueAfterMs]).toEqual([0, undefined]);
});

test('records a warning for a schedule that cannot be parsed', async () => {
  const { events, created, result } = await reconcileOnce({ schedule: '61 * * * *' });
  expect(events).toEqual([
    'Warning UnparseableSchedule unparseable schedule: "61 * * * *" : end of range (61) above maximum (59): 61',
  ]);
  expect([created, result?.requeueAfterMs]).toEqual([0, undefined]);
});

test('does not parse the schedule of a suspended CronJob', async () => {
  expect(await reconcileOnce({ schedule: '61 * * * *', suspend: true })).toMatchObject({ events: [], created: 0 });
});

test('starts the run that is due if the deadline has more seconds than a number can represent', async () => {
  const world = new CronWorld('2030-01-01T00:00:00Z');
  await world.make('* * * * *', { startingDeadlineSeconds: (2n ** 63n - 1n) as never });
  await world.advance(2);
  expect([await world.runs(), world.complaints]).toEqual([['2030-01-01T00:01', '2030-01-01T00:02'], []]);
  await world.close();
});

test('forgets the schedule of a CronJob with its spec', () => {
  const schedules = new Schedules();
  const before = liveHeap();
  for (let hour = 0; hour < 8; hour++) {
    const schedule = `0,${'0'.repeat(1e6)} ${hour} * * *`;
    expect(schedules.of({ schedule } as never).next(0)).toBe((hour === 0 ? 24 : hour) * 3_600_000);
  }
  expect(liveHeap() - before).toBeLessThan(4e6);
});

test('follows a schedule with a TZ prefix and records a warning', async () => {
  const { events, created, result } = await reconcileOnce({ schedule: 'TZ=Asia/Kolkata 40 5 * * *' });
  expect(events).toEqual([
    'Warning UnsupportedSchedule CRON_TZ or TZ used in schedule "TZ=Asia/Kolkata 40 5 * * *" is not officially ' +
      'supported, see https://orch.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
    expect.stringMatching(/^Normal SuccessfulCreate Created job c-/),
  ]);
  expect(created).toBe(1);
  expect(result?.requeueAfterMs).toBe(24 * 3_600_000);
});
