/** A client that sends requests without waiting for responses. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { createListener } from '../../../src/node/http-listener.js';

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
