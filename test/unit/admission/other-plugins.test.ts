/** Plugins about namespaces, services, storage and events. */
import { createCluster, mergePatch } from 'orchplane';
import {
  alwaysAdmit,
  alwaysDeny,
  defaultAdmission,
  denyServiceExternalIPs,
  eventRateLimit,
  namespaceAutoProvision,
  namespaceExists,
} from 'orchplane/admission';
import {
  ConfigMap,
  CoreEvent,
  Namespace,
  PersistentVolumeClaim,
  Service,
  StorageClass,
  VolumeAttributesClass,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { persistentVolumeClaimResize } from '../../../src/admission/plugins/volume-claims.js';
import { type FakeRequest, fakeRequest, fakeView, finished } from './fake-cluster.js';

test('admits everything with AlwaysAdmit and nothing with AlwaysDeny', async () => {
  const body = { metadata: { name: 'a' } };
  expect(
    await testCluster({ admission: [alwaysAdmit] })
      .api(ConfigMap)
      .create(body),
  ).toBeDefined();
  const denying = testCluster({ admission: [alwaysDeny] });
  const message = 'configmaps "a" is forbidden: admission control is denying all modifications';
  await expect(denying.api(ConfigMap).create(body)).rejects.toMatchObject({ code: 403, message });
});

describe('namespace plugins', () => {
  test('rejects a missing namespace with NamespaceExists', async () => {
    const cluster = testCluster({ admission: [namespaceExists] });
    await expect(cluster.api(ConfigMap, 'none').create({ metadata: { name: 'a' } })).rejects.toMatchObject({
      code: 404,
      message: 'namespaces "none" not found',
    });
    expect(await cluster.api(Namespace).create({ metadata: { name: 'none' } })).toBeDefined();
    expect(await cluster.api(ConfigMap, 'none').create({ metadata: { name: 'a' } })).toBeDefined();
  });

  test('creates a missing namespace with NamespaceAutoProvision', async () => {
    const cluster = testCluster({ admission: [namespaceAutoProvision, ...defaultAdmission] });
    const trial = cluster
      .with({ dryRun: true })
      .api(ConfigMap, 'new')
      .create({ metadata: { name: 'a' } });
    await expect(trial).rejects.toMatchObject({ code: 404 });
    await cluster.api(ConfigMap, 'new').create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap, 'new').create({ metadata: { name: 'b' } });
    const made = await cluster.api(Namespace).get('new');
    expect(made).toMatchObject({
      metadata: { name: 'new', labels: { 'orch.io/metadata.name': 'new' }, uid: expect.any(String) },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    await cluster.api(Namespace).delete('new');
  });
});

test('rejects new external IPs with DenyServiceExternalIPs', async () => {
  const cluster = testCluster();
  const service = (externalIPs: string[]) => ({
    metadata: { name: 's' },
    spec: { ports: [{ port: 80 }], externalIPs },
  });
  await cluster.api(Service).create(service(['1.2.3.4', '1.2.3.5']));
  const { metadata, spec } = await cluster.api(Service).get('s');
  const change = (externalIPs: string[]) => {
    const request = fakeRequest({
      kind: Service as unknown as FakeRequest['kind'],
      operation: 'UPDATE',
      object: { metadata, spec: { ...spec, externalIPs } },
      oldObject: { metadata, spec },
    });
    return () => denyServiceExternalIPs.validate?.(finished(request), fakeView());
  };
  expect(change(['1.2.3.5'])).not.toThrow();
  const text = 'services "s" is forbidden: Use of external IPs is denied by admission control';
  expect(change(['1.2.3.5', '1.2.3.6'])).toThrow(text);
  const denying = testCluster({ admission: [denyServiceExternalIPs] });
  await expect(denying.api(Service).create(service(['1.2.3.4']))).rejects.toMatchObject({ code: 403, message: text });
  expect(await denying.api(Service).create(service([]))).toBeDefined();
});

describe('storage plugins', () => {
  const claim = {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
  };

  test.each(['storageclass', 'storageclass.beta'])('accepts a default class marked by %s', async (domain) => {
    const cluster = testCluster();
    const annotations = { [`${domain}.orch.io/is-default-class`]: 'true' };
    await cluster.api(StorageClass).create({ metadata: { name: 'fast', annotations }, provisioner: 'p' });
    expect((await cluster.api(PersistentVolumeClaim).create(claim)).spec.storageClassName).toBe('fast');
  });

  test('adds a finalizer to VolumeAttributesClasses', async () => {
    const cluster = createCluster({
      runtimeConfig: 'storage.orch.io/v1beta1=true',
      featureGates: { VolumeAttributesClass: true },
    });
    const made = await cluster
      .api(VolumeAttributesClass)
      .create({ metadata: { name: 'v' }, driverName: 'd', parameters: { a: 'b' } });
    expect(made.metadata.finalizers).toEqual(['orch.io/vac-protection']);
  });

  test('does not expand a claim that changes its class', () => {
    const sized = (storage: string, storageClassName: string, annotations = {}) => ({
      metadata: { name: 'c', annotations },
      spec: { storageClassName, resources: { requests: { storage } } },
      status: { phase: 'Bound' },
    });
    const objects = {
      'storage.orch.io/storageclasses': [
        { metadata: { name: 'a' }, allowVolumeExpansion: true },
        { metadata: { name: 'b' } },
      ],
    };
    const grow = (object: FakeRequest['object'], oldObject: FakeRequest['object']) => {
      const kind = PersistentVolumeClaim as unknown as FakeRequest['kind'];
      const request = fakeRequest({ kind, operation: 'UPDATE', object: object ?? {}, oldObject: oldObject ?? {} });
      return () => persistentVolumeClaimResize.validate?.(finished(request), fakeView({ objects }));
    };
    const text = 'only dynamically provisioned pvc can be resized';
    expect(grow(sized('2Gi', 'a'), sized('1Gi', 'a'))).not.toThrow();
    expect(grow(sized('2Gi', 'a'), sized('1Gi', 'b'))).toThrow(text);
    expect(grow(sized('2Gi', 'b'), sized('1Gi', 'b'))).toThrow(text);
    const old = { 'volume.beta.kubernetes.io/storage-class': 'a' };
    expect(grow(sized('2Gi', 'b', old), sized('1Gi', 'b', old))).not.toThrow();
    expect(grow({ ...sized('2Gi', 'a') }, { ...sized('1Gi', 'a'), status: { phase: 'Pending' } })).toThrow(
      'Only bound persistent volume claims can be expanded',
    );
  });
});

describe('EventRateLimit', () => {
  const event = (name: string, kind = 'Pod') => ({
    metadata: { name },
    involvedObject: { kind, name: 'x', namespace: 'default' },
    source: { component: 'me' },
  });

  test('allows a burst, and more as time passes', async () => {
    const plugin = eventRateLimit({ limits: [{ type: 'Namespace', qps: 2, burst: 2 }] });
    const cluster = testCluster({ admission: [plugin] });
    const send = (name: string) => cluster.api(CoreEvent).create(event(name));
    await send('a');
    await send('b');
    await expect(send('c')).rejects.toMatchObject({
      code: 429,
      message: 'Too many requests: limit reached on type Namespace for key default',
    });
    await expect(cluster.with({ dryRun: true }).api(CoreEvent).create(event('c'))).resolves.toBeDefined();
    await cluster.clock.advance(500);
    await send('c');
    await expect(send('d')).rejects.toMatchObject({ code: 429 });
    await cluster.clock.advance(60_000);
    await send('d');
    await send('e');
    await expect(send('f')).rejects.toMatchObject({ code: 429 });
    const other = testCluster({ admission: [plugin] });
    expect(await other.api(CoreEvent).create(event('a'))).toBeDefined();
  });

  test('counts by server, user and object, and reports all limits', async () => {
    const limits = [
      { type: 'SourceAndObject', qps: 1, burst: 1 },
      { type: 'Server', qps: 1, burst: 2 },
      { type: 'User', qps: 1, burst: 9 },
    ] as const;
    const cluster = testCluster({ admission: [eventRateLimit({ limits })] });
    const send = (name: string, kind?: string) => cluster.api(CoreEvent).create(event(name, kind));
    await send('a');
    await send('b', 'Job');
    await expect(send('c')).rejects.toThrow(
      'Too many requests: [limit reached on type SourceAndObject for key mePoddefaultx, limit reached on type Server for key ]',
    );
    await expect(send('d', 'Node')).rejects.toThrow('Too many requests: limit reached on type Server for key ');
  });

  test('evicts the oldest buckets', async () => {
    const limits = [{ type: 'SourceAndObject', qps: 1, burst: 1, cacheSize: 1 }] as const;
    const cluster = testCluster({ admission: [eventRateLimit({ limits })] });
    const send = (name: string, kind: string) => cluster.api(CoreEvent).create(event(name, kind));
    await send('a', 'Pod');
    await send('b', 'Job');
    expect(await send('c', 'Pod')).toBeDefined();
    await expect(send('d', 'Pod')).rejects.toMatchObject({ code: 429 });
  });

  test.each<[object, string]>([
    [{ limits: [] }, 'needs limits'],
    [{ limit: [] }, 'has no option "limit"'],
    [{ limits: [{ type: 'Pod', qps: 1, burst: 1 }] }, 'type is "Pod"'],
    [{ limits: [{ type: 'User', qps: 0, burst: 1 }] }, 'qps must be positive'],
    [{ limits: [{ type: 'User', qps: 1, burst: 0 }] }, 'burst must be positive'],
    [{ limits: [{ type: 'User', qps: 1, burst: 1, cacheSize: -1 }] }, 'cacheSize must not be negative'],
  ])('rejects the options %j', (options, message) => {
    expect(() => eventRateLimit(options as never)).toThrow(message);
  });
});

test('does not limit writes of other kinds', async () => {
  const cluster = testCluster({ admission: [eventRateLimit({ limits: [{ type: 'Server', qps: 1, burst: 1 }] })] });
  for (const name of ['a', 'b', 'c']) await cluster.api(ConfigMap).create({ metadata: { name } });
  expect(await cluster.api(ConfigMap).patch('a', mergePatch({ data: { a: 'b' } }))).toBeDefined();
});
