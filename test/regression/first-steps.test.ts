/**
 * What tripped a newcomer once and must not again: mistakes that were silent, and things that did not end.
 */
import { createCluster, defineKind, StatusError, status } from 'orchplane';
import { ConfigMap, Lease } from 'orchplane/kinds';
import { fakeClock, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

describe('an option under a name of another library', () => {
  test('is refused before anything is deleted', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const wrong = { labelSelector: 'app=none' } as object;
    await expect(configMaps.deleteCollection(wrong)).rejects.toThrow('it is called labels here');
    await expect(configMaps.list(wrong)).rejects.toThrow(TypeError);
    expect((await configMaps.list()).items).toHaveLength(1);
  });
});

describe('an edit', () => {
  test('whose recipe returns an object and leaves the draft alone is refused', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    await expect(configMaps.edit('a', (draft) => ({ ...draft, data: { k: 'v' } }))).rejects.toThrow(
      'changes its draft',
    );
  });

  test('whose recipe is an assignment works', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const { data } = await configMaps.edit('a', (draft) => {
      draft.data = { k: 'v' };
      return draft.data;
    });
    expect(data).toEqual({ k: 'v' });
  });
});

describe('close', () => {
  test('ends informers without an error', async () => {
    const cluster = testCluster();
    const complaints: unknown[] = [];
    const informer = cluster.api(ConfigMap).informer({ onError: (error) => complaints.push(error) });
    await informer.synced;
    await cluster.close();
    await cluster.clock.advance(120_000);
    expect(complaints).toEqual([]);
    expect(cluster.clock.pending).toBe(0);
  });
});

describe('a snapshot', () => {
  test('of another cluster is refused', () => {
    const snapshot = testCluster().snapshot();
    expect(() => testCluster().restore(snapshot)).toThrow('of another cluster');
  });

  test('of a fork can be restored in its parent', async () => {
    const cluster = testCluster();
    const fork = cluster.fork();
    await fork.api(ConfigMap).create({ metadata: { name: 'a' } });
    cluster.restore(fork.snapshot());
    expect(await cluster.api(ConfigMap).find('a')).toBeDefined();
  });
});

describe('a kind that was not installed', () => {
  test('is named, with what to do', async () => {
    const cluster = createCluster({ kinds: [ConfigMap] });
    await expect(cluster.api(Lease).list()).rejects.toThrow(/leases\.coordination\.\S+ in version v1 is not installed/);
  });
});

describe('defineKind refuses', () => {
  const definition = { apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced' } as const;

  test.each([
    ['nothing', undefined, 'needs the kind as a text'],
    ['no apiVersion', { kind: 'Widget', scope: 'Namespaced', body: {} }, 'needs the apiVersion as a text, such as'],
    ['a schema as its body', { ...definition, body: z.object({}) }, 'not a schema itself'],
    ['metadata in its body', { ...definition, body: { metadata: z.object({}) } }, 'leave it out of body'],
    [
      'a scope in other letters',
      { ...definition, scope: 'namespaced', body: {} },
      'scope is "Namespaced" or "Cluster"',
    ],
    [
      'a status that must be given on create',
      { ...definition, body: { status: z.object({}) }, subresources: { status } },
      'must be optional',
    ],
  ])('%s', (_what, wrong, message) => {
    expect(() => defineKind(wrong as never)).toThrow(message);
  });

  test('a schema that refers to itself, naming the field', () => {
    const node: z.ZodType = z.object({
      get child() {
        return z.optional(node);
      },
    });
    expect(() => defineKind({ ...definition, body: { spec: node } })).toThrow(/^spec\.child\.child\.child…: .*itself/);
  });
});

test('a rule of a kind that throws is an internal error that names the kind', async () => {
  const Widget = defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    scope: 'Namespaced',
    body: {},
    validate: () => {
      throw new Error('boom');
    },
  });
  const cluster = testCluster();
  cluster.install(Widget);
  const error: unknown = await cluster
    .api(Widget)
    .create({ metadata: { name: 'a' } })
    .catch((reason) => reason);
  expect(StatusError.is(error, 'InternalError')).toBe(true);
  expect(String(error)).toContain('validate of Widget failed: boom');
});

test('two versions of a kind are refused unless one is declared as a version of the other', () => {
  const versions = ['v1', 'v2'].map((version) =>
    defineKind({ apiVersion: `example.com/${version}`, kind: 'Widget', scope: 'Namespaced', body: {} }),
  );
  expect(() => createCluster({ kinds: versions })).toThrow('neither is declared as a version of the other');
});

test('a dialect that does not exist is refused', () => {
  expect(() => createCluster({ dialect: 'k8s' as 'orch' })).toThrow('there is no dialect "k8s"');
});

describe('the fake clock', () => {
  test('lets a long chain of requests come to rest before a timer is due', async () => {
    const cluster = testCluster();
    const start = cluster.clock.now();
    let done = 0;
    const work = async () => {
      for (let i = 0; i < 300; i++) await cluster.api(ConfigMap).create({ metadata: { name: `c${i}` } });
      done = cluster.clock.now();
    };
    void work();
    cluster.clock.after(1_000, () => undefined);
    await cluster.clock.advance(5_000);
    expect(done).toBe(start);
  });

  test.each([-1, Number.NaN])('does not go back or astray: %s', async (ms) => {
    await expect(fakeClock().advance(ms)).rejects.toThrow(RangeError);
  });
});
