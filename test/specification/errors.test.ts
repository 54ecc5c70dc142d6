/** docs/specification.md, F: errors. */
import { describe, expect, test } from 'vitest';
import { configMap, MAPS, open } from './http.js';

const MINUTE = 60_000;
const POLICIES = '/apis/admissionregistration.orch.io/v1';

describe('errors', () => {
  test('F1.1, F1.2: 401 without valid credentials, 406 without a supported type', async () => {
    const { send } = open();
    expect((await send('GET', MAPS, { as: 'unknown' })).code).toBe(401);
    expect((await send('GET', MAPS, { headers: { accept: 'image/png' } })).code).toBe(406);
  });

  test('F1.3: 410 for a list at a version that is gone and for an expired token; a watch reports it', async () => {
    const { clock, map, patch, send, watch } = open();
    for (const name of ['a', 'b']) await map(name);
    const { body } = await send('GET', `${MAPS}?limit=1`);
    for (let index = 0; index < 20; index++) await patch('merge', `${MAPS}/a`, { data: { k: `${index}` } });
    await clock.advance(10 * MINUTE);
    await map('y');
    const { resourceVersion } = body.metadata;
    expect((await send('GET', `${MAPS}?continue=${body.metadata.continue}`)).code).toBe(410);
    expect((await send('GET', `${MAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)).code).toBe(410);
    const { next } = await watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
    expect(await next()).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });

  test('F1.4: 504 with Retry-After and its message for a version that does not appear', async () => {
    const { clock, send } = open();
    const answer = send('GET', `${MAPS}?resourceVersion=99999`);
    await new Promise((resolve) => setTimeout(resolve));
    await clock.advance(MINUTE);
    const { code, headers, body } = await answer;
    expect([code, headers.get('retry-after')]).toEqual([504, expect.stringMatching(/^\d+$/)]);
    expect(body.message).toContain('Too large resource version');
  });

  test('F1.5: an apply of a field of another manager is a conflict', async () => {
    const { patch } = open();
    const apply = (manager: string, k: string) =>
      patch('apply', `${MAPS}/a?fieldManager=${manager}`, configMap('a', { data: { k } }));
    await apply('one', '1');
    const { code, body } = await apply('two', '2');
    expect([code, body.reason]).toEqual([409, 'Conflict']);
    expect(body['details']).toMatchObject({ causes: [{ reason: 'FieldManagerConflict', field: '.data.k' }] });
  });

  test('F1.6: invalid objects fail validation', async () => {
    const { post, put } = open();
    const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
    const { body } = await post(revisions, { metadata: { name: 'a' }, revision: 1, data: { k: 1 } });
    expect((await put(`${revisions}/a`, { ...body, data: { k: 2 } })).code).toBe(422);
    const priority = { metadata: { name: 'p' }, value: 2_000_000_000 };
    expect((await post('/apis/scheduling.orch.io/v1/priorityclasses', priority)).code).toBe(422);
    expect((await post('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: {} })).code).toBe(422);
  });

  test.each([
    [undefined, 422, 'Invalid'],
    ['Invalid', 422, 'Invalid'],
    ['Forbidden', 403, 'Forbidden'],
    ['Unauthorized', 401, 'Unauthorized'],
    ['RequestEntityTooLarge', 413, 'RequestEntityTooLarge'],
  ])('F1.7: a policy that fails with reason %s responds with %s', async (reason, code, expected) => {
    const { post } = open();
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }];
    const failing = { expression: 'false', ...(reason === undefined ? {} : { reason }) };
    const validations = [
      { expression: 'true', reason: 'Forbidden' },
      failing,
      { expression: 'false', reason: 'Forbidden' },
    ];
    const spec = { matchConstraints: { resourceRules }, validations };
    await post(`${POLICIES}/validatingadmissionpolicies`, { metadata: { name: 'p' }, spec });
    await post(`${POLICIES}/validatingadmissionpolicybindings`, {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    });
    expect(await post(MAPS, configMap('a'))).toMatchObject({ code, body: { reason: expected } });
  });

  test('F1.8: a deprecated endpoint succeeds with a warning', async () => {
    const { code, headers } = await open().send('GET', '/api/v1/namespaces/default/endpoints');
    expect([code, headers.get('warning')]).toEqual([200, expect.stringContaining('deprecated')]);
  });

  test('F1.11: a successful delete and deletecollection return a Status', async () => {
    const { map, send } = open();
    await map('a', { metadata: { finalizers: ['example.com/hold'] } });
    for (const path of [`${MAPS}/a`, MAPS]) {
      expect(await send('DELETE', path)).toMatchObject({ code: 200, body: { kind: 'Status', status: 'Success' } });
    }
  });
});
