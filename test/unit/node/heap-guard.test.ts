/** A guard whose limit is exceeded from the start: what is refused, and what continues. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCluster, mergePatch } from 'orchplane';
import { ConfigMap, SelfSubjectAccessReview, ServiceAccount } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { guardHeap } from '../../../src/node/heap-guard.js';

test('refuses what would be stored and lets everything else through', async () => {
  const cluster = createCluster();
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'kept' } });
  await configMaps.create({ metadata: { name: 'held', finalizers: ['example.com/hold'] } });
  await cluster.api(ServiceAccount).create({ metadata: { name: 'robot' } });
  const warnings: string[] = [];
  using _guard = guardHeap(cluster, { maxHeap: 1, warn: (text) => warnings.push(text) });
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  await expect.poll(() => warnings).toEqual([expect.stringMatching(/^memory is nearly exhausted \(\d+ of 0 MiB/)]);

  const refused = { reason: 'ServiceUnavailable', code: 503 };
  await expect(configMaps.create({ metadata: { name: 'new' } })).rejects.toMatchObject(refused);
  await expect(configMaps.patch('kept', mergePatch({ data: { a: 'b' } }))).rejects.toMatchObject(refused);
  await expect(configMaps.update({ metadata: { name: 'kept' }, data: { a: 'b' } })).rejects.toMatchObject(refused);

  expect((await configMaps.create({ metadata: { name: 'new' } }, { dryRun: true })).metadata.name).toBe('new');
  const review = await cluster.api(SelfSubjectAccessReview).create({
    spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
  });
  expect(review.status?.allowed).toBe(true);
  expect((await configMaps.list()).items.map(({ metadata }) => metadata.name)).toContain('kept');
  // An object with a finalizer disappears only after an update.
  await configMaps.delete('held');
  await configMaps.patch('held', mergePatch({ metadata: { finalizers: null } }));
  expect(await configMaps.find('held')).toBeUndefined();
  await configMaps.delete('kept');
});
