/**
 * Misuse of controllers and controllers on clusters with existing state. Each test covers a defect that was fixed.
 */
import { StatusError } from 'orchplane';
import {
  type Controller,
  controllers,
  endpointSliceMirroring,
  endpointSlices,
  garbageCollector,
  readyPods,
  runControllers,
  serviceAccounts,
  stages,
  standardControllers,
} from 'orchplane/controllers';
import { ConfigMap, EndpointSlice, Namespace, Pod, Service, ServiceAccount } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

function controller(start: Controller['start'], name = 'mine'): Controller {
  return { name, needs: [], start };
}

describe('controllers on a cluster with existing slices', () => {
  const list = [endpointSlices(), endpointSliceMirroring(), stages(readyPods())];

  async function served() {
    const cluster = testCluster({ controllers: controllers(list) });
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await cluster.api(Pod).create({ metadata: { name: 'p', labels: { app: 'web' } }, spec });
    const ports = [{ port: 80 }];
    await cluster.api(Service).create({ metadata: { name: 'web' }, spec: { ports, selector: { app: 'web' } } });
    await cluster.settle();
    return cluster;
  }

  async function slices(cluster: Pick<Awaited<ReturnType<typeof served>>, 'api' | 'settle'>) {
    await cluster.settle();
    return (await cluster.api(EndpointSlice).list({ labels: { 'orch.io/service-name': 'web' } })).items;
  }

  test('continues on a fork and after a restore', async () => {
    const cluster = await served();
    const [slice] = await slices(cluster);
    const snapshot = cluster.snapshot();
    const fork = cluster.fork();
    await fork.api(Pod).delete('p', { gracePeriodSeconds: 0 });
    expect((await slices(fork))[0]?.endpoints ?? []).toEqual([]);
    cluster.restore(snapshot);
    expect(await slices(cluster)).toEqual([slice]);
  });

  test('writes nothing when existing slices are current', async () => {
    const cluster = await served();
    const before = cluster.resourceVersion;
    await using _second = runControllers(cluster, list);
    await cluster.settle();
    expect(cluster.resourceVersion).toBe(before);
  });
});

describe('argument checks of runControllers', () => {
  const cluster = testCluster();
  const gc = garbageCollector();
  // Untyped variants, as a JavaScript program can call them.
  const run = runControllers as (...given: unknown[]) => unknown;
  const asOption = controllers as (...given: unknown[]) => unknown;
  const create = testCluster as (options: unknown) => unknown;
  const standard = standardControllers as (options: unknown) => unknown;

  test.each<[string, () => unknown, string]>([
    ['a missing list', () => run(cluster), 'runControllers takes a list of controllers, not undefined'],
    [
      'a single controller instead of a list',
      () => run(cluster, gc),
      'takes a list of controllers, not "garbage-collector-controller"',
    ],
    [
      'a factory that was not called',
      () => run(cluster, [garbageCollector]),
      'it has to be called, garbageCollector()',
    ],
    ['a nested list', () => run(cluster, [standardControllers()]), 'a list at 0 is no controller: lists are spread'],
    ['stages instead of controllers', () => run(cluster, [...readyPods()]), 'stages are given to stages([...])'],
    ['undefined in the list', () => run(cluster, [gc, undefined]), 'undefined at 1 is no controller'],
    ['an incomplete controller', () => run(cluster, [{ name: 'x', needs: [] }]), '"x" at 0 is no controller'],
    ['an undefined kind in needs', () => run(cluster, [{ ...gc, needs: [undefined] }]), 'is no controller'],
    ['a missing cluster', () => run(undefined, [gc]), 'takes a cluster or a transport first, not undefined'],
    ['arguments in the wrong order', () => run([gc], cluster), 'takes a cluster or a transport first, not a list'],
    [
      'an unknown accounts option',
      () => run(cluster, [gc], { accounts: 'mine' }),
      'accounts is "own" or "shared", not mine',
    ],
    [
      'an onError that is not a function',
      () => run(cluster, [gc], { onError: 3 }),
      'onError is a function, not number 3',
    ],
    ['a pace that is not a function', () => run(cluster, [gc], { pace: 3 }), 'pace is a function, not number 3'],
    ['a single controller in the controllers option', () => asOption(gc), 'controllers takes a list of controllers'],
    [
      'a plain list in the controllers option',
      () => create({ controllers: [gc] }),
      'controllers takes what controllers([...])',
    ],
    [
      'a controllers option that returns nothing',
      () => create({ controllers: () => undefined }),
      'controllers must return { close() }',
    ],
    [
      'an unknown option of standardControllers',
      () => standard({ withot: [] }),
      'standardControllers has no option "withot"',
    ],
    [
      'a queue without workers',
      () => run(cluster, [controller((c) => void c.queue(async () => undefined, { workers: 0 }))]),
      '1 worker',
    ],
    ['an asynchronous start', () => run(cluster, [controller(async () => undefined)]), 'its start must return nothing'],
  ])('rejects %s', (_what, wrong, message) => {
    expect(wrong).toThrow(TypeError);
    expect(wrong).toThrow(message);
  });
});

test('continues after onError throws', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const cluster = testCluster();
  let reconciles = 0;
  const failing = controller((context) => {
    const queue = context.queue(async () => {
      if (++reconciles < 3) throw new Error('not yet');
    });
    queue.add('key');
  });
  await using _run = runControllers(cluster, [failing], {
    onError: (error) => {
      throw error;
    },
  });
  await cluster.clock.advance(1_000);
  expect(reconciles).toBe(3);
  expect(printed.mock.calls.map(([text]) => text)).toEqual(
    Array(2).fill('orchplane: runControllers: onError threw while it handled an error of mine: key:'),
  );
});

test('closes the other controllers when one fails to close', async () => {
  const reported: string[] = [];
  const cluster = testCluster();
  const stubborn = controller((context) => {
    context.informer(ConfigMap);
    context.onClose(() => {
      throw new Error('no end');
    });
  });
  const running = runControllers(cluster, [serviceAccounts(), stubborn], {
    onError: (error, about) => reported.push(`${about}: ${String(error)}`),
  });
  await cluster.settle();
  const idle = cluster.clock.pending;
  running.close();
  expect(reported).toEqual(['the end of controllers: Error: no end']);
  await cluster.api(Namespace).create({ metadata: { name: 'n' } });
  await cluster.settle();
  expect(await cluster.api(ServiceAccount, 'n').find('default')).toBeUndefined();
  expect(cluster.clock.pending).toBeLessThanOrEqual(idle);
});

test('reconciles a key once that is delayed repeatedly', async () => {
  const cluster = testCluster();
  const reconciles: number[] = [];
  const patient = controller((context) => {
    const queue = context.queue(async () => void reconciles.push(context.clock.now()));
    for (let day = 1; day <= 1_000; day++) {
      queue.cancelDelay('key');
      queue.addAfter('key', day * 86_400_000);
    }
  });
  const start = cluster.clock.now();
  await using _run = runControllers(cluster, [patient]);
  await cluster.clock.advance(2_000 * 86_400_000);
  expect(reconciles).toEqual([start + 1_000 * 86_400_000]);
});

test('starts no controllers on a closed cluster', async () => {
  const cluster = testCluster();
  await cluster.close();
  const running = runControllers(cluster, standardControllers());
  await expect(running.ready).rejects.toSatisfy((error) => StatusError.is(error, 'ServiceUnavailable'));
  expect(cluster.clock.pending).toBe(0);
});
