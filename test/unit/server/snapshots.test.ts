/** Snapshots and forks of a cluster. */
import { defineKind, memoryStorage, mergePatch } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { failureOf, Reader, turns } from './watch-reader.js';

describe('a restored snapshot', () => {
  test('restores objects and resourceVersion of a snapshot', async () => {
    const cluster = testCluster();
    const configMaps = cluster.api(ConfigMap);
    const before = await configMaps.create({ metadata: { name: 'a' }, data: { k: 'before' } });
    const snapshot = cluster.snapshot();
    await configMaps.patch('a', mergePatch({ data: { k: 'after' } }));
    await configMaps.create({ metadata: { name: 'b' } });
    cluster.restore(snapshot);
    expect(cluster.resourceVersion).toBe(snapshot.resourceVersion);
    expect((await configMaps.list()).items).toEqual([before]);
  });

  test('ends open watches with Expired on restore, whether they wait or not', async () => {
    const cluster = testCluster();
    const snapshot = cluster.snapshot();
    const waiting = new Reader(cluster.api(ConfigMap).watch({ resourceVersion: '4' }));
    await waiting.read();
    const idle = new Reader(cluster.all(ConfigMap).watch({ resourceVersion: '4' }));
    cluster.restore(snapshot);
    expect(await failureOf(waiting.read())).toMatchObject({ reason: 'Expired' });
    expect(await failureOf(idle.read())).toMatchObject({ reason: 'Expired' });
  });

  test('lets new watches start at once after a restore', async () => {
    const cluster = testCluster();
    const snapshot = cluster.snapshot();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    cluster.restore(snapshot);
    const reader = new Reader(cluster.api(ConfigMap).watch({ resourceVersion: cluster.resourceVersion }));
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    expect(await reader.readAll()).toEqual(['ADDED b']);
  });

  test('rejects a restore of a value that is not a snapshot', () => {
    const cluster = testCluster();
    expect(() => cluster.restore({ resourceVersion: '4' })).toThrow(
      new TypeError('orchplane: restore takes what snapshot() returned'),
    );
  });

  test('restores a snapshot of a fork', async () => {
    const cluster = testCluster();
    const fork = cluster.fork();
    await fork.api(ConfigMap).create({ metadata: { name: 'from-fork' } });
    cluster.restore(fork.snapshot());
    expect((await cluster.api(ConfigMap).get('from-fork')).metadata.name).toBe('from-fork');
    await cluster.api(ConfigMap).delete('from-fork');
    expect(await fork.api(ConfigMap).find('from-fork')).toBeDefined();
  });

  test('updates an informer after a restore, also if a resourceVersion is used again with other content', async () => {
    const cluster = testCluster();
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const snapshot = cluster.snapshot();
    const informer = configMaps.informer();
    await informer.synced;
    await configMaps.patch('a', mergePatch({ data: { k: 'abandoned' } }));
    await turns();
    cluster.restore(snapshot);
    // In the same turn, so that the informer sees only the new content at the old resourceVersion.
    await configMaps.patch('a', mergePatch({ data: { k: 'true' } }));
    await turns();
    expect(informer.get('a')?.data).toEqual({ k: 'true' });
    informer.close();
  });

  test('restores the history of the time of a snapshot', async () => {
    const cluster = testCluster({ storage: memoryStorage({ history: 2 }) });
    const configMaps = cluster.api(ConfigMap);
    for (const name of ['five', 'six']) await configMaps.create({ metadata: { name } });
    const snapshot = cluster.snapshot();
    for (const name of ['seven', 'eight', 'nine']) await configMaps.create({ metadata: { name } });
    cluster.restore(snapshot);
    expect(await new Reader(configMaps.watch({ resourceVersion: '4' })).readAll()).toEqual(['ADDED five', 'ADDED six']);
  });
});

describe('a fork', () => {
  test('creates a fork with the same objects as its parent', async () => {
    const cluster = testCluster();
    const object = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await cluster.fork().api(ConfigMap).get('a')).toBe(object);
  });

  test('keeps the history of the parent in a fork for watches and for lists at a resourceVersion', async () => {
    const cluster = testCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    const fork = cluster.fork();
    const past = await fork.api(ConfigMap).list({ resourceVersion: '5', resourceVersionMatch: 'Exact' });
    expect(past.items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    const reader = new Reader(fork.api(ConfigMap).watch({ resourceVersion: '5' }));
    expect(await reader.readAll()).toEqual(['ADDED b']);
  });

  test('serves the kinds of the parent in a fork, which may install others', async () => {
    const common = {
      apiVersion: 'example.com/v1',
      scope: 'Namespaced',
      body: { spec: z.unknown().optional() },
    } as const;
    const Widget = defineKind({ ...common, kind: 'Widget' });
    const Gadget = defineKind({ ...common, kind: 'Gadget' });
    const cluster = testCluster();
    cluster.install(Widget);
    const fork = cluster.fork();
    fork.install(Gadget);
    await fork.api(Widget).create({ metadata: { name: 'w' } });
    await fork.api(Gadget).create({ metadata: { name: 'g' } });
    expect(await failureOf(cluster.api(Gadget).list())).toMatchObject({ code: 404 });
  });

  test('accepts a separate clock, ids and client for a fork', async () => {
    const cluster = testCluster();
    const other = testCluster();
    await other.clock.advance(60_000);
    const fork = cluster.fork({ clock: other.clock, ids: sequentialIds(), client: { namespace: 'kube-system' } });
    const { metadata } = await fork.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(metadata).toMatchObject({
      namespace: 'kube-system',
      uid: '00000000-0000-4000-8000-000000000001',
      creationTimestamp: '2030-01-01T00:01:00Z',
    });
  });

  test('creates a fork of a fork that is independent of both', async () => {
    const cluster = testCluster();
    const fork = cluster.fork().fork();
    await fork.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
  });
});
