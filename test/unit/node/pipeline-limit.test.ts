/** A client that sends requests without waiting for responses. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { createListener } from '../../../src/node/http-listener.js';
import { SERVER_OPTIONS } from '../../../src/node/http-server.js';
import type { Answer } from '../../../src/protocol/http.js';
import { openConnection } from './sockets.js';

test('a connection with thousands of unanswered requests is closed', async () => {
  let received = 0;
  const handler = () => {
    received++;
    return new Promise<never>(() => undefined);
  };
  const listener = createListener(handler, {
    origin: () => 'http://cluster',
    onError: (error) => expect(error).toBeUndefined(),
  });
  const server = createServer((incoming, outgoing) => listener.request(incoming, outgoing)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET /version HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20_000));
  await new Promise((resolve) => socket.on('close', resolve));
  expect(received).toBe(1);
  server.close();
});

test('requests with long headers that are not answered are closed when their headers take too much memory', async () => {
  const answers: (() => void)[] = [];
  const handler = () =>
    new Promise<Answer>((resolve) => {
      answers.push(() => resolve({ code: 200, headers: [], body: 'done' }));
    });
  const listener = createListener(handler, {
    origin: () => 'http://cluster',
    onError: (error) => expect(error).toBeUndefined(),
  });
  const server = createServer(SERVER_OPTIONS, listener.request).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = (length: number) => `GET /watch HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(length)}\r\n\r\n`;
  const other = await openConnection(port);
  other.socket.write(request(20_000));
  const hostile = [await openConnection(port), await openConnection(port), await openConnection(port)];
  hostile[0]?.socket.write(request(900_000));
  hostile[1]?.socket.write(request(1_000_000));
  // Also those that wait for the first one of their connection.
  hostile[2]?.socket.write(request(950_000).repeat(40));
  await Promise.all([hostile[1]?.end(), hostile[2]?.end()]);
  expect(hostile[0]?.socket.destroyed).toBe(false);
  for (const answer of answers) answer();
  await other.until(/done/);
  await hostile[0]?.until(/done/);
  server.closeAllConnections();
  server.close();
});
