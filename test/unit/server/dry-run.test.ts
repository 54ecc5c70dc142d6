/** Dry runs: every verb responds as usual, and nothing is stored. */
import type { Cluster } from 'orchplane';
import { defineKind, jsonPatch, mergePatch, status } from 'orchplane';
import { ConfigMap, Lease, Namespace } from 'orchplane/kinds';
import { type TestClusterOptions, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { api, define, object, version, widget } from '../crd/widgets.js';
import { failureOf, Reader } from './watch-reader.js';

const HOLD = 'example.com/hold';
const dryRun = { dryRun: true };

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: { spec: z.object({ size: z.number() }), status: z.object({ ready: z.boolean() }).optional() },
  subresources: { status },
});

/**
 * A cluster with an object of each type that a write can meet: plain, with finalizers, being deleted; a namespace; a
 * user-defined kind.
 */
async function populatedCluster(options?: TestClusterOptions): Promise<Cluster> {
  const cluster = testCluster(options);
  cluster.install(Widget);
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'plain', labels: { app: 'web' } }, data: { k: 'v' } });
  await configMaps.create({ metadata: { name: 'held', labels: { app: 'web' }, finalizers: [HOLD] } });
  await configMaps.create({ metadata: { name: 'marked', finalizers: [HOLD] } });
  await configMaps.delete('marked');
  await cluster.api(Namespace).create({ metadata: { name: 'dev' } });
  await cluster.api(Widget).create({ metadata: { name: 'w' }, spec: { size: 1 } });
  return cluster;
}

const writes: Record<string, (cluster: Cluster) => Promise<unknown>> = {
  create: (c) => c.api(ConfigMap).create({ metadata: { name: 'new' } }, dryRun),
  'create under a generated name': (c) => c.api(ConfigMap).create({ metadata: { generateName: 'new-' } }, dryRun),
  update: (c) => c.api(ConfigMap).update({ metadata: { name: 'plain' }, data: { k: 'new' } }, dryRun),
  'update that creates': (c) => c.api(Lease).update({ metadata: { name: 'new' } }, dryRun),
  'merge patch': (c) => c.api(ConfigMap).patch('plain', mergePatch({ data: { k: 'new' } }), dryRun),
  'JSON patch': (c) =>
    c.api(ConfigMap).patch('plain', jsonPatch([{ op: 'add', path: '/data/new', value: 'v' }]), dryRun),
  edit: (c) =>
    c.api(ConfigMap).edit(
      'plain',
      (draft) => {
        draft.data = { k: 'new' };
      },
      dryRun,
    ),
  'status update': (c) =>
    c.api(Widget).status.edit(
      'w',
      (widget) => {
        widget.status = { ready: true };
      },
      dryRun,
    ),
  delete: (c) => c.api(ConfigMap).delete('plain', dryRun),
  'delete of an object with finalizers': (c) => c.api(ConfigMap).delete('held', dryRun),
  'delete in the foreground': (c) => c.api(ConfigMap).delete('plain', { ...dryRun, propagation: 'Foreground' }),
  'removal of the last finalizer': (c) =>
    c.api(ConfigMap).patch('marked', mergePatch({ metadata: { finalizers: null } }), dryRun),
  'delete of a namespace': (c) => c.api(Namespace).delete('dev', dryRun),
  'finalize of a namespace': (c) =>
    c
      .api(Namespace)
      .subresource('finalize')
      .update('dev', { metadata: { name: 'dev' }, spec: {} }, dryRun),
  'delete of a collection': (c) => c.api(ConfigMap).deleteCollection({ labels: { app: 'web' }, ...dryRun }),
};

describe.each(Object.entries(writes))('a dry-run %s', (_name, write) => {
  test('responds to a dry run', async () => {
    await expect(write(await populatedCluster())).resolves.toBeDefined();
  });

  test('stores nothing and sends no watch events in a dry run', async () => {
    const cluster = await populatedCluster();
    const contents = async () => [
      cluster.resourceVersion,
      (await cluster.all(ConfigMap).list()).items,
      (await cluster.all(Lease).list()).items,
      (await cluster.all(Widget).list()).items,
      (await cluster.api(Namespace).list()).items,
    ];
    const { resourceVersion } = cluster;
    const readers = [ConfigMap, Lease, Widget, Namespace].map(
      (kind) => new Reader(cluster.all(kind).watch({ resourceVersion })),
    );
    const before = await contents();
    await write(cluster);
    expect(await contents()).toEqual(before);
    for (const reader of readers) expect(await reader.read()).toBe('waiting');
  });
});

describe('the response to a dry run', () => {
  test('returns an object without a resourceVersion for a dry-run create', async () => {
    const cluster = testCluster();
    const answer = await cluster.api(ConfigMap).create({ metadata: { name: 'new' }, data: { k: 'v' } }, dryRun);
    expect(answer).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'new',
        namespace: 'default',
        uid: '00000000-0000-4000-8000-000000000005',
        creationTimestamp: '2030-01-01T00:00:00Z',
        managedFields: [
          {
            manager: 'orchplane',
            operation: 'Update',
            apiVersion: 'v1',
            time: '2030-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { '.': {}, 'f:k': {} } },
          },
        ],
      },
      data: { k: 'v' },
    });
  });

  test('returns the stored resourceVersion for a dry-run update', async () => {
    const cluster = await populatedCluster();
    const stored = await cluster.api(ConfigMap).get('plain');
    const answer = await cluster.api(ConfigMap).patch('plain', mergePatch({ data: { k: 'new' } }), dryRun);
    expect(answer.data).toEqual({ k: 'new' });
    expect(answer.metadata.resourceVersion).toBe(stored.metadata.resourceVersion);
  });

  test('returns an object with a deletionTimestamp for a dry-run delete of an object with finalizers', async () => {
    const cluster = await populatedCluster({ dialect: 'kubernetes' });
    expect(await cluster.api(ConfigMap).delete('held', dryRun)).toMatchObject({
      metadata: { name: 'held', deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: [HOLD] },
    });
  });

  test('returns a Status for a dry-run delete that would remove the object', async () => {
    const cluster = await populatedCluster();
    expect(await cluster.api(ConfigMap).delete('plain', dryRun)).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  test.each([
    [
      'name that exists',
      'AlreadyExists',
      (c: Cluster) => c.api(ConfigMap).create({ metadata: { name: 'plain' } }, dryRun),
    ],
    [
      'name that is invalid',
      'Invalid',
      (c: Cluster) => c.api(ConfigMap).create({ metadata: { name: 'Not A Name' } }, dryRun),
    ],
    [
      'resourceVersion that is stale',
      'Conflict',
      (c: Cluster) => c.api(ConfigMap).update({ metadata: { name: 'plain', resourceVersion: '1' } }, dryRun),
    ],
    [
      'precondition that fails',
      'Conflict',
      (c: Cluster) => c.api(ConfigMap).delete('plain', { ...dryRun, preconditions: { uid: 'other' } }),
    ],
    ['object that does not exist', 'NotFound', (c: Cluster) => c.api(ConfigMap).delete('nope', dryRun)],
    [
      'namespace that does not exist',
      'NotFound',
      (c: Cluster) => c.api(ConfigMap, 'nope').create({ metadata: { name: 'a' } }, dryRun),
    ],
  ])('returns the error of the real write for a dry run with a %s', async (_what, reason, write) => {
    expect(await failureOf(write(await populatedCluster()))).toMatchObject({ reason });
  });
});

describe('the result of a dry run', () => {
  test('is converted to the storage version and back', async () => {
    const cluster = testCluster();
    const text = { type: 'string' };
    const phase = { type: 'object', default: { phase: 'new' }, properties: { phase: text } };
    await define(cluster, {
      versions: [
        version({ whole: object({ spec: object({ a: { ...text, default: 'x' } }), status: phase }) }),
        version({
          name: 'v2',
          storage: false,
          whole: object({ spec: object({ a: text, onlyV2: text }), status: object({ phase: text }) }),
        }),
      ],
    });
    const made = await api(cluster, 'v2').create(widget('a', { onlyV2: 'b' }), dryRun);
    expect(made).toMatchObject({ apiVersion: 'example.com/v2', spec: { a: 'x' }, status: { phase: 'new' } });
    expect(made['spec']).toEqual({ a: 'x' });
    const applied = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'a' }, spec: { onlyV2: 'b' } };
    const result = await api(cluster, 'v2').apply(applied as never, { fieldManager: 'm', ...dryRun });
    expect(result['spec']).toEqual({ a: 'x' });
  });

  test('has the resourceVersion that was sent with a create', async () => {
    const configMaps = testCluster().api(ConfigMap);
    const sent = { metadata: { name: 'a', resourceVersion: '77' } };
    expect((await configMaps.create(sent, dryRun)).metadata.resourceVersion).toBe('77');
    expect((await configMaps.apply(sent, { fieldManager: 'm', ...dryRun })).metadata.resourceVersion).toBe('77');
    await expect(configMaps.create(sent)).rejects.toThrow('resourceVersion should not be set');
    expect((await configMaps.apply(sent, { fieldManager: 'm' })).metadata.resourceVersion).not.toBe('77');
  });
});
