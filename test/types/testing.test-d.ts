/**
 * Types of orchplane/testing and orchplane/vitest: what tests receive, and what must not compile. Files with this
 * suffix are only compiled.
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

// A condition that requires an object returns one; the others may return undefined.
expectTypeOf(await pods.waitFor('web', until.condition('Ready'))).toEqualTypeOf<DeepReadonly<Pod>>();
expectTypeOf(await pods.waitFor('web', until.and(until.exists, until.phase('Running')))).toEqualTypeOf<
  DeepReadonly<Pod>
>();
expectTypeOf(await pods.waitFor('web', until.deleted)).toEqualTypeOf<undefined>();
expectTypeOf(await pods.waitFor('web', until.or(until.deleted, until.ready))).toEqualTypeOf<
  DeepReadonly<Pod> | undefined
>();
// @ts-expect-error an unknown status
until.condition('Ready', 'Yes');
// @ts-expect-error at least a phase is required
until.phase();

failing({ verb: ['create', 'write'], kind: [Pod, ConfigMap], nth: [1, 2], when: ({ name }) => name === 'a' });
// @ts-expect-error an unknown verb
failing({ verb: 'put' });
// @ts-expect-error kinds are values
failing({ kind: 'Pod' });
// @ts-expect-error watches have their own verb
cuttingStreams({ verb: 'list' });
expectTypeOf(staleCaches().held).toEqualTypeOf<number>();
expectTypeOf(cluster.use(failing({}))).toExtend<Disposable>();

const log = recordRequests(cluster);
expectTypeOf(log.writes(Pod)).toEqualTypeOf<readonly LoggedRequest[]>();
// @ts-expect-error a log does not select by count
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
// @ts-expect-error an unknown option
clusterTest({ controller: [] });

expect(log).toMatchTrace();
expect({}).toHaveCondition('Ready', { status: 'False', reason: /x/ });
expectTypeOf(expect(Promise.resolve()).rejects.toBeStatusError('Conflict')).toEqualTypeOf<Promise<void>>();
// @ts-expect-error an unknown reason
expect(undefined).toBeStatusError('Oops');
ensure({}).not.toBeReady();
// @ts-expect-error snapshot files need vitest
ensure(log).toMatchTrace();
