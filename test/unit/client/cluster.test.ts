/** The client on a real cluster: verifies that the fakes of the other tests match the server. */
import { expect, test } from 'vitest';
import { jsonPatch, mergePatch } from '../../../src/client/patches.js';
import { ConfigMap } from '../../../src/kinds/core/v1/config-map.js';
import { Namespace } from '../../../src/kinds/core/v1/namespace.js';
import { StatusError } from '../../../src/meta/errors.js';
import { testCluster } from '../../../src/testing/test-cluster.js';
import { settle } from './fakes.js';
import { eventually, everyTransport } from './transports.js';

const settings = (colour: string, name = 'settings') => ({ metadata: { name }, data: { colour } });

test('reads in process return the same object every time', async () => {
  const configMaps = testCluster().api(ConfigMap);
  const created = await configMaps.create(settings('blue'));
  expect(await configMaps.get('settings')).toBe(created);
  expect((await configMaps.list()).items[0]).toBe(created);
});

test('a watch in process is active when the call returns', async () => {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  const watch = configMaps.watch();
  const created = await configMaps.create(settings('blue'));
  expect((await watch.next()).value).toEqual({ type: 'ADDED', object: created });
});

everyTransport('the client', (connect) => {
  test('reads return frozen, equal objects', async () => {
    const { client } = await connect();
    const configMaps = client.api(ConfigMap);
    const created = await configMaps.create(settings('blue'));
    expect(Object.isFrozen(created.data)).toBe(true);
    expect(await configMaps.get('settings')).toEqual(created);
    const list = await configMaps.list();
    expect(list.items).toEqual([created]);
    expect(Object.isFrozen(list.items)).toBe(true);
    expect(await configMaps.find('nope')).toBeUndefined();
  });

  test('objects that were read can be updated, edited and patched', async () => {
    const { client } = await connect();
    const configMaps = client.api(ConfigMap);
    const created = await configMaps.create(settings('blue'));
    await configMaps.update({ ...created, data: { colour: 'red' } });
    await expect(configMaps.update({ ...created, data: {} })).rejects.toSatisfy((e) => StatusError.is(e, 'Conflict'));
    await configMaps.edit('settings', (draft) => {
      draft.data = { ...draft.data, size: 'm' };
    });
    await configMaps.patch('settings', mergePatch({ data: { colour: null, shape: 'round' } }));
    const patched = await configMaps.patch('settings', jsonPatch([{ op: 'remove', path: '/data/shape' }]));
    expect(patched.data).toEqual({ size: 'm' });
  });

  test('concurrent edits all succeed', async () => {
    const { client } = await connect();
    const configMaps = client.api(ConfigMap);
    await configMaps.create(settings('blue'));
    const edits = Array.from({ length: 8 }, (_, i) =>
      configMaps.edit('settings', (draft) => {
        draft.data = { ...draft.data, [`key-${i}`]: 'x' };
      }),
    );
    await Promise.all(edits);
    expect(Object.keys((await configMaps.get('settings')).data ?? {})).toHaveLength(9);
  });

  test('a dry run stores nothing', async () => {
    const { client } = await connect();
    const preview = await client.with({ dryRun: true }).api(ConfigMap).create(settings('blue'));
    expect(preview.metadata.uid).toBeDefined();
    expect(await client.api(ConfigMap).find('settings')).toBeUndefined();
  });

  test('pages span namespaces at one version', async () => {
    const { client } = await connect();
    for (const namespace of ['default', 'kube-system']) {
      for (const name of ['a', 'b', 'c']) await client.api(ConfigMap, namespace).create(settings('blue', name));
    }
    const names: string[] = [];
    for await (const item of client.all(ConfigMap).items({ pageSize: 2 })) {
      names.push(`${item.metadata.namespace}/${item.metadata.name}`);
      await client
        .api(ConfigMap, 'kube-system')
        .delete('c')
        .catch(() => undefined);
    }
    expect(names).toEqual(['default/a', 'default/b', 'default/c', 'kube-system/a', 'kube-system/b', 'kube-system/c']);
  });

  test('a watch receives changes after its version', async () => {
    const { client } = await connect();
    const configMaps = client.api(ConfigMap);
    const stop = new AbortController();
    const { resourceVersion } = (await configMaps.list()).metadata;
    const watch = configMaps.watch({ labels: { app: 'web' }, resourceVersion, signal: stop.signal });
    await configMaps.create(settings('blue', 'other'));
    await configMaps.create({ metadata: { name: 'web', labels: { app: 'web' } } });
    await configMaps.patch('web', mergePatch({ metadata: { labels: { app: null } } }));
    const seen: string[] = [];
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue;
      seen.push(`${event.type} ${event.object.metadata.name}`);
      if (event.type === 'DELETED') stop.abort();
    }
    expect(seen).toEqual(['ADDED web', 'DELETED web']);
  });

  test('a watch from a compacted version is rejected with Expired', async () => {
    const { cluster, client } = await connect({ featureGates: { WatchList: true } });
    const configMaps = client.api(ConfigMap);
    await configMaps.create(settings('blue'));
    const before = cluster.snapshot();
    const watch = configMaps.watch({
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
    });
    expect((await watch.next()).value).toMatchObject({ type: 'ADDED' });
    expect((await watch.next()).value).toMatchObject({ type: 'BOOKMARK' });
    const next = watch.next();
    cluster.restore(before);
    await expect(next).rejects.toSatisfy((e) => StatusError.is(e, 'Expired'));
  });

  test('an informer follows a restore to versions that were used before', async () => {
    const { cluster, client } = await connect();
    const configMaps = client.api(ConfigMap);
    await configMaps.create(settings('blue'));
    const before = cluster.snapshot();
    await using informer = client.all(ConfigMap).informer({ indexes: { colour: (c) => Object.values(c.data ?? {}) } });
    await informer.synced;
    await configMaps.edit('settings', (draft) => {
      draft.data = { colour: 'red' };
    });
    await eventually(() => expect(informer.by('colour', 'red')).toHaveLength(1));

    cluster.restore(before);
    const green = await configMaps.edit('settings', (draft) => {
      draft.data = { colour: 'green' };
    });
    await eventually(() => expect(informer.get('settings', 'default')).toEqual(green));
    expect(informer.by('colour', 'red')).toEqual([]);
    await configMaps.delete('settings');
    await eventually(() => expect(informer.snapshot()).toEqual([]));
  });

  test('an informer survives the server timeout of its watch', async () => {
    const { cluster, client } = await connect();
    const configMaps = client.api(ConfigMap);
    const failures: unknown[] = [];
    await using informer = configMaps.informer({ onError: (error) => failures.push(error) });
    await informer.synced;
    await eventually(() => expect(cluster.clock.pending).toBeGreaterThan(0));
    await cluster.clock.advance(3 * 3_600_000);
    const created = await configMaps.create(settings('blue'));
    await eventually(() => expect(informer.get('settings')).toEqual(created));
    expect(failures).toEqual([]);
  });

  test('waitFor resolves with the awaited state or times out by the clock of the cluster', async () => {
    const { cluster, client } = await connect();
    const configMaps = client.api(ConfigMap);
    const red = configMaps.waitFor('settings', (c) => c?.data?.['colour'] === 'red', { timeoutMs: 5_000 });
    const green = configMaps.waitFor('settings', (c) => c?.data?.['colour'] === 'green', { timeoutMs: 5_000 });
    const failure = green.catch((e: unknown) => e);
    await configMaps.create(settings('blue'));
    await configMaps.edit('settings', (draft) => {
      draft.data = { colour: 'red' };
    });
    expect((await red)?.data).toEqual({ colour: 'red' });
    await cluster.clock.advance(5_000);
    expect(StatusError.is(await failure, 'Timeout')).toBe(true);
    await configMaps.delete('settings');
    expect(await configMaps.waitFor('settings', (c) => c === undefined)).toBeUndefined();
  });

  test('a namespace is finalized through its subresource', async () => {
    const { client } = await connect();
    const namespaces = client.api(Namespace);
    await namespaces.create({ metadata: { name: 'old' } });
    await namespaces.delete('old');
    const terminating = await namespaces.get('old');
    expect(terminating.status.phase).toBe('Terminating');
    await namespaces.subresource('finalize').update('old', { ...terminating, spec: { finalizers: [] } });
    expect(await namespaces.find('old')).toBeUndefined();
  });

  test('an asynchronous middleware does not change the results', async () => {
    const { cluster, client } = await connect();
    using _slow = cluster.use(async (_request, next) => {
      await settle();
      return next();
    });
    const configMaps = client.api(ConfigMap);
    await using informer = configMaps.informer();
    const received = new Promise((resolve) => informer.subscribe(resolve));
    await using watch = configMaps.watch();
    const created = await configMaps.create(settings('blue'));
    expect((await watch.next()).value).toEqual({ type: 'ADDED', object: created });
    expect(await received).toEqual({ type: 'ADDED', object: created });
  });

  test('closing a cluster ends watches silently and rejects later requests', async () => {
    const { cluster, client } = await connect({ featureGates: { WatchList: true } });
    const configMaps = client.api(ConfigMap);
    const watch = configMaps.watch({
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
    });
    expect((await watch.next()).value).toMatchObject({ type: 'BOOKMARK' });
    const next = watch.next();
    await cluster.close();
    expect(await next).toEqual({ done: true, value: undefined });
    await expect(configMaps.list()).rejects.toSatisfy((e) => StatusError.is(e, 'ServiceUnavailable'));
  });
});
