/** CronJobs that could not be written today: stored before the rules, or where the platform knew more time zones. */
import { type Controller, type ControllerContext, cronJobs, type Reconcile } from 'orchplane/controllers';
import { expect, test } from 'vitest';

const orch = { domain: 'orch.io' };

/** What one look at a CronJob with this spec tells, and whether it made a Job. */
async function look(spec: object, now = '2030-01-01T00:10:00Z') {
  const told: string[] = [];
  const made: unknown[] = [];
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
        void told.push(`${type} ${reason} ${message}`),
    },
    client: {
      api: () => ({
        create: async (job: { metadata: object }) => {
          made.push(job);
          return { apiVersion: 'batch/v1', kind: 'Job', ...job };
        },
        status: { update: async () => undefined },
      }),
    },
  };
  const controller: Controller = cronJobs();
  controller.start(context as unknown as ControllerContext);
  const again = await reconcile('default/c');
  return { told, made: made.length, again };
}

test('a zone that is not known any more', async () => {
  const { told, made, again } = await look({ schedule: '* * * * *', timeZone: 'Nowhere/Land' });
  expect(told).toEqual(['Warning UnknownTimeZone invalid timeZone: "Nowhere/Land": unknown time zone Nowhere/Land']);
  expect([made, again?.requeueAfterMs]).toEqual([0, undefined]);
});

test('a schedule that cannot be read', async () => {
  const { told, made, again } = await look({ schedule: '61 * * * *' });
  expect(told).toEqual([
    'Warning UnparseableSchedule unparseable schedule: "61 * * * *" : end of range (61) above maximum (59): 61',
  ]);
  expect([made, again?.requeueAfterMs]).toEqual([0, undefined]);
});

test('a suspended one is not even read', async () => {
  expect(await look({ schedule: '61 * * * *', suspend: true })).toMatchObject({ told: [], made: 0 });
});

test('a schedule that names its own zone is followed, with a warning', async () => {
  const { told, made, again } = await look({ schedule: 'TZ=Asia/Kolkata 40 5 * * *' });
  expect(told).toEqual([
    'Warning UnsupportedSchedule CRON_TZ or TZ used in schedule "TZ=Asia/Kolkata 40 5 * * *" is not officially ' +
      'supported, see https://orch.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
    expect.stringMatching(/^Normal SuccessfulCreate Created job c-/),
  ]);
  expect(made).toBe(1);
  expect(again?.requeueAfterMs).toBe(24 * 3_600_000);
});
