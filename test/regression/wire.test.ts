/** Defects that hostile and unreliable HTTP clients exposed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createCluster } from '../../src/cluster/full-cluster.js';
import { protobuf } from '../../src/codec/protobuf/index.js';
import { parseAccept, parseMediaType } from '../../src/http/header-values.js';
import { createFetchHandler, type FetchTarget } from '../../src/http/index.js';
import { defineKind } from '../../src/index.js';
import { createInProcessAgent, serve } from '../../src/node/index.js';
import { writeKubeconfig } from '../../src/node/kubeconfig.js';
import { cpuTimer } from '../fixtures/cpu-time.js';
import { exchange, openConnection } from '../unit/node/sockets.js';

const CONNECT = 'CONNECT other:1 HTTP/1.1\r\nHost: x\r\n\r\n';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

describe('CONNECT requests', () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  afterEach(() => process.off('uncaughtException', note));

  test('survives clients that reset the connection after CONNECT', async () => {
    await using server = await serve(createCluster(), { anonymous: true });
    process.on('uncaughtException', note);
    const gone = Array.from({ length: 20 }, async () => {
      const { socket } = await openConnection(server.port);
      await new Promise((resolve) => socket.write(CONNECT, resolve));
      socket.resetAndDestroy();
    });
    await Promise.all(gone);
    expect(await exchange(server.port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/ 200 OK/);
    expect(uncaught).toEqual([]);
  });

  test('closes the server while a CONNECT connection is open', async () => {
    const server = await serve(createCluster(), { anonymous: true });
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    await new Promise((resolve) => socket.on('data', resolve).write(CONNECT));
    await expect(server.close()).resolves.toBeUndefined();
    socket.destroy();
  });
});

describe('long headers', () => {
  test('parses an Accept header with many clauses in linear time', () => {
    const wild = Array(15_000).fill('*').join(',');
    const plain = Array(8_000).fill('a/a').join(',');
    const spentMs = cpuTimer();
    expect(parseAccept(`${wild},${plain}`)).toHaveLength(23_000);
    expect(spentMs()).toBeLessThan(3_000);
  });

  test('sorts 40 Accept clauses by quality', () => {
    const many = Array.from({ length: 40 }, (_, index) => `a/b${index};q=0.${10 + index}`);
    expect(parseAccept(many.join(',')).map(({ subtype }) => subtype)).toEqual(
      Array.from({ length: 40 }, (_, index) => `b${39 - index}`),
    );
  });

  test('parses a Content-Type with much white space in linear time', () => {
    const spentMs = cpuTimer();
    expect(parseMediaType(`application/json;a=b${' '.repeat(100_000)}x`)).toBeUndefined();
    expect(parseMediaType(`application/json;a=b ; `)).toBe('application/json');
    expect(spentMs()).toBeLessThan(3_000);
  });
});

describe('unread watches', () => {
  const Backup = defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Backup',
    scope: 'Namespaced',
    body: { spec: z.object({}).optional() },
  });

  test('does not count the watch of a HEAD request', async () => {
    await using cluster = createCluster();
    cluster.install(Backup);
    const handler = createFetchHandler(cluster);
    const address = 'http://c/apis/example.com/v1/backups?watch=1';
    const head = await handler(new Request(address, { method: 'HEAD' }));
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/json']);
    const metrics = await (await handler(new Request('http://c/metrics'))).text();
    expect(metrics).not.toMatch(/^apiserver_longrunning_requests\{.*\} [1-9]/m);
  });

  test('closes the watch of a table request with an invalid includeObject', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    let closed = 0;
    const target: FetchTarget = {
      ...cluster,
      send(requested) {
        const sent = cluster.send(requested);
        if (sent instanceof Promise || sent.type !== 'watch') return sent;
        const { watch } = sent;
        const close = (): void => {
          closed++;
          watch.close();
        };
        return {
          ...sent,
          watch: { next: () => watch.next(), close, [Symbol.asyncIterator]: () => watch[Symbol.asyncIterator]() },
        };
      },
    };
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const address = 'http://c/api/v1/configmaps?watch=1&includeObject=bogus';
    const rejected = await createFetchHandler(target)(new Request(address, { headers: { accept } }));
    expect([rejected.status, closed]).toEqual([400, 1]);
  });
});

test('sends warnings beyond ASCII unchanged over a socket', async () => {
  await using server = await serve(createCluster(), { anonymous: true });
  const answer = await fetch(server.url + CONFIG_MAPS, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'web' }, 'é€': 1 }),
  });
  const warning = Buffer.from(answer.headers.get('warning') ?? '', 'latin1').toString('utf8');
  expect(warning).toBe('299 - "unknown field \\"é€\\""');
});

test('replaces an empty Audit-Id', async () => {
  const handler = createFetchHandler(createCluster());
  const answer = await handler(new Request('http://c/version', { headers: { 'audit-id': '' } }));
  expect(answer.headers.get('audit-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test.each(['/api', '/api/v1'])('serves %s in protobuf with an empty version in the envelope', async (path) => {
  const handler = createFetchHandler(createCluster(), { codecs: [protobuf] });
  const answer = await handler(
    new Request(`http://c${path}`, { headers: { accept: 'application/vnd.orch.protobuf' } }),
  );
  expect(answer.status).toBe(200);
  const [, , , , outer, , version, length] = new Uint8Array(await answer.arrayBuffer());
  expect([outer, version, length]).toEqual([0x0a, 0x0a, 0]);
});

test('handles a second request on an in-process connection', async () => {
  const errors: unknown[] = [];
  const agent = createInProcessAgent(createCluster(), { onError: (error) => errors.push(error) });
  const body = '{"metadata":{"name":"e1"}}';
  const post = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { expect: '100-continue', 'content-type': 'application/json', 'content-length': body.length };
      const posted = request(agent.url + CONFIG_MAPS, { agent, method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      posted.on('continue', () => posted.end(body)).on('error', reject);
      posted.flushHeaders();
    });
  // The second request uses the connection of the first.
  expect([await post(), await post(), errors]).toEqual([201, 409, []]);
  agent.destroy();
});

test('writes a kubeconfig only to regular files', async () => {
  await expect(writeKubeconfig('/dev/null', 'x')).rejects.toThrow('/dev/null is no regular file');
  const folder = await mkdtemp(join(tmpdir(), 'orchplane-test-'));
  await expect(writeKubeconfig(folder, 'x')).rejects.toThrow('is no regular file');
  await rm(folder, { recursive: true });
});
