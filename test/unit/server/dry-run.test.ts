/** Rehearsals: every verb answers as if, and nothing has happened. */
import type { Cluster } from 'orchplane';
import { defineKind, jsonPatch, mergePatch, status } from 'orchplane';
import { ConfigMap, Lease, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { failureOf, Reader } from './reading.js';

const HOLD = 'example.com/hold';
const rehearse = { dryRun: true };

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: { spec: z.object({ size: z.number() }), status: z.object({ ready: z.boolean() }).optional() },
  subresources: { status },
});

/** An object of every sort that a write may meet: plain, held, held and marked; a namespace; a kind of one's own. */
async function furnished(): Promise<Cluster> {
  const cluster = testCluster();
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
  create: (c) => c.api(ConfigMap).create({ metadata: { name: 'new' } }, rehearse),
  'create under a generated name': (c) => c.api(ConfigMap).create({ metadata: { generateName: 'new-' } }, rehearse),
  update: (c) => c.api(ConfigMap).update({ metadata: { name: 'plain' }, data: { k: 'new' } }, rehearse),
  'update that creates': (c) => c.api(Lease).update({ metadata: { name: 'new' } }, rehearse),
  'merge patch': (c) => c.api(ConfigMap).patch('plain', mergePatch({ data: { k: 'new' } }), rehearse),
  'JSON patch': (c) =>
    c.api(ConfigMap).patch('plain', jsonPatch([{ op: 'add', path: '/data/new', value: 'v' }]), rehearse),
  edit: (c) =>
    c.api(ConfigMap).edit(
      'plain',
      (draft) => {
        draft.data = { k: 'new' };
      },
      rehearse,
    ),
  'status update': (c) =>
    c.api(Widget).status.edit(
      'w',
      (widget) => {
        widget.status = { ready: true };
      },
      rehearse,
    ),
  delete: (c) => c.api(ConfigMap).delete('plain', rehearse),
  'delete of an object with finalizers': (c) => c.api(ConfigMap).delete('held', rehearse),
  'delete in the foreground': (c) => c.api(ConfigMap).delete('plain', { ...rehearse, propagation: 'Foreground' }),
  'removal of the last finalizer': (c) =>
    c.api(ConfigMap).patch('marked', mergePatch({ metadata: { finalizers: null } }), rehearse),
  'delete of a namespace': (c) => c.api(Namespace).delete('dev', rehearse),
  'finalize of a namespace': (c) =>
    c
      .api(Namespace)
      .subresource('finalize')
      .update('dev', { metadata: { name: 'dev' }, spec: {} }, rehearse),
  'delete of a collection': (c) => c.api(ConfigMap).deleteCollection({ labels: { app: 'web' }, ...rehearse }),
};

describe.each(Object.entries(writes))('a rehearsed %s', (_name, write) => {
  test('is answered', async () => {
    await expect(write(await furnished())).resolves.toBeDefined();
  });

  test('changes nothing and tells nobody', async () => {
    const cluster = await furnished();
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

describe('the answer to a rehearsal', () => {
  test('of a create is the object as it would be, without a version', async () => {
    const cluster = testCluster();
    const answer = await cluster.api(ConfigMap).create({ metadata: { name: 'new' }, data: { k: 'v' } }, rehearse);
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

  test('of an update carries the version that is stored', async () => {
    const cluster = await furnished();
    const stored = await cluster.api(ConfigMap).get('plain');
    const answer = await cluster.api(ConfigMap).patch('plain', mergePatch({ data: { k: 'new' } }), rehearse);
    expect(answer.data).toEqual({ k: 'new' });
    expect(answer.metadata.resourceVersion).toBe(stored.metadata.resourceVersion);
  });

  test('of a delete that would wait is the object as it would be marked', async () => {
    const cluster = await furnished();
    expect(await cluster.api(ConfigMap).delete('held', rehearse)).toMatchObject({
      metadata: { name: 'held', deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: [HOLD] },
    });
  });

  test('of a delete that would remove is a Status', async () => {
    const cluster = await furnished();
    expect(await cluster.api(ConfigMap).delete('plain', rehearse)).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  test.each([
    [
      'name that is taken',
      'AlreadyExists',
      (c: Cluster) => c.api(ConfigMap).create({ metadata: { name: 'plain' } }, rehearse),
    ],
    [
      'name that cannot be',
      'Invalid',
      (c: Cluster) => c.api(ConfigMap).create({ metadata: { name: 'Not A Name' } }, rehearse),
    ],
    [
      'version that is not the live one',
      'Conflict',
      (c: Cluster) => c.api(ConfigMap).update({ metadata: { name: 'plain', resourceVersion: '1' } }, rehearse),
    ],
    [
      'precondition that does not hold',
      'Conflict',
      (c: Cluster) => c.api(ConfigMap).delete('plain', { ...rehearse, preconditions: { uid: 'other' } }),
    ],
    ['object that is not there', 'NotFound', (c: Cluster) => c.api(ConfigMap).delete('nope', rehearse)],
    [
      'namespace that is not there',
      'NotFound',
      (c: Cluster) => c.api(ConfigMap, 'nope').create({ metadata: { name: 'a' } }, rehearse),
    ],
  ])('with a %s is the refusal that the write would get', async (_what, reason, write) => {
    expect(await failureOf(write(await furnished()))).toMatchObject({ reason });
  });
});
