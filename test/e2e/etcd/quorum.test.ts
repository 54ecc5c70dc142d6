/** Clusters in an etcd with three members, some of which are killed or stopped. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster, type FullCluster } from '../../../src/cluster/full-cluster.js';
import { etcdStorage } from '../../../src/etcd/storage.js';
import { createFetchHandler, type FetchHandler } from '../../../src/http/handler.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { StatusError } from '../../../src/meta/errors.js';
import { type EtcdServer, hasEtcd, startEtcdMembers } from './etcd-server.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const FLAGS = ['--heartbeat-interval', '30', '--election-timeout', '300'];

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('a cluster in three members of etcd', () => {
  let members: EtcdServer[];
  let cluster: FullCluster;
  let handle: FetchHandler;
  const call = async (path: string, init: RequestInit = {}) => {
    const began = performance.now();
    const response = await handle(new Request(`http://cluster.local${path}`, init));
    const text = await response.text();
    const { status, headers } = response;
    return { status, text, retryAfter: headers.get('retry-after'), ms: performance.now() - began };
  };
  const post = (name: string) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }),
  });

  beforeAll(async () => {
    members = await startEtcdMembers(3, { flags: FLAGS });
    const endpoints = members.map(({ endpoint }) => endpoint);
    cluster = createCluster({ dialect: 'kubernetes', storage: etcdStorage({ endpoints }) });
    handle = createFetchHandler(cluster);
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name } });
  }, 60_000);

  afterAll(async () => {
    await cluster.close();
    for (const member of members) await member[Symbol.asyncDispose]();
  });

  test('moves its watch and its requests away from a member that has stopped', async () => {
    const { metadata } = await cluster.api(ConfigMap).list();
    const watch = cluster.api(ConfigMap).watch({ resourceVersion: metadata.resourceVersion ?? '' });
    // It is the first that is used.
    members[0]?.signal('SIGSTOP');
    const began = performance.now();
    try {
      expect((await cluster.api(ConfigMap).get('a')).metadata.name).toBe('a');
      // On a busy machine another member may be given up, too, with the request that it is processing.
      const create = () => cluster.api(ConfigMap).create({ metadata: { name: 'c' } });
      const isStored = (error: unknown) => error instanceof StatusError && error.status.reason === 'AlreadyExists';
      await expect.poll(() => create().then(() => true, isStored), { timeout: 30_000 }).toBe(true);
      for await (const event of watch) {
        expect(event).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'c' } } });
        break;
      }
      // Without the heartbeat a request waits for 20 seconds.
      expect(performance.now() - began).toBeLessThan(15_000);
    } finally {
      members[0]?.signal('SIGCONT');
    }
  });

  test('without a quorum, answers from memory what may come from there, and reports the rest', async () => {
    const { metadata } = await cluster.api(ConfigMap).list();
    const watch = cluster.api(ConfigMap).watch({ resourceVersion: metadata.resourceVersion ?? '' });
    expect(await call('/readyz?verbose')).toMatchObject({ status: 200, text: expect.stringContaining('[+]etcd ok') });
    await Promise.all([members[1]?.kill(), members[2]?.kill()]);
    // As long as the reference server takes its last result.
    await new Promise((resolve) => setTimeout(resolve, 1_000));

    const [get, list, create, impatient, cached, cachedList, live, ready, livez, etcd] = await Promise.all([
      call(`${MAPS}/a`),
      call(MAPS),
      call(MAPS, post('d')),
      call(`${MAPS}/a?timeout=1s`),
      call(`${MAPS}/a?resourceVersion=0`),
      call(`${MAPS}?resourceVersion=0`),
      handle(new Request(`http://cluster.local${MAPS}?watch=1`)),
      call('/readyz?verbose'),
      call('/livez'),
      call('/readyz/etcd-readiness'),
    ]);
    for (const response of [get, list, create]) {
      expect(response).toMatchObject({ status: 504, retryAfter: '1' });
      expect(JSON.parse(response.text)).toMatchObject({
        reason: 'Timeout',
        message: 'Timeout: etcdserver: request timed out',
      });
      // A busy machine takes longer; a client would wait for a minute.
      expect(response.ms).toBeLessThan(30_000);
    }
    expect(impatient.ms).toBeLessThan(2_000);
    expect(JSON.parse(impatient.text)).toMatchObject({
      code: 504,
      message: 'Timeout: request did not complete within the allotted timeout',
    });
    expect(cached.status).toBe(200);
    expect(JSON.parse(cachedList.text).items).toHaveLength(3);
    expect(live.status).toBe(200);
    await live.body?.cancel();
    expect(ready.status).toBe(500);
    expect(ready.text).toContain('[-]etcd failed: reason withheld\n[-]etcd-readiness failed: reason withheld\n[+]inf');
    expect(livez.text).toContain('[-]etcd failed: reason withheld');
    expect(etcd).toMatchObject({
      status: 500,
      text: 'internal server error: error getting data from etcd: context deadline exceeded\n',
    });
    expect(ready.ms).toBeLessThan(3_500);

    await Promise.all([members[1]?.start(), members[2]?.start()]);
    const after = await cluster.api(ConfigMap).list();
    expect(after.items.map(({ metadata: { name } }) => name)).toEqual(['a', 'b', 'c']);
    await cluster.api(ConfigMap).create({ metadata: { name: 'e' } });
    for await (const event of watch) {
      expect(event).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'e' } } });
      break;
    }
    await expect.poll(async () => (await call('/readyz')).status, { timeout: 3_000 }).toBe(200);
  }, 60_000);

  test('waits for an etcd that starts again', async () => {
    await Promise.all(members.map((member) => member.kill()));
    const reading = call(`${MAPS}/a`);
    const creating = call(MAPS, post('f'));
    const impatient = await call(`${MAPS}?timeout=1s`, post('never'));
    expect(impatient).toMatchObject({ status: 504, retryAfter: '1' });
    // The last result counts for a second.
    await expect
      .poll(() => call('/healthz/etcd'), { timeout: 10_000 })
      .toMatchObject({
        status: 500,
        text: 'internal server error: error getting data from etcd: context deadline exceeded\n',
      });
    await Promise.all(members.map((member) => member.start()));
    expect((await reading).status).toBe(200);
    expect((await creating).status).toBe(201);
    // The server has given it up, too.
    expect((await call(`${MAPS}/never`)).status).toBe(404);
  }, 60_000);
});
