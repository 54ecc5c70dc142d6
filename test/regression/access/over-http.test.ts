/** Audit, authorization and flow control of requests over HTTP. */
import { describe, expect, test } from 'vitest';
import { defineAdmission } from '../../../src/admission/define.js';
import { defaultAdmission } from '../../../src/admission/index.js';
import { auditLog } from '../../../src/audit/log.js';
import { createClient } from '../../../src/client/client.js';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { createFetchHandler } from '../../../src/http/handler.js';
import { httpTransport } from '../../../src/http/index.js';
import { SelfSubjectReview } from '../../../src/kinds/authentication/index.js';
import { ConfigMap } from '../../../src/kinds/core/index.js';
import { ClusterRoleBinding } from '../../../src/kinds/rbac/index.js';
import { StatusError } from '../../../src/meta/errors.js';
import { kubeconfigTransport, serve } from '../../../src/node/index.js';
import type { User } from '../../../src/protocol/request.js';
import { nextTurn } from '../../../src/util/clock.js';

const TOKENS = { 'alice-token': { user: 'alice' }, 'root-token': { user: 'root', groups: ['system:masters'] } };

describe('audit log of rejected requests', () => {
  const alice = { authorization: 'Bearer alice-token' };
  const masters = { ...alice, 'impersonate-user': 'root', 'impersonate-group': 'system:masters' };

  test.each([
    ['forbidden impersonation', '', masters, 403],
    ['impersonation of a group without a user', '', { ...alice, 'impersonate-group': 'system:masters' }, 500],
    ['an invalid timeout', '?timeout=soon', alice, 400],
  ])('records a request with %s', async (_what, query, headers, code) => {
    const audit = auditLog({ policy: { omitStages: ['RequestReceived'], rules: [{ level: 'Metadata' }] } });
    const handle = createFetchHandler(createCluster({ audit }), { tokens: TOKENS });
    const request = new Request(`http://cluster/api/v1/namespaces/default/secrets${query}`, { headers });
    expect((await handle(request)).status).toBe(code);
    expect(audit.events).toMatchObject([
      { user: { username: 'alice' }, verb: 'list', objectRef: { resource: 'secrets' }, responseStatus: { code } },
    ]);
    // The impersonated user is not recorded because the impersonation failed.
    expect(audit.events[0]).not.toHaveProperty('impersonatedUser');
  });

  test('contains no part of a token', async () => {
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

test('applies path rules to the decoded path', async () => {
  const handle = createFetchHandler(createCluster(), { tokens: TOKENS });
  const send = (path: string, headers: Record<string, string> = {}) =>
    handle(new Request(`http://cluster${path}`, { headers }));
  expect((await send('/%61pi', { authorization: 'Bearer alice-token' })).status).toBe(200);
  const rejected = await send('/%61pi');
  expect(rejected.status).toBe(403);
  expect(await rejected.text()).toContain('cannot get path \\"/api\\"');
});

test('rejects queued requests with 503 when the cluster closes', async () => {
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
  // More requests than seats: the first ones wait for the plugin, the last ones wait in the queue.
  const responses = Array.from({ length: 20 }, (_, index) => create(`c${index}`));
  await nextTurn();
  await cluster.close();
  const last = await Promise.all(responses.slice(-10));
  expect(last.map(({ status }) => status)).toEqual(Array(10).fill(503));
});

describe('a client that impersonates a user over a socket', () => {
  const names = [
    'bob',
    '',
    ' ',
    ' bob',
    'bob ',
    'system:masters ',
    ' system:masters',
    '\tbob',
    'bob\n',
    'bob\r\nImpersonate-Group: system:masters',
    'a,b',
    'a, system:masters',
    ',a',
    'a,',
    ', system:masters',
    'voil\u00e0',
    '\u00a0bob\u00a0',
    'bob\u0085',
    '\u3000bob',
    '\ufeffbob',
    'bob\u2028',
    'bob\0',
    'half \ud800',
    'system:anonymous',
    'system:serviceaccount:default:robot',
    'Scopes',
    'a%2Fb',
    'undefined',
  ];
  const FIELDS: Readonly<Record<string, (name: string) => User>> = {
    user: (name) => ({ user: name }),
    uid: (name) => ({ user: 'alice', uid: name }),
    'one group': (name) => ({ user: 'alice', groups: [name] }),
    'last group': (name) => ({ user: 'alice', groups: ['dev', name] }),
    'first group': (name) => ({ user: 'alice', groups: [name, 'dev'] }),
    'extra key': (name) => ({ user: 'alice', extra: { [name]: ['x'] } }),
    'one extra value': (name) => ({ user: 'alice', extra: { scopes: [name] } }),
    'last extra value': (name) => ({ user: 'alice', extra: { scopes: ['y', name] } }),
  };
  /** HTTP trims or refuses them. */
  const notInHeaders = names.filter((name) => /^ | $|[\p{Cc}\p{Cs}]/u.test(name));
  const empty = [''];
  const lists = ['a, system:masters', ', system:masters'];
  const REFUSED: Readonly<Record<string, readonly string[]>> = {
    user: [...empty, ...notInHeaders],
    uid: notInHeaders,
    'one group': [...empty, ...notInHeaders, ...lists],
    'last group': [...empty, ...notInHeaders, ...lists],
    'first group': [...empty, ...notInHeaders, ...lists],
    'extra key': ['half \ud800'],
    'one extra value': [...empty, ...notInHeaders, ...lists],
    'last extra value': [...empty, ...notInHeaders, ...lists],
  };
  /** The fetch of the platform cannot send several headers of one name. */
  const REFUSED_BY_FETCH = { ...REFUSED, 'last group': names, 'first group': names, 'last extra value': names };
  const tokens = { t: { user: 'gateway', groups: ['system:masters'] } };

  test('is that user as in process, or the client refuses', async () => {
    const cluster = createCluster({ dialect: 'kubernetes' });
    await cluster.api(ClusterRoleBinding).create({
      metadata: { name: 'anonymous' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:basic-user' },
      subjects: [{ kind: 'Group', name: 'system:unauthenticated' }],
    });
    await using server = await serve(cluster, { tokens, tls: false });
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: server.url } }],
      users: [{ name: 'c', user: { token: 't' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    };
    const transports = {
      fetch: httpTransport({ baseUrl: server.url, token: 't', dialect: 'kubernetes' }),
      kubeconfig: kubeconfigTransport(JSON.stringify(config)),
    };
    const whoIs = async (client: Pick<typeof cluster, 'with'>, as: User): Promise<unknown> => {
      const { status } = await client.with({ as }).api(SelfSubjectReview).create({});
      return { ...status?.userInfo, uid: status?.userInfo?.uid || undefined };
    };
    for (const [transportName, transport] of Object.entries(transports)) {
      const client = createClient({ transport });
      const expected: Readonly<Record<string, readonly string[]>> =
        transportName === 'fetch' ? REFUSED_BY_FETCH : REFUSED;
      for (const [field, userWith] of Object.entries(FIELDS)) {
        const refused: string[] = [];
        for (const name of names) {
          const as = userWith(name);
          let seen: unknown;
          try {
            seen = await whoIs(client, as);
          } catch (error) {
            if (!StatusError.is(error, 'BadRequest')) throw error;
            refused.push(name);
            continue;
          }
          expect({ transportName, as, seen }).toEqual({ transportName, as, seen: await whoIs(cluster, as) });
        }
        const where = { transportName, field };
        expect.soft({ ...where, refused: refused.sort() }).toEqual({ ...where, refused: expected[field]?.toSorted() });
      }
    }
  });

  test('has no groups of the headers of the transport', async () => {
    await using server = await serve(createCluster(), { tokens, tls: false });
    const headers = { 'Impersonate-User': 'bob', 'Impersonate-Group': 'system:masters' };
    const client = createClient({ transport: httpTransport({ baseUrl: server.url, token: 't', headers }) });
    const { status } = await client
      .with({ as: { user: 'alice' } })
      .api(SelfSubjectReview)
      .create({});
    expect(status?.userInfo).toMatchObject({ username: 'alice', groups: ['system:authenticated'] });
  });
});
