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

/** The arguments of a member. `members` are the peer addresses of all members by name. */
export function etcdArguments({ name = 'default', folder, client, peer, members }: Member): readonly string[] {
  const flags = {
    name,
    'data-dir': folder,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': Object.entries(members)
      .map((member) => member.join('='))
      .join(','),
  };
  return Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
}

interface Member {
  readonly name?: string;
  readonly folder: string;
  readonly client: string;
  readonly peer: string;
  readonly members: Readonly<Record<string, string>>;
}

export async function startEtcd(): Promise<EtcdServer> {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-etcd-'));
  const [port, peerPort] = [await freePort(), await freePort()];
  const endpoint = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const client = new EtcdClient({ endpoints: [endpoint] });
  let running: ChildProcess;
  const start = async (): Promise<void> => {
    const options = etcdArguments({ folder, client: endpoint, peer, members: { default: peer } });
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
