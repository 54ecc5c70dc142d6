/**
 * What odd definitions once did to a cluster, and must not do again.
 */
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import {
  COLLECTION,
  define,
  definition,
  definitions,
  http,
  object,
  version,
  widget,
} from '../unit/custom-kinds/widgets.js';

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.orch.io,application/json';

describe('a definition whose kind is not in CamelCase', () => {
  test.each(['widget', 'my-kind', 'Kind-X', 'constructor'])('%s is served', async (kind) => {
    const cluster = testCluster();
    const objects = await define(cluster, { names: { kind } });
    expect(await objects.create(widget('a'))).toMatchObject({ kind });
  });

  test('does not stop what comes after it', async () => {
    const cluster = testCluster();
    await define(cluster, { names: { plural: 'bads', kind: 'bad' } });
    await definitions(cluster).create(definition({ names: { plural: 'cats', kind: 'Cat' } }));
    const ask = http(cluster.fork());
    const created = await ask('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'a' } } });
    expect(created.code).toBe(201);
    expect((await ask('GET /apis/example.com/v1/cats')).code).toBe(200);
  });
});

describe('a printer column over a list that is longer than a call has arguments', () => {
  test.each(['.spec..list', '.spec.list[0:200000,0:200000]'])('%s is shown', async (jsonPath) => {
    const cluster = testCluster();
    const additionalPrinterColumns = [{ name: 'List', type: 'string', jsonPath }];
    const objects = await define(cluster, { versions: [version({ additionalPrinterColumns })] });
    await objects.create(widget('a', { list: new Array(200_000).fill(1) }));
    expect((await http(cluster)(`GET ${COLLECTION}`, { accept: AS_TABLE })).code).toBe(200);
  });
});

describe('a length beyond the safe integers', () => {
  test.each([
    ['minLength', '9007199254740993', 422],
    ['maxLength', '9007199254740993', 201],
  ])('%s is compared like any other', async (limit, length, code) => {
    const ask = http(testCluster());
    const spec = object({ text: { type: 'string', [limit]: 0 } });
    const { metadata, spec: defined } = definition({ versions: [version({ spec })] });
    const body = JSON.stringify({ metadata, spec: defined }).replace(`"${limit}":0`, `"${limit}":${length}`);
    const path = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
    expect((await ask(`POST ${path}`, { body })).code).toBe(201);
    const made = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { text: 'abc' } };
    expect((await ask(`POST ${COLLECTION}`, { body: made })).code).toBe(code);
  });
});
