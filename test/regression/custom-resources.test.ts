/**
 * Defects that unusual CRDs exposed.
 */
import { defineKind, toCRD } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { COLLECTION, define, definition, definitions, http, object, version, widget } from '../unit/crd/widgets.js';

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.orch.io,application/json';

describe('CRD whose kind is not in CamelCase', () => {
  test.each(['widget', 'my-kind', 'Kind-X', 'constructor'])('serves the kind %s', async (kind) => {
    const cluster = testCluster({ dialect: 'kubernetes' });
    const objects = await define(cluster, { names: { kind } });
    expect(await objects.create(widget('a'))).toMatchObject({ kind });
  });

  test('serves kinds that are created after it', async () => {
    const cluster = testCluster({ dialect: 'kubernetes' });
    await define(cluster, { names: { plural: 'bads', kind: 'bad' } });
    await definitions(cluster).create(definition({ names: { plural: 'cats', kind: 'Cat' } }));
    const send = http(cluster.fork());
    const created = await send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'a' } } });
    expect(created.code).toBe(201);
    expect((await send('GET /apis/example.com/v1/cats')).code).toBe(200);
  });
});

describe('printer column over a very long list', () => {
  test.each(['.spec..list', '.spec.list[0:200000,0:200000]'])('evaluates %s', async (jsonPath) => {
    const cluster = testCluster();
    const additionalPrinterColumns = [{ name: 'List', type: 'string', jsonPath }];
    const objects = await define(cluster, { versions: [version({ additionalPrinterColumns })] });
    await objects.create(widget('a', { list: new Array(200_000).fill(1) }));
    expect((await http(cluster)(`GET ${COLLECTION}`, { accept: AS_TABLE })).code).toBe(200);
  });
});

describe('length limit beyond the safe integers', () => {
  test.each([
    ['minLength', '9007199254740993', 422],
    ['maxLength', '9007199254740993', 201],
  ])('compares %s %s correctly with response code %s', async (limit, length, code) => {
    const send = http(testCluster());
    const spec = object({ text: { type: 'string', [limit]: 0 } });
    const { metadata, spec: defined } = definition({ versions: [version({ spec })] });
    const body = JSON.stringify({ metadata, spec: defined }).replace(`"${limit}":0`, `"${limit}":${length}`);
    const path = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
    expect((await send(`POST ${path}`, { body })).code).toBe(201);
    const made = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { text: 'abc' } };
    expect((await send(`POST ${COLLECTION}`, { body: made })).code).toBe(code);
  });
});

describe('printer column with exponential results', () => {
  test.each([`.spec${'..a'.repeat(6)}`, `.spec${"['a','a']".repeat(30)}`])(
    'stops the evaluation of %s',
    async (jsonPath) => {
      const cluster = testCluster();
      const additionalPrinterColumns = [{ name: 'Deep', type: 'string', jsonPath }];
      const objects = await define(cluster, { versions: [version({ additionalPrinterColumns })] });
      await objects.create(
        widget(
          'a',
          nested(60, 'x', (inner) => ({ a: inner })),
        ),
      );
      const { body } = await http(cluster)(`GET ${COLLECTION}`, { accept: AS_TABLE });
      expect(body).toMatchObject({ rows: [{ cells: ['a', null] }] });
    },
  );
});

function nested(levels: number, leaf: unknown, around: (inner: unknown) => unknown): unknown {
  let value = leaf;
  for (let level = 0; level < levels; level++) value = around(value);
  return value;
}

describe('schemas and values nested too deeply', () => {
  const TOO_DEEP = 'json: exceeded max depth';
  const around: Record<string, (inner: unknown) => unknown> = {
    properties: (inner) => ({ type: 'object', properties: { a: inner } }),
    items: (inner) => ({ type: 'array', items: inner }),
    allOf: (inner) => ({ allOf: [inner] }),
    not: (inner) => ({ not: inner }),
  };

  test.each(Object.keys(around))('rejects a CRD with nested %s in process and over HTTP', async (keyword) => {
    const cluster = testCluster();
    const spec = nested(1_200, { type: 'string' }, around[keyword] as never) as Record<string, unknown>;
    const input = definition({ versions: [version({ spec })] });
    await expect(definitions(cluster).create(input)).rejects.toMatchObject({ status: { code: 400 } });
    const path = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
    const { code, body } = await http(cluster)(`POST ${path}`, { body: input });
    expect([code, body.message]).toEqual([400, expect.stringContaining(TOO_DEEP)]);
  });

  test('accepts values as deep as the deepest accepted schema', async () => {
    const cluster = testCluster();
    const spec = nested(240, { type: 'string' }, around['properties'] as never) as Record<string, unknown>;
    const objects = await define(cluster, { versions: [version({ spec })] });
    const value = nested(240, 'x', (inner) => ({ a: inner }));
    expect(await objects.create(widget('a', value))).toMatchObject({ spec: value });
  });

  test('rejects a scale update whose path is too deep', async () => {
    const cluster = testCluster();
    const scale = { specReplicasPath: `.spec.${'a.'.repeat(3_000)}b`, statusReplicasPath: '.status.replicas' };
    const objects = await define(cluster, { versions: [version({ subresources: { scale } })] });
    await objects.create(widget('a'));
    const body = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, spec: { replicas: 2 } };
    const response = await http(cluster)(`PUT ${COLLECTION}/a/scale`, { body });
    expect([response.code, response.body.message]).toEqual([400, TOO_DEEP]);
  });
});

describe('zod schema with exponential size', () => {
  const doubled = () => nested(22, z.string(), (inner) => z.object({ a: inner as z.ZodType, b: inner as z.ZodType }));
  const kindWith = (spec: z.ZodType) =>
    defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced', body: { spec } });

  test('rejects an exponential schema in defineKind', () => {
    expect(() => kindWith(doubled() as z.ZodType)).toThrow(/Widget: the schema has more than 100000 fields/);
  });

  test('rejects an exponential schema in toCRD', () => {
    const kind = kindWith(z.union([doubled() as z.ZodType, z.string()]));
    expect(() => toCRD(kind)).toThrow(/Widget: its CustomResourceDefinition would have more than 100000 fields/);
  });
});

describe('invalid rules in defineKind', () => {
  test.each([
    ['unknown key messge', { rule: 'true', messge: 'x' }],
    ['reason is one of', { rule: 'true', reason: 'Bad' }],
    ['message must be a string', { rule: 'true', message: 3 }],
  ])('rejects a rule with the problem: %s', (problem, rule) => {
    const body = { spec: z.object({ a: z.string() }) };
    const input = { apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced', body, rules: [rule] } as const;
    expect(() => defineKind(input as never)).toThrow(new RegExp(`^orchplane: Widget: rule true: ${problem}`));
  });
});

describe('metadata that is not an object', () => {
  test.each([{ metadata: 1 }, { metadata: 'x' }, { metadata: true }, { metadata: [] }, { metadata: [{ name: 'a' }] }])(
    'rejects the metadata $metadata and stores nothing',
    async ({ metadata }) => {
      const Zed = defineKind({ apiVersion: 'zed.io/v1', kind: 'Zed', scope: 'Namespaced', body: {} });
      const cluster = testCluster();
      cluster.install(Zed);
      const type = Array.isArray(metadata) ? 'array' : typeof metadata === 'boolean' ? 'bool' : typeof metadata;
      const message = `Zed in version "v1" cannot be handled as a Zed: json: cannot unmarshal ${type} into Go value of type v1.ObjectMeta`;
      await expect(cluster.api(Zed).create({ metadata } as never)).rejects.toMatchObject({
        status: { code: 400, reason: 'BadRequest', message },
      });
      await cluster.api(Zed).create({ metadata: { name: 'a' } });
      const patch = { type: 'merge', merge: { metadata } } as never;
      await expect(cluster.api(Zed).patch('a', patch)).rejects.toMatchObject({ status: { code: 422 } });
      expect((await cluster.api(Zed).list()).items).toHaveLength(1);
      await cluster.close();
    },
  );
});
