/**
 * Types of orchplane/testing and orchplane/vitest: what tests are given, and what must not compile. Files of this name are
 * not run.
 */
import type { DeepReadonly } from 'orchplane';
import { ConfigMap, Pod } from 'orchplane/kinds';
import {
  cuttingStreams,
  ensure,
  failing,
  interleavings,
  type LoggedRequest,
  recordRequests,
  staleCaches,
  type TestCluster,
  testCluster,
  until,
} from 'orchplane/testing';
import { clusterTest, test } from 'orchplane/vitest';
import { expect, expectTypeOf } from 'vitest';

const cluster = testCluster();
const pods = cluster.api(Pod);

// A condition that needs an object gives one; the others leave it open.
expectTypeOf(await pods.waitFor('web', until.condition('Ready'))).toEqualTypeOf<DeepReadonly<Pod>>();
expectTypeOf(await pods.waitFor('web', until.and(until.exists, until.phase('Running')))).toEqualTypeOf<
  DeepReadonly<Pod>
>();
expectTypeOf(await pods.waitFor('web', until.deleted)).toEqualTypeOf<undefined>();
expectTypeOf(await pods.waitFor('web', until.or(until.deleted, until.ready))).toEqualTypeOf<
  DeepReadonly<Pod> | undefined
>();
// @ts-expect-error no such status
until.condition('Ready', 'Yes');
// @ts-expect-error a phase at least
until.phase();

failing({ verb: ['create', 'write'], kind: [Pod, ConfigMap], nth: [1, 2], when: ({ name }) => name === 'a' });
// @ts-expect-error no such verb
failing({ verb: 'put' });
// @ts-expect-error kinds are values
failing({ kind: 'Pod' });
// @ts-expect-error watches are watched
cuttingStreams({ verb: 'list' });
expectTypeOf(staleCaches().held).toEqualTypeOf<number>();
expectTypeOf(cluster.use(failing({}))).toExtend<Disposable>();

const log = recordRequests(cluster);
expectTypeOf(log.writes(Pod)).toEqualTypeOf<readonly LoggedRequest[]>();
// @ts-expect-error a log does not pick by count
log.writes({ times: 1 });

await interleavings(cluster, (fork, { seed }) => {
  expectTypeOf(fork).toEqualTypeOf<TestCluster>();
  expectTypeOf(seed).toEqualTypeOf<number>();
});

test('fixture', ({ cluster: own }) => {
  expectTypeOf(own).toEqualTypeOf<TestCluster>();
});
test.seeds(3)('seeded', ({ cluster: own, log: writes }) => {
  expectTypeOf(own).toEqualTypeOf<TestCluster>();
  expect(writes).toHaveRequested(Pod, 1);
});
// @ts-expect-error no such option
clusterTest({ controller: [] });

expect(log).toMatchTrace();
expect({}).toHaveCondition('Ready', { status: 'False', reason: /x/ });
expectTypeOf(expect(Promise.resolve()).rejects.toBeStatusError('Conflict')).toEqualTypeOf<Promise<void>>();
// @ts-expect-error no such reason
expect(undefined).toBeStatusError('Oops');
ensure({}).not.toBeReady();
// @ts-expect-error without vitest there is no file of snapshots
ensure(log).toMatchTrace();
