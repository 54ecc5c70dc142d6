/** Closing a cluster. */
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, Reader } from './watch-reader.js';

describe('a closed cluster', () => {
  test('ends watches of a closed cluster without an error', async () => {
    const cluster = testCluster();
    const readers = [
      new Reader(cluster.api(ConfigMap).watch()),
      new Reader(cluster.all(ConfigMap).watch({ allowWatchBookmarks: true, resourceVersion: '4' })),
    ];
    for (const reader of readers) await reader.read();
    await cluster.close();
    for (const reader of readers) expect(await reader.read()).toBe('end');
  });

  test('leaves no pending timers in a closed cluster', async () => {
    const cluster = testCluster();
    cluster.all(ConfigMap).watch({ allowWatchBookmarks: true, timeoutSeconds: 60 });
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });

  test('rejects every request to a closed cluster', async () => {
    const cluster = testCluster();
    await cluster.close();
    const closed = { code: 503, reason: 'ServiceUnavailable', message: 'the cluster is closed' };
    const configMaps = cluster.api(ConfigMap);
    expect(await failureOf(configMaps.list())).toMatchObject(closed);
    expect(await failureOf(configMaps.create({ metadata: { name: 'a' } }))).toMatchObject(closed);
    expect(await failureOf(configMaps.watch().next())).toMatchObject(closed);
  });

  test('accepts a second close', async () => {
    const cluster = testCluster();
    await cluster.close();
    await expect(cluster.close()).resolves.toBeUndefined();
  });

  test('leaves the forks of a closed cluster open', async () => {
    const cluster = testCluster();
    const fork = cluster.fork();
    const reader = new Reader(fork.api(ConfigMap).watch());
    await cluster.close();
    await fork.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await reader.readAll()).toEqual(['ADDED a']);
  });

  test('closes a cluster at the end of its `await using` scope', async () => {
    let left: ReturnType<typeof createCluster> | undefined;
    {
      await using cluster = createCluster();
      left = cluster;
      expect((await cluster.api(ConfigMap).list()).items).toEqual([]);
    }
    expect(await failureOf(left.api(ConfigMap).list())).toMatchObject({ reason: 'ServiceUnavailable' });
  });
});
