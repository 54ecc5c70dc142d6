/** The connections to members of etcd that do not answer. */
import { once } from 'node:events';
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { EtcdConnections, method } from '../../../src/etcd/connections.js';

const RANGE = method('KV/Range', 'RangeRequest', 'RangeResponse');

test('ends the requests that wait for an answer when they close', async () => {
  const sessions: ServerHttp2Session[] = [];
  const server = createServer().on('session', (session) => sessions.push(session));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connections = new EtcdConnections([`http://127.0.0.1:${port}`], undefined);
  const message = { key: Buffer.from('a') };
  const answer = connections.call(RANGE, { message, headers: {}, timeoutMs: 60_000 });
  answer.catch(() => undefined);
  await once(server, 'stream');
  connections.close();
  await expect(answer).rejects.toMatchObject({ mayBeDone: true, message: 'Cancelled on client' });
  for (const session of sessions) session.destroy();
  server.close();
});
