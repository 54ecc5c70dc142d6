/** docs/specification.md, E10: server-side apply. */
import { describe, expect, test } from 'vitest';
import { configMap, MAPS, open } from './http.js';

const data = (value: Readonly<Record<string, string>>, name = 'a') => configMap(name, { data: value });

function service() {
  const { patch, ...rest } = open();
  const apply = (manager: string, value: Readonly<Record<string, string>>, query = '') =>
    patch('apply', `${MAPS}/a?fieldManager=${manager}${query}`, data(value));
  return { ...rest, patch, apply };
}

describe('server-side apply', () => {
  test('E10.1: an apply needs a field manager and must not contain managedFields', async () => {
    const { apply, patch } = service();
    expect((await apply('one', { k: '1' })).code).toBe(201);
    expect((await patch('apply', `${MAPS}/a`, data({ k: '1' }))).code).toBe(422);
    const managed = configMap('a', { metadata: { managedFields: [{ manager: 'x' }] } });
    expect((await patch('apply', `${MAPS}/a?fieldManager=one`, managed)).code).toBe(400);
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "2"\n';
    expect((await patch('apply', `${MAPS}/a?fieldManager=one`, yaml)).body.data).toEqual({ k: '2' });
  });

  test('E10.2: a change of a field of another manager is a conflict unless it is forced', async () => {
    const { apply } = service();
    await apply('one', { k: '1' });
    expect(await apply('two', { k: '2' })).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect((await apply('two', { k: '2' }, '&force=true')).body.data).toEqual({ k: '2' });
    expect((await apply('one', { k: '1' })).code).toBe(409);
  });

  test('E10.3: PUT and other patches take ownership; the manager may come from the User-Agent', async () => {
    const { apply, patch, send } = service();
    await apply('one', { k: '1', l: '1' });
    const headers = { 'user-agent': 'tool/1.0 (linux)' };
    const put = await send('PUT', `${MAPS}/a`, { body: data({ k: '2', l: '1' }), headers });
    expect(put.code).toBe(200);
    expect(put.body.metadata.managedFields.map((entry) => entry['manager'])).toContain('tool');
    expect((await patch('merge', `${MAPS}/a?fieldManager=two`, { data: { l: '2' } })).code).toBe(200);
    expect((await apply('one', { k: '1', l: '1' })).code).toBe(409);
  });

  test('E10.4: equal values share ownership; a field that its last owner omits is removed', async () => {
    const { apply } = service();
    await apply('one', { k: '1' });
    expect((await apply('two', { k: '1' })).code).toBe(200);
    expect((await apply('one', { k: '2' })).code).toBe(409);
    expect((await apply('one', {})).body.data).toEqual({ k: '1' });
    expect((await apply('two', {})).body).not.toHaveProperty('data');
  });

  test('E10.4: a field without an owner that has a default is reset to it', async () => {
    const { patch } = open();
    const path = '/apis/batch/v1/namespaces/default/cronjobs/c?fieldManager=m';
    const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
    const spec = { schedule: '* * * * *', jobTemplate: { spec: { template } } };
    const job = (more: object) => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c' },
      spec: { ...spec, ...more },
    });
    await patch('apply', path, job({ concurrencyPolicy: 'Forbid' }));
    expect((await patch('apply', path, job({}))).body['spec']).toMatchObject({ concurrencyPolicy: 'Allow' });
  });

  test('E10.5: a conflict is resolved by force, by omission or by the live value', async () => {
    for (const [value, query] of [
      [{ k: '2' }, '&force=true'],
      [{ l: '2' }, ''],
      [{ k: '1' }, ''],
    ] as const) {
      const { apply } = service();
      await apply('one', { k: '1' });
      expect((await apply('two', { k: '2' })).code).toBe(409);
      expect((await apply('two', value, query)).code).toBe(200);
    }
  });

  test('E10.6: a record has manager, operation, apiVersion, time, fieldsType and fieldsV1, and can be edited', async () => {
    const { apply, patch } = service();
    const { body } = await apply('one', { k: '1' });
    expect(body.metadata.managedFields).toEqual([
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'v1',
        time: expect.stringMatching(/Z$/),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:k': {} } },
      },
    ]);
    const cleared = await patch('merge', `${MAPS}/a`, { metadata: { managedFields: [{}] } });
    expect(cleared.body.metadata).not.toHaveProperty('managedFields');
  });

  test('E10.7: an apply that yields an invalid object fails', async () => {
    const { apply } = service();
    expect(await apply('one', { 'not a key': '1' })).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
  });
});
