/**
 * Hidden classes: generic code handles all kinds and schema nodes at the same call sites, which is fast only if all of
 * them have one hidden class with fast properties.
 */
import { setFlagsFromString } from 'node:v8';
import { createClient, createCluster, defineKind, mergePatch, type Transport } from 'orchplane';
import { builtInKinds, ConfigMap, CustomResourceDefinition, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { serveKind } from '../../../src/kinds/served-kind.js';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';
import type { SchemaNode } from '../../../src/schema/schema-node.js';
import { lazyMembers, SOURCE } from '../../../src/util/hidden-class.js';

setFlagsFromString('--allow-natives-syntax');
const haveSameHiddenClass = new Function('left', 'right', 'return %HaveSameMap(left, right)') as (
  left: object,
  right: object,
) => boolean;
const hasFastProperties = new Function('object', 'return %HasFastProperties(object)') as (object: object) => boolean;
setFlagsFromString('--no-allow-natives-syntax');

/** The objects with another hidden class than the first one, and those in dictionary mode. */
function misfits(objects: readonly object[]): readonly object[] {
  const [first] = objects;
  if (first === undefined) throw new Error('nothing to compare');
  return objects.filter((object) => !haveSameHiddenClass(object, first) || !hasFastProperties(object));
}

function nodesOf(node: SchemaNode, seen = new Set<SchemaNode>()): Set<SchemaNode> {
  if (seen.has(node)) return seen;
  seen.add(node);
  if (node.type === 'object') for (const field of node.fields.values()) nodesOf(field.node, seen);
  if (node.type === 'list') nodesOf(node.items, seen);
  if (node.type === 'map') nodesOf(node.values, seen);
  return seen;
}

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: { spec: z.object({ size: z.int().default(1), tags: z.array(z.string()).nullable() }) },
});

test('gives kinds, strategies and served kinds one hidden class', () => {
  const kinds = [...builtInKinds, Widget];
  expect(misfits(kinds)).toEqual([]);
  expect(misfits(kinds.map(({ strategy }) => strategy))).toEqual([]);
  expect(misfits(kinds.map((kind) => serveKind(kind, kubernetesDialect)))).toEqual([]);
});

test.each([kubernetesDialect, orchDialect])('gives all schema nodes one hidden class in %o', (dialect) => {
  const nodes = new Set<SchemaNode>();
  for (const kind of [...builtInKinds, Widget]) nodesOf(serveKind(kind, dialect).schema, nodes);
  expect(nodes.size).toBeGreaterThan(2000);
  expect(misfits([...nodes])).toEqual([]);
});

test('gives kinds and nodes of a CRD the same hidden class', async () => {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
  const properties = {
    spec: {
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'string' } },
        map: { type: 'object', additionalProperties: { type: 'integer' } },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        number: { type: 'number', default: 1 },
      },
    },
  } as const;
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties } },
  };
  await cluster.api(CustomResourceDefinition).create({
    metadata: { name: 'gadgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
  } as never);
  const served = cluster.resolve({ group: 'example.com', version: 'v1', resource: 'gadgets' });
  if (served === undefined) throw new Error('gadgets are served');
  expect(misfits([serveKind(Widget, kubernetesDialect), served])).toEqual([]);
  expect(misfits([Widget, served.kind])).toEqual([]);
  expect(misfits([serveKind(Widget, kubernetesDialect).schema, ...nodesOf(served.schema)])).toEqual([]);
  await cluster.close();
});

test('gives the clocks of many test clusters one hidden class', async () => {
  const clusters = Array.from({ length: 12 }, () => testCluster());
  expect(misfits(clusters.map(({ clock }) => clock))).toEqual([]);
  await Promise.all(clusters.map((cluster) => cluster.close()));
});

test('gives all requests of the client one hidden class', async () => {
  let requests: object[] = [];
  const cluster = testCluster();
  const { dialect, clock } = cluster;
  const send: Transport['send'] = (request) => {
    requests.push(request);
    return cluster.send(request);
  };
  const client = createClient({ transport: { dialect, clock, send } });
  const maps = client.api(ConfigMap);
  const admin = client.with({ as: { user: 'system:admin', groups: ['system:masters'] } });
  // The engine learns the property types in the first round.
  for (const name of ['a', 'b']) {
    requests = [];
    await maps.create({ metadata: { name } });
    await maps.update({ metadata: { name }, data: { k: 'v' } }, { fieldManager: 'me' });
    await maps.patch(name, mergePatch({ data: { k: null } }));
    await maps.apply({ metadata: { name }, data: { own: 'x' } }, { fieldManager: 'applier' });
    await maps.list({ labels: { a: 'b' } });
    await client.all(ConfigMap).list();
    await client.api(Namespace).get('default');
    await client.api(Namespace).status.patch('default', mergePatch({ status: {} }));
    await admin.api(ConfigMap).delete(name);
  }
  expect(requests).toHaveLength(9);
  expect(misfits(requests)).toEqual([]);
  await cluster.close();
});

describe('lazy members', () => {
  const withSum = lazyMembers<() => number, { sum: number }>({
    sum() {
      return this[SOURCE]();
    },
  });
  const made = (left: number, right: number) => withSum({ left, right }, () => left + right);

  test('computes lazy members when they are read', () => {
    let computations = 0;
    const counting = withSum({}, () => ++computations);
    expect(computations).toBe(0);
    expect([counting.sum, counting.sum]).toEqual([1, 2]);
  });

  test('copies lazy members with their values', () => {
    expect({ ...made(1, 2) }).toEqual({ left: 1, right: 2, sum: 3 });
    expect(Reflect.ownKeys({ ...made(1, 2) })).toEqual(['left', 'right', 'sum']);
  });

  test('keeps one hidden class for all objects with lazy members', () => {
    expect(misfits(Array.from({ length: 20 }, (_, index) => Object.freeze(made(index, 1))))).toEqual([]);
  });
});
