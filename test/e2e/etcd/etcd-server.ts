/** Starts etcd for a test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdClient, type EtcdClientOptions } from '../../../src/etcd/client.js';

/** Debian has it in the package etcd-server. */
export const hasEtcd = spawnSync('etcd', ['--version']).error === undefined;

/** A member of etcd, or all of it. */
export interface EtcdServer extends AsyncDisposable {
  readonly endpoint: string;
  readonly client: EtcdClient;
  kill(): Promise<void>;
  /** Starts it again with the same data. */
  start(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

export interface EtcdServerOptions {
  readonly flags?: readonly string[];
  /** With `https`, the flags name the certificates. */
  readonly scheme?: 'http' | 'https';
  readonly client?: Omit<EtcdClientOptions, 'endpoints'>;
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

export async function startEtcd(options: EtcdServerOptions = {}): Promise<EtcdServer> {
  const [server] = await startEtcdMembers(1, options);
  if (server === undefined) throw new Error('there is no member');
  return server;
}

/** Starts the members of one etcd. */
export async function startEtcdMembers(count: number, options: EtcdServerOptions = {}): Promise<EtcdServer[]> {
  const { flags = [], scheme = 'http' } = options;
  const ports = await freePorts(count * 2);
  const peers = ports.slice(count).map((port, index) => [`m${index}`, `http://127.0.0.1:${port}`] as const);
  const members = Object.fromEntries(peers);
  const servers = peers.map(([name, peer], index) => {
    const folder = mkdtempSync(join(tmpdir(), 'orchplane-etcd-'));
    const client = `${scheme}://127.0.0.1:${ports[index]}`;
    const words = [...etcdArguments({ name, folder, client, peer, members }), ...flags];
    return memberOf(words, {
      folder,
      endpoint: client,
      client: new EtcdClient({ ...options.client, endpoints: [client] }),
    });
  });
  const started = await Promise.allSettled(servers.map(({ start }) => start()));
  const failure = started.find((result) => result.status === 'rejected');
  if (failure === undefined) return servers;
  for (const server of servers) await server[Symbol.asyncDispose]();
  throw failure.reason;
}

function memberOf(
  words: readonly string[],
  { folder, endpoint, client }: Pick<EtcdServer, 'endpoint' | 'client'> & { readonly folder: string },
): EtcdServer {
  let running: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const started = spawn('etcd', words, { stdio: 'ignore' });
    running = started;
    for (;;) {
      const isUp = await client.range({ key: Buffer.from('health') }).then(
        () => true,
        // It wants a user.
        (error) => /user name is empty/.test(error.message),
      );
      if (isUp) return;
      if (started.exitCode !== null) throw new Error(`etcd has ended with ${started.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const kill = async (): Promise<void> => {
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  };
  return {
    endpoint,
    client,
    start,
    kill,
    signal: (name) => void running?.kill(name),
    async [Symbol.asyncDispose]() {
      client.close();
      await kill();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** They are all open at the same time, so that they are different. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('there is no free port');
    return address.port;
  });
  for (const server of servers) server.close();
  await Promise.all(servers.map((server) => once(server, 'close')));
  return ports;
}
