/** Deletion of CustomResourceDefinitions, and their effect on forks, snapshots and watches. */
import type { Cluster } from 'orchplane';
import { mergePatch } from 'orchplane';
import { Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, latch, Reader } from '../server/watch-reader.js';
import {
  api,
  conditionsOf,
  define,
  definition,
  definitions,
  GROUP,
  http,
  kindOf,
  object,
  redefine,
  version,
  WIDGETS,
  widget,
} from './widgets.js';

const held = (name: string) => widget(name, {}, { metadata: { name, finalizers: ['example.com/hold'] } });

async function letGo(cluster: Cluster, name: string, namespace = 'default'): Promise<void> {
  await api(cluster, 'v1', 'widgets', namespace).patch(name, mergePatch({ metadata: { finalizers: null } }) as never);
}

describe('deletion of a CRD', () => {
  test('deletes the objects of a CRD in all namespaces', async () => {
    const cluster = testCluster({ dialect: 'kubernetes' });
    await cluster.api(Namespace).create({ metadata: { name: 'other' } });
    const widgets = await define(cluster);
    await widgets.create(widget('a'));
    await api(cluster, 'v1', 'widgets', 'other').create(widget('b'));
    const deleted = await definitions(cluster).delete(WIDGETS);
    expect(deleted).toMatchObject({
      kind: 'CustomResourceDefinition',
      metadata: {
        deletionTimestamp: '2030-01-01T00:00:00Z',
        finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
      },
    });
    expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
    await define(cluster);
    expect((await cluster.all(kindOf(cluster) as never).list()).items).toEqual([]);
  });

  test('deletes cluster-scoped objects', async () => {
    const cluster = testCluster();
    await define(cluster, { scope: 'Cluster' });
    await api(cluster).create(widget('a'));
    await api(cluster).create(held('b'));
    await definitions(cluster).delete(WIDGETS);
    expect((await api(cluster).list()).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
    await letGo(cluster, 'b');
    expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
    expect(kindOf(cluster)).toBeUndefined();
  });

  test('waits for objects with finalizers and reports the deletion in a condition', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await widgets.create(held('a'));
    await widgets.create(widget('b'));
    await cluster.clock.advance(1_000);
    const reader = new Reader(definitions(cluster).watch({ resourceVersion: cluster.resourceVersion }));
    await definitions(cluster).delete(WIDGETS);
    expect(await conditionsOf(cluster)).toMatchObject({ Terminating: 'True InstanceDeletionInProgress' });
    const { status } = await definitions(cluster).get(WIDGETS);
    expect(status.conditions?.at(-1)).toMatchObject({
      lastTransitionTime: '2030-01-01T00:00:01Z',
      message: 'CustomResource deletion is in progress',
    });
    expect((await widgets.list()).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    // The second delete sets the grace period to zero; further deletes change nothing.
    await definitions(cluster).delete(WIDGETS);
    expect((await definitions(cluster).get(WIDGETS)).metadata.deletionGracePeriodSeconds).toBe(0);
    const { resourceVersion } = cluster;
    await definitions(cluster).delete(WIDGETS);
    expect(cluster.resourceVersion).toBe(resourceVersion);
    await letGo(cluster, 'a');
    expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
    expect(await reader.readAll()).toEqual([
      `MODIFIED ${WIDGETS}`,
      `MODIFIED ${WIDGETS}`,
      `MODIFIED ${WIDGETS}`,
      `DELETED ${WIDGETS}`,
    ]);
  });

  test('deletes a CRD at once that was never established', async () => {
    const cluster = testCluster();
    await define(cluster);
    await definitions(cluster).create(definition({ names: { plural: 'gadgets', kind: 'Widget' } }));
    const reader = new Reader(definitions(cluster).watch({ resourceVersion: cluster.resourceVersion }));
    await definitions(cluster).delete('gadgets.example.com');
    expect(await definitions(cluster).find('gadgets.example.com')).toBeUndefined();
    const [, last] = [await reader.read(), await reader.read()];
    expect(last).toMatchObject({
      type: 'DELETED',
      object: { metadata: { name: 'gadgets.example.com' } },
    });
    expect(kindOf(cluster)?.kind).toBe('Widget');
  });

  test('keeps a CRD with its own finalizers after its objects are deleted', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster, { metadata: { finalizers: ['example.com/mine'] } });
    await widgets.create(widget('a'));
    await definitions(cluster).delete(WIDGETS);
    const { metadata } = await definitions(cluster).get(WIDGETS);
    expect(metadata.finalizers).toEqual(['example.com/mine']);
    expect(await conditionsOf(cluster)).toMatchObject({ Terminating: 'False InstanceDeletionCompleted' });
    expect((await api(cluster).list()).items).toEqual([]);
    // The cleanup of its objects is complete, so creates are accepted again.
    expect((await api(cluster).create(widget('b'))).metadata.name).toBe('b');
    await definitions(cluster).patch(WIDGETS, mergePatch({ metadata: { finalizers: null } }) as never);
    expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
    expect(kindOf(cluster)).toBeUndefined();
    // The object that was created meanwhile stays in storage until a CRD serves its kind again.
    await define(cluster);
    expect((await api(cluster).list()).items.map(({ metadata: { name } }) => name)).toEqual(['b']);
  });

  test('deletes many CRDs at once', async () => {
    const cluster = testCluster();
    for (const plural of ['as', 'bs', 'cs']) {
      const kind = plural.toUpperCase();
      await define(cluster, {
        names: { plural, kind },
        metadata: { labels: { tidy: plural === 'cs' ? 'no' : 'yes' } },
      });
      await api(cluster, 'v1', plural).create(widget('a'));
    }
    await definitions(cluster).deleteCollection({ labels: { tidy: 'yes' } });
    expect((await definitions(cluster).list()).items.map(({ metadata }) => metadata.name)).toEqual(['cs.example.com']);
    expect((await api(cluster, 'v1', 'cs').list()).items.length).toBe(1);
  });

  test('deletes no CRD after a failed precondition or in a dry run', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await widgets.create(widget('a'));
    const failure = await failureOf(definitions(cluster).delete(WIDGETS, { preconditions: { uid: 'other' } }));
    expect(failure).toMatchObject({ code: 409 });
    await definitions(cluster).delete(WIDGETS, { dryRun: true });
    expect((await widgets.get('a')).metadata.deletionTimestamp).toBeUndefined();
  });

  test('rejects an object whose admission is still running', async () => {
    const { opened, open } = latch();
    const plugin = {
      name: 'Thinking',
      validate: async ({ object }: { object?: { kind: string } }) => {
        if (object?.kind === 'Widget') await opened;
      },
    };
    const cluster = testCluster({ admission: [plugin as never] });
    const failure = failureOf((await define(cluster)).create(widget('a')));
    await definitions(cluster).delete(WIDGETS);
    open();
    expect(await failure).toMatchObject({ reason: 'NotFound' });
    await define(cluster);
    expect((await api(cluster).list()).items).toEqual([]);
  });

  test('allows a new CRD of the same name with another scope and schema', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await widgets.create(widget('a', { size: 1 }));
    const first = await definitions(cluster).get(WIDGETS);
    await definitions(cluster).delete(WIDGETS);
    const spec = object({ size: { type: 'string' } });
    await define(cluster, { scope: 'Cluster', versions: [version({ spec })] });
    const second = await definitions(cluster).get(WIDGETS);
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(second.metadata.generation).toBe(1);
    await api(cluster).create(widget('a', { size: 'big', more: 1 }));
    expect(await api(cluster).get('a')).toMatchObject({ spec: { size: 'big' } });
    // The old kind has paths of another scope.
    const send = http(cluster);
    expect(await send(`GET /apis/${GROUP}/v1/namespaces/default/widgets/a`)).toMatchObject({ code: 404 });
    expect(await send(`GET /apis/${GROUP}/v1/widgets/a`)).toMatchObject({ code: 200 });
  });
});

describe('a watch of a custom resource', () => {
  test('delivers all events including the deletion of the CRD and then ends', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await widgets.create(held('a'));
    const reader = new Reader(widgets.watch({ resourceVersion: cluster.resourceVersion }));
    await widgets.create(widget('b', { size: 1 }));
    await definitions(cluster).delete(WIDGETS);
    expect(await reader.readAll()).toEqual(['ADDED b', 'MODIFIED a', 'DELETED b']);
    await letGo(cluster, 'a');
    expect(await reader.readAll()).toEqual(['DELETED a', 'end']);
  });

  test('delivers all events up to its end and none after it when it is read late', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    const reader = new Reader(widgets.watch({ resourceVersion: cluster.resourceVersion }));
    for (const name of ['a', 'b', 'c']) await widgets.create(widget(name));
    await definitions(cluster).delete(WIDGETS);
    await (await define(cluster)).create(widget('d'));
    expect(await reader.readAll()).toEqual([
      'ADDED a',
      'ADDED b',
      'ADDED c',
      'DELETED a',
      'DELETED b',
      'DELETED c',
      'end',
    ]);
  });

  test('ends a watch when the CRD changes', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster, { versions: [version({ spec: object({ size: { type: 'integer' } }) })] });
    const reader = new Reader(widgets.watch({ resourceVersion: cluster.resourceVersion }));
    await definitions(cluster).patch(WIDGETS, mergePatch({ metadata: { labels: { a: 'b' } } }) as never);
    await widgets.create(widget('a', { size: 1 }));
    expect(await reader.readAll()).toEqual(['ADDED a']);
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: object({ size: { type: 'integer' }, colour: { type: 'string' } }) })];
    });
    expect(await reader.readAll()).toEqual(['end']);
  });

  test('continues a watch when another CRD changes', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await define(cluster, { names: { plural: 'gadgets', kind: 'Gadget' } });
    const reader = new Reader(widgets.watch({ resourceVersion: cluster.resourceVersion }));
    await definitions(cluster).delete('gadgets.example.com');
    await widgets.create(widget('a'));
    expect(await reader.readAll()).toEqual(['ADDED a']);
  });
});

describe('an informer of a custom resource', () => {
  test('follows objects through changes of the CRD', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster, { versions: [version({ spec: object({ size: { type: 'integer' } }) })] });
    await using informer = widgets.informer();
    await informer.synced;
    await widgets.create(widget('a', { size: 1, colour: 'red' }));
    await cluster.clock.advance(0);
    expect(informer.get('a')).toMatchObject({ spec: { size: 1 } });
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: object({ size: { type: 'integer' }, colour: { type: 'string' } }) })];
    });
    await api(cluster).create(widget('b', { size: 2, colour: 'blue' }));
    await cluster.clock.advance(2_000);
    expect(informer.get('b')).toMatchObject({ spec: { size: 2, colour: 'blue' } });
  });
});

describe('forks and snapshots', () => {
  test('serves in a fork the kinds of the parent but not those that the parent defines later', async () => {
    const cluster = testCluster();
    await (await define(cluster)).create(widget('a'));
    const fork = cluster.fork();
    await define(cluster, { names: { plural: 'gadgets', kind: 'Gadget' } });
    expect(kindOf(fork, 'v1', 'gadgets')).toBeUndefined();
    expect((await api(fork).get('a')).metadata.name).toBe('a');
    await definitions(fork).delete(WIDGETS);
    expect(kindOf(fork)).toBeUndefined();
    expect((await api(cluster).get('a')).metadata.name).toBe('a');
    await define(fork, { names: { plural: 'gadgets', kind: 'Gizmo' } });
    expect(kindOf(cluster, 'v1', 'gadgets')?.kind).toBe('Gadget');
  });

  test('stops serving a kind and ends its watches when a snapshot from before its CRD is restored', async () => {
    const cluster = testCluster();
    const before = cluster.snapshot();
    const widgets = await define(cluster);
    await widgets.create(widget('a'));
    const after = cluster.snapshot();
    const reader = new Reader(widgets.watch({ resourceVersion: cluster.resourceVersion }));
    cluster.restore(before);
    expect(kindOf(cluster)).toBeUndefined();
    expect(await failureOf(reader.read())).toMatchObject({ reason: 'Expired' });
    expect(await http(cluster)(`GET /apis/${GROUP}`)).toMatchObject({ code: 404 });
    cluster.restore(after);
    expect((await api(cluster).get('a')).metadata.name).toBe('a');
    expect(await conditionsOf(cluster)).toMatchObject({ Established: 'True InitialNamesAccepted' });
  });

  test('completes the deletion of a terminating CRD again after a restore', async () => {
    const cluster = testCluster();
    await (await define(cluster)).create(held('a'));
    await definitions(cluster).delete(WIDGETS);
    const waiting = cluster.snapshot();
    await letGo(cluster, 'a');
    expect(kindOf(cluster)).toBeUndefined();
    cluster.restore(waiting);
    expect(await failureOf(api(cluster).create(widget('b')))).toMatchObject({ code: 405 });
    await letGo(cluster, 'a');
    expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
  });

  test('serves objects by an older schema after a restore', async () => {
    const cluster = testCluster();
    const narrow = object({ size: { type: 'integer' } });
    const wide = object({ size: { type: 'integer' }, colour: { type: 'string', default: 'red' } });
    await (await define(cluster, { versions: [version({ spec: narrow })] })).create(widget('a', { size: 1 }));
    const before = cluster.snapshot();
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: wide })];
    });
    expect(await api(cluster).get('a')).toMatchObject({ spec: { size: 1, colour: 'red' } });
    cluster.restore(before);
    expect((await api(cluster).get('a')) as unknown).toMatchObject({ spec: { size: 1 } });
    expect(((await api(cluster).get('a')) as unknown as { spec: object }).spec).toEqual({ size: 1 });
  });

  test('does not share CRDs between two clusters in one process', async () => {
    const [one, two] = [testCluster(), testCluster()];
    await define(one);
    expect(kindOf(two)).toBeUndefined();
    await define(two, { scope: 'Cluster' });
    expect([kindOf(one)?.scope, kindOf(two)?.scope]).toEqual(['Namespaced', 'Cluster']);
    await definitions(one).delete(WIDGETS);
    await api(two).create(widget('a'));
    expect((await api(two).list()).items.length).toBe(1);
  });
});
