/** The processes of a run: members of etcd, and servers with `orchplane serve`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { etcdArguments, freePort } from '../e2e/etcd/etcd-server.js';

export const TOKEN = 't';

export interface Instance {
  readonly name: string;
  readonly port: number;
  /** False while the process is killed or stopped. */
  readonly isRunning: boolean;
  start(): void;
  kill(): Promise<void>;
  /** SIGSTOP. */
  stop(): void;
  /** SIGCONT. */
  continue(): void;
}

/** `onExit` is called when the process ends by itself. */
function instance(
  { name, port }: { readonly name: string; readonly port: number },
  command: readonly string[],
  { folder, onExit }: { readonly folder: string; readonly onExit: (problem: string) => void },
): Instance {
  const [program = '', ...words] = command;
  let child: ChildProcess | undefined;
  let isRunning = false;
  return {
    name,
    port,
    get isRunning() {
      return isRunning;
    },
    start() {
      const started = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
      let errors = '';
      started.stderr.on('data', (chunk) => {
        errors = `${errors}${chunk}`.slice(-2_000);
        appendFileSync(join(folder, `${name}.log`), chunk);
      });
      started.once('close', (code, signal) => {
        if (signal !== 'SIGKILL') onExit(`${name} ended with ${signal ?? code}: ${errors}`);
      });
      child = started;
      isRunning = true;
    },
    async kill() {
      isRunning = false;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    },
    stop() {
      child?.kill('SIGSTOP');
      isRunning = false;
    },
    continue() {
      child?.kill('SIGCONT');
      isRunning = true;
    },
  };
}

export interface Processes {
  readonly members: readonly Instance[];
  readonly servers: readonly Instance[];
}

export interface ProcessOptions {
  readonly program: string;
  readonly folder: string;
  readonly onExit: (problem: string) => void;
}

const COUNT = 3;

export async function makeProcesses(options: ProcessOptions): Promise<Processes> {
  const { program, folder } = options;
  const ports: number[] = [];
  for (let index = 0; index < COUNT * 3; index++) ports.push(await freePort());
  const url = (index: number) => `http://127.0.0.1:${ports[index]}`;
  const all = Array.from({ length: COUNT }, (_, index) => index);
  const peers = Object.fromEntries(all.map((index) => [`etcd-${index}`, url(index + COUNT)]));
  const members = Object.entries(peers).map(([name, peer], index) => {
    const member = { name, folder: join(folder, name), client: url(index), peer, members: peers };
    const words = [...etcdArguments(member), '--heartbeat-interval', '100', '--election-timeout', '500'];
    return instance({ name, port: ports[index] ?? 0 }, ['etcd', ...words], options);
  });
  const key = join(folder, 'service-accounts.key');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const servers = all.map((index) => {
    const port = ports[index + 2 * COUNT] ?? 0;
    const flags = ['--no-tls', '--token', TOKEN, '--port', String(port), '--service-account-signing-key-file', key];
    const words = [program, 'serve', ...flags, '--etcd-servers', all.map(url).join(',')];
    return instance({ name: `server-${index}`, port }, [process.execPath, ...words], options);
  });
  return { members, servers };
}
