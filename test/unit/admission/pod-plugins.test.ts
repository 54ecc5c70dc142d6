/** Pod plugins that are off by default. */
import { mergePatch } from 'orchplane';
import {
  type AdmissionPlugin,
  alwaysPullImages,
  defaultAdmission,
  extendedResourceToleration,
  limitPodHardAntiAffinityTopology,
  podNodeSelectorWith,
  podTolerationRestrictionWith,
} from 'orchplane/admission';
import { Namespace, Node, Pod, type PodInput } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { alwaysPullImages as pulling } from '../../../src/admission/plugins/always-pull-images.js';
import { podTopologyLabels } from '../../../src/admission/plugins/pod-placement.js';
import type { FeatureGates } from '../../../src/kinds/feature-gates.js';
import { type FakeRequest, fakeRequest, fakeView, finished } from './fake-cluster.js';

let cluster: TestCluster;
const use = (...plugins: AdmissionPlugin[]) => {
  cluster = testCluster({ admission: [...defaultAdmission, ...plugins] });
};
const pod = (spec: object = {}, metadata: object = { name: 'p' }) =>
  cluster.api(Pod).create({ metadata, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } } as PodInput);
const annotate = (key: string, value: string) =>
  cluster
    .api(Namespace)
    .patch('default', mergePatch({ metadata: { annotations: { [`scheduler.alpha.orch.io/${key}`]: value } } }));

describe('AlwaysPullImages', () => {
  test('sets the policy of every container if an image is new', async () => {
    use(alwaysPullImages);
    const initContainers = [{ name: 'i', image: 'i:1', imagePullPolicy: 'Never' }];
    const { spec } = await pod({ initContainers });
    expect([...spec.containers, ...(spec.initContainers ?? [])].map((one) => one.imagePullPolicy)).toEqual([
      'Always',
      'Always',
    ]);
  });

  test('rejects a changed policy with a plain error', () => {
    const object = {
      metadata: { name: 'p' },
      spec: {
        containers: [{ name: 'c', image: 'a', imagePullPolicy: 'Never' }],
        volumes: [{ name: 'v' }, { name: 'w', image: {} }],
      },
    };
    const request = (more: object = {}) =>
      finished(fakeRequest({ kind: Pod as unknown as FakeRequest['kind'], object, ...more }));
    const text = (path: string, value: string) =>
      `pods "p" is forbidden: ${path}: Unsupported value: "${value}": supported values: "Always"`;
    expect(() => pulling.validate?.(request(), fakeView())).toThrow(
      `[${text('spec.containers[0].imagePullPolicy', 'Never')}, ${text('spec.volumes[1].image.pullPolicy', '')}]`,
    );
    expect(() => pulling.validate?.(request({ operation: 'UPDATE', oldObject: object }), fakeView())).not.toThrow();
  });
});

describe('ExtendedResourceToleration', () => {
  test('adds tolerations for requested extended resources', async () => {
    use(extendedResourceToleration);
    const resources = { limits: { 'example.com/gpu': '1', cpu: '1', 'a.com/b': '1' } };
    const { spec } = await pod({
      containers: [{ name: 'c', image: 'i', resources }],
      tolerations: [{ key: 'a.com/b', operator: 'Exists', effect: 'NoSchedule' }],
    });
    expect(spec.tolerations?.filter(({ effect }) => effect === 'NoSchedule')).toEqual([
      { key: 'a.com/b', operator: 'Exists', effect: 'NoSchedule' },
      { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
    ]);
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const affinity = (topologyKey: string) => ({
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: {} }] },
    },
  });
  test('allows the topology key hostname only', async () => {
    use(limitPodHardAntiAffinityTopology);
    expect(await pod(affinity('orch.io/hostname'), { name: 'q' })).toBeDefined();
    await expect(pod(affinity('zone'))).rejects.toMatchObject({
      code: 403,
      message:
        'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key orch.io/hostname is allowed',
    });
  });
});

describe('PodNodeSelector', () => {
  test('adds the node selector of the namespace', async () => {
    use(podNodeSelectorWith({ clusterDefaultNodeSelector: 'pool=shared' }));
    expect((await pod({ nodeSelector: { a: 'b', z: 'y' } })).spec.nodeSelector).toEqual({
      a: 'b',
      pool: 'shared',
      z: 'y',
    });
    await annotate('node-selector', 'disk = ssd,zone=');
    expect((await pod({}, { name: 'q' })).spec.nodeSelector).toEqual({ disk: 'ssd', zone: '' });
    await expect(pod({ nodeSelector: { disk: 'hdd' } }, { generateName: 'r-' })).rejects.toThrow(
      'pods is forbidden: pod node label selector conflicts with its namespace node label selector',
    );
  });

  test('adds nothing without a configuration', async () => {
    use(podNodeSelectorWith());
    expect((await pod()).spec).not.toHaveProperty('nodeSelector');
  });

  test('enforces the whitelist of the namespace', async () => {
    use(podNodeSelectorWith({ namespaces: { default: 'a=b,c=d' } }));
    expect(await pod({ nodeSelector: { a: 'b' } }, { name: 'q' })).toBeDefined();
    await expect(pod({ nodeSelector: { e: 'f' } })).rejects.toThrow(
      'pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
    );
  });

  test.each([
    ['a', 'invalid selector: [a]'],
    ['a=b=c', 'invalid selector: [a b c]'],
    ['-=b', '<nil>: Invalid value: "-": name part must consist of'],
    ['a=-', '[a]: Invalid value: "-": a valid label must be an empty string or consist of'],
  ])('rejects the selector %j', async (selector, message) => {
    use(podNodeSelectorWith());
    await annotate('node-selector', selector);
    await expect(pod()).rejects.toMatchObject({ code: 500, message: expect.stringContaining(message) });
  });
});

describe('PodTolerationRestriction', () => {
  const toleration = (key: string, more: object = {}) => ({ key, operator: 'Exists', effect: 'NoSchedule', ...more });
  const of = async (made: ReturnType<typeof pod>) =>
    (await made).spec.tolerations?.filter(({ effect }) => effect === 'NoSchedule').map(({ key }) => key);

  test('adds tolerations of the namespace or else of the cluster', async () => {
    use(podTolerationRestrictionWith({ default: [toleration('cluster')] }));
    expect(await of(pod())).toEqual(['cluster']);
    await annotate('defaultTolerations', JSON.stringify([toleration('ns')]));
    expect(await of(pod({}, { name: 'q' }))).toEqual(['ns']);
    await annotate('defaultTolerations', '');
    expect(await of(pod({}, { name: 'r' }))).toEqual([]);
  });

  test('adds a memory-pressure toleration to pods that are not BestEffort', async () => {
    use(podTolerationRestrictionWith());
    const resources = { requests: { memory: '1' } };
    expect(await of(pod({ containers: [{ name: 'c', image: 'i', resources }] }))).toEqual([
      'node.orch.io/memory-pressure',
    ]);
  });

  const NOT_READY = ['not-ready', 'unreachable'].map((name) => ({
    key: `node.orch.io/${name}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  }));
  const text = (whose: string) =>
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist`;

  test.each<[string, object, object, boolean]>([
    ['an equal toleration', toleration('a'), toleration('a'), true],
    ['any value', { key: 'a', operator: 'Equal', value: 'b' }, { key: 'a', operator: 'Exists' }, true],
    [
      'a different value',
      { key: 'a', operator: 'Equal', value: 'b' },
      { key: 'a', operator: 'Equal', value: 'c' },
      false,
    ],
    ['a different effect', toleration('a'), toleration('a', { effect: 'NoExecute' }), false],
    ['any key', toleration('a'), { operator: 'Exists' }, true],
    [
      'fewer seconds',
      { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 },
      { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 8 },
      false,
    ],
    [
      'no seconds',
      { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 },
      { key: 'a', operator: 'Exists', effect: 'NoExecute' },
      true,
    ],
  ])('enforces a whitelist: %s', async (_, expected, allowed, isAllowed) => {
    use(podTolerationRestrictionWith());
    await annotate('tolerationsWhitelist', JSON.stringify([...NOT_READY, allowed]));
    const made = pod({ tolerations: [expected] });
    if (isAllowed) expect(await made).toBeDefined();
    else await expect(made).rejects.toMatchObject({ code: 500, message: text('namespace') });
  });

  test('enforces the whitelist of the cluster if the namespace has none', async () => {
    use(podTolerationRestrictionWith({ whitelist: NOT_READY }));
    await expect(pod({ tolerations: [toleration('a')] })).rejects.toMatchObject({ message: text('cluster') });
    await annotate('tolerationsWhitelist', '');
    expect(await pod({ tolerations: [toleration('a')] })).toBeDefined();
  });

  test.each([
    ['{', 'unexpected end of JSON input'],
    ['{}', 'json: cannot unmarshal object into Go value of type []v1.Toleration'],
    ['[1]', 'json: cannot unmarshal number into Go value of type v1.Toleration'],
    ['[{"key":1}]', 'json: cannot unmarshal number into Go struct field Toleration.key of type string'],
    [
      '[{"tolerationSeconds":"5"}]',
      'json: cannot unmarshal string into Go struct field Toleration.tolerationSeconds of type int64',
    ],
  ])('rejects the annotation %s', async (list, message) => {
    use(podTolerationRestrictionWith());
    await annotate('defaultTolerations', list);
    await expect(pod()).rejects.toMatchObject({ code: 500, message });
  });
});

describe('PodTopologyLabels', () => {
  const nodes = [
    { metadata: { name: 'n', labels: { 'topology.k8s.io/zone': 'z', 'topology.k8s.io/region': 'r', a: 'b' } } },
  ];
  const review = (object: FakeRequest['object'], subresource = '', isOn = true) => {
    const request = fakeRequest({ kind: Pod as unknown as FakeRequest['kind'], subresource, object: object ?? {} });
    const features: FeatureGates = { ...fakeView().features, enabled: () => isOn };
    podTopologyLabels.mutate?.(request, fakeView({ features, objects: { '/nodes': nodes } }));
    return request.object?.metadata.labels;
  };
  const topology = { 'topology.k8s.io/region': 'r', 'topology.k8s.io/zone': 'z' };

  test('copies topology labels from the node', () => {
    const metadata = { name: 'p', labels: { x: 'y', 'topology.k8s.io/zone': 'old' } };
    expect(review({ metadata, spec: { nodeName: 'n' } })).toEqual({ x: 'y', ...topology });
    expect(review({ metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }, 'binding')).toEqual(topology);
  });

  test('ignores other requests', () => {
    expect(review({ metadata: { name: 'p' }, spec: { nodeName: 'absent' } })).toBeUndefined();
    expect(review({ metadata: { name: 'p' }, spec: {} })).toBeUndefined();
    expect(review({ metadata: { name: 'p' }, target: { kind: 'Pod', name: 'n' } }, 'binding')).toBeUndefined();
    expect(review({ metadata: { name: 'p' }, spec: { nodeName: 'n' } }, '', false)).toBeUndefined();
  });

  test.each([
    [false, undefined],
    [true, { 'topology.orch.io/zone': 'z' }],
  ])('works with its gate set to %s', async (PodTopologyLabelsAdmission, labels) => {
    cluster = testCluster({ featureGates: { PodTopologyLabelsAdmission } });
    await cluster.api(Node).create({ metadata: { name: 'n', labels: { 'topology.orch.io/zone': 'z' } } });
    expect((await pod({ nodeName: 'n' })).metadata.labels).toEqual(labels);
  });
});
