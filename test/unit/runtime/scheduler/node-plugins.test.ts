/** The plugins that compare a pod with nodes: taints, affinity to nodes, ports, resources, images. */
import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../../../../src/runtime/kubelet/node-admission.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { node, place, pod, scoresOf, snapshotOf } from './fixture.js';

const rejected = (reason: string) => `0/1 nodes are available: 1 ${reason}.`;
const required = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
});

describe('NodeUnschedulable', () => {
  const cordoned = snapshotOf([node('a', { spec: { unschedulable: true } })]);

  test('rejects a cordoned node', () => {
    expect(place(pod('p'), cordoned)).toBe(rejected('node(s) were unschedulable'));
  });

  test('accepts a cordoned node if the pod tolerates its taint', () => {
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    expect(place(pod('p', {}, { spec: { tolerations } }), cordoned)).toEqual(['a']);
  });
});

describe('NodeName', () => {
  test('accepts only the named node', () => {
    expect(place(pod('p', {}, { spec: { nodeName: 'b' } }), snapshotOf([node('a'), node('b')]))).toEqual(['b']);
    expect(place(pod('p', {}, { spec: { nodeName: 'b' } }), snapshotOf([node('a')]))).toBe(
      rejected("node(s) didn't match the requested node name"),
    );
  });
});

describe('TaintToleration', () => {
  const taints = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }];

  test.each([
    [[], rejected('node(s) had untolerated taint {gpu: yes}')],
    [[{ key: 'gpu', operator: 'Equal', value: 'no' }], rejected('node(s) had untolerated taint {gpu: yes}')],
    [[{ key: 'gpu', operator: 'Equal', value: 'yes' }], ['a']],
    [[{ operator: 'Exists', effect: 'NoSchedule' }], ['a']],
  ])('with the tolerations %j it answers %j', (tolerations, expected) => {
    const snapshot = snapshotOf([node('a', { spec: { taints } })]);
    expect(place(pod('p', {}, { spec: { tolerations } }), snapshot)).toEqual(expected);
  });

  test('rates nodes lower for each PreferNoSchedule taint that the pod does not tolerate', () => {
    const soft = (key: string) => ({ key, effect: 'PreferNoSchedule' });
    const snapshot = snapshotOf([
      node('a', { spec: { taints: [soft('x'), soft('y')] } }),
      node('b', { spec: { taints: [soft('x')] } }),
      node('c'),
    ]);
    expect(scoresOf('TaintToleration', pod('p'), snapshot)).toEqual({ a: 0, b: 150, c: 300 });
    const tolerations = [{ key: 'x', operator: 'Exists' }];
    expect(scoresOf('TaintToleration', pod('q', {}, { spec: { tolerations } }), snapshot)).toEqual({
      a: 0,
      b: 300,
      c: 300,
    });
  });
});

describe('NodeAffinity', () => {
  const snapshot = snapshotOf([
    node('a', { labels: { disk: 'ssd', tier: '3' } }),
    node('b', { labels: { disk: 'hdd' } }),
    node('c'),
  ]);
  const nowhere = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.";

  test.each<[object, readonly string[] | string]>([
    [{ nodeSelector: { disk: 'ssd' } }, ['a']],
    [{ nodeSelector: { disk: 'tape' } }, nowhere],
    [required(expression('disk', 'In', 'hdd', 'tape')), ['b']],
    [required(expression('disk', 'Exists'), expression('other', 'Exists')), ['a', 'b']],
    [required(expression('tier', 'Gt', '2')), ['a']],
    [required(expression('tier', 'Lt', '2')), nowhere],
    [{ nodeSelector: { disk: 'ssd' }, ...required(expression('disk', 'In', 'hdd')) }, nowhere],
    [required({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['a'] }] }), ['b', 'c']],
  ])('accepts the nodes of %j', (spec, expected) => {
    expect(place(pod('p', {}, { spec }), snapshot)).toEqual(expected);
  });

  test('checks only the nodes that all terms name', () => {
    const named = (...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
    expect(place(pod('p', {}, { spec: required(named('b'), named('c')) }), snapshot)).toEqual(['b', 'c']);
    expect(place(pod('p', { cpu: '9' }, { spec: required(named('b')) }), snapshot)).toBe(
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
    const conflicting = { matchFields: [...named('a').matchFields, ...named('b').matchFields] };
    expect(place(pod('p', {}, { spec: required(conflicting) }), snapshot)).toBe(
      '0/3 nodes are available: pod affinity terms conflict.',
    );
  });

  test('adds up the weights of preferred terms', () => {
    const preferred = [
      { weight: 10, preference: expression('disk', 'Exists') },
      { weight: 30, preference: expression('disk', 'In', 'ssd') },
    ];
    const spec = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } };
    expect(scoresOf('NodeAffinity', pod('p', {}, { spec }), snapshot)).toEqual({ a: 200, b: 50, c: 0 });
    expect(scoresOf('NodeAffinity', pod('q'), snapshot)).toEqual({ a: undefined, b: undefined, c: undefined });
  });
});

describe('NodePorts', () => {
  const withPort = (name: string, port: object, more: object = {}) =>
    pod(
      name,
      {},
      { spec: { containers: [{ name: 'c', resources: {}, ports: [{ protocol: 'TCP', ...port }] }], ...more } },
    );
  const taken = rejected("node(s) didn't have free ports for the requested pod ports");

  test.each<[object, object, boolean]>([
    [{ hostPort: 80 }, { hostPort: 80 }, false],
    [{ hostPort: 80 }, { hostPort: 81 }, true],
    [{ hostPort: 80 }, { hostPort: 80, protocol: 'UDP' }, true],
    [{ hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80, hostIP: '10.0.0.2' }, true],
    [{ hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80, hostIP: '10.0.0.1' }, false],
    [{ hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80 }, false],
    [{ containerPort: 80 }, { containerPort: 80 }, true],
  ])('with %j on the node, %j fits: %s', (used, wanted, fits) => {
    const snapshot = snapshotOf([node('a', { pods: [withPort('old', used)] })]);
    expect(place(withPort('p', wanted), snapshot)).toEqual(fits ? ['a'] : taken);
  });

  test('counts the ports of sidecars', () => {
    const sidecar = { name: 's', restartPolicy: 'Always', resources: {}, ports: [{ hostPort: 80, protocol: 'TCP' }] };
    const old = withPort('old', { containerPort: 1 }, { initContainers: [sidecar] });
    expect(place(withPort('p', { hostPort: 80 }), snapshotOf([node('a', { pods: [old] })]))).toBe(taken);
  });

  test('compares tens of thousands of ports in time proportional to their number', () => {
    const many = (name: string, hostIP: string) => {
      const ports = Array.from({ length: 30_000 }, (_, at) => ({ containerPort: 1, hostPort: at + 1, hostIP }));
      return pod(name, {}, { spec: { containers: [{ name: 'c', ports, resources: {} }] } });
    };
    const other = many('other', '10.0.0.2');
    const one = node('a', { pods: [other] });
    const spentMs = cpuTimer();
    expect(place(many('p', '10.0.0.1'), snapshotOf([one]))).toEqual(['a']);
    expect(rejectionOf(many('p', '10.0.0.1'), one.node, [other])).toBeUndefined();
    expect(rejectionOf(many('p', '10.0.0.2'), one.node, [other])?.reason).toBe('NodePorts');
    expect(spentMs()).toBeLessThan(1_000);
  });
});

describe('NodeResourcesFit', () => {
  test('names every resource that is missing', () => {
    const snapshot = snapshotOf([node('a', { pods: [pod('old', { cpu: '3' })], allocatable: { pods: '1' } })]);
    const requests = { cpu: '2', memory: '9Gi', 'example.com/gpu': '1', 'ephemeral-storage': '1' };
    expect(place(pod('p', requests), snapshot)).toBe(
      '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient ephemeral-storage, 1 Insufficient example.com/gpu, ' +
        '1 Insufficient memory, 1 Too many pods.',
    );
  });

  test('names at most 100 of the resources that are missing, in time that does not grow with others', () => {
    const snapshot = snapshotOf(Array.from({ length: 100 }, (_, at) => node(`n${at}`)));
    const requests = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`example.com/${at}`, '1']));
    const candidate = pod('p', requests);
    const spent = cpuTimer();
    const message = place(candidate, snapshot);
    expect(spent()).toBeLessThan(1_000);
    expect(String(message).match(/100 Insufficient/g)?.length).toBe(100);
  });

  test.each<[string, object, boolean]>([
    [
      'containers add up',
      { containers: [{ resources: { requests: { cpu: '3' } } }, { resources: { requests: { cpu: '2' } } }] },
      false,
    ],
    ['an init container counts alone', { initContainers: [{ resources: { requests: { cpu: '4' } } }] }, true],
    ['the larger of both counts', { initContainers: [{ resources: { requests: { cpu: '5' } } }] }, false],
    [
      'a sidecar adds to containers',
      { initContainers: [{ restartPolicy: 'Always', resources: { requests: { cpu: '4' } } }] },
      false,
    ],
    ['the overhead counts', { overhead: { cpu: '4' } }, false],
    ['requests of the pod replace those of containers', { resources: { requests: { cpu: '5' } } }, false],
    ['resources of no interest are ignored', { overhead: { storage: '1Ti' } }, true],
  ])('%s', (_name, spec, fits) => {
    const small = { containers: [{ resources: { requests: { cpu: '1' } } }] };
    const candidate = pod('p', {}, { spec: { ...small, ...spec } });
    expect(place(candidate, snapshotOf([node('a')]))).toEqual(fits ? ['a'] : rejected('Insufficient cpu'));
  });

  test('counts what kubelet has allocated to a container that is being resized', () => {
    const status = { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '3' } } }] };
    const snapshot = snapshotOf([node('a', { pods: [pod('old', { cpu: '1' }, { status })] })]);
    expect(place(pod('p', { cpu: '2' }), snapshot)).toBe(rejected('Insufficient cpu'));
  });

  test('prefers nodes with more free resources', () => {
    const busy = node('a', { pods: [pod('old', { cpu: '2', memory: '4Gi' })] });
    const snapshot = snapshotOf([busy, node('b')]);
    expect(scoresOf('NodeResourcesFit', pod('p', { cpu: '1', memory: '2Gi' }), snapshot)).toEqual({ a: 25, b: 75 });
  });

  test('assumes requests of containers without any', () => {
    const snapshot = snapshotOf([node('a', { allocatable: { cpu: '1', memory: '1000Mi' } }), node('b')]);
    // 100m of 1 and 200Mi of 1000Mi; 100m of 4 and 200Mi of 8Gi.
    expect(scoresOf('NodeResourcesFit', pod('p'), snapshot)).toEqual({ a: 85, b: 97 });
  });
});

describe('NodeResourcesBalancedAllocation', () => {
  test('prefers nodes where cpu and memory are used alike', () => {
    const snapshot = snapshotOf([node('a', { pods: [pod('old', { cpu: '2' })] }), node('b')]);
    const scores = scoresOf('NodeResourcesBalancedAllocation', pod('p', { cpu: '1', memory: '2Gi' }), snapshot);
    // 3/4 and 1/4; 1/4 and 1/4.
    expect(scores).toEqual({ a: 75, b: 100 });
  });

  test('does not rate nodes for pods without requests', () => {
    const snapshot = snapshotOf([node('a'), node('b')]);
    expect(scoresOf('NodeResourcesBalancedAllocation', pod('p'), snapshot)).toEqual({ a: undefined, b: undefined });
  });
});

describe('ImageLocality', () => {
  const MB = 1024 * 1024;

  test('prefers nodes that have the images, more so the more nodes have them', () => {
    const images = [{ names: ['app:1'], sizeBytes: 500 * MB }];
    const scores = (others: readonly object[]) =>
      scoresOf('ImageLocality', pod('p'), snapshotOf([node('a', { images }), node('b', { images: others })]));
    expect(scores([])).toEqual({ a: 23, b: 0 });
    expect(scores(images)).toEqual({ a: 48, b: 48 });
  });

  test('assumes the tag latest', () => {
    const images = [{ names: ['registry:5000/app:latest'], sizeBytes: 1000 * MB }];
    const candidate = pod('p', {}, { spec: { containers: [{ image: 'registry:5000/app', resources: {} }] } });
    expect(scoresOf('ImageLocality', candidate, snapshotOf([node('a', { images }), node('b')]))).toEqual({
      a: 48,
      b: 0,
    });
  });
});
