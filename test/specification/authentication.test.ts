/** docs/specification.md, A: authentication and authorization. */
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { describe, expect, test } from 'vitest';
import { CA } from '../unit/kinds/certificates/pem.js';
import { EVERYTHING, MAPS, open, RBAC } from './http.js';

const GROUP = 'rbac.authorization.orch.io';
const BUNDLES = '/apis/certificates.orch.io/v1alpha1/clustertrustbundles';
type Service = ReturnType<typeof open>;

/** Gives alice the rules, in the cluster or in a namespace. */
async function allow({ post }: Service, rules: readonly object[], namespace?: string): Promise<void> {
  const root = namespace === undefined ? RBAC : `${RBAC}/namespaces/${namespace}`;
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  await post(`${root}/${kind.toLowerCase()}s`, { metadata: { name: 'r' }, rules });
  await post(`${root}/${kind.toLowerCase()}bindings`, {
    metadata: { name: 'r' },
    roleRef: { apiGroup: GROUP, kind, name: 'r' },
    subjects: [{ kind: 'User', name: 'alice', apiGroup: GROUP }],
  });
}

describe('authentication', () => {
  test('A1.1: a request without valid credentials gets 401', async () => {
    expect(await open().send('GET', MAPS, { as: 'unknown' })).toMatchObject({
      code: 401,
      body: { reason: 'Unauthorized' },
    });
  });

  test('A1.2: rules name groups, resources, verbs, names and non-resource URLs; namespaces are separate', async () => {
    const service = open();
    const { send } = service;
    await allow(
      service,
      [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get'] }],
      'default',
    );
    await service.map('a');
    await service.map('b');
    const code = async (path: string) => (await send('GET', path, { as: 'alice' })).code;
    expect([await code(`${MAPS}/a`), await code(`${MAPS}/b`), await code(MAPS)]).toEqual([200, 403, 403]);
    expect(await code('/api/v1/namespaces/kube-system/configmaps/a')).toBe(403);
    expect(await code('/metrics')).toBe(403);
    await allow(service, [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]);
    expect(await code('/metrics')).toBe(200);
  });

  test('A1.3: a trust bundle of a signer needs the verb attest', async () => {
    const service = open(EVERYTHING);
    await allow(service, [{ apiGroups: ['*'], resources: ['clustertrustbundles'], verbs: ['*'] }]);
    const bundle = {
      metadata: { name: 'example.com:s:b' },
      spec: { signerName: 'example.com/s', trustBundle: CA },
    };
    expect(await service.post(BUNDLES, bundle, { as: 'alice' })).toMatchObject({ code: 403 });
    expect((await service.post(BUNDLES, bundle)).code).toBe(201);
  });

  test('A1.4: service accounts read trust bundles by default; others may impersonate one', async () => {
    const service = open(EVERYTHING);
    const account = { 'impersonate-user': 'system:serviceaccount:default:default' };
    const groups = { 'impersonate-group': 'system:serviceaccounts' };
    expect((await service.send('GET', BUNDLES, { headers: { ...account, ...groups } })).code).toBe(200);
    const impersonate = { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] };
    await allow(service, [impersonate], 'default');
    expect((await service.send('GET', BUNDLES, { as: 'alice', headers: account })).code).toBe(200);
  });

  test('A1.5: a flow schema names users, groups and service accounts', async () => {
    const { post } = open();
    const subjects = [
      { kind: 'User', user: { name: 'alice' } },
      { kind: 'Group', group: { name: 'system:authenticated' } },
      { kind: 'Group', group: { name: 'system:unauthenticated' } },
      { kind: 'ServiceAccount', serviceAccount: { namespace: 'default', name: 'default' } },
    ];
    const create = (name: string, named: readonly object[]) =>
      post('/apis/flowcontrol.apiserver.orch.io/v1/flowschemas', {
        metadata: { name },
        spec: {
          priorityLevelConfiguration: { name: 'global-default' },
          rules: [{ subjects: named, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }],
        },
      });
    expect((await create('a', subjects)).code).toBe(201);
    expect((await create('b', [{ kind: 'ServiceAccount', serviceAccount: { name: 'default' } }])).code).toBe(422);
    expect((await create('c', [{ kind: 'Robot' }])).code).toBe(422);
  });

  test('A1.6: a projected token lives an hour by default and ten minutes at least; audiences are checked', async () => {
    const { cluster, post } = open();
    await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 's' } });
    const create = (name: string, token: object) =>
      post('/api/v1/namespaces/default/pods', {
        metadata: { name },
        spec: {
          serviceAccountName: 's',
          containers: [{ name: 'c', image: 'i' }],
          volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'p', ...token } }] } }],
        },
      });
    expect((await create('a', {})).body['spec']).toMatchObject({
      volumes: [{ projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } }],
    });
    expect((await create('b', { expirationSeconds: 599 })).code).toBe(422);
    expect((await create('c', { expirationSeconds: 600, audience: 'x' })).code).toBe(201);
    const { body } = await post('/api/v1/namespaces/default/serviceaccounts/s/token', { spec: { audiences: ['x'] } });
    const { token } = body['status'] as { token: string };
    const handle = createFetchHandler(cluster);
    const headers = { authorization: `Bearer ${token}` };
    expect((await handle(new Request('http://c/api', { headers }))).status).toBe(401);
    const review = (audiences: readonly string[]) =>
      post('/apis/authentication.orch.io/v1/tokenreviews', { spec: { token, audiences } });
    expect((await review(['x'])).body['status']).toMatchObject({ authenticated: true, audiences: ['x'] });
    expect((await review(['y'])).body['status']).not.toHaveProperty('authenticated', true);
  });

  test('A1.7: webhooks use HTTPS; an API service without verification has no CA bundle', async () => {
    const { post } = open();
    const webhook = (clientConfig: object) =>
      post('/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations', {
        metadata: { generateName: 'w' },
        webhooks: [{ name: 'a.example.com', clientConfig, sideEffects: 'None', admissionReviewVersions: ['v1'] }],
      });
    expect((await webhook({ url: 'http://example.com/x' })).code).toBe(422);
    expect((await webhook({ url: 'https://example.com/x' })).code).toBe(201);
    const service = (name: string, more: object) =>
      post('/apis/apiregistration.orch.io/v1/apiservices', {
        metadata: { name: `v1.${name}.example.com` },
        spec: {
          group: `${name}.example.com`,
          version: 'v1',
          groupPriorityMinimum: 1,
          versionPriority: 1,
          service: { name: 's', namespace: 'default' },
          ...more,
        },
      });
    expect((await service('a', {})).code).toBe(201);
    expect((await service('b', { insecureSkipTLSVerify: true })).code).toBe(201);
    expect((await service('c', { insecureSkipTLSVerify: true, caBundle: btoa('x') })).code).toBe(422);
  });

  test('A1.8: an admission policy may ask the authorizer about the user', async () => {
    const service = open();
    const { post } = service;
    const root = '/apis/admissionregistration.orch.io/v1';
    await post(`${root}/validatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        },
        validations: [
          { expression: "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()" },
        ],
      },
    });
    await post(`${root}/validatingadmissionpolicybindings`, {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    });
    await allow(service, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }], 'default');
    expect((await post(MAPS, { metadata: { name: 'a' } })).code).toBe(201);
    expect((await post(MAPS, { metadata: { name: 'b' } }, { as: 'alice' })).code).toBe(422);
  });
});

test('A1.2: members of no group have no access', async () => {
  const handle = createFetchHandler(createCluster(), { tokens: { t: { user: 'u', groups: [] } } });
  const headers = { authorization: 'Bearer t' };
  expect((await handle(new Request(`http://c${MAPS}`, { headers }))).status).toBe(403);
});
