/**
 * Every verb against a real server, through every transport. Clusters with the same clock and IDs must return the
 * same values for the same calls with every transport.
 */
import { defineKind, jsonPatch, mergePatch, Quantity, StatusError, strategicPatch } from 'orchplane';
import { ConfigMap, Deployment, Lease, Namespace, Node, Pod } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Client } from '../../../src/client/client.js';
import { eventually, everyTransport, rejection } from './transports.js';

const Box = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Box',
  scope: 'Namespaced',
  body: {
    spec: z.object({
      size: z.number().default(3),
      serial: z.union([z.number(), z.bigint()]).optional(),
      text: z.string().optional(),
    }),
  },
});

const web = (image: string) => ({
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
  },
});

/** The outcome of each call: a value, or the Status and warnings of the failure. */
type Outcome = readonly [step: string, outcome: Readonly<Record<string, unknown>>];

/** Strings that are special in paths, queries, JSON, YAML or headers. */
const AWKWARD = 'a+b %2F "q" \\ é 😀 \u2028 \u0085 \u007f \ufeff <&> ; \t\n';

async function callEveryVerb(client: Client): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const warnings: string[] = [];
  const step = async (name: string, call: Promise<unknown>): Promise<void> => {
    const outcome = await call.then(
      (value) => ({ value }),
      (error: unknown) => (StatusError.is(error) ? { status: error.status, warnings: error.warnings } : { error }),
    );
    outcomes.push([name, { ...outcome, recording: warnings.splice(0) }]);
  };
  const recording = client.with({ onWarning: (warning) => warnings.push(warning) });
  const maps = recording.api(ConfigMap);
  const deployments = recording.with({ fieldManager: 'ci' }).api(Deployment);
  const pods = recording.api(Pod);
  const boxes = recording.api(Box);

  await step('create', maps.create({ metadata: { name: 'a', labels: { 'k/x': 'y' } }, data: { awkward: AWKWARD } }));
  await step('create again', maps.create({ metadata: { name: 'a' } }));
  await step('generate a name', maps.create({ metadata: { generateName: 'gen-' } }));
  await step('create an invalid one', maps.create({ metadata: { name: 'Not A Name' } }));
  await step(
    'create somewhere that does not exist',
    recording.api(ConfigMap, 'nowhere').create({ metadata: { name: 'a' } }),
  );
  await step('get', maps.get('a'));
  await step('get at a version', maps.get('a', { resourceVersion: '0' }));
  await step('get at no version', maps.get('a', { resourceVersion: 'x' }));
  await step('get what is not there', maps.get('nope'));
  for (const name of ['a%2Fb', 'a/b', '../secrets/b', '..', '.', 'a +?#é&;', '%', 'é😀']) {
    await step(`get what cannot be there: ${name}`, maps.get(name));
    await step(`find ${name}`, maps.find(name));
    await step(`delete ${name}`, maps.delete(name));
  }
  await step('find', maps.find('nope'));
  await step('update', maps.update({ metadata: { name: 'a' }, data: { colour: 'red' } }, { fieldManager: 'me' }));
  await step('update at an old version', maps.update({ metadata: { name: 'a', resourceVersion: '1' } }));
  await step('update with an unknown field', maps.update(JSON.parse('{"metadata":{"name":"a"},"colour":"red"}')));
  await step(
    'strictly',
    maps.update(JSON.parse('{"metadata":{"name":"a"},"colour":"red"}'), { fieldValidation: 'Strict' }),
  );
  await step('merge patch', maps.patch('a', mergePatch({ data: { colour: null, awkward: AWKWARD } })));
  await step('JSON patch', maps.patch('a', jsonPatch([{ op: 'add', path: '/data/x', value: '1' }])));
  await step('JSON patch that fails', maps.patch('a', jsonPatch([{ op: 'remove', path: '/data/no' }])));
  await step('dry run', maps.patch('a', mergePatch({ data: { dry: 'run' } }), { dryRun: true }));
  await step(
    'edit',
    maps.edit('a', (draft) => {
      draft.data = { colour: 'blue' };
    }),
  );

  await step('apply', deployments.apply(web('web:1')));
  await step(
    'apply what is awkward',
    deployments.apply({ ...web('web:1'), metadata: { name: 'web', annotations: { AWKWARD } } }),
  );
  await step(
    'strategic patch',
    deployments.patch('web', strategicPatch({ spec: { replicas: 2 } }), { fieldManager: 'x' }),
  );
  await step('apply in conflict', deployments.apply({ ...web('web:1'), spec: { ...web('web:1').spec, replicas: 1 } }));
  await step(
    'apply by force',
    deployments.apply({ ...web('web:1'), spec: { ...web('web:1').spec, replicas: 1 } }, { force: true }),
  );
  await step('apply without a manager', recording.api(Deployment).apply(web('web:1'), { fieldManager: '' }));
  await step('status', deployments.status.patch('web', mergePatch({ status: { replicas: 1 } })));
  await step('scale', deployments.subresource('scale').get('web'));
  await step('change the scale', deployments.subresource('scale').update('web', { spec: { replicas: 5 } }));
  await step(
    'edit the scale',
    deployments.subresource('scale').edit('web', (draft) => {
      draft.spec.replicas = 6;
    }),
  );

  const resources = { requests: { cpu: Quantity.parse('500m') } };
  const containers = [{ name: 'c', image: 'i', resources }] as unknown as [{ name: string; image: string }];
  await step('create a pod', pods.create({ metadata: { name: 'p' }, spec: { containers } }));
  await step('bind it', pods.subresource('binding').create('p', { target: { kind: 'Node', name: 'n' } }));
  await step('bind it again', pods.subresource('binding').create('p', { target: { kind: 'Node', name: 'n' } }));
  await step('evict it', pods.subresource('eviction').create('p', {}));
  await step('delete it gracefully', pods.delete('p', { gracePeriodSeconds: 0 }));
  await step('create a node', recording.api(Node).create({ metadata: { name: 'n' } }));
  const holder = { holderIdentity: 'é', renewTime: '2030-01-01T00:00:00.123456Z' };
  await step('create a lease', recording.api(Lease).create({ metadata: { name: 'l' }, spec: holder }));

  await step(
    'create a custom object',
    boxes.create({ metadata: { name: 'b' }, spec: { serial: 2n ** 60n, size: 1.5 } }),
  );
  await step('create one with an unknown field', boxes.create(JSON.parse('{"metadata":{"name":"c"},"spec":{"no":1}}')));
  await step('create an invalid one', boxes.create(JSON.parse('{"metadata":{"name":"d"},"spec":{"size":"x"}}')));
  await step('create one with a large number', boxes.create({ metadata: { name: 'e' }, spec: { size: 1e21 } }));
  await step('list custom objects', boxes.list());

  await step('list', maps.list());
  await step('list everywhere', recording.all(ConfigMap).list());
  await step('list namespaces', recording.api(Namespace).list({ limit: 2 }));
  await step('select', maps.list({ labels: { 'k/x': 'y' }, fields: { 'metadata.name': 'a' } }));
  await step('select by expressions', maps.list({ labels: 'k/x in (y,z),!other,k/x!=é' }));
  await step('select in vain', maps.list({ labels: 'app=a+b' }));
  await step('select wrongly', maps.list({ fields: 'spec.colour=red' }));
  await step('list at the wrong version', maps.list({ resourceVersion: '1', resourceVersionMatch: 'Exact' }));
  await step('list with a bad token', maps.list({ continue: 'x', limit: 1 }));

  const { uid } = (await maps.get('a')).metadata;
  await step('delete under a wrong condition', maps.delete('a', { preconditions: { uid: 'x' } }));
  await step('delete dry', maps.delete('a', { dryRun: true }));
  await step('delete', maps.delete('a', { preconditions: { uid }, propagation: 'Background' }));
  await step('delete a namespace', recording.api(Namespace).delete('kube-public', { propagation: 'Foreground' }));
  await step('delete a collection dry', maps.deleteCollection({ labels: '!k/x', dryRun: true }));
  await step('delete a collection', maps.deleteCollection({ fields: { 'metadata.namespace': 'default' } }));
  await step('list what is left', maps.list());
  return outcomes;
}

everyTransport('every verb', (connect) => {
  test.each(['orch', 'kubernetes'] as const)(
    'every verb returns the same result as in process, in the dialect %s',
    async (dialect) => {
      const cluster = testCluster({ dialect });
      cluster.install(Box);
      const expected = await callEveryVerb(cluster);
      expect(expected.filter(([, outcome]) => 'value' in outcome).length).toBeGreaterThan(30);
      expect(expected.filter(([, outcome]) => 'error' in outcome)).toEqual([]);

      const { cluster: other, client } = await connect({ dialect });
      other.install(Box);
      const actual = await callEveryVerb(client);
      expect(actual.filter(([, outcome]) => !isFrozen(outcome['value']))).toEqual([]);
      const [uids, otherUids] = [namedUids(), namedUids()];
      for (const [index, outcome] of expected.entries()) expect(otherUids(actual[index])).toEqual(uids(outcome));
    },
  );
});

/** Uids are sequential, also for requests to which a handler assigns one: only their equality matters. */
function namedUids(): (value: unknown) => unknown {
  const names = new Map<string, string>();
  const name = (uid: string): string => {
    if (!names.has(uid)) names.set(uid, `uid ${names.size}`);
    return names.get(uid) ?? '';
  };
  const rename = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(/00000000-0000-4000-8000-\d{12}/g, name);
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rename(each)]));
  };
  return rename;
}

everyTransport('requests', (connect) => {
  test('find rejects when the kind is not served', async () => {
    const { client } = await connect();
    const error = await rejection(client.api(Box).find('b'));
    expect(StatusError.is(error, 'NotFound') && error.message).toContain(
      'the server could not find the requested resource',
    );
  });

  test('a body that is not JSON is rejected', async () => {
    const { client } = await connect();
    const bodies = [new Map(), () => 1, Number.NaN];
    for (const body of bodies) {
      const error = await rejection(
        client.api(ConfigMap).create({ metadata: { name: 'a' }, data: { body: body as unknown as string } }),
      );
      expect(StatusError.is(error, 'BadRequest')).toBe(true);
    }
  });

  test('changes to an object after the call are not sent', async () => {
    const { client } = await connect();
    const input = { metadata: { name: 'a' }, data: { colour: 'red' } };
    const creating = client.api(ConfigMap).create(input);
    input.data.colour = 'blue';
    expect((await creating).data).toEqual({ colour: 'red' });
  });

  test('an abort before or during a request rejects with the reason', async () => {
    const { cluster, client } = await connect();
    const maps = client.api(ConfigMap);
    const reason = new Error('enough');
    expect(await rejection(maps.get('a', { signal: AbortSignal.abort(reason) }))).toBe(reason);
    const waiting: (() => void)[] = [];
    using _slow = cluster.use(async (_request, next) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return next();
    });
    const stop = new AbortController();
    const pending = [
      maps.list({ signal: stop.signal }),
      maps.create({ metadata: { name: 'a' } }, { signal: stop.signal }),
    ];
    const settled = Promise.allSettled(pending);
    await eventually(() => expect(waiting).toHaveLength(2));
    stop.abort(reason);
    expect((await settled).map((result) => result.status === 'rejected' && result.reason)).toEqual([reason, reason]);
    for (const go of waiting) go();
  });

  test('concurrent requests do not affect each other', async () => {
    const { client } = await connect();
    const maps = client.api(ConfigMap);
    const names = Array.from({ length: 60 }, (_, index) => `m-${index}`);
    await Promise.all(names.map((name) => maps.create({ metadata: { name }, data: { name } })));
    const read = await Promise.all(names.map((name) => maps.get(name)));
    expect(read.map(({ data }) => data?.['name'])).toEqual(names);
    expect((await maps.list()).items).toHaveLength(60);
  });

  test('a very long selector is transmitted', async () => {
    const { client } = await connect();
    await client.api(ConfigMap).create({ metadata: { name: 'a', labels: { n: 'v-1999' } } });
    const labels = `n in (${Array.from({ length: 2_000 }, (_, index) => `v-${index}`).join(',')})`;
    expect((await client.api(ConfigMap).list({ labels })).items).toHaveLength(1);
  });

  test('large objects and lists are transmitted', async () => {
    const { client } = await connect();
    const maps = client.api(ConfigMap);
    const large = 'é😀x'.repeat(100_000);
    await maps.create({ metadata: { name: 'a' }, data: { large } });
    await maps.create({ metadata: { name: 'b' }, data: { large } });
    expect((await maps.get('a')).data?.['large']).toBe(large);
    expect((await maps.list()).items.map(({ data }) => data?.['large']?.length)).toEqual([large.length, large.length]);
    await using watch = maps.watch();
    expect((await watch.next()).value).toMatchObject({ object: { data: { large } } });
  });

  test('the field manager is the name of the library when none is given', async () => {
    const { client } = await connect();
    await client.api(ConfigMap).apply({ metadata: { name: 'a' }, data: { a: '1' } }, { fieldManager: 'ci' });
    const changed = await client.api(ConfigMap).patch('a', mergePatch({ data: { b: '1' } }));
    expect(changed.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['ci', 'orchplane']);
  });
});

everyTransport('watches', (connect) => {
  test('events arrive in order, however slow the reader is', async () => {
    const { client } = await connect();
    const maps = client.api(ConfigMap);
    const { resourceVersion } = (await maps.list()).metadata;
    await using watch = maps.watch({ resourceVersion });
    const names = Array.from({ length: 300 }, (_, index) => `m-${index}`);
    for (const name of names) await maps.create({ metadata: { name }, data: { text: 'é😀'.repeat(200) } });
    const seen: string[] = [];
    for await (const event of watch) {
      if (seen.length % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      seen.push((event.object.metadata as { name: string }).name);
      if (seen.length === names.length) break;
    }
    expect(seen).toEqual(names);
  });

  test('an abort at any time ends a watch silently', async () => {
    const { client } = await connect();
    const maps = client.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    for (let turns = 0; turns < 12; turns++) {
      const stop = new AbortController();
      const loop = (async () => {
        for await (const _ of maps.watch({ signal: stop.signal }));
        return 'ended';
      })();
      for (let turn = 0; turn < turns; turn++) await (turn % 3 === 2 ? new Promise(setImmediate) : Promise.resolve());
      stop.abort(new Error('ignored'));
      expect(await loop).toBe('ended');
    }
  });

  test('leaving a watch closes it on the server', async () => {
    const { cluster, client } = await connect({ featureGates: { WatchList: true } });
    const before = cluster.clock.pending;
    const watches = Array.from({ length: 5 }, () =>
      client
        .api(ConfigMap)
        .watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true }),
    );
    for (const watch of watches) await watch.next();
    expect(cluster.clock.pending).toBeGreaterThan(before);
    for (const watch of watches) watch.close();
    await eventually(() => expect(cluster.clock.pending).toBe(before));
  });

  test('a rejected watch throws on the first read', async () => {
    const { client } = await connect();
    const error = await rejection(client.api(ConfigMap).watch({ fields: 'spec.colour=red' }).next());
    expect(StatusError.is(error, 'BadRequest') && error.message).toMatch(/is not a known field selector/);
  });

  test('timeoutSeconds ends a watch', async () => {
    const { cluster, client } = await connect();
    await client.api(ConfigMap).create({ metadata: { name: 'a' } });
    const watch = client.api(ConfigMap).watch({ timeoutSeconds: 5 });
    expect((await watch.next()).value).toMatchObject({ type: 'ADDED' });
    const next = watch.next();
    await cluster.clock.advance(5_000);
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test('an informer of many objects stays up to date', async () => {
    const { client } = await connect();
    const maps = client.api(ConfigMap);
    await using informer = maps.informer();
    await informer.synced;
    const names = Array.from({ length: 50 }, (_, index) => `m-${index}`);
    await Promise.all(names.map((name) => maps.create({ metadata: { name } })));
    await Promise.all(names.slice(10).map((name) => maps.patch(name, mergePatch({ data: { name } }))));
    await Promise.all(names.slice(0, 10).map((name) => maps.delete(name)));
    const { items } = await maps.list();
    const sorted = () => [...informer.snapshot()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    await eventually(() => expect(sorted()).toEqual(items));
  });
});

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}
