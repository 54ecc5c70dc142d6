/**
 * A user without permission learns nothing about what exists: every request is sent twice, for an existing and for a
 * missing target, and both responses must be equal except for the names in the request.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { createCluster, type FullCluster } from '../../../../src/cluster/full-cluster.js';
import { CustomResourceDefinition } from '../../../../src/crd/index.js';
import { createFetchHandler, type FetchHandler } from '../../../../src/http/handler.js';
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from '../../../../src/kinds/core/index.js';
import { ClusterRole, ClusterRoleBinding } from '../../../../src/kinds/rbac/index.js';
import { StatusError } from '../../../../src/meta/errors.js';

const RBAC = 'rbac.authorization.orch.io';

let cluster: FullCluster;
let handle: FetchHandler;

beforeAll(async () => {
  cluster = createCluster();
  await cluster.api(Namespace).create({ metadata: { name: 'real' } });
  await cluster.api(Node).create({ metadata: { name: 'one' } });
  await cluster.api(ConfigMap, 'real').create({ metadata: { name: 'one' } });
  await cluster.api(ServiceAccount, 'real').create({ metadata: { name: 'one' } });
  await cluster
    .api(Pod, 'real')
    .create({ metadata: { name: 'one' }, spec: { containers: [{ name: 'c', image: 'nginx' }] } });
  const schema = { openAPIV3Schema: { type: 'object' } };
  await cluster.api(CustomResourceDefinition).create({
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
  // A user with permissions, but none for the requested objects.
  await cluster.api(ClusterRole).create({
    metadata: { name: 'leases-only' },
    rules: [{ apiGroups: ['coordination.orch.io'], resources: ['leases'], verbs: ['*'] }],
  });
  await cluster.api(ClusterRoleBinding).create({
    metadata: { name: 'leases-only' },
    roleRef: { kind: 'ClusterRole', name: 'leases-only' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  handle = createFetchHandler(cluster, { tokens: { 'alice-token': { user: 'alice' } } });
});

/** An existing target, a missing one, and the names by which they differ. */
const PAIRS: readonly (readonly [what: string, existing: string, absent: string])[] = [
  ['an object', '/api/v1/namespaces/real/configmaps/one', '/api/v1/namespaces/real/configmaps/none'],
  ['a cluster-scoped object', '/api/v1/nodes/one', '/api/v1/nodes/none'],
  ['a namespace', '/api/v1/namespaces/real', '/api/v1/namespaces/none'],
  ['the status of a namespace', '/api/v1/namespaces/real/status', '/api/v1/namespaces/none/status'],
  ['a collection in a namespace', '/api/v1/namespaces/real/configmaps', '/api/v1/namespaces/none/configmaps'],
  ['a resource', '/api/v1/namespaces/real/configmaps', '/api/v1/namespaces/real/nothings'],
  ['a cluster-scoped resource', '/api/v1/nodes', '/api/v1/nothings'],
  ['a resource at the wrong scope', '/api/v1/namespaces/real/nodes/one', '/api/v1/namespaces/real/nothings/one'],
  ['a deprecated resource', '/api/v1/namespaces/real/endpoints', '/api/v1/namespaces/real/nothings'],
  ['a resource that cannot be listed', '/api/v1/namespaces/real/bindings', '/api/v1/namespaces/real/nothings'],
  ['a subresource', '/api/v1/namespaces/real/pods/one/status', '/api/v1/namespaces/real/pods/one/nothing'],
  ['a connect subresource', '/api/v1/namespaces/real/pods/one/exec', '/api/v1/namespaces/real/pods/one/nothing'],
  [
    'the token subresource of a service account',
    '/api/v1/namespaces/real/serviceaccounts/one/token',
    '/api/v1/namespaces/real/serviceaccounts/none/token',
  ],
  ['a group', '/apis/apps/v1/namespaces/real/deployments', '/apis/nothing.io/v1/namespaces/real/deployments'],
  ['a version', '/apis/apps/v1/namespaces/real/deployments', '/apis/apps/v7/namespaces/real/deployments'],
  ['a custom group', '/apis/example.com/v1/namespaces/real/widgets', '/apis/other.com/v1/namespaces/real/widgets'],
  [
    'a custom resource',
    '/apis/example.com/v1/namespaces/real/widgets/x',
    '/apis/example.com/v1/namespaces/real/none/x',
  ],
  [
    'a deprecated watch path',
    '/api/v1/watch/namespaces/real/configmaps/one',
    '/api/v1/watch/namespaces/real/configmaps/none',
  ],
  ['a role', `/apis/${RBAC}/v1/clusterroles/leases-only`, `/apis/${RBAC}/v1/clusterroles/nothing-here`],
  ['a non-resource page', '/metrics', '/nothing'],
  ['an OpenID document', '/openid/v1/jwks', '/openid/v1/nothing'],
  ['a health check', '/readyz/shutdown', '/readyz/nothing'],
];

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'] as const;
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Other parts of a request that could reveal information. */
const VARIANTS: readonly {
  readonly name: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}[] = [
  { name: 'plain' },
  { name: 'an unreadable body', headers: { 'content-type': 'application/json' }, body: '{' },
  { name: 'an unknown encoding', headers: { 'content-type': 'text/plain', accept: 'image/png' }, body: 'x' },
  { name: 'a table', headers: { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' } },
  { name: 'a watch', query: '?watch=true&resourceVersion=0' },
  { name: 'one name of a list', query: '?fieldSelector=metadata.name%3Done' },
  { name: 'invalid options', query: '?limit=x&labelSelector=%21%21&resourceVersion=x&dryRun=None' },
  {
    name: 'an apply',
    query: '?fieldManager=m&dryRun=All',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}',
  },
];

const USERS: readonly (readonly [user: string, headers: Record<string, string>, code: number])[] = [
  ['an anonymous user', {}, 403],
  ['a user with an unknown token', { authorization: 'Bearer unknown' }, 401],
  ['a user without permission', { authorization: 'Bearer alice-token' }, 403],
  ['a user who may not impersonate', { authorization: 'Bearer alice-token', 'impersonate-user': 'bob' }, 403],
];

/** The response that a client sees, with the names of its path masked and without ids and lengths. */
async function observe(path: string, init: RequestInit, pathNames: readonly string[]): Promise<object> {
  const response = await handle(new Request(`http://cluster${path}`, init));
  const headers = [...response.headers].filter(([name]) => name !== 'audit-id' && name !== 'content-length');
  const text = await response.text();
  const masked = pathNames.reduce((masking, maskedName) => masking.replaceAll(maskedName, '…'), text);
  return { code: response.status, headers, text: masked };
}

/** The segments of both paths in which they differ, longest first. */
function differences(left: string, right: string): string[] {
  const [these, those] = [left.split('/'), right.split('/')];
  const both = these.flatMap((segment, index) => (segment === those[index] ? [] : [segment, those[index] ?? '']));
  // A segment may contain another one, so the longest are masked first.
  return both.sort((one, another) => another.length - one.length);
}

describe.each(USERS)('%s', (_user, credentials, code) => {
  test.each(PAIRS)('cannot find out whether there is %s', async (_what, existing, absent) => {
    const pathNames = differences(existing, absent);
    for (const method of METHODS) {
      for (const { query = '', headers, body } of VARIANTS) {
        const init: RequestInit = {
          method,
          headers: { ...headers, ...credentials },
          ...(body !== undefined && WITH_BODY.has(method) ? { body } : {}),
        };
        const one = await observe(existing + query, init, pathNames);
        expect(one, `${method} ${query}`).toMatchObject({ code });
        expect(one, `${method} ${query}`).toEqual(await observe(absent + query, init, pathNames));
        expect(one).not.toMatchObject({ headers: expect.arrayContaining([['warning', expect.anything()]]) });
      }
    }
  });
});

test('serves only health checks and the version to anonymous users, without object data', async () => {
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
    const response = await handle(new Request(`http://cluster${path}`));
    expect(response.status, path).toBe(200);
    expect(await response.text()).not.toContain('real');
  }
  for (const path of ['/', '/api', '/apis', '/api/v1', '/apis/apps', '/openapi/v3', '/metrics', '/openid/v1/jwks']) {
    expect((await handle(new Request(`http://cluster${path}`))).status, path).toBe(403);
  }
});

test('does not create an object with permission to update or patch only', async () => {
  await cluster.api(ClusterRole).create({
    metadata: { name: 'changer' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['update', 'patch'] }],
  });
  await cluster.api(ClusterRoleBinding).create({
    metadata: { name: 'changer' },
    roleRef: { kind: 'ClusterRole', name: 'changer' },
    subjects: [{ kind: 'User', name: 'carol' }],
  });
  const carol = cluster.with({ as: { user: 'carol' } }).api(ConfigMap, 'real');
  const refused = await carol
    .apply({ metadata: { name: 'new' } }, { fieldManager: 'm' })
    .catch((error: unknown) => error);
  expect(StatusError.is(refused, 'Forbidden')).toBe(true);
  expect(await cluster.api(ConfigMap, 'real').list()).toMatchObject({ items: { length: 1 } });
});

test('authorizes in-process requests before it reads any object', async () => {
  const alice = { user: 'alice' };
  const request = async (namespace: string, name: string): Promise<string> => {
    const resource = { group: '', version: 'v1', resource: 'configmaps' };
    try {
      await cluster.send({ verb: 'get', resource, namespace, name, options: {}, user: alice });
    } catch (error) {
      if (StatusError.is(error)) return error.message.replaceAll(namespace, 'N').replaceAll(`"${name}"`, 'X');
      throw error;
    }
    return 'allowed';
  };
  const answers = await Promise.all([request('real', 'one'), request('real', 'two'), request('absent', 'one')]);
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain('is forbidden');
});
