/** Defects in apply and field ownership that hostile input exposed. */
import {
  type AdmissionPlugin,
  createCluster,
  defineKind,
  memoryStorage,
  mergePatch,
  Quantity,
  StatusError,
} from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, Deployment } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

type Entries = { manager?: string; operation?: string; fieldsV1?: unknown }[];

/** A plugin that accesses the managedFields of each written object. */
function mutator(mutate: (entries: Entries, metadata: { managedFields?: unknown }) => void): AdmissionPlugin {
  return {
    name: 'Meddler',
    mutate: ({ object }) => {
      if (object?.metadata.managedFields !== undefined) {
        mutate(object.metadata.managedFields as Entries, object.metadata);
      }
    },
  };
}

describe('plugin that changes managedFields', () => {
  test('does not store managedFields that a plugin corrupts in place', async () => {
    const spoil = mutator(([entry]) => Object.assign(entry ?? {}, { operation: 'Bogus' }));
    const api = createCluster({ admission: [spoil] }).api(ConfigMap);
    const made = await api.create({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(made.metadata.managedFields).toMatchObject([{ manager: 'orchplane', operation: 'Update' }]);
  });

  test('does not share stored managedFields with a plugin that keeps a reference', async () => {
    let held: Entries = [];
    const keep = mutator((entries) => {
      held = Object.freeze(entries) as Entries;
    });
    const api = createCluster({ admission: [keep] }).api(ConfigMap);
    await api.create({ metadata: { name: 'a' }, data: { k: 'v' } });
    Object.assign(held[0] ?? {}, { manager: 'evil', fieldsV1: { garbage: 5 } });
    expect((await api.get('a')).metadata.managedFields).toMatchObject([{ manager: 'orchplane' }]);
  });

  test('stores managedFields that a plugin changes in an update without other changes', async () => {
    const rename = mutator(([entry]) => Object.assign(entry ?? {}, { manager: 'renamed' }));
    const cluster = createCluster({ admission: [rename] });
    const api = cluster.with({ fieldManager: 'm' }).api(ConfigMap);
    await api.create({ metadata: { name: 'a' }, data: { k: 'v' } });
    const same = await api.update({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(same.metadata.managedFields).toMatchObject([{ manager: 'renamed' }]);
  });
});

describe('large and deeply nested requests', () => {
  const handlerOf = (cluster = createCluster({ dialect: 'kubernetes' })) => {
    const errors: unknown[] = [];
    const handle = createFetchHandler(cluster, { onError: (error) => errors.push(error) });
    const send = async (method: string, path: string, body: unknown, type: string) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const request = new Request(`http://c${path}`, { method, headers: { 'content-type': type }, body: text });
      const response = await handle(request);
      return { code: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    return { send, errors };
  };
  const APPLY = 'application/apply-patch+yaml';
  const configMap = '/api/v1/namespaces/default/configmaps/a';
  const head = { apiVersion: 'v1', kind: 'ConfigMap' };

  test('rejects the apply of 150 000 keys, whose field set is too large for storage', async () => {
    const { send, errors } = handlerOf();
    const data = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`k${index}`, '']));
    const { code, body } = await send(
      'PATCH',
      `${configMap}?fieldManager=m`,
      { ...head, metadata: { name: 'a' }, data },
      APPLY,
    );
    expect([code, errors]).toEqual([500, []]);
    expect(body['message']).toMatch(/^rpc error: .*larger than max \(\d+ vs\. 2097152\)$/);
  });

  test('accepts a strategic patch with 200 000 unknown fields', async () => {
    const { send, errors } = handlerOf();
    await send(
      'POST',
      '/api/v1/namespaces/default/configmaps',
      { ...head, metadata: { name: 'a' } },
      'application/json',
    );
    const patch = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`u${index}`, 1]));
    const { code } = await send('PATCH', configMap, patch, 'application/strategic-merge-patch+json');
    expect([code, errors]).toEqual([200, []]);
  });

  test('ignores managers whose field sets are nested too deeply', async () => {
    const { send, errors } = handlerOf();
    const fieldsV1 = { [`v:${'['.repeat(50_000)}${']'.repeat(50_000)}`]: {} };
    const entry = { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 };
    const body = { ...head, metadata: { name: 'a', managedFields: [entry] }, data: { k: 'v' } };
    const { code } = await send('POST', '/api/v1/namespaces/default/configmaps', body, 'application/json');
    expect([code, errors]).toEqual([201, []]);
  });

  test('ignores a last-applied annotation that is nested too deeply', async () => {
    const { send, errors } = handlerOf();
    const deep = `{"apiVersion":"v1","data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': deep };
    const body = { ...head, metadata: { name: 'a', annotations }, data: { k: '1' } };
    await send('POST', '/api/v1/namespaces/default/configmaps?fieldManager=other', body, 'application/json');
    const expected = { ...head, metadata: { name: 'a' }, data: { k: '2' } };
    const { code } = await send('PATCH', `${configMap}?fieldManager=kubectl`, expected, APPLY);
    expect([code, errors]).toEqual([409, []]);
  });

  test('truncates the message of a conflict about thousands of fields and reports their number', async () => {
    const Any = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Any',
      scope: 'Cluster',
      body: { spec: z.looseObject({}) },
    });
    const cluster = createCluster({ kinds: [Any] });
    const nested = (value: string) => {
      let inner: object = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`leaf${index}`, value]));
      for (let depth = 0; depth < 200; depth++) inner = { ['k'.repeat(100)]: inner };
      return { metadata: { name: 'a' }, spec: inner };
    };
    await cluster.with({ fieldManager: 'a' }).api(Any).apply(nested('1'));
    const rejected = cluster.with({ fieldManager: 'b' }).api(Any).apply(nested('2'));
    const error = await rejected.catch((thrown: unknown) => thrown);
    expect(StatusError.is(error, 'Conflict')).toBe(true);
    const { message, details } = (error as StatusError).status;
    expect(message).toMatch(/^Apply failed with 5000 conflicts: .*\n- and \d+ more$/s);
    expect(message?.length).toBeLessThan(2_000_000);
    expect(details?.causes?.length).toBeGreaterThan(10);
  });

  test('limits the field sets of all managers, however many appliers own the same fields', async () => {
    const cluster = createCluster({ storage: memoryStorage({ maxObjectBytes: Number.POSITIVE_INFINITY }) });
    const of = (fieldManager: string) => cluster.with({ fieldManager }).api(ConfigMap);
    const data = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`${index}-${'k'.repeat(80)}`, '']));
    for (const name of ['m0', 'm1']) await of(name).apply({ metadata: { name: 'a' }, data });
    const rejected = await of('m2')
      .apply({ metadata: { name: 'a' }, data })
      .catch((thrown: unknown) => thrown);
    expect((rejected as StatusError).status).toMatchObject({
      code: 413,
      message: 'Request entity too large: metadata.managedFields: limit is 4194304 characters',
    });
    const labelled = await of('m3').patch('a', mergePatch({ metadata: { labels: { l: 'v' } } }));
    expect(labelled.metadata.managedFields).toHaveLength(3);
    await of('m1').apply({ metadata: { name: 'a' }, data: {} });
    expect((await of('m2').apply({ metadata: { name: 'a' }, data })).metadata.managedFields).toHaveLength(4);
  });

  test('collapses a thousand managers of one object to ten', async () => {
    const api = createCluster().api(ConfigMap);
    const managedFields = Array.from({ length: 1_000 }, (_, index) => ({
      manager: `m${index}`,
      operation: 'Update' as const,
      apiVersion: 'v1',
      fieldsType: 'FieldsV1' as const,
      fieldsV1: { 'f:data': { [`f:k${index}`]: {} } },
    }));
    await api.create({ metadata: { name: 'a' }, data: { k: 'v' } });
    const updated = await api.patch('a', mergePatch({ metadata: { managedFields } }));
    expect(updated.metadata.managedFields).toHaveLength(10);
    const ancient = updated.metadata.managedFields?.find(({ manager }) => manager === 'ancient-changes');
    expect(Object.keys(ancient?.fieldsV1?.['f:data'] ?? {})).toHaveLength(991);
  });
});

test('applies values with a toJSON method like a create does', async () => {
  const template = (cpu: unknown) => ({
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: cpu as string } } }] },
  });
  const spec = { selector: { matchLabels: { app: 'web' } }, template: template(Quantity.parse('500m')) };
  const api = createCluster().with({ fieldManager: 'm' }).api(Deployment);
  const applied = await api.apply({ metadata: { name: 'web' }, spec });
  expect(applied.spec.template.spec.containers[0]?.resources.limits).toEqual({ cpu: '500m' });
});

test('distinguishes managers whose names contain spaces', async () => {
  const entry = (manager: string, subresource: string) => ({
    manager,
    subresource,
    operation: 'Apply' as const,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1' as const,
    fieldsV1: { 'f:x': { [`f:${manager}`]: {} } },
  });
  const managedFields = [entry('b c', 'a'), entry('c', 'a b')];
  const made = await createCluster()
    .api(ConfigMap)
    .create({ metadata: { name: 'a', managedFields }, data: { k: 'v' } });
  expect(made.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['b c', 'c', 'orchplane']);
});

test('prints an explanation of thousands of fields as a table', async () => {
  const api = createCluster().with({ fieldManager: 'm' }).api(ConfigMap);
  const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 'v']));
  await api.apply({ metadata: { name: 'a' }, data });
  const explained = await api.explain('a');
  expect(explained.fields).toHaveLength(5_000);
  expect(String(explained).split('\n')).toHaveLength(5_001);
});

test('includes the caller in the stack of an in-process error', async () => {
  const api = createCluster().api(ConfigMap);
  await api.create({ metadata: { name: 'a' } });
  async function caller(): Promise<unknown> {
    return api.create({ metadata: { name: 'a' } });
  }
  const error = await caller().catch((thrown: unknown) => thrown);
  expect((error as Error).stack).toContain('caller');
});
