/** What the ResourceQuota plugin admits and charges. */
import {
  type AdmissionPlugin,
  type ApiObject,
  createCluster,
  defaultAdmission,
  errors,
  jsonPatch,
  mergePatch,
  strategicPatch,
} from 'orchplane';
import {
  ConfigMap,
  LocalSubjectAccessReview,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  PriorityClass,
  ResourceQuota,
  Secret,
  Service,
  StorageClass,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { forbidden, makeQuota, usedOf } from './create-quota.js';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster();
});

const MAPS = 'count/configmaps';
const map = (name: string) => cluster.api(ConfigMap).create({ metadata: { name } });

describe('a quota', () => {
  test('rejects a request above its limit, also in a dry run', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '1' });
    await map('a');
    const why = `exceeded quota: q, requested: ${MAPS}=1, used: ${MAPS}=1, limited: ${MAPS}=1`;
    await expect(map('b')).rejects.toMatchObject(forbidden('configmaps "b"', why));
    const dryRun = cluster.api(ConfigMap).create({ metadata: { name: 'c' } }, { dryRun: true });
    await expect(dryRun).rejects.toMatchObject(forbidden('configmaps "c"', why));
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '1' });
  });

  test('does not charge a quota for an object that is not stored', async () => {
    const late: AdmissionPlugin = {
      name: 'late',
      validate({ name, served }) {
        if (name === 'refused') throw errors.forbidden(served.groupResource, name, 'late');
      },
    };
    cluster = testCluster({ admission: [...defaultAdmission, late] });
    await makeQuota(cluster, 'q', { [MAPS]: '5' });
    await cluster.api(ConfigMap).create({ metadata: { name: 'dry' } }, { dryRun: true });
    await expect(map('Not A Name')).rejects.toMatchObject({ code: 422 });
    await expect(map('refused')).rejects.toMatchObject({ code: 403 });
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '0' });
  });

  test('charges a quota for a create that fails because the name exists', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '3' });
    await map('a');
    await expect(map('a')).rejects.toMatchObject({ code: 409, reason: 'AlreadyExists' });
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '2' });
  });

  test('charges a quota once for a generated name', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '3' });
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '1' });
  });

  test('enforces nothing without a status', async () => {
    await cluster.api(ResourceQuota).create({ metadata: { name: 'q' }, spec: { hard: { [MAPS]: '0' } } });
    await expect(map('a')).resolves.toBeDefined();
    expect(await usedOf(cluster, 'q')).toBeUndefined();
  });

  test('enforces nothing for a restored object that has no status field at all', async () => {
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: {
        name: 'q',
        namespace: 'default',
        uid: 'q',
        resourceVersion: '1',
        creationTimestamp: '2030-01-01T00:00:00Z',
      },
      spec: { hard: { [MAPS]: '0' } },
    } as unknown as ApiObject;
    const restored = createCluster({ dialect: 'kubernetes', from: { resourceVersion: '1', objects: [quota] } });
    await expect(restored.api(ConfigMap).create({ metadata: { name: 'a' } })).resolves.toBeDefined();
    await restored.close();
  });

  test('enforces the limits in its status, not in its spec', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '1' });
    await cluster.api(ResourceQuota).patch('q', mergePatch({ spec: { hard: { [MAPS]: '9' } } }));
    await map('a');
    await expect(map('b')).rejects.toMatchObject({ code: 403 });
  });

  test('rejects every request while its usage is unknown', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '5', configmaps: '5', secrets: '1' }, { used: { [MAPS]: '0' } });
    const why = 'status unknown for quota: q, resources: configmaps,count/configmaps';
    await expect(map('a')).rejects.toMatchObject(forbidden('configmaps "a"', why));
  });

  test('does not credit a quota when an object is deleted', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '1' });
    await map('a');
    await cluster.api(ConfigMap).delete('a');
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '1' });
  });

  test('applies to its own namespace only', async () => {
    await cluster.api(Namespace).create({ metadata: { name: 'other' } });
    await makeQuota(cluster, 'q', { [MAPS]: '0' }, { namespace: 'other' });
    await expect(map('a')).resolves.toBeDefined();
    await expect(cluster.api(ConfigMap, 'other').create({ metadata: { name: 'a' } })).rejects.toMatchObject({
      code: 403,
    });
  });

  test('has its charged status fields owned by the server', async () => {
    const owner = cluster.with({ fieldManager: 'owner' }) as TestCluster;
    await makeQuota(owner, 'q', { [MAPS]: '5', secrets: '5' });
    await cluster.clock.advance(1000);
    await map('a');
    const { metadata } = await cluster.api(ResourceQuota).get('q');
    expect(metadata.managedFields?.filter(({ subresource }) => subresource === 'status')).toEqual([
      {
        manager: 'owner',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2030-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:status': {
            'f:hard': { '.': {}, [`f:${MAPS}`]: {}, 'f:secrets': {} },
            'f:used': { '.': {}, 'f:secrets': {} },
          },
        },
        subresource: 'status',
      },
      {
        manager: 'kube-apiserver',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2030-01-01T00:00:01Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:used': { [`f:${MAPS}`]: {} } } },
        subresource: 'status',
      },
    ]);
  });

  test('gets no managedFields when it is charged if it has none', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '5' });
    const patch = jsonPatch([{ op: 'replace', path: '/metadata/managedFields', value: [{}] }]);
    await cluster.api(ResourceQuota).patch('q', patch);
    await map('a');
    const { metadata, status } = await cluster.api(ResourceQuota).get('q');
    expect(metadata.managedFields).toBeUndefined();
    expect(status.used).toEqual({ [MAPS]: '1' });
  });
});

describe('several quotas', () => {
  test('charges all of several quotas', async () => {
    await makeQuota(cluster, 'a', { [MAPS]: '5' });
    await makeQuota(cluster, 'b', { configmaps: '5', secrets: '5' });
    await map('a');
    expect(await usedOf(cluster, 'a')).toEqual({ [MAPS]: '1' });
    expect(await usedOf(cluster, 'b')).toEqual({ configmaps: '1', secrets: '0' });
  });

  test('charges no quota if one of several rejects the request', async () => {
    await makeQuota(cluster, 'a', { [MAPS]: '5' });
    await makeQuota(cluster, 'b', { configmaps: '0' });
    await expect(map('a')).rejects.toMatchObject({ code: 403 });
    expect(await usedOf(cluster, 'a')).toEqual({ [MAPS]: '0' });
  });
});

describe('object counts', () => {
  test('counts an object that apply creates once', async () => {
    await makeQuota(cluster, 'q', { [MAPS]: '5' });
    await cluster.api(ConfigMap).apply({ metadata: { name: 'applied' }, data: { a: 'b' } }, { fieldManager: 'x' });
    await cluster.api(ConfigMap).apply({ metadata: { name: 'applied' }, data: { a: 'c' } }, { fieldManager: 'x' });
    await cluster.api(ConfigMap).patch('applied', mergePatch({ data: { b: 'd' } }));
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '1' });
  });

  test('uses the plural name and group of each kind as resource name, including custom resources', async () => {
    await cluster.applyYaml(`
apiVersion: apiextensions.orch.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, singular: widget, kind: Widget }
  versions:
  - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
`);
    await makeQuota(cluster, 'q', { 'count/widgets.example.com': '1', 'count/leases.coordination.orch.io': '0' });
    const widgets = cluster.api(cluster.kind('example.com/v1', 'Widget'), 'default');
    await widgets.create({ metadata: { name: 'a' } });
    await expect(widgets.create({ metadata: { name: 'b' } })).rejects.toMatchObject({ code: 403 });
    const leases = cluster.api(cluster.kind('coordination.orch.io/v1', 'Lease'), 'default');
    await expect(leases.create({ metadata: { name: 'a' } })).rejects.toMatchObject({ code: 403 });
    expect((await usedOf(cluster, 'q'))?.['count/widgets.example.com']).toBe('1');
  });

  test('counts the quotas themselves', async () => {
    await makeQuota(cluster, 'q', { resourcequotas: '1', 'count/resourcequotas': '5' });
    await cluster.api(ResourceQuota).create({ metadata: { name: 'r' } });
    await expect(cluster.api(ResourceQuota).create({ metadata: { name: 's' } })).rejects.toMatchObject({ code: 403 });
    expect(await usedOf(cluster, 'q')).toEqual({ 'count/resourcequotas': '1', resourcequotas: '1' });
  });

  test('does not count events and reviews', async () => {
    await makeQuota(cluster, 'q', {
      'count/events': '0',
      'count/events.events.orch.io': '0',
      'count/localsubjectaccessreviews.authorization.orch.io': '0',
    });
    const events = cluster.api(cluster.kind('v1', 'Event'), 'default');
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
    await expect(events.create({ metadata: { name: 'e' }, involvedObject })).resolves.toBeDefined();
    const spec = { user: 'alice', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } };
    await expect(cluster.api(LocalSubjectAccessReview).create({ spec } as never)).resolves.toBeDefined();
  });
});

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
const pod = (name: string, resources: Resources, more: object = {}) =>
  cluster.api(Pod).create({ metadata: { name }, spec: { containers: [container('c', resources)], ...more } } as never);

describe('quotas for pods', () => {
  test('requires every container to specify the limited resources', async () => {
    await makeQuota(cluster, 'q', { 'requests.cpu': '1', 'limits.memory': '1Gi', 'requests.ephemeral-storage': '1' });
    const spec = {
      containers: [container('c', { requests: { cpu: '1' } }), container('b')],
      initContainers: [container('a', { limits: { memory: '1' } })],
    };
    const why = 'failed quota: q: must specify limits.memory for: b,c; requests.cpu for: a,b';
    await expect(cluster.api(Pod).create({ metadata: { name: 'p' }, spec })).rejects.toMatchObject(
      forbidden('pods "p"', why),
    );
  });

  test('counts the sum over containers in the format of the first amount', async () => {
    await makeQuota(cluster, 'q', { pods: '5', 'requests.cpu': '2', 'limits.memory': '2Gi', 'requests.x.io/gpu': '4' });
    const resources = { requests: { cpu: '300m' }, limits: { memory: '256Mi', 'x.io/gpu': '1' } };
    await pod('a', resources, { initContainers: [container('s', resources, { restartPolicy: 'Always' })] });
    expect(await usedOf(cluster, 'q')).toEqual({
      'limits.memory': '512Mi',
      pods: '1',
      'requests.cpu': '600m',
      'requests.x.io/gpu': '2',
    });
    const tooMuch = pod('b', { requests: { cpu: '1500m' }, limits: { memory: '1600Mi' } });
    const used = 'used: limits.memory=512Mi,requests.cpu=600m, limited: limits.memory=2Gi,requests.cpu=2';
    const why = `exceeded quota: q, requested: limits.memory=1600Mi,requests.cpu=1500m, ${used}`;
    await expect(tooMuch).rejects.toMatchObject(forbidden('pods "b"', why));
  });

  test('charges the difference of a resize and never credits it', async () => {
    await makeQuota(cluster, 'q', { 'requests.cpu': '1' });
    await pod('a', { requests: { cpu: '200m' } });
    const resize = (cpu: string) => {
      const containers = [{ name: 'c', resources: { requests: { cpu } } }];
      return cluster
        .api(Pod)
        .subresource('resize')
        .patch('a', strategicPatch({ spec: { containers } } as never));
    };
    await resize('700m');
    expect(await usedOf(cluster, 'q')).toEqual({ 'requests.cpu': '700m' });
    const why = 'exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=700m, limited: requests.cpu=1';
    await expect(resize('1200m')).rejects.toMatchObject(forbidden('pods "a"', why));
    await resize('100m');
    expect(await usedOf(cluster, 'q')).toEqual({ 'requests.cpu': '700m' });
  });

  test('counts a pod in the scope that it enters by getting a deadline', async () => {
    await makeQuota(cluster, 'ends', { pods: '1' }, { spec: { scopes: ['Terminating'] } });
    await makeQuota(cluster, 'stays', { pods: '5' }, { spec: { scopes: ['NotTerminating'] } });
    await pod('a', {});
    await pod('b', {});
    expect(await usedOf(cluster, 'stays')).toEqual({ pods: '2' });
    await cluster.api(Pod).patch('a', mergePatch({ spec: { activeDeadlineSeconds: 5 } }));
    expect(await usedOf(cluster, 'ends')).toEqual({ pods: '1' });
    const second = cluster.api(Pod).patch('b', mergePatch({ spec: { activeDeadlineSeconds: 5 } }));
    const why = 'exceeded quota: ends, requested: pods=1, used: pods=1, limited: pods=1';
    await expect(second).rejects.toMatchObject(forbidden('pods "b"', why));
    await cluster.api(Pod).patch('a', mergePatch({ metadata: { labels: { a: 'b' } } }));
    expect(await usedOf(cluster, 'stays')).toEqual({ pods: '2' });
  });

  test('counts a pod in the scope of its priority class', async () => {
    await cluster.api(PriorityClass).create({ metadata: { name: 'high' }, value: 5 });
    const scopeSelector = {
      matchExpressions: [{ scopeName: 'PriorityClass' as const, operator: 'In' as const, values: ['high'] }],
    };
    await makeQuota(cluster, 'q', { pods: '0' }, { spec: { scopeSelector } });
    await expect(pod('low', {})).resolves.toBeDefined();
    await expect(pod('high', {}, { priorityClassName: 'high' })).rejects.toMatchObject({ code: 403 });
  });

  test('evaluates the long values of scope selectors once, however often usage changes', async () => {
    const values = Array.from({ length: 100_000 }, (_, index) => `v${index}`);
    for (const [index, operator] of (['NotIn', 'NotIn', 'NotIn', 'In'] as const).entries()) {
      const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass' as const, operator, values }] };
      await makeQuota(cluster, `q${index}`, { pods: '50' }, { spec: { scopeSelector } });
    }
    await pod('first', {});
    const spentMs = cpuTimer();
    for (let index = 0; index < 20; index++) await pod(`p${index}`, {});
    expect(spentMs()).toBeLessThan(2_000);
    expect(await usedOf(cluster, 'q0')).toEqual({ pods: '21' });
    expect(await usedOf(cluster, 'q3')).toEqual({ pods: '0' });
  });

  test('rejects a pod with an error if the scope selector is invalid', async () => {
    const scopeSelector = {
      matchExpressions: [{ scopeName: 'PriorityClass' as const, operator: 'NotIn' as const, values: ['a b'] }],
    };
    await makeQuota(cluster, 'q', { pods: '5' }, { spec: { scopeSelector } });
    await expect(pod('p', {})).rejects.toMatchObject({
      code: 500,
      message: expect.stringMatching(
        /^error matching scopes of quota q, err: error on matching scope \{PriorityClass NotIn \[a b\]\}: failed to parse and convert selector: values\[0\]\[PriorityClass\]: Invalid value: "a b": a valid label must be/,
      ),
    });
    await expect(cluster.api(Secret).create({ metadata: { name: 's' } })).resolves.toBeDefined();
  });
});

describe('quotas for services', () => {
  const ports = [
    { name: 'a', port: 1 },
    { name: 'b', port: 2 },
  ];
  test('charges a quota for the new type of a service', async () => {
    await makeQuota(cluster, 'q', { services: '5', 'services.nodeports': '3', 'services.loadbalancers': '1' });
    const services = cluster.api(Service);
    await services.create({ metadata: { name: 's' }, spec: { ports } });
    const zero = { services: '1', 'services.loadbalancers': '0', 'services.nodeports': '0' };
    expect(await usedOf(cluster, 'q')).toEqual(zero);
    await services.patch('s', mergePatch({ spec: { type: 'LoadBalancer' } }));
    const more = { services: '1', 'services.loadbalancers': '1', 'services.nodeports': '2' };
    expect(await usedOf(cluster, 'q')).toEqual(more);
    const second = services.create({ metadata: { name: 't' }, spec: { type: 'NodePort', ports } });
    const why = `exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2, limited: services.nodeports=3`;
    await expect(second).rejects.toMatchObject(forbidden('services "t"', why));
    await services.patch('s', mergePatch({ spec: { type: 'ClusterIP' } }));
    expect(await usedOf(cluster, 'q')).toEqual(more);
  });
});

describe('quotas for claims', () => {
  const GOLD = 'gold.storageclass.storage.orch.io/requests.storage';
  const claim = (name: string, storage: string, storageClassName: string) =>
    cluster.api(PersistentVolumeClaim).create({
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, storageClassName },
    });

  test('counts storage in total and by class, and its expansion', async () => {
    const gold = { metadata: { name: 'gold' }, provisioner: 'x.io/y', allowVolumeExpansion: true };
    await cluster.api(StorageClass).create(gold);
    await makeQuota(cluster, 'q', { 'requests.storage': '10Gi', [GOLD]: '4Gi', persistentvolumeclaims: '5' });
    await claim('a', '1Gi', 'gold');
    await claim('b', '5Gi', '');
    expect(await usedOf(cluster, 'q')).toEqual({
      [GOLD]: '1Gi',
      persistentvolumeclaims: '2',
      'requests.storage': '6Gi',
    });
    const claims = cluster.api(PersistentVolumeClaim);
    await claims.status.patch('a', mergePatch({ status: { phase: 'Bound' } }));
    const grow = (storage: string) => claims.patch('a', mergePatch({ spec: { resources: { requests: { storage } } } }));
    await grow('3Gi');
    expect((await usedOf(cluster, 'q'))?.[GOLD]).toBe('3Gi');
    const why = `exceeded quota: q, requested: ${GOLD}=2Gi, used: ${GOLD}=3Gi, limited: ${GOLD}=4Gi`;
    await expect(grow('5Gi')).rejects.toMatchObject(forbidden('persistentvolumeclaims "a"', why));
  });

  test('counts allocated storage without rejecting the status update', async () => {
    await makeQuota(cluster, 'q', { 'requests.storage': '2Gi' });
    await claim('a', '1Gi', '');
    const allocatedResources = { storage: '5Gi' };
    await cluster.api(PersistentVolumeClaim).status.patch('a', mergePatch({ status: { allocatedResources } }));
    expect(await usedOf(cluster, 'q')).toEqual({ 'requests.storage': '5Gi' });
  });
});
