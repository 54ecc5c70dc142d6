import { describe, expect, test } from 'vitest';
import { defineAdmission } from '../../../src/admission/define.js';
import { defaultAdmission } from '../../../src/admission/index.js';
import { auditLog } from '../../../src/audit/log.js';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { createFetchHandler } from '../../../src/http/handler.js';
import { ConfigMap } from '../../../src/kinds/core/index.js';
import { ClusterRoleBinding } from '../../../src/kinds/rbac/index.js';
import { nextTurn } from '../../../src/util/clock.js';

const TOKENS = { 'alice-token': { user: 'alice' }, 'root-token': { user: 'root', groups: ['system:masters'] } };

describe('whatever becomes of a request, it is written down', () => {
  const alice = { authorization: 'Bearer alice-token' };
  const masters = { ...alice, 'impersonate-user': 'root', 'impersonate-group': 'system:masters' };

  test.each([
    ['who may not speak for others', '', masters, 403],
    ['who does not say for whom he speaks', '', { ...alice, 'impersonate-group': 'system:masters' }, 500],
    ['who asks for a time that is none', '?timeout=soon', alice, 400],
  ])('%s', async (_what, query, headers, code) => {
    const audit = auditLog({ policy: { omitStages: ['RequestReceived'], rules: [{ level: 'Metadata' }] } });
    const handle = createFetchHandler(createCluster({ audit }), { tokens: TOKENS });
    const request = new Request(`http://cluster/api/v1/namespaces/default/secrets${query}`, { headers });
    expect((await handle(request)).status).toBe(code);
    expect(audit.events).toMatchObject([
      { user: { username: 'alice' }, verb: 'list', objectRef: { resource: 'secrets' }, responseStatus: { code } },
    ]);
    // Whom he would have been is not who he is.
    expect(audit.events[0]).not.toHaveProperty('impersonatedUser');
  });

  test('nothing of a token is in the log', async () => {
    const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }] } });
    const handle = createFetchHandler(createCluster({ audit }), { tokens: TOKENS });
    for (const token of ['alice-token', 'root-token', 'unknown-token']) {
      const headers = { authorization: `Bearer ${token}`, 'impersonate-user': 'bob' };
      await handle(new Request('http://cluster/api/v1/secrets', { headers }));
    }
    expect(audit.events.length).toBeGreaterThanOrEqual(5);
    expect(JSON.stringify(audit.events)).not.toMatch(/alice-token|root-token|unknown-token/);
  });
});

test('rules for paths see what an escaped path means', async () => {
  const handle = createFetchHandler(createCluster(), { tokens: TOKENS });
  const ask = (path: string, headers: Record<string, string> = {}) =>
    handle(new Request(`http://cluster${path}`, { headers }));
  expect((await ask('/%61pi', { authorization: 'Bearer alice-token' })).status).toBe(200);
  const refused = await ask('/%61pi');
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain('cannot get path \\"/api\\"');
});

test('whoever waits for a turn when the cluster closes is told so', async () => {
  const never = defineAdmission({
    name: 'Never',
    on: ['CREATE'],
    kind: ConfigMap,
    validate: () => new Promise<never>(() => undefined),
  });
  const cluster = createCluster({ admission: [...defaultAdmission, never] });
  await cluster.api(ClusterRoleBinding).create({
    metadata: { name: 'alice' },
    roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  const handle = createFetchHandler(cluster, { tokens: TOKENS, flowControl: { totalSeats: 20 } });
  const headers = { authorization: 'Bearer alice-token', 'content-type': 'application/json' };
  const create = (name: string) => {
    const init = { method: 'POST', headers, body: JSON.stringify({ metadata: { name } }) };
    return handle(new Request('http://cluster/api/v1/namespaces/default/configmaps', init));
  };
  // More than there are seats for: the first ones wait for the plugin, the last ones for them.
  const answers = Array.from({ length: 20 }, (_, index) => create(`c${index}`));
  await nextTurn();
  await cluster.close();
  const last = await Promise.all(answers.slice(-10));
  expect(last.map(({ status }) => status)).toEqual(Array(10).fill(503));
});
