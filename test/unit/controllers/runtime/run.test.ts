/**
 * Running controllers: settling, visibility of own writes, shutdown and isolation.
 */
import { createCluster, errors, type Middleware } from 'orchplane';
import { type Controller, controllers, keyOf, runControllers, serviceAccounts } from 'orchplane/controllers';
import { ConfigMap, Namespace, Pod, Secret, ServiceAccount } from 'orchplane/kinds';
import { fakeClock, type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test, vi } from 'vitest';
import { nextTurn } from '../../../../src/util/clock.js';

/** Keeps one Secret for each ConfigMap with the label `copy`; logs each creation. */
function copier(log: string[] = [], name = 'copier'): Controller {
  return {
    name,
    needs: [ConfigMap, Secret],
    start(context) {
      const maps = context.informer(ConfigMap);
      const secrets = context.informer(Secret);
      const queue = context.queue(async (key) => {
        const map = maps.at(key);
        if (map?.metadata.labels?.['copy'] === undefined) return;
        const mine = secrets
          .list(map.metadata.namespace)
          .filter(({ metadata }) => metadata.labels?.['of'] === map.metadata.name);
        if (mine.length > 0) return;
        log.push(key);
        await context.client.api(Secret, map.metadata.namespace).create({
          metadata: { generateName: `${map.metadata.name}-`, labels: { of: map.metadata.name } },
        });
        // Reconciles again before a watch event can arrive: the informer must already have the write.
        queue.add(key);
      });
      maps.onKey((key) => queue.add(key));
    },
  };
}

const copied = (name: string) => ({ metadata: { name, labels: { copy: 'yes' } } });

async function secretsOf(cluster: TestCluster, name: string) {
  return (await cluster.api(Secret).list({ labels: { of: name } })).items;
}

describe('own writes of a controller', () => {
  test('shows own writes in the informers before the next reconcile, so nothing is created twice', async () => {
    const log: string[] = [];
    await using cluster = testCluster({ controllers: controllers([copier(log)]) });
    for (const name of ['a', 'b', 'c']) await cluster.api(ConfigMap).create(copied(name));
    await cluster.settle();
    expect(log).toEqual(['default/a', 'default/b', 'default/c']);
    expect(await secretsOf(cluster, 'b')).toHaveLength(1);
  });

  test.each<[string, Middleware]>([
    [
      'writes',
      async (request, next) => {
        if (request.verb === 'create') for (let turn = 0; turn < 20; turn++) await nextTurn();
        return next();
      },
    ],
    [
      'responses to writes',
      async (request, next) => {
        const response = await next();
        if (request.verb === 'create') for (let turn = 0; turn < 20; turn++) await nextTurn();
        return response;
      },
    ],
    [
      'lists and watches',
      async (request, next) => {
        if (request.verb === 'watch' || request.verb === 'list') for (let turn = 0; turn < 30; turn++) await nextTurn();
        return next();
      },
    ],
  ])('shows own writes in the informers when %s are slow', async (_what, middleware) => {
    const log: string[] = [];
    await using cluster = testCluster();
    using _slow = cluster.use(middleware);
    await using running = runControllers(cluster, [copier(log)]);
    for (const name of ['a', 'b', 'c']) await cluster.api(ConfigMap).create(copied(name));
    await running.settle();
    expect([...log].sort()).toEqual(['default/a', 'default/b', 'default/c']);
    for (const name of ['a', 'b', 'c']) expect(await secretsOf(cluster, name)).toHaveLength(1);
  });

  test('does not block the cluster clock when middleware waits for it', async () => {
    const log: string[] = [];
    await using cluster = testCluster();
    await using running = runControllers(cluster, [copier(log)]);
    await running.ready;
    using _slow = cluster.use(async (request, next) => {
      if (request.verb === 'create' && request.resource.resource === 'secrets') {
        await new Promise<void>((resolve) => cluster.clock.after(2_000, resolve));
      }
      return next();
    });
    await cluster.api(ConfigMap).create(copied('a'));
    await cluster.clock.advance(1_999);
    expect(await secretsOf(cluster, 'a')).toHaveLength(0);
    await cluster.clock.advance(1);
    await cluster.settle();
    expect(await secretsOf(cluster, 'a')).toHaveLength(1);
    expect(log).toEqual(['default/a']);
  });
});

describe('settle', () => {
  test('waits for the initial lists of controllers that were just started', async () => {
    await using cluster = testCluster();
    await cluster.api(ConfigMap).create(copied('a'));
    using _slow = cluster.use(async (request, next) => {
      if (request.verb === 'list') for (let turn = 0; turn < 20; turn++) await nextTurn();
      return next();
    });
    await using running = runControllers(cluster, [copier()]);
    await cluster.settle();
    expect(await secretsOf(cluster, 'a')).toHaveLength(1);
    await running.ready;
  });

  test('fails with the busy activities after the timeout', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const stuck: Controller = {
      name: 'stuck',
      needs: [ConfigMap],
      start(context) {
        const reconcile = () => {
          begin();
          return held;
        };
        const queue = context.queue(reconcile, { name: 'maps' });
        context.informer(ConfigMap).onKey((key) => queue.add(key));
      },
    };
    await using cluster = testCluster({ controllers: controllers([stuck]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await begun;
    await expect(cluster.settle({ timeoutMs: 20 })).rejects.toThrow(
      /not at rest after 20 ms; still busy: stuck \(maps\) is working on default\/a/,
    );
    release();
    await cluster.settle();
  });

  test('does not wait for delayed keys', async () => {
    const reconciled: string[] = [];
    const patient: Controller = {
      name: 'patient',
      needs: [ConfigMap],
      start(context) {
        const queue = context.queue(async (key) => {
          reconciled.push(key);
          return { requeueAfterMs: 60_000 };
        });
        context.informer(ConfigMap).onKey((key) => queue.add(key));
      },
    };
    await using cluster = testCluster({ controllers: controllers([patient]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.settle();
    expect(reconciled).toEqual(['default/a']);
    await cluster.clock.advance(120_000);
    expect(reconciled).toEqual(['default/a', 'default/a', 'default/a']);
  });
});

describe('end of a controller run', () => {
  test('leaves no timer, watch or listener after close', async () => {
    const cluster = testCluster();
    let watches = 0;
    cluster.use(async (request, next) => {
      if (request.verb === 'watch') {
        watches++;
        request.signal?.addEventListener('abort', () => watches--);
      }
      return next();
    });
    const running = runControllers(cluster, [copier(), serviceAccounts()]);
    await cluster.api(ConfigMap).create(copied('a'));
    await running.settle();
    expect(watches).toBeGreaterThan(0);
    running.close();
    running.close();
    await nextTurn();
    expect(watches).toBe(0);
    await cluster.api(ConfigMap).create(copied('b'));
    await cluster.settle();
    expect(await secretsOf(cluster, 'b')).toHaveLength(0);
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });

  test('stops the controllers of a closed cluster at any point', async () => {
    const failures: unknown[] = [];
    const cluster = testCluster({
      controllers: controllers([copier(), serviceAccounts()], { onError: (error) => failures.push(error) }),
    });
    await cluster.api(Namespace).create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap).create(copied('a'));
    await cluster.close();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(cluster.clock.pending).toBe(0);
    expect(failures).toEqual([]);
    await cluster.settle();
  });

  test('reports a controller that throws in start at once and stops the others', async () => {
    await using cluster = testCluster();
    const broken: Controller = {
      name: 'broken',
      needs: [],
      start() {
        throw new Error('no good');
      },
    };
    expect(() => runControllers(cluster, [copier(), broken])).toThrow('no good');
    await cluster.api(ConfigMap).create(copied('a'));
    await cluster.settle();
    expect(await secretsOf(cluster, 'a')).toHaveLength(0);
  });
});

describe('several controller runs', () => {
  test('isolates hundreds of clusters in one process', async () => {
    const clusters = Array.from({ length: 200 }, () =>
      testCluster({ kinds: [ConfigMap, Secret], controllers: controllers([copier()]) }),
    );
    await Promise.all(clusters.map((cluster, index) => cluster.api(ConfigMap).create(copied(`map-${index}`))));
    await Promise.all(clusters.map((cluster) => cluster.settle()));
    const found = await Promise.all(clusters.map(async (cluster) => (await cluster.api(Secret).list()).items));
    expect(found.map((items) => items.map(({ metadata }) => metadata.labels?.['of']))).toEqual(
      clusters.map((_, index) => [`map-${index}`]),
    );
    await Promise.all(clusters.map((cluster) => cluster.close()));
    expect(clusters.reduce((sum, { clock }) => sum + clock.pending, 0)).toBe(0);
  });

  test('settles every cluster on a shared clock before the clock advances', async () => {
    const clock = fakeClock();
    const clusters = [1, 2, 3].map(() => createCluster({ clock, controllers: controllers([copier()]) }));
    for (const cluster of clusters) await cluster.api(ConfigMap).create(copied('a'));
    await clock.advance(1);
    for (const cluster of clusters) expect((await cluster.api(Secret).list()).items).toHaveLength(1);
    await Promise.all(clusters.map((cluster) => cluster.close()));
    expect(clock.pending).toBe(0);
  });

  test('keeps separate informers for two runs on one cluster and closes them separately', async () => {
    await using cluster = testCluster();
    const first: string[] = [];
    const second: string[] = [];
    const one = runControllers(cluster, [copier(first)]);
    const two = runControllers(cluster, [copier(second)]);
    await cluster.api(ConfigMap).create(copied('a'));
    await cluster.settle();
    // Each run sees the other's writes only through its informers.
    expect(first.length + second.length).toBe((await secretsOf(cluster, 'a')).length);
    one.close();
    await cluster.api(ConfigMap).create(copied('b'));
    await two.settle();
    expect(await secretsOf(cluster, 'b')).toHaveLength(1);
    expect(first).not.toContain('default/b');
  });
});

describe('controller runs and their cluster', () => {
  test('starts controllers again on a fork with separate state', async () => {
    await using cluster = testCluster({ controllers: controllers([copier()]) });
    await cluster.api(ConfigMap).create(copied('a'));
    await cluster.settle();
    await using fork = cluster.fork();
    await fork.api(ConfigMap).create(copied('b'));
    await fork.settle();
    expect(
      (await fork.api(Secret).list({ labels: 'of' })).items.map(({ metadata }) => metadata.labels?.['of']),
    ).toEqual(expect.arrayContaining(['a', 'b']));
    expect((await cluster.api(Secret).list({ labels: 'of' })).items).toHaveLength(1);
  });

  test('starts controllers again after a restore without earlier state', async () => {
    const log: string[] = [];
    await using cluster = testCluster({ controllers: controllers([copier(log)]) });
    await cluster.api(ConfigMap).create(copied('a'));
    const before = cluster.snapshot();
    await cluster.settle();
    expect(log).toEqual(['default/a']);
    cluster.restore(before);
    expect(await secretsOf(cluster, 'a')).toHaveLength(0);
    await cluster.settle();
    expect(log).toEqual(['default/a', 'default/a']);
    expect(await secretsOf(cluster, 'a')).toHaveLength(1);
  });

  test('rejects a controller whose kind is not served unless it is optional', async () => {
    const needy: Controller = { name: 'needy', needs: [Pod], start: () => undefined };
    await using cluster = testCluster({ kinds: [ConfigMap] });
    expect(() => runControllers(cluster, [needy])).toThrow(
      /the controller needy needs Pod \(\/v1\/pods\), which this cluster does not serve/,
    );
    await using running = runControllers(cluster, [{ ...needy, optional: true }]);
    await running.ready;
  });

  test('rejects two controllers with the same name', async () => {
    await using cluster = testCluster();
    expect(() => runControllers(cluster, [copier(), copier()])).toThrow('two controllers are named copier');
  });

  test('rejects unknown options of runControllers', async () => {
    await using cluster = testCluster();
    // @ts-expect-error no such option
    expect(() => runControllers(cluster, [], { manager: 'me' })).toThrow(/runControllers has no option "manager"/);
  });
});

describe('errors of controllers', () => {
  test('reports errors with the controller and the key, and retries', async () => {
    const reported: string[] = [];
    let failures = 2;
    const flaky: Controller = {
      name: 'flaky',
      needs: [ConfigMap],
      start(context) {
        const queue = context.queue(
          async () => {
            if (failures-- > 0) throw new Error('not yet');
          },
          { backoff: { firstMs: 1_000, longestMs: 1_000 } },
        );
        context.informer(ConfigMap).onKey((key, { object }) => {
          if (keyOf(object) === 'default/a') queue.add(key);
        });
      },
    };
    await using cluster = testCluster();
    await using running = runControllers(cluster, [flaky], {
      onError: (error, about) => reported.push(`${about}: ${(error as Error).message}`),
    });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await running.settle();
    expect(reported).toEqual(['flaky: default/a: not yet']);
    await cluster.clock.advance(1_000);
    expect(reported).toHaveLength(2);
    await cluster.clock.advance(60_000);
    expect(reported).toHaveLength(2);
    expect(failures).toBe(-1);
  });

  test('reports informer errors and continues', async () => {
    const reported: string[] = [];
    await using cluster = testCluster();
    let remainingRejections = 1;
    using _broken = cluster.use((request, next) => {
      if (request.verb === 'list' && request.resource.resource === 'secrets' && remainingRejections-- > 0)
        throw new Error('cut off');
      return next();
    });
    await using running = runControllers(cluster, [copier()], { onError: (_error, about) => reported.push(about) });
    await cluster.clock.advance(5_000);
    await running.ready;
    expect(reported).toEqual(['the informer of /v1/secrets']);
    await cluster.api(ConfigMap).create(copied('a'));
    await running.settle();
    expect(await secretsOf(cluster, 'a')).toHaveLength(1);
  });
});

test('runs controllers as their own service accounts when configured', async () => {
  const users: (string | undefined)[] = [];
  await using cluster = testCluster();
  cluster.use((request, next) => {
    if (request.verb === 'create' && request.resource.resource === 'serviceaccounts') users.push(request.user?.user);
    return next();
  });
  await using running = runControllers(cluster, [serviceAccounts()], { accounts: 'own' });
  await cluster.api(Namespace).create({ metadata: { name: 'a' } });
  await running.settle();
  expect(new Set(users)).toEqual(new Set(['system:serviceaccount:kube-system:service-account-controller']));
  expect(await cluster.api(ServiceAccount, 'a').find('default')).toBeDefined();
});

describe('controller errors without onError', () => {
  const rejectWith = (reason: string): Middleware => {
    let attempts = 0;
    return (request, next) => {
      if (request.verb !== 'create' || request.resource.resource !== 'secrets') return next(request);
      throw errors.forbidden({ group: '', resource: 'secrets' }, `made-${attempts++}`, reason);
    };
  };

  test('prints each failure once per object, independent of generated names', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const cluster = testCluster({ controllers: controllers([copier()]) });
    cluster.use(rejectWith('not today'));
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create(copied(name));
    await cluster.clock.advance(600_000);
    expect(printed.mock.calls.map(([text]) => String(text).replace(/made-\d+/, 'made'))).toEqual([
      'orchplane: copier: default/a: secrets "made" is forbidden: not today',
      'orchplane: copier: default/b: secrets "made" is forbidden: not today',
    ]);
    await cluster.close();
    printed.mockRestore();
  });
});
