/** Field ownership in writes other than apply. */
import { type AdmissionPlugin, createCluster, mergePatch, valueBody } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, Secret } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf } from './watch-reader.js';

const owned = (manager: string, fields: object) => ({ manager, operation: 'Update', fieldsV1: fields });

describe('changes of plugins to managedFields', () => {
  function changingPlugin(change: (metadata: { managedFields?: unknown }) => void): AdmissionPlugin {
    return { name: 'Meddler', mutate: ({ object }) => (object === undefined ? undefined : change(object.metadata)) };
  }

  function setup(change: (metadata: { managedFields?: unknown }) => void) {
    const warnings: string[] = [];
    const cluster = createCluster({ admission: [changingPlugin(change)] });
    return { api: cluster.with({ onWarning: (text) => warnings.push(text) }).api(ConfigMap), warnings };
  }

  test('undoes invalid changes of plugins to managedFields with a warning', async () => {
    const { api, warnings } = setup((metadata) => {
      metadata.managedFields = [
        { manager: 'other-manager', operation: 'Take', apiVersion: 'v1', fieldsType: 'FieldsV1' },
      ];
    });
    const made = await api.create({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(made.metadata.managedFields).toMatchObject([owned('orchplane', { 'f:data': { '.': {}, 'f:k': {} } })]);
    expect(warnings).toEqual([
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`',
    ]);
  });

  test('keeps valid changes of plugins to managedFields in canonical form', async () => {
    const { api, warnings } = setup((metadata) => {
      const fieldsV1 = { 'f:data': { 'f:z': {}, 'f:a': {} } };
      const entry = {
        manager: 'other-manager',
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1,
      };
      metadata.managedFields = [entry];
    });
    const made = await api.create({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(JSON.stringify(made.metadata.managedFields?.[0]?.fieldsV1)).toBe('{"f:data":{"f:a":{},"f:z":{}}}');
    expect(warnings).toEqual([]);
  });

  test('does not give a plugin ownership of the fields it adds', async () => {
    const plugin: AdmissionPlugin = {
      name: 'Labeller',
      mutate: ({ object }) => {
        if (object !== undefined) object.metadata.labels = { added: 'yes' };
      },
    };
    const made = await createCluster({ admission: [plugin] })
      .api(ConfigMap)
      .create({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(made.metadata.labels).toEqual({ added: 'yes' });
    expect(made.metadata.managedFields).toMatchObject([owned('orchplane', { 'f:data': { '.': {}, 'f:k': {} } })]);
  });
});

describe('managedFields that a client writes', () => {
  const entry = { operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:x': {} } } as const;

  test.each([
    [
      'a manager that is too long',
      { ...entry, manager: 'm'.repeat(129) },
      'manager: Too long: may not be more than 128 bytes',
    ],
    [
      'a manager with unprintable characters',
      { ...entry, manager: 'a\u0001' },
      'manager: Invalid value: "a\\x01": invalid character U+0001 (at position 1)',
    ],
    [
      'a subresource that is too long',
      { ...entry, subresource: 's'.repeat(257) },
      'subresource: Too long: may not be more than 256 bytes',
    ],
  ])('rejects managedFields of a client with %s', async (_what, managedField, why) => {
    const creation = testCluster()
      .api(ConfigMap)
      .create({ metadata: { name: 'a', managedFields: [managedField] } });
    const error = await failureOf(creation);
    expect(error).toHaveProperty('message', `ConfigMap "a" is invalid: metadata.managedFields[0].${why}`);
  });
});

test('shares managedFields between objects that are created with the same fields', async () => {
  const api = testCluster().api(ConfigMap);
  const [first, second] = [
    await api.create({ metadata: { name: 'a' }, data: { k: '1' } }),
    await api.create({ metadata: { name: 'b' }, data: { k: '2' } }),
  ];
  expect(second.metadata.managedFields).toBe(first.metadata.managedFields);
  const third = await api.create({ metadata: { name: 'c' }, data: { other: '1' } });
  expect(third.metadata.managedFields).not.toEqual(first.metadata.managedFields);
});

test('keeps the managedFields object in an update that changes no ownership', async () => {
  const api = testCluster().api(ConfigMap);
  const before = await api.create({ metadata: { name: 'a' }, data: { k: '1' } });
  const after = await api.patch('a', mergePatch({ data: { k: '2' } }));
  expect(after.metadata.managedFields).toBe(before.metadata.managedFields);
});

test('gives the writer ownership of fields that the kind derives from others', async () => {
  const secret = await testCluster()
    .api(Secret)
    .create({ metadata: { name: 's' }, stringData: { user: 'alice' } });
  expect(secret.metadata.managedFields).toMatchObject([
    owned('orchplane', { 'f:data': { '.': {}, 'f:user': {} }, 'f:type': {} }),
  ]);
});

describe('field ownership over HTTP', () => {
  const url = 'http://cluster/api/v1/namespaces/default/configmaps';
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  on: "x"\n';

  async function apply(body: string, query = '') {
    const handle = createFetchHandler(testCluster());
    const headers = { 'content-type': 'application/apply-patch+yaml', 'user-agent': 'kubectl/v1.33' };
    return handle(new Request(`${url}/a?fieldManager=ci${query}`, { method: 'PATCH', headers, body }));
  }

  test('accepts an apply body in YAML 1.1, with its spellings of true', async () => {
    const response = await apply(yaml);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({
      data: { true: 'x' },
      metadata: { managedFields: [{ manager: 'ci' }] },
    });
  });

  test('warns about a duplicate key, or rejects it if fieldValidation is Strict', async () => {
    const repeated = `${yaml}  k: "1"\n  k: "2"\n`;
    const warned = await apply(repeated);
    expect([warned.status, warned.headers.get('warning')]).toEqual([
      201,
      '299 - "line 7: key \\"k\\" already set in map"',
    ]);
    const refused = await apply(repeated, '&fieldValidation=Strict');
    expect(await refused.json()).toMatchObject({
      code: 400,
      message:
        'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "k" already set in map',
    });
  });

  test('uses the user agent as the manager of a write without one', async () => {
    const cluster = testCluster();
    const handle = createFetchHandler(cluster);
    const post = async (name: string, agent: string) => {
      const headers = { 'content-type': 'application/json', 'user-agent': agent };
      const body = JSON.stringify({ metadata: { name }, data: { k: 'v' } });
      const response = await handle(new Request(url, { method: 'POST', headers, body }));
      const { metadata } = (await response.json()) as { metadata: { managedFields: { manager: string }[] } };
      return metadata.managedFields.map(({ manager }) => manager);
    };
    expect(await post('a', 'kubectl/v1.33.0 (linux/amd64)')).toEqual(['kubectl']);
    expect(await post('b', `${'ü'.repeat(100)}/1`)).toEqual(['ü'.repeat(64)]);
    expect(await post('c', '/nameless')).toEqual(['unknown']);
  });
});

test("rejects an apply body that is not an object with the decoder's message", async () => {
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  const request = { verb: 'patch', resource, namespace: 'default', name: 'a', patchType: 'apply' } as const;
  const apply = async () => testCluster().send({ ...request, options: { fieldManager: 'm' }, body: valueBody(['a']) });
  const error = await failureOf(apply());
  expect(error).toMatchObject({
    code: 400,
    message:
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
  });
});
