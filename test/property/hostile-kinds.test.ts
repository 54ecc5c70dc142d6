/**
 * Random input for built-in kinds: the response is an object or a Status that blames the request, never a server error,
 * and never a partial change. The input comes from the schemas of the kinds, so that every rule sees absent, empty and
 * invalid values.
 */
import type { Cluster, Kind } from 'orchplane';
import { StatusError } from 'orchplane';
import { builtInKinds } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { removedKinds } from '../../src/kinds/releases/index.js';
import { kubernetesDialect } from '../../src/meta/dialect.js';
import type { DraftObject } from '../../src/meta/object.js';
import { valueBody } from '../../src/protocol/body.js';
import { decode } from '../../src/schema/decode.js';
import type { ObjectNode, ScalarNode, SchemaNode } from '../../src/schema/schema-node.js';
import { copyJson, deepFreeze } from '../../src/util/json.js';

/** A seeded random number generator (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Random = () => number;

const TEXTS = [
  '',
  'a',
  'web',
  'a.b/c',
  'example.com/x',
  'TCP',
  'Always',
  'True',
  '*',
  '/',
  '../x',
  'A B',
  '10.0.0.1',
  '::1',
  '10.0.0.0/24',
  '* * * * *',
  'v1',
  '1.2.3',
  '__proto__',
  'constructor',
  'é',
  '-',
  'x'.repeat(300),
  '80',
  '50%',
  '$(X)',
  'metadata.name',
  'limits.cpu',
  'PEM',
  '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
];
const NUMBERS = [0, 1, -1, 2, 10, 80, 65535, 65536, 2147483647, -2147483648];
const KEYS = [
  'a',
  'b',
  'cpu',
  'memory',
  'pods',
  'storage',
  'app',
  'example.com/x',
  '',
  '__proto__',
  'constructor',
  'A B',
];
const QUANTITIES = ['0', '1', '-1', '500m', '1Gi', '0.5', '1e3'];

function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

const MAX_DEPTH = 12;

function value(node: SchemaNode, random: Random, depth: number): unknown {
  if (random() < 0.03) return null;
  switch (node.type) {
    case 'scalar':
      return scalar(node, random);
    case 'any':
      return pick([{}, { a: 1 }, 'text', 1, null, [], { type: 'object' }], random);
    case 'list':
      return depth > MAX_DEPTH
        ? []
        : Array.from({ length: Math.floor(random() * 3) }, () => value(node.items, random, depth + 1));
    case 'map': {
      const out: Record<string, unknown> = {};
      for (let count = Math.floor(random() * 3); count > 0; count--) {
        Object.defineProperty(out, pick(KEYS, random), {
          value: value(node.values, random, depth + 1),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return out;
    }
    case 'object':
      return object(node, random, depth);
  }
}

function object(node: ObjectNode, random: Random, depth: number): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  // Deep structures stay sparse, because one object would take too long otherwise.
  const presence = depth > MAX_DEPTH ? 0 : 0.75 / (1 + depth * 0.25);
  for (const field of node.fields.values()) {
    if (random() < (field.required ? 0.85 : presence)) out[field.name] = value(field.node, random, depth + 1);
  }
  return out;
}

function scalar({ scalar: type }: ScalarNode, random: Random): unknown {
  switch (type) {
    case 'string':
      return pick(TEXTS, random);
    case 'int32':
    case 'int64':
    case 'number':
      return pick(NUMBERS, random);
    case 'boolean':
      return random() < 0.5;
    case 'bytes':
      return pick(['', 'AAAA', 'LS0tLS1CRUdJTg=='], random);
    case 'time':
      return '2030-01-01T00:00:00Z';
    case 'microTime':
      return '2030-01-01T00:00:00.000000Z';
    case 'quantity':
      return pick(QUANTITIES, random);
    case 'intOrString':
      return pick<unknown>([...NUMBERS, '50%', 'http', ''], random);
    case 'duration':
      return '1s';
  }
}

const NAMES = ['a', 'b', 'v1.example.com', '10.0.0.1', 'things.example.com', 'a.b:c:d'];

function input(kind: Kind, random: Random): Record<string, unknown> {
  const { metadata: _, kind: __, apiVersion: ___, ...body } = object(kind.schema, random, 0);
  const metadata: Record<string, unknown> = { name: pick(NAMES, random) };
  if (random() < 0.2) metadata['labels'] = { [pick(KEYS, random)]: pick(TEXTS, random) };
  if (random() < 0.2) metadata['annotations'] = { [pick(KEYS, random)]: pick(TEXTS, random) };
  return { metadata, ...body };
}

async function send(cluster: Cluster, kind: Kind, request: object): Promise<void> {
  const before = cluster.resourceVersion;
  const resource = { group: cluster.dialect.group(kind.group), version: kind.version, resource: kind.names.plural };
  const namespace = kind.scope === 'Namespaced' ? { namespace: 'default' } : {};
  try {
    await cluster.send({ verb: 'create', resource, options: {}, ...namespace, ...request });
  } catch (error) {
    expect(StatusError.is(error), error instanceof Error ? error.stack : String(error)).toBe(true);
    const { status } = error as StatusError;
    // The reference server also returns a few 500s; one with a cause is an error of this server.
    const isOurs = (status.code ?? 0) >= 500 && (error as StatusError).cause !== undefined;
    expect(isOurs, status.message).toBe(false);
    expect(cluster.resourceVersion).toBe(before);
  }
}

const ROUNDS = 30;

describe('built-in kinds', () => {
  for (const kind of builtInKinds) {
    test(`handles random input of ${kind.kind} in ${kind.version}`, async () => {
      const cluster = testCluster({ runtimeConfig: 'api/all=true', featureGates: { AllAlpha: true, AllBeta: true } });
      const random = randomFrom(kind.kind.length * 7919 + kind.version.length);
      for (let round = 0; round < ROUNDS; round++) {
        const first = input(kind, random);
        await send(cluster, kind, { body: valueBody(first) });
        const { name } = first['metadata'] as { name: string };
        if (!kind.verbs.includes('update')) continue;
        const body = { ...input(kind, random), metadata: { name } };
        await send(cluster, kind, { verb: 'update', name, body: valueBody(body) });
        for (const [subresource, { verbs, type }] of Object.entries(kind.subresources)) {
          if (type !== undefined || !verbs.includes('update')) continue;
          await send(cluster, kind, { verb: 'update', name, subresource, body: valueBody(body) });
        }
      }
    });
  }
});

describe('the conversions of built-in kinds', () => {
  const converted = [...builtInKinds, ...removedKinds].filter(
    ({ storageVersion }) => storageVersion?.toStored ?? storageVersion?.fromStored,
  );

  test.each(converted.map((kind) => [`${kind.kind} in ${kind.group}/${kind.version}`, kind] as const))(
    'change only the top level and the metadata: %s',
    (_name, kind) => {
      const { kind: stored = kind, toStored, fromStored } = kind.storageVersion ?? {};
      const random = randomFrom(kind.kind.length * 7919 + kind.version.length);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [from, convert] of [
          [kind, toStored],
          [stored, fromStored],
        ] as const) {
          const { value } = decode(from.schema, { value: input(from, random) });
          const draft = { ...deepFreeze(value), metadata: copyJson(value['metadata']) } as unknown as DraftObject;
          // Throws a TypeError if it changes a frozen value.
          convert?.(draft, kubernetesDialect);
          expect(draft.metadata.name).toBeDefined();
        }
      }
    },
  );
});
