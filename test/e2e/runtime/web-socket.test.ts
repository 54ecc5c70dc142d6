/** Connections to pods over TLS and WebSocket, with and without the HTTP thread. */
import { createServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { auditLog, createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { createNodeListener } from 'orchplane/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createFakeRuntime } from '../../unit/runtime/fake-runtime.js';
import { dataFrame, FrameParser, StreamOpener } from '../../unit/runtime/http/spdy-client.js';
import { connect, eventually, execPath, POD, rejection } from './channel-client.js';
import { createObjects, type ServedRuntime, serveRuntime, TOKEN } from './served-runtime.js';

/** Sends a request over TLS. */
function send(
  { server }: ServedRuntime,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ readonly code: number | undefined; readonly headers: Record<string, unknown>; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const authorized = { authorization: `Bearer ${TOKEN}`, ...headers };
    const sent = httpsRequest(
      server.url + path,
      { method, headers: authorized, rejectUnauthorized: false },
      (response) => {
        let text = '';
        response.on('data', (part) => {
          text += String(part);
        });
        response.on('end', () => resolve({ code: response.statusCode, headers: response.headers, text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe.each([
  ['in the thread of the cluster', false],
  ['in a thread of its own', true],
])('an HTTP server %s', (_name, thread) => {
  let served: ServedRuntime;
  beforeAll(async () => {
    served = await serveRuntime({ thread });
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    expect(served.errors).toEqual([]);
    expect(served.fake.open).toEqual({ logs: 0, processes: 0, ports: 0 });
  });

  test('runs a process and reports its exit code', async () => {
    const client = await connect(served, execPath(['sh', '-c', 'echo out; echo err >&2; exit 3']));
    expect(client.webSocket.protocol).toBe('v5.channel.k8s.io');
    expect(await client.status()).toMatchObject({ reason: 'NonZeroExitCode', details: { causes: [{ message: '3' }] } });
    expect([client.text(1), client.text(2)]).toEqual(['out\n', 'err\n']);
    expect(await client.closed).toBe(1000);
  });

  test('passes megabytes through the input and the output of a process', async () => {
    const client = await connect(served, execPath(['cat'], '&stdin=true'));
    const block = 'x'.repeat(100_000);
    for (let count = 0; count < 50; count++) await client.send(0, block);
    await client.send(255, Uint8Array.of(0));
    expect(await client.status()).toMatchObject({ status: 'Success' });
    expect(client.text(1).length).toBe(5_000_000);
  });

  test('attaches to a process', async () => {
    const client = await connect(served, '/attach?stdin=true&stdout=true', { protocols: ['v4.channel.k8s.io'] });
    await client.until(1, /attached/);
    await client.send(0, 'hello');
    await client.until(1, /hello/);
    client.webSocket.close();
    await eventually(() => served.fake.open.processes === 0);
    expect(served.fake.requests.at(-1)).toMatchObject({ subresource: 'attach' });
  });

  test('passes on the sizes of a terminal', async () => {
    const client = await connect(served, execPath(['show-sizes'], '&tty=true'));
    await client.send(4, '{"Width":80,"Height":24}');
    await client.until(1, /80x24/);
    await client.send(4, '{"Width":1,"Height":2}');
    expect(await client.status()).toMatchObject({ status: 'Success' });
  });

  test('sends base64 as text messages', async () => {
    const client = await connect(served, execPath(['hello']), { protocols: ['base64.channel.k8s.io'] });
    const types: boolean[] = [];
    client.webSocket.on('message', (_message, isBinary: boolean) => types.push(isBinary));
    await client.closed;
    expect(new Set(types)).toEqual(new Set([false]));
    expect(client.messages.map(String)).toEqual(['1', `1${btoa('out\n')}`, `2${btoa('err\n')}`]);
  });

  test('rejects requests that it cannot switch', async () => {
    const path = execPath(['hello']);
    expect(await rejection(served, path, { protocols: ['v2.channel.k8s.io'] })).toEqual({ code: 403, text: '' });
    expect(await rejection(served, path, { origin: 'https://elsewhere.example' })).toEqual({ code: 403, text: '' });
    const plain = await send(served, POD + path, { method: 'POST' });
    expect(plain.code).toBe(400);
    expect(JSON.parse(plain.text)).toMatchObject({ reason: 'BadRequest', message: 'Upgrade request required' });
    const spdy = await send(served, POD + path, {
      method: 'POST',
      headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' },
    });
    expect(spdy).toMatchObject({ code: 400, text: plain.text });
    expect(JSON.parse((await rejection(served, '/proxy/x')).text)).toMatchObject({ code: 501 });
  });

  test('sends a log, also over WebSocket', async () => {
    const { code, headers, text } = await send(served, `${POD}/log?tailLines=5`);
    expect({ code, text, type: headers['content-type'] }).toEqual({
      code: 200,
      text: 'one\ntwo\n',
      type: 'text/plain',
    });
    expect(headers).toMatchObject({
      'cache-control': 'no-cache, private',
      'audit-id': expect.stringMatching(/^[0-9a-f-]+$/),
    });
    expect(served.fake.requests.at(-1)?.query).toEqual({ tailLines: ['5'] });
    const client = await connect(served, '/log', { protocols: ['binary.k8s.io'] });
    expect(await client.closed).toBe(1000);
    expect(Buffer.concat(client.messages).toString()).toBe('one\ntwo\n');
  });

  test('follows a log until the client disconnects', async () => {
    const { server, fake } = served;
    const headers = { authorization: `Bearer ${TOKEN}` };
    const request = httpsRequest(`${server.url + POD}/log?follow=true`, { headers, rejectUnauthorized: false });
    const parts: string[] = [];
    request.on('response', (response) => response.on('data', (part) => parts.push(String(part))));
    request.on('error', () => undefined);
    request.end();
    await eventually(() => parts.join('') === 'one\ntwo\n');
    fake.writeLog('three');
    await eventually(() => parts.join('') === 'one\ntwo\nthree\n');
    expect(fake.open.logs).toBe(1);
    request.destroy();
    await eventually(() => fake.open.logs === 0);
  });

  test('forwards ports over channels', async () => {
    const echo = createTcpServer((socket) => socket.pipe(socket));
    served.fake.ports.set(7, await listen(echo));
    const client = await connect(served, '/portforward?ports=7&ports=8', { protocols: ['v4.channel.k8s.io'] });
    await client.until(3, /refused/);
    await client.send(0, 'ping');
    await client.until(0, /ping/);
    client.webSocket.close();
    await eventually(() => served.fake.open.ports === 0);
    echo.close();
  });

  test('forwards megabytes through the tunnel for SPDY', async () => {
    const echo = createTcpServer((socket) => socket.pipe(socket));
    served.fake.ports.set(7, await listen(echo));
    const client = await connect(served, '/portforward', { protocols: ['SPDY/3.1+portforward.k8s.io'] });
    const opener = new StreamOpener();
    client.webSocket.send(await opener.open(1, { streamtype: 'error', port: '7', requestid: '0' }));
    client.webSocket.send(await opener.open(3, { streamtype: 'data', port: '7', requestid: '0' }));
    for (let count = 0; count < 50; count++) client.webSocket.send(dataFrame(3, 'x'.repeat(100_000)));
    client.webSocket.send(dataFrame(3, '', true));
    const parser = new FrameParser();
    let length = 0;
    let isEnded = false;
    while (!isEnded) {
      for (const frame of client.messages.splice(0).flatMap((message) => parser.parse(message))) {
        if (frame.type === 0 && frame.stream === 3) length += frame.content.length;
        isEnded ||= frame.type === 0 && frame.stream === 3 && frame.flags === 1;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(length).toBe(5_000_000);
    client.webSocket.close();
    await eventually(() => served.fake.open.ports === 0);
    echo.close();
  });

  test('passes requests through the proxies of pods, services and nodes', async () => {
    served.fake.serveHttp = async (request) =>
      new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`, {
        status: 202,
        headers: { 'x-from': 'pod' },
      });
    const paths = [
      `${POD}:80/proxy/a`,
      '/api/v1/namespaces/default/services/http:web:http/proxy/a',
      '/api/v1/nodes/n1/proxy/a',
    ];
    for (const path of paths) {
      const answer = await send(served, path, { method: 'POST', body: 'content' });
      expect(answer).toMatchObject({ code: 202, text: 'POST /a content', headers: { 'x-from': 'pod' } });
    }
    expect(served.fake.requests.slice(-3)).toMatchObject([
      { object: { kind: 'Pod' }, scheme: '', port: '80' },
      { object: { kind: 'Service' }, scheme: 'http', port: 'http' },
      { object: { kind: 'Node' }, scheme: '', port: '' },
    ]);
    served.fake.serveHttp = () => Promise.reject(new Error('connection refused'));
    const failed = await send(served, `${POD}/proxy/a`);
    expect(failed.code).toBe(503);
    expect(JSON.parse(failed.text).message).toBe('error trying to reach service: connection refused');
  });

  test('streams bodies through a proxy in both directions', async () => {
    served.fake.serveHttp = (request) => new Response(request.body);
    const body = 'x'.repeat(3_000_000);
    const answer = await send(served, `${POD}/proxy/a`, { method: 'PUT', body });
    expect(answer.code).toBe(200);
    expect(answer.text === body).toBe(true);
  });

  test('answers pings of the client', async () => {
    const client = await connect(served, execPath(['sleep-without-reading']));
    const pong = new Promise((resolve) => client.webSocket.once('pong', (data) => resolve(String(data))));
    client.webSocket.ping('still there?');
    expect(await pong).toBe('still there?');
    client.webSocket.terminate();
    await eventually(() => served.fake.open.processes === 0);
  });

  test('counts connections in its metrics while they are open', async () => {
    const gauge = async (): Promise<string | undefined> =>
      (await send(served, '/metrics')).text
        .split('\n')
        .find((line) => /^apiserver_longrunning_requests.*"attach".*"CONNECT"/.test(line))
        ?.split(' ')[1];
    const client = await connect(served, '/attach');
    await client.until(1, /attached/);
    await client.closed;
    expect(await gauge()).toBe('0');
    const open = await connect(served, '/attach?stdin=true');
    expect(await gauge()).toBe('1');
    open.webSocket.close();
    while ((await gauge()) !== '0');
    const { text } = await send(served, '/metrics');
    expect(text.split('\n').find((line) => /^apiserver_request_total.*"attach"/.test(line))).toMatch(
      /code="101".*verb="CONNECT".* 3$/,
    );
  });
});

describe('connections to pods', () => {
  test('end when the server closes', async () => {
    for (const thread of [false, true]) {
      const served = await serveRuntime({ thread });
      const client = await connect(served, execPath(['sleep-without-reading']));
      const log = await connect(served, '/log?follow=true', { protocols: [] });
      await eventually(() => served.fake.open.processes === 1 && served.fake.open.logs === 1);
      await served[Symbol.asyncDispose]();
      expect([await client.closed, await log.closed]).toEqual([1000, 1000]);
      expect(served.fake.open).toEqual({ logs: 0, processes: 0, ports: 0 });
      expect(served.errors).toEqual([]);
    }
  });

  test('are recorded as long-running requests', async () => {
    const audit = auditLog({
      policy: { rules: [{ level: 'Metadata', resources: [{ group: '', resources: ['pods/*'] }] }] },
    });
    const served = await serveRuntime({ thread: false, audit });
    const stages = () =>
      audit.events
        .filter(({ objectRef }) => ['exec', 'log'].includes(objectRef?.subresource ?? ''))
        .map(({ stage, responseStatus }) => [stage, responseStatus?.code]);
    const client = await connect(served, execPath(['sleep-without-reading']));
    await eventually(() => served.fake.open.processes === 1);
    expect(stages()).toEqual([
      ['RequestReceived', undefined],
      ['ResponseStarted', 101],
    ]);
    client.webSocket.close();
    await eventually(() => stages().length === 3);
    expect(stages().at(-1)).toEqual(['ResponseComplete', 101]);
    await send(served, `${POD}/log`);
    await eventually(() => stages().length === 6);
    expect(stages().at(-1)).toEqual(['ResponseComplete', 200]);
    await served[Symbol.asyncDispose]();
  });

  test('work behind a listener of another server', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    cluster.runtimeSlot.runtime = createFakeRuntime();
    await createObjects(cluster);
    const listener = createNodeListener(cluster);
    const server = createServer(listener).on('upgrade', listener.upgrade);
    const port = await listen(server);
    const webSocket = new WebSocket(`ws://127.0.0.1:${port}${POD}${execPath(['hello'])}`, 'v5.channel.k8s.io');
    const messages: Buffer[] = [];
    webSocket.on('message', (message: Buffer) => messages.push(message));
    await new Promise((resolve) => webSocket.once('close', resolve));
    expect(Buffer.concat(messages).toString()).toContain('{"metadata":{},"status":"Success"}');
    server.close();
  });

  test('need a WebSocket that a fetch handler does not have', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    cluster.runtimeSlot.runtime = createFakeRuntime();
    await createObjects(cluster);
    const handler = createFetchHandler(cluster);
    const exec = await handler(new Request(`http://cluster.local${POD}${execPath(['hello'])}`));
    expect(exec.status).toBe(400);
    expect(await exec.json()).toMatchObject({ message: 'Upgrade request required' });
    const log = await handler(new Request(`http://cluster.local${POD}/log`));
    expect(await log.text()).toBe('one\ntwo\n');
    const proxied = await handler(new Request(`http://cluster.local${POD}/proxy/`));
    expect(await proxied.text()).toBe('hello\n');
  });
});
