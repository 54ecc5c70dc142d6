/** docs/specification.md, E1 and E2: path shapes and operations. */
import { describe, expect, test } from 'vitest';
import { CRDS, configMap, EVERYTHING, MAPS, names, open, WIDGETS } from './http.js';

const HOLD = 'example.com/hold';
const QUOTAS = '/api/v1/namespaces/default/resourcequotas';

describe('path shapes', () => {
  test('E1.1, E1.2, E1.3: cluster-scoped, namespaced and core paths lead to collections, objects and subresources', async () => {
    const { post, send } = open();
    const schema = '/apis/flowcontrol.apiserver.orch.io/v1/flowschemas';
    expect((await send('GET', schema)).code).toBe(200);
    expect((await send('GET', `${schema}/exempt`)).code).toBe(200);
    expect((await send('GET', `${schema}/exempt/status`)).code).toBe(200);
    const leases = '/apis/coordination.orch.io/v1/namespaces/default/leases';
    await post(leases, { metadata: { name: 'l' }, spec: {} });
    expect((await send('GET', `${leases}/l`)).code).toBe(200);
    expect(names((await send('GET', '/apis/coordination.orch.io/v1/leases')).body)).toEqual(['l']);
    await post(QUOTAS, { metadata: { name: 'q' }, spec: {} });
    expect((await send('GET', `${QUOTAS}/q/status`)).code).toBe(200);
    expect((await send('GET', '/apis//v1/configmaps')).code).toBe(404);
    expect((await send('GET', '/api/v1/configmaps')).code).toBe(200);
  });

  test('E1.4: subresources cannot be reached across several resources', async () => {
    const { post, send } = open();
    await post(QUOTAS, { metadata: { name: 'q' }, spec: {} });
    for (const path of [`${QUOTAS}//status`, '/api/v1/resourcequotas/q/status', '/api/v1/resourcequotas/status']) {
      expect((await send('GET', path)).code).toBeGreaterThanOrEqual(400);
    }
  });
});

describe('operations', () => {
  test('E2.1: get, get of the status, list and list of all namespaces return 200', async () => {
    const { post, send } = open();
    await post(QUOTAS, { metadata: { name: 'q' }, spec: {} });
    for (const path of [`${QUOTAS}/q`, `${QUOTAS}/q/status`]) {
      expect(await send('GET', path)).toMatchObject({ code: 200, body: { kind: 'ResourceQuota' } });
    }
    for (const path of [QUOTAS, '/api/v1/resourcequotas']) {
      expect(await send('GET', path)).toMatchObject({ code: 200, body: { kind: 'ResourceQuotaList' } });
    }
  });

  test('E2.2: create returns 201 and the object, and needs a body', async () => {
    const { map, send } = open();
    expect(await map('a')).toMatchObject({ code: 201, body: { kind: 'ConfigMap', metadata: { name: 'a' } } });
    expect((await send('POST', MAPS)).code).toBe(400);
  });

  test('E2.3: update returns 200 for an existing and 201 for an absent object; update of the status 200', async () => {
    const { put, post, send } = open();
    expect(await put(`${MAPS}/a`, configMap('a'))).toMatchObject({ code: 201, body: { kind: 'ConfigMap' } });
    expect(await put(`${MAPS}/a`, configMap('a', { data: { k: 'v' } }))).toMatchObject({ code: 200 });
    const { body } = await post(QUOTAS, { metadata: { name: 'q' }, spec: {} });
    expect((await put(`${QUOTAS}/q/status`, { ...body, status: { used: { pods: '1' } } })).code).toBe(200);
    expect((await put(`${QUOTAS}/other/status`, { metadata: { name: 'other' } })).code).toBe(404);
    expect((await send('PUT', `${MAPS}/a`)).code).toBe(400);
  });

  test('E2.3: an update creates custom resources and objects of other groups', async () => {
    const { put, post } = open();
    expect((await post(CRDS, WIDGETS)).code).toBe(201);
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
    expect((await put('/apis/example.com/v1/namespaces/default/widgets/w', widget)).code).toBe(201);
    const priority = { metadata: { name: 'p' }, value: 1 };
    expect((await put('/apis/scheduling.orch.io/v1/priorityclasses/p', priority)).code).toBe(201);
    const invalid = { metadata: { name: 'q' }, value: 2_000_000_000 };
    expect((await put('/apis/scheduling.orch.io/v1/priorityclasses/q', invalid)).code).toBe(422);
  });

  test('E2.4: patch returns 200, an apply of an absent object 201; patch of the status 200', async () => {
    const { map, patch, post } = open();
    await map('a');
    expect((await patch('merge', `${MAPS}/a`, { data: { k: 'v' } })).code).toBe(200);
    expect((await patch('apply', `${MAPS}/b?fieldManager=m`, configMap('b'))).code).toBe(201);
    expect((await patch('merge', `${MAPS}/c`, {})).code).toBe(404);
    await post(QUOTAS, { metadata: { name: 'q' }, spec: {} });
    expect((await patch('merge', `${QUOTAS}/q/status`, { status: { used: { pods: '1' } } })).code).toBe(200);
  });

  test('E2.5: delete returns 200 and a Status, whether or not the object remains', async () => {
    const { map, post, send } = open();
    const { body } = await map('a');
    const { uid } = body.metadata;
    const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
    expect(await send('DELETE', `${MAPS}/a`)).toMatchObject({ code: 200, body: success });
    const held = await map('a', { metadata: { finalizers: [HOLD] } });
    expect(held.body.metadata.uid).not.toBe(uid);
    const answer = await send('DELETE', `${MAPS}/a`);
    expect(answer.body).toEqual({
      ...success,
      details: { name: 'a', kind: 'configmaps', uid: held.body.metadata.uid },
    });
    expect((await send('GET', `${MAPS}/a`)).body.metadata).toHaveProperty('deletionTimestamp');
    // The same for a second delete, and for a namespace.
    expect((await send('DELETE', `${MAPS}/a`)).body).toEqual(answer.body);
    await post('/api/v1/namespaces', { metadata: { name: 'n' } });
    expect(await send('DELETE', '/api/v1/namespaces/n')).toMatchObject({ code: 200, body: success });
  });

  test('E2.5: delete returns 202 when the dependents must be deleted first', async () => {
    const { map, send } = open();
    await map('a', { metadata: { finalizers: [HOLD] } });
    const body = { orphanDependents: false };
    expect(await send('DELETE', `${MAPS}/a`, { body })).toMatchObject({ code: 202, body: { kind: 'Status' } });
  });

  test('E2.6: deletecollection returns 200 and a Status', async () => {
    const { map, send } = open();
    for (const name of ['a', 'b']) await map(name);
    expect(await send('DELETE', MAPS)).toMatchObject({ code: 200, body: { kind: 'Status', status: 'Success' } });
    expect((await send('GET', MAPS)).body.items).toEqual([]);
  });

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'E2.7: %s returns 401 without valid credentials',
    async (method) => {
      const path = method === 'POST' ? MAPS : `${MAPS}/a`;
      const sent = method === 'GET' || method === 'DELETE' ? {} : { body: configMap('a') };
      expect((await open().send(method, path, { as: 'unknown', ...sent })).code).toBe(401);
    },
  );

  test.each([
    [QUOTAS, { spec: {} }],
    ['/apis/storage.orch.io/v1/csidrivers', { spec: {} }],
    ['/apis/storage.orch.io/v1/csinodes', { spec: { drivers: [] } }],
    ['/apis/resource.orch.io/v1beta1/deviceclasses', { spec: {} }],
  ])('E2.8: delete of an object of %s returns the object', async (path, body) => {
    const { post, send } = open(EVERYTHING);
    await post(path, { metadata: { name: 'a' }, ...body });
    expect(await send('DELETE', `${path}/a`)).toMatchObject({ code: 200, body: { metadata: { name: 'a' } } });
    await post(path, { metadata: { name: 'b', finalizers: [HOLD] }, ...body });
    const remaining = await send('DELETE', `${path}/b`, { body: { orphanDependents: false } });
    expect(remaining).toMatchObject({ code: 202, body: { metadata: { name: 'b', finalizers: [HOLD] } } });
  });
});
