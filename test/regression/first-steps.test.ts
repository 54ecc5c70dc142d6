/**
 * Mistakes of new users that once were silent or did not end.
 */
import { createCluster, defineKind, StatusError, status } from 'orchplane';
import { ConfigMap, Lease } from 'orchplane/kinds';
import { fakeClock, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

describe('option names of other libraries', () => {
  test('rejects a foreign option name before anything is deleted', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const wrong = { labelSelector: 'app=none' } as object;
    await expect(configMaps.deleteCollection(wrong)).rejects.toThrow('it is called labels here');
    await expect(configMaps.list(wrong)).rejects.toThrow(TypeError);
    expect((await configMaps.list()).items).toHaveLength(1);
  });
});

describe('edit', () => {
  test('rejects a recipe that returns an object without changing the draft', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    await expect(configMaps.edit('a', (draft) => ({ ...draft, data: { k: 'v' } }))).rejects.toThrow(
      'changes its draft',
    );
  });

  test('accepts a recipe that returns an assignment', async () => {
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

describe('snapshot', () => {
  test('rejects a snapshot of another cluster', () => {
    const snapshot = testCluster().snapshot();
    expect(() => testCluster().restore(snapshot)).toThrow('of another cluster');
  });

  test('restores a snapshot of a fork in its parent', async () => {
    const cluster = testCluster();
    const fork = cluster.fork();
    await fork.api(ConfigMap).create({ metadata: { name: 'a' } });
    cluster.restore(fork.snapshot());
    expect(await cluster.api(ConfigMap).find('a')).toBeDefined();
  });
});

describe('kind that is not installed', () => {
  test('names the missing kind in the error', async () => {
    const cluster = createCluster({ kinds: [ConfigMap] });
    await expect(cluster.api(Lease).list()).rejects.toThrow(/leases\.coordination\.\S+ in version v1 is not installed/);
  });
});

describe('argument checks of defineKind', () => {
  const definition = { apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced' } as const;

  test.each([
    ['a missing definition', undefined, 'needs the kind as a text'],
    [
      'a missing apiVersion',
      { kind: 'Widget', scope: 'Namespaced', body: {} },
      'needs the apiVersion as a text, such as',
    ],
    ['a schema as body', { ...definition, body: z.object({}) }, 'not a schema itself'],
    ['metadata in body', { ...definition, body: { metadata: z.object({}) } }, 'leave it out of body'],
    ['a scope in lower case', { ...definition, scope: 'namespaced', body: {} }, 'scope is "Namespaced" or "Cluster"'],
    [
      'a required status',
      { ...definition, body: { status: z.object({}) }, subresources: { status } },
      'must be optional',
    ],
  ])('rejects %s', (_what, wrong, message) => {
    expect(() => defineKind(wrong as never)).toThrow(message);
  });

  test('rejects a recursive schema and names the field', () => {
    const node: z.ZodType = z.object({
      get child() {
        return z.optional(node);
      },
    });
    expect(() => defineKind({ ...definition, body: { spec: node } })).toThrow(
      /^spec\.child\.child\.child…: recursive schemas are not supported/,
    );
  });
});

test('reports an exception of validate as an internal error that names the kind', async () => {
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

test('rejects two unrelated versions of a kind', () => {
  const versions = ['v1', 'v2'].map((version) =>
    defineKind({ apiVersion: `example.com/${version}`, kind: 'Widget', scope: 'Namespaced', body: {} }),
  );
  expect(() => createCluster({ kinds: versions })).toThrow('neither is declared as a version of the other');
});

test('rejects an unknown dialect', () => {
  expect(() => createCluster({ dialect: 'k8s' as 'orch' })).toThrow('there is no dialect "k8s"');
});

describe('fake clock', () => {
  test('runs a long chain of requests before the next timer', async () => {
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

  test.each([-1, Number.NaN])('rejects an advance by %s', async (ms) => {
    await expect(fakeClock().advance(ms)).rejects.toThrow(RangeError);
  });
});
