/** Clients that do not read, send too much, or disconnect at any time. Other clients must not notice them. */
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamOpener } from '../../unit/runtime/http/spdy-client.js';
import { type ChannelClient, connect, eventually, execPath, POD } from './channel-client.js';
import { type ServedRuntime, serveRuntime, TOKEN } from './served-runtime.js';

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
  });

  /** All processes of hostile clients have ended, and another client is served. */
  async function expectHealthy(): Promise<void> {
    await eventually(() => Object.values(served.fake.open).every((count) => count === 0));
    const other = await connect(served, execPath(['hello']));
    expect(await other.status()).toEqual({ metadata: {}, status: 'Success' });
  }

  test('stops a process whose output the client does not read', async () => {
    const client = await connect(served, execPath(['flood']), { isPaused: true });
    let before = -1;
    while (served.fake.floodBytes !== before) {
      before = served.fake.floodBytes;
      // Another client is served meanwhile.
      expect(await (await connect(served, execPath(['hello']))).status()).toMatchObject({ status: 'Success' });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(32 * 1024 * 1024);
    client.webSocket.terminate();
    await expectHealthy();
  });

  test('stops reading from a client whose process does not read', async () => {
    const client = await connect(served, execPath(['sleep-without-reading'], '&stdin=true'));
    const { webSocket } = client;
    const sent = 64;
    let taken = 0;
    for (let count = 0; count < sent; count++)
      void client.send(0, Buffer.alloc(1024 * 1024)).then(
        () => taken++,
        () => undefined,
      );
    let before = -1;
    while (taken !== before) {
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(taken).toBeLessThan(sent);
    expect(served.fake.open.processes).toBe(1);
    // The server does not read, so only its pings tell it that the client is gone.
    webSocket.terminate();
    await expectHealthy();
  });

  test('closes a connection with a message that is too long', async () => {
    const client = await connect(served, execPath(['echo-input'], '&stdin=true'));
    client.send(0, Buffer.alloc(33 * 1024 * 1024)).catch(() => undefined);
    await client.closed;
    await expectHealthy();
  });

  test('ignores messages in the wrong format', async () => {
    const client = await connect(served, execPath(['echo-input'], '&stdin=true'));
    for (let count = 0; count < 1000; count++) client.webSocket.send(Uint8Array.of((count % 254) + 1, count % 256));
    for (let count = 0; count < 1000; count++) client.webSocket.send(`text ${count}`);
    for (let count = 0; count < 1000; count++) client.webSocket.send('');
    await client.send(0, 'still there');
    await client.until(1, /still there/);
    client.webSocket.terminate();
    await expectHealthy();
  });

  test('closes a connection that violates the protocol', async () => {
    const closeSignal = await connect(served, execPath(['echo-input'], '&stdin=true'));
    await closeSignal.send(255, Uint8Array.of(9));
    expect(await closeSignal.closed).toBe(1000);
    const tunnel = await connect(served, '/portforward', { protocols: ['SPDY/3.1+portforward.k8s.io'] });
    tunnel.webSocket.send(Buffer.alloc(1000, 255));
    expect(await tunnel.closed).toBe(1000);
    await expectHealthy();
  });

  test('serves many connections of one client', async () => {
    const clients = await Promise.all(
      Array.from({ length: 200 }, () => connect(served, execPath(['echo-input'], '&stdin=true'))),
    );
    const echoes = clients.map(async (client: ChannelClient, at) => {
      await client.send(0, `client ${at};`);
      await client.until(1, new RegExp(`client ${at};`));
      client.webSocket.terminate();
    });
    await Promise.all(echoes);
    await expectHealthy();
  });

  test('opens and closes a thousand streams of a tunnel', async () => {
    const tunnel = await connect(served, '/portforward', { protocols: ['SPDY/3.1+portforward.k8s.io'] });
    const opener = new StreamOpener();
    for (let count = 0; count < 1000; count++) {
      const streamtype = count % 2 === 0 ? 'error' : 'data';
      const headers = { streamtype, port: '81', requestid: String(count >> 1) };
      tunnel.webSocket.send(await opener.open(count * 2 + 1, headers));
    }
    // A reply for each stream; for each pair an error and two resets.
    await eventually(() => tunnel.messages.length === 2500);
    tunnel.webSocket.terminate();
    await expectHealthy();
  });

  test('ends the session of a client that disconnects at any time', async () => {
    const { port, hostname } = new URL(served.server.url);
    const paths = [execPath(['hello']), execPath(['flood']), '/log?follow=true', '/portforward', '/attach?stdin=true'];
    const disconnectAfter = async (path: string, turns: number): Promise<void> => {
      const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      const head = [
        `GET ${POD}${path} HTTP/1.1`,
        `Host: ${hostname}`,
        `Authorization: Bearer ${TOKEN}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        ...(path === '/portforward' ? ['Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io'] : []),
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
    };
    for (const path of paths) {
      await Promise.all(Array.from({ length: 40 }, (_each, turns) => disconnectAfter(path, turns * 2)));
    }
    await expectHealthy();
  });

  test('does not wait for a client that disconnects before its process starts', async () => {
    let start = (): void => undefined;
    served.fake.beforeStart = () => new Promise((resolve) => (start = resolve));
    const client = await connect(served, execPath(['hello']));
    await eventually(() => served.fake.open.processes === 1);
    client.webSocket.terminate();
    await client.closed;
    served.fake.beforeStart = async () => undefined;
    start();
    await expectHealthy();
  });

  test('closes while clients do not read', async () => {
    const closing = await serveRuntime({ thread });
    const clients = [
      await connect(closing, execPath(['flood']), { isPaused: true }),
      await connect(closing, execPath(['sleep-without-reading'], '&stdin=true')),
    ];
    clients[1]?.send(0, Buffer.alloc(8 * 1024 * 1024)).catch(() => undefined);
    await eventually(() => closing.fake.open.processes === 2);
    await closing[Symbol.asyncDispose]();
    expect(closing.fake.open.processes).toBe(0);
    expect(closing.errors).toEqual([]);
    for (const { webSocket } of clients) webSocket.terminate();
  });
});
