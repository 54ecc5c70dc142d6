/// <reference types="vite/types/importMeta.d.ts" />
/**
 * The CPU time of a write grows with the length of its lists and maps, not with the square of it: one request must not
 * block all others.
 */
import type { Kind } from 'orchplane';
import { StatusError } from 'orchplane';
import { CustomResourceDefinition, Pod } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { SchemaNode } from '../../src/schema/schema-node.js';
import type { KindSample } from '../unit/kinds/kind-contract.js';

const modules = import.meta.glob<{ readonly samples: readonly KindSample[] }>('../unit/kinds/samples/*.ts', {
  eager: true,
});
const samples = Object.values(modules).flatMap((module) => module.samples);

/** The steps from the object to a list or map: field names, `[]` for the item of a list, `{}` for the value of a map. */
type Path = readonly string[];

interface Place {
  readonly path: Path;
  readonly node: SchemaNode;
}

/** Types that several kinds contain, such as pod templates, are tested in one of them. */
const tested = new Set<SchemaNode>();

/** All lists and maps of a schema that have not been tested. */
function* placesOf(node: SchemaNode, path: Path = []): Iterable<Place> {
  if (tested.has(node)) return;
  if (node.type === 'list' || node.type === 'map' || path.length > 0) tested.add(node);
  if (node.type === 'list') {
    yield { path, node };
    yield* placesOf(node.items, [...path, '[]']);
  } else if (node.type === 'map') {
    yield { path, node };
    yield* placesOf(node.values, [...path, '{}']);
  } else if (node.type === 'object') {
    for (const { name, node: child } of node.fields.values()) {
      if (path.length === 0 && (name === 'status' || name === 'metadata')) continue;
      yield* placesOf(child, [...path, name]);
    }
  }
}

/** A value of a node; `index` makes the values of a list different. */
function sampleValue(node: SchemaNode, index: number, isFull: boolean, depth = 0): unknown {
  switch (node.type) {
    case 'object': {
      const fields = [...node.fields.values()].filter(
        ({ required, node: child }) => required || (isFull && child.type === 'scalar') || (isFull && depth < 1),
      );
      return Object.fromEntries(
        fields.map(({ name, node: child }) => [name, sampleValue(child, index, isFull, depth + 1)]),
      );
    }
    case 'list':
      return [sampleValue(node.items, index, isFull, depth + 1)];
    case 'map':
      return { [`key-${index}`]: sampleValue(node.values, index, isFull, depth + 1) };
    case 'any':
      return {};
    case 'scalar':
      return SCALARS[node.scalar]?.(index) ?? `name-${index}`;
  }
}

const SCALARS: Readonly<Record<string, (index: number) => unknown>> = {
  int32: (index) => index + 1,
  int64: (index) => index + 1,
  number: (index) => index,
  boolean: () => true,
  bytes: () => 'YQ==',
  time: () => '2030-01-01T00:00:00Z',
  microTime: () => '2030-01-01T00:00:00.000000Z',
  quantity: () => '1',
  intOrString: (index) => index + 1,
  duration: () => '1s',
};

/** `body` with a value at a path; what is missing on the way is created. */
function withValue(body: unknown, node: SchemaNode, path: Path, value: unknown, isFull: boolean): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (node.type === 'list') {
    const items = Array.isArray(body) && body.length > 0 ? body : [sampleValue(node.items, 0, isFull)];
    return [withValue(items[0], node.items, rest, value, isFull), ...items.slice(1)];
  }
  if (node.type === 'map') {
    const [key = 'key', present] = Object.entries((body as object | undefined) ?? {})[0] ?? [];
    return {
      ...(body as object),
      [key]: withValue(present ?? sampleValue(node.values, 0, isFull), node.values, rest, value, isFull),
    };
  }
  if (node.type !== 'object') throw new Error('a path leads through lists, maps and objects');
  const child = node.fields.get(step)?.node as SchemaNode;
  const record = (body ?? sampleValue(node, 0, false)) as Record<string, unknown>;
  return { ...record, [step]: withValue(record[step], child, rest, value, isFull) };
}

function longValue(node: SchemaNode, length: number, isFull: boolean, same: boolean): unknown {
  const indexes = Array.from({ length }, (_, index) => index);
  if (node.type === 'list') return indexes.map((index) => sampleValue(node.items, same ? 0 : index, isFull));
  if (node.type === 'map')
    return Object.fromEntries(indexes.map((index) => [`key-${index}`, sampleValue(node.values, index, isFull)]));
  throw new Error('only lists and maps have a length');
}

const cluster = testCluster({ dialect: 'kubernetes' });

/** The CPU time of a write in milliseconds, whether or not it is valid. */
async function cpuTime(write: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await write().catch((error: unknown) => {
    if (!StatusError.is(error)) throw error;
  });
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const FACTOR = 4;
/** Writes that take less are fast enough, whatever the growth: the square of 16,000 is 256,000,000. */
const NEGLIGIBLE_MS = 120;
/** Between 4, which is linear, and 16, which is quadratic. */
const MAX_GROWTH = 9;

/** How much longer a write takes whose list is four times as long; the least of some tries, because others use the CPU. */
async function growthOf(write: (length: number) => () => Promise<unknown>, length = 16_000): Promise<number> {
  let growth = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && growth > MAX_GROWTH; tries++) {
    const long = await cpuTime(write(length));
    if (long < NEGLIGIBLE_MS) return 1;
    growth = Math.min(growth, long / (await cpuTime(write(length / FACTOR))));
  }
  return growth;
}

/** The client calls that the writes need, for any kind. */
interface AnyApi {
  create(object: object, options: object): Promise<unknown>;
  apply(object: object, options: object): Promise<unknown>;
}

function apiOf(kind: Kind): AnyApi {
  return cluster.api(kind as never) as unknown as AnyApi;
}

describe.each(samples.map((sample) => [`${sample.kind.kind} ${sample.kind.version}`, sample] as const))(
  'a write of %s',
  (_name, { kind, body }) => {
    test('takes time in proportion to the length of each list and map', { timeout: 600_000 }, async () => {
      const { schema } = kind;
      const slow: string[] = [];
      for (const { path, node } of placesOf(schema)) {
        // Each of the many fields of JSON schemas has its own place.
        const isSchema = path.includes('openAPIV3Schema');
        for (const isFull of isSchema ? [false] : [false, true]) {
          const growth = await growthOf(
            (length) => {
              // With all fields, items are different: names and ports. With the required fields only, they are equal.
              const value = longValue(node, length, isFull, !isFull);
              const object = { metadata: { name: 'a' }, ...(withValue(body, schema, path, value, isFull) as object) };
              return () => apiOf(kind).create(object, { dryRun: true });
            },
            isSchema ? 4_000 : 16_000,
          );
          if (growth > MAX_GROWTH) slow.push(`${path.join('.')}: ${growth.toFixed(1)}`);
        }
      }
      expect(slow).toEqual([]);
    });
  },
);

const items = <Item>(length: number, item: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => item(index));

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
    const growth = await growthOf((length) => () => apiOf(Pod).create(object(length), { dryRun: true }));
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
      maxItems: 16_000,
      items: { ...named, 'x-kubernetes-validations': [{ rule: 'self.name.size() < 100' }] },
    },
    'a list with a rule for the list': {
      type: 'array',
      maxItems: 16_000,
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
      await create(16_000);
      expect(await growthOf((length) => () => create(length))).toBeLessThan(MAX_GROWTH);
      expect(
        await growthOf((length) => () => api.apply(object(length), { fieldManager: 'm', force: true, dryRun: true })),
      ).toBeLessThan(MAX_GROWTH);
    },
  );
});
