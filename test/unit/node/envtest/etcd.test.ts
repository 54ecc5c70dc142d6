/** The server in the place of etcd. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startEtcd } from '../../../../src/node/envtest/etcd.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('answers health checks on its client URLs until it is stopped', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const stop = await startEtcd([`--listen-client-urls=${url}`, '--data-dir=/data', '--unsafe-no-fsync=true']);
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ health: 'true', reason: '' });
  expect(await (await fetch(`${url}/version`)).json()).toMatchObject({ etcdserver: '3.5.21' });
  stop();
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});
