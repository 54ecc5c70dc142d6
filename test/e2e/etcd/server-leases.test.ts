/** The endpoints of the `kubernetes` Service are the addresses of all servers that share an etcd. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster, type FullCluster } from '../../../src/cluster/full-cluster.js';
import { toNumber } from '../../../src/etcd/messages.js';
import { etcdStorage } from '../../../src/etcd/storage.js';
import { ConfigMap, EndpointSlice, Endpoints } from '../../../src/kinds/index.js';
import { type EtcdServer, hasEtcd, startEtcd } from './etcd-server.js';

/** What a kube-apiserver 1.33.13 stores for the address 192.0.2.2. */
const RECORDED = Buffer.from(
  '6b3873000a0f0a0276311209456e64706f696e747312240a110a0012001a0022002a0032003888014200120f0a0d0a093139322e302e322e321a001a002200',
  'hex',
);

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('servers in one etcd', () => {
  let etcd: EtcdServer;
  let one: FullCluster;
  let two: FullCluster;
  const addresses = async (cluster: FullCluster) =>
    (await cluster.api(Endpoints).get('kubernetes')).subsets?.[0]?.addresses?.map(({ ip }) => ip);
  const ports = async () => (await one.api(Endpoints).get('kubernetes')).subsets?.[0]?.ports?.map(({ port }) => port);
  const leaseOf = async (address: string) => {
    const { kvs } = await etcd.client.range({ key: Buffer.from(`/registry/masterleases/${address}`) });
    return kvs[0];
  };

  beforeAll(async () => {
    etcd = await startEtcd();
    const open = () => createCluster({ dialect: 'kubernetes', storage: etcdStorage({ endpoints: [etcd.endpoint] }) });
    [one, two] = [open(), open()];
    await Promise.all([one.api(Endpoints).list(), two.api(Endpoints).list()]);
  }, 60_000);

  afterAll(async () => {
    await one.close();
    await etcd[Symbol.asyncDispose]();
  });

  test('are all endpoints of the Service, until they close', async () => {
    expect(await addresses(one)).toEqual(['192.0.2.1']);
    one.advertise({ address: '10.1.0.1', port: 6443 });
    await expect.poll(() => addresses(two)).toEqual(['10.1.0.1']);
    const withdraw = two.advertise({ address: '10.1.0.2', port: 7443 });
    await expect.poll(() => addresses(one)).toEqual(['10.1.0.1', '10.1.0.2']);
    const slice = await one.api(EndpointSlice).get('kubernetes');
    expect(slice.endpoints?.map((endpoint) => endpoint.addresses)).toEqual([['10.1.0.1'], ['10.1.0.2']]);
    // As in the reference server, that of the first one.
    expect(await ports()).toEqual([6443]);
    withdraw();
    await expect.poll(() => addresses(one)).toEqual(['10.1.0.1']);
    await expect.poll(() => leaseOf('10.1.0.2')).toBeUndefined();
    two.advertise({ address: '10.1.0.3', port: 7443 });
    await expect.poll(() => addresses(one)).toEqual(['10.1.0.1', '10.1.0.3']);
    await two.close();
    expect(await leaseOf('10.1.0.3')).toBeUndefined();
    await expect.poll(() => addresses(one)).toEqual(['10.1.0.1']);
  });

  test('keep the endpoints while there are no leases', async () => {
    const before = await one.api(Endpoints).get('kubernetes');
    const key = Buffer.from('/registry/masterleases/10.1.0.1');
    await etcd.client.txn({ compare: [], success: [{ requestDeleteRange: { key } }], failure: [] });
    // Neither the server of the address nor one that does not listen changes them.
    await using other = createCluster({
      dialect: 'kubernetes',
      storage: etcdStorage({ endpoints: [etcd.endpoint] }),
    });
    for (const cluster of [one, other]) {
      expect(await cluster.api(Endpoints).get('kubernetes')).toEqual(before);
      await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    }
    expect(await one.api(Endpoints).get('kubernetes')).toEqual(before);
    await expect.poll(() => leaseOf('10.1.0.1'), { timeout: 12_000 }).toBeDefined();
  });

  test('store their addresses as the reference server', async () => {
    const put = { key: Buffer.from('/registry/masterleases/192.0.2.2'), value: RECORDED };
    await etcd.client.txn({ compare: [], success: [{ requestPut: put }], failure: [] });
    await expect.poll(() => addresses(one)).toEqual(['10.1.0.1', '192.0.2.2']);
    await etcd.client.txn({ compare: [], success: [{ requestDeleteRange: { key: put.key } }], failure: [] });
    await expect.poll(() => addresses(one)).toEqual(['10.1.0.1']);
    const withdraw = one.advertise({ address: '192.0.2.2', port: 6443 });
    await expect.poll(() => leaseOf('192.0.2.2')).toBeDefined();
    const own = await leaseOf('192.0.2.2');
    expect(toNumber(own?.lease ?? 0)).toBeGreaterThan(0);
    // Generation 136 was recorded.
    const expected = Buffer.from(
      RECORDED.toString('hex').replace('12240a11', '12230a10').replace('388801', '3801'),
      'hex',
    );
    expect(Buffer.from(own?.value ?? []).toString('hex')).toBe(expected.toString('hex'));
    withdraw();
    await expect.poll(() => addresses(one)).toEqual(['10.1.0.1']);
  });
});
