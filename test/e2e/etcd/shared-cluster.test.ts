/** Clusters in etcd. Two of them with the same etcd are one cluster, as if they were two processes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultAdmission } from '../../../src/admission/plugins/default-plugins.js';
import type { AdmissionPlugin } from '../../../src/admission/types.js';
import { mergePatch } from '../../../src/client/patches.js';
import { createCluster, type FullCluster } from '../../../src/cluster/full-cluster.js';
import type { ClusterOptions } from '../../../src/cluster/options.js';
import { controllers, leaderElection, standardControllers } from '../../../src/controllers/index.js';
import { CustomResourceDefinition } from '../../../src/crd/index.js';
import { EtcdClient } from '../../../src/etcd/client.js';
import { compactOnce, NO_COMPACTION } from '../../../src/etcd/compactor.js';
import { etcdStorage } from '../../../src/etcd/storage.js';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  Event,
  Lease,
  Namespace,
  Pod,
  ReplicaSet,
  ResourceQuota,
  Service,
} from '../../../src/kinds/index.js';
import { type EtcdServer, hasEtcd, startEtcd } from './etcd-server.js';

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('clusters in one etcd', () => {
  let etcd: EtcdServer;
  let one: FullCluster;
  let two: FullCluster;
  const open = (options: ClusterOptions = {}) =>
    createCluster({ dialect: 'kubernetes', storage: etcdStorage({ endpoints: [etcd.endpoint] }), ...options });

  beforeAll(async () => {
    etcd = await startEtcd();
    [one, two] = [open(), open()];
  }, 60_000);

  afterAll(async () => {
    await one.close();
    await two.close();
    await etcd[Symbol.asyncDispose]();
  });

  test('have the default namespaces, once', async () => {
    const [first, second] = await Promise.all([one.api(Namespace).list(), two.api(Namespace).list()]);
    expect(first.items.map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
    expect(second.items).toEqual(first.items);
  });

  test('read what the other has written', async () => {
    const made = await one.api(ConfigMap).create({ metadata: { name: 'shared' }, data: { n: '1' } });
    expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(await two.api(ConfigMap).get('shared')).toEqual(made);
    const changed = await two.api(ConfigMap).update({ ...made, data: { n: '2' } });
    expect(await one.api(ConfigMap).get('shared')).toEqual(changed);
    const stale = one.api(ConfigMap).update({ ...made, data: { n: '3' } });
    await expect(stale).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
    await expect(two.api(ConfigMap).create({ metadata: { name: 'shared' } })).rejects.toMatchObject({
      reason: 'AlreadyExists',
    });
    await one.api(ConfigMap).delete('shared');
    await expect(two.api(ConfigMap).get('shared')).rejects.toMatchObject({ code: 404 });
  });

  test('watch what the other writes, in order', async () => {
    const { metadata } = await two.api(ConfigMap).list();
    const seen: string[] = [];
    const watch = two.api(ConfigMap).watch({ resourceVersion: metadata.resourceVersion ?? '' });
    const reading = (async () => {
      for await (const { type, object } of watch) {
        seen.push(`${type} ${object.metadata.resourceVersion}`);
        if (type === 'DELETED') return;
      }
    })();
    const versions: string[] = [];
    let object = await one.api(ConfigMap).create({ metadata: { name: 'watched' }, data: { n: '0' } });
    for (let n = 1; n <= 5; n++) {
      versions.push(`${versions.length === 0 ? 'ADDED' : 'MODIFIED'} ${object.metadata.resourceVersion}`);
      object = await one.api(ConfigMap).update({ ...object, data: { n: String(n) } });
    }
    versions.push(`MODIFIED ${object.metadata.resourceVersion}`);
    await one.api(ConfigMap).delete('watched');
    await reading;
    expect(seen.slice(0, -1)).toEqual(versions);
    expect(Number(seen.at(-1)?.split(' ')[1])).toBeGreaterThan(Number(object.metadata.resourceVersion));
  });

  test('lose no increment', async () => {
    await one.api(ConfigMap).create({ metadata: { name: 'counter' }, data: { n: '0' } });
    const increment = async (cluster: FullCluster): Promise<void> => {
      for (let done = 0; done < 10; ) {
        const live = await cluster.api(ConfigMap).get('counter');
        const next = { ...live, data: { n: String(Number(live.data?.['n']) + 1) } };
        const isDone = await cluster
          .api(ConfigMap)
          .update(next)
          .then(
            () => true,
            (error) => {
              expect(error).toMatchObject({ reason: 'Conflict' });
              return false;
            },
          );
        if (isDone) done++;
      }
    };
    await Promise.all([one, one, two, two].map(increment));
    expect((await two.api(ConfigMap).get('counter')).data).toEqual({ n: '40' });
  });

  test('start a write again at most once for each write before it, also if many change the same objects', async () => {
    let calls = 0;
    const counts: AdmissionPlugin = { name: 'Counts', mutate: () => void calls++ };
    await using cluster = open({ admission: [...defaultAdmission, counts] });
    await cluster.api(Namespace).create({ metadata: { name: 'busy' } });
    const maps = cluster.api(ConfigMap, 'busy');
    await maps.create({ metadata: { name: 'counter' } });
    calls = 0;
    const numbers = Array.from({ length: 40 }, (_, n) => n);
    await Promise.all(numbers.map((n) => maps.patch('counter', mergePatch({ data: { [`n${n}`]: '' } }))));
    expect(Object.keys((await maps.get('counter')).data ?? {})).toHaveLength(40);
    // The first time all of them read the same object.
    expect(calls).toBeLessThanOrEqual(80);

    const hard = { configmaps: '100' };
    const quota = await cluster.api(ResourceQuota, 'busy').create({ metadata: { name: 'q' }, spec: { hard } });
    const status = { hard, used: { configmaps: '1' } };
    await cluster.api(ResourceQuota, 'busy').status.update('q', { ...quota, status });
    calls = 0;
    await Promise.all(numbers.map((n) => maps.create({ metadata: { name: `m${n}` } })));
    expect(calls).toBeLessThanOrEqual(80);
    expect((await cluster.api(ResourceQuota, 'busy').get('q')).status?.used).toEqual({ configmaps: '41' });
  });

  test('list exactly the version that the other has just written', async () => {
    const [here, there] = [one.api(ConfigMap), two.api(ConfigMap)];
    for (let n = 0; n < 20; n++) {
      const { metadata } = await there.create({ metadata: { name: `exact-${n}` } });
      const { resourceVersion = '' } = metadata;
      const list = await here.list({ resourceVersion, resourceVersionMatch: 'Exact' });
      expect(list.metadata.resourceVersion).toBe(resourceVersion);
      expect(list.items.map((item) => item.metadata.name)).toContain(`exact-${n}`);
    }
    const future = here.list({ resourceVersion: '1000000', resourceVersionMatch: 'Exact' });
    await expect(future).rejects.toThrow('required revision is a future revision');
  });

  test('update an object that the other has just replaced', async () => {
    const [here, there] = [one.api(ConfigMap), two.api(ConfigMap)];
    for (let n = 0; n < 30; n++) {
      await there.create({ metadata: { name: 'replaced' } });
      await here.get('replaced');
      // Without a version: the update starts again from the new object, whose uid is another one.
      const [updated] = await Promise.allSettled([
        here.update({ metadata: { name: 'replaced' }, data: { n: String(n) } }),
        there.delete('replaced').then(() => there.create({ metadata: { name: 'replaced' } })),
      ]);
      if (updated.status === 'rejected') expect(updated.reason).toMatchObject({ reason: 'NotFound' });
      await there.delete('replaced');
    }
  });

  test('never exceed a quota together', async () => {
    await one.api(Namespace).create({ metadata: { name: 'limited' } });
    const hard = { configmaps: '5' };
    const quota = await one.api(ResourceQuota, 'limited').create({ metadata: { name: 'q' }, spec: { hard } });
    // As the controller of quotas writes it.
    await one
      .api(ResourceQuota, 'limited')
      .status.update('q', { ...quota, status: { hard, used: { configmaps: '0' } } });
    const create = (cluster: FullCluster, name: string) =>
      cluster
        .api(ConfigMap, 'limited')
        .create({ metadata: { name } })
        .then(
          () => 1,
          (error) => {
            expect(error).toMatchObject({ code: 403 });
            return 0;
          },
        );
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create(index % 2 === 0 ? one : two, `m${index}`)),
    );
    expect(made.reduce<number>((sum, each) => sum + each, 0)).toBe(5);
    expect((await two.api(ConfigMap, 'limited').list()).items).toHaveLength(5);
    expect((await two.api(ResourceQuota, 'limited').get('q')).status?.used).toEqual({ configmaps: '5' });
  });

  test('create objects while the other deletes their quota', async () => {
    await one.api(Namespace).create({ metadata: { name: 'unlimited' } });
    const quotas = two.api(ResourceQuota, 'unlimited');
    for (let round = 0; round < 10; round++) {
      await quotas.create({ metadata: { name: 'all' }, spec: { hard: { 'count/configmaps': '100' } } });
      await quotas.subresource('status').edit('all', (draft) => {
        draft.status = { hard: { 'count/configmaps': '100' }, used: { 'count/configmaps': '0' } };
      });
      const names = ['a', 'b', 'c'].map((name) => `${name}${round}`);
      const create = (name: string) => one.api(ConfigMap, 'unlimited').create({ metadata: { name } });
      const [created] = await Promise.all([Promise.all(names.map(create)), quotas.delete('all')]);
      expect(created).toHaveLength(3);
    }
  });

  test('never allocate an address or a node port twice', async () => {
    const services = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? one : two)
          .api(Service)
          .create({ metadata: { name: `s${index}` }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }),
      ),
    );
    expect(new Set(services.map(({ spec }) => spec.clusterIP)).size).toBe(20);
    expect(new Set(services.map(({ spec }) => spec.ports?.[0]?.nodePort)).size).toBe(20);
    const [nodePort = 0] = services.map(({ spec }) => spec.ports?.[0]?.nodePort);
    const taken = two
      .api(Service)
      .create({ metadata: { name: 'same' }, spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] } });
    await expect(taken).rejects.toMatchObject({ code: 422 });
    await one.api(Service).delete('s0');
    const again = await two
      .api(Service)
      .create({ metadata: { name: 'same' }, spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] } });
    expect(again.spec.ports?.[0]?.nodePort).toBe(nodePort);
  });

  test('reject a Service because of its address, not of its name, if both request the address at once', async () => {
    const requests = Array.from({ length: 20 }, (_, index) => ({
      metadata: { name: `same-${index}` },
      spec: { clusterIP: `10.0.0.${20 + Math.floor(index / 2)}`, ports: [{ port: 80 }] },
    }));
    const created = await Promise.allSettled(
      requests.map((service, index) => (index % 2 === 0 ? one : two).api(Service).create(service)),
    );
    const failures = created.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []));
    expect(failures).toHaveLength(10);
    for (const failure of failures) expect(failure).toContain('provided IP is already allocated');
  });

  test('never allocate an address twice, also if they do not serve IPAddress', async () => {
    const prefix = '/without-addresses';
    const storage = () => etcdStorage({ endpoints: [etcd.endpoint], prefix });
    const runtimeConfig = 'networking.k8s.io/v1=false';
    await using first = open({ storage: storage(), runtimeConfig });
    await using second = open({ storage: storage(), release: '1.32' });
    expect(first.kinds().map(({ kind }) => kind.kind)).not.toContain('IPAddress');
    for (let n = 1; n <= 10; n++) {
      const request = (name: string) => ({
        metadata: { name: `${name}${n}` },
        spec: { clusterIP: `10.0.0.${n + 20}`, ports: [{ port: 80 }] },
      });
      const created = await Promise.allSettled([
        first.api(Service).create(request('a')),
        second.api(Service).create(request('b')),
      ]);
      const failures = created.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []));
      expect(failures).toEqual([expect.stringContaining('provided IP is already allocated')]);
      for (const [index, { status }] of created.entries()) {
        if (status === 'fulfilled') await first.api(Service).delete(`${index === 0 ? 'a' : 'b'}${n}`);
      }
      await second.api(Service).create({ ...request('c') });
    }
  });

  test('serve the custom kinds of the other', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
    await one.api(CustomResourceDefinition).create({
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const resource = { group: 'example.com', version: 'v1', resource: 'widgets' };
    await expect.poll(() => two.resolve(resource) !== undefined && one.resolve(resource) !== undefined).toBe(true);
    const created = await one.send({
      verb: 'create',
      resource,
      namespace: 'default',
      options: {},
      body: {
        read: () => ({
          value: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { a: 1 } },
        }),
      } as never,
    });
    const read = await two.send({ verb: 'get', resource, namespace: 'default', name: 'w', options: {} });
    expect(read).toMatchObject({ object: { spec: { a: 1 } } });
    expect('object' in read && 'object' in created && read.object).toEqual('object' in created && created.object);
  });

  test('apply changes of access at once', async () => {
    const alice = two.with({ as: { user: 'alice', groups: ['system:authenticated'] } });
    await expect(alice.api(ConfigMap).list()).rejects.toMatchObject({ code: 403 });
    await one.api(ClusterRole).create({
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    });
    const binding = await one.api(ClusterRoleBinding).create({
      metadata: { name: 'alice' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    expect((await alice.api(ConfigMap).list()).items.length).toBeGreaterThan(0);
    await one.api(ClusterRoleBinding).delete(binding.metadata.name);
    await expect(alice.api(ConfigMap).list()).rejects.toMatchObject({ code: 403 });
  });

  test('store events for an hour, also when etcd has lost their lease', async () => {
    const leaseOf = async (name: string): Promise<string> => {
      await one.api(Event).create({
        metadata: { name },
        eventTime: '2026-01-01T00:00:00.000000Z',
        regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
        reason: 'Tested',
        action: 'Test',
        type: 'Normal',
        reportingController: 'example.com/test',
        reportingInstance: 'one',
      });
      const { kvs } = await etcd.client.range({ key: Buffer.from(`/registry/events/default/${name}`) });
      return String(kvs[0]?.lease ?? 0);
    };
    const lease = await leaseOf('e');
    expect(Number(lease)).toBeGreaterThan(0);
    expect(await leaseOf('shares-it')).toBe(lease);
    const body = JSON.stringify({ ID: lease });
    expect((await fetch(`${etcd.endpoint}/v3/lease/revoke`, { method: 'POST', body })).status).toBe(200);
    const later = await Promise.all(['x', 'y', 'z'].map((name) => leaseOf(`later-${name}`)));
    expect(later).not.toContain(lease);
    // Those that noticed the loss later keep the lease that the first has got.
    expect(new Set(later).size).toBe(1);
  });

  test('delete a pod with both of its events', async () => {
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const { metadata } = await one.api(Pod).create(pod);
    const watch = two.api(Pod).watch({ resourceVersion: metadata.resourceVersion ?? '' });
    await one.api(Pod).delete('p', { gracePeriodSeconds: 0 });
    const types: string[] = [];
    for await (const { type } of watch) if (types.push(type) === 2) break;
    expect(types).toEqual(['MODIFIED', 'DELETED']);
  });

  test('roll back nothing when one of several changes is lost', async () => {
    const before = await one.api(ConfigMap).list();
    const tooMany = one.api(ConfigMap, 'limited').create({ metadata: { name: 'more' } });
    await expect(tooMany).rejects.toMatchObject({ code: 403 });
    expect((await two.api(ConfigMap).list()).items).toEqual(before.items);
  });

  test('continue after etcd was away', async () => {
    const { metadata } = await two.api(ConfigMap).list();
    const watch = two.api(ConfigMap).watch({ resourceVersion: metadata.resourceVersion ?? '' });
    await etcd.kill();
    const waiting = one.api(ConfigMap).create({ metadata: { name: 'after' } });
    // What this process knows.
    expect((await one.api(ConfigMap).get('counter', { resourceVersion: '0' })).data).toEqual({ n: '40' });
    await etcd.start();
    await waiting;
    for await (const event of watch) {
      expect(event).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'after' } } });
      break;
    }
  });

  test('run the controllers in one process, and in the other when that one ends', async () => {
    const times = { leaseDurationMs: 2_000, renewDeadlineMs: 1_500, retryPeriodMs: 300 };
    // The first process does not release the Lease, as if it was killed.
    const start = (identity: string) =>
      open({
        controllers: controllers(standardControllers(), {
          leaderElection: leaderElection({ name: 'manager', identity, releaseOnClose: false, ...times }),
        }),
      });
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const hasReplicaSet = async (name: string) => {
      const spec = { selector: { matchLabels: { app: 'web' } }, template };
      await one.api(Deployment).create({ metadata: { name }, spec });
      const owners = async () =>
        (await one.api(ReplicaSet).list()).items.flatMap(({ metadata }) => metadata.ownerReferences ?? []);
      await expect.poll(async () => (await owners()).map((owner) => owner.name), { timeout: 15_000 }).toContain(name);
      return (await one.api(Lease, 'kube-system').get('manager')).spec?.holderIdentity;
    };
    const first = start('first');
    expect(await hasReplicaSet('early')).toBe('first');
    const second = start('second');
    expect(await hasReplicaSet('middle')).toBe('first');
    await first.close();
    expect(await hasReplicaSet('late')).toBe('second');
    await second.close();
  }, 60_000);

  test('a watch opens although its progress is requested at once', async () => {
    const client = new EtcdClient({ endpoints: [etcd.endpoint] });
    const bytes = (text: string) => Buffer.from(text);
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const watch = client.watch(
      { key: bytes('/watched/'), rangeEnd: bytes('/watched0'), startRevision: 1 },
      { onResponse: ({ created }) => (created ? open() : undefined), onEnd: () => undefined },
    );
    // Before the channel has connected, gRPC keeps one message.
    for (let turn = 0; turn < 1_000; turn++) await Promise.resolve(watch.requestProgress());
    await expect(opened).resolves.toBeUndefined();
    client.close();
  });

  test('an error in the receiver of a watch ends the watch', async () => {
    const client = new EtcdClient({ endpoints: [etcd.endpoint] });
    const ended = new Promise<Error | undefined>((resolve) => {
      const onResponse = (): void => {
        throw new Error('the receiver fails');
      };
      const range = { key: Buffer.from('/watched/'), rangeEnd: Buffer.from('/watched0'), startRevision: 1 };
      client.watch(range, { onResponse, onEnd: resolve });
    });
    await expect(ended).resolves.toMatchObject({ message: 'the receiver fails' });
    client.close();
  });

  test('compact etcd in turns', async () => {
    const first = await compactOnce(etcd.client, NO_COMPACTION);
    expect(first.turns).toBe(1);
    // Another server, which has not had a turn.
    const other = await compactOnce(etcd.client, NO_COMPACTION);
    expect(other.turns).toBe(1);
    const second = await compactOnce(etcd.client, first);
    expect(second.turns).toBe(2);
    const old = etcd.client.range({ key: Buffer.from('/registry/'), revision: first.revision - 1 });
    await expect(old).rejects.toThrow('required revision has been compacted');
  });
});
