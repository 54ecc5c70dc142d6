/** Clients that connect with a kubeconfig, written by orchplane or by others. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TLSSocket } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap, Lease } from '../../../src/kinds/index.js';
import { StatusError } from '../../../src/meta/errors.js';
import { createServerCertificate } from '../../../src/node/certificates.js';
import { type KubeconfigTransportOptions, kubeconfigTransport, serve } from '../../../src/node/index.js';
import { eventually, rejection } from '../client/transports.js';
import { site, switchingServer, text } from './sockets.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orchplane-test-'));
});

afterAll(() => rm(folder, { recursive: true }));

interface Written {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

/** JSON is YAML. */
function configOf({ cluster = {}, user = {}, context = {} }: Written): string {
  return JSON.stringify({
    clusters: [
      { name: 'other', cluster: { server: 'http://other' } },
      { name: 'here', cluster: { server: 'http://127.0.0.1:1', ...cluster } },
    ],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'work', context: { cluster: 'here', user: 'me', ...context } }],
    'current-context': 'work',
  });
}

const base64 = (pem: string | undefined): string => Buffer.from(pem ?? '').toString('base64');

function clientOf(config: string | URL, options: KubeconfigTransportOptions = {}) {
  return createClient({ transport: kubeconfigTransport(config, options), fieldManager: 'test' });
}

describe('a served cluster over HTTPS', () => {
  test('connects with the text, the path and the URL of a kubeconfig', async () => {
    const file = join(folder, 'ours');
    await using cluster = createCluster({ dialect: 'kubernetes' });
    await using server = await serve(cluster, { tls: true, kubeconfig: file });
    await cluster.api(Lease).create({ metadata: { name: 'a' } });
    for (const config of [server.kubeconfig, file, pathToFileURL(file)]) {
      expect(await clientOf(config).api(Lease).get('a')).toEqual(await cluster.api(Lease).get('a'));
    }
  });

  test('uses the configured dialect and suggests another one', async () => {
    await using cluster = createCluster();
    await using server = await serve(cluster, { tls: true });
    const error = await rejection(clientOf(server.kubeconfig).api(Lease).list());
    expect(StatusError.is(error, 'NotFound') && error.message).toMatch(
      /; the server may not use the dialect "kubernetes": try dialect: "orch"$/,
    );
    expect((await clientOf(server.kubeconfig, { dialect: 'orch' }).api(Lease).list()).items).toEqual([]);
  });

  test('supports every verb, including deletes with a body', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    await using server = await serve(cluster, { tls: true });
    const configMaps = clientOf(server.kubeconfig).api(ConfigMap);
    const made = await configMaps.create({ metadata: { name: 'a' }, data: { text: 'é'.repeat(1e5) } });
    expect(made).toEqual(await cluster.api(ConfigMap).get('a'));
    await configMaps.apply({ metadata: { name: 'b' } });
    await configMaps.edit('b', (draft) => {
      draft.data = { size: 'm' };
    });
    await configMaps.delete('b', { dryRun: true });
    expect((await configMaps.get('b')).data).toEqual({ size: 'm' });
    await configMaps.delete('b');
    expect(await configMaps.find('b')).toBeUndefined();
  });

  test('streams a watch until it is closed or aborted', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    const log: string[] = [];
    await using server = await serve(cluster, { tls: true, log: (line) => log.push(line) });
    const { resourceVersion } = cluster;
    const stop = new AbortController();
    const configMaps = clientOf(server.kubeconfig).api(ConfigMap);
    const closed = configMaps.watch({ resourceVersion });
    const aborted = configMaps.watch({ resourceVersion, signal: stop.signal });
    for (const name of ['a', 'b']) {
      await cluster.api(ConfigMap).create({ metadata: { name } });
      for (const watch of [closed, aborted]) {
        expect((await watch.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name } } });
      }
    }
    const waiting = [closed.next(), aborted.next()];
    closed.close();
    stop.abort();
    expect(await Promise.all(waiting)).toMatchObject([{ done: true }, { done: true }]);
    // The server has ended both watches.
    await eventually(() => expect(log.filter((line) => line.includes('watch=true'))).toHaveLength(2));
  });

  test('applies back pressure to the server and loses nothing', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    await using server = await serve(cluster, { tls: true });
    const { resourceVersion } = cluster;
    await using watch = clientOf(server.kubeconfig).api(ConfigMap).watch({ resourceVersion });
    const data = { text: 'x'.repeat(200_000) };
    for (let index = 0; index < 50; index++) {
      await cluster.api(ConfigMap).create({ metadata: { name: `m-${index}` }, data });
    }
    for (let index = 0; index < 50; index++) {
      expect((await watch.next()).value).toMatchObject({ object: { metadata: { name: `m-${index}` } } });
    }
  });

  test('rejects an aborted request with the reason', async () => {
    await using silent = await site(() => new Promise(() => undefined));
    const config = configOf({ cluster: { server: `http://127.0.0.1:${silent.port}` } });
    const stop = new AbortController();
    const listing = rejection(clientOf(config).api(ConfigMap).list({ signal: stop.signal }));
    const over = silent.over();
    await eventually(async () => expect(await connections(silent.server)).toBe(1));
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await listing).toBe(reason);
    expect((await over).isAborted).toBe(true);
  });

  test('reports a broken or missing server like any transport', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    const server = await serve(cluster, { tls: true });
    const { port, kubeconfig } = server;
    const configMaps = clientOf(kubeconfig).api(ConfigMap);
    await configMaps.list();
    await server.close();
    const error = await rejection(configMaps.list());
    expect(StatusError.is(error, 'ServiceUnavailable') && error.message).toContain(`127.0.0.1:${port}`);
    await using broken = await site({
      code: 200,
      headers: [['Content-Type', 'application/json']],
      body: new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"type"'));
          setImmediate(() => controller.error(new Error('broken')));
        },
      }),
    });
    const half = clientOf(configOf({ cluster: { server: `http://127.0.0.1:${broken.port}` } }));
    expect(StatusError.is(await rejection(half.api(ConfigMap).list()), 'ServiceUnavailable')).toBe(true);
    expect(StatusError.is(await rejection(half.api(ConfigMap).watch().next()), 'ServiceUnavailable')).toBe(true);
  });
});

describe('TLS trust', () => {
  test('trusts only the CA of the cluster, also from a relative file', async () => {
    await using server = await serve(createCluster({ dialect: 'kubernetes' }), { tls: true, anonymous: true });
    const configMapsOf = (cluster: object) =>
      clientOf(configOf({ cluster: { server: server.url, ...cluster } })).all(ConfigMap);
    const file = join(folder, 'with-files');
    await writeFile(join(folder, 'ca.pem'), server.caCertificate ?? '');
    await writeFile(file, configOf({ cluster: { server: server.url, 'certificate-authority': 'ca.pem' } }));
    expect((await clientOf(file).all(ConfigMap).list()).items).toEqual([]);
    expect((await configMapsOf({ 'insecure-skip-tls-verify': true }).list()).items).toEqual([]);
    const data = { 'certificate-authority-data': base64(server.caCertificate) };
    expect((await configMapsOf(data).list()).items).toEqual([]);
    expect((await configMapsOf({ ...data, 'tls-server-name': 'localhost' }).list()).items).toEqual([]);
    const untrusted = [
      {},
      { 'certificate-authority-data': base64((await createServerCertificate([])).ca) },
      { ...data, 'tls-server-name': 'elsewhere.example' },
    ];
    for (const clusterOptions of untrusted) {
      const error = await rejection(configMapsOf(clusterOptions).list());
      expect(StatusError.is(error, 'ServiceUnavailable') && error.message).toMatch(/certificate|altnames/i);
    }
  });

  test('sends the client certificate of the user', async () => {
    const { cert, key, ca } = await createServerCertificate(['127.0.0.1']);
    const seen: unknown[] = [];
    const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      seen.push((request.socket as TLSSocket).getPeerCertificate().subject);
      response
        .setHeader('content-type', 'application/json')
        .end('{"kind":"ConfigMapList","apiVersion":"v1","items":[]}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const config = configOf({
      cluster: {
        server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
        'certificate-authority-data': base64(ca),
      },
      user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
    });
    await clientOf(config).api(ConfigMap).list();
    server.closeAllConnections();
    server.close();
    expect(seen).toMatchObject([{ CN: 'orchplane' }]);
  });
});

describe('credentials', () => {
  const listWith = async (user: object, options: KubeconfigTransportOptions = {}) => {
    const groups = ['system:masters'];
    const tokens = { one: { user: 'one', groups }, two: { user: 'two', groups } };
    await using server = await serve(createCluster({ dialect: 'kubernetes' }), { tokens });
    const client = clientOf(configOf({ cluster: { server: server.url }, user }), options);
    return await client.api(ConfigMap).list();
  };

  test('uses the token of the options, else of the file, else of the kubeconfig', async () => {
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'two\n');
    expect((await listWith({ token: 'one' })).items).toEqual([]);
    expect((await listWith({ token: 'wrong', tokenFile })).items).toEqual([]);
    expect((await listWith({ exec: { command: 'login' } }, { token: 'one' })).items).toEqual([]);
    expect(StatusError.is(await rejection(listWith({ token: 'wrong' })), 'Unauthorized')).toBe(true);
  });

  test.each(['exec', 'auth-provider', 'username', 'as'])('rejects credentials of type %s', (key) => {
    expect(() => kubeconfigTransport(configOf({ user: { [key]: 'x' } }))).toThrow(
      `orchplane: the kubeconfig cannot be used: its user has ${key}, which is not supported; the option token says`,
    );
  });
});

describe('the kubeconfig', () => {
  test.skipIf(process.platform === 'win32')('reads regular files of limited size only', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const long = join(folder, 'long');
    await writeFile(long, '');
    await truncate(long, 2 ** 40);
    const cluster = { server: 'https://127.0.0.1:1' };
    for (const [file, problem] of [
      [pipe, 'is no regular file'],
      ['/dev/zero', 'is no regular file'],
      [folder, 'is no regular file'],
      [long, 'has more than 16777216 bytes'],
    ]) {
      const message = (key: string) => `cannot be used: ${key} ${JSON.stringify(file)} ${problem}`;
      for (const key of ['client-certificate', 'client-key']) {
        expect(() => kubeconfigTransport(configOf({ cluster, user: { [key]: file } }))).toThrow(message(key));
      }
      const withAuthority = configOf({ cluster: { ...cluster, 'certificate-authority': file } });
      expect(() => kubeconfigTransport(withAuthority)).toThrow(message('certificate-authority'));
      const failure = await rejection(
        clientOf(configOf({ user: { tokenFile: file } }))
          .api(Lease)
          .list(),
      );
      expect(String((failure as Error).cause ?? failure)).toContain(message('tokenFile'));
    }
  });

  test('returns the namespace of the context', () => {
    expect(kubeconfigTransport(configOf({ context: { namespace: 'team' } })).namespace).toBe('team');
    expect(kubeconfigTransport(configOf({})).namespace).toBe('default');
  });

  test('connects with another context than the current one', async () => {
    await using there = await site(text('hello'));
    const config = configOf({ cluster: { server: `http://127.0.0.1:${there.port}` } }).replace(
      '"current-context":"work"',
      '"current-context":""',
    );
    expect(() => kubeconfigTransport(config)).toThrow('no current-context; the option context says which: "work"');
    expect(() => kubeconfigTransport(config, { context: 'home' })).toThrow('no context "home"; it has "work"');
    const error = await rejection(clientOf(config, { context: 'work' }).api(ConfigMap).list());
    expect(String(error)).toContain('text/plain instead of JSON');
  });

  test.each<[string, string, RegExp]>([
    ['invalid YAML', 'a: [\n', /the kubeconfig is not a kubeconfig: error converting YAML/],
    ['another document', 'kind: Pod\n', /is not a kubeconfig: it has no list of contexts$/],
    ['a missing cluster', configOf({ context: { cluster: 'x' } }), /no cluster "x"; it has "other", "here"/],
    ['a missing user', configOf({ context: { user: 'x' } }), /no user "x"; it has "me"/],
    ['no server', configOf({ cluster: { server: '' } }), /the cluster has no server/],
    ['a server without a scheme', configOf({ cluster: { server: 'h:1' } }), /must begin with http:\/\/ or https:\/\//],
    ['a number as a token', configOf({ user: { token: 5 } }), /token is no text/],
    ['a proxy', configOf({ cluster: { 'proxy-url': 'http://p' } }), /proxy-url is not supported/],
    [
      'an unreadable certificate authority',
      configOf({ cluster: { server: 'https://h', 'certificate-authority-data': 'AAAA' } }),
      /has a certificate or a key that cannot be read/,
    ],
    [
      'a certificate authority that is ignored',
      configOf({
        cluster: { server: 'https://h', 'certificate-authority-data': 'AAAA', 'insecure-skip-tls-verify': true },
      }),
      /insecure-skip-tls-verify contradicts/,
    ],
    [
      'a client key without a certificate',
      configOf({ cluster: { server: 'https://h' }, user: { 'client-key-data': 'AAAA' } }),
      /a client certificate needs its key/,
    ],
    ['a path that does not exist', '/nowhere/config', /ENOENT/],
    ['an empty text', '', /takes the path or the text/],
  ])('rejects a kubeconfig with %s', (_what, config, message) => {
    expect(() => kubeconfigTransport(config)).toThrow(message);
  });

  test('rejects unknown options', () => {
    const options = { namespace: 'x' } as KubeconfigTransportOptions;
    expect(() => kubeconfigTransport(configOf({}), options)).toThrow('kubeconfigTransport has no option "namespace"');
  });
});

test('reports an invalid status code as a server failure', async () => {
  const server = createSocketServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const error = await rejection(
    clientOf(configOf({ cluster: { server: `http://127.0.0.1:${port}` } }))
      .api(ConfigMap)
      .list(),
  );
  server.close();
  expect(StatusError.is(error, 'ServiceUnavailable')).toBe(true);
});

test('rejects when the server switches protocols without being asked to', async () => {
  await using server = await switchingServer();
  const error = await rejection(
    clientOf(configOf({ cluster: { server: server.url } }))
      .api(ConfigMap)
      .list(),
  );
  expect(StatusError.is(error, 'ServiceUnavailable') && error.message).toContain('socket hang up');
});

function connections(server: { getConnections(done: (error: Error | null, count: number) => void): unknown }) {
  return new Promise<number>((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
