/** Request logs: content, traces, filters and counts. */
import { createClient, mergePatch } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap, Deployment, Pod } from 'orchplane/kinds';
import { delaying, failing, recordRequests, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { original, withCopier } from './faults/clients.js';

test('records all properties of a request', async () => {
  const cluster = testCluster();
  const made = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  using log = recordRequests(cluster);
  await cluster
    .with({ fieldManager: 'ci' })
    .api(ConfigMap)
    .update({ ...made, data: { size: 'm' } });
  expect(log.requests()).toEqual([
    {
      verb: 'update',
      kind: 'ConfigMap',
      resource: 'configmaps',
      namespace: 'default',
      name: 'a',
      user: 'system:admin',
      manager: 'ci',
      source: 'local',
      dryRun: false,
      time: '2030-01-01T00:00:00Z',
      outcome: { code: 200 },
      versionBefore: made.metadata.resourceVersion,
      versionAfter: cluster.resourceVersion,
      changed: true,
    },
  ]);
});

test('prints the same request trace in every run', async () => {
  const cluster = testCluster();
  using log = recordRequests(cluster);
  const configMaps = cluster.api(ConfigMap);
  const first = await configMaps.create({ metadata: { generateName: 'w-' } });
  await configMaps.create({ metadata: { generateName: 'w-' } });
  await configMaps.update({ ...first, data: { a: 'b' } });
  await configMaps.edit(first.metadata.name, () => undefined);
  await cluster
    .with({ fieldManager: 'ci' })
    .api(ConfigMap)
    .apply({ metadata: { name: 'settings' }, data: { a: 'b' } });
  await cluster
    .with({ fieldManager: 'ci' })
    .api(ConfigMap)
    .apply({ metadata: { name: 'settings' }, data: { a: 'b' } });
  await configMaps.create({ metadata: { name: 'settings' } }).catch(() => undefined);
  await cluster
    .api(Deployment)
    .subresource('scale')
    .get('none')
    .catch(() => undefined);
  await cluster.with({ dryRun: true }).api(ConfigMap).delete('settings');
  await cluster
    .with({ as: { user: 'alice' } })
    .all(Pod)
    .list()
    .catch(() => undefined);
  configMaps.watch().close();
  await configMaps.delete('settings');
  expect(log.trace()).toBe(
    [
      'create configmaps default/w-<1> by local → 201',
      'create configmaps default/w-<2> by local → 201',
      'update configmaps default/w-<1> by local → 200',
      'get configmaps default/w-<1> by local → 200',
      'apply configmaps default/settings by local (ci) → 201',
      'apply configmaps default/settings by local (ci) → 200, no change',
      'create configmaps default/settings by local → 409 AlreadyExists',
      'get deployments.apps/scale default/none by local → 404 NotFound',
      'delete configmaps default/settings by local (dry run) → 200',
      'list pods as alice by local → 403 Forbidden',
      'watch configmaps in default by local → 200',
      'delete configmaps default/settings by local → 200',
    ].join('\n'),
  );
  expect(String(log)).toBe(log.trace());
  expect(log.trace({ verb: 'write', name: 'settings', versions: true, times: true }).split('\n')[0]).toMatch(
    /^2030-01-01T00:00:00Z apply configmaps default\/settings by local \(ci\) → 201 \(new → \d+\)$/,
  );
});

test('filters, counts and clears requests', async () => {
  const cluster = testCluster();
  using log = recordRequests(cluster);
  const made = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.api(ConfigMap).update({ ...made });
  await cluster.api(ConfigMap).list();
  await cluster
    .api(Pod)
    .get('none')
    .catch(() => undefined);
  expect(log.writes(ConfigMap).map(({ verb }) => verb)).toEqual(['create', 'update']);
  expect(log.noOpWrites().map(({ verb, changed }) => [verb, changed])).toEqual([['update', false]]);
  expect(log.reads(ConfigMap)).toHaveLength(1);
  expect(log.failures()).toMatchObject([{ outcome: { code: 404, reason: 'NotFound' } }]);
  expect(log.requests({ verb: 'write', kind: Pod })).toEqual([]);
  log.clear();
  expect(log.requests()).toEqual([]);
  log.close();
  await cluster.api(ConfigMap).list();
  expect(log.requests()).toEqual([]);
});

test('does not count a dry run as a no-op write', async () => {
  const cluster = testCluster();
  const made = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  using log = recordRequests(cluster);
  await cluster.api(ConfigMap).update({ ...made }, { dryRun: true });
  expect(log.writes()).toMatchObject([{ dryRun: true, changed: false }]);
  expect(log.noOpWrites()).toEqual([]);
});

test('records requests before faults, regardless of the order of installation', async () => {
  const cluster = testCluster();
  using log = recordRequests(cluster);
  using _failing = cluster.use(failing({ verb: 'create' }));
  using _slow = cluster.use(delaying({ verb: 'list' }, 1_000));
  await cluster
    .api(ConfigMap)
    .create({ metadata: { name: 'a' } })
    .catch(() => undefined);
  const listing = cluster.api(ConfigMap).list();
  expect(log.trace()).toBe(
    'create configmaps default/a by local → 500 InternalError\nlist configmaps in default by local → under way',
  );
  await cluster.clock.advance(1_000);
  await listing;
  expect(log.trace()).toContain('list configmaps in default by local → 200');
});

test('names HTTP clients and controllers as sources', async () => {
  const { cluster } = await withCopier();
  using log = recordRequests(cluster, { verb: 'write' });
  const transport = httpTransport({ baseUrl: 'http://cluster', fetch: createFetchHandler(cluster) });
  await createClient({ transport, fieldManager: 'me' }).api(ConfigMap).create(original);
  await cluster.settle();
  expect(log.trace()).toBe(
    'create configmaps default/a by http (me) → 201\ncreate configmaps default/a-copy by copier → 201',
  );
  await cluster.close();
});

test('rejects invalid options of recordRequests', () => {
  const cluster = testCluster();
  expect(() => recordRequests(cluster, { times: 1 } as object)).toThrow('recordRequests has no option "times"');
  expect(() => recordRequests(cluster).requests({ verb: 'put' as never })).toThrow('there is no verb "put"');
});

describe('a write that removes the last finalizer', () => {
  test.each(['update', 'patch'] as const)(
    'records a removal by %s as a change that deletes the object',
    async (verb) => {
      const cluster = testCluster();
      const configMaps = cluster.api(ConfigMap);
      await configMaps.create({ metadata: { name: 'a', finalizers: ['example.com/one', 'example.com/two'] } });
      await configMaps.delete('a');
      using log = recordRequests(cluster);
      const without = async (finalizers: string[]) => {
        if (verb === 'patch') await configMaps.patch('a', mergePatch({ metadata: { finalizers } }));
        else await configMaps.update({ ...(await configMaps.get('a')), metadata: { name: 'a', finalizers } });
      };
      await without(['example.com/one']);
      await without([]);
      expect(await configMaps.find('a')).toBeUndefined();
      expect(log.writes().map(({ changed, gone }) => [changed, gone])).toEqual([
        [true, undefined],
        [true, true],
      ]);
      expect(log.noOpWrites()).toEqual([]);
      expect(log.trace({ verb, versions: true }).split('\n').at(-1)).toMatch(/ → 200, gone \(\d+ → gone\)$/);
    },
  );

  test('records a dry run and an unchanged write as no change', async () => {
    const cluster = testCluster();
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a', finalizers: ['example.com/one'] } });
    await configMaps.delete('a');
    using log = recordRequests(cluster);
    await configMaps.patch('a', mergePatch({ metadata: { finalizers: [] } }), { dryRun: true });
    await configMaps.patch('a', mergePatch({ metadata: {} }));
    expect(log.writes().map(({ changed, gone }) => [changed, gone])).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
  });
});
