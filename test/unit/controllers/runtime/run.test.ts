/**
 * Controllers at work: that they come to rest, see what they wrote, end without a trace and leave each other alone.
 */
import { createCluster, errors, type Middleware } from 'orchplane';
import { type Controller, controllers, keyOf, runControllers, serviceAccounts } from 'orchplane/controllers';
import { ConfigMap, Namespace, Pod, Secret, ServiceAccount } from 'orchplane/kinds';
import { fakeClock, type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test, vi } from 'vitest';
import { nextTurn } from '../../../../src/util/clock.js';

/** Keeps one Secret for each ConfigMap that has the label `copy`; counts how often it had to make one. */
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
        // Looks again before any news can have come: what was written has to be known then.
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

describe('own writes', () => {
  test('are in the informers before the next reconcile, so nothing is created twice', async () => {
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
      'the answers to writes',
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
  ])('are seen where %s are late', async (_what, middleware) => {
    const log: string[] = [];
    await using cluster = testCluster();
    using _slow = cluster.use(middleware);
    await using running = runControllers(cluster, [copier(log)]);
    for (const name of ['a', 'b', 'c']) await cluster.api(ConfigMap).create(copied(name));
    await running.settle();
    expect([...log].sort()).toEqual(['default/a', 'default/b', 'default/c']);
    for (const name of ['a', 'b', 'c']) expect(await secretsOf(cluster, name)).toHaveLength(1);
  });

  test('a middleware that waits for the cluster’s own clock does not stop that clock', async () => {
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
  test('waits for the first lists of controllers that have just been started', async () => {
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

  test('gives up after a while and names the busy activities', async () => {
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
        const look = () => {
          begin();
          return held;
        };
        const queue = context.queue(look, { name: 'maps' });
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

  test('does not wait for what is due later', async () => {
    const looks: string[] = [];
    const patient: Controller = {
      name: 'patient',
      needs: [ConfigMap],
      start(context) {
        const queue = context.queue(async (key) => {
          looks.push(key);
          return { requeueAfterMs: 60_000 };
        });
        context.informer(ConfigMap).onKey((key) => queue.add(key));
      },
    };
    await using cluster = testCluster({ controllers: controllers([patient]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.settle();
    expect(looks).toEqual(['default/a']);
    await cluster.clock.advance(120_000);
    expect(looks).toEqual(['default/a', 'default/a', 'default/a']);
  });
});

describe('the end', () => {
  test('leaves no timer, no watch and no listener', async () => {
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

  test('of a cluster ends its controllers, whatever they were at', async () => {
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

describe('many', () => {
  test('hundreds of clusters in one process do not disturb each other', async () => {
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

  test('clusters that share a clock each come to rest before it goes on', async () => {
    const clock = fakeClock();
    const clusters = [1, 2, 3].map(() => createCluster({ clock, controllers: controllers([copier()]) }));
    for (const cluster of clusters) await cluster.api(ConfigMap).create(copied('a'));
    await clock.advance(1);
    for (const cluster of clusters) expect((await cluster.api(Secret).list()).items).toHaveLength(1);
    await Promise.all(clusters.map((cluster) => cluster.close()));
    expect(clock.pending).toBe(0);
  });

  test('two runs beside one cluster: each has its own informers, and one ends without the other', async () => {
    await using cluster = testCluster();
    const first: string[] = [];
    const second: string[] = [];
    const one = runControllers(cluster, [copier(first)]);
    const two = runControllers(cluster, [copier(second)]);
    await cluster.api(ConfigMap).create(copied('a'));
    await cluster.settle();
    // They do not know of each other's writes before they act, and see them afterwards.
    expect(first.length + second.length).toBe((await secretsOf(cluster, 'a')).length);
    one.close();
    await cluster.api(ConfigMap).create(copied('b'));
    await two.settle();
    expect(await secretsOf(cluster, 'b')).toHaveLength(1);
    expect(first).not.toContain('default/b');
  });
});

describe('with the cluster', () => {
  test('controllers start again on a fork, which goes its own way', async () => {
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

  test('controllers start again after a restore, and forget what is no more', async () => {
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

  test('a kind that is not served is an error, unless the controller is optional', async () => {
    const needy: Controller = { name: 'needy', needs: [Pod], start: () => undefined };
    await using cluster = testCluster({ kinds: [ConfigMap] });
    expect(() => runControllers(cluster, [needy])).toThrow(
      /the controller needy needs Pod \(\/v1\/pods\), which this cluster does not serve/,
    );
    await using running = runControllers(cluster, [{ ...needy, optional: true }]);
    await running.ready;
  });

  test('two controllers of one name are an error', async () => {
    await using cluster = testCluster();
    expect(() => runControllers(cluster, [copier(), copier()])).toThrow('two controllers are named copier');
  });

  test('unknown options are refused', async () => {
    await using cluster = testCluster();
    // @ts-expect-error no such option
    expect(() => runControllers(cluster, [], { manager: 'me' })).toThrow(/runControllers has no option "manager"/);
  });
});

describe('errors', () => {
  test('are reported with the controller and the key, and tried again', async () => {
    const told: string[] = [];
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
      onError: (error, about) => told.push(`${about}: ${(error as Error).message}`),
    });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await running.settle();
    expect(told).toEqual(['flaky: default/a: not yet']);
    await cluster.clock.advance(1_000);
    expect(told).toHaveLength(2);
    await cluster.clock.advance(60_000);
    expect(told).toHaveLength(2);
    expect(failures).toBe(-1);
  });

  test('of an informer are reported, and it goes on', async () => {
    const told: string[] = [];
    await using cluster = testCluster();
    let refusals = 1;
    using _broken = cluster.use((request, next) => {
      if (request.verb === 'list' && request.resource.resource === 'secrets' && refusals-- > 0)
        throw new Error('cut off');
      return next();
    });
    await using running = runControllers(cluster, [copier()], { onError: (_error, about) => told.push(about) });
    await cluster.clock.advance(5_000);
    await running.ready;
    expect(told).toEqual(['the informer of /v1/secrets']);
    await cluster.api(ConfigMap).create(copied('a'));
    await running.settle();
    expect(await secretsOf(cluster, 'a')).toHaveLength(1);
  });
});

test('controllers act as their own accounts where that is asked for', async () => {
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

describe('failures without onError', () => {
  const refuse = (reason: string): Middleware => {
    let attempts = 0;
    return (request, next) => {
      if (request.verb !== 'create' || request.resource.resource !== 'secrets') return next(request);
      throw errors.forbidden({ group: '', resource: 'secrets' }, `made-${attempts++}`, reason);
    };
  };

  test('are printed once for each object, whatever name was generated for what cannot be made', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const cluster = testCluster({ controllers: controllers([copier()]) });
    cluster.use(refuse('not today'));
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
