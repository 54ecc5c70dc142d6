/** testCluster: a cluster with a fake clock and sequential ids. */
import { ConfigMap } from 'orchplane/kinds';
import { fakeClock, sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

describe('testCluster', () => {
  test('produces the same objects in every run', async () => {
    const run = async () => {
      const cluster = testCluster();
      await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
      await cluster.clock.advance(1_000);
      await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
      return (await cluster.all(ConfigMap).list()).items;
    };
    expect(await run()).toEqual(await run());
  });

  test('has a clock that the test advances', async () => {
    const cluster = testCluster();
    await cluster.clock.advance(60_000);
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(metadata.creationTimestamp).toBe('2030-01-01T00:01:00Z');
  });

  test('accepts the options of createCluster', async () => {
    const cluster = testCluster({ dialect: 'kubernetes', client: { namespace: 'kube-system' }, ids: sequentialIds() });
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(metadata.namespace).toBe('kube-system');
    expect(cluster.dialect.name).toBe('kubernetes');
  });

  test('has a separate clock per cluster', async () => {
    const [left, right] = [testCluster(), testCluster()];
    await left.clock.advance(1_000);
    expect(right.clock.now()).toBe(fakeClock().now());
  });

  test('sets no timers in a new test cluster', () => {
    expect(testCluster().clock.pending).toBe(0);
  });
});
