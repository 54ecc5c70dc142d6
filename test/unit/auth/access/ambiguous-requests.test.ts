/**
 * Authorization and execution must agree on what a request does: nothing in its path, query, headers or body may be
 * interpreted in two ways. Alice may do everything in the namespace `hers`, and nothing in others.
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster, type FullCluster } from '../../../../src/cluster/full-cluster.js';
import { createFetchHandler, type FetchHandler } from '../../../../src/http/handler.js';
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from '../../../../src/kinds/core/index.js';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../../src/kinds/rbac/index.js';
import { type ServedCluster, serve } from '../../../../src/node/serve.js';

const TOKENS = {
  alice: { user: 'alice' },
  named: { user: 'named' },
  root: { user: 'root', groups: ['system:masters'] },
};
const AUTHENTICATION = 'authentication.orch.io/v1';
const RBAC = 'rbac.authorization.orch.io';

let cluster: FullCluster;
let handle: FetchHandler;
let server: ServedCluster;

beforeAll(async () => {
  cluster = createCluster();
  for (const namespace of ['hers', 'other']) {
    await cluster.api(Namespace).create({ metadata: { name: namespace } });
    await cluster.api(ConfigMap, namespace).create({ metadata: { name: 'settings' }, data: { from: namespace } });
    await cluster.api(ConfigMap, namespace).create({ metadata: { name: 'second' } });
    await cluster.api(ServiceAccount, namespace).create({ metadata: { name: 'robot' } });
    const spec = { containers: [{ name: 'c', image: 'nginx' }] };
    await cluster.api(Pod, namespace).create({ metadata: { name: 'web' }, spec });
  }
  await cluster.api(Node).create({ metadata: { name: 'n1' } });
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  await cluster.api(Role, 'hers').create({ metadata: { name: 'everything' }, rules: everything });
  await cluster.api(RoleBinding, 'hers').create({
    metadata: { name: 'everything' },
    roleRef: { kind: 'Role', name: 'everything' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  await cluster.api(Role, 'other').create({
    metadata: { name: 'one' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['settings'], verbs: ['*'] }],
  });
  await cluster.api(RoleBinding, 'other').create({
    metadata: { name: 'one' },
    roleRef: { kind: 'Role', name: 'one' },
    subjects: [{ kind: 'User', name: 'named' }],
  });
  handle = createFetchHandler(cluster, { tokens: TOKENS });
  server = await serve(cluster, { tokens: TOKENS });
});
afterAll(() => server.close());

interface RequestParts {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: unknown;
  readonly type?: string;
}

async function send(path: string, parts: RequestParts = {}): Promise<{ code: number; text: string }> {
  const { method = 'GET', token = 'alice', headers = [], body, type = 'application/json' } = parts;
  const all = new Headers({ authorization: `Bearer ${token}` });
  if (body !== undefined) all.set('content-type', type);
  for (const [name, value] of headers) all.append(name, value);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const init = { method, headers: all, ...(body === undefined ? {} : { body: text }) };
  const response = await handle(new Request(`http://cluster${path}`, init));
  // A watch does not end by itself.
  if (response.status === 200 && /[?&/]watch[=/]/.test(path)) {
    await response.body?.cancel();
    return { code: response.status, text: 'watch' };
  }
  return { code: response.status, text: await response.text() };
}

/** The raw bytes of a request that no client would send. */
function sendRaw(
  target: string,
  headers: readonly string[] = [],
  token = 'alice',
): Promise<{ code: number; text: string }> {
  const lines = [
    `GET ${target} HTTP/1.1`,
    'Host: cluster',
    ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
  ];
  const head = [...lines, ...headers, 'Connection: close', '', ''].join('\r\n');
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (data) => {
      answer += data;
    });
    socket.on('error', reject).on('close', () => {
      const [, code = '0'] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? [];
      resolve({ code: Number(code), text: answer.slice(answer.indexOf('\r\n\r\n') + 4) });
    });
    socket.write(head);
  });
}

describe('request paths', () => {
  test.each([
    ['/api/v1/namespaces/hers/../other/configmaps/settings', 404],
    ['/api/v1/namespaces/hers/%2e%2e/other/configmaps/settings', 404],
    ['/api/v1/namespaces/hers%2f..%2fother/configmaps/settings', 404],
    ['/api/v1/namespaces/hers/configmaps/..%2f..%2fother%2fconfigmaps%2fsettings', 404],
    ['/api/v1/namespaces/hers/configmaps/settings/../../../other/configmaps/settings', 404],
    ['/api/v1/namespaces%2fother/configmaps/settings', 403],
    ['/api/v1/namespaces/%6fther/configmaps/settings', 403],
    ['/api/v1//namespaces/other/configmaps/settings', 403],
    ['//api/v1/namespaces/other/configmaps/settings', 403],
    ['/./api/v1/namespaces/other/configmaps/settings', 403],
    ['/api/v1/namespaces//other/configmaps/settings', 403],
    ['/api/v1/namespaces//configmaps', 403],
    ['/api/v1/namespaces/other/configmaps/', 403],
    ['/api/v1/namespaces/other/configmaps/settings//', 403],
    ['/API/v1/namespaces/other/configmaps/settings', 403],
    ['/api/v1/namespaces/other;/configmaps/settings', 403],
    ['/api/v1/namespaces/hers;x=other/configmaps/settings', 403],
    ['/api/v1/namespaces/hers/configmaps;x=y', 404],
    ['/api/v1/watch/namespaces/other/configmaps/settings', 403],
    ['/api/v1/proxy/namespaces/other/pods/web', 403],
    ['/api/v1/namespaces/hers/nodes/n1', 404],
    ['/api/v1/namespaces/hers/namespaces/other', 404],
    ['/api/v1/namespaces/hers/namespaces', 404],
    ['/api/v1/watch/namespaces/hers/nodes', 404],
    ['/api/v1/namespaces/hers/configmaps/settings%00', 404],
    ['/api/v1/namespaces/hers/configmaps%3fnamespace=other', 404],
    ['/api/v1/namespaces/hers/configmaps/settings#/../../other', 404],
    ['/healthz/../api/v1/namespaces/other/configmaps', 403],
    ['/healthz/..%2fmetrics', 403],
    ['/version/../metrics', 403],
    ['http://elsewhere/api/v1/namespaces/other/configmaps/settings', 403],
    ['http://elsewhere/healthz/../metrics', 403],
  ])('grants no access through the path %s', async (target, code) => {
    const { code: actualCode, text } = await sendRaw(target);
    expect(actualCode).toBe(code);
    expect(text).not.toContain('"from":"other"');
  });

  test('decodes percent escapes in a path before authorization', async () => {
    expect((await sendRaw('/%61pi')).code).toBe(200);
    expect((await sendRaw('/%61pi/v1')).code).toBe(200);
    expect((await sendRaw('/%61pi', [], '')).code).toBe(403);
    expect((await sendRaw('/api/v1/namespaces/%68ers/configmaps/settings')).text).toContain('"from":"hers"');
  });
});

describe('a rule for one resource name', () => {
  const other = '/api/v1/namespaces/other/configmaps';
  test.each([
    [`${other}/settings`, 200],
    [`${other}/second`, 403],
    [`${other}`, 403],
    [`${other}?fieldSelector=metadata.name%3Dsettings`, 200],
    [`${other}?fieldSelector=metadata.name%3D%3Dsettings`, 200],
    [`${other}?fieldSelector=metadata.name%3Dsecond`, 403],
    [`${other}?fieldSelector=metadata.name%3Dsecond&fieldSelector=metadata.name%3Dsettings`, 403],
    [`${other}?fieldSelector=&fieldSelector=metadata.name%3Dsettings`, 403],
    [`${other}?fieldSelector=metadata.name%21%3Dsettings`, 403],
    [`${other}?fieldSelector=metadata.name%3Dsettings%5C%2Cx`, 403],
    [`${other}?FieldSelector=metadata.name%3Dsettings`, 403],
    [`${other}?fieldSelector=metadata.name%3Dsettings;x`, 403],
    [`${other}?watch=1&fieldSelector=metadata.name%3Dsettings`, 200],
    [`${other}?watch=1`, 403],
    [`${other}?watch=yes&fieldSelector=metadata.name%3Dsecond`, 403],
    [`/api/v1/watch/namespaces/other/configmaps/settings`, 200],
    [`/api/v1/watch/namespaces/other/configmaps/settings?fieldSelector=metadata.name%3Dsecond`, 400],
    [`/api/v1/watch/namespaces/other/configmaps?fieldSelector=metadata.name%3Dsettings`, 403],
    [`/api/v1/configmaps?fieldSelector=metadata.name%3Dsettings`, 403],
    [`/api/v1/namespaces//configmaps?fieldSelector=metadata.name%3Dsettings`, 403],
  ])('evaluates a rule with resourceNames for the path %s', async (path, code) => {
    const { code: actualCode, text } = await send(path, { token: 'named' });
    expect(actualCode).toBe(code);
    if (text !== 'watch') expect(text).not.toContain('"name":"second","namespace"');
  });

  test('does not let a second field selector widen the first', async () => {
    const query = 'fieldSelector=metadata.name%3Dsettings&fieldSelector=metadata.name%3Dsecond';
    const { items } = JSON.parse((await send(`${other}?${query}`, { token: 'named' })).text);
    expect(items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['settings']);
  });

  test('authorizes a field selector with two names by the first of them in sort order', async () => {
    const both = (name: string) => `${other}?fieldSelector=metadata.name%3Dsettings,metadata.name%3D${name}`;
    expect((await send(both('second'), { token: 'named' })).code).toBe(403);
    expect(JSON.parse((await send(both('zzz'), { token: 'named' })).text)).toMatchObject({ items: [] });
  });

  test('does not allow deletion of a collection with a rule for one name', async () => {
    const query = 'fieldSelector=metadata.name%3Dsettings';
    expect((await send(`${other}?${query}`, { token: 'named', method: 'DELETE' })).code).toBe(403);
  });

  test('reveals nothing through the continue token of another list', async () => {
    const page = JSON.parse((await send(`${other}?limit=1`, { token: 'root' })).text);
    const token = encodeURIComponent(page.metadata.continue);
    const { code, text } = await send(`/api/v1/namespaces/hers/configmaps?continue=${token}`);
    expect(code).toBe(200);
    expect(text).not.toContain('"namespace":"other"');
  });

  test.each(['../other/settings', '..', '/../other', '../../secrets/hers'])(
    'does not continue a list from the key %s',
    async (start) => {
      const forged = btoa(JSON.stringify({ v: 'meta.orch.io/v1', rv: -1, start })).replace(/=+$/, '');
      expect((await send(`/api/v1/namespaces/hers/configmaps?continue=${forged}`)).code).toBe(400);
    },
  );
});

describe('request headers', () => {
  const address = '/api/v1/namespaces/other/configmaps';

  test.each([
    ['a second Authorization', ['Authorization: Bearer root'], 403],
    ['a second Authorization in upper case', ['AUTHORIZATION: Bearer root'], 403],
    ['a space before the colon', ['Authorization : Bearer root'], 400],
    ['proxy headers', ['X-Remote-User: root', 'X-Remote-Group: system:masters', 'X-Forwarded-User: root'], 403],
    ['method override headers', ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE'], 403],
    ['URL override headers', ['X-Original-URL: /healthz', 'X-Rewrite-URL: /healthz'], 403],
    ['a cookie', ['Cookie: token=root; Authorization=Bearer root'], 403],
    ['header names with underscores', ['Impersonate_User: root', 'Impersonate_Group: system:masters'], 403],
    ['two impersonated users', ['Impersonate-User: system:serviceaccount:hers:robot', 'Impersonate-User: root'], 403],
    [
      'an additional impersonated group',
      ['Impersonate-User: system:serviceaccount:hers:robot', 'Impersonate-Group: system:masters'],
      403,
    ],
    ['impersonated groups without a user', ['Impersonate-Group: system:masters'], 500],
    ['an empty impersonated user', ['Impersonate-User:', 'Impersonate-Group: system:masters'], 500],
    ['a group name as user', ['Impersonate-User: system:masters'], 403],
    ['a service account of another namespace', ['Impersonate-User: system:serviceaccount:other:robot'], 403],
    ['an invalid service account name', ['Impersonate-User: system:serviceaccount:hers:robot:x'], 403],
    ['a service account without a name', ['Impersonate-User: system:serviceaccount:hers:'], 403],
    [
      'an extra key with a null character',
      ['Impersonate-User: system:serviceaccount:hers:robot', 'Impersonate-Extra-a%00b: x'],
      403,
    ],
    [
      'an extra key named __proto__',
      ['Impersonate-User: system:serviceaccount:hers:robot', 'Impersonate-Extra-__proto__: x'],
      403,
    ],
  ] as const)('grants no access through %s in the headers', async (_what, headers, code) => {
    const { code: actualCode, text } = await sendRaw(address, headers);
    expect(actualCode).toBe(code);
    expect(text).not.toContain('"from":"other"');
  });

  test.each([
    ['a token in the query', `${address}?access_token=root&token=root`, []],
    ['a token as a password', address, [`Authorization: Basic ${btoa('root:root')}`]],
    [
      'a token in a WebSocket protocol',
      address,
      ['Sec-WebSocket-Protocol: base64url.bearer.authorization.orch.io.cm9vdA'],
    ],
    ['a token without its scheme', address, ['Authorization: root']],
  ])('does not accept %s as a credential', async (_what, target, headers) => {
    const { code, text } = await sendRaw(target, headers, '');
    expect(code).toBe(403);
    expect(text).toContain('system:anonymous');
  });

  test('authorizes each of several impersonated groups that share a header', async () => {
    const headers = [
      ['impersonate-user', 'system:serviceaccount:hers:robot'],
      ['impersonate-group', 'harmless'],
      ['impersonate-group', 'system:masters'],
    ] as const;
    expect((await send(address, { headers })).code).toBe(403);
    expect((await send(address, { headers: [...headers.slice(0, 1)] })).text).toContain('serviceaccount:hers:robot');
  });

  test('does not accept prototype member names as tokens', async () => {
    for (const token of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await send('/api', { token })).code, token).toBe(401);
    }
    const dangerous = JSON.parse('{"__proto__":{"user":"proto"}}');
    const own = createFetchHandler(cluster, { tokens: dangerous });
    const request = new Request('http://cluster/api/v1/nodes', { headers: { authorization: 'Bearer __proto__' } });
    expect(await (await own(request)).text()).toContain('User \\"proto\\" cannot list');
  });

  test('accepts prototype member names as keys of impersonated extras', async () => {
    const response = await send(`/apis/${AUTHENTICATION}/selfsubjectreviews`, {
      token: 'root',
      method: 'POST',
      headers: [
        ['impersonate-user', 'carol'],
        ['impersonate-extra-__proto__', 'x'],
        ['impersonate-extra-constructor', 'y'],
      ],
      body: { apiVersion: AUTHENTICATION, kind: 'SelfSubjectReview' },
    });
    expect(response.code).toBe(201);
    expect(response.text).toContain('"extra":{"__proto__":["x"],"constructor":["y"]}');
  });
});

describe('request bodies', () => {
  const merge = 'application/merge-patch+json';
  const apply = 'application/apply-patch+yaml';
  const configMaps = '/api/v1/namespaces/hers/configmaps';
  const otherNamespace = { name: 'settings', namespace: 'other' };
  const account = '/api/v1/namespaces/hers/serviceaccounts/robot/token';
  const tokenRequest = { apiVersion: AUTHENTICATION, kind: 'TokenRequest', spec: { audiences: [] } };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction' };
  const binding = { apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'n1' } };
  const review = { apiVersion: 'authorization.orch.io/v1', kind: 'LocalSubjectAccessReview' };

  test.each<[what: string, path: string, parts: RequestParts, code: number]>([
    [
      'a create in another namespace',
      configMaps,
      { method: 'POST', body: { metadata: { ...otherNamespace, name: 'x' } } },
      400,
    ],
    [
      'a generated name in another namespace',
      configMaps,
      { method: 'POST', body: { metadata: { generateName: 'x', namespace: 'other' } } },
      400,
    ],
    [
      'an update in another namespace',
      `${configMaps}/settings`,
      { method: 'PUT', body: { metadata: otherNamespace } },
      400,
    ],
    [
      'an update of another object',
      `${configMaps}/settings`,
      { method: 'PUT', body: { metadata: { name: 'second' } } },
      400,
    ],
    [
      'a patch to another namespace',
      `${configMaps}/settings`,
      { method: 'PATCH', type: merge, body: { metadata: otherNamespace } },
      400,
    ],
    [
      'a patch of the name',
      `${configMaps}/settings`,
      { method: 'PATCH', type: merge, body: { metadata: { name: 'second' } } },
      400,
    ],
    [
      'an apply to another namespace',
      `${configMaps}/settings?fieldManager=m`,
      { method: 'PATCH', type: apply, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: otherNamespace } },
      400,
    ],
    [
      'an apply of another kind',
      `${configMaps}/settings?fieldManager=m`,
      { method: 'PATCH', type: apply, body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'settings' } } },
      400,
    ],
    [
      'another kind',
      configMaps,
      { method: 'POST', body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } } },
      400,
    ],
    [
      'another version',
      configMaps,
      { method: 'POST', body: { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'x' } } },
      400,
    ],
    [
      'another uid',
      `${configMaps}/settings`,
      { method: 'PUT', body: { metadata: { name: 'settings', uid: 'x' } } },
      409,
    ],
    [
      'a namespace below a namespace',
      '/api/v1/namespaces/hers/namespaces',
      { method: 'POST', body: { metadata: { name: 'x' } } },
      404,
    ],
    [
      'another account by namespace',
      account,
      { method: 'POST', body: { ...tokenRequest, metadata: { namespace: 'other' } } },
      400,
    ],
    [
      'another account by name',
      account,
      { method: 'POST', body: { ...tokenRequest, metadata: { name: 'default' } } },
      422,
    ],
    [
      'an eviction in another namespace',
      '/api/v1/namespaces/hers/pods/web/eviction',
      { method: 'POST', body: { ...eviction, metadata: { name: 'web', namespace: 'other' } } },
      400,
    ],
    [
      'an eviction of another pod',
      '/api/v1/namespaces/hers/pods/web/eviction',
      { method: 'POST', body: { ...eviction, metadata: { name: 'x' } } },
      400,
    ],
    [
      'a binding of another pod',
      '/api/v1/namespaces/hers/pods/web/binding',
      { method: 'POST', body: { ...binding, metadata: { name: 'x' } } },
      400,
    ],
    [
      'an access review for another namespace',
      `/apis/authorization.orch.io/v1/namespaces/hers/localsubjectaccessreviews`,
      {
        method: 'POST',
        body: {
          ...review,
          metadata: { namespace: 'hers' },
          spec: { user: 'x', resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' } },
        },
      },
      422,
    ],
    [
      'an access review of administrators',
      `/apis/authorization.orch.io/v1/subjectaccessreviews`,
      { method: 'POST', body: { spec: { groups: ['system:masters'], resourceAttributes: { verb: '*' } } } },
      403,
    ],
    [
      'a subject of another kind',
      `/apis/${RBAC}/v1/namespaces/hers/rolebindings`,
      {
        method: 'POST',
        body: {
          metadata: { name: 'x' },
          roleRef: { apiGroup: RBAC, kind: 'Role', name: 'everything' },
          subjects: [{ kind: 'Masters', name: 'alice' }],
        },
      },
      422,
    ],
    [
      'a non-resource URL in a namespaced role',
      `/apis/${RBAC}/v1/namespaces/hers/roles`,
      { method: 'POST', body: { metadata: { name: 'x' }, rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] } },
      422,
    ],
  ])('grants no access through %s in the body', async (_what, path, parts, code) => {
    const before = cluster.snapshot();
    const version = (await cluster.api(ConfigMap, 'other').list()).metadata.resourceVersion;
    expect((await send(path, parts)).code).toBe(code);
    expect((await cluster.api(ConfigMap, 'other').list()).metadata.resourceVersion).toBe(version);
    cluster.restore(before);
  });

  test('reads duplicate keys of a body once, with the last value', async () => {
    await cluster.api(ClusterRole).create({
      metadata: { name: 'role-writer' },
      rules: [{ apiGroups: [RBAC], resources: ['clusterroles'], verbs: ['create', 'get'] }],
    });
    await cluster.api(ClusterRoleBinding).create({
      metadata: { name: 'role-writer' },
      roleRef: { kind: 'ClusterRole', name: 'role-writer' },
      subjects: [{ kind: 'User', name: 'named' }],
    });
    const path = `/apis/${RBAC}/v1/clusterroles`;
    const harmless = `{"verbs":["get"],"apiGroups":["${RBAC}"],"resources":["clusterroles"]}`;
    const everything = '{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}';
    const create = (rest: string) =>
      send(path, { token: 'named', method: 'POST', body: `{"metadata":{"name":"x"},${rest}}` });
    expect((await create(`"rules":[${harmless}],"rules":[${everything}]`)).code).toBe(403);
    const withDuplicates = await create(
      `"rules":[${everything}],"rules":[${harmless}],"Rules":[${everything}],"__proto__":{"rules":[${everything}]}`,
    );
    expect(withDuplicates.code).toBe(201);
    expect(JSON.parse(withDuplicates.text).rules).toEqual([JSON.parse(harmless)]);
    expect((await send('/api/v1/nodes', { token: 'named' })).code).toBe(403);
  });
});
