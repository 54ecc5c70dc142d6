/** The effect of LimitRanges on the pods and claims of their namespace. */
import { mergePatch } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import {
  LimitRange,
  type LimitRangeInput,
  Namespace,
  PersistentVolumeClaim,
  type PersistentVolumeClaimInput,
  Pod,
  type PodInput,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { cpuTimer } from '../../fixtures/cpu-time.js';

type Limit = NonNullable<LimitRangeInput['spec']>['limits'][number];

const NOTE = 'orch.io/limit-ranger';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster();
});

const range = (name: string, ...limits: Limit[]) =>
  cluster.api(LimitRange).create({ metadata: { name }, spec: { limits } });

interface Resources {
  readonly requests?: Record<string, string>;
  readonly limits?: Record<string, string>;
}

const container = (name: string, resources: Resources = {}, more: object = {}) => ({
  name,
  image: 'i',
  resources,
  ...more,
});

function pod(spec: object, metadata: object = { name: 'p' }) {
  return cluster.api(Pod).create({ metadata, spec } as PodInput);
}

const claim = (storage: string) =>
  cluster.api(PersistentVolumeClaim).create({
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  } as PersistentVolumeClaimInput & { metadata: { name: string } });

const forbidden = (why: string, what = 'pods "p"') => ({ code: 403, message: `${what} is forbidden: ${why}` });

describe('LimitRange defaults', () => {
  const both: Limit = {
    type: 'Container',
    default: { cpu: '500m', memory: '1Gi' },
    defaultRequest: { cpu: '250m', memory: '512Mi' },
  };

  test('sets LimitRange defaults of every container without amounts, with an annotation', async () => {
    await range('l', both);
    const { spec, metadata } = await pod({
      containers: [container('c'), container('d', { limits: { memory: '2Gi' } })],
      initContainers: [container('n')],
    });
    const all = { limits: both.default, requests: both.defaultRequest };
    expect(spec.containers.map(({ resources }) => resources)).toEqual([
      all,
      { limits: { cpu: '500m', memory: '2Gi' }, requests: { cpu: '250m', memory: '2Gi' } },
    ]);
    expect(spec.initContainers?.[0]?.resources).toEqual(all);
    expect(metadata.annotations).toEqual({
      [NOTE]:
        'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c; cpu request for container d; cpu limit for container d; cpu, memory request for init container n; cpu, memory limit for init container n',
    });
  });

  test('sets LimitRange defaults in wire order', async () => {
    await range('l', { type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '1' } });
    const annotations = { a: 'b', z: 'y' };
    const { spec, metadata } = await pod(
      { containers: [container('c', { limits: { memory: '1Gi' } })] },
      { name: 'p', annotations },
    );
    expect(Object.keys(spec.containers[0]?.resources.limits ?? {})).toEqual(['cpu', 'memory']);
    expect(Object.keys(metadata.annotations ?? {})).toEqual(['a', NOTE, 'z']);
  });

  test('combines several ranges; the annotation is that of the last one that set something', async () => {
    await range('a', { type: 'Container', default: { cpu: '1' } });
    await range('b', { type: 'Container', default: { cpu: '2', memory: '1Gi' } });
    await range('c', { type: 'Container', default: { cpu: '3' } });
    const { spec, metadata } = await pod({ containers: [container('c')] });
    expect(spec.containers[0]?.resources.limits).toEqual({ cpu: '1', memory: '1Gi' });
    expect(metadata.annotations?.[NOTE]).toBe(
      'LimitRanger plugin set: memory request for container c; memory limit for container c',
    );
  });

  test('allows LimitRange defaults to make a pod invalid', async () => {
    await range('l', { type: 'Container', default: { memory: '1Gi' } });
    await expect(pod({ containers: [container('c', { requests: { memory: '2Gi' } })] })).rejects.toMatchObject({
      code: 422,
    });
  });

  test.each<[string, Limit[]]>([
    ['of type Pod', [{ type: 'Pod', max: { cpu: '1' } }]],
    ['of type PersistentVolumeClaim', [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }]],
    ['that are empty', []],
  ])('does not take LimitRange defaults from limits %s', async (_, limits) => {
    await range('l', ...limits);
    const { metadata } = await pod({ containers: [container('c', { limits: { cpu: '1' } })] });
    expect(metadata.annotations).toBeUndefined();
  });

  test('applies LimitRange defaults in their own namespace and not to templates', async () => {
    await cluster.api(Namespace).create({ metadata: { name: 'other' } });
    await cluster.api(LimitRange, 'other').create({ metadata: { name: 'l' }, spec: { limits: [both] } });
    expect((await pod({ containers: [container('c')] })).spec.containers[0]?.resources).toEqual({});
  });
});

describe('LimitRanges for containers', () => {
  const cpu = (requests?: string, limits?: string): Resources => ({
    ...(requests === undefined ? {} : { requests: { cpu: requests } }),
    ...(limits === undefined ? {} : { limits: { cpu: limits } }),
  });
  const ratio: Limit = { type: 'Container', maxLimitRequestRatio: { cpu: '2' } };
  const ratioRule = 'cpu max limit to request ratio per Container is 2, but';

  test.each<[Limit, Resources, string]>([
    [
      { type: 'Container', min: { cpu: '100m' } },
      cpu('50m'),
      'minimum cpu usage per Container is 100m, but request is 50m',
    ],
    [{ type: 'Container', max: { cpu: '1' } }, cpu('2', '2'), 'maximum cpu usage per Container is 1, but limit is 2'],
    [ratio, cpu(), `${ratioRule} no request is specified or request is 0`],
    [ratio, cpu('1'), `${ratioRule} no limit is specified or limit is 0`],
    [ratio, cpu('1', '3'), `${ratioRule} provided ratio is 3.000000`],
    // Exactly between two texts of six decimals: to the even one, once down and once up.
    [ratio, cpu('128m', '257m'), `${ratioRule} provided ratio is 2.007812`],
    [ratio, cpu('128m', '259m'), `${ratioRule} provided ratio is 2.023438`],
  ])('rejects a container that breaks %o with %o', async (limit, resources, why) => {
    await range('l', limit);
    await expect(pod({ containers: [container('c', resources)] })).rejects.toMatchObject(forbidden(why));
    const spec = { containers: [container('c', cpu('1', '1'))], initContainers: [container('n', resources)] };
    await expect(pod(spec)).rejects.toMatchObject(forbidden(why));
  });

  test('accepts a container at its bounds', async () => {
    await range('l', {
      type: 'Container',
      min: { cpu: '100m' },
      max: { cpu: '1' },
      maxLimitRequestRatio: { cpu: '10' },
    });
    expect(await pod({ containers: [container('c', cpu('100m', '1'))] })).toBeDefined();
  });

  test('checks LimitRanges for containers after validation', async () => {
    await range('l', { type: 'Container', min: { cpu: '100m' } });
    await expect(pod({ containers: [container('A', cpu('1m'))] })).rejects.toMatchObject({ code: 422 });
  });

  test('compares large amounts as integers', async () => {
    await range('l', { type: 'Container', max: { memory: '9E' } });
    const amounts = { memory: '9000000000000000001' };
    await expect(pod({ containers: [container('c', { limits: amounts, requests: amounts })] })).rejects.toMatchObject(
      forbidden('maximum memory usage per Container is 9E, but limit is 9000000000000000001'),
    );
  });
});

describe('LimitRanges for pods', () => {
  const memory = (requests: string, limits = requests) => ({
    requests: { memory: requests },
    limits: { memory: limits },
  });
  const all: Limit = {
    type: 'Pod',
    max: { memory: '1Gi' },
    min: { memory: '64Mi' },
    maxLimitRequestRatio: { memory: '2' },
  };

  test('reports all problems of one LimitRange, each once', async () => {
    await range('a', all);
    await range('b', all);
    await expect(pod({ containers: [container('c')] })).rejects.toMatchObject(
      forbidden(
        '[minimum memory usage per Pod is 64Mi.  No request is specified, maximum memory usage per Pod is 1Gi.  No limit is specified, memory max limit to request ratio per Pod is 2, but no request is specified or request is 0]',
      ),
    );
    cluster = testCluster();
    await range('l', { type: 'Container', maxLimitRequestRatio: { cpu: '2' } });
    await expect(pod({ containers: [container('c'), container('d')] })).rejects.toMatchObject(
      forbidden('cpu max limit to request ratio per Container is 2, but no request is specified or request is 0'),
    );
  });

  test('names a pod without a name by its prefix or generated name', async () => {
    await range('l', all);
    await expect(pod({ containers: [container('c')] }, { generateName: 'p-' })).rejects.toMatchObject({
      message: expect.stringMatching(/^pods "p-.*" is forbidden: \[minimum/),
    });
  });

  const sidecar = { restartPolicy: 'Always' };
  test.each<[string, object, string | undefined]>([
    [
      'has several containers',
      { containers: [container('c', memory('600Mi')), container('d', memory('600Mi'))] },
      '1200Mi',
    ],
    [
      'has a smaller init container',
      { containers: [container('c', memory('600Mi'))], initContainers: [container('n', memory('600Mi'))] },
      undefined,
    ],
    [
      'has a larger init container',
      { containers: [container('c', memory('600Mi'))], initContainers: [container('n', memory('2Gi'))] },
      '2Gi',
    ],
    [
      'has a sidecar',
      { containers: [container('c', memory('600Mi'))], initContainers: [container('n', memory('500Mi'), sidecar)] },
      '1100Mi',
    ],
    [
      'has a sidecar before another init container',
      {
        containers: [container('c', memory('100Mi'))],
        initContainers: [
          container('early', memory('900Mi')),
          container('s', memory('300Mi'), sidecar),
          container('n', memory('800Mi')),
        ],
      },
      '1100Mi',
    ],
    [
      'has several sidecars',
      {
        containers: [container('c', memory('100Mi'))],
        initContainers: [container('s', memory('300Mi'), sidecar), container('t', memory('400Mi'), sidecar)],
      },
      undefined,
    ],
  ])('computes the resources of a pod that %s', async (_, spec, limit) => {
    await range('l', { type: 'Pod', max: { memory: '1Gi' } });
    if (limit === undefined) expect(await pod(spec)).toBeDefined();
    else {
      await expect(pod(spec)).rejects.toMatchObject(
        forbidden(`maximum memory usage per Pod is 1Gi, but limit is ${limit}`),
      );
    }
  });

  test('uses pod-level resources', async () => {
    cluster = testCluster({ featureGates: { PodLevelResources: true } });
    await range('l', { type: 'Pod', max: { memory: '1Gi' } });
    const resources = { limits: { memory: '2Gi' } };
    await expect(pod({ containers: [container('c', memory('1Mi'))], resources })).rejects.toMatchObject(
      forbidden('maximum memory usage per Pod is 1Gi, but limit is 2Gi'),
    );
  });

  test.each([
    ['minimum memory usage per Pod is 64Mi, but request is 32Mi', memory('32Mi', '64Mi')],
    ['maximum memory usage per Pod is 1Gi, but limit is 2Gi', memory('1Gi', '2Gi')],
    ['memory max limit to request ratio per Pod is 2, but provided ratio is 3.000000', memory('100Mi', '300Mi')],
    [
      '[minimum memory usage per Pod is 64Mi, but request is 0, memory max limit to request ratio per Pod is 2, but no request is specified or request is 0]',
      memory('0', '200Mi'),
    ],
  ])('reports the LimitRange problem: %s', async (why, resources) => {
    await range('l', all);
    await expect(pod({ containers: [container('c', resources)] })).rejects.toMatchObject(forbidden(why));
  });

  test('does not check LimitRanges for pods on update, except for resize', async () => {
    await pod({ containers: [container('c', memory('100Mi')), container('d', memory('100Mi'))] });
    await range('l', { type: 'Pod', max: { memory: '128Mi' } });
    const pods = cluster.api(Pod);
    await pods.patch('p', mergePatch({ metadata: { labels: { a: 'b' } } }));
    await pods.subresource('status').patch('p', mergePatch({ status: { phase: 'Running' } }));
    const containers = [container('c', memory('150Mi')), container('d', memory('100Mi'))];
    const resize = () => pods.subresource('resize').patch('p', mergePatch({ spec: { containers } } as never));
    await expect(resize()).rejects.toMatchObject(
      forbidden('maximum memory usage per Pod is 128Mi, but limit is 250Mi'),
    );
    await pods.patch('p', mergePatch({ metadata: { finalizers: ['example.com/f'] } }));
    await pods.delete('p', { gracePeriodSeconds: 0 });
    expect((await resize()).spec.containers[0]?.resources).toEqual(memory('150Mi'));
  });

  test('sets defaults on resize, without an annotation', async () => {
    await pod({ containers: [container('c', { requests: { cpu: '1' } })] });
    await range('l', { type: 'Container', default: { cpu: '4' }, defaultRequest: { cpu: '1' } });
    const containers = [container('c', { requests: { cpu: '2' } })];
    const { spec, metadata } = await cluster
      .api(Pod)
      .subresource('resize')
      .patch('p', mergePatch({ spec: { containers } } as never));
    expect(spec.containers[0]?.resources).toEqual({ limits: { cpu: '4' }, requests: { cpu: '2' } });
    expect(metadata.annotations).toBeUndefined();
  });

  test('bounds the defaults and the problems of many containers beside many resources', async () => {
    const amounts = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`e.com/r${index}`, '1']));
    const containers = Array.from({ length: 500 }, (_, index) =>
      container(`c${index}`, { requests: { cpu: `${index}m` } }),
    );
    const spentMs = cpuTimer();
    await range('l', { type: 'Container', default: amounts });
    await expect(pod({ containers })).rejects.toMatchObject({
      code: 422,
      message: 'Pod "p" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    });
    await cluster.api(LimitRange).delete('l');
    await range('m', { type: 'Container', maxLimitRequestRatio: amounts });
    await expect(pod({ containers })).rejects.toMatchObject({
      code: 403,
      message: expect.stringMatching(/^.{100000,2000000}$/),
    });
    expect(spentMs()).toBeLessThan(4_000);
  });

  test('compares many containers with the bounds and defaults of many LimitRanges in bounded time', async () => {
    const containers = Array.from({ length: 2_000 }, (_, index) => {
      const cpu = `${index + 1}m`;
      return container(`c${index}`, { requests: { cpu }, limits: { cpu } });
    });
    const bounds = { min: { cpu: '0' }, max: { cpu: '100' }, maxLimitRequestRatio: { cpu: '1' } };
    for (let index = 0; index < 400; index++) {
      const more = { default: { memory: '1Gi' }, defaultRequest: { memory: '1Gi' } };
      await range(
        `l${index}`,
        { type: 'Container', ...bounds, ...(index === 399 ? more : { default: { cpu: '1' } }) },
        { type: 'Pod', max: { cpu: '10000' } },
      );
    }
    const spentMs = cpuTimer();
    const created = await pod({ containers });
    expect(spentMs()).toBeLessThan(4_000);
    expect(created.spec.containers[1]?.resources).toEqual({
      limits: { cpu: '2m', memory: '1Gi' },
      requests: { cpu: '2m', memory: '1Gi' },
    });
  });

  test('reports the first LimitRange that one of many containers violates', async () => {
    await range('a', { type: 'Container', max: { cpu: '5' }, min: { memory: '1' } });
    const bounds = { min: { cpu: '3' }, max: { cpu: '4' }, maxLimitRequestRatio: { memory: '1500m' } };
    await range('b', { type: 'Container', ...bounds });
    const containers = (...amounts: [request: string, limit: string, memory?: string][]) =>
      amounts.map(([request, limit, memory = '1'], index) =>
        container(`c${index}`, { requests: { cpu: request, memory: '1' }, limits: { cpu: limit, memory } }),
      );
    await expect(
      pod({ containers: containers(['3', '3'], ['2', '4', '2'], ['3', '3'], ['4', '5']) }),
    ).rejects.toMatchObject(
      forbidden(
        '[minimum cpu usage per Container is 3, but request is 2, memory max limit to request ratio per Container is 1500m, but provided ratio is 2.000000, maximum cpu usage per Container is 4, but limit is 5]',
      ),
    );
    // Beyond 64 bits of thousandths, whole numbers are compared.
    await range('0', { type: 'Container', max: { cpu: '9000P' } });
    await expect(pod({ containers: containers(['3', '3'], ['9E', '9001P'], ['3', '3']) })).rejects.toMatchObject(
      forbidden('maximum cpu usage per Container is 9E, but limit is 9001P'),
    );
  });

  test('ignores LimitRanges for other subresources', async () => {
    await pod({ containers: [container('c')] });
    await range('l', all);
    const response = await createFetchHandler(cluster)(
      new Request('http://localhost/api/v1/namespaces/default/pods/p/binding', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ metadata: { name: 'p' }, target: { name: 'n' } }),
      }),
    );
    expect(response.status).toBe(201);
  });
});

describe('LimitRanges for claims', () => {
  const limits: Limit = { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } };
  const claimForbidden = (why: string) => forbidden(why, 'persistentvolumeclaims "c"');

  test.each([
    ['512Mi', 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi'],
    ['20Gi', 'maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi'],
  ])('rejects a claim with %s', async (storage, why) => {
    await range('l', limits, { type: 'Container', min: { cpu: '1' } });
    await expect(claim(storage)).rejects.toMatchObject(claimForbidden(why));
  });

  test('reports resources that a claim does not request', async () => {
    await range('l', { type: 'PersistentVolumeClaim', max: { storage: '1Gi', cpu: '1' }, min: { memory: '1' } });
    await expect(claim('1Gi')).rejects.toMatchObject(
      claimForbidden(
        '[minimum memory usage per PersistentVolumeClaim is 1.  No request is specified, maximum cpu usage per PersistentVolumeClaim is 1.  No request is specified]',
      ),
    );
  });

  test('checks LimitRanges for claims on every update until deletion', async () => {
    await claim('20Gi');
    await range('l', limits);
    const claims = cluster.api(PersistentVolumeClaim);
    const change = (label: string) => claims.patch('c', mergePatch({ metadata: { labels: { a: label } } }));
    await expect(change('1')).rejects.toMatchObject(
      claimForbidden('maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi'),
    );
    await claims.subresource('status').patch('c', mergePatch({ status: { phase: 'Bound' } }));
    // Its finalizer keeps it.
    await claims.delete('c');
    expect((await change('2')).metadata.labels).toEqual({ a: '2' });
  });
});
