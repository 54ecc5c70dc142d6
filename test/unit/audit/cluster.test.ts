/**
 * A cluster with an audit log, in process and over HTTP.
 */
import { type AuditPolicy, auditLog, createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, Endpoints } from 'orchplane/kinds';
import { sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const tokens = { 'bob-token': { user: 'bob' }, 'root-token': { user: 'root', groups: ['system:masters'] } };
const everything: AuditPolicy = { rules: [{ level: 'RequestResponse' }], omitManagedFields: true };

function auditedCluster(policy: AuditPolicy = everything) {
  const audit = auditLog({ policy });
  const cluster = testCluster({ audit, dialect: 'kubernetes', ids: sequentialIds() });
  return { audit, cluster };
}

function overHttp(policy: AuditPolicy = everything) {
  const { audit, cluster } = auditedCluster(policy);
  const handle = createFetchHandler(cluster, { tokens });
  const call = (path: string, { token, ...init }: RequestInit & { token?: string } = {}) => {
    const headers = { 'user-agent': 'test/1', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    return handle(new Request(`http://c${path}`, { ...init, headers: { ...headers, ...(init.headers as object) } }));
  };
  return { audit, cluster, call };
}

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { a: '1' } } as const;
const address = '/api/v1/namespaces/default/configmaps';

describe('audit in process', () => {
  test('records an in-process request on arrival and on completion', async () => {
    const { audit, cluster } = auditedCluster();
    const created = await cluster.api(ConfigMap).create(configMap);
    const [received, complete] = audit.events;
    expect(received).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      auditID: received?.auditID,
      stage: 'RequestReceived',
      requestURI: address,
      verb: 'create',
      user: { username: 'system:admin', groups: ['system:masters', 'system:authenticated'] },
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      requestReceivedTimestamp: received?.stageTimestamp,
      stageTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    expect(complete).toMatchObject({
      auditID: received?.auditID,
      stage: 'ResponseComplete',
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'web', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: { metadata: { name: 'web' }, data: { a: '1' } },
      responseObject: { metadata: { name: 'web', uid: created.metadata.uid }, data: { a: '1' } },
    });
    expect(audit.events).toHaveLength(2);
  });

  test('records a failed request with its Status', async () => {
    const { audit, cluster } = auditedCluster({ rules: [{ level: 'Metadata' }] });
    await expect(cluster.api(ConfigMap).get('none')).rejects.toThrow('not found');
    expect(audit.events.at(-1)?.responseStatus).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'configmaps "none" not found',
      reason: 'NotFound',
      details: { name: 'none', kind: 'configmaps' },
      code: 404,
    });
  });

  test('omits requests that the audit policy excludes', async () => {
    const { audit, cluster } = auditedCluster({ rules: [{ level: 'Metadata', verbs: ['delete'] }] });
    await cluster.api(ConfigMap).create(configMap);
    expect(audit.events).toEqual([]);
    await cluster.api(ConfigMap).delete('web');
    expect(audit.events.map(({ verb, stage }) => [verb, stage])).toEqual([
      ['delete', 'RequestReceived'],
      ['delete', 'ResponseComplete'],
    ]);
  });

  test('annotates requests to deprecated versions', async () => {
    const { audit, cluster } = auditedCluster({ rules: [{ level: 'Metadata' }] });
    await cluster.api(Endpoints).create({ metadata: { name: 'web' } });
    expect(audit.events.at(-1)?.annotations).toMatchObject({ 'k8s.io/deprecated': 'true' });
  });
});

describe('audit over HTTP', () => {
  test('records the id, the addresses, the user agent and the decision', async () => {
    const { audit, call } = overHttp();
    const headers = { 'x-forwarded-for': '1.2.3.4', 'audit-id': 'mine' };
    const response = await call(`${address}?limit=5`, { token: 'root-token', headers });
    expect(response.headers.get('audit-id')).toBe('mine');
    expect(audit.events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete']);
    expect(audit.events.at(-1)).toMatchObject({
      auditID: 'mine',
      requestURI: `${address}?limit=5`,
      verb: 'list',
      user: { username: 'root' },
      sourceIPs: ['1.2.3.4'],
      userAgent: 'test/1',
      responseStatus: { code: 200 },
      responseObject: { kind: 'ConfigMapList' },
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    });
  });

  test('records a denied request with its Status', async () => {
    const { audit, call } = overHttp({ rules: [{ level: 'Metadata' }] });
    expect((await call('/api/v1/secrets', { token: 'bob-token' })).status).toBe(403);
    expect(audit.events.at(-1)).toMatchObject({
      user: { username: 'bob' },
      responseStatus: { reason: 'Forbidden', code: 403 },
      annotations: { 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': '' },
    });
  });

  test('records an unauthenticated request in one event', async () => {
    const { audit, call } = overHttp({ rules: [{ level: 'Metadata' }] });
    expect((await call('/api/v1/secrets', { token: 'unknown' })).status).toBe(401);
    expect(audit.events).toMatchObject([{ stage: 'ResponseStarted', user: {}, responseStatus: { code: 401 } }]);
  });

  test('does not record an excluded HTTP request as an in-process one', async () => {
    const { audit, call } = overHttp({ rules: [{ level: 'None', users: ['root'] }, { level: 'Metadata' }] });
    const asAdministrator = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' };
    expect((await call(address, { token: 'root-token', headers: asAdministrator })).status).toBe(200);
    expect(audit.events).toEqual([]);
    expect(audit.counts.levels['None']).toBe(1);
  });

  test('records both users of an impersonated request', async () => {
    const { audit, call } = overHttp({ rules: [{ level: 'Metadata' }] });
    await call(address, { token: 'root-token', headers: { 'impersonate-user': 'carol' } });
    expect(audit.events.at(-1)).toMatchObject({
      user: { username: 'root' },
      impersonatedUser: { username: 'carol' },
      responseStatus: { code: 403 },
    });
  });

  test('records three events for a watch', async () => {
    const { audit, call } = overHttp({ rules: [{ level: 'Metadata' }] });
    const watch = await call(`${address}?watch=1`, { token: 'root-token' });
    const stages = () => audit.events.map(({ stage }) => stage);
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted']);
    await watch.body?.cancel();
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
  });

  test('records the decoded object of a write and the raw patch', async () => {
    const { audit, call } = overHttp({ rules: [{ level: 'Request', verbs: ['create', 'patch'] }] });
    const json = { 'content-type': 'application/json' };
    await call(address, { token: 'root-token', method: 'POST', body: JSON.stringify(configMap), headers: json });
    expect(audit.events.at(-1)).toMatchObject({ objectRef: { name: 'web' }, requestObject: { data: { a: '1' } } });
    const merge = { 'content-type': 'application/merge-patch+json' };
    await call(`${address}/web`, { token: 'root-token', method: 'PATCH', body: '{"data":{"b":null}}', headers: merge });
    expect(audit.events.at(-1)).toMatchObject({ verb: 'patch', requestObject: { data: { b: null } } });
    expect(audit.events.at(-1)).not.toHaveProperty('responseObject');
  });

  test('records non-resource requests by path', async () => {
    const { audit, call } = overHttp({ rules: [{ level: 'Metadata', nonResourceURLs: ['/healthz*'] }] });
    await call('/healthz?verbose');
    await call('/version');
    expect(audit.events.map(({ requestURI, verb, stage }) => [requestURI, verb, stage])).toEqual([
      ['/healthz?verbose', 'get', 'RequestReceived'],
      ['/healthz?verbose', 'get', 'ResponseComplete'],
    ]);
    expect(audit.events[0]).not.toHaveProperty('objectRef');
  });
});

test('allows a caller to read the audit log during requests, also of forks', async () => {
  const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }], omitStages: ['RequestReceived'] } });
  const cluster = createCluster({ audit });
  const reader = audit.read();
  await cluster.api(ConfigMap).create(configMap);
  await cluster.fork().api(ConfigMap).delete('web');
  expect((await reader.next()).value?.verb).toBe('create');
  expect((await reader.next()).value?.verb).toBe('delete');
});
