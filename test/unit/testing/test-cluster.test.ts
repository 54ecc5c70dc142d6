/** The production cluster with time and identities that a test owns. */
import { ConfigMap } from 'orchplane/kinds';
import { fakeClock, sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

describe('a test cluster', () => {
  test('tells the same story on every run', async () => {
    const story = async () => {
      const cluster = testCluster();
      await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
      await cluster.clock.advance(1_000);
      await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
      return (await cluster.all(ConfigMap).list()).items;
    };
    expect(await story()).toEqual(await story());
  });

  test('has a clock that is moved by hand', async () => {
    const cluster = testCluster();
    await cluster.clock.advance(60_000);
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(metadata.creationTimestamp).toBe('2030-01-01T00:01:00Z');
  });

  test('takes the options of any cluster', async () => {
    const cluster = testCluster({ dialect: 'kubernetes', client: { namespace: 'kube-system' }, ids: sequentialIds() });
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(metadata.namespace).toBe('kube-system');
    expect(cluster.dialect.name).toBe('kubernetes');
  });

  test('has a clock of its own, and no other', async () => {
    const [left, right] = [testCluster(), testCluster()];
    await left.clock.advance(1_000);
    expect(right.clock.now()).toBe(fakeClock().now());
  });

  test('sets no timers by itself', () => {
    expect(testCluster().clock.pending).toBe(0);
  });
});
