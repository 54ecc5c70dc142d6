/**
 * The commands behind the programs of `assets.ts`: each runs until a signal arrives.
 */
import process from 'node:process';
import { ETCD_COMMAND } from './assets.js';

/** Runs the API server or etcd with the arguments that envtest gave; the first one is the command. */
export async function runEnvtestProgram([command, ...args]: readonly string[]): Promise<void> {
  const stopping = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve);
  });
  try {
    const stop = command === ETCD_COMMAND ? await startEtcd(args) : await startApiServer(args);
    await stopping;
    await stop();
    process.exitCode = 0;
  } catch (error) {
    process.stderr.write(`${command}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

async function startEtcd(args: readonly string[]): Promise<() => void> {
  // Each is loaded on demand: the API server is large.
  const etcd = await import('./etcd.js');
  return etcd.startEtcd(args);
}

async function startApiServer(args: readonly string[]): Promise<() => Promise<void>> {
  const { startApiServer: start } = await import('./api-server.js');
  const server = await start(args, (line) => process.stderr.write(`${line}\n`));
  return () => server[Symbol.asyncDispose]();
}
