/**
 * Controllers in the hands of whoever makes mistakes, and beside clusters that are not new. Each test is a defect that
 * was there once.
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

describe('beside a cluster that has slices already', () => {
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

  test('a fork goes on, and a restored cluster too', async () => {
    const cluster = await served();
    const [slice] = await slices(cluster);
    const snapshot = cluster.snapshot();
    const fork = cluster.fork();
    await fork.api(Pod).delete('p', { gracePeriodSeconds: 0 });
    expect((await slices(fork))[0]?.endpoints ?? []).toEqual([]);
    cluster.restore(snapshot);
    expect(await slices(cluster)).toEqual([slice]);
  });

  test('controllers that are started later write nothing that is there', async () => {
    const cluster = await served();
    const before = cluster.resourceVersion;
    await using _second = runControllers(cluster, list);
    await cluster.settle();
    expect(cluster.resourceVersion).toBe(before);
  });
});

describe('what cannot be meant is refused where it is said', () => {
  const cluster = testCluster();
  const gc = garbageCollector();
  // What a program in JavaScript may write.
  const run = runControllers as (...given: unknown[]) => unknown;
  const companion = controllers as (...given: unknown[]) => unknown;
  const create = testCluster as (options: unknown) => unknown;
  const standard = standardControllers as (options: unknown) => unknown;

  test.each<[string, () => unknown, string]>([
    ['no list', () => run(cluster), 'runControllers takes a list of controllers, not undefined'],
    ['one controller', () => run(cluster, gc), 'takes a list of controllers, not "garbage-collector-controller"'],
    ['one that was not made', () => run(cluster, [garbageCollector]), 'it has to be called, garbageCollector()'],
    ['a list in a list', () => run(cluster, [standardControllers()]), 'a list at 0 is no controller: lists are spread'],
    ['stages', () => run(cluster, [...readyPods()]), 'stages are given to stages([...])'],
    ['nothing in the list', () => run(cluster, [gc, undefined]), 'undefined at 1 is no controller'],
    ['half a controller', () => run(cluster, [{ name: 'x', needs: [] }]), '"x" at 0 is no controller'],
    ['an unknown kind', () => run(cluster, [{ ...gc, needs: [undefined] }]), 'is no controller'],
    ['no cluster', () => run(undefined, [gc]), 'takes a cluster or a transport first, not undefined'],
    ['the wrong order', () => run([gc], cluster), 'takes a cluster or a transport first, not a list'],
    ['accounts', () => run(cluster, [gc], { accounts: 'mine' }), 'accounts is "own" or "shared", not mine'],
    ['onError', () => run(cluster, [gc], { onError: 3 }), 'onError is a function, not number 3'],
    ['pace', () => run(cluster, [gc], { pace: 3 }), 'pace is a function, not number 3'],
    ['as an option', () => companion(gc), 'controllers takes a list of controllers'],
    ['an unwrapped list', () => create({ controllers: [gc] }), 'controllers takes what controllers([...])'],
    ['no companion', () => create({ controllers: () => undefined }), 'controllers has to return { close() }'],
    ['of the standard set', () => standard({ withot: [] }), 'standardControllers has no option "withot"'],
    [
      'no workers',
      () => run(cluster, [controller((c) => void c.queue(async () => undefined, { workers: 0 }))]),
      '1 worker',
    ],
    ['an async start', () => run(cluster, [controller(async () => undefined)]), 'its start must return nothing'],
  ])('%s', (_what, wrong, message) => {
    expect(wrong).toThrow(TypeError);
    expect(wrong).toThrow(message);
  });
});

test('a listener to errors that throws does not stop the work', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const cluster = testCluster();
  let looks = 0;
  const failing = controller((context) => {
    const queue = context.queue(async () => {
      if (++looks < 3) throw new Error('not yet');
    });
    queue.add('key');
  });
  await using _run = runControllers(cluster, [failing], {
    onError: (error) => {
      throw error;
    },
  });
  await cluster.clock.advance(1_000);
  expect(looks).toBe(3);
  expect(printed.mock.calls.map(([text]) => text)).toEqual(
    Array(2).fill('orchplane: runControllers: onError threw while it handled an error of mine: key:'),
  );
});

test('of one that fails to end, the others do not stay behind', async () => {
  const told: string[] = [];
  const cluster = testCluster();
  const stubborn = controller((context) => {
    context.informer(ConfigMap);
    context.onClose(() => {
      throw new Error('no end');
    });
  });
  const running = runControllers(cluster, [serviceAccounts(), stubborn], {
    onError: (error, about) => told.push(`${about}: ${String(error)}`),
  });
  await cluster.settle();
  const idle = cluster.clock.pending;
  running.close();
  expect(told).toEqual(['the end of controllers: Error: no end']);
  await cluster.api(Namespace).create({ metadata: { name: 'n' } });
  await cluster.settle();
  expect(await cluster.api(ServiceAccount, 'n').find('default')).toBeUndefined();
  expect(cluster.clock.pending).toBeLessThanOrEqual(idle);
});

test('a key that is put off for years, again and again, is looked at once', async () => {
  const cluster = testCluster();
  const looks: number[] = [];
  const patient = controller((context) => {
    const queue = context.queue(async () => void looks.push(context.clock.now()));
    for (let day = 1; day <= 1_000; day++) {
      queue.cancelDelay('key');
      queue.addAfter('key', day * 86_400_000);
    }
  });
  const start = cluster.clock.now();
  await using _run = runControllers(cluster, [patient]);
  await cluster.clock.advance(2_000 * 86_400_000);
  expect(looks).toEqual([start + 1_000 * 86_400_000]);
});

test('a closed cluster starts nothing', async () => {
  const cluster = testCluster();
  await cluster.close();
  const running = runControllers(cluster, standardControllers());
  await expect(running.ready).rejects.toSatisfy((error) => StatusError.is(error, 'ServiceUnavailable'));
  expect(cluster.clock.pending).toBe(0);
});
