/** The plugins that compare a pod with other pods: topology spread and affinity between pods. */
import { describe, expect, test } from 'vitest';
import { affinityTermsOf } from '../../../../src/runtime/scheduler/affinity-terms.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { node, object, place, pod, scoresOf, snapshotOf } from './fixture.js';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const web = { matchLabels: { app: 'web' } };
const webPod = (name: string, parts: object = {}) => pod(name, {}, { labels: { app: 'web' }, ...parts });
const zone = (name: string, value: string, pods: readonly ReturnType<typeof pod>[] = [], spec: object = {}) =>
  node(name, { labels: { [ZONE]: value }, pods, spec });

describe('PodTopologySpread', () => {
  const spread = (fields: object = {}) => ({
    spec: {
      topologySpreadConstraints: [
        { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web, ...fields },
      ],
    },
  });
  const unbalanced = snapshotOf([zone('a', 'z1', [webPod('w1'), webPod('w2')]), zone('b', 'z2', [webPod('w3')])]);
  const MISMATCH = "node(s) didn't match pod topology spread constraints";

  test('accepts only domains within the skew', () => {
    expect(place(webPod('p', spread()), unbalanced)).toEqual(['b']);
    expect(place(webPod('p', spread({ maxSkew: 2 })), unbalanced)).toEqual(['b', 'a']);
  });

  test('does not count a pod that its own constraint does not select', () => {
    expect(place(pod('p', {}, spread()), unbalanced)).toEqual(['b', 'a']);
  });

  test('ignores terminating pods and pods of other namespaces', () => {
    const terminating = webPod('w2', { metadata: { deletionTimestamp: '2026-11-18T00:00:00Z' } });
    const snapshot = snapshotOf([
      zone('a', 'z1', [webPod('w1'), terminating, webPod('w4', { namespace: 'other' })]),
      zone('b', 'z2', [webPod('w3')]),
    ]);
    expect(place(webPod('p', spread()), snapshot)).toEqual(['b', 'a']);
  });

  test('rejects nodes without the label for good', () => {
    expect(place(webPod('p', spread()), snapshotOf([node('a')]))).toBe(
      `0/1 nodes are available: 1 ${MISMATCH} (missing required label).`,
    );
  });

  test('treats the lowest count as 0 with fewer domains than minDomains', () => {
    const one = snapshotOf([zone('a', 'z1', [webPod('w1')])]);
    expect(place(webPod('p', spread()), one)).toEqual(['a']);
    expect(place(webPod('p', spread({ minDomains: 2 })), one)).toBe(`0/1 nodes are available: 1 ${MISMATCH}.`);
  });

  test('selects only pods with the same values of matchLabelKeys', () => {
    const old = (name: string) => webPod(name, { labels: { app: 'web', version: 'v1' } });
    const snapshot = snapshotOf([zone('a', 'z1', [old('w1'), old('w2')]), zone('b', 'z2')]);
    const candidate = pod(
      'p',
      {},
      { labels: { app: 'web', version: 'v2' }, ...spread({ matchLabelKeys: ['version'] }) },
    );
    expect(place(candidate, snapshot)).toEqual(['b', 'a']);
  });

  test('counts domains by the policies for affinity and taints', () => {
    const taints = [{ key: 'x', effect: 'NoSchedule' }];
    const snapshot = snapshotOf([zone('a', 'z1', [webPod('w1')]), zone('b', 'z2', [], { taints })]);
    const rejected = `0/2 nodes are available: 1 ${MISMATCH}, 1 node(s) had untolerated taint {x: }.`;
    expect(place(webPod('p', spread()), snapshot)).toBe(rejected);
    expect(place(webPod('p', spread({ nodeTaintsPolicy: 'Honor' })), snapshot)).toEqual(['a']);
    const selecting = (fields: object) => {
      const { spec } = spread(fields);
      return webPod('p', { spec: { ...spec, nodeSelector: { [ZONE]: 'z1' } } });
    };
    expect(place(selecting({}), snapshot)).toEqual(['a']);
    expect(place(selecting({ nodeAffinityPolicy: 'Ignore' }), snapshot)).toContain(MISMATCH);
  });

  test('rates domains with fewer pods higher', () => {
    const snapshot = snapshotOf([
      zone('a', 'z1', [webPod('w1'), webPod('w2')]),
      zone('b', 'z2', [webPod('w3')]),
      zone('c', 'z3'),
      node('d'),
    ]);
    const scores = scoresOf(
      'PodTopologySpread',
      webPod('p', spread({ whenUnsatisfiable: 'ScheduleAnyway' })),
      snapshot,
    );
    // Counts times ln(5), rounded: 3, 2, 0. A node without the label gets nothing.
    expect(scores).toEqual({ a: 0, b: 66, c: 200, d: 0 });
  });

  test('spreads pods of a service or a controller by default', () => {
    const snapshot = (...objects: ReturnType<typeof object>[]) =>
      snapshotOf([node('a', { pods: [webPod('w1')] }), node('b')], objects);
    const none = { a: undefined, b: undefined };
    expect(scoresOf('PodTopologySpread', webPod('p'), snapshot())).toEqual(none);
    const service = object('Service', 's', { spec: { selector: { app: 'web' } } }, { namespace: 'default' });
    // ln(4) + 2 is 3, and 2 without pods.
    expect(scoresOf('PodTopologySpread', webPod('p'), snapshot(service))).toEqual({ a: 132, b: 200 });
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }];
    const set = object('ReplicaSet', 'r', { spec: { selector: web } }, { namespace: 'default' });
    const owned = webPod('p', { metadata: { ownerReferences } });
    expect(scoresOf('PodTopologySpread', owned, snapshot(set))).toEqual({ a: 132, b: 200 });
    expect(scoresOf('PodTopologySpread', owned, snapshot())).toEqual(none);
  });
});

describe('InterPodAffinity', () => {
  type Part = 'podAffinity' | 'podAntiAffinity';
  const term = (fields: object = {}) => ({ topologyKey: ZONE, labelSelector: web, ...fields });
  const requires = (part: Part, ...terms: object[]) => ({
    spec: { affinity: { [part]: { requiredDuringSchedulingIgnoredDuringExecution: terms } } },
  });
  const prefers = (part: Part, weight: number, fields: object = {}) => ({
    spec: {
      affinity: {
        [part]: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term(fields) }] },
      },
    },
  });
  const cluster = snapshotOf([zone('a', 'z1', [webPod('w1')]), zone('b', 'z1'), zone('c', 'z2')]);

  test('accepts nodes in the domain of a pod with affinity', () => {
    expect(place(pod('p', {}, requires('podAffinity', term())), cluster)).toEqual(['b', 'a']);
    const other = term({ labelSelector: { matchLabels: { app: 'db' } } });
    expect(place(pod('p', {}, requires('podAffinity', other)), cluster)).toBe(
      "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.",
    );
  });

  test('accepts the first pod of a group with affinity to itself', () => {
    const empty = snapshotOf([zone('a', 'z1'), node('b')]);
    expect(place(webPod('p', requires('podAffinity', term())), empty)).toEqual(['a']);
  });

  test('rejects nodes in the domain of a pod with anti-affinity', () => {
    expect(place(pod('p', {}, requires('podAntiAffinity', term())), cluster)).toEqual(['c']);
    expect(place(pod('p', {}, requires('podAntiAffinity', term({ topologyKey: HOST }))), cluster)).toEqual(
      ['c', 'b'].sort(),
    );
    expect(place(pod('p', {}, requires('podAntiAffinity', term())), snapshotOf([zone('a', 'z1', [webPod('w')])]))).toBe(
      "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
    );
  });

  test('respects the anti-affinity of pods that run', () => {
    const hermit = pod('h', {}, requires('podAntiAffinity', term()));
    const snapshot = snapshotOf([zone('a', 'z1', [hermit]), zone('b', 'z2')]);
    expect(place(webPod('p'), snapshot)).toEqual(['b']);
    expect(place(webPod('p'), snapshotOf([zone('a', 'z1', [hermit])]))).toBe(
      "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
    );
    expect(place(webPod('p', { namespace: 'other' }), snapshot)).toHaveLength(2);
  });

  test('selects pods of other namespaces by name and by label', () => {
    const namespaces = [
      object('Namespace', 'default', {}, { labels: { team: 'x' } }),
      object('Namespace', 'other', {}, { labels: { team: 'y' } }),
    ];
    const snapshot = snapshotOf([zone('a', 'z1', [webPod('w', { namespace: 'other' })]), zone('b', 'z2')], namespaces);
    const count = (fields: object) => place(pod('p', {}, requires('podAntiAffinity', term(fields))), snapshot).length;
    expect(count({})).toBe(2);
    expect(count({ namespaces: ['other'] })).toBe(1);
    expect(count({ namespaceSelector: { matchLabels: { team: 'y' } } })).toBe(1);
    expect(count({ namespaceSelector: { matchLabels: { team: 'x' } } })).toBe(2);
    expect(count({ namespaceSelector: {} })).toBe(1);
    const hermit = pod(
      'h',
      {},
      requires('podAntiAffinity', term({ namespaceSelector: { matchLabels: { team: 'y' } } })),
    );
    const guarded = snapshotOf([zone('a', 'z1', [hermit]), zone('b', 'z2')], namespaces);
    expect(place(webPod('p', { namespace: 'other' }), guarded)).toEqual(['b']);
    expect(place(webPod('p'), guarded)).toHaveLength(2);
  });

  test('adds up the weights of preferred terms in both directions', () => {
    expect(scoresOf('InterPodAffinity', pod('p', {}, prefers('podAffinity', 5)), cluster)).toEqual({
      a: 200,
      b: 200,
      c: 0,
    });
    expect(scoresOf('InterPodAffinity', pod('p', {}, prefers('podAntiAffinity', 5)), cluster)).toEqual({
      a: 0,
      b: 0,
      c: 200,
    });
    const fond = pod('f', {}, prefers('podAffinity', 10));
    const bound = pod('r', {}, requires('podAffinity', term()));
    const shy = pod('s', {}, prefers('podAntiAffinity', 10));
    const snapshot = snapshotOf([zone('a', 'z1', [fond]), zone('b', 'z2', [bound]), zone('c', 'z3', [shy])]);
    // 10, 1 for a required term, and -10.
    expect(scoresOf('InterPodAffinity', webPod('p'), snapshot)).toEqual({ a: 200, b: 110, c: 0 });
    expect(scoresOf('InterPodAffinity', pod('q'), snapshot)).toEqual({ a: undefined, b: undefined, c: undefined });
  });
});

describe('the cost of affinity terms', () => {
  const term = (
    at: number,
    labelSelector: object = { matchExpressions: [{ key: `k${at}`, operator: 'DoesNotExist' }] },
  ) => ({
    topologyKey: HOST,
    labelSelector,
  });
  const many = <Item>(itemAt: (at: number) => Item) => Array.from({ length: 30_000 }, (_, at) => itemAt(at));
  const running = (on: string) => Array.from({ length: 150 }, (_, at) => webPod(`${on}${at}`));
  const two = () =>
    snapshotOf([
      node('a', { pods: running('a'), allocatable: { pods: '200' } }),
      node('b', { pods: running('b').slice(1), allocatable: { pods: '200' } }),
    ]);
  const preferring = (terms: readonly object[]) => ({
    spec: {
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: terms.map((podAffinityTerm) => ({
            weight: 1,
            podAffinityTerm,
          })),
        },
      },
    },
  });

  test('tens of thousands of different preferred terms count as far as the cost limit allows', () => {
    const snapshot = two();
    const spentMs = cpuTimer();
    const candidate = webPod('p', preferring(many((at) => term(at))));
    expect(scoresOf('InterPodAffinity', candidate, snapshot)).toEqual({ a: 200, b: 0 });
    expect(spentMs()).toBeLessThan(3_000);
  });

  test('equal terms are one term with the sum of their weights', () => {
    const { preferred } = affinityTermsOf(webPod('p', preferring(many(() => term(0)))));
    expect(preferred).toMatchObject([{ topologyKey: HOST, weight: 30_000 }]);
  });

  test('tens of thousands of different required terms are an error', () => {
    const requiredDuringSchedulingIgnoredDuringExecution = many((at) => term(at));
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
    expect(() => place(webPod('p', { spec }), two())).toThrow('the pod affinity terms exceed the cost limit');
  });
});
