/** docs/specification.md, S: what the service does. */
import { createCluster } from 'orchplane';
import { controllers, namespaces } from 'orchplane/controllers';
import { ConfigMap } from 'orchplane/kinds';
import { captureCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { configMap, EVERYTHING, MAPS, names, open, RBAC } from './http.js';

const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const PODS = '/api/v1/namespaces/default/pods';

describe('the interface', () => {
  test('S1.1: POST creates, GET reads, PUT replaces, PATCH patches and DELETE deletes', async () => {
    const { send, map, put, patch } = open();
    expect((await map('a', { data: { k: '1', l: '1' } })).code).toBe(201);
    expect((await send('GET', `${MAPS}/a`)).body.data).toEqual({ k: '1', l: '1' });
    expect((await put(`${MAPS}/a`, configMap('a', { data: { k: '2' } }))).body.data).toEqual({ k: '2' });
    expect((await patch('merge', `${MAPS}/a`, { data: { m: '3' } })).body.data).toEqual({ k: '2', m: '3' });
    expect((await send('DELETE', `${MAPS}/a`)).code).toBe(200);
    expect((await send('GET', `${MAPS}/a`)).code).toBe(404);
  });

  test('S1.2: subresources are paths below a resource, have their own kinds and are authorized separately', async () => {
    const { send, post, put } = open();
    await post(PODS, pod);
    expect((await send('GET', `${PODS}/p/status`)).body.kind).toBe('Pod');
    const template = { metadata: { labels: { a: 'b' } }, spec: pod.spec };
    const spec = { replicas: 2, selector: { matchLabels: { a: 'b' } }, template };
    await post('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'd' }, spec });
    const scale = await send('GET', '/apis/apps/v1/namespaces/default/deployments/d/scale');
    expect(scale.body).toMatchObject({ kind: 'Scale', spec: { replicas: 2 } });
    const { body } = await post('/api/v1/namespaces', { metadata: { name: 'n' } });
    expect((await put('/api/v1/namespaces/n/finalize', body)).code).toBe(200);
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    await post(`${RBAC}/namespaces/default/roles`, { metadata: { name: 'r' }, rules });
    await post(`${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name: 'r' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.orch.io' }],
    });
    expect((await send('GET', `${PODS}/p`, { as: 'alice' })).code).toBe(200);
    expect((await send('GET', `${PODS}/p/status`, { as: 'alice' })).code).toBe(403);
  });

  test('S1.3: a watch announces changes; a list is consistent across its chunks', async () => {
    const { map, send, watch } = open();
    for (const name of ['a', 'b', 'c']) await map(name);
    const first = await send('GET', `${MAPS}?limit=2`);
    const { next } = await watch(`${MAPS}?watch=1&resourceVersion=${first.body.metadata.resourceVersion}`);
    await map('d');
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'd' } } });
    const second = await send('GET', `${MAPS}?limit=2&continue=${first.body.metadata.continue}`);
    expect([...names(first.body), ...names(second.body)]).toEqual(['a', 'b', 'c']);
  });

  test('S1.4: access reviews and evictions are operations that store no object', async () => {
    const { post, send } = open();
    const review = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' }, user: 'alice' };
    const reviewed = await post('/apis/authorization.orch.io/v1/subjectaccessreviews', { spec: review });
    expect(reviewed).toMatchObject({ code: 201, body: { kind: 'SubjectAccessReview', status: { allowed: false } } });
    expect((await send('GET', '/apis/authorization.orch.io/v1/subjectaccessreviews')).code).toBe(405);
    await post(PODS, pod);
    expect((await post(`${PODS}/p/eviction`, { metadata: { name: 'p' } })).body).toMatchObject({ kind: 'Status' });
    expect((await send('GET', `${PODS}/p`)).code).toBe(404);
  });

  test('S1.5: calls of components and of users use the same interface, and the state can be persisted', async () => {
    const { cluster, map } = open();
    await map('a', { data: { k: 'v' } });
    expect((await cluster.api(ConfigMap).get('a')).data).toEqual({ k: 'v' });
    const state = JSON.parse(JSON.stringify(captureCluster(cluster)));
    const restored = createCluster({ from: state });
    expect(await restored.api(ConfigMap).get('a')).toEqual(await cluster.api(ConfigMap).get('a'));
  });

  test('S1.6: resource types have a plural name, a kind and the eight verbs', async () => {
    const { body } = await open().send('GET', '/api/v1');
    const resources = body['resources'] as { name: string }[];
    expect(resources.find(({ name }) => name === 'configmaps')).toMatchObject({
      kind: 'ConfigMap',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    });
  });

  test('S1.7: GET with watch is a watch; PUT creates or updates; PUT replaces what PATCH would keep', async () => {
    const { map, put, patch, post, send, watch } = open();
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'update'] }];
    await post(`${RBAC}/namespaces/default/roles`, { metadata: { name: 'r' }, rules });
    await post(`${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name: 'r' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.orch.io' }],
    });
    expect((await send('GET', MAPS, { as: 'alice' })).code).toBe(200);
    expect((await send('GET', `${MAPS}?watch=true`, { as: 'alice' })).body.message).toContain('cannot watch');
    const { next } = await watch(`${MAPS}?watch=true`);

    const created = await put(`${MAPS}/a`, configMap('a', { data: { k: '1' } }));
    expect(created).toMatchObject({ code: 201, body: { data: { k: '1' } } });
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    const replaced = await put(`${MAPS}/a`, configMap('a', { data: { l: '2' } }));
    expect(replaced).toMatchObject({ code: 200, body: { data: { l: '2' } } });
    expect((await patch('merge', `${MAPS}/a`, { data: { m: '3' } })).body.data).toEqual({ l: '2', m: '3' });

    expect((await map('b')).code).toBe(201);
    const denied = await put(`${MAPS}/c`, configMap('c'), { as: 'alice' });
    expect(denied).toMatchObject({ code: 403, body: { message: expect.stringContaining('cannot create') } });
    for (const metadata of [{ uid: 'x' }, { resourceVersion: '1' }]) {
      const { code } = await put(`${MAPS}/c`, configMap('c', { metadata }));
      expect([404, 409]).toContain(code);
    }
    expect((await send('GET', `${MAPS}/c`)).code).toBe(404);
  });

  test('S1.8: names are unique per kind and namespace, or in the cluster, and can be used again', async () => {
    const { map, post, send } = open();
    await map('a');
    expect(await map('a')).toMatchObject({ code: 409, body: { reason: 'AlreadyExists' } });
    expect((await post('/api/v1/namespaces/default/secrets', { metadata: { name: 'a' } })).code).toBe(201);
    expect((await post('/api/v1/namespaces/kube-system/configmaps', configMap('a'))).code).toBe(201);
    expect((await post('/api/v1/namespaces', { metadata: { name: 'default' } })).code).toBe(409);
    await send('DELETE', `${MAPS}/a`);
    expect((await map('a')).code).toBe(201);
    const review = await post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
    });
    expect(review).toMatchObject({ code: 201, body: { metadata: {} } });
    expect(review.body.metadata).not.toHaveProperty('name');
  });

  test('S1.9: the objects of a namespace are deleted with it, and access is checked per namespace', async () => {
    const { cluster, clock, post, send } = open({ controllers: controllers([namespaces()]) });
    await post('/api/v1/namespaces', { metadata: { name: 'n' } });
    await post('/api/v1/namespaces/n/configmaps', configMap('a'));
    await post(`${RBAC}/namespaces/n/rolebindings`, {
      metadata: { name: 'r' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.orch.io' }],
    });
    await clock.advance(60_000);
    expect((await send('GET', '/api/v1/namespaces/n/configmaps/a', { as: 'alice' })).code).toBe(200);
    expect((await send('GET', MAPS, { as: 'alice' })).code).toBe(403);
    await send('DELETE', '/api/v1/namespaces/n');
    await clock.advance(60_000);
    expect((await send('GET', '/api/v1/namespaces/n')).code).toBe(404);
    expect(names((await send('GET', '/api/v1/configmaps')).body)).not.toContain('a');
    await cluster.close();
  });
});

describe('resource types', () => {
  /** Kind, group and version, and whether it is namespaced. */
  const COVERED = [
    ['ClusterTrustBundle', 'certificates.orch.io/v1alpha1', false],
    ['Role', 'rbac.authorization.orch.io/v1', true],
    ['Endpoints', 'v1', true],
    ['ControllerRevision', 'apps/v1', true],
    ['FlowSchema', 'flowcontrol.apiserver.orch.io/v1', false],
    ['LimitRange', 'v1', true],
    ['ResourceQuota', 'v1', true],
    ['ConfigMap', 'v1', true],
    ['Secret', 'v1', true],
    ['Namespace', 'v1', false],
    ['ComponentStatus', 'v1', false],
    ['DeviceClass', 'resource.orch.io/v1beta1', false],
    ['APIService', 'apiregistration.orch.io/v1', false],
    ['Event', 'events.orch.io/v1', true],
    ['IPAddress', 'networking.orch.io/v1beta1', false],
    ['CronJob', 'batch/v1', true],
    ['StorageVersionMigration', 'storagemigration.orch.io/v1alpha1', false],
    ['PriorityClass', 'scheduling.orch.io/v1', false],
    ['CSIDriver', 'storage.orch.io/v1', false],
    ['CSINode', 'storage.orch.io/v1', false],
    ['CSIStorageCapacity', 'storage.orch.io/v1', true],
    ['CustomResourceDefinition', 'apiextensions.orch.io/v1', false],
  ] as const;

  test.each(COVERED)(
    'S2.1, S2.2: %s of %s is served in its scope, with its list kind',
    async (kind, groupVersion, namespaced) => {
      const { send } = open(EVERYTHING);
      const root = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
      const { body } = await send('GET', root);
      const resources = body['resources'] as { name: string; kind: string; namespaced: boolean }[];
      const resource = resources.find((each) => each.kind === kind && !each.name.includes('/'));
      expect(resource?.namespaced).toBe(namespaced);
      const list = await send('GET', `${root}/${resource?.name}`);
      expect(list).toMatchObject({ code: 200, body: { kind: `${kind}List`, apiVersion: groupVersion } });
    },
  );
});
