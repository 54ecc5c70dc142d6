/** Custom resources: decoding, pruning, defaulting, validation and responses. */
import type { ClusterOptions } from 'orchplane';
import { jsonPatch, mergePatch, strategicPatch } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../server/watch-reader.js';
import {
  ANYTHING,
  api,
  COLLECTION,
  define,
  GROUP,
  http,
  object,
  type RequestOptions,
  redefine,
  version,
  widget,
} from './widgets.js';

const STRING = { type: 'string' };
const INTEGER = { type: 'integer' };
type Json = Record<string, unknown>;

async function served(spec: Json, more: Json = {}, options: ClusterOptions = {}) {
  const cluster = testCluster(options as object);
  const widgets = await define(cluster, { versions: [version({ spec, ...more })] });
  return { cluster, widgets, send: http(cluster) };
}

const SIZED = object({
  size: INTEGER,
  name: STRING,
  list: { type: 'array', items: object({ a: STRING }) },
  map: { type: 'object', additionalProperties: object({ b: STRING }) },
});

const sent = (body: unknown, options: RequestOptions = {}): RequestOptions => ({ body, ...options });
const whole = (name: string, spec: unknown) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec,
});

describe('a request body', () => {
  test.each([
    ['{', 400, 'unexpected end of JSON input'],
    ['[]', 400, 'cannot unmarshal array'],
    ['{"kind":"Widget"}', 400, 'does not match the expected API version'],
    [JSON.stringify({ ...whole('a', {}), kind: 'Other' }), 422, 'kind: Invalid value: "Other": must be Widget'],
    [
      JSON.stringify({ ...whole('a', {}), metadata: { name: 5 } }),
      400,
      'cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    ],
    [JSON.stringify(whole('a', { size: 'big' })), 422, 'spec.size in body must be of type integer: "string"'],
    [JSON.stringify(whole('A', {})), 422, 'metadata.name: Invalid value: "A"'],
    [JSON.stringify({ ...whole('a', {}), metadata: {} }), 422, 'name or generateName is required'],
  ])('rejects the body %s', async (body, code, message) => {
    const { send } = await served(SIZED);
    const response = await send(`POST ${COLLECTION}`, sent(body));
    expect(response.body.message).toContain(message);
    expect(response.code).toBe(code);
  });

  test('evaluates the rules for an object of another kind, without defaults', async () => {
    const rule = { 'x-orch-validations': [{ rule: 'self.size < 5' }] };
    const { send } = await served(object({ size: { type: 'integer', default: 1 } }, rule));
    const { code, body } = await send(`POST ${COLLECTION}`, sent({ ...whole('a', {}), kind: 'Other' }));
    expect(code).toBe(422);
    expect(body.message).toContain(
      '[kind: Invalid value: "Other": must be Widget, spec: Invalid value: "object": no such key: size',
    );
  });

  test('rejects an object of another kind also after a plugin that may change it', async () => {
    const plugin = { name: 'example.com/idle', mutate: () => undefined };
    const { send } = await served(object({ size: { type: 'integer', default: 1 } }), {}, { admission: [plugin] });
    const { code, body } = await send(`POST ${COLLECTION}`, sent({ ...whole('a', {}), kind: 'Other' }));
    expect([code, body.message]).toEqual([
      422,
      expect.stringContaining('kind: Invalid value: "Other": must be Widget'),
    ]);
  });

  test('rejects a protobuf body and a request for a protobuf response', async () => {
    const { send } = await served(SIZED);
    const type = 'application/vnd.orch.protobuf';
    expect((await send(`POST ${COLLECTION}`, sent('k8s\u0000', { type }))).code).toBe(400);
    expect((await send(`GET ${COLLECTION}`, { accept: type })).code).toBe(406);
    expect((await send(`GET ${COLLECTION}`, { accept: `${type}, application/json` })).code).toBe(200);
    expect((await send(`POST ${COLLECTION}`, sent('x', { type: 'text/html' }))).code).toBe(415);
  });

  test('decodes a YAML body', async () => {
    const { send } = await served(SIZED);
    const body = `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 0x10\n`;
    const response = await send(`POST ${COLLECTION}`, sent(body, { type: 'application/yaml' }));
    expect(response.body['spec']).toEqual({ size: 16 });
  });

  test('reports unknown fields according to fieldValidation', async () => {
    const { send } = await served(SIZED);
    const body = whole('a', { size: 1, more: 1, list: [{ a: 'x', z: 1 }], map: { k: { y: 1 } } });
    const fields = ['spec.list[0].z', 'spec.map.k.y', 'spec.more'].map((path) => `unknown field "${path}"`);
    expect((await send(`POST ${COLLECTION}?fieldValidation=Warn&dryRun=All`, sent(body))).warnings).toEqual(fields);
    expect((await send(`POST ${COLLECTION}?fieldValidation=Ignore&dryRun=All`, sent(body))).warnings).toEqual([]);
    const strict = await send(`POST ${COLLECTION}?fieldValidation=Strict`, sent(body));
    expect(strict.code).toBe(400);
    expect(strict.body.message).toContain(`strict decoding error: ${fields.join(', ')}`);
    const repeated = JSON.stringify(body).replace('"more":1', '"size":2');
    expect((await send(`POST ${COLLECTION}?dryRun=All`, sent(repeated))).warnings[0]).toContain('duplicate field');
  });

  // Each path contains the key: together they have 10 billion characters.
  test.each([
    ['unknown fields', '{"b":1}', 'Ignore', 201],
    ['unknown fields', '{"b":1}', 'Strict', 400],
    ['duplicate fields', '{"a":"","a":""}', 'Strict', 400],
    ['values of another type', '{"a":1}', 'Ignore', 422],
    ['values that are too long', '{"a":"too long"}', 'Ignore', 422],
  ])('reports some of many %s (%s) below a long key with %s', async (_what, item, fieldValidation, code) => {
    const items = object({ a: { type: 'string', maxLength: 1 } });
    const { send } = await served({ type: 'object', additionalProperties: { type: 'array', items } });
    const body = JSON.stringify(whole('a', { ['k'.repeat(200_000)]: [] })).replace(
      '[]',
      `[${Array(50_000).fill(item).join()}]`,
    );
    const response = await send(`POST ${COLLECTION}?dryRun=All&fieldValidation=${fieldValidation}`, sent(body));
    expect(response.code).toBe(code);
    expect(response.text.length).toBeLessThan(20_000_000);
  });

  test('rejects a body that is too long', async () => {
    const { send } = await served(SIZED);
    const response = await send(`POST ${COLLECTION}`, sent(whole('a', { name: 'x'.repeat(4 * 1024 * 1024) })));
    expect(response.code).toBe(413);
  });

  test('stores a body of a megabyte or of many levels unchanged', async () => {
    const { cluster } = await served(SIZED);
    await redefine(cluster, (spec) => {
      spec['versions'] = [version()];
    });
    const send = http(cluster);
    const text = 'x'.repeat(1024 * 1024);
    expect((await send(`POST ${COLLECTION}`, sent(whole('long', { text })))).code).toBe(201);
    expect(((await send(`GET ${COLLECTION}/long`)).body['spec'] as Json)['text']).toBe(text);
    const deep = `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`;
    const body = JSON.stringify(whole('deep', 0)).replace('"spec":0', `"spec":${deep}`);
    expect((await send(`POST ${COLLECTION}`, sent(body))).code).toBe(201);
    expect((await send(`GET ${COLLECTION}/deep`)).text).toContain(deep);
  });
});

describe('a stored object', () => {
  test('stores only fields that the schema specifies or preserves', async () => {
    const { widgets } = await served(
      object({ a: STRING, any: { ...ANYTHING, properties: { known: object({ k: STRING }) } } }),
    );
    const made = await widgets.create(
      widget('a', { a: 'x', z: 1, any: { free: [1, { b: 2 }], known: { k: 'v', z: 1 } } }),
    );
    expect(made['spec']).toEqual({ a: 'x', any: { free: [1, { b: 2 }], known: { k: 'v' } } });
    expect(await widgets.create(widget('b', {}, { top: 1 }))).not.toHaveProperty('top');
  });

  test('keeps allowed nulls, replaces nulls that have a default and drops other nulls', async () => {
    const { widgets } = await served(
      object({ maybe: { ...STRING, nullable: true }, set: { ...STRING, default: 'd' }, not: STRING }),
    );
    const made = await widgets.create(widget('a', { maybe: null, set: null, not: null }));
    expect(made['spec']).toEqual({ maybe: null, set: 'd' });
  });

  test('stores fields named like JavaScript properties', async () => {
    const properties = Object.fromEntries(['constructor', 'toString', 'hasOwnProperty'].map((name) => [name, STRING]));
    Object.defineProperty(properties, '__proto__', { value: STRING, enumerable: true });
    const map = { type: 'object', additionalProperties: STRING };
    const { send } = await served(object({ ...properties, fields: { type: 'object', properties }, map }));
    const inner = '{"__proto__":"p","constructor":"c","hasOwnProperty":"h","toString":"t"}';
    const body = `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"fields":${inner},"map":${inner},"valueOf":"gone"}}`;
    const made = await send(`POST ${COLLECTION}`, sent(body));
    expect(made.warnings).toEqual(['unknown field "spec.valueOf"']);
    expect(made.text).toContain(`"spec":{"fields":${inner},"map":${inner}}`);
    const patch = '{"spec":{"map":{"__proto__":null,"toString":"T"}}}';
    const type = 'application/merge-patch+json';
    const patched = await send(`PATCH ${COLLECTION}/a`, sent(patch, { type }));
    expect(patched.text).toContain('"map":{"constructor":"c","hasOwnProperty":"h","toString":"T"}');
    expect({}.toString()).toBe('[object Object]');
  });

  test('keeps large integers exact', async () => {
    const { send } = await served(object({ n: { ...INTEGER, format: 'int64' } }));
    const body = JSON.stringify(whole('a', { n: 1 })).replace('"n":1', '"n":9007199254740993');
    expect((await send(`POST ${COLLECTION}`, sent(body))).text).toContain('"n":9007199254740993');
    expect((await send(`GET ${COLLECTION}/a`)).text).toContain('"n":9007199254740993');
    const type = 'application/merge-patch+json';
    const patched = await send(`PATCH ${COLLECTION}/a`, sent('{"spec":{"n":-9223372036854775808}}', { type }));
    expect(patched.text).toContain('"n":-9223372036854775808');
  });

  test('stores objects with sorted keys', async () => {
    const { send } = await served(ANYTHING);
    const body = `{"spec":{"b":{"z":1,"y":[{"q":1,"p":2}]},"a":1,"B":1,"é":1},"kind":"Widget","metadata":{"name":"a"},"apiVersion":"${GROUP}/v1"}`;
    const { text } = await send(`POST ${COLLECTION}`, sent(body));
    expect(text).toContain('"spec":{"B":1,"a":1,"b":{"y":[{"p":2,"q":1}],"z":1},"é":1}');
    expect(text).toMatch(/^\{"apiVersion":"example.com\/v1","kind":"Widget","metadata":\{/);
  });
});

describe('defaults', () => {
  const before = object({ size: INTEGER });
  const after = object({
    size: INTEGER,
    colour: { ...STRING, default: 'red' },
    deep: object({ x: { ...INTEGER, default: 1 } }),
  });

  test('applies defaults on writes', async () => {
    const { widgets } = await served(after);
    expect((await widgets.create(widget('a', { size: 1, deep: {} })))['spec']).toEqual({
      size: 1,
      colour: 'red',
      deep: { x: 1 },
    });
  });

  test('applies defaults of a newer schema on reads and stores them with the next write', async () => {
    const { cluster, widgets } = await served(before);
    const made = await widgets.create(widget('a', { size: 1 }));
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: after })];
    });
    const read = await api(cluster).get('a');
    expect(read['spec']).toEqual({ size: 1, colour: 'red' });
    expect(read.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    expect((await api(cluster).list()).items[0]?.['spec']).toEqual({ size: 1, colour: 'red' });
    const written = await api(cluster).update(read as never);
    expect(written.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
    expect(written.metadata.generation).toBe(1);
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: object({ size: INTEGER, colour: STRING }) })];
    });
    expect((await api(cluster).get('a'))['spec']).toEqual({ size: 1, colour: 'red' });
  });

  test('does not serve fields that a newer schema does not specify', async () => {
    const { cluster, widgets } = await served(after);
    await widgets.create(widget('a', { size: 1 }));
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: before })];
    });
    expect((await api(cluster).get('a'))['spec']).toEqual({ size: 1 });
  });
});

describe('generation', () => {
  test('increments the generation on changes of everything except metadata and a separate status', async () => {
    const { widgets } = await served(ANYTHING);
    await widgets.create(widget('a', { x: 1 }));
    const labelled = await widgets.patch('a', mergePatch({ metadata: { labels: { l: 'x' } } }) as never);
    expect(labelled.metadata.generation).toBe(1);
    const changed = await widgets.patch('a', mergePatch({ spec: { x: 2 } }) as never);
    expect(changed.metadata.generation).toBe(2);
  });

  test('increments the generation on status changes without the subresource', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await widgets.create(widget('a', {}, { status: { s: 1 } }));
    expect((await widgets.patch('a', mergePatch({ status: { s: 2 } }) as never)).metadata.generation).toBe(2);
  });
});

describe('patches', () => {
  test('rejects strategic merge patches', async () => {
    const { widgets, send } = await served(SIZED);
    await widgets.create(widget('a', { size: 1 }));
    expect(await failureOf(widgets.patch('a', strategicPatch({ spec: { size: 2 } } as never) as never))).toMatchObject({
      code: 415,
    });
    const response = await send(`PATCH ${COLLECTION}/a`, sent({}, { type: 'application/strategic-merge-patch+json' }));
    expect(response.code).toBe(415);
    expect(response.body.message).toContain('accepted media types include: application/json-patch+json');
  });

  test('validates patched objects by the schema with ratcheting', async () => {
    const { cluster, widgets } = await served(SIZED);
    await widgets.create(widget('a', { size: 1, name: 'long name' }));
    expect(await failureOf(widgets.patch('a', mergePatch({ spec: { size: 'x' } }) as never))).toMatchObject({
      code: 422,
    });
    const patch = jsonPatch([{ op: 'test', path: '/spec/size', value: 2 }]);
    expect(await failureOf(widgets.patch('a', patch as never))).toMatchObject({ code: 422 });
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ spec: object({ size: INTEGER, name: { ...STRING, maxLength: 3 } }) })];
    });
    expect(await api(cluster).patch('a', mergePatch({ spec: { size: 2 } }) as never)).toMatchObject({
      spec: { size: 2, name: 'long name' },
    });
    expect(await failureOf(api(cluster).patch('a', mergePatch({ spec: { name: 'longer' } }) as never))).toMatchObject({
      code: 422,
    });
  });

  test.each([
    ['a field of the wrong type', { size: 'big' }, {}, 'Invalid value: "string": spec.size in body must be of type'],
    ['a missing field', {}, {}, 'spec.size: Required value'],
    [
      'too long annotations',
      { size: 9 },
      { annotations: { a: 'x'.repeat(300_000) } },
      'metadata.annotations: Too long',
    ],
  ])('does not evaluate validation rules of an object with %s', async (_what, spec, metadata, message) => {
    const rule = { rule: 'self.size < 5', message: 'must be small' };
    const { widgets } = await served(object({ size: INTEGER }, { required: ['size'], 'x-orch-validations': [rule] }));
    const rejected = String(await failureOf(widgets.create({ metadata: { name: 'a', ...metadata }, spec })));
    expect(rejected).toContain(message);
    expect(rejected).toContain('<nil>: Invalid value: "null": some validation rules were not checked because');
    expect(rejected).not.toContain('must be small');
    await expect(widgets.create({ metadata: { name: 'a' }, spec: { size: 9 } })).rejects.toThrow('must be small');
  });

  test('rejects an update without a resourceVersion', async () => {
    const { widgets } = await served(SIZED);
    await widgets.create(widget('a', { size: 1 }));
    expect(await failureOf(widgets.update(widget('a', { size: 2 })))).toMatchObject({
      code: 422,
      message:
        'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
    });
  });
});

describe('apply', () => {
  test('tracks the owners of fields and items by the keys of the schema', async () => {
    const list = {
      type: 'array',
      'x-orch-list-type': 'map',
      'x-orch-list-map-keys': ['name'],
      items: object({ name: STRING, port: INTEGER }, { required: ['name'] }),
    };
    const { widgets } = await served(
      object({ list, tags: { type: 'array', items: STRING, 'x-orch-list-type': 'set' } }),
    );
    await widgets.apply(widget('a', { list: [{ name: 'x', port: 1 }], tags: ['p'] }), { fieldManager: 'one' });
    await widgets.apply(widget('a', { list: [{ name: 'y', port: 2 }], tags: ['q'] }), { fieldManager: 'two' });
    expect((await widgets.get('a'))['spec']).toEqual({
      list: [
        { name: 'x', port: 1 },
        { name: 'y', port: 2 },
      ],
      tags: ['p', 'q'],
    });
    const failure = await failureOf(
      widgets.apply(widget('a', { list: [{ name: 'x', port: 9 }] }), { fieldManager: 'two' }),
    );
    expect(failure).toMatchObject({ code: 409, message: expect.stringContaining('.spec.list[name="x"].port') });
    await widgets.apply(widget('a', { list: [{ name: 'x', port: 9 }] }), { fieldManager: 'two', force: true });
    expect((await widgets.get('a'))['spec']).toEqual({ list: [{ name: 'x', port: 9 }], tags: ['p'] });
  });

  test('rejects null in a field that cannot be null, which other requests drop', async () => {
    const { widgets } = await served(object({ size: INTEGER, name: { ...STRING, nullable: true } }));
    const spec = { size: null, name: null };
    const failure = await failureOf(widgets.apply(widget('a', spec), { fieldManager: 'one' }));
    expect(failure).toMatchObject({
      code: 422,
      message: expect.stringContaining('spec.size in body must be of type integer: "null"'),
    });
    expect((await widgets.create(widget('a', spec)))['spec']).toEqual({ name: null });
  });
});

test('rejects an object that defaults would make larger than the storage of the reference server accepts', async () => {
  const port = object({ a: { ...STRING, default: 'x'.repeat(100) }, b: { ...STRING, default: 'y' } });
  const { widgets } = await served(object({ ports: { type: 'array', items: port } }));
  const ports = (count: number) => Array.from({ length: count }, () => ({}));
  const failure = await failureOf(widgets.create(widget('a', { ports: ports(20_000) })));
  expect(failure).toMatchObject({ code: 500, message: 'etcdserver: request is too large' });
  await expect(widgets.create(widget('a', { ports: ports(10_000) }))).resolves.toBeDefined();
});

test('reads an object without defaults that were added later and would make it too large', async () => {
  const item = (properties: object) => object({ list: { type: 'array', items: object(properties as never) } });
  const { cluster, widgets } = await served(item({ a: STRING }));
  const list = Array.from({ length: 20_000 }, () => ({}));
  await widgets.create(widget('large', { list }));
  await widgets.create(widget('small', { list: [{}] }));
  const schema = item({ a: { ...STRING, default: 'x'.repeat(100) } });
  await redefine(cluster, (spec) => {
    const [first] = spec['versions'] as { schema: unknown }[];
    Object.assign(first as object, version({ spec: schema }));
  });
  expect((await widgets.get('large'))['spec']).toEqual({ list });
  expect((await widgets.get('small'))['spec']).toEqual({ list: [{ a: 'x'.repeat(100) }] });
});

test('does not read the managers of an object again that an update sends back', async () => {
  const { widgets } = await served(object({ tags: { type: 'array', items: STRING, 'x-orch-list-type': 'set' } }));
  const made = await widgets.create(widget('a', { tags: ['p', 'q'] }), { fieldManager: 'one' });
  const updated = await widgets.update(
    {
      ...made,
      metadata: { ...made.metadata, labels: { a: 'b' }, managedFields: structuredClone(made.metadata.managedFields) },
    } as never,
    { fieldManager: 'two' },
  );
  const fieldsOf = ({ metadata }: typeof made) =>
    metadata.managedFields?.find(({ manager }) => manager === 'one')?.fieldsV1;
  expect(updated.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['one', 'two']);
  expect(fieldsOf(updated)).toBe(fieldsOf(made));
});
