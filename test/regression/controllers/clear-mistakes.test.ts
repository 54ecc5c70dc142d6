/** Mistakes of those who write controllers are named where they are made. */
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

test('a look that fails is printed, once, where nobody else is told', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const bug = new Error('my bug');
  const broken = defineController({ name: 'broken', kind: ConfigMap, reconcile: () => Promise.reject(bug) });
  await using cluster = testCluster({ controllers: controllers([broken]) });
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.settle();
  await cluster.clock.advance(60_000);
  expect(print.mock.calls).toEqual([['orchplane: broken: default/a:', bug]]);
});

test('a watched object names others of its own namespace by their names alone', async () => {
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
  ['no name', () => defineController({ kind: ConfigMap, reconcile: idle } as never), 'a controller has a name'],
  ['no kind', () => defineController({ name: 'a', reconcile: idle } as never), 'a has no kind'],
  ['no reconcile', () => defineController({ name: 'a', kind: ConfigMap } as never), 'a has no function reconcile'],
  [
    'a bad finalizer',
    () =>
      defineController({ name: 'a', kind: ConfigMap, finalizer: { name: 'no good', cleanup: idle }, reconcile: idle }),
    '"no good" is no name of a finalizer',
  ],
  ['a misspelt selector', () => stage({ name: 's', kind: Pod, when: { label: {} } as never, delete: true }), 'label'],
  ['a range that ends early', () => stage({ name: 's', kind: Pod, after: { min: 5, max: 1 }, delete: true }), '5 to 1'],
  ['a stage that does nothing', () => stage({ name: 's', kind: Pod }), 'does nothing'],
  ['a list that was not spread', () => stages([readyPods()] as never), 'has to be spread'],
  ['a single stage', () => stages(stage({ name: 's', kind: Pod, delete: true }) as never), 'takes a list of stages'],
])('%s', (_, make, message) => {
  expect(make).toThrow(message);
});

test('what needs a cluster in this process is left out of the standard set elsewhere, and refused by itself', async () => {
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
