/**
 * OpenAPI of custom resources. `openapi-custom/facts.json` contains the output of the reference server's builder for the
 * CRDs beside it, without the descriptions of the added fields, which are ours.
 */
import { readFileSync } from 'node:fs';
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { describe, expect, test } from 'vitest';
import { openApiV2Protobuf } from '../../../src/registry/openapi/v2-protobuf.js';
import type { DocumentV2, DocumentV3, Operation, Schema } from './openapi/documents.js';
import { allSteps, operationsOf } from './openapi/documents.js';

const read = (name: string) => readFileSync(new URL(`openapi-custom/${name}`, import.meta.url), 'utf8');

interface Facts {
  readonly schemas: Readonly<Record<string, unknown>>;
  readonly definitions: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly id?: string }>>>>;
  /** Built-in types that the document also defines. */
  readonly others: readonly string[];
}

const FACTS: Readonly<Record<string, Readonly<Record<string, Facts>>>> = JSON.parse(read('facts.json'));
const WIDGETS = read('widgets.yaml');
const GADGETS = read('gadgets.yaml');

function server(dialect: 'kubernetes' | 'orch' = 'kubernetes') {
  const handle = createFetchHandler(createCluster({ dialect }));
  const call = (path: string, init: RequestInit = {}) => handle(new Request(`http://cluster.local${path}`, init));
  const group = dialect === 'kubernetes' ? 'apiextensions.k8s.io' : 'apiextensions.orch.io';
  const definitions = `/apis/${group}/v1/customresourcedefinitions`;
  const send = async (method: string, path: string, body: string, type = 'application/yaml') => {
    const response = await call(path, { method, body, headers: { 'content-type': type } });
    if (!response.ok) throw new Error(await response.text());
  };
  return {
    call,
    json: async <Document>(path: string) => (await (await call(path)).json()) as Document,
    tag: async (path: string) => (await call(path)).headers.get('etag'),
    define: (yaml: string) => send('POST', definitions, yaml),
    change: (name: string, patch: unknown[]) =>
      send('PATCH', `${definitions}/${name}`, JSON.stringify(patch), 'application/json-patch+json'),
    remove: (name: string) => call(`${definitions}/${name}`, { method: 'DELETE' }),
  };
}

describe('OpenAPI of CRDs compared with the reference server', async () => {
  const { define, json } = server();
  await define(WIDGETS);
  await define(GADGETS);
  const v2 = await json<DocumentV2>('/openapi/v2');
  const cases = Object.entries(FACTS).flatMap(([name, versions]) =>
    Object.entries(versions).map(([version, facts]) => ({ title: `${name} ${version}`, facts })),
  );

  describe.each(cases)('OpenAPI of $title', ({ facts }) => {
    const place = Object.keys(facts.paths)[0]?.split('/').slice(1, 4).join('/');

    test('publishes OpenAPI 3 like the reference server', async () => {
      const { components, info, paths } = await json<DocumentV3>(`/openapi/v3/${place}`);
      const names = Object.keys(facts.schemas);
      expect(withoutOurs(components.schemas, names)).toEqual(facts.schemas);
      expect(Object.keys(components)).toEqual(['schemas']);
      expect(Object.keys(components.schemas).filter((name) => !names.includes(name))).toEqual(facts.others);
      expect(info).toEqual({ title: 'Kubernetes CRD Swagger', version: 'v0.1.0' });
      expect(Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, outlineOf(item)]))).toEqual(
        facts.paths,
      );
    });

    test('publishes OpenAPI 2 like the reference server', () => {
      expect(withoutOurs(v2.definitions, Object.keys(facts.definitions))).toEqual(facts.definitions);
      for (const [path, item] of Object.entries(facts.paths)) {
        const ids = operationsOf(v2.paths[path]).map(([method, { operationId }]) => [method, operationId]);
        const wanted = Object.entries(item).flatMap(([method, { id }]) => (id === undefined ? [] : [[method, id]]));
        expect(Object.fromEntries(ids)).toEqual(Object.fromEntries(wanted));
      }
    });
  });

  test('publishes no discovery paths of custom resource groups', async () => {
    const { paths } = await json<{ paths: object }>('/openapi/v3');
    expect(Object.keys(paths)).toContain('apis/example.com/v1');
    expect(Object.keys(paths)).not.toContain('apis/example.com');
    expect(Object.keys(v2.paths).filter((path) => path.includes('example.') && path.endsWith('/'))).toEqual([]);
  });

  test('describes the fields that the server adds', () => {
    const { properties } = v2.definitions['com.example.v1.Widget'] ?? {};
    for (const field of ['apiVersion', 'kind', 'metadata']) expect(properties?.[field]?.description).toMatch(/\w/);
    const embedded = properties?.['spec']?.properties?.['strict']?.properties;
    expect(embedded?.['kind']?.description).toBe(properties?.['kind']?.description);
  });
});

test('publishes integers beyond the safe integers exactly', async () => {
  const { call, define } = server();
  await define(GADGETS);
  const document = await (await call('/openapi/v3/apis/my-group.k8s-tools.example.org/v2')).text();
  expect(document).toContain('"default":9007199254740993');
  expect(document).toContain('"maxLength":9007199254740993');
  const accept = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
  expect((await call('/openapi/v2', { headers: { accept } })).status).toBe(200);
});

test('names schema extensions as the dialect does', async () => {
  const { json, define } = server('orch');
  await define(WIDGETS.replaceAll('kubernetes', 'orch').replaceAll('k8s.io', 'orch.io'));
  const document = JSON.stringify(await json('/openapi/v3/apis/example.com/v1'));
  expect(document).toContain('"x-orch-list-map-keys":["name"]');
  expect(document).toContain('#/components/schemas/io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  expect(document).not.toMatch(/x-kubernetes|k8s/);
});

describe('OpenAPI after CRD changes', () => {
  const V3 = '/openapi/v3/apis/example.com/v1';
  const SPEC = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties';

  test('updates documents and ETags after CRD changes', async () => {
    const { call, json, tag, define, change, remove } = server();
    expect((await call(V3)).status).toBe(404);
    const without = await tag('/openapi/v2');
    await define(WIDGETS);
    const first = { v2: await tag('/openapi/v2'), v3: await tag(V3) };
    expect(first.v2).not.toBe(without);
    const widget = async () => {
      const { components } = await json<DocumentV3>(V3);
      return components.schemas['com.example.v1.Widget']?.properties?.['spec']?.properties;
    };

    // OpenAPI 2 has no defaults, so its document does not change.
    await change('widgets.example.com', [{ op: 'replace', path: `${SPEC}/colour/default`, value: 'green' }]);
    expect((await widget())?.['colour']?.default).toBe('green');
    const second = { v2: await tag('/openapi/v2'), v3: await tag(V3) };
    expect(second.v2).toBe(first.v2);
    expect(second.v3).not.toBe(first.v3);

    await change('widgets.example.com', [{ op: 'add', path: `${SPEC}/weight`, value: { type: 'integer' } }]);
    expect((await widget())?.['weight']).toEqual({ type: 'integer' });
    expect(await tag('/openapi/v2')).not.toBe(second.v2);
    const { paths } = await json<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
    const current = (await tag(V3))?.replaceAll('"', '');
    expect(paths['apis/example.com/v1']?.serverRelativeURL).toBe(`${V3}?hash=${current}`);

    await remove('widgets.example.com');
    expect((await call(V3)).status).toBe(404);
    expect(await tag('/openapi/v2')).toBe(without);
    expect(Object.keys((await json<DocumentV2>('/openapi/v2')).definitions)).not.toContain('com.example.v1.Widget');
  });

  test('keeps the documents of other kinds when a version changes', async () => {
    const { tag, define, change } = server();
    await define(WIDGETS);
    await define(GADGETS);
    const before = await tag(V3);
    await change('gadgets.my-group.k8s-tools.example.org', [
      { op: 'replace', path: '/spec/versions/1/served', value: false },
    ]);
    expect(await tag(V3)).toBe(before);
    expect(await tag('/openapi/v3/apis/my-group.k8s-tools.example.org/v2')).toBeNull();
  });
});

test('encodes schema constraints in protobuf', () => {
  const X = {
    title: 'T',
    type: 'object',
    multipleOf: 0.5,
    maximum: 1e300,
    exclusiveMaximum: true,
    minimum: -1.5,
    exclusiveMinimum: true,
    maxLength: 9007199254740993n,
    minLength: 300,
    pattern: '^a',
    maxItems: 1,
    minItems: 2,
    uniqueItems: true,
    maxProperties: 3,
    minProperties: 4,
    enum: [1, 2.5, null],
    additionalProperties: true,
  };
  const bytes = allSteps(
    openApiV2Protobuf({ paths: {}, definitions: { X, Y: { minimum: 0, minItems: 0 } }, parameters: {} }),
  );
  // The output of the reference server's encoder.
  const wanted =
    '0a6e0a015812691a015431000000000000e03f399c7500883ce4377e400149000000000000f8bf500158818080808080801060ac026a025e61' +
    '70017802800101880103900104a201041202310aa201061204322e350aa2010712056e756c6c0aaa01021001b201080a066f626a656374' +
    '0a050a01591200';
  expect(Buffer.from(bytes).toString('hex')).toContain(wanted);
});

/** Schemas by name, without descriptions of common fields and of lists. */
function withoutOurs(schemas: Readonly<Record<string, Schema>>, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, stripped(schemas[name], name.includes('List'))]));
}

function stripped(value: unknown, isList: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => stripped(item, isList));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, part]): [string, unknown][] => {
    if (key === 'description' && isList) return [];
    if (key === 'default' || key === 'enum') return [[key, part]];
    return [[key, key === 'properties' ? fieldsOf(part as Record<string, Schema>, isList) : stripped(part, isList)]];
  });
  return Object.fromEntries(entries);
}

function fieldsOf(properties: Readonly<Record<string, Schema>>, isList: boolean): object {
  const entries = Object.entries(properties).map(([name, field]) => {
    const { description, ...form } = field;
    const isOurs = isList || ['apiVersion', 'kind', 'metadata'].includes(name);
    return [name, stripped(isOurs ? form : field, isList)];
  });
  return Object.fromEntries(entries);
}

/** A path in the form of the facts. */
function outlineOf(item: DocumentV3['paths'][string]): object {
  const { parameters = [] } = item;
  const operations = operationsOf(item).map(([method, operation]) => [method, operationOutline(operation)]);
  return { ...Object.fromEntries(operations), parameters: parameters.map(({ name }) => name) };
}

function operationOutline(operation: Operation): object {
  const { requestBody, responses, parameters = [] } = operation;
  const content = Object.entries(requestBody?.content ?? {});
  const answers = Object.entries(responses).map(([code, answer]) => [
    code,
    referredBy(Object.values(answer.content ?? {})),
  ]);
  return {
    id: operation.operationId,
    tag: operation.tags.join(),
    action: operation['x-kubernetes-action'],
    kind: (operation['x-kubernetes-group-version-kind'] as { kind: string }).kind,
    parameters: parameters.map(({ name }) => name),
    ...(requestBody === undefined
      ? {}
      : { takes: content.map(([type]) => type).sort(), body: referredBy(content.map(([, held]) => held)) }),
    gives: Object.keys(responses['200']?.content ?? {}),
    answers: Object.fromEntries(answers),
  };
}

function referredBy([first]: readonly unknown[]): string {
  return (first as { schema: Schema } | undefined)?.schema.$ref?.split('/').at(-1) ?? '';
}
