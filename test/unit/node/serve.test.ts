/** serve: credentials, options, kubeconfig, requests and shutdown. */
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditLog } from '../../../src/audit/log.js';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { yamlBody } from '../../../src/codec/yaml.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { createServerCertificate } from '../../../src/node/certificates.js';
import { type ServeOptions, serve } from '../../../src/node/index.js';
import { openConnection } from './sockets.js';

const NAMESPACES = '/api/v1/namespaces';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orchplane-test-'));
});

afterAll(() => rm(folder, { recursive: true }));

const bearer = (token = ''): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

test('rejects hidden metrics of another release than the previous one', async () => {
  await using cluster = createCluster();
  await expect(serve(cluster, { showHiddenMetricsForVersion: '1.30' })).rejects.toThrow(
    "showHiddenMetricsForVersion must be omitted or have the value '1.32'. Only the previous minor version is allowed",
  );
  await using server = await serve(cluster, { showHiddenMetricsForVersion: '1.32' });
  expect((await fetch(`${server.url}/metrics`, bearer(server.token))).status).toBe(200);
});

describe('credentials', () => {
  test('generates a random token by default', async () => {
    await using cluster = createCluster();
    await using first = await serve(cluster);
    await using second = await serve(cluster);
    expect(first.url).toBe(`http://127.0.0.1:${first.port}`);
    expect(first.token).toMatch(/^[\w-]{43}$/);
    expect(first.token).not.toBe(second.token);
    expect((await fetch(first.url + NAMESPACES, bearer(first.token))).status).toBe(200);
    expect((await fetch(first.url + NAMESPACES, bearer(second.token))).status).toBe(401);
    expect((await fetch(first.url + NAMESPACES)).status).toBe(403);
  });

  test('accepts a token or a token table of the caller', async () => {
    await using cluster = createCluster();
    await using one = await serve(cluster, { token: 'mine' });
    await using many = await serve(cluster, {
      tokens: { a: { user: 'alice' }, b: { user: 'bob', groups: ['system:masters'] } },
    });
    expect([one.token, many.token]).toEqual(['mine', 'a']);
    expect((await fetch(one.url + NAMESPACES, bearer('mine'))).status).toBe(200);
    expect((await fetch(many.url + NAMESPACES, bearer('b'))).status).toBe(200);
    expect((await fetch(many.url + NAMESPACES, bearer('a'))).status).toBe(403);
    expect((await fetch(many.url + NAMESPACES, bearer('mine'))).status).toBe(401);
  });

  test('requires no credentials when the server is anonymous', async () => {
    await using server = await serve(createCluster(), { anonymous: true });
    expect(server.token).toBeUndefined();
    expect((await fetch(server.url + NAMESPACES)).status).toBe(200);
    expect(yamlBody(server.kubeconfig).read().value).toMatchObject({ users: [{ name: 'orchplane', user: {} }] });
  });

  test('rejects credentials that contradict each other or that a header cannot carry', async () => {
    const cluster = createCluster();
    await expect(serve(cluster, { token: 'a', anonymous: true })).rejects.toThrow('one of token, tokens and anonymous');
    await expect(serve(cluster, { tls: true, clientCa: true, anonymous: true })).rejects.toThrow(
      'clientCa and requestHeader have no effect with anonymous',
    );
    await expect(serve(cluster, { token: '' })).rejects.toThrow(TypeError);
    await expect(serve(cluster, { token: 'a b' })).rejects.toThrow(TypeError);
  });
});

describe('options', () => {
  test('rejects unknown options and tokens without users', async () => {
    const cluster = createCluster();
    await expect(serve(cluster, { annonymous: true } as ServeOptions)).rejects.toThrow(
      'serve has no option "annonymous"; it has port, host, tls, clientCa, requestHeader, token, anonymous, kubeconfig, thread, http2, tokens, authenticate, flowControl, pacing, log, codecs, aggregate, showHiddenMetricsForVersion, onError',
    );
    const invalid = { tokens: { secret: 'alice' } } as unknown as ServeOptions;
    await expect(serve(cluster, invalid)).rejects.toThrow(TypeError);
  });

  test('treats undefined options as absent', async () => {
    const absent = { port: undefined, host: undefined, tls: undefined, token: undefined, tokens: undefined };
    const others = {
      anonymous: undefined,
      kubeconfig: undefined,
      log: undefined,
      codecs: undefined,
      onError: undefined,
    };
    await using server = await serve(createCluster(), { ...absent, ...others });
    expect(server.token).toMatch(/^[\w-]{43}$/);
    expect((await fetch(server.url + NAMESPACES, bearer(server.token))).status).toBe(200);
  });

  test('reports the dialect of the cluster', async () => {
    await using one = await serve(createCluster());
    await using other = await serve(createCluster({ dialect: 'kubernetes' }));
    expect([one.dialect, other.dialect]).toEqual(['orch', 'kubernetes']);
  });
});

describe('HTTPS', () => {
  test('serves HTTPS with a generated certificate that the kubeconfig trusts', async () => {
    await using server = await serve(createCluster(), { tls: true });
    const config = yamlBody(server.kubeconfig).read().value as {
      clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
      users: [{ user: { token: string } }];
    };
    const { server: url, 'certificate-authority-data': authority } = config.clusters[0].cluster;
    expect(url).toBe(`https://127.0.0.1:${server.port}`);
    const ca = Buffer.from(authority, 'base64').toString();
    expect(ca).toBe(server.caCertificate);
    const { token } = config.users[0].user;
    for (const host of ['127.0.0.1', 'localhost']) {
      const answer = await securely({ host, port: server.port, path: NAMESPACES, ca, token });
      expect(answer).toMatchObject({ status: 200 });
      expect(JSON.parse(answer.body)).toMatchObject({ kind: 'NamespaceList' });
    }
    await expect(securely({ host: '127.0.0.1', port: server.port, path: NAMESPACES, token })).rejects.toThrow(
      /certificate/,
    );
  });

  test('serves HTTPS with a certificate of the caller', async () => {
    const { cert, key, ca } = await createServerCertificate(['127.0.0.1']);
    await using server = await serve(createCluster(), { tls: { cert, key }, token: 't' });
    expect(server.caCertificate).toBeUndefined();
    expect(server.kubeconfig).not.toContain('certificate-authority');
    const answer = await securely({ host: '127.0.0.1', port: server.port, path: '/healthz', ca, token: 't' });
    expect(answer).toEqual({ status: 200, body: 'ok' });
  });
});

describe('the kubeconfig', () => {
  test('writes a kubeconfig with one cluster, user and context that only its owner can read', async () => {
    const file = join(folder, 'config');
    await using server = await serve(createCluster(), { token: 'a"b\\c', kubeconfig: file });
    expect(await readFile(file, 'utf8')).toBe(server.kubeconfig);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(yamlBody(server.kubeconfig).read().value).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      // Client libraries refuse plain HTTP without insecure-skip-tls-verify.
      clusters: [{ name: 'orchplane', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'orchplane', user: { token: 'a"b\\c' } }],
      contexts: [{ name: 'orchplane', context: { cluster: 'orchplane', user: 'orchplane', namespace: 'default' } }],
      'current-context': 'orchplane',
    });
  });

  test('replaces only kubeconfig files that orchplane has written', async () => {
    const ours = join(folder, 'ours');
    await using first = await serve(createCluster(), { kubeconfig: ours });
    await using second = await serve(createCluster(), { kubeconfig: ours });
    expect(await readFile(ours, 'utf8')).toBe(second.kubeconfig);
    expect(first.kubeconfig).not.toBe(second.kubeconfig);
    const theirs = join(folder, 'theirs');
    await writeFile(theirs, 'apiVersion: v1\nkind: Config\n');
    await expect(serve(createCluster(), { kubeconfig: theirs })).rejects.toThrow('was not written by orchplane');
    expect(await readFile(theirs, 'utf8')).toBe('apiVersion: v1\nkind: Config\n');
  });

  test('does not write a kubeconfig through a symbolic link, and leaves no other file', async () => {
    const place = await mkdtemp(join(folder, 'link-'));
    const [target, link] = [join(place, 'target'), join(place, 'config')];
    await symlink(target, link);
    await expect(serve(createCluster(), { kubeconfig: link })).rejects.toThrow(`${link} is a symbolic link`);
    await writeFile(target, '');
    await expect(serve(createCluster(), { kubeconfig: link })).rejects.toThrow(`${link} is a symbolic link`);
    expect(await readFile(target, 'utf8')).toBe('');
    expect((await readdir(place)).sort()).toEqual(['config', 'target']);
  });
});

describe('requests', () => {
  test('passes requests to the cluster, including watches', async () => {
    await using cluster = createCluster();
    await using server = await serve(cluster, { anonymous: true });
    const url = `${server.url}/api/v1/namespaces/default/configmaps`;
    const watching = await fetch(`${url}?watch=true`);
    const reader = watching.body?.pipeThrough(new TextDecoderStream()).getReader();
    const created = await fetch(`${url}?fieldValidation=Warn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'web' }, a: 1, b: 2 }),
    });
    expect(created.status).toBe(201);
    expect(created.headers.get('warning')).toBe('299 - "unknown field \\"a\\"", 299 - "unknown field \\"b\\""');
    expect(JSON.parse((await reader?.read())?.value ?? '')).toMatchObject({ object: { metadata: { name: 'web' } } });
    await cluster.api(ConfigMap).delete('web');
    expect(JSON.parse((await reader?.read())?.value ?? '')).toMatchObject({ type: 'DELETED' });
    await reader?.cancel();
  });

  test('sends each warning in a header of its own', async () => {
    await using server = await serve(createCluster(), { anonymous: true });
    const connection = await openConnection(server.port);
    const body = '{"metadata":{"name":"web"},"a":1,"b":"x, y"}';
    connection.socket.write(
      `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await connection.end();
    expect(answer.match(/^Warning: .*$/gm)).toHaveLength(2);
    expect(answer).toMatch(/^Audit-Id: /m);
    expect(answer).toMatch(/^Content-Type: application\/json/m);
  });

  test('rejects a request with a body that is too large early', async () => {
    await using server = await serve(createCluster(), { anonymous: true });
    const connection = await openConnection(server.port);
    connection.socket.write(
      'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const send = (): void => {
      while (!connection.socket.destroyed && connection.socket.write(chunk));
    };
    connection.socket.on('drain', send);
    send();
    const answer = await connection.end();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"reason":"RequestEntityTooLarge"');
  });

  test('ends the watch of a client that disconnects', async () => {
    const cluster = createCluster();
    let closed: (verb: string) => void = () => undefined;
    const watchClosed = new Promise<string>((resolve) => {
      closed = resolve;
    });
    cluster.use(async (request, next) => {
      request.signal?.addEventListener('abort', () => closed(request.verb));
      return next();
    });
    await using server = await serve(cluster, { anonymous: true });
    const connection = await openConnection(server.port);
    connection.socket.write('GET /api/v1/configmaps?watch=true HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(/\r\n\r\n$/);
    connection.socket.destroy();
    await expect(watchClosed).resolves.toBe('watch');
  });

  test('logs each request in one line, without control characters', async () => {
    const lines: string[] = [];
    const server = await serve(createCluster(), { anonymous: true, log: (line) => lines.push(line) });
    const connection = await openConnection(server.port);
    connection.socket.write(
      'GET /healthz?a=b HTTP/1.1\r\nHost: x\r\nUser-Agent: kubectl/v1\x9b2J (linux)\r\nConnection: close\r\n\r\n',
      'latin1',
    );
    await connection.end();
    await server.close();
    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} GET \/healthz\?a=b 200 2B \d+\.\dms kubectl\/v1\?2J$/),
    ]);
  });
});

describe('close', () => {
  test('ends watches and frees the port on close, which can be called again', async () => {
    await using cluster = createCluster();
    const server = await serve(cluster, { anonymous: true });
    const connection = await openConnection(server.port);
    connection.socket.write('GET /api/v1/configmaps?watch=true HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(/\r\n\r\n$/);
    const idle = await openConnection(server.port);
    const closing = server.close();
    expect(server.close()).toBe(closing);
    expect(await connection.end()).toMatch(/\r\n0\r\n\r\n$/);
    await idle.end();
    await closing;
    await expect(connected(server.port)).resolves.toBe('ECONNREFUSED');
    // The server does not close the cluster.
    await expect(cluster.api(ConfigMap).list()).resolves.toMatchObject({ items: [] });
  });

  test('lets an active request finish on close', async () => {
    await using cluster = createCluster();
    let go: () => void = () => undefined;
    let arrived: () => void = () => undefined;
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    cluster.use(async (_request, next) => {
      arrived();
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return next();
    });
    const server = await serve(cluster, { anonymous: true });
    const connection = await openConnection(server.port);
    connection.socket.write('GET /api/v1/configmaps HTTP/1.1\r\nHost: x\r\n\r\n');
    await here;
    const closing = server.close();
    go();
    expect(await connection.end()).toMatch(/^HTTP\/1\.1 200 .*Connection: close\r\n.*ConfigMapList/s);
    await closing;
  });

  test('rejects a port that is in use', async () => {
    await using server = await serve(createCluster(), { anonymous: true });
    await expect(serve(createCluster(), { port: server.port })).rejects.toThrow('EADDRINUSE');
  });
});

interface SecureCall {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly ca?: string;
  readonly token: string;
}

function securely({ token, ...options }: SecureCall): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    // IPv4 only: `localhost` may resolve to both, and the server listens on one.
    const call = { ...options, family: 4, agent: false, headers: { authorization: `Bearer ${token}` } };
    secureRequest(call, (response) => {
      textOf(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    })
      .on('error', reject)
      .end();
  });
}

function connected(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve('connected'));
    socket.on('error', (error) => resolve('code' in error ? String(error.code) : error.message));
  });
}

describe('audit', () => {
  test.each([false, true])('records the address of the client, with TLS: %s', async (tls) => {
    const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }] } });
    await using server = await serve(createCluster({ audit }), { tls, http2: true, anonymous: true });
    const get = tls ? connectHttp2(server.url, { ca: server.caCertificate ?? '' }) : undefined;
    if (get === undefined) await (await fetch(`${server.url}/api`)).text();
    else {
      await textOf(get.request({ ':path': '/api' }));
      get.destroy();
    }
    expect(audit.events.length).toBeGreaterThan(0);
    expect(audit.events.map((event) => event.sourceIPs)).toEqual(audit.events.map(() => ['127.0.0.1']));
  });
});
