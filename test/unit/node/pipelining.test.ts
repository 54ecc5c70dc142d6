/** Clients that send the next request before they have received the response, or that do not close their connection. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { type ServedCluster, serve } from '../../../src/node/index.js';
import { openConnection, site, text } from './sockets.js';

const HEADERS = 'Host: x\r\nAuthorization: Bearer mine\r\n';
const WEB_SOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://localhost\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\n${HEADERS}${more}\r\n`;

const cluster = createCluster({ dialect: 'kubernetes' });
let server: ServedCluster;

beforeAll(async () => {
  server = await serve(cluster, { token: 'mine' });
});

afterAll(async () => {
  await server.close();
  await cluster.close();
});

async function isServing(): Promise<void> {
  const connection = await openConnection(server.port);
  connection.socket.write(get('/healthz'));
  await connection.until(/\r\nok$/);
  connection.socket.destroy();
}

describe('a request to switch the protocol behind an unfinished response', () => {
  test.each([
    ['a WebSocket', WEB_SOCKET],
    ['another protocol', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'],
  ])('closes the connection: %s', async (_name, upgrade) => {
    const connection = await openConnection(server.port);
    connection.socket.write(get('/api') + get(`${CONFIG_MAPS}?watch=true`, upgrade));
    await connection.end();
    await isServing();
  });
});

test('ends pipelined requests when the client disconnects', async () => {
  const aborted: string[] = [];
  let received = 0;
  await using fake = await site(({ url, signal }) => {
    received++;
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted.push(url);
        resolve(text('late'));
      });
    });
  });
  const connection = await openConnection(fake.port);
  connection.socket.write(get('/1') + get('/2') + get('/3'));
  await expect.poll(() => received).toBe(1);
  connection.socket.destroy();
  await expect.poll(() => aborted).toEqual(['http://site/1']);
  await expect.poll(() => fake.log.map(({ isAborted }) => isAborted)).toEqual([true, true, true]);
  // The others were not executed.
  expect(received).toBe(1);
  await fake.listener.drain();
});

test('adds no listeners to a connection whose requests ask for another protocol', async () => {
  const warnings: unknown[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', onWarning);
  const connection = await openConnection(server.port);
  for (let count = 1; count <= 15; count++) {
    connection.socket.write(get('/healthz', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'));
    await connection.until(new RegExp(`^(?:HTTP[\\s\\S]*?\\r\\nok){${count}}$`));
  }
  connection.socket.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

describe('a request for a WebSocket', () => {
  test('is closed after an error, even if the client keeps its side open', async () => {
    const own = await serve(cluster, { token: 'mine' });
    const socket = connect({ port: own.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.write(get(`${CONFIG_MAPS}?watch=true`, WEB_SOCKET).replace('mine', 'wrong'));
    socket.resume();
    await once(socket, 'end');
    const reset = once(socket, 'error');
    // The server no longer has the connection.
    await expect.poll(() => socket.write('x')).toBe(true);
    setTimeout(() => socket.write('x'), 20);
    await reset;
    await own.close();
  });

  test('is processed with its body as any other if it is not a GET', async () => {
    const body = JSON.stringify({ metadata: { name: 'posted' } });
    const connection = await openConnection(server.port);
    const more = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    connection.socket.write(get(CONFIG_MAPS, WEB_SOCKET + more).replace('GET', 'POST') + body);
    await connection.until(/HTTP\/1.1 201 [\s\S]*"posted"/);
    connection.socket.destroy();
  });

  test('answers pings only as fast as the client reads the answers', async () => {
    const connection = await openConnection(server.port);
    connection.socket.write(get(`${CONFIG_MAPS}?watch=true`, WEB_SOCKET));
    await connection.until(/HTTP\/1.1 101 /);
    connection.socket.pause();
    const ping = Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125, 'a')]);
    const pings = Buffer.concat(Array<Buffer>(8_000).fill(ping));
    // More than the system buffers in both directions.
    for (let count = 0; count < 40; count++) connection.socket.write(pings);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(connection.socket.writableLength).toBeGreaterThan(pings.length);
    connection.socket.destroy();
  });
});
