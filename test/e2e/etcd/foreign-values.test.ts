/** Keys that were changed or deleted in etcd by another program than an API server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster, type FullCluster } from '../../../src/cluster/full-cluster.js';
import { CustomResourceDefinition } from '../../../src/crd/index.js';
import type { RequestOp } from '../../../src/etcd/messages.js';
import { etcdStorage } from '../../../src/etcd/storage.js';
import { createFetchHandler } from '../../../src/http/handler.js';
import { ClusterRole, ConfigMap, Endpoints, Service } from '../../../src/kinds/index.js';
import type { ApiObject } from '../../../src/meta/object.js';
import { type EtcdServer, hasEtcd, startEtcd } from './etcd-server.js';

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('keys of another program', () => {
  let etcd: EtcdServer;
  let cluster: FullCluster;
  const open = () =>
    createCluster({
      dialect: 'kubernetes',
      onWarning: () => undefined,
      storage: etcdStorage({ endpoints: [etcd.endpoint] }),
    });
  const send = (operation: RequestOp) => etcd.client.txn({ compare: [], success: [operation], failure: [] });
  const put = (key: string, value: string | Uint8Array) =>
    send({ requestPut: { key: Buffer.from(`/registry/${key}`), value: Buffer.from(value) } });
  const remove = (key: string) => send({ requestDeleteRange: { key: Buffer.from(`/registry/${key}`) } });
  const service = (name: string, nodePort?: number) => ({
    metadata: { name },
    spec: { type: 'NodePort' as const, ports: [{ port: 80, ...(nodePort === undefined ? {} : { nodePort }) }] },
  });

  beforeAll(async () => {
    etcd = await startEtcd();
    cluster = open();
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name } });
  }, 60_000);

  afterAll(async () => {
    await cluster.close();
    await etcd[Symbol.asyncDispose]();
  });

  test.each([
    ['text', 'garbage'],
    ['an encrypted value', 'k8s:enc:aescbc:v1:key1:0123'],
    ['an empty value', ''],
    [
      'another kind',
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'default' } }),
    ],
    ['another object', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } })],
    ['deep JSON', `{"metadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
  ])('%s as the value of an object: requests for it fail, others do not', async (_, value) => {
    const maps = cluster.api(ConfigMap);
    await put('configmaps/default/a', value);
    const problem = {
      code: 500,
      status: { message: expect.stringContaining('unable to decode configmaps/default/a') },
    };
    for (const reader of [cluster, open()]) {
      const read = reader.api(ConfigMap);
      await expect(read.list()).rejects.toMatchObject(problem);
      await expect(read.get('a')).rejects.toMatchObject(problem);
      await expect(read.update({ metadata: { name: 'a' }, data: { x: 'y' } })).rejects.toMatchObject(problem);
      await expect(read.create({ metadata: { name: 'a' } })).rejects.toMatchObject({ code: 409 });
      expect((await read.get('b')).metadata.name).toBe('b');
      expect((await reader.api(ConfigMap, 'kube-public').list()).items).toEqual([]);
      expect((await reader.api(ClusterRole).get('cluster-admin')).metadata.name).toBe('cluster-admin');
      if (reader !== cluster) await reader.close();
    }
    await remove('configmaps/default/a');
    await maps.create({ metadata: { name: 'a' } });
    expect((await maps.list()).items.map(({ metadata: { name } }) => name)).toEqual(['a', 'b']);
  });

  test('an initial object with another value does not prevent the start', async () => {
    await put('clusterroles/view', 'garbage');
    await using other = open();
    expect((await other.api(ClusterRole).get('edit')).metadata.name).toBe('edit');
    await expect(other.api(ClusterRole).get('view')).rejects.toThrow('unable to decode clusterroles');
    await remove('clusterroles/view');
  });

  test('values of resources that no CRD declares are ignored', async () => {
    await put('example.com/widgets/default/a', 'garbage');
    await put('my.program/settings', 'a=b');
    await put('notes', 'text');
    await put('masterleases/nonsense', 'text');
    await using other = open();
    expect((await other.api(ConfigMap).list()).items).toHaveLength(2);
    expect((await cluster.api(ConfigMap).list()).items).toHaveLength(2);
    await remove('masterleases/nonsense');
    expect((await cluster.api(Endpoints).get('kubernetes')).subsets).toBeDefined();
  });

  test('a CRD with another value keeps its kind in servers that know it', async () => {
    const name = 'gadgets.example.com';
    const schema = { openAPIV3Schema: { type: 'object' as const } };
    await cluster.api(CustomResourceDefinition).create({
      metadata: { name },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    await put(`apiextensions.k8s.io/customresourcedefinitions/${name}`, 'garbage');
    await expect(cluster.api(CustomResourceDefinition).list()).rejects.toThrow('unable to decode');
    expect(cluster.resolve({ group: 'example.com', version: 'v1', resource: 'gadgets' })).toBeDefined();
    await remove(`apiextensions.k8s.io/customresourcedefinitions/${name}`);
    expect((await cluster.api(CustomResourceDefinition).list()).items).toEqual([]);
  });

  test('objects that the server cannot update end neither running servers nor those that start', async () => {
    const bad = (apiVersion: string, kind: string, name: string, spec: object) =>
      JSON.stringify({ apiVersion, kind, metadata: { name, labels: { 'bad label!': 'x' } }, spec });
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
    const names = { plural: 'as', kind: 'A' };
    const crd = { group: 'example.com', scope: 'Namespaced', names, versions };
    const service = { service: { name: 's', namespace: 'default' }, groupPriorityMinimum: 1, versionPriority: 1 };
    const values = {
      'flowschemas/bad': bad('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', 'bad', {
        priorityLevelConfiguration: { name: 'nosuch' },
      }),
      'apiregistration.k8s.io/apiservices/v1.bad': bad('apiregistration.k8s.io/v1', 'APIService', 'v1.bad', {
        ...{ group: 'bad', version: 'v1' },
        ...service,
      }),
      'apiextensions.k8s.io/customresourcedefinitions/as.example.com': bad(
        'apiextensions.k8s.io/v1',
        'CustomResourceDefinition',
        'as.example.com',
        crd,
      ),
    };
    const warnings: string[] = [];
    const options = { dialect: 'kubernetes', onWarning: (text: string) => warnings.push(text) } as const;
    await using running = createCluster({ ...options, storage: etcdStorage({ endpoints: [etcd.endpoint] }) });
    await running.api(ConfigMap).list();
    for (const [key, value] of Object.entries(values)) await put(key, value);
    await running.api(ConfigMap).create({ metadata: { name: 'after' } });
    await expect.poll(() => warnings).toHaveLength(3);
    await using other = createCluster({ ...options, storage: etcdStorage({ endpoints: [etcd.endpoint] }) });
    await other.api(ConfigMap).delete('after');
    expect(warnings).toHaveLength(6);
    for (const key of Object.keys(values)) await remove(key);
  });

  test('a new kind is served at once, also while the server updates other objects', async () => {
    const schema = { openAPIV3Schema: { type: 'object' as const } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const spec = (kind: string) => ({
      group: 'example.com',
      scope: 'Namespaced' as const,
      names: { plural: `${kind.toLowerCase()}s`, kind },
      versions,
    });
    for (let n = 0; n < 20; n++) {
      const other = {
        kind: 'CustomResourceDefinition',
        metadata: { name: `other${n}s.example.com` },
        spec: spec(`Other${n}`),
      };
      const key = `apiextensions.k8s.io/customresourcedefinitions/other${n}s.example.com`;
      // The server writes the conditions of this definition, which may fail because it is removed.
      await put(key, JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', ...other }));
      await remove(key);
      const resource = `kind${n}s`;
      const name = `${resource}.example.com`;
      await cluster.api(CustomResourceDefinition).create({ metadata: { name }, spec: spec(`Kind${n}`) });
      expect(cluster.resolve({ group: 'example.com', version: 'v1', resource }), `${n}`).toBeDefined();
      await cluster.api(CustomResourceDefinition).delete(name);
    }
  });

  test('undeclared fields that a kube-apiserver has stored are removed by the next write', async () => {
    const name = 'gizmos.example.com';
    const schema = { openAPIV3Schema: { type: 'object' as const, properties: { spec: { type: 'object' as const } } } };
    await cluster.api(CustomResourceDefinition).create({
      metadata: { name },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gizmos', kind: 'Gizmo' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const handle = createFetchHandler(cluster);
    const send = async (method: string, path = '', body?: unknown): Promise<ApiObject> => {
      const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) ?? null };
      const address = `http://cluster.local/apis/example.com/v1/namespaces/default/gizmos${path}`;
      return (await handle(new Request(address, init))).json() as Promise<ApiObject>;
    };
    const gizmo = { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name: 'a' }, spec: {} };
    const { resourceVersion, ...metadata } = (await send('POST', '', gizmo)).metadata;
    await put('example.com/gizmos/default/a', JSON.stringify({ ...gizmo, metadata, spec: { hidden: 1 } }));
    const live = await send('GET', '/a');
    expect(live['spec']).toEqual({});
    expect(live.metadata.resourceVersion).not.toBe(resourceVersion);
    const updated = await send('PUT', '/a', live);
    expect(updated.metadata.resourceVersion).not.toBe(live.metadata.resourceVersion);
    const again = await send('PUT', '/a', updated);
    expect(again.metadata.resourceVersion).toBe(updated.metadata.resourceVersion);
  });

  test('the allocation of node ports is written again when it is deleted or damaged', async () => {
    const services = cluster.api(Service);
    const first = await services.create(service('first'));
    await remove('ranges/servicenodeports');
    const second = await services.create(service('second'));
    await put('ranges/servicenodeports', 'garbage');
    const third = await services.create(service('third'));
    const ports = [first, second, third].map(({ spec }) => spec?.ports?.[0]?.nodePort);
    expect(new Set(ports).size).toBe(3);
    await using other = open();
    await expect(other.api(Service).create(service('fourth', ports[0]))).rejects.toMatchObject({ code: 422 });
    await services.delete('first');
    await other.api(Service).create(service('fourth', ports[0]));
  });

  test('objects that are deleted are gone everywhere', async () => {
    await using other = open();
    const [one, two] = [cluster.api(ConfigMap), other.api(ConfigMap)];
    await one.create({ metadata: { name: 'gone' } });
    const watch = two.watch({ resourceVersion: (await two.list()).metadata.resourceVersion ?? '' });
    await remove('configmaps/default/gone');
    for await (const event of watch) {
      expect(event).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'gone' } } });
      break;
    }
    await expect(one.get('gone')).rejects.toMatchObject({ code: 404 });
    await two.create({ metadata: { name: 'gone' } });
    expect((await one.get('gone')).metadata.name).toBe('gone');
  });
});
