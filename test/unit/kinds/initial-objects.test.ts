/** Initial objects are stored as if a client had created them: the same fields in the same order. */
import { createCluster } from 'orchplane';
import { builtInKinds, ClusterRole, FlowSchema, PriorityClass, ServiceCIDR } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { featureGates } from '../../../src/kinds/feature-gates.js';
import { DEFAULT_SETTINGS } from '../../../src/kinds/shared/cluster-settings.js';
import { compare } from '../../../src/merge/apply/compare.js';
import { difference } from '../../../src/merge/apply/field-set.js';
import { readFieldsV1 } from '../../../src/merge/apply/managers.js';
import { orchDialect } from '../../../src/meta/dialect.js';
import { decode } from '../../../src/schema/decode.js';

const served = () => [
  { group: '', version: 'v1' },
  { group: 'apps', version: 'v1' },
  { group: 'example.com', version: 'v1beta1' },
];

const FEATURES = featureGates({ ClusterTrustBundle: true });

const cases = builtInKinds.flatMap((kind) =>
  (kind.initial?.(orchDialect, '2030-01-01T00:00:00Z', served, DEFAULT_SETTINGS, FEATURES) ?? []).map((object) => ({
    kind,
    object,
    name: object.metadata.name,
  })),
);

describe('an initial object', () => {
  test.each(cases)('stores $kind.kind $name completely and in wire order', ({ kind, object }) => {
    const { metadata, ...given } = object;
    const { managers: _managers, ...sent } = metadata;
    const { value, findings } = decode(kind.schema, { value: { ...given, metadata: sent } });
    expect(findings).toEqual([]);
    const { metadata: _decoded, ...decoded } = value;
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(given));
  });

  test.each(cases)('stores managers of existing fields of $kind.kind $name in canonical order', ({ kind, object }) => {
    const { managers } = object.metadata;
    expect(managers.length).toBeGreaterThan(0);
    // All fields, as in a comparison with an empty object.
    const everything = compare(kind.schema, {}, object).added;
    for (const { fields } of managers) {
      expect(difference(fields, everything)).toEqual({});
      expect(JSON.stringify(readFieldsV1(fields))).toBe(JSON.stringify(fields));
    }
  });
});

test('creates initial objects at the resourceVersion of the last namespace, without events', async () => {
  const cluster = testCluster();
  expect(cluster.resourceVersion).toBe('4');
  const names = (list: { items: readonly { metadata: { name: string } }[] }) => list.items.map((o) => o.metadata.name);
  const classes = await cluster.api(PriorityClass).list();
  expect(names(classes)).toEqual(['system-cluster-critical', 'system-node-critical']);
  expect(classes.items.map(({ metadata }) => metadata.resourceVersion)).toEqual(['4', '4']);
  expect(names(await cluster.api(FlowSchema).list())).toEqual(expect.arrayContaining(['catch-all', 'exempt']));
  const [range] = (await cluster.api(ServiceCIDR).list()).items;
  expect(range?.spec.cidrs).toEqual(['10.0.0.0/16']);
});

test('allows watches, changes and deletions of initial objects', async () => {
  const cluster = testCluster();
  const schemas = cluster.api(FlowSchema);
  const watch = schemas.watch({ resourceVersion: '4' });
  await schemas.delete('exempt');
  expect((await watch.next()).value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'exempt' } } });
  watch.close();
  expect(await cluster.fork().api(FlowSchema).find('exempt')).toBeUndefined();
});

test('gives initial objects unique uids that are the same in every cluster', async () => {
  const uids = async () => (await createCluster().api(PriorityClass).list()).items.map(({ metadata }) => metadata.uid);
  const first = await uids();
  expect(await uids()).toEqual(first);
  expect(new Set(first).size).toBe(first.length);
  for (const uid of first) expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('initial objects have the time at which their own cluster was created', async () => {
  for (const now of [0, 1000, 0]) {
    const cluster = testCluster({ now });
    const expected = { metadata: { creationTimestamp: `1970-01-01T00:00:0${now / 1000}Z` } };
    expect(await cluster.api(PriorityClass).get('system-node-critical')).toMatchObject(expected);
    expect(await cluster.api(ClusterRole).get('view')).toMatchObject(expected);
  }
});
