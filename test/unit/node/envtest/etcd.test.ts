/** The server in the place of etcd. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { startEtcd } from '../../../../src/node/envtest/etcd.js';
import { runEnvtestProgram } from '../../../../src/node/envtest/programs.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test.each([
  ['envtest-etcd', 'etcd Version: 3.5.21\n'],
  ['envtest-kube-apiserver', 'Kubernetes v1.33.0\n'],
])('prints the version of %s and ends', async (command, expected) => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await runEnvtestProgram([command, '--version'], '0.0.0');
  expect(write.mock.calls).toEqual([[expected]]);
  write.mockRestore();
});

test('answers health checks on its client URLs until it is stopped', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const stop = await startEtcd([`--listen-client-urls=${url}`, '--data-dir=/data', '--unsafe-no-fsync=true']);
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ health: 'true', reason: '' });
  expect(await (await fetch(`${url}/version`)).json()).toMatchObject({ etcdserver: '3.5.21' });
  stop();
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});
