/** Mistakes in controller definitions are reported where they are made. */
import {
  controllers,
  defineController,
  garbageCollector,
  readyPods,
  runControllers,
  stage,
  stages,
  standardControllers,
  watching,
} from 'orchplane/controllers';
import { ConfigMap, Pod, Secret } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

const idle = async () => undefined;

test('prints a failing reconcile once when no onError is configured', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const bug = new Error('my bug');
  const broken = defineController({ name: 'broken', kind: ConfigMap, reconcile: () => Promise.reject(bug) });
  await using cluster = testCluster({ controllers: controllers([broken]) });
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.settle();
  await cluster.clock.advance(60_000);
  expect(print.mock.calls).toEqual([['orchplane: broken: default/a:', bug]]);
});

test('resolves a plain name from a watch mapping in the namespace of the watched object', async () => {
  const seen: string[] = [];
  const controller = defineController({
    name: 'by-name',
    kind: ConfigMap,
    watches: [watching(Secret, ({ metadata }) => [metadata.name])],
    reconcile: async ({ metadata }) => void seen.push(`${metadata.namespace}/${metadata.name}`),
  });
  await using cluster = testCluster({ controllers: controllers([controller]) });
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.settle();
  seen.length = 0;
  await cluster.api(Secret).create({ metadata: { name: 'a' } });
  await cluster.settle();
  expect(seen).toEqual(['default/a']);
});

test.each<[string, () => unknown, string]>([
  [
    'a controller without a name',
    () => defineController({ kind: ConfigMap, reconcile: idle } as never),
    'a controller has a name',
  ],
  ['a controller without a kind', () => defineController({ name: 'a', reconcile: idle } as never), 'a has no kind'],
  [
    'a controller without reconcile',
    () => defineController({ name: 'a', kind: ConfigMap } as never),
    'a has no function reconcile',
  ],
  [
    'an invalid finalizer name',
    () =>
      defineController({ name: 'a', kind: ConfigMap, finalizer: { name: 'no good', cleanup: idle }, reconcile: idle }),
    '"no good" is no name of a finalizer',
  ],
  [
    'a misspelled stage selector',
    () => stage({ name: 's', kind: Pod, when: { label: {} } as never, delete: true }),
    'label',
  ],
  [
    'a delay range whose maximum is below its minimum',
    () => stage({ name: 's', kind: Pod, after: { min: 5, max: 1 }, delete: true }),
    '5 to 1',
  ],
  ['a stage without an effect', () => stage({ name: 's', kind: Pod }), 'does nothing'],
  ['a nested list of stages', () => stages([readyPods()] as never), 'has to be spread'],
  [
    'a single stage instead of a list',
    () => stages(stage({ name: 's', kind: Pod, delete: true }) as never),
    'takes a list of stages',
  ],
])('rejects %s', (_, make, message) => {
  expect(make).toThrow(message);
});

test('omits controllers that need an in-process cluster from the standard set over a transport and rejects them alone', async () => {
  const cluster = testCluster();
  const { dialect, clock, closing, send } = cluster;
  const far = { dialect, clock, closing: closing as AbortSignal, send };
  expect(() => runControllers(far, [garbageCollector()])).toThrow(
    'the controller garbage-collector-controller needs a cluster in this process',
  );
  const running = runControllers(far, standardControllers(), { onError: () => undefined });
  await running.ready;
  await running.close();
  await cluster.close();
  expect(clock.pending).toBe(0);
});
