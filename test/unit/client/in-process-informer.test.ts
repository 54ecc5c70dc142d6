/** Informers of a cluster in the same process, which keep one watch without losing its guarantees. */
import { createCluster, mergePatch } from 'orchplane';
import { ConfigMap, Role, RoleBinding, Secret } from 'orchplane/kinds';
import { cuttingStreams, fakeClock, recordRequests, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const HOUR = 3_600_000;

test('an informer keeps one watch for a whole day', async () => {
  const cluster = testCluster();
  using log = recordRequests(cluster);
  const informer = cluster.api(ConfigMap).informer();
  await informer.synced;
  await cluster.clock.advance(24 * HOUR);
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.settle();
  expect(informer.get('a')?.metadata.name).toBe('a');
  expect(log.requests().map(({ verb }) => verb)).toEqual(['list', 'watch', 'create']);
});

test('an ordinary watch, and one with a timeout, still end', async () => {
  const cluster = testCluster();
  const ends: string[] = [];
  const read = async (name: string, timeoutSeconds?: number) => {
    const options = timeoutSeconds === undefined ? {} : { timeoutSeconds };
    for await (const _event of cluster.api(ConfigMap).watch(options)) expect.unreachable();
    ends.push(name);
  };
  void read('plain');
  void read('with timeout', 60);
  await cluster.clock.advance(61_000);
  expect(ends).toEqual(['with timeout']);
  await cluster.clock.advance(HOUR);
  expect(ends).toEqual(['with timeout', 'plain']);
});

test('bookmarks advance the version of an informer without changes of its kind', async () => {
  const cluster = testCluster();
  const informer = cluster.api(ConfigMap).informer();
  await informer.synced;
  await cluster.api(Secret).create({ metadata: { name: 's' } });
  expect(Number(informer.resourceVersion)).toBeLessThan(Number(cluster.resourceVersion));
  await cluster.clock.advance(61_000);
  expect(informer.resourceVersion).toBe(cluster.resourceVersion);
});

test('changes of one turn are delivered in order, and none after the end', async () => {
  const cluster = testCluster();
  const informer = cluster.api(ConfigMap).informer();
  await informer.synced;
  const delivered: string[] = [];
  informer.subscribe(({ type, object }) => {
    delivered.push(`${type} ${object.metadata.name}`);
    if (delivered.length === 4) informer.close();
  });
  const configMaps = cluster.api(ConfigMap);
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => configMaps.create({ metadata: { name } })));
  await cluster.settle();
  expect(delivered).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d']);
});

test('an informer resumes where its watch was cut off', async () => {
  const cluster = testCluster();
  using log = recordRequests(cluster);
  const informer = cluster.api(ConfigMap).informer();
  await informer.synced;
  const fault = cluster.use(cuttingStreams({ kind: ConfigMap }, { afterEvents: 1 }));
  for (const name of ['a', 'b', 'c']) {
    await cluster.api(ConfigMap).create({ metadata: { name } });
    await cluster.clock.advance(40_000);
  }
  fault[Symbol.dispose]();
  expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
  const verbs = log.requests().map(({ verb }) => verb);
  expect(verbs.filter((verb) => verb === 'list')).toHaveLength(1);
  expect(verbs.filter((verb) => verb === 'watch').length).toBeGreaterThan(2);
});

test('a user who loses the permission to watch is rejected within the hour', async () => {
  const clock = fakeClock({ now: Date.UTC(2030, 0, 1) });
  const cluster = createCluster({ clock });
  await cluster.api(Role).create({
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }],
  });
  await cluster.api(RoleBinding).create({
    metadata: { name: 'reader' },
    roleRef: { apiGroup: Role.group, kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'User', name: 'ann', apiGroup: Role.group }],
  });
  const failures: unknown[] = [];
  const ann = cluster.with({ as: { user: 'ann' } });
  const informer = ann.api(ConfigMap).informer({ onError: (error) => void failures.push(error) });
  await informer.synced;
  await clock.advance(2 * HOUR);
  expect(failures).toEqual([]);
  await cluster.api(RoleBinding).delete('reader');
  await clock.advance(HOUR);
  expect(String(failures[0])).toContain('cannot watch resource "configmaps"');
  await cluster.close();
});

test('a listener that writes on every event does not starve others', async () => {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'a' } });
  const [writer, reader] = [configMaps.informer(), configMaps.informer()];
  await Promise.all([writer.synced, reader.synced]);
  let writes = 0;
  let heard = 0;
  reader.subscribe(() => void heard++);
  writer.subscribe(() => {
    if (heard >= 5 || writes >= 1_000) return;
    writes++;
    void configMaps.patch('a', mergePatch({ data: { count: String(writes) } }));
  });
  await configMaps.patch('a', mergePatch({ data: { count: '0' } }));
  await cluster.settle();
  expect(heard).toBeGreaterThanOrEqual(5);
  expect(writes).toBeLessThan(20);
});
