/** Starts etcd for a test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdClient } from '../../../src/etcd/client.js';

/** Debian has it in the package etcd-server. */
export const hasEtcd = spawnSync('etcd', ['--version']).error === undefined;

export interface EtcdServer extends AsyncDisposable {
  readonly endpoint: string;
  readonly client: EtcdClient;
  kill(): Promise<void>;
  /** Starts it again with the same data. */
  start(): Promise<void>;
}

export async function startEtcd(): Promise<EtcdServer> {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-etcd-'));
  const [port, peerPort] = [await freePort(), await freePort()];
  const endpoint = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const client = new EtcdClient({ endpoints: [endpoint] });
  let running: ChildProcess;
  const start = async (): Promise<void> => {
    const args = {
      'data-dir': folder,
      'listen-client-urls': endpoint,
      'advertise-client-urls': endpoint,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
    };
    const options = Object.entries(args).flatMap(([name, value]) => [`--${name}`, value]);
    running = spawn('etcd', options, { stdio: 'ignore' });
    for (;;) {
      const isUp = await client.range({ key: Buffer.from('health') }).then(
        () => true,
        () => false,
      );
      if (isUp) return;
      if (running.exitCode !== null) throw new Error(`etcd has ended with ${running.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const kill = async (): Promise<void> => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  };
  await start();
  return {
    endpoint,
    client,
    start,
    kill,
    async [Symbol.asyncDispose]() {
      client.close();
      await kill();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}
