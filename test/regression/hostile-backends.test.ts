/** Servers that the cluster connects to (pods, webhooks, issuers, aggregated APIs) and that answer in unusual ways. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { nodeSockets } from 'orchplane/node';
import { describe, expect, test } from 'vitest';
import { tokenWebhook } from '../../src/index.js';
import { kubernetesDialect } from '../../src/meta/dialect.js';
import { systemClock } from '../../src/util/clock.js';
import { readText } from '../../src/util/read-text.js';

/** A server that answers each connection with a text. */
async function listen(answer: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    answer(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { port, [Symbol.dispose]: () => server.close() };
}

async function send(port: number, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
  const connection = await nodeSockets.dial({ host: '127.0.0.1', port });
  return nodeSockets.sendHttp(connection, new Request(`http://127.0.0.1:${port}/`, init), false);
}

describe('a server in a pod', () => {
  test.each([
    ['a status that a Response cannot have', 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi', /status/],
    [
      'a switch to another protocol',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhi',
      /hang up/,
    ],
    ['no response', '', /hang up/],
    ['what is not HTTP', '\x00\x01\x02\r\n\r\n', /Parse Error/],
  ])('that answers with %s fails the request only', async (_, text, message) => {
    using server = await listen((socket) => {
      socket.once('data', () => socket.end(text, 'latin1'));
    });
    await expect(send(server.port)).rejects.toThrow(message);
  });

  test('whose client disconnects in the middle of a body gets no more of it', async () => {
    let onClose = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    using server = await listen((socket) => {
      socket.on('data', () => undefined);
      socket.on('close', onClose);
    });
    let fail = (_error: Error): void => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('a part'));
        fail = (error) => controller.error(error);
      },
    });
    const sent = send(server.port, { method: 'POST', body, duplex: 'half' });
    const result = expect(sent).rejects.toThrow(/the client has gone|hang up/);
    await new Promise((resolve) => setTimeout(resolve, 20));
    fail(new Error('the client has gone'));
    await result;
    await closed;
  });
});

describe('a response of another server', () => {
  test('is read up to a limit', async () => {
    let produced = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        produced += 1000;
        controller.enqueue(new Uint8Array(1000).fill(32));
      },
    });
    expect(await readText(new Response(body), 10_000)).toBeUndefined();
    expect(produced).toBeLessThan(20_000);
    expect(await readText(new Response('short'), 5)).toBe('short');
  });
});

describe('a token webhook', () => {
  const context = { dialect: kubernetesDialect, clock: systemClock, audiences: ['api'] };

  function authenticatorWith(userOf: (token: string) => object) {
    let calls = 0;
    const { createAuthenticator } = tokenWebhook({
      url: 'https://login.example.com/',
      version: 'v1',
      fetch: async (_url, init) => {
        calls++;
        const { spec, ...review } = JSON.parse(String(init.body)) as { spec: { token: string } };
        return Response.json({ ...review, status: { authenticated: true, user: userOf(spec.token) } });
      },
    });
    return { authenticate: createAuthenticator(context), calls: () => calls };
  }

  test('is not asked about tokens of megabytes, which clients without credentials can send', async () => {
    const { authenticate, calls } = authenticatorWith(() => ({ username: 'alice' }));
    expect(await authenticate('x'.repeat(900_000), ['api'])).toBeUndefined();
    expect(calls()).toBe(0);
    expect(await authenticate('x'.repeat(60_000), ['api'])).toMatchObject({ user: { user: 'alice' } });
  });

  test('whose users are long fills the cache with fewer of them', async () => {
    const groups = Array.from({ length: 1000 }, (_, at) => `${at}`.padEnd(1000, 'g'));
    const { authenticate, calls } = authenticatorWith((username) => ({ username, groups }));
    for (let at = 0; at < 40; at++) await authenticate(`token-${at}`, ['api']);
    await authenticate('token-39', ['api']);
    expect(calls()).toBe(40);
    await authenticate('token-0', ['api']);
    expect(calls()).toBe(41);
  });
});
