/** Preemption and the order of pods. */
import { describe, expect, test } from 'vitest';
import { PodQueue } from '../../../../src/runtime/scheduler/pod-queue.js';
import { node, object, place, pod, preemptionFor, snapshotOf } from './fixture.js';

const DAY = (day: number) => ({ startTime: `2026-11-0${day}T00:00:00Z` });
const running = (name: string, cpu: string, priority = 0, day = 1) =>
  pod(
    name,
    { cpu },
    { labels: { app: name }, spec: { priority, containers: [{ resources: { requests: { cpu } } }] }, status: DAY(day) },
  );
const important = (cpu = '4', spec: object = {}) =>
  pod('p', {}, { spec: { priority: 100, containers: [{ resources: { requests: { cpu } } }], ...spec }, status: {} });
const victimsOf = (candidate: ReturnType<typeof pod>, snapshot: Parameters<typeof preemptionFor>[1]) =>
  preemptionFor(candidate, snapshot).best.map(({ nodeName, victims }) => [
    nodeName,
    ...victims.map((each) => each.pod.metadata.name),
  ]);

describe('preemption', () => {
  test('removes as few pods as possible, the least important ones', () => {
    const pods = [running('low', '1', 1), running('middle', '1', 5), running('high', '1', 9)];
    const snapshot = snapshotOf([node('a', { pods })]);
    expect(victimsOf(important('2'), snapshot)).toEqual([['a', 'low']]);
    expect(victimsOf(important('3'), snapshot)).toEqual([['a', 'middle', 'low']]);
  });

  test('removes the pod that started last of equal ones', () => {
    const snapshot = snapshotOf([node('a', { pods: [running('old', '2', 0, 1), running('young', '2', 0, 2)] })]);
    expect(victimsOf(important('2'), snapshot)).toEqual([['a', 'young']]);
  });

  test.each<[string, readonly ReturnType<typeof pod>[], readonly ReturnType<typeof pod>[]]>([
    ['the lowest highest priority', [running('x', '4', 50)], [running('y', '4', 40)]],
    [
      'the lowest sum of priorities',
      [running('x', '2', 9), running('x2', '2', 5)],
      [running('y', '2', 9), running('y2', '2', 4)],
    ],
    ['the fewest victims', [running('x', '2', 0), running('x2', '2', 0)], [running('y', '4', 0)]],
    ['the latest start', [running('x', '4', 0, 1)], [running('y', '4', 0, 2)]],
  ])('prefers the node with %s', (_name, onA, onB) => {
    const snapshot = snapshotOf([node('a', { pods: onA }), node('b', { pods: onB })]);
    expect(victimsOf(important(), snapshot).map(([name]) => name)).toEqual(['b']);
  });

  test('returns all candidates that are equal', () => {
    const snapshot = snapshotOf([node('b', { pods: [running('x', '4')] }), node('a', { pods: [running('y', '4')] })]);
    expect(victimsOf(important(), snapshot)).toEqual([
      ['a', 'y'],
      ['b', 'x'],
    ]);
  });

  test('prefers victims that their disruption budget allows', () => {
    const budget = (disruptionsAllowed: number) =>
      object(
        'PodDisruptionBudget',
        'b',
        { spec: { selector: { matchLabels: { app: 'x' } } }, status: { disruptionsAllowed } },
        { namespace: 'default' },
      );
    const nodes = () => [node('a', { pods: [running('x', '4', 1)] }), node('b', { pods: [running('y', '4', 9)] })];
    expect(victimsOf(important(), snapshotOf(nodes(), [budget(1)]))).toEqual([['a', 'x']]);
    expect(victimsOf(important(), snapshotOf(nodes(), [budget(0)]))).toEqual([['b', 'y']]);
  });

  test('takes affinity between pods into account', () => {
    const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } } };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const snapshot = snapshotOf([node('a', { pods: [running('x', '1'), running('y', '1')] })]);
    expect(victimsOf(important('1', { affinity }), snapshot)).toEqual([['a', 'x']]);
  });

  test.each<[string, ReturnType<typeof pod>, string]>([
    [
      'a pod with the policy Never',
      important('4', { preemptionPolicy: 'Never' }),
      'not eligible due to preemptionPolicy=Never.',
    ],
    [
      'a pod without victims',
      running('p', '4'),
      '0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
    ],
    [
      'a pod that does not fit anyway',
      important('5'),
      '0/2 nodes are available: 1 Insufficient cpu, 1 Preemption is not helpful for scheduling.',
    ],
  ])('does not help %s', (_name, candidate, message) => {
    const nodes = [node('a', { pods: [running('x', '2')] }), node('b', { spec: { unschedulable: true } })];
    expect(preemptionFor(candidate, snapshotOf(nodes))).toMatchObject({ best: [], message });
  });

  test('waits for victims on the nominated node', () => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
    const victim = pod(
      'v',
      { cpu: '4' },
      { metadata: { deletionTimestamp: '2026-11-18T00:00:00Z' }, status: { conditions } },
    );
    const candidate = pod('p', { cpu: '4' }, { status: { nominatedNodeName: 'a' } });
    const waiting = { ...candidate, spec: { ...candidate.spec, priority: 1 } };
    expect(preemptionFor(waiting, snapshotOf([node('a', { pods: [victim] })]))).toEqual({
      best: [],
      message: 'not eligible due to a terminating pod on the nominated node.',
      keepsNomination: true,
    });
  });

  test('counts nominated pods of the same or a higher priority', () => {
    const nominated = { ...running('n', '3', 10), status: { nominatedNodeName: 'a' } };
    const snapshot = snapshotOf([node('a')], [], [nominated]);
    expect(place(running('p', '2', 10), snapshot)).toBe('0/1 nodes are available: 1 Insufficient cpu.');
    expect(place(running('p', '2', 11), snapshot)).toEqual(['a']);
    expect(place(nominated, snapshot)).toEqual(['a']);
  });
});

describe('the queue of pods', () => {
  const queue = () => new PodQueue({ firstMs: 1_000, longestMs: 10_000 });
  const FIT = new Set(['NodeResourcesFit']);

  test('returns pods by priority, then in the order of their arrival', () => {
    const pods = queue();
    for (const [key, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 5],
      ['d', 9],
    ] as const)
      pods.add(key, { uid: key, priority });
    expect([pods.next(), pods.next(), pods.next(), pods.next(), pods.next()]).toEqual(['d', 'b', 'c', 'a', undefined]);
  });

  test('returns a pod again only after a change that concerns a plugin that rejected it', () => {
    const pods = queue();
    pods.add('a', { uid: '1', priority: 0 });
    pods.next();
    expect(pods.failed('a', FIT, 0)).toBe(false);
    pods.add('a', { uid: '1', priority: 0 });
    expect([pods.changed(new Set(['NodePorts'])), pods.next()]).toEqual([false, undefined]);
    expect([pods.changed(FIT), pods.next()]).toEqual([true, 'a']);
  });

  test('does not miss a change during an attempt', () => {
    const pods = queue();
    pods.add('a', { uid: '1', priority: 0 });
    pods.next();
    pods.changed(FIT);
    expect(pods.failed('a', FIT, 0)).toBe(true);
    expect(pods.next()).toBe('a');
  });

  test('returns pods that failed after new ones, those with the shortest backoff first', () => {
    const pods = queue();
    for (const key of ['a', 'b']) pods.add(key, { uid: key, priority: 9 });
    for (let times = 0; times < 2; times++) {
      pods.retry('a');
      expect(pods.next()).toBe('a');
      pods.failed('a', FIT, 0);
      if (times === 0) {
        expect(pods.next()).toBe('b');
        pods.failed('b', FIT, 0);
      }
    }
    pods.changed(FIT);
    pods.add('c', { uid: 'c', priority: 0 });
    expect([pods.next(), pods.next(), pods.next()]).toEqual(['c', 'b', 'a']);
  });

  test('doubles the delay after errors up to the longest', () => {
    const pods = queue();
    pods.add('a', { uid: '1', priority: 0 });
    const delays = Array.from({ length: 5 }, () => {
      pods.next();
      const delay = pods.erred('a', 500);
      pods.retry('a');
      return delay;
    });
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 10_000]);
  });

  test('forgets deleted pods and starts anew with a pod of the same name', () => {
    const pods = queue();
    pods.add('a', { uid: '1', priority: 0 });
    pods.delete('a');
    expect(pods.next()).toBeUndefined();
    pods.add('a', { uid: '2', priority: 0 });
    expect(pods.next()).toBe('a');
  });
});

test('the affinity between a pod and each pod that runs is decided once', () => {
  const [terms, count] = [200, 10];
  const labelled = (labels: object) => ({
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: labels },
  });
  const others = Array.from({ length: terms - 1 }, (_, at) => labelled({ other: `v${at}` }));
  const affinity = {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [...others, labelled({ app: 'x' })] },
  };
  let reads = 0;
  const pods = Array.from({ length: count }, (_, at) => {
    const { metadata, ...rest } = running(`x${at}`, '10m');
    const counting = Object.defineProperty({ ...metadata }, 'labels', {
      get() {
        reads++;
        return { app: 'x' };
      },
    });
    return { ...rest, metadata: counting };
  });
  const names = pods.map(({ metadata }) => metadata.name);
  const snapshot = snapshotOf([node('a', { pods })]);
  expect(victimsOf(important('1', { affinity }), snapshot)).toEqual([['a', ...names]]);
  // Each comparison of a term with a pod reads its labels; other plugins do so a few times.
  expect(reads).toBeLessThan(2 * terms * count);
});
