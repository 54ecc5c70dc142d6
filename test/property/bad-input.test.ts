/**
 * Arbitrary client input: it is either rejected with a Status and without effects, or stored and returned unchanged.
 * No key name affects anything outside of the object.
 */

import type { ApiRequest, Cluster } from 'orchplane';
import { defineKind, jsonPatch, mergePatch, StatusError, valueBody } from 'orchplane';
import { ConfigMap, type ConfigMapInput, Secret } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import fc from './seeded.js';

/** Property names of JavaScript objects, which are ordinary keys here. */
const AWKWARD = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', 'length', 'then', 'toJSON'];

const awkwardKey = fc.constantFrom(...AWKWARD);
const anyKey = fc.oneof(awkwardKey, fc.constantFrom('metadata', 'name', 'labels', 'data', 'k', '0', ''), fc.string());

const anyNumber = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(2 ** 53, -(2 ** 63), 1e308, -0, 5e-324),
);

const { value: anyJson } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.string(), anyNumber, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(anyKey, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
}));

const texts = fc
  .array(fc.tuple(fc.oneof(awkwardKey, fc.constantFrom('k', 'a.b', '..', 'not ok')), fc.string()), { maxLength: 3 })
  .map((entries) => Object.fromEntries(entries));

/** A valid value half of the time, any value otherwise. */
const or = <Value>(good: fc.Arbitrary<Value>) => fc.oneof(good as fc.Arbitrary<unknown>, anyJson);

const metadata = fc.record(
  {
    name: or(fc.constantFrom('a', 'constructor', 'Not A Name')),
    generateName: or(fc.constant('g-')),
    namespace: or(fc.constantFrom('default', 'other')),
    uid: or(fc.constant('u')),
    resourceVersion: or(fc.constantFrom('', '0', '5', 'x', '99999999999999999999')),
    generation: or(anyNumber),
    creationTimestamp: or(fc.constantFrom('2030-01-01T00:00:00Z', 'yesterday')),
    deletionTimestamp: or(fc.constantFrom('2030-01-01T00:00:00Z', null)),
    deletionGracePeriodSeconds: or(fc.integer()),
    labels: or(texts),
    annotations: or(texts),
    ownerReferences: or(fc.array(or(fc.constant({ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' })))),
    finalizers: or(fc.array(or(fc.constantFrom('example.com/hold', 'bare')), { maxLength: 2 })),
    managedFields: or(fc.array(anyJson, { maxLength: 2 })),
  },
  { requiredKeys: [] },
);

/** Roughly a ConfigMap. */
const body = fc.record(
  {
    apiVersion: or(fc.constant('v1')),
    kind: or(fc.constant('ConfigMap')),
    metadata: fc.oneof({ arbitrary: metadata, weight: 9 }, { arbitrary: anyJson, weight: 1 }),
    data: or(texts),
    binaryData: or(fc.dictionary(fc.constantFrom('b', 'c'), fc.base64String(), { maxKeys: 2 })),
    immutable: or(fc.boolean()),
    more: anyJson,
  },
  { requiredKeys: ['metadata'] },
);

/** A merge patch with any content. */
const anyPatch = (sent: unknown) => mergePatch<ConfigMapInput>(sent as never);

/** All objects as text. */
async function contents(cluster: Cluster): Promise<string> {
  const lists = [await cluster.all(ConfigMap).list(), await cluster.all(Secret).list()];
  return `${cluster.resourceVersion} ${JSON.stringify(lists)}`;
}

/** Expects a rejection without effects, or an object that is stored as it was returned. */
async function refusedOrStored(cluster: Cluster, write: () => Promise<unknown>): Promise<unknown> {
  const before = await contents(cluster);
  let response: unknown;
  try {
    response = await write();
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    const isPlain = error.code === 500 && error.reason === undefined;
    expect(isPlain || (error.code >= 400 && error.code < 500), `${error.code} ${error.message}`).toBe(true);
    expect(await contents(cluster)).toBe(before);
    return undefined;
  }
  const { name } = (response as { metadata: { name: string } }).metadata;
  expect(await cluster.api(ConfigMap).get(name)).toEqual(response);
  expect(prototypes(response)).toEqual(new Set([Object.prototype]));
  expect(Object.keys(Object.prototype)).toEqual([]);
  return response;
}

/** The prototypes of all objects inside a value except arrays. */
function prototypes(value: unknown): Set<unknown> {
  const found = new Set<unknown>();
  const visit = (part: unknown) => {
    if (typeof part !== 'object' || part === null) return;
    if (!Array.isArray(part)) found.add(Object.getPrototypeOf(part));
    for (const key of Object.keys(part)) visit((part as Record<string, unknown>)[key]);
  };
  visit(value);
  return found;
}

async function clusterWithOne(): Promise<Cluster> {
  const cluster = testCluster();
  await cluster.api(ConfigMap).create({ metadata: { name: 'a', labels: { app: 'web' } }, data: { k: 'v' } });
  return cluster;
}

describe('arbitrary request bodies', () => {
  test('rejects a create without effects or stores its object unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const cluster = testCluster();
        const stored = (await refusedOrStored(cluster, () => cluster.api(ConfigMap).create(sent as never))) as
          | { data?: Record<string, string> }
          | undefined;
        if (stored === undefined) return;
        const data = (sent.data ?? {}) as Record<string, unknown>;
        const expected = Object.entries(data).map(([key, value]) => [key, value ?? '']);
        expect(Object.entries(stored.data ?? {}).sort()).toEqual(expected.sort());
      }),
      { numRuns: 100 },
    );
  });

  test('rejects an update without effects or stores its object unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const cluster = await clusterWithOne();
        const named = { ...sent, metadata: { ...(sent.metadata as object), name: 'a' } };
        await refusedOrStored(cluster, () => cluster.api(ConfigMap).update(named as never));
      }),
      { numRuns: 100 },
    );
  });

  test('rejects a merge patch without effects or stores its object unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, anyJson), async (sent) => {
        const cluster = await clusterWithOne();
        await refusedOrStored(cluster, () => cluster.api(ConfigMap).patch('a', anyPatch(sent)));
      }),
      { numRuns: 100 },
    );
  });

  test('rejects a JSON patch without effects or stores its object unchanged', async () => {
    const path = fc.oneof(
      fc.constantFrom(
        '',
        '/data',
        '/data/k',
        '/metadata',
        '/metadata/labels',
        '/metadata/labels/app',
        '/kind',
        'data/k',
      ),
      fc.array(anyKey, { maxLength: 3 }).map((keys) => keys.map((key) => `/${key}`).join('')),
    );
    const operation = fc.record(
      {
        op: or(fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test')),
        path: or(path),
        from: or(path),
        value: fc.oneof(anyJson, texts),
      },
      { requiredKeys: ['op', 'path'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(or(operation), { maxLength: 4 }), async (operations) => {
        const cluster = await clusterWithOne();
        await refusedOrStored(cluster, () => cluster.api(ConfigMap).patch('a', jsonPatch(operations as never)));
      }),
      { numRuns: 100 },
    );
  });

  test('rejects a body that is not an object without effects', async () => {
    const resource = { group: '', version: 'v1', resource: 'configmaps' };
    const notAnObject = fc.oneof(fc.string(), anyNumber, fc.boolean(), fc.array(anyJson, { maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(notAnObject, fc.constantFrom('create', 'update', 'patch'), async (sent, verb) => {
        const cluster = await clusterWithOne();
        const request: ApiRequest = {
          verb: verb as 'create' | 'update' | 'patch',
          resource,
          namespace: 'default',
          options: {},
          body: valueBody(sent),
          ...(verb === 'create' ? {} : { name: 'a' }),
          ...(verb === 'patch' ? { patchType: 'merge' } : {}),
        };
        const stored = await refusedOrStored(cluster, async () => cluster.send(request));
        expect(stored).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test('rejects delete options without effects or deletes the object', async () => {
    const options = fc.record(
      {
        kind: or(fc.constant('DeleteOptions')),
        gracePeriodSeconds: or(anyNumber),
        propagationPolicy: or(fc.constantFrom('Foreground', 'Background', 'Orphan')),
        orphanDependents: or(fc.boolean()),
        preconditions: or(fc.record({ uid: or(fc.constant('u')), resourceVersion: or(fc.constant('5')) })),
        dryRun: or(fc.constant(['All'])),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(options, async (sent) => {
        const cluster = await clusterWithOne();
        const before = await contents(cluster);
        const resource = { group: '', version: 'v1', resource: 'configmaps' };
        const request = { verb: 'delete', resource, namespace: 'default', name: 'a', options: {} } as const;
        try {
          await cluster.send({ ...request, body: valueBody(sent) });
        } catch (error) {
          if (!StatusError.is(error)) throw error;
          expect(await contents(cluster)).toBe(before);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('integers beyond the safe integers, parsed as bigint', () => {
  const large = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).filter((n) => !Number.isSafeInteger(Number(n)));

  test('rejects a large integer in place of a string in a create', async () => {
    await fc.assert(
      fc.asyncProperty(large, async (number) => {
        const cluster = testCluster();
        const sent = { metadata: { name: 'a' }, data: { k: number } };
        expect(await refusedOrStored(cluster, () => cluster.api(ConfigMap).create(sent as never))).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  test('rejects a large integer in place of a string in a merge patch', async () => {
    await fc.assert(
      fc.asyncProperty(large, async (number) => {
        const cluster = await clusterWithOne();
        const sent = anyPatch({ data: { k: number } });
        expect(await refusedOrStored(cluster, () => cluster.api(ConfigMap).patch('a', sent))).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  test('rejects a large integer in place of apiVersion and kind', async () => {
    await fc.assert(
      fc.asyncProperty(large, async (number) => {
        const cluster = testCluster();
        const sent = { apiVersion: number, kind: number, metadata: { name: 'a' }, data: { k: number } };
        expect(await refusedOrStored(cluster, () => cluster.api(ConfigMap).create(sent as never))).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });
});

describe('deeply nested bodies', () => {
  const nested = (depth: number) => {
    let value: unknown = 'end';
    for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { k: value } : [value];
    return value;
  };
  const depths = [100, 20_000, 200_000];
  const bodies = {
    'an unknown field': (value: unknown) => ({ more: value }),
    data: (value: unknown) => ({ data: { k: value } }),
    annotations: (value: unknown) => ({ metadata: { name: 'a', annotations: { k: value } } }),
    managedFields: (value: unknown) => ({ metadata: { name: 'a', managedFields: [{ fieldsV1: value }] } }),
  };
  const cases = Object.entries(bodies).flatMap(([where, bodyOf]) => depths.map((depth) => ({ where, depth, bodyOf })));

  test.each(cases)('handles a create with $where nested $depth deep', async ({ depth, bodyOf }) => {
    const cluster = testCluster();
    const sent = { metadata: { name: 'a' }, ...bodyOf(nested(depth)) };
    await refusedOrStored(cluster, () => cluster.api(ConfigMap).create(sent as never));
  });

  test.each(cases)('handles a merge patch with $where nested $depth deep', async ({ depth, bodyOf }) => {
    const cluster = await clusterWithOne();
    const sent = anyPatch(bodyOf(nested(depth)));
    await refusedOrStored(cluster, () => cluster.api(ConfigMap).patch('a', sent));
  });

  test.each(depths)('handles a JSON patch nested %d deep', async (depth) => {
    const cluster = await clusterWithOne();
    const sent = jsonPatch([{ op: 'add', path: '/more', value: nested(depth) }]);
    await refusedOrStored(cluster, () => cluster.api(ConfigMap).patch('a', sent));
  });
});

describe('nesting at the depth limit', () => {
  const Bag = defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Bag',
    scope: 'Namespaced',
    body: { any: z.unknown().optional() },
  });

  test.each(Array.from({ length: 12 }, (_, index) => 992 + index))(
    'accepts every later write of an object with %d levels that was created',
    async (depth) => {
      let any: unknown = 'end';
      for (let level = 0; level < depth; level++) any = { k: any };
      const cluster = testCluster();
      cluster.install(Bag);
      const bags = cluster.api(Bag);
      const metadata = { name: 'a', finalizers: ['example.com/hold'] };
      const created = await bags.create({ metadata, any }).catch((error: unknown) => {
        expect(StatusError.is(error)).toBe(true);
      });
      if (created === undefined) return;
      const updated = await bags.update({ ...created, metadata: { ...created.metadata, labels: { a: 'b' } } });
      const patched = await bags.patch('a', mergePatch({ metadata: { labels: { a: 'c' } } }));
      const removed = await bags.patch('a', jsonPatch([{ op: 'remove', path: '/metadata/labels' }]));
      for (const each of [updated, patched, removed]) expect(each.any).toEqual(created.any);
      expect(await bags.delete('a')).toMatchObject({ metadata: { finalizers: ['example.com/hold'] } });
    },
  );
});

/** An edit recipe that sets one key. */
function set(draft: { data?: Record<string, string> }, key: string, value: string): void {
  if (draft.data !== undefined) draft.data[key] = value;
}

describe('keys that are JavaScript property names', () => {
  const entries = fc.uniqueArray(fc.tuple(awkwardKey, fc.string()), { selector: ([key]) => key, minLength: 1 });

  test('keeps keys named like JavaScript properties in create and get', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const configMaps = testCluster().api(ConfigMap);
        await configMaps.create({ metadata: { name: 'a' }, data: Object.fromEntries(pairs) });
        const { data = {} } = await configMaps.get('a');
        expect(Object.entries(data).sort()).toEqual([...pairs].sort());
        expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
      }),
      { numRuns: 40 },
    );
  });

  test('adds keys named like JavaScript properties with a merge patch', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const configMaps = testCluster().api(ConfigMap);
        await configMaps.create({ metadata: { name: 'a' }, data: { k: 'v' } });
        const { data = {} } = await configMaps.patch('a', mergePatch({ data: Object.fromEntries(pairs) }));
        expect(Object.entries(data).sort()).toEqual([...pairs, ['k', 'v']].sort());
      }),
      { numRuns: 40 },
    );
  });

  test('deletes keys named like JavaScript properties with null in a merge patch', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const configMaps = testCluster().api(ConfigMap);
        await configMaps.create({ metadata: { name: 'a' }, data: { ...Object.fromEntries(pairs), k: 'v' } });
        const nothing = Object.fromEntries(pairs.map(([key]) => [key, null]));
        const { data } = await configMaps.patch('a', anyPatch({ data: nothing }));
        expect(data).toEqual({ k: 'v' });
      }),
      { numRuns: 40 },
    );
  });

  test('adds keys named like JavaScript properties with a JSON patch', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const configMaps = testCluster().api(ConfigMap);
        await configMaps.create({ metadata: { name: 'a' }, data: { k: 'v' } });
        const operations = pairs.map(([key, value]) => ({ op: 'add' as const, path: `/data/${key}`, value }));
        const { data = {} } = await configMaps.patch('a', jsonPatch(operations));
        expect(Object.entries(data).sort()).toEqual([...pairs, ['k', 'v']].sort());
      }),
      { numRuns: 40 },
    );
  });

  test('keeps keys named like JavaScript properties in an edit of another key', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const configMaps = testCluster().api(ConfigMap);
        await configMaps.create({ metadata: { name: 'a' }, data: Object.fromEntries(pairs) });
        const { data = {} } = await configMaps.edit('a', (draft) => {
          set(draft, 'k', 'v');
        });
        expect(Object.entries(data).sort()).toEqual([...pairs, ['k', 'v']].sort());
      }),
      { numRuns: 40 },
    );
  });

  test('changes the values of keys named like JavaScript properties in an edit', async () => {
    const assignable = entries.filter((pairs) => pairs.every(([key]) => key !== '__proto__'));
    await fc.assert(
      fc.asyncProperty(assignable, async (pairs) => {
        const configMaps = testCluster().api(ConfigMap);
        await configMaps.create({ metadata: { name: 'a' }, data: Object.fromEntries(pairs) });
        const { data = {} } = await configMaps.edit('a', (draft) => {
          for (const [key, value] of pairs) set(draft, key, `${value}!`);
        });
        expect(Object.entries(data).sort()).toEqual(pairs.map(([key, value]) => [key, `${value}!`]).sort());
      }),
      { numRuns: 40 },
    );
  });

  test('changes keys named like JavaScript properties in an edit that replaces the map', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' }, data: Object.fromEntries([['__proto__', 'old']]) });
    const { data = {} } = await configMaps.edit('a', (draft) => {
      draft.data = Object.fromEntries([['__proto__', 'new']]);
    });
    expect(Object.entries(data)).toEqual([['__proto__', 'new']]);
  });

  test('keeps the map in an edit that assigns to __proto__', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' }, data: Object.fromEntries([['__proto__', 'old']]) });
    const { data = {} } = await configMaps.edit('a', (draft) => {
      set(draft, '__proto__', 'new');
    });
    expect(Object.entries(data)).toEqual([['__proto__', 'old']]);
  });

  test('keeps keys named like JavaScript properties in the data of a secret', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const secrets = testCluster().api(Secret);
        const sent = pairs.map(([key]) => [key, 'dmFsdWU=']);
        await secrets.create({ metadata: { name: 'a' }, data: Object.fromEntries(sent) });
        expect(Object.entries((await secrets.get('a')).data ?? {}).sort()).toEqual(sent.sort());
      }),
      { numRuns: 20 },
    );
  });

  test('keeps keys named like JavaScript properties in the stringData of a secret', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const secrets = testCluster().api(Secret);
        await secrets.create({ metadata: { name: 'a' }, stringData: Object.fromEntries(pairs) });
        expect(Object.keys((await secrets.get('a')).data ?? {}).sort()).toEqual(pairs.map(([key]) => key).sort());
      }),
      { numRuns: 20 },
    );
  });

  test('keeps keys named like JavaScript properties in a user-defined kind with and without a schema', async () => {
    const Bag = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Bag',
      scope: 'Namespaced',
      body: {
        any: z.unknown(),
        loose: z.looseObject({ known: z.string().optional() }),
        map: z.record(z.string(), z.string()),
      },
    });
    await fc.assert(
      fc.asyncProperty(entries, async (pairs) => {
        const cluster = testCluster();
        cluster.install(Bag);
        const part = Object.fromEntries(pairs);
        await cluster.api(Bag).create({ metadata: { name: 'a' }, any: part, loose: part, map: part });
        const { any, loose, map } = await cluster.api(Bag).get('a');
        for (const stored of [any, loose, map]) {
          expect(Object.entries(stored as object).sort()).toEqual([...pairs].sort());
        }
      }),
      { numRuns: 40 },
    );
  });
});
