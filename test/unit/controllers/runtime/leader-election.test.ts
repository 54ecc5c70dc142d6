/**
 * Leader election with the rules of client-go, on a clock that the test advances.
 */
import { type Clock, createClient, errors } from 'orchplane';
import { type Controller, type LeaderElectionOptions, leaderElection, runControllers } from 'orchplane/controllers';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap, CoreEvent, Lease } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { Host } from '../../../../src/client/host.js';
import { nextTurn } from '../../../../src/util/clock.js';

const NAME = 'greeter';

function candidate(cluster: Host, identity: string, log: string[] = [], options: Partial<LeaderElectionOptions> = {}) {
  return leaderElection({ name: NAME, identity, ...options }).campaign(cluster, {
    onStartedLeading: () => log.push(`${identity} leads`),
    onStoppedLeading: () => log.push(`${identity} stops`),
    onNewLeader: (leader) => log.push(`${identity} sees ${leader}`),
  });
}

const leaseOf = (cluster: TestCluster) => cluster.api(Lease, 'kube-system').get(NAME);

/** Rejects all requests of one candidate, like a network partition. */
function cutOff(cluster: TestCluster) {
  const cut = new Set<string>();
  const hostOf = (identity: string): Host => ({
    ...cluster,
    send: (request) => {
      if (cut.has(identity)) throw errors.serviceUnavailable('cut off');
      return cluster.send(request);
    },
  });
  return { cut, hostOf };
}

test('makes the first candidate leader and records the acquire time', async () => {
  await using cluster = testCluster();
  const log: string[] = [];
  await using one = candidate(cluster, 'one', log);
  await cluster.settle();
  expect(log).toEqual(['one leads', 'one sees one']);
  expect([one.isLeader, one.leader]).toEqual([true, 'one']);
  expect((await leaseOf(cluster)).spec).toEqual({
    holderIdentity: 'one',
    leaseDurationSeconds: 15,
    acquireTime: '2030-01-01T00:00:00.000000Z',
    renewTime: '2030-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  });
  await cluster.clock.advance(60_000);
  expect((await leaseOf(cluster)).spec).toMatchObject({
    acquireTime: '2030-01-01T00:00:00.000000Z',
    renewTime: '2030-01-01T00:01:00.000000Z',
    leaseTransitions: 0,
  });
});

test('hands over at once when the leader releases the lease', async () => {
  await using cluster = testCluster();
  const log: string[] = [];
  const one = candidate(cluster, 'one', log);
  await cluster.settle();
  await using two = candidate(cluster, 'two', log);
  await cluster.clock.advance(60_000);
  expect(log).toEqual(['one leads', 'one sees one', 'two sees one']);
  expect(two.isLeader).toBe(false);

  await one.close();
  expect((await leaseOf(cluster)).spec).toMatchObject({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    leaseTransitions: 0,
  });
  // One retry with jitter takes up to 2.2 periods.
  await cluster.clock.advance(4_400);
  expect(log.slice(3)).toEqual(['one stops', 'two leads', 'two sees two']);
  expect((await leaseOf(cluster)).spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
});

/** The clock of a host that is set back, while its timers continue. */
function withClockSetBack(host: Host) {
  const back = { ms: 0 };
  const clock: Clock = {
    now: () => host.clock.now() - back.ms,
    after: (...timer) => host.clock.after(...timer),
  };
  return { back, host: { ...host, clock } };
}

test('renews the lease when the clock of the leader is set back', async () => {
  await using cluster = testCluster();
  const log: string[] = [];
  const { back, host } = withClockSetBack(cluster);
  await using _one = candidate(host, 'one', log);
  await cluster.settle();
  await using _two = candidate(cluster, 'two', log);
  back.ms = 3_600_000;
  await cluster.clock.advance(120_000);
  expect(log).toEqual(['one leads', 'one sees one', 'two sees one']);
});

test('stops a disconnected leader whose clock is set back before another candidate starts', async () => {
  await using cluster = testCluster();
  const log: string[] = [];
  const { cut, hostOf } = cutOff(cluster);
  const [leader, standby] = [withClockSetBack(hostOf('one')), withClockSetBack(cluster)];
  await using _one = candidate(leader.host, 'one', log);
  await cluster.settle();
  await using _two = candidate(standby.host, 'two', log);
  await cluster.clock.advance(5_000);
  cut.add('one');
  leader.back.ms = 3_600_000;
  standby.back.ms = 3_600_000;
  await cluster.clock.advance(30_000);
  expect(log.slice(3)).toEqual(['one stops', 'two leads', 'two sees two']);
});

test('stops a disconnected leader before another candidate starts', async () => {
  await using cluster = testCluster();
  const log: string[] = [];
  const { cut, hostOf } = cutOff(cluster);
  const start = cluster.clock.now();
  const at = (text: string) => log.push(`${text} at ${(cluster.clock.now() - start) / 1_000}`);
  const election = (identity: string) =>
    leaderElection({ name: NAME, identity }).campaign(hostOf(identity), {
      onStartedLeading: () => at(`${identity} leads`),
      onStoppedLeading: () => at(`${identity} stops`),
    });
  await using one = election('one');
  await cluster.settle();
  await using two = election('two');
  await cluster.clock.advance(10_000);
  cut.add('one');
  await cluster.clock.advance(60_000);
  // Last renewed at 10 s: the leader gives up after retry period and renew deadline; others wait for the lease duration.
  expect(log.slice(0, 2)).toEqual(['one leads at 0', 'one stops at 22']);
  expect(log[2]).toMatch(/^two leads at (2[5-9]|30)/);
  expect([one.isLeader, two.isLeader]).toEqual([false, true]);
  expect((await leaseOf(cluster)).spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });

  cut.delete('one');
  await cluster.clock.advance(60_000);
  expect([one.isLeader, one.leader, two.isLeader]).toEqual([false, 'two', true]);
  expect(log).toHaveLength(3);
});

test('stops a leader whose request hangs at the renew deadline', async () => {
  await using cluster = testCluster();
  const log: string[] = [];
  await using _one = candidate(cluster, 'one', log);
  await cluster.settle();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  {
    using _hang = cluster.use(async (request, next) => {
      if (request.resource.resource === 'leases') await held;
      return next();
    });
    await cluster.clock.advance(15_000);
    expect(log).toEqual(['one leads', 'one sees one', 'one stops']);
  }
  release();
  await cluster.clock.advance(30_000);
  expect(log.at(-1)).toBe('one leads');
});

test('measures the lease age by observation and not by the holder’s clock', async () => {
  await using cluster = testCluster();
  const log: string[] = [];
  // The lease claims a renewal in the far future.
  await cluster.api(Lease, 'kube-system').create({
    metadata: { name: NAME },
    spec: {
      holderIdentity: 'ghost',
      leaseDurationSeconds: 15,
      acquireTime: '2040-01-01T00:00:00.000000Z',
      renewTime: '2040-01-01T00:00:00.000000Z',
      leaseTransitions: 7,
    },
  });
  await using one = candidate(cluster, 'one', log);
  await cluster.clock.advance(14_999);
  expect(one.isLeader).toBe(false);
  await cluster.clock.advance(4_401);
  expect(one.isLeader).toBe(true);
  expect((await leaseOf(cluster)).spec).toMatchObject({ holderIdentity: 'one', leaseTransitions: 8 });
});

test('renews the overdue lease of a leader whose clock jumps if no other candidate took it', async () => {
  await using cluster = testCluster();
  let skipped = 0;
  // Timers run as before, but the time of day jumps, as after a suspended machine.
  const clock: Clock = { now: () => cluster.clock.now() + skipped, after: (...timer) => cluster.clock.after(...timer) };
  const log: string[] = [];
  await using one = candidate({ ...cluster, clock }, 'one', log);
  await cluster.settle();
  skipped = 3_600_000;
  await cluster.clock.advance(0);
  await cluster.settle();
  await cluster.clock.advance(10_000);
  await cluster.settle();
  expect((await leaseOf(cluster)).spec).toMatchObject({ holderIdentity: 'one', leaseTransitions: 0 });
  expect(one.isLeader).toBe(true);
  expect((await leaseOf(cluster)).spec.renewTime).toMatch(/^2030-01-01T01:00/);
});

test('recreates a deleted lease', async () => {
  await using cluster = testCluster();
  await using one = candidate(cluster, 'one');
  await cluster.settle();
  await cluster.api(Lease, 'kube-system').delete(NAME);
  await cluster.clock.advance(2_000);
  expect(one.isLeader).toBe(true);
  expect((await leaseOf(cluster)).spec.holderIdentity).toBe('one');
});

test('records the leader in events', async () => {
  await using cluster = testCluster();
  const one = candidate(cluster, 'one', [], { events: true });
  await cluster.settle();
  await one.close();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  const { items } = await cluster.api(CoreEvent, 'kube-system').list();
  expect(items.map(({ reason, message, involvedObject }) => [involvedObject.kind, reason, message])).toEqual([
    ['Lease', 'LeaderElection', 'one became leader'],
    ['Lease', 'LeaderElection', 'one stopped leading'],
  ]);
});

test('leaves no timer after close, and an unreleased lease expires', async () => {
  const cluster = testCluster();
  const one = candidate(cluster, 'one', [], { releaseOnClose: false });
  const two = candidate(cluster, 'two');
  await cluster.settle();
  await one.close();
  await one.close();
  expect((await leaseOf(cluster)).spec.holderIdentity).toBe('one');
  await cluster.clock.advance(20_000);
  expect(two.isLeader).toBe(true);
  await cluster.close();
  expect(two.isLeader).toBe(false);
  await nextTurn();
  expect(cluster.clock.pending).toBe(0);
});

test.each<[Partial<LeaderElectionOptions>, string]>([
  [{ name: '' }, 'a lease needs a name'],
  [{ identity: '' }, 'an identity is not empty'],
  [{ leaseDurationMs: 500 }, 'leaseDurationMs is at least 1000'],
  [{ leaseDurationMs: 10_000, renewDeadlineMs: 10_000 }, 'leaseDurationMs must be greater than renewDeadlineMs'],
  [{ retryPeriodMs: 0 }, 'retryPeriodMs must be greater than zero'],
  [{ renewDeadlineMs: 2_400, retryPeriodMs: 2_000 }, 'renewDeadlineMs must be more than 1.2 × retryPeriodMs'],
])('rejects the options %j', (options, message) => {
  expect(() => leaderElection({ name: NAME, ...options })).toThrow(message);
});

describe('controllers with leader election', () => {
  function marker(mark: string): Controller {
    return {
      name: 'marker',
      needs: [ConfigMap],
      start(context) {
        const maps = context.informer(ConfigMap);
        const queue = context.queue(async (key) => {
          const map = maps.at(key);
          if (map === undefined || map.metadata.namespace !== 'default' || map.data?.['by'] !== undefined) return;
          await context.client.api(ConfigMap).edit(map.metadata.name, (draft) => {
            draft.data = { by: mark };
          });
        });
        maps.onKey((key) => queue.add(key));
      },
    };
  }

  test('runs controllers only for the leading candidate and moves them with the lease', async () => {
    await using cluster = testCluster();
    const runOf = (identity: string) =>
      runControllers(cluster, [marker(identity)], { leaderElection: leaderElection({ name: NAME, identity }) });
    const one = runOf('one');
    await one.ready;
    await using two = runOf('two');
    const maps = cluster.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    await cluster.settle();
    expect((await maps.get('a')).data).toEqual({ by: 'one' });

    await one[Symbol.asyncDispose]();
    await maps.create({ metadata: { name: 'b' } });
    await cluster.settle();
    expect((await maps.get('b')).data).toBeUndefined();
    await cluster.clock.advance(5_000);
    expect((await maps.get('b')).data).toEqual({ by: 'two' });
    await two.ready;
  });

  test('runs over HTTP with its own clock', async () => {
    await using cluster = testCluster();
    const handler = createFetchHandler(cluster);
    const transport = httpTransport({
      baseUrl: 'http://c.example',
      fetch: (request) => handler(request),
      clock: cluster.clock,
    });
    const election = leaderElection({ name: NAME, identity: 'far' });
    const running = runControllers(transport, [marker('far')], { leaderElection: election });
    await running.ready;
    const maps = createClient({ transport }).api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    await maps.waitFor('a', (map) => map?.data?.['by'] === 'far');
    expect((await leaseOf(cluster)).spec.holderIdentity).toBe('far');
    await running[Symbol.asyncDispose]();
    expect((await leaseOf(cluster)).spec.holderIdentity).toBe('');
    expect((await maps.get('a')).data).toEqual({ by: 'far' });
  });
});
