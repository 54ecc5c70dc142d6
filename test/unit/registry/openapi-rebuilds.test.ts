/**
 * Which OpenAPI documents a change of a CRD invalidates. The work is counted as reads of published schemas.
 */
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { VersionHandler } from '../../../src/crd/version-handler.js';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function crd(plural: string, group: string, spec: object = {}) {
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1);
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      ...spec,
    },
  };
}

function server() {
  const handle = createFetchHandler(createCluster({ dialect: 'kubernetes' }));
  const call = (path: string, init: RequestInit = {}) => handle(new Request(`http://cluster.local${path}`, init));
  const send = async (method: string, path: string, body: object, type = 'application/json') => {
    const response = await call(path, { method, body: JSON.stringify(body), headers: { 'content-type': type } });
    if (!response.ok) throw new Error(await response.text());
  };
  return {
    create: (body: object) => send('POST', CRDS, body),
    patch: (name: string, body: object) => send('PATCH', `${CRDS}/${name}`, body, 'application/merge-patch+json'),
    text: async (path: string) => (await call(path)).text(),
    tag: async (path: string) => (await call(path)).headers.get('etag'),
    /** The addresses of the documents of the groups, with their hashes. */
    async index(): Promise<Readonly<Record<string, string>>> {
      const { paths } = (await (await call('/openapi/v3')).json()) as Index;
      return Object.fromEntries(
        Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]),
      );
    },
  };
}

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

function countSchemaReads() {
  return vi.spyOn(VersionHandler.prototype, 'publishedSchema', 'get');
}

/** The paths whose entries differ. */
function changes(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
}

const GROUPS = Array.from({ length: 20 }, (_, index) => `g${index}.example.com`);

describe('OpenAPI documents after a change of a CRD', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('the index reads only the schema of a new CRD, and changes only the hash of its group', async () => {
    const { create, index } = server();
    for (const group of GROUPS) await create(crd('gears', group));
    const before = await index();
    await create(crd('wheels', 'g7.example.com'));
    const reads = countSchemaReads();
    const after = await index();
    expect(reads).toHaveBeenCalledTimes(1);
    expect(changes(before, after)).toEqual(['apis/g7.example.com/v1']);
  });

  test('the index reads no schema again if nothing has changed', async () => {
    const { create, index } = server();
    await create(crd('gears', 'g1.example.com'));
    await index();
    const reads = countSchemaReads();
    await index();
    expect(reads).not.toHaveBeenCalled();
  });

  test('a document of another group is not built again', async () => {
    const { create, text } = server();
    for (const group of GROUPS) await create(crd('gears', group));
    const before = await text('/openapi/v3/apis/g3.example.com/v1');
    await create(crd('wheels', 'g7.example.com'));
    const reads = countSchemaReads();
    expect(await text('/openapi/v3/apis/g3.example.com/v1')).toBe(before);
    expect(reads).not.toHaveBeenCalled();
  });

  test('the document of the changed group contains the new kind', async () => {
    const { create, text } = server();
    await create(crd('gears', 'g7.example.com'));
    await text('/openapi/v3/apis/g7.example.com/v1');
    await create(crd('wheels', 'g7.example.com'));
    expect(await text('/openapi/v3/apis/g7.example.com/v1')).toContain('com.example.g7.v1.Wheel');
  });

  test('hash and ETag change with the schema and are restored with it', async () => {
    const { create, patch, index, tag } = server();
    await create(crd('gears', 'g1.example.com'));
    await create(crd('gears', 'g2.example.com'));
    const [indexBefore, v2Before] = [await index(), await tag('/openapi/v2')];
    const original = crd('gears', 'g1.example.com').spec.versions;
    const schema = { type: 'object', description: 'A gear.' };
    const changed = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    await patch('gears.g1.example.com', { spec: { versions: changed } });
    expect(changes(indexBefore, await index())).toEqual(['apis/g1.example.com/v1']);
    expect(await tag('/openapi/v2')).not.toBe(v2Before);
    await patch('gears.g1.example.com', { spec: { versions: original } });
    expect(await index()).toEqual(indexBefore);
    expect(await tag('/openapi/v2')).toBe(v2Before);
  });

  test('hash and ETag stay if a change of the CRD does not change the documents', async () => {
    const { create, patch, index, tag } = server();
    await create(crd('gears', 'g1.example.com'));
    await create(crd('wheels', 'g1.example.com'));
    const [indexBefore, v2Before] = [await index(), await tag('/openapi/v2')];
    // The order in which the kinds are served changes, too: the kinds of a changed CRD come last.
    await patch('gears.g1.example.com', { spec: { names: { categories: ['all'] } } });
    expect(await index()).toEqual(indexBefore);
    expect(await tag('/openapi/v2')).toBe(v2Before);
  });
});

test('lets others run while it builds documents for many CRDs', async () => {
  const { create, text } = server();
  const fields = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`field${at}`, { type: 'string' }]));
  const properties = { spec: { type: 'object', properties: fields } };
  const schema = { openAPIV3Schema: { type: 'object', properties } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  for (let at = 0; at < 50; at++) await create(crd(`things${at}s`, `g${at}.example.com`, { versions }));
  for (const path of ['/openapi/v2', '/openapi/v3']) {
    let turns = 0;
    let isDone = false;
    const whole = text(path).finally(() => {
      isDone = true;
    });
    for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(await whole).toContain('g49.example.com');
    expect(turns).toBeGreaterThan(2);
  }
});
