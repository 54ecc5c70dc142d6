/** Taint eviction controller: pods that do not tolerate NoExecute taints of their node. */
import { taintEviction } from 'orchplane/controllers';
import { CoreEvent, Node, Pod } from 'orchplane/kinds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NodeWorld } from './node-world.js';

let world: NodeWorld;
beforeEach(async () => {
  world = new NodeWorld([taintEviction()]);
  await world.node('a');
});
afterEach(async () => {
  expect(world.complaints).toEqual([]);
  await world.close();
});

interface Tolerated {
  readonly key?: string;
  readonly tolerationSeconds?: number | bigint;
}

async function runPod(name: string, ...tolerated: Tolerated[]) {
  const tolerations = tolerated.map((each) => ({ operator: 'Exists' as const, effect: 'NoExecute' as const, ...each }));
  await world.cluster.api(Pod).create({
    metadata: { name, finalizers: ['example.com/hold'] },
    spec: { nodeName: 'a', tolerations: tolerations as never, containers: [{ name: 'c', image: 'i' }] },
  });
  await world.run(name);
}

async function taint(...keys: string[]) {
  const taints = keys.map((key) => ({ key, effect: 'NoExecute' as const }));
  await world.cluster.api(Node).patch('a', { type: 'merge', merge: { spec: { taints } } });
  await world.cluster.settle();
}

const isEvicted = async (name: string) => (await world.pod(name)).metadata.deletionTimestamp !== undefined;
const events = () => world.eventsOf('taint-eviction-controller');

test('evicts pods that do not tolerate the taint at once, with a condition and an event', async () => {
  await runPod('p');
  await runPod('tolerant', {});
  await taint('k');
  expect(await isEvicted('tolerant')).toBe(false);
  const { metadata, status } = await world.pod('p');
  expect(metadata.deletionTimestamp).toBeDefined();
  expect(status.conditions?.find(({ type }) => type === 'DisruptionTarget')).toEqual({
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastProbeTime: null,
    lastTransitionTime: world.timeNow(),
  });
  expect(await events()).toEqual(['TaintManagerEviction: Marking for deletion Pod default/p']);
  const [event] = (await world.cluster.api(CoreEvent).list()).items;
  expect(event?.involvedObject).toEqual({ kind: 'Pod', namespace: 'default', name: 'p', apiVersion: 'v1' });
});

test('waits for the shortest time of the tolerations that are used', async () => {
  await runPod('p', { key: 'k', tolerationSeconds: 20 }, { key: 'l', tolerationSeconds: 10 }, { key: 'm' });
  await taint('k', 'l', 'm');
  await world.advance(9.9);
  expect(await isEvicted('p')).toBe(false);
  await world.advance(0.1);
  expect(await isEvicted('p')).toBe(true);
});

test('evicts other pods beside one whose toleration has more seconds than a number can represent', async () => {
  await runPod('forever', { key: 'k', tolerationSeconds: 2n ** 63n - 1n });
  await runPod('p');
  await taint('k');
  expect([await isEvicted('p'), await isEvicted('forever')]).toEqual([true, false]);
});

test('evicts at once if a toleration has zero or negative seconds', async () => {
  await runPod('zero', { key: 'k', tolerationSeconds: 0 });
  await runPod('negative', { key: 'k', tolerationSeconds: -5 });
  await taint('k');
  expect([await isEvicted('zero'), await isEvicted('negative')]).toEqual([true, true]);
});

test('cancels an eviction when the taint is removed, and starts anew with the next taint', async () => {
  await runPod('p', { tolerationSeconds: 10 });
  await taint('k');
  await world.advance(5);
  await taint();
  expect(await events()).toEqual(['TaintManagerEviction: Cancelling deletion of Pod default/p']);
  await world.advance(60);
  expect(await isEvicted('p')).toBe(false);
  await taint('k');
  await world.advance(9);
  expect(await isEvicted('p')).toBe(false);
  await world.advance(1);
  expect(await isEvicted('p')).toBe(true);
});

test('keeps the time of a scheduled eviction when another taint is added', async () => {
  await runPod('p', { key: 'k', tolerationSeconds: 10 }, { key: 'l', tolerationSeconds: 10 });
  await taint('k');
  await world.advance(5);
  await taint('k', 'l');
  await world.advance(5);
  expect(await isEvicted('p')).toBe(true);
  expect(await events()).toEqual(['TaintManagerEviction: Marking for deletion Pod default/p']);
});

test('evicts early if a taint is added that the pod does not tolerate', async () => {
  await runPod('p', { key: 'k', tolerationSeconds: 10 });
  await taint('k');
  await world.advance(5);
  await taint('k', 'x');
  expect(await isEvicted('p')).toBe(true);
  expect((await events()).sort()).toEqual([
    'TaintManagerEviction: Cancelling deletion of Pod default/p',
    'TaintManagerEviction: Marking for deletion Pod default/p',
  ]);
});

test('keeps the time of a scheduled eviction when the pod gets another toleration', async () => {
  await runPod('p', { key: 'k', tolerationSeconds: 10 });
  await taint('k');
  await world.cluster.api(Pod).edit('p', (pod) => {
    pod.spec.tolerations?.push({ operator: 'Exists', key: 'k' });
  });
  await world.advance(9);
  expect(await isEvicted('p')).toBe(false);
  await world.advance(1);
  expect(await isEvicted('p')).toBe(true);
});

test('evicts pods that are bound to a tainted node later', async () => {
  await taint('k');
  await world.cluster.api(Pod).create({
    metadata: { name: 'p', finalizers: ['example.com/hold'] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  expect(await isEvicted('p')).toBe(false);
  await world.bind('p', 'a');
  expect(await isEvicted('p')).toBe(true);
});

test('ignores taints that do not evict, and does not evict again after other changes of a pod', async () => {
  await runPod('p');
  const taints = [{ key: 'k', effect: 'NoSchedule' as const }];
  await world.cluster.api(Node).patch('a', { type: 'merge', merge: { spec: { taints } } });
  expect(await isEvicted('p')).toBe(false);
  await taint('k');
  await world.setStatus('p', { phase: 'Failed' });
  expect(await events()).toEqual(['TaintManagerEviction: Marking for deletion Pod default/p']);
});

test('cancels an eviction when the pod is deleted', async () => {
  await runPod('p', { tolerationSeconds: 10 });
  await taint('k');
  await world.cluster.api(Pod).patch('p', { type: 'merge', merge: { metadata: { finalizers: null } } });
  await world.cluster.api(Pod).delete('p', { gracePeriodSeconds: 0 });
  expect(await events()).toEqual(['TaintManagerEviction: Cancelling deletion of Pod default/p']);
  await world.advance(20);
  expect(await events()).toHaveLength(1);
});
