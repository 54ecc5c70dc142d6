/** Subresources, selectable fields, printer columns and OpenAPI documents of custom resources. */
import type { ApiObject } from 'orchplane';
import { mergePatch } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { failureOf, Reader } from '../server/watch-reader.js';
import {
  ANYTHING,
  api,
  COLLECTION,
  define,
  definitions,
  GROUP,
  http,
  kindOf,
  object,
  version,
  WIDGETS,
  widget,
} from './widgets.js';

const STRING = { type: 'string' };
const INTEGER = { type: 'integer' };
type Json = Record<string, unknown>;

const WHOLE = object({
  spec: object({ replicas: INTEGER, colour: STRING, on: { type: 'boolean' }, deep: object({ n: INTEGER }) }),
  status: object({ replicas: INTEGER, selector: STRING, phase: STRING }),
});

async function served(more: Json, whole: Json = WHOLE) {
  const cluster = testCluster();
  const widgets = await define(cluster, { versions: [version({ whole, ...more })] });
  return { cluster, widgets, send: http(cluster) };
}

describe('the status subresource', () => {
  const parts = { subresources: { status: {} } };

  test('separates the status from the rest of the object', async () => {
    const { widgets } = await served(parts);
    const made = await widgets.create(widget('a', { replicas: 1 }, { status: { phase: 'sent' } }));
    expect(made['status']).toBeUndefined();
    const status = widgets.subresource('status');
    const body = { ...made, metadata: { ...made.metadata, labels: { l: 'x' } }, spec: {}, status: { phase: 'ok' } };
    const updated = (await status.update('a', body as never)) as unknown as ApiObject;
    expect(updated).toMatchObject({ spec: { replicas: 1 }, status: { phase: 'ok' }, metadata: { generation: 1 } });
    expect(updated.metadata.labels).toBeUndefined();
    const changed = await widgets.patch('a', mergePatch({ spec: { replicas: 2 }, status: { phase: 'no' } }) as never);
    expect(changed).toMatchObject({ spec: { replicas: 2 }, status: { phase: 'ok' }, metadata: { generation: 2 } });
    expect(changed.metadata.managedFields?.map(({ subresource }) => subresource)).toContain('status');
  });

  test('stores a default of the status with the first write after the creation, a deletion included', async () => {
    const whole = object({ status: object({ phase: STRING }, { default: { phase: 'new' } }) });
    const { widgets } = await served(parts, whole);
    const versionOf = async (name: string) =>
      (await widgets.patch(name, mergePatch({}) as never)).metadata.resourceVersion;
    const created = await widgets.create(widget('a'));
    expect(created).toMatchObject({ status: { phase: 'new' } });
    const first = await versionOf('a');
    expect(first).not.toBe(created.metadata.resourceVersion);
    expect(await versionOf('a')).toBe(first);

    await widgets.create({ metadata: { name: 'b', finalizers: ['example.com/hold'] } });
    await widgets.delete('b');
    const deleted = await widgets.get('b');
    expect(deleted.metadata.deletionTimestamp).toBeDefined();
    expect(await versionOf('b')).toBe(deleted.metadata.resourceVersion);
  });

  test('accepts null as the status of an object that has none', async () => {
    const { widgets, send } = await served(parts);
    await widgets.create(widget('a'));
    const apply = (status: unknown) =>
      send(`PATCH ${COLLECTION}/a/status?fieldManager=m`, {
        body: { apiVersion: `${GROUP}/v1`, kind: 'Widget', status },
        type: 'application/apply-patch+yaml',
      });
    const accepted = await apply(null);
    expect(accepted).toMatchObject({
      code: 200,
      body: { metadata: { managedFields: [{ fieldsV1: { 'f:status': {} } }, {}] } },
    });
    expect(accepted.body.status).toBeUndefined();
    expect((await apply({ phase: 'ok' })).code).toBe(200);
    expect((await apply(null)).code).toBe(422);
  });

  test('validates only the status in a status update', async () => {
    const { widgets, send } = await served(parts);
    await widgets.create(widget('a', { replicas: 1 }));
    const type = 'application/merge-patch+json';
    const rejected = await send(`PATCH ${COLLECTION}/a/status`, { body: { status: { replicas: 'x' } }, type });
    expect(rejected.code).toBe(422);
    expect(rejected.body.message).toContain('status.replicas: Invalid value: "string"');
    expect((await send(`PATCH ${COLLECTION}/a/status`, { body: { spec: { replicas: 'x' } }, type })).code).toBe(200);
  });

  test('serves only declared subresources', async () => {
    const { widgets, send } = await served({});
    await widgets.create(widget('a'));
    expect((await send(`GET ${COLLECTION}/a/status`)).code).toBe(404);
    expect((await send(`GET ${COLLECTION}/a/scale`)).code).toBe(404);
    expect(() => widgets.subresource('status')).toThrow(TypeError);
  });
});

describe('the scale subresource', () => {
  const paths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const parts = (more: Json = {}) => ({ subresources: { status: {}, scale: { ...paths, ...more } } });

  test('reads and writes the fields at the paths of the scale', async () => {
    const { widgets, send } = await served(parts({ labelSelectorPath: '.status.selector' }));
    await widgets.create(widget('a', { replicas: 2, colour: 'red' }));
    const type = 'application/merge-patch+json';
    await send(`PATCH ${COLLECTION}/a/status`, { body: { status: { replicas: 1, selector: 'a=b' } }, type });
    const scale = await send(`GET ${COLLECTION}/a/scale`);
    expect(scale.body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: 'default' },
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'a=b' },
    });
    const more = await send(`PUT ${COLLECTION}/a/scale`, { body: { ...scale.body, spec: { replicas: 5 } } });
    expect(more.body['spec']).toEqual({ replicas: 5 });
    expect(await widgets.get('a')).toMatchObject({ spec: { replicas: 5, colour: 'red' }, metadata: { generation: 2 } });
    expect((await send(`PUT ${COLLECTION}/a/scale`, { body: scale.body })).code).toBe(409);
    const patched = await send(`PATCH ${COLLECTION}/a/scale`, { body: { spec: { replicas: 0 } }, type });
    expect(patched.body['spec']).toEqual({});
    expect(await widgets.get('a')).toMatchObject({ spec: { replicas: 0 } });
    const rejected = await send(`PATCH ${COLLECTION}/a/scale`, { body: { spec: { replicas: -1 } }, type });
    expect(rejected.code).toBe(422);
  });

  test('reports conflicts of an apply and otherwise fails, as the reference server does', async () => {
    const { widgets, send } = await served(parts());
    await widgets.create(widget('a', {}));
    const type = 'application/apply-patch+yaml';
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 4 } };
    const apply = (query: string) => send(`PATCH ${COLLECTION}/a/scale?${query}`, { body: scale, type });
    const why = 'to proper version: request to convert CR to an invalid group/version: autoscaling/v1';
    const live = `failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) ${why}`;
    expect((await apply('fieldManager=m')).body).toMatchObject({ code: 500, message: live });
    await widgets.apply(widget('a', { replicas: 1 }), { fieldManager: 'one' });
    expect((await apply('fieldManager=m')).code).toBe(409);
    const changed = `failed to convert new object (/a; autoscaling/v1, Kind=Scale) ${why}`;
    expect((await apply('fieldManager=m&force=true')).body).toMatchObject({ code: 500, message: changed });
    expect(await widgets.get('a')).toMatchObject({ spec: { replicas: 1 } });
  });

  test('fails to read a scale without replicas', async () => {
    const { widgets, send } = await served(parts());
    await widgets.create(widget('a', {}));
    const response = await send(`GET ${COLLECTION}/a/scale`);
    expect(response.code).toBe(500);
    expect(response.body.message).toContain('the spec replicas field ".spec.replicas" does not exist');
    const type = 'application/merge-patch+json';
    await send(`PATCH ${COLLECTION}/a/scale`, { body: { spec: { replicas: 3 } }, type });
    expect(await widgets.get('a')).toMatchObject({ spec: { replicas: 3 } });
  });

  test('accepts any scale path below spec, even if objects lack it', async () => {
    const cluster = testCluster();
    const scale = { specReplicasPath: '.spec.constructor.__proto__', statusReplicasPath: '.status.a.b.c' };
    const widgets = await define(cluster, { versions: [version({ whole: ANYTHING, subresources: { scale } })] });
    await widgets.create(widget('a', { constructor: {} }));
    const send = http(cluster);
    expect((await send(`GET ${COLLECTION}/a/scale`)).code).toBe(500);
    const type = 'application/merge-patch+json';
    const scaled = await send(`PATCH ${COLLECTION}/a/scale`, { body: { spec: { replicas: 4 } }, type });
    expect(scaled.body).toMatchObject({ spec: { replicas: 4 }, status: { replicas: 0 } });
    expect((await send(`GET ${COLLECTION}/a`)).text).toContain('"spec":{"constructor":{"__proto__":4}}');
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  test('rejects objects with invalid replicas', async () => {
    const { widgets } = await served(parts());
    const failure = await failureOf(widgets.create(widget('a', { replicas: -1 })));
    expect(failure).toMatchObject({ code: 422, message: expect.stringContaining('should be a non-negative integer') });
    const tooMany = await failureOf(widgets.create(widget('a', { replicas: 2147483648 })));
    expect(tooMany).toMatchObject({ code: 422 });
  });
});

describe('selectable fields', () => {
  const fields = ['.spec.colour', '.spec.on', '.spec.deep.n'].map((jsonPath) => ({ jsonPath }));

  test('selects by declared fields in lists, watches and deletions', async () => {
    const { cluster, widgets } = await served({ selectableFields: fields });
    const reader = new Reader(widgets.watch({ fields: 'spec.colour=red', resourceVersion: cluster.resourceVersion }));
    await widgets.create(widget('a', { colour: 'red', on: true, deep: { n: 1 } }));
    await widgets.create(widget('b', { colour: 'blue', on: false }));
    await widgets.create(widget('c', {}));
    const names = async (selector: string) =>
      (await widgets.list({ fields: selector })).items.map(({ metadata }) => metadata.name);
    expect(await names('spec.colour=red')).toEqual(['a']);
    expect(await names('spec.colour!=red')).toEqual(['b', 'c']);
    expect(await names('spec.colour=')).toEqual(['c']);
    expect(await names('spec.on=true,spec.deep.n=1')).toEqual(['a']);
    expect(await names('metadata.name=b,spec.on=false')).toEqual(['b']);
    await widgets.patch('b', mergePatch({ spec: { colour: 'red' } }) as never);
    await widgets.patch('a', mergePatch({ spec: { colour: 'green' } }) as never);
    expect(await reader.readAll()).toEqual(['ADDED a', 'ADDED b', 'DELETED a']);
    await widgets.deleteCollection({ fields: 'spec.colour=green' });
    expect(await names('')).toEqual(['b', 'c']);
  });

  test('rejects selectors of fields that are not declared', async () => {
    const { widgets, send } = await served({ selectableFields: fields });
    expect(await failureOf(widgets.list({ fields: 'spec.replicas=1' }))).toMatchObject({
      code: 400,
      message: expect.stringContaining('field label not supported: spec.replicas'),
    });
    expect((await send(`DELETE ${COLLECTION}?fieldSelector=spec.x%3D1`)).code).toBe(400);
  });

  test('selects by the fields of the requested version', async () => {
    const cluster = testCluster();
    await define(cluster, {
      versions: [
        version({ whole: WHOLE, selectableFields: fields }),
        version({ name: 'v2', storage: false, whole: ANYTHING }),
      ],
    });
    await api(cluster).create(widget('a', { colour: 'red' }));
    expect((await api(cluster).list({ fields: 'spec.colour=red' })).items.length).toBe(1);
    expect(await failureOf(api(cluster, 'v2').list({ fields: 'spec.colour=red' }))).toMatchObject({ code: 400 });
  });
});

describe('tables', () => {
  const TABLE = 'application/json;as=Table;v=v1;g=meta.orch.io';
  const tableOf = async (columns: readonly Json[], spec: unknown) => {
    const { widgets, send } = await served({ additionalPrinterColumns: columns }, ANYTHING);
    await widgets.create(widget('a', spec));
    const { body } = await send(`GET ${COLLECTION}`, { accept: TABLE });
    const columnsOf = body['columnDefinitions'] as Json[];
    return {
      names: columnsOf.map(({ name }) => name),
      columns: columnsOf,
      cells: (body['rows'] as { cells: unknown[] }[])[0]?.cells,
    };
  };
  const column = (name: string, type: string, jsonPath: string, more: Json = {}) => ({ name, type, jsonPath, ...more });

  test('returns name and age columns if no columns are declared', async () => {
    expect(await tableOf([], {})).toMatchObject({ names: ['Name', 'Age'], cells: ['a', '0s'] });
  });

  test('returns table cells of every type', async () => {
    const spec = { s: 'x', i: 3, f: 1.5, b: true, o: { b: '<', a: 1 }, l: [1, 2], n: null, at: '2029-12-31T23:00:00Z' };
    const columns = [
      column('S', 'string', '.spec.s', { description: 'a text', priority: 1 }),
      column('O', 'string', '.spec.o'),
      column('I', 'integer', '.spec.f', { format: 'int32' }),
      column('N', 'number', '.spec.i'),
      column('B', 'boolean', '.spec.b'),
      column('D', 'date', '.spec.at'),
      column('Wrong', 'integer', '.spec.s'),
      column('None', 'string', '.spec.none'),
      column('First', 'string', '.spec.l[*]'),
      column('Null', 'string', '.spec.n'),
    ];
    const table = await tableOf(columns, spec);
    expect(table.names).toEqual(['Name', 'S', 'O', 'I', 'N', 'B', 'D', 'Wrong', 'None', 'First', 'Null']);
    expect(table.cells).toEqual(['a', 'x', '{"a":1,"b":"\\u003c"}', 1, 3, true, '60m', null, null, '1', '<no value>']);
    expect(table.columns[1]).toEqual({ name: 'S', type: 'string', format: '', description: 'a text', priority: 1 });
    expect(table.columns[3]).toEqual({
      name: 'I',
      type: 'integer',
      format: 'int32',
      description: 'Custom resource definition column (in JSONPath format): .spec.f',
      priority: 0,
    });
  });

  test('does not parse a long text as a date', async () => {
    const columns = Array.from({ length: 20 }, (_, at) => column(`D${at}`, 'date', '.spec.at'));
    const { widgets, send } = await served({ additionalPrinterColumns: columns }, ANYTHING);
    await widgets.create(widget('a', { at: '\\'.repeat(200_000) }));
    const spent = cpuTimer();
    const { body } = await send(`GET ${COLLECTION}`, { accept: TABLE });
    expect(spent()).toBeLessThan(800);
    expect((body['rows'] as { cells: unknown[] }[])[0]?.cells.slice(1)).toEqual(columns.map(() => '<invalid>'));
  });

  test.each([300, 3000])('limits what %i columns of a table cost', async (count) => {
    const items = Array.from({ length: 10_000 }, (_, at) => ({ at }));
    const paths = ['.spec', '.spec..absent', '.spec.text', '.spec.phase'];
    const columns = Array.from({ length: count }, (_, at) => column(`C${at}`, 'string', paths[at % 4] as string));
    const { widgets, send } = await served({ additionalPrinterColumns: columns }, ANYTHING);
    await widgets.create(widget('a', { items, text: 'x'.repeat(10_000), phase: 'Ready' }));
    const spent = cpuTimer();
    const { body, text } = await send(`GET ${COLLECTION}`, { accept: TABLE });
    expect(spent()).toBeLessThan(8000);
    const cells = (body['rows'] as { cells: unknown[] }[])[0]?.cells.slice(1) ?? [];
    expect(cells.slice(0, 3)).toEqual([expect.stringContaining('"items":'), null, 'x'.repeat(10_000)]);
    expect([cells.at(-4), cells.at(-1)]).toEqual([null, 'Ready']);
    expect(text.length).toBeLessThan(20_000_000);
  });

  test('shows all cells of a long list', async () => {
    const columns = [column('Hosts', 'string', '.spec.hosts'), column('Phase', 'string', '.spec.phase')];
    const { widgets, send } = await served({ additionalPrinterColumns: columns }, ANYTHING);
    const hosts = Array.from({ length: 400 }, (_, at) => `host-${at}.example.com`);
    for (let index = 0; index < 1000; index++) await widgets.create(widget(`w${index}`, { hosts, phase: 'Ready' }));
    const { body } = await send(`GET ${COLLECTION}`, { accept: TABLE });
    const rows = body['rows'] as { cells: unknown[] }[];
    expect(rows.length).toBe(1000);
    expect(rows.filter(({ cells }) => cells.includes(null))).toEqual([]);
  });

  test('shows short cells when the budget of a table is spent, and does not print more of a long one', async () => {
    const long = Array.from({ length: 100 }, (_, at) =>
      column(`L${at}`, 'string', ['.spec', '.spec.*'][at % 2] as string),
    );
    const columns = [...long, column('Text', 'string', '.spec.text')];
    const { widgets, send } = await served({ additionalPrinterColumns: columns }, ANYTHING);
    const items = Array.from({ length: 30_000 }, (_, at) => ({ at }));
    const keys = Object.fromEntries(items.map((_, at) => [`k${at}`, at]));
    await widgets.create(widget('a', { items, text: 'short', ...keys }));
    const spent = cpuTimer();
    const { body } = await send(`GET ${COLLECTION}`, { accept: TABLE });
    expect(spent()).toBeLessThan(3_000);
    const cells = (body['rows'] as { cells: unknown[] }[])[0]?.cells ?? [];
    expect(cells.slice(-3)).toEqual([null, null, 'short']);
  });

  test('limits what the steps of a path cost, also if they add no values', async () => {
    const steps = ' 1'.repeat(20_000);
    const paths = [`.spec.items[*]${steps}`, `.spec.items[?(@${steps} == 2)]`];
    const columns = Array.from({ length: 2 }, (_, at) => column(`C${at}`, 'integer', paths[at % 2] as string));
    const { widgets, send } = await served({ additionalPrinterColumns: columns }, ANYTHING);
    await widgets.create(widget('a', { items: Array.from({ length: 20_000 }, () => 1) }));
    const spent = cpuTimer();
    await send(`GET ${COLLECTION}`, { accept: TABLE });
    expect(spent()).toBeLessThan(2_000);
  });

  test('returns no further cells after an invalid path', async () => {
    const columns = [column('S', 'string', '.spec.s'), column('Bad', 'string', '.spec['), column('T', 'string', '.t')];
    expect(await tableOf(columns, { s: 'x' })).toMatchObject({ names: ['Name', 'S'], cells: ['a', 'x'] });
  });
});

describe('a client in this process', () => {
  test('finds the kind by its resource, with all its discovery data', async () => {
    const { cluster } = await served({ subresources: { status: {} } });
    const kind = kindOf(cluster);
    expect(kind).toMatchObject({ group: GROUP, version: 'v1', kind: 'Widget', scope: 'Namespaced' });
    expect(kind?.names).toMatchObject({ plural: 'widgets', singular: 'widget', listKind: 'WidgetList' });
    expect(Object.keys(kind?.subresources ?? {})).toEqual(['status']);
    const made = await cluster
      .api(kind as NonNullable<typeof kind>)
      .create({ metadata: { generateName: 'w-' }, spec: {} });
    expect(made.metadata.name).toMatch(/^w-/);
    expect(Object.isFrozen(made)).toBe(true);
    expect(cluster.kinds().some((served) => served.kind === kind)).toBe(true);
  });

  test('fails with NotFound after the kind is removed', async () => {
    const { cluster, widgets } = await served({});
    await definitions(cluster).delete(WIDGETS);
    expect(await failureOf(widgets.list())).toMatchObject({
      reason: 'NotFound',
      message: expect.stringContaining('widgets.example.com in version v1 is not installed'),
    });
  });
});

test('includes the kind in the OpenAPI documents while it is served', async () => {
  const { cluster, send } = await served({});
  const path = `/openapi/v3/apis/${GROUP}/v1`;
  const { text } = await send(`GET ${path}`);
  expect(text).toContain(`/apis/${GROUP}/v1/namespaces/{namespace}/widgets/{name}`);
  expect(text).toContain('"colour"');
  await definitions(cluster).delete(WIDGETS);
  expect((await send(`GET ${path}`)).code).toBe(404);
});
