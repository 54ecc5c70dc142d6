/**
 * The commands behind the programs of `assets.ts`. As the real kube-apiserver, the API server runs no controllers: deleted
 * namespaces stay Terminating, and nothing is garbage collected.
 */
import process from 'node:process';
import { ETCD_COMMAND } from './assets.js';
import { parseFlags, serveArguments } from './flags.js';

/** Runs the API server or etcd with the arguments that envtest gave; the first one is the command. */
export async function runEnvtestProgram([command, ...args]: readonly string[], version: string): Promise<void> {
  if (parseFlags(args).has('version')) {
    process.stdout.write(await versionText(command));
    return;
  }
  // Both are loaded on demand: etcd should start fast, and the API server is large.
  if (command === ETCD_COMMAND) {
    const { startEtcd } = await import('./etcd.js');
    const stop = await startEtcd(args);
    process.once('SIGTERM', stop).once('SIGINT', stop);
    return;
  }
  const translated = serveArguments(args);
  for (const name of translated.ignored) process.stderr.write(`orchplane: the flag --${name} is ignored\n`);
  const { main } = await import('../run-command.js');
  await main(version, translated.args, { hasBanner: false });
}

/** What the real program prints first. */
async function versionText(command: string | undefined): Promise<string> {
  if (command === ETCD_COMMAND) return `etcd Version: ${(await import('./etcd.js')).ETCD_VERSION}\n`;
  return `Kubernetes v${(await import('../../kinds/lifecycle.js')).REFERENCE_RELEASE}.0\n`;
}
