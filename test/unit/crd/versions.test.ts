/** Versions of custom resources: conversion by strategy None, by functions and by webhooks, for every verb. */
import type { Api, ClusterOptions, ConvertObject } from 'orchplane';
import { jsonPatch, mergePatch } from 'orchplane';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, Reader } from '../server/watch-reader.js';
import {
  api,
  type Custom,
  define,
  definitions,
  GROUP,
  http,
  object,
  redefine,
  version,
  WIDGETS,
  widget,
} from './widgets.js';

type Spec = Record<string, unknown>;

const INTEGER = { type: 'integer' };
const V1 = version({ spec: object({ size: INTEGER, colour: { type: 'string', default: 'red' } }) });
const V2 = version({ name: 'v2', storage: false, spec: object({ dimensions: object({ size: INTEGER }) }) });

/** `size` is inside `dimensions` in v2. */
const convert = (draft: Spec, to: string): Spec => {
  const spec = (draft['spec'] ?? {}) as Spec;
  const size = to === 'v2' ? spec['size'] : (spec['dimensions'] as Spec | undefined)?.['size'];
  const inside = to === 'v2' ? { dimensions: { size } } : { size };
  return { ...draft, apiVersion: `${GROUP}/${to}`, spec: inside };
};

async function converting(convert: unknown, options: ClusterOptions = {}): Promise<TestCluster> {
  const cluster = testCluster({
    ...(options as object),
    conversions: { [WIDGETS]: convert as unknown as ConvertObject },
  });
  await define(cluster, { versions: [V1, V2] });
  return cluster;
}

describe('conversion strategy None', () => {
  test('changes only the apiVersion and prunes by the schema of the version', async () => {
    const cluster = testCluster();
    await define(cluster, { versions: [V1, V2] });
    await api(cluster).create(widget('a', { size: 1 }));
    expect(await api(cluster, 'v2').get('a')).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: {} });
    expect((await api(cluster, 'v2').get('a'))['spec'] as Spec).toEqual({});
    // A write in the other version drops fields that this version does not have.
    await api(cluster, 'v2').patch('a', mergePatch({ spec: { dimensions: { size: 2 } } }) as never);
    expect((await api(cluster).get('a'))['spec']).toEqual({ colour: 'red' });
  });

  test('does not store an update that changes only fields which the storage version does not have', async () => {
    const cluster = testCluster();
    const subresources = { status: {} };
    const stored = version({ whole: object({ status: object({ size: INTEGER }) }), subresources });
    await define(cluster, { versions: [stored, version({ name: 'v2', storage: false, subresources })] });
    await api(cluster).create(widget('a'));
    const status = api(cluster, 'v2').subresource('status' as never) as unknown as Api<Custom>;
    const change = mergePatch({ status: { size: 1, colour: 'red' } }) as never;
    const first = await status.patch('a', change);
    expect(first).toMatchObject({ status: { size: 1 } });
    expect(await status.patch('a', change)).toEqual(first);
    expect(await api(cluster, 'v2').get('a')).toEqual(first);
    expect((await status.patch('a', change, { dryRun: true })).metadata.resourceVersion).toBe(cluster.resourceVersion);
  });

  test('stores an update that removes a default of the storage version', async () => {
    const cluster = testCluster();
    const status = { ...object({ size: INTEGER }), default: { size: -1 } };
    const whole = { spec: object({}), status: object({ size: INTEGER }) };
    const subresources = { status: {} };
    const v2 = version({ name: 'v2', storage: false, whole: object(whole), subresources });
    await define(cluster, { versions: [version({ whole: object({ ...whole, status }), subresources }), v2] });
    const created = await api(cluster, 'v2').create(widget('a'));
    expect(created).toMatchObject({ status: { size: -1 } });
    const statusApi = api(cluster, 'v2').subresource('status' as never) as unknown as Api<Custom>;
    const written = await statusApi.patch('a', mergePatch({ status: null }) as never);
    expect(written).toMatchObject({ status: { size: -1 } });
    expect(written.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
  });

  test('drops managedFields with an update of an object that does not match the schema', async () => {
    const cluster = testCluster();
    const list = { type: 'array', items: { type: 'string' }, default: ['p'] };
    const lists = version({ name: 'v2', storage: false, spec: object({ names: list, n: INTEGER }) });
    await define(cluster, { versions: [version({ spec: object({ names: { type: 'string' } }) }), lists] });
    const created = await api(cluster, 'v2').create(widget('a', { n: 1 }));
    expect(created).toMatchObject({ spec: { names: ['p'] }, metadata: { managedFields: [{}] } });
    const updated = await api(cluster).patch('a', mergePatch({ spec: null }) as never);
    expect(updated.metadata.managedFields).toBeUndefined();
    for (const name of ['b', 'c']) await api(cluster).create(widget(name, { names: 'p' }));
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: object({ names: list }) })];
    });
    const repaired = await api(cluster).patch('b', mergePatch({ spec: { names: ['q'] } }) as never);
    expect(repaired.metadata.managedFields).toBeUndefined();
    const labelled = await api(cluster).patch('c', mergePatch({ metadata: { labels: { x: 'y' } } }) as never);
    expect(labelled.metadata.managedFields).toBeUndefined();
  });

  test('keeps the version of a field manager without a conversion', async () => {
    const cluster = testCluster();
    const spec = object({ size: INTEGER, colour: { type: 'string' } });
    await define(cluster, { versions: [version({ spec }), version({ name: 'v2', storage: false, spec })] });
    await api(cluster).apply(widget('a', { size: 1 }), { fieldManager: 'one' });
    await api(cluster, 'v2').apply(widget('a', { colour: 'blue' }), { fieldManager: 'two' });
    const { metadata, ...rest } = await api(cluster).get('a');
    expect(rest['spec']).toEqual({ size: 1, colour: 'blue' });
    expect(metadata.managedFields?.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`)).toEqual([
      `one ${GROUP}/v1`,
      `two ${GROUP}/v2`,
    ]);
    const conflict = await failureOf(api(cluster, 'v2').apply(widget('a', { size: 2 }), { fieldManager: 'two' }));
    expect(conflict).toMatchObject({ code: 409, message: expect.stringContaining('.spec.size') });
  });
});

describe.each([
  ['a function', convert],
  ['a function that waits', async (draft: Spec, to: string) => convert(draft, to)],
])('conversion with %s', (_name, conversion) => {
  test('serves every verb in every version', async () => {
    const cluster = await converting(conversion);
    const [v1, v2] = [api(cluster), api(cluster, 'v2')];
    expect((await v2.create(widget('a', { dimensions: { size: 1 } })))['spec']).toEqual({ dimensions: { size: 1 } });
    expect((await v1.get('a'))['spec']).toEqual({ size: 1, colour: 'red' });

    const live = await v2.get('a');
    await v2.update({ ...live, spec: { dimensions: { size: 2 } } } as never);
    expect((await v1.get('a'))['spec']).toEqual({ size: 2, colour: 'red' });
    await v2.patch('a', jsonPatch([{ op: 'replace', path: '/spec/dimensions/size', value: 3 }]) as never);
    await v2.patch('a', mergePatch({ metadata: { labels: { x: 'y' } } }) as never);
    expect(await v1.get('a')).toMatchObject({ spec: { size: 3 }, metadata: { labels: { x: 'y' }, generation: 3 } });
    await v2.apply(widget('b', { dimensions: { size: 7 } }), { fieldManager: 'me' });
    await v2.apply(widget('b', { dimensions: { size: 8 } }), { fieldManager: 'me' });
    expect((await v1.get('b'))['spec']).toEqual({ size: 8, colour: 'red' });
    expect((await v2.list()).items.map((item) => item['spec'])).toEqual([
      { dimensions: { size: 3 } },
      { dimensions: { size: 8 } },
    ]);
    expect(await v2.delete('a')).toMatchObject({ status: 'Success' });
    expect(await v2.deleteCollection()).toMatchObject({ status: 'Success' });
    expect((await v1.list()).items).toEqual([]);
  });

  test('rejects a stale update in another version as a conflict', async () => {
    const cluster = await converting(conversion);
    await api(cluster).create(widget('a', { size: 1 }));
    const old = await api(cluster, 'v2').get('a');
    await api(cluster).patch('a', mergePatch({ spec: { size: 2 } }) as never);
    expect(await failureOf(api(cluster, 'v2').update(old as never))).toMatchObject({ code: 409 });
  });

  test('returns the result of a dry run without storing it', async () => {
    const cluster = await converting(conversion);
    const { resourceVersion } = cluster;
    const dry = await api(cluster, 'v2').create(widget('a', { dimensions: { size: 1 } }), { dryRun: true });
    expect(dry['spec']).toEqual({ dimensions: { size: 1 } });
    expect(cluster.resourceVersion).toBe(resourceVersion);
  });

  test('returns the identical object on repeated reads', async () => {
    const cluster = await converting(conversion);
    await api(cluster).create(widget('a', { size: 1 }));
    expect(await api(cluster, 'v2').get('a')).toBe(await api(cluster, 'v2').get('a'));
  });
});

describe('a conversion function', () => {
  const failing: [string, unknown, string][] = [
    [
      'that throws',
      () => {
        throw new Error('no way');
      },
      'failed: no way',
    ],
    ['that rejects', () => Promise.reject(new Error('no way')), 'failed: no way'],
    ['that returns nothing', () => undefined, 'failed: the function returned undefined, not an object'],
    ['that returns a list', () => [], 'failed: the function returned a list, not an object'],
    ['that promises a number', async () => 5, 'failed: the function returned a number, not an object'],
    [
      'that does not set the version',
      (draft: Spec) => draft,
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)',
    ],
    [
      'that renames',
      (draft: Spec, to: string) => ({ ...convert(draft, to), metadata: { name: 'x' } }),
      'returned invalid object: must have the same name: a != x',
    ],
    [
      'that returns a value that is not JSON',
      (draft: Spec, to: string) => ({ ...convert(draft, to), spec: { f: () => 1 } }),
      'failed: a function is no JSON',
    ],
    [
      'that returns invalid labels',
      (draft: Spec, to: string) => ({
        ...convert(draft, to),
        metadata: { ...(draft['metadata'] as Spec), labels: { a: 1 } },
      }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
  ];
  test.each(failing)('returns a 500 error for a conversion function %s', async (_name, conversion, why) => {
    const cluster = await converting(conversion);
    await api(cluster).create(widget('a', { size: 1 }));
    const message = `conversion webhook for example.com/v1, Kind=Widget ${why}`;
    for (const request of [api(cluster, 'v2').get('a'), api(cluster, 'v2').list(), api(cluster, 'v2').delete('a')]) {
      expect(await failureOf(request)).toMatchObject({ code: 500, message });
    }
    // Its own version needs no conversion.
    expect(await api(cluster).get('a')).toMatchObject({ spec: { size: 1 } });
  });

  test.each([
    ['returns an object', convert],
    ['returns a promise', async (draft: Spec, to: string) => convert(draft, to)],
  ])('determines the owners of fields in the version of each manager if it %s', async (_name, conversion) => {
    const cluster = await converting(conversion);
    await api(cluster, 'v2').apply(widget('a', { dimensions: { size: 1 } }), { fieldManager: 'two' });
    await api(cluster).patch('a', mergePatch({ metadata: { labels: { k: 'v' } } }) as never);
    const refused = await failureOf(api(cluster).apply(widget('a', { size: 2 }), { fieldManager: 'one' }));
    expect(refused).toMatchObject({ code: 409, message: expect.stringContaining('.spec.dimensions.size') });
    const { metadata } = await api(cluster).apply(widget('a', { size: 2 }), { fieldManager: 'one', force: true });
    expect(metadata.managedFields?.map(({ apiVersion, fieldsV1 }) => [apiVersion, fieldsV1])).toEqual([
      [`${GROUP}/v1`, { 'f:spec': { 'f:size': {} } }],
      [`${GROUP}/v1`, { 'f:metadata': { 'f:labels': { '.': {}, 'f:k': {} } } }],
    ]);
  });

  test('rejects a conversion function that returns a circular object', async () => {
    const cluster = await converting((draft: Spec, to: string) => {
      const made = convert(draft, to);
      made['self'] = made;
      return made;
    });
    await api(cluster).create(widget('a', { size: 1 }));
    expect(await failureOf(api(cluster, 'v2').get('a'))).toMatchObject({ code: 500 });
  });

  test('allows a conversion function to change only labels and annotations of the metadata', async () => {
    const cluster = await converting((draft: Spec, to: string) => {
      const metadata = { ...(draft['metadata'] as Spec), labels: { to }, finalizers: ['example.com/x'], generation: 9 };
      return { ...convert(draft, to), metadata };
    });
    await api(cluster).create(widget('a', { size: 1 }));
    const { metadata } = await api(cluster, 'v2').get('a');
    expect(metadata).toMatchObject({ labels: { to: 'v2' }, generation: 1 });
    expect(metadata.finalizers).toBeUndefined();
  });

  test('allows a conversion function to change its argument', async () => {
    const cluster = await converting((draft: Spec, to: string) => {
      draft['apiVersion'] = `${GROUP}/${to}`;
      draft['spec'] = to === 'v2' ? { dimensions: { size: 1 } } : { size: 1 };
      return draft;
    });
    const before = await api(cluster).create(widget('a', { size: 5 }));
    expect((await api(cluster, 'v2').get('a'))['spec']).toEqual({ dimensions: { size: 1 } });
    expect(await api(cluster).get('a')).toBe(before);
  });

  test('leaves no unhandled rejection when a conversion function throws for one of two objects', async () => {
    const cluster = await converting((draft: Spec) => {
      if ((draft['metadata'] as Spec)['name'] === 'a') return Promise.reject(new Error('later'));
      throw new Error('now');
    });
    await api(cluster).create(widget('a', { size: 1 }));
    await api(cluster).create(widget('b', { size: 1 }));
    const failure = await failureOf(api(cluster, 'v2').list());
    expect(failure).toMatchObject({ message: expect.stringContaining('failed: later') });
  });

  test('calls no conversion function for a single version or for objects of the requested version', async () => {
    const calls: string[] = [];
    const counting = (draft: Spec, to: string) => {
      calls.push(to);
      return convert(draft, to);
    };
    const cluster = await converting(counting);
    await api(cluster).create(widget('a', { size: 1 }));
    await api(cluster).list();
    await api(cluster).delete('a');
    expect(calls).toEqual([]);
  });
});

test('converts an update once in each direction', async () => {
  const calls: string[] = [];
  const cluster = await converting((draft: Spec, to: string) => {
    calls.push(to);
    return convert(draft, to);
  });
  const created = await api(cluster, 'v2').create(widget('a', { dimensions: { size: 1 } }));
  calls.length = 0;
  const updated = await api(cluster, 'v2').update({ ...created, spec: { dimensions: { size: 2 } } } as never);
  expect(updated['spec']).toEqual({ dimensions: { size: 2 } });
  expect(calls).toEqual(['v1', 'v2']);
});

test('ends a watch of past events with the error of a conversion', async () => {
  let isBroken = false;
  const cluster = await converting((draft: Spec, to: string) => {
    if (isBroken) throw new Error('out of order');
    return convert(draft, to);
  });
  const { resourceVersion } = cluster;
  await api(cluster).create(widget('a', { size: 1 }));
  isBroken = true;
  const reader = new Reader(api(cluster, 'v2').watch({ resourceVersion }));
  const failure = await failureOf(reader.read());
  expect(failure).toMatchObject({ code: 500, message: expect.stringContaining('out of order') });
  expect(await reader.read()).toBe('end');
});

test('selects fields in the requested version', async () => {
  const cluster = testCluster({ conversions: { [WIDGETS]: convert as unknown as ConvertObject } });
  const selectable = (jsonPath: string) => ({ selectableFields: [{ jsonPath }] });
  await define(cluster, {
    versions: [
      { ...V1, ...selectable('.spec.size') },
      { ...V2, ...selectable('.spec.dimensions.size') },
    ],
  });
  const fields = 'spec.dimensions.size=2';
  const reader = new Reader(api(cluster, 'v2').watch({ fields, resourceVersion: cluster.resourceVersion }));
  await api(cluster).create(widget('a', { size: 1 }));
  await api(cluster).create(widget('b', { size: 2 }));
  expect((await api(cluster, 'v2').list({ fields })).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  await api(cluster).patch('a', mergePatch({ spec: { size: 2 } }) as never);
  await api(cluster).patch('b', mergePatch({ spec: { size: 1 } }) as never);
  expect(await reader.readAll()).toEqual(['ADDED b', 'ADDED a', 'DELETED b']);
  await api(cluster, 'v2').deleteCollection({ fields });
  expect((await api(cluster).list()).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
});

describe('the storage version', () => {
  test('keeps objects of the old storage version readable and stores them in the new one with a write', async () => {
    const seen: string[] = [];
    const cluster = await converting((draft: Spec, to: string) => {
      seen.push(`${String((draft['metadata'] as Spec)['name'])} to ${to}`);
      return convert(draft, to);
    });
    await api(cluster).create(widget('a', { size: 1 }));
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ storage: false, spec: object({ size: INTEGER }) }), { ...V2, storage: true }];
    });
    const before = await api(cluster).get('a');
    expect(before['spec']).toEqual({ size: 1 });
    expect(seen).toEqual([]);
    const after = await api(cluster).update(before as never);
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    expect(after.metadata.generation).toBe(before.metadata.generation);
    expect(seen).toContain('a to v2');
    // Now it is stored in v2: the same again changes nothing.
    const again = await api(cluster).update(after as never);
    expect(again.metadata.resourceVersion).toBe(after.metadata.resourceVersion);
    seen.length = 0;
    expect((await api(cluster, 'v2').get('a'))['spec']).toEqual({ dimensions: { size: 1 } });
    expect(seen).toEqual([]);
    expect((await definitions(cluster).get(WIDGETS)).status.storedVersions).toEqual(['v1', 'v2']);
  });

  test('changes the storage version without a conversion', async () => {
    const cluster = testCluster();
    await define(cluster, { versions: [version(), version({ name: 'v2', storage: false })] });
    const before = await api(cluster).create(widget('a', { size: 1 }));
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ storage: false }), version({ name: 'v2' })];
    });
    const moved = await api(cluster).update(before as never);
    expect(Number(moved.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect((await api(cluster).update(moved as never)).metadata.resourceVersion).toBe(moved.metadata.resourceVersion);
  });
});

describe('a deprecated version', () => {
  test('adds a warning that names the replacement of a deprecated version', async () => {
    const cluster = testCluster();
    await define(cluster, {
      versions: [
        version({ name: 'v1alpha1', storage: false, deprecated: true }),
        version({ name: 'v1beta1', storage: false, deprecated: true, deprecationWarning: 'move "on"' }),
        version(),
        version({ name: 'v2', storage: false, deprecated: true }),
      ],
    });
    const send = http(cluster);
    const path = (name: string) => `/apis/${GROUP}/${name}/namespaces/default/widgets`;
    expect((await send(`GET ${path('v1alpha1')}`)).warnings).toEqual([
      `${GROUP}/v1alpha1 Widget is deprecated; use ${GROUP}/v1 Widget`,
    ]);
    expect((await send(`GET ${path('v1beta1')}/none`)).warnings).toEqual(['move "on"']);
    expect((await send(`POST ${path('v2')}`, { body: { kind: 'Widget' } })).warnings).toContain(
      `${GROUP}/v2 Widget is deprecated`,
    );
    expect((await send(`GET ${path('v1')}`)).warnings).toEqual([]);
  });
});
