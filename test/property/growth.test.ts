/**
 * The CPU time of a write grows with the length of its lists and maps, not with the square of it: one request must not
 * block all others.
 */
import { CustomResourceDefinition, Pod } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { SchemaNode } from '../../src/schema/schema-node.js';
import {
  type AnyApi,
  apiOf,
  fullCluster,
  growthOf,
  items,
  longValue,
  MAX_GROWTH,
  oneVersionOfEach,
  placesOf,
  samples,
  withValue,
} from './growing-values.js';

const cluster = testCluster({ dialect: 'kubernetes' });
const servedKinds = new Set(cluster.kinds().map(({ kind }) => kind));
const withAllKinds = fullCluster();

/** All kinds that are served by default, and one version of each other kind. */
const measured = [...new Set([...samples.filter(({ kind }) => servedKinds.has(kind)), ...oneVersionOfEach()])];

const tested = new Set<SchemaNode>();

describe.each(measured.map((sample) => [`${sample.kind.kind} ${sample.kind.version}`, sample] as const))(
  'a write of %s',
  (_name, { kind, body }) => {
    test('takes time in proportion to the length of each list and map', { timeout: 600_000 }, async () => {
      const { schema } = kind;
      const api = apiOf(servedKinds.has(kind) ? cluster : withAllKinds, kind);
      const slow: string[] = [];
      for (const { path, node } of placesOf(schema, tested)) {
        // Each of the many fields of JSON schemas has its own place.
        const isSchema = path.includes('openAPIV3Schema');
        for (const isFull of isSchema ? [false] : [false, true]) {
          const growth = await growthOf(
            (length) => {
              // With all fields, items are different: names and ports. With the required fields only, they are equal.
              const value = longValue(node, length, isFull, !isFull);
              const object = { metadata: { name: 'a' }, ...(withValue(body, schema, path, value, isFull) as object) };
              return () => api.create(object, { dryRun: true });
            },
            isSchema ? 4_000 : 5_000,
          );
          if (growth > MAX_GROWTH) slow.push(`${path.join('.')}: ${growth.toFixed(1)}`);
        }
      }
      expect(slow).toEqual([]);
    });
  },
);

/** Parts of a valid pod, whose warnings are evaluated, too. */
const POD_PARTS: Readonly<Record<string, (length: number) => object>> = {
  'different ports': (length) => ({ ports: items(length, (index) => ({ containerPort: 1 + index })) }),
  'equal ports': (length) => ({ ports: items(length, () => ({ containerPort: 80 })) }),
  'host ports': (length) => ({ ports: items(length, (index) => ({ containerPort: 80, hostPort: 1 + index })) }),
  'host addresses': (length) => ({
    ports: items(length, (index) => ({
      containerPort: 80,
      hostPort: 80,
      hostIP: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    })),
  }),
  variables: (length) => ({ env: items(length, (index) => ({ name: `A${index}`, value: 'a' })) }),
  'equal variables': (length) => ({ env: items(length, () => ({ name: 'A', value: 'a' })) }),
  mounts: (length) => ({ volumeMounts: items(length, (index) => ({ name: 'v', mountPath: `/a/${index}` })) }),
};

const POD_SPECS: Readonly<Record<string, (length: number) => object>> = {
  'projected sources': (length) => ({
    volumes: [
      {
        name: 'v',
        projected: { sources: items(length, (index) => ({ serviceAccountToken: { path: `a-${index}` } })) },
      },
    ],
  }),
  'equal projected sources': (length) => ({
    volumes: [
      {
        name: 'v',
        projected: { sources: items(length, () => ({ secret: { name: 'a', items: [{ key: 'a', path: 'a' }] } })) },
      },
    ],
  }),
  'files of a volume': (length) => ({
    volumes: [
      { name: 'v', configMap: { name: 'a', items: items(length, (index) => ({ key: 'a', path: `a/${index}` })) } },
    ],
  }),
  'equal files of a volume': (length) => ({
    volumes: [{ name: 'v', configMap: { name: 'a', items: items(length, () => ({ key: 'a', path: 'a' })) } }],
  }),
  'spread constraints': (length) => ({
    topologySpreadConstraints: items(length, (index) => ({
      maxSkew: 1,
      topologyKey: `key-${index}`,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: {},
    })),
  }),
  tolerations: (length) => ({ tolerations: items(length, (index) => ({ key: `key-${index}`, operator: 'Exists' })) }),
  'steps of a path': (length) => ({
    volumes: [{ name: 'v', configMap: { name: 'a', items: [{ key: 'a', path: 'a/'.repeat(length * 80) }] } }],
  }),
  'image pull secrets': (length) => ({ imagePullSecrets: items(length, () => ({ name: 'a' })) }),
};

const podWith = (spec: object, container: object) => ({
  metadata: { name: 'a' },
  spec: { volumes: [{ name: 'v', emptyDir: {} }], containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});

describe('a valid pod', () => {
  const cases = [
    ...Object.entries(POD_PARTS).map(([name, part]) => [name, (length: number) => podWith({}, part(length))] as const),
    ...Object.entries(POD_SPECS).map(([name, part]) => [name, (length: number) => podWith(part(length), {})] as const),
  ];

  test.each(cases)('takes time in proportion to the number of its %s', { timeout: 120_000 }, async (_name, object) => {
    const growth = await growthOf((length) => () => apiOf(cluster, Pod).create(object(length), { dryRun: true }));
    expect(growth).toBeLessThan(MAX_GROWTH);
  });
});

describe('a custom resource', () => {
  const named = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, size: { type: 'integer' } },
  };
  const SCHEMAS: Readonly<Record<string, object>> = {
    'an atomic list': { type: 'array', items: named },
    'a set': { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    'a list of type map': {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: named,
    },
    'a list of strings': { type: 'array', items: { type: 'string' } },
    'a map': { type: 'object', additionalProperties: { type: 'string', maxLength: 100 } },
    'unknown fields': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    'a list with a rule for each item': {
      type: 'array',
      maxItems: 8_000,
      items: { ...named, 'x-kubernetes-validations': [{ rule: 'self.name.size() < 100' }] },
    },
    'a list with a rule for the list': {
      type: 'array',
      maxItems: 8_000,
      items: { ...named, properties: { name: { type: 'string', maxLength: 20 }, size: { type: 'integer' } } },
      'x-kubernetes-validations': [{ rule: 'self.all(item, item.name != "b")' }],
    },
  };

  const valueFor = (name: string, length: number): unknown => {
    if (name === 'a map' || name === 'unknown fields') {
      return Object.fromEntries(items(length, (index) => [`key-${index}`, 'a']));
    }
    const isText = name === 'a set' || name === 'a list of strings';
    return items(length, (index) => (isText ? `name-${index}` : { name: `name-${index}`, size: index }));
  };

  test.each(Object.entries(SCHEMAS))(
    'takes time in proportion to the length of %s',
    { timeout: 120_000 },
    async (name, schema) => {
      const version = { name: 'v1', served: true, storage: true };
      const openAPIV3Schema = { type: 'object', properties: { value: schema } };
      const own = testCluster({ dialect: 'kubernetes' });
      await own.api(CustomResourceDefinition).create({
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [{ ...version, schema: { openAPIV3Schema } }],
        },
      } as never);
      const served = own.kinds().find(({ kind }) => kind.kind === 'Thing');
      const api = own.api(served?.kind as never) as unknown as AnyApi;
      const object = (length: number) => ({ metadata: { name: 'a' }, value: valueFor(name, length) });
      await api.create(object(10), {});
      const create = (length: number) => api.create({ ...object(length), metadata: { name: 'b' } }, { dryRun: true });
      // Rules are evaluated for valid objects only.
      await create(8_000);
      expect(await growthOf((length) => () => create(length))).toBeLessThan(MAX_GROWTH);
      expect(
        await growthOf((length) => () => api.apply(object(length), { fieldManager: 'm', force: true, dryRun: true })),
      ).toBeLessThan(MAX_GROWTH);
    },
  );
});
