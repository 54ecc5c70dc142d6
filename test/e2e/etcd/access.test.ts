/** An etcd that requires client certificates, or users with passwords. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { EtcdClient } from '../../../src/etcd/client.js';
import { EtcdAccessError } from '../../../src/etcd/etcd-error.js';
import { etcdStorage } from '../../../src/etcd/storage.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { createClientAuthority, createServerCertificate } from '../../../src/node/certificates.js';
import type { EtcdSettings } from '../../../src/node/etcd-flags.js';
import { openEtcd } from '../../../src/node/serve-etcd.js';
import { type EtcdServer, hasEtcd, startEtcd } from './etcd-server.js';

let folder: string;
const fileOf = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/** What `orchplane serve` does before it listens. Returns its warnings. */
async function open(endpoint: string, settings: Partial<EtcdSettings>): Promise<readonly string[]> {
  const warnings: string[] = [];
  const none = { prefix: undefined, caFile: undefined, certFile: undefined, keyFile: undefined };
  const all = { ...none, username: undefined, passwordFile: undefined, endpoints: [endpoint], ...settings };
  await openEtcd(all, { historyBytes: 1_000_000, warn: (text) => warnings.push(text) });
  return warnings;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orchplane-etcd-access-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('an etcd with TLS that requires client certificates', () => {
  let etcd: EtcdServer;
  let files: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  let tls: { readonly ca: string; readonly cert: string; readonly key: string };
  let otherCa: string;

  beforeAll(async () => {
    const server = await createServerCertificate(['127.0.0.1']);
    const authority = await createClientAuthority();
    const { cert, key } = await authority.issue({ user: 'orchplane' });
    otherCa = (await createServerCertificate(['127.0.0.1'])).ca;
    tls = { ca: server.ca, cert, key };
    files = {
      caFile: fileOf('ca.pem', server.ca),
      certFile: fileOf('client.pem', cert),
      keyFile: fileOf('client-key.pem', key),
    };
    const flags = {
      'cert-file': fileOf('server.pem', server.cert),
      'key-file': fileOf('server-key.pem', server.key),
      'trusted-ca-file': fileOf('client-ca.pem', authority.ca),
    };
    etcd = await startEtcd({
      scheme: 'https',
      client: { tls },
      flags: ['--client-cert-auth', ...Object.entries(flags).flatMap(([flag, file]) => [`--${flag}`, file])],
    });
  }, 60_000);

  afterAll(() => etcd[Symbol.asyncDispose]());

  test('stores a cluster', async () => {
    const storage = etcdStorage({ endpoints: [etcd.endpoint], tls });
    await using cluster = createCluster({ dialect: 'kubernetes', storage });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await open(etcd.endpoint, files)).toEqual([]);
  });

  test('is not accepted with a certificate of another authority', async () => {
    const problem = `etcd at ${etcd.endpoint}: `;
    await expect(open(etcd.endpoint, { ...files, caFile: fileOf('other.pem', otherCa) })).rejects.toThrow(problem);
    await expect(open(etcd.endpoint, { certFile: files.certFile, keyFile: files.keyFile })).rejects.toThrow(
      /certificate/,
    );
    await using cluster = createCluster({
      dialect: 'kubernetes',
      storage: etcdStorage({ endpoints: [etcd.endpoint], tls: { ...tls, ca: otherCa } }),
    });
    await expect(cluster.api(ConfigMap).list()).rejects.toThrow(problem);
  });

  test('is used if the certificate of another member is not accepted', async () => {
    const { cert, key } = await createServerCertificate(['127.0.0.1']);
    const other = createServer({ cert, key, ALPNProtocols: ['h2'] }).listen(0, '127.0.0.1');
    other.on('tlsClientError', () => undefined);
    await once(other, 'listening');
    const address = other.address();
    const bad = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const client = (...endpoints: string[]) => new EtcdClient({ endpoints, tls });
    const [mixed, writer, down, broken] = [
      client(bad, etcd.endpoint),
      client(bad, etcd.endpoint),
      client(bad, 'https://127.0.0.1:1'),
      client(bad, bad),
    ];
    try {
      expect((await mixed.range({ key: Buffer.from('health') })).kvs).toEqual([]);
      expect((await writer.txn({ compare: [], success: [], failure: [] })).succeeded).toBe(true);
      await expect(down.range({ key: Buffer.from('health') })).rejects.toMatchObject({ isUnavailable: true });
      await expect(broken.range({ key: Buffer.from('health') })).rejects.toThrow(EtcdAccessError);
    } finally {
      for (const one of [mixed, writer, down, broken]) one.close();
      other.close();
    }
  });

  test('does not accept a client without a certificate, or with one of another authority', async () => {
    await expect(open(etcd.endpoint, { caFile: files.caFile })).rejects.toThrow(/certificate/);
    const { cert, key } = await (await createClientAuthority()).issue({ user: 'orchplane' });
    const wrong = { certFile: fileOf('wrong.pem', cert), keyFile: fileOf('wrong-key.pem', key) };
    await expect(open(etcd.endpoint, { ...files, ...wrong })).rejects.toThrow(/certificate/);
  });

  test('is reported as not available to a client without TLS', async () => {
    expect(await open(etcd.endpoint.replace('https', 'http'), {})).toEqual([
      expect.stringContaining('requests wait for etcd: '),
    ]);
  });
});

describe.skipIf(!hasEtcd)('an etcd with users', () => {
  const PASSWORD = 'correct horse';
  let etcd: EtcdServer;
  const configure = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${etcd.endpoint}/v3/auth/${path}`, { method: 'POST', body: JSON.stringify(body) });
    expect([path, response.status]).toEqual([path, 200]);
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  beforeAll(async () => {
    etcd = await startEtcd({ flags: ['--auth-token-ttl', '2'] });
    await configure('user/add', { name: 'root', password: 'root' });
    await configure('role/add', { name: 'root' });
    await configure('user/grant', { user: 'root', role: 'root' });
    await configure('user/add', { name: 'orchplane', password: PASSWORD });
    await configure('role/add', { name: 'cluster' });
    for (const [key, end] of [['/registry/', '/registry0'] as const, ['compact_rev_key'] as const]) {
      const perm = {
        permType: 'READWRITE',
        key: base64(key),
        ...(end === undefined ? {} : { range_end: base64(end) }),
      };
      await configure('role/grant', { name: 'cluster', perm });
    }
    await configure('user/grant', { user: 'orchplane', role: 'cluster' });
    await configure('enable', {});
  }, 60_000);

  afterAll(() => etcd[Symbol.asyncDispose]());

  test('stores a cluster, also after tokens have expired and after a restart', async () => {
    const auth = { username: 'orchplane', password: PASSWORD };
    await using cluster = createCluster({
      dialect: 'kubernetes',
      storage: etcdStorage({ endpoints: [etcd.endpoint], auth }),
    });
    const maps = cluster.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    await maps.create({ metadata: { name: 'b' } });
    // It does not keep tokens.
    await etcd.kill();
    await etcd.start();
    await maps.create({ metadata: { name: 'c' } });
    expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    const passwordFile = fileOf('password', `${PASSWORD}\n`);
    expect(await open(etcd.endpoint, { username: 'orchplane', passwordFile })).toEqual([]);
  });

  test('refuses a wrong password with an error that does not contain it', async () => {
    const failure = 'etcdserver: authentication failed, invalid user ID or password';
    const passwordFile = fileOf('wrong-password', 'battery staple');
    await expect(open(etcd.endpoint, { username: 'orchplane', passwordFile })).rejects.toThrow(failure);
    await expect(open(etcd.endpoint, {})).rejects.toThrow('etcdserver: user name is empty');
    const auth = { username: 'orchplane', password: 'battery staple' };
    await using cluster = createCluster({
      dialect: 'kubernetes',
      storage: etcdStorage({ endpoints: [etcd.endpoint], auth }),
    });
    const error = await cluster
      .api(ConfigMap)
      .list()
      .catch((reason: Error) => reason);
    expect(String(error)).toContain(failure);
    expect(JSON.stringify(error) + String(error)).not.toContain('battery');
  });

  test('refuses keys outside of the permissions of a user', async () => {
    const client = new EtcdClient({
      endpoints: [etcd.endpoint],
      auth: { username: 'orchplane', password: PASSWORD },
    });
    await expect(client.range({ key: Buffer.from('/other/a') })).rejects.toThrow('etcdserver: permission denied');
    client.close();
  });
});

test.skipIf(!hasEtcd)(
  'a cluster with a user continues when etcd enables and disables authentication',
  async () => {
    await using etcd = await startEtcd();
    const auth = { username: 'root', password: 'root' };
    await using cluster = createCluster({
      dialect: 'kubernetes',
      storage: etcdStorage({ endpoints: [etcd.endpoint], auth }),
    });
    const maps = cluster.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    const configure = async (path: string, body: object, headers = {}): Promise<void> => {
      const init = { method: 'POST', body: JSON.stringify(body), headers };
      const response = await fetch(`${etcd.endpoint}/v3/auth/${path}`, init);
      expect([path, response.status]).toEqual([path, 200]);
    };
    await configure('user/add', { name: 'root', password: 'root' });
    await configure('role/add', { name: 'root' });
    await configure('user/grant', { user: 'root', role: 'root' });
    await configure('enable', {});
    await maps.create({ metadata: { name: 'b' } });
    const login = await fetch(`${etcd.endpoint}/v3/auth/authenticate`, {
      method: 'POST',
      body: JSON.stringify({ name: 'root', password: 'root' }),
    });
    const { token } = (await login.json()) as { readonly token: string };
    await configure('disable', {}, { authorization: token });
    await maps.create({ metadata: { name: 'c' } });
    expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
  },
  30_000,
);

test.skipIf(!hasEtcd)(
  'a cluster loads when its user gets the permissions that it lacked',
  async () => {
    await using etcd = await startEtcd();
    const configure = async (path: string, body: object, headers = {}): Promise<unknown> => {
      const init = { method: 'POST', body: JSON.stringify(body), headers };
      const response = await fetch(`${etcd.endpoint}/v3/auth/${path}`, init);
      expect([path, response.status]).toEqual([path, 200]);
      return response.json();
    };
    await configure('user/add', { name: 'root', password: 'root' });
    await configure('role/add', { name: 'root' });
    await configure('user/grant', { user: 'root', role: 'root' });
    await configure('user/add', { name: 'orchplane', password: 'p' });
    await configure('enable', {});
    await using cluster = createCluster({
      dialect: 'kubernetes',
      storage: etcdStorage({ endpoints: [etcd.endpoint], auth: { username: 'orchplane', password: 'p' } }),
    });
    const maps = cluster.api(ConfigMap);
    await expect(maps.list()).rejects.toThrow('etcdserver: permission denied');
    const { token } = (await configure('authenticate', { name: 'root', password: 'root' })) as { token: string };
    await configure('user/grant', { user: 'orchplane', role: 'root' }, { authorization: token });
    await expect.poll(async () => (await maps.list()).items, { timeout: 10_000 }).toEqual([]);
  },
  30_000,
);

test.skipIf(!hasEtcd)('an etcd without users accepts a client with one', async () => {
  await using etcd = await startEtcd();
  expect(await open(etcd.endpoint, { username: 'u', passwordFile: fileOf('any', 'p') })).toEqual([]);
});
