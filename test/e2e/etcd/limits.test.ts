/** The limits of etcd: the size of its database, and that of a request. */
import { describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import type { RequestOp } from '../../../src/etcd/messages.js';
import { etcdStorage } from '../../../src/etcd/storage.js';
import { createFetchHandler } from '../../../src/http/handler.js';
import { ConfigMap, Event, Namespace } from '../../../src/kinds/index.js';
import { hasEtcd, startEtcd } from './etcd-server.js';

const data = (bytes: number) => ({ x: 'y'.repeat(bytes) });

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('a cluster in etcd', () => {
  test('refuses changes but not deletions when the database is full, as the reference server', async () => {
    await using etcd = await startEtcd({ flags: ['--quota-backend-bytes', '2000000', '--unsafe-no-fsync'] });
    const storage = etcdStorage({ endpoints: [etcd.endpoint] });
    await using cluster = createCluster({ dialect: 'kubernetes', storage });
    const maps = cluster.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    await maps.create({ metadata: { name: 'b' } });
    const isFull = { code: 500, status: { message: 'etcdserver: mvcc: database space exceeded' } };
    const fill = async () => {
      for (let n = 0; n < 10; n++) await maps.create({ metadata: { name: `big-${n}` }, data: data(900_000) });
    };
    await expect(fill()).rejects.toMatchObject(isFull);
    await expect(maps.create({ metadata: { name: 'c' } })).rejects.toMatchObject(isFull);
    await expect(maps.update({ metadata: { name: 'a' }, data: { x: '1' } })).rejects.toMatchObject(isFull);
    const event = {
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      ...{ reason: 'Tested', action: 'Test', type: 'Normal' as const },
      ...{ reportingController: 'example.com/test', reportingInstance: 'one' },
    };
    await expect(cluster.api(Event).create(event)).rejects.toMatchObject(isFull);
    await maps.delete('b');
    expect((await maps.get('a')).data).toBeUndefined();
    expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toContain('a');
    const ready = await createFetchHandler(cluster)(new Request('http://cluster.local/readyz'));
    expect(ready.status).toBe(200);
  });

  test('reads and deletes when the database is full and another program has changed its keys', async () => {
    await using etcd = await startEtcd({ flags: ['--quota-backend-bytes', '2000000', '--unsafe-no-fsync'] });
    await using cluster = createCluster({
      dialect: 'kubernetes',
      storage: etcdStorage({ endpoints: [etcd.endpoint] }),
    });
    const maps = cluster.api(ConfigMap);
    for (const name of ['a', 'b', 'c']) await maps.create({ metadata: { name } });
    const send = (success: RequestOp[]) => etcd.client.txn({ compare: [], success, failure: [] });
    const fill = async () => {
      // etcd notices the size of its file only after a while.
      for (let n = 0; n < 200; n++) {
        await send([{ requestPut: { key: Buffer.from(`/other/${n}`), value: Buffer.alloc(900_000) } }]);
      }
    };
    await expect(fill()).rejects.toThrow('database space exceeded');
    expect((await maps.get('a')).metadata.name).toBe('a');
    await maps.delete('a');
    const remove = (key: string) => send([{ requestDeleteRange: { key: Buffer.from(key) } }]);
    await remove('/registry/configmaps/default/b');
    await remove('/other/0');
    expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toEqual(['c']);
  });

  test('refuses a request that is too large for etcd, as the reference server', async () => {
    await using etcd = await startEtcd({ flags: ['--max-request-bytes', '100000'] });
    const storage = etcdStorage({ endpoints: [etcd.endpoint] });
    await using cluster = createCluster({ dialect: 'kubernetes', storage });
    const create = (bytes: number) => cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: data(bytes) });
    await expect(create(200_000)).rejects.toMatchObject({
      code: 500,
      status: { message: 'etcdserver: request is too large' },
    });
    // The limit of etcd's gRPC server is 512 KiB more.
    await expect(create(900_000)).rejects.toMatchObject({
      code: 500,
      status: {
        message: expect.stringMatching(/^rpc error: code = ResourceExhausted desc = grpc: received message larg/),
      },
    });
    await create(50_000);
    expect((await cluster.api(Namespace).list()).items).toHaveLength(4);
    const put = { requestPut: { key: Buffer.from('k'), value: Buffer.alloc(2_200_000) } };
    await expect(etcd.client.txn({ compare: [], success: [put], failure: [] })).rejects.toThrow(
      /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(22000\d\d vs. 2097152\)$/,
    );
  });
});
