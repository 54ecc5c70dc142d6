/**
 * Deleting objects: preconditions, finalizers, propagation, and the responses of the reference server. Those of the
 * specification are in test/specification.
 */
import type { RequestOptions } from 'orchplane';
import { defineKind, mergePatch, valueBody } from 'orchplane';
import { ConfigMap, HorizontalPodAutoscaler, HorizontalPodAutoscalerV1, Pod } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { failureOf, Reader } from './watch-reader.js';

const HOLD = 'example.com/hold';

async function clusterWith(metadata: {
  name: string;
  finalizers?: string[];
  generation?: number;
}): Promise<TestCluster> {
  const cluster = testCluster({ dialect: 'kubernetes' });
  await cluster.api(ConfigMap).create({ metadata });
  return cluster;
}

describe('preconditions of a delete', () => {
  test('compares the uid precondition of a delete', async () => {
    const configMaps = (await clusterWith({ name: 'a' })).api(ConfigMap);
    const { uid } = (await configMaps.get('a')).metadata;
    expect(await failureOf(configMaps.delete('a', { preconditions: { uid: 'other' } }))).toMatchObject({
      status: {
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
        details: { name: 'a', kind: 'ConfigMap' },
      },
    });
    expect(await configMaps.delete('a', { preconditions: { uid } })).toMatchObject({ status: 'Success' });
  });

  test('compares the resourceVersion precondition of a delete', async () => {
    const configMaps = (await clusterWith({ name: 'a' })).api(ConfigMap);
    expect(await failureOf(configMaps.delete('a', { preconditions: { resourceVersion: '4' } }))).toMatchObject({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (4) does not match the ResourceVersion in record (5). The object might have been modified',
    });
    await configMaps.delete('a', { preconditions: { resourceVersion: '5' } });
    expect(await configMaps.find('a')).toBeUndefined();
  });

  test('checks the preconditions of a delete of an object with finalizers', async () => {
    const configMaps = (await clusterWith({ name: 'a', finalizers: [HOLD] })).api(ConfigMap);
    await failureOf(configMaps.delete('a', { preconditions: { uid: 'other' } }));
    expect((await configMaps.get('a')).metadata).not.toHaveProperty('deletionTimestamp');
  });

  test('responds with NotFound to a delete of a missing object before it checks preconditions', async () => {
    expect(await failureOf(testCluster().api(ConfigMap).delete('a'))).toMatchObject({
      code: 404,
      status: { details: { name: 'a', kind: 'configmaps' } },
    });
  });
});

describe('the response to a delete', () => {
  test('returns a Status with the uid of the deleted object', async () => {
    const configMaps = (await clusterWith({ name: 'a' })).api(ConfigMap);
    const { uid } = (await configMaps.get('a')).metadata;
    expect(await configMaps.delete('a')).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid },
    });
  });

  test('returns a frozen Status for a delete', async () => {
    const configMaps = (await clusterWith({ name: 'a' })).api(ConfigMap);
    const status = (await configMaps.delete('a')) as { details?: object };
    expect([Object.isFrozen(status), Object.isFrozen(status.details)]).toEqual([true, true]);
  });

  test('returns the object for a delete while it has finalizers', async () => {
    const configMaps = (await clusterWith({ name: 'a', finalizers: [HOLD] })).api(ConfigMap);
    expect(await configMaps.delete('a')).toBe(await configMaps.get('a'));
  });

  test.each([
    ['is 202 for a pending deletion with orphanDependents false', { orphanDependents: false }, 202],
    ['is 200 for a pending deletion', {}, 200],
  ])('the response to a delete %s', async (_what, options: RequestOptions, code) => {
    const cluster = await clusterWith({ name: 'a', finalizers: [HOLD] });
    const resource = { group: '', version: 'v1', resource: 'configmaps' };
    const request = { verb: 'delete', resource, namespace: 'default', name: 'a', options } as const;
    expect(await cluster.send(request)).toMatchObject({ code });
  });
});

describe('an object with finalizers', () => {
  test('sets the deletionTimestamp of an object with finalizers and keeps it', async () => {
    const cluster = await clusterWith({ name: 'a', finalizers: [HOLD] });
    await cluster.clock.advance(10_000);
    await cluster.api(ConfigMap).delete('a');
    expect((await cluster.api(ConfigMap).get('a')).metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:10Z',
      deletionGracePeriodSeconds: 0,
      finalizers: [HOLD],
      resourceVersion: '6',
    });
  });

  test('does not change an object that is already being deleted', async () => {
    const cluster = await clusterWith({ name: 'a', finalizers: [HOLD] });
    const marked = await cluster.api(ConfigMap).delete('a');
    await cluster.clock.advance(10_000);
    expect(await cluster.api(ConfigMap).delete('a')).toBe(marked);
    expect(cluster.resourceVersion).toBe('6');
  });

  test('removes an object with its last finalizer; the response has the new state, the event the stored state', async () => {
    const cluster = await clusterWith({ name: 'a', finalizers: [HOLD] });
    const configMaps = cluster.api(ConfigMap);
    await configMaps.delete('a');
    const reader = new Reader(configMaps.watch({ resourceVersion: cluster.resourceVersion }));
    const answer = await configMaps.patch('a', mergePatch({ metadata: { finalizers: null }, data: { k: 'last' } }));
    expect(answer.data).toEqual({ k: 'last' });
    expect(answer.metadata.resourceVersion).toBe('6');
    const gone = await reader.read();
    expect(gone).toMatchObject({ type: 'DELETED', object: { metadata: { finalizers: [HOLD], resourceVersion: '7' } } });
    expect(gone).not.toHaveProperty('object.data');
    expect(await configMaps.find('a')).toBeUndefined();
  });

  test('rejects new finalizers of an object that is being deleted', async () => {
    const configMaps = (await clusterWith({ name: 'a', finalizers: [HOLD] })).api(ConfigMap);
    await configMaps.delete('a');
    const finalizers = [HOLD, 'example.com/second', 'example.com/another'];
    expect(await failureOf(configMaps.patch('a', mergePatch({ metadata: { finalizers } })))).toMatchObject({
      reason: 'Invalid',
      message:
        'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/another", "example.com/second"}',
    });
  });

  test('keeps the deletionTimestamp when an update removes it', async () => {
    const configMaps = (await clusterWith({ name: 'a', finalizers: [HOLD] })).api(ConfigMap);
    await configMaps.delete('a');
    const stored = await configMaps.patch('a', mergePatch({ metadata: { deletionTimestamp: null } }));
    expect(stored.metadata.deletionTimestamp).toBe('2030-01-01T00:00:00Z');
  });

  test('rejects an update that sets a deletionTimestamp', async () => {
    const configMaps = (await clusterWith({ name: 'a', finalizers: [HOLD] })).api(ConfigMap);
    const patch = mergePatch({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } });
    expect(await failureOf(configMaps.patch('a', patch as never))).toMatchObject({
      reason: 'Invalid',
      message: expect.stringContaining('metadata.deletionTimestamp: Invalid value: '),
    });
  });

  test('increments the generation of an object with finalizers once when it is deleted', async () => {
    const Widget = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      scope: 'Namespaced',
      body: { spec: z.object({}).optional() },
    });
    const cluster = testCluster({ dialect: 'kubernetes' });
    cluster.install(Widget);
    await cluster.api(Widget).create({ metadata: { name: 'w', finalizers: [HOLD] } });
    expect(await cluster.api(Widget).delete('w')).toMatchObject({ metadata: { generation: 2 } });
    expect(await cluster.api(Widget).delete('w')).toMatchObject({ metadata: { generation: 2 } });
  });

  test('deletes an object with finalizers at any generation', async () => {
    const cluster = testCluster({ dialect: 'kubernetes' });
    // The JSON parser returns a bigint for an integer that a number cannot represent.
    const generation = 9_223_372_036_854_775_806n as unknown as number;
    await cluster.api(ConfigMap).create({ metadata: { name: 'a', generation, finalizers: [HOLD] } });
    expect(await cluster.api(ConfigMap).delete('a')).toMatchObject({
      metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' },
    });
  });
});

describe('the propagation policy', () => {
  test.each([
    ['Foreground', ['foregroundDeletion']],
    ['Orphan', ['orphan']],
  ] as const)(
    'leaves the object to the garbage collector with the propagation policy %s',
    async (propagation, finalizers) => {
      const configMaps = (await clusterWith({ name: 'a' })).api(ConfigMap);
      expect(await configMaps.delete('a', { propagation })).toMatchObject({ metadata: { finalizers } });
    },
  );

  test('adds the finalizer of a propagation policy after existing ones', async () => {
    const configMaps = (await clusterWith({ name: 'a', finalizers: [HOLD] })).api(ConfigMap);
    const marked = await configMaps.delete('a', { propagation: 'Foreground' });
    expect(marked).toMatchObject({ metadata: { finalizers: [HOLD, 'foregroundDeletion'] } });
  });

  test('keeps the propagation policy of a delete until a later delete sets another', async () => {
    const configMaps = (await clusterWith({ name: 'a' })).api(ConfigMap);
    await configMaps.delete('a', { propagation: 'Orphan' });
    expect(await configMaps.delete('a')).toMatchObject({ metadata: { finalizers: ['orphan'] } });
    expect(await configMaps.delete('a', { propagation: 'Foreground' })).toMatchObject({
      metadata: { finalizers: ['foregroundDeletion'] },
    });
    expect(await configMaps.delete('a', { propagation: 'Background' })).toMatchObject({ status: 'Success' });
  });

  test('rejects an unknown propagation policy', async () => {
    const configMaps = (await clusterWith({ name: 'a' })).api(ConfigMap);
    expect(await failureOf(configMaps.delete('a', { propagation: 'Sideways' as never }))).toMatchObject({
      reason: 'Invalid',
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    });
  });
});

describe('DeleteOptions in the body', () => {
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  const request = { verb: 'delete', resource, namespace: 'default', name: 'a' } as const;

  test('replaces all options of the URL with the DeleteOptions in the body', async () => {
    const cluster = await clusterWith({ name: 'a' });
    await cluster.send({ ...request, options: { dryRun: ['All'] }, body: valueBody({}) });
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
  });

  test('accepts a dry run in the DeleteOptions of the body', async () => {
    const cluster = await clusterWith({ name: 'a' });
    await cluster.send({ ...request, options: {}, body: valueBody({ dryRun: ['All'] }) });
    expect(await cluster.api(ConfigMap).find('a')).toBeDefined();
  });

  test('responds with a plain 500 to DeleteOptions that cannot be decoded', async () => {
    const cluster = await clusterWith({ name: 'a' });
    const send = async () => cluster.send({ ...request, options: {}, body: valueBody({ gracePeriodSeconds: 'soon' }) });
    expect(await failureOf(send())).toMatchObject({
      code: 500,
      reason: undefined,
      message: 'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    });
  });
});

describe('deleting a collection', () => {
  test('returns the list before a deletecollection, and keeps objects that do not match', async () => {
    const configMaps = testCluster({ dialect: 'kubernetes' }).api(ConfigMap);
    for (const [name, app] of [
      ['a', 'web'],
      ['b', 'db'],
      ['c', 'web'],
    ] as const) {
      await configMaps.create({ metadata: { name, labels: { app } } });
    }
    const answer = await configMaps.deleteCollection({ labels: { app: 'web' } });
    expect(answer).toMatchObject({
      kind: 'ConfigMapList',
      items: [{ metadata: { name: 'a' } }, { metadata: { name: 'c' } }],
    });
    expect((await configMaps.list()).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  test('deletes no more objects of a collection than its limit', async () => {
    const configMaps = testCluster().api(ConfigMap);
    for (const name of ['a', 'b', 'c']) await configMaps.create({ metadata: { name } });
    await configMaps.deleteCollection({ limit: 2 });
    expect((await configMaps.list()).items.map(({ metadata }) => metadata.name)).toEqual(['c']);
  });

  test('sets the deletionTimestamp of objects with finalizers in a deletecollection', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a', finalizers: [HOLD] } });
    await configMaps.create({ metadata: { name: 'b' } });
    await configMaps.deleteCollection();
    const { items } = await configMaps.list();
    expect(items).toMatchObject([{ metadata: { name: 'a', deletionTimestamp: '2030-01-01T00:00:00Z' } }]);
  });

  test('does not affect other namespaces in a deletecollection', async () => {
    const cluster = testCluster();
    for (const namespace of ['default', 'kube-system']) {
      await cluster.api(ConfigMap, namespace).create({ metadata: { name: 'a' } });
    }
    await cluster.api(ConfigMap).deleteCollection();
    expect((await cluster.all(ConfigMap).list()).items).toMatchObject([{ metadata: { namespace: 'kube-system' } }]);
  });

  test('rejects a deletecollection across namespaces', async () => {
    const resource = { group: '', version: 'v1', resource: 'configmaps' };
    const send = async () => testCluster().send({ verb: 'deletecollection', resource, options: {} });
    expect(await failureOf(send())).toMatchObject({ code: 405 });
  });
});

describe('setting the deletionTimestamp', () => {
  const pod = { metadata: { name: 'p', finalizers: [HOLD] }, spec: { containers: [{ name: 'c', image: 'web' }] } };

  test('leaves the rest of the object unchanged when it sets the deletionTimestamp', async () => {
    const pods = testCluster().api(Pod);
    await pods.create(pod);
    const live = await pods.get('p');
    await pods.delete('p', { gracePeriodSeconds: 0 });
    const marked = await pods.get('p');
    const { deletionTimestamp, deletionGracePeriodSeconds, generation, resourceVersion, ...rest } = marked.metadata;
    expect({ deletionTimestamp, deletionGracePeriodSeconds }).toEqual({
      deletionTimestamp: live.metadata.creationTimestamp,
      deletionGracePeriodSeconds: 0,
    });
    expect(generation).toBe((live.metadata.generation ?? 0) + 1);
    expect(rest).toEqual({ ...live.metadata, generation: undefined, resourceVersion: undefined });
    expect(Number(resourceVersion)).toBe(Number(live.metadata.resourceVersion) + 1);
    expect(marked.spec).toBe(live.spec);
    expect(Object.isFrozen(marked.metadata) && Object.isFrozen(marked)).toBe(true);
  });

  test('stores no deletionTimestamp in a dry run', async () => {
    const cluster = testCluster();
    const pods = cluster.api(Pod);
    const live = await pods.create(pod);
    const before = cluster.resourceVersion;
    const answered = await pods.delete('p', { gracePeriodSeconds: 0, dryRun: true });
    expect(answered).toMatchObject({ metadata: { deletionGracePeriodSeconds: 0 } });
    expect(cluster.resourceVersion).toBe(before);
    expect(await pods.get('p')).toEqual(live);
  });

  test('sets the deletionTimestamp of an object that is served in another version than its storage version', async () => {
    const cluster = testCluster();
    const old = cluster.api(HorizontalPodAutoscalerV1);
    const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
    const metadata = { name: 'h', finalizers: [HOLD] };
    await old.create({ metadata, spec: { maxReplicas: 3, scaleTargetRef, targetCPUUtilizationPercentage: 70 } });
    const before = await cluster.api(HorizontalPodAutoscaler).get('h');
    await old.delete('h');
    const after = await cluster.api(HorizontalPodAutoscaler).get('h');
    expect(after.metadata.deletionTimestamp).toBe(before.metadata.creationTimestamp);
    expect(after.spec).toEqual(before.spec);
    expect((await old.get('h')).spec.targetCPUUtilizationPercentage).toBe(70);
  });

  test('changes only nodeName when a pod is bound', async () => {
    const pods = testCluster().api(Pod);
    const live = await pods.create(pod);
    await pods.subresource('binding').create('p', { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } });
    const bound = await pods.get('p');
    expect(bound.spec).toEqual({ ...live.spec, nodeName: 'n' });
    expect(bound.spec.containers).toBe(live.spec.containers);
    // Fields are in wire order.
    expect(Object.keys(bound.spec).slice(3, 6)).toEqual(['dnsPolicy', 'nodeName', 'securityContext']);
  });
});
