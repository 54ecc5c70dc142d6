/**
 * The API server that envtest starts in the place of kube-apiserver. As the real one, it runs no controllers: deleted
 * namespaces stay Terminating, and nothing is garbage collected.
 */
import { createPrivateKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defaultAdmission, inReferenceOrder } from '../../admission/plugins/default-plugins.js';
import type { AdmissionPlugin } from '../../admission/types.js';
import { allowAll } from '../../auth/authorizer.js';
import type { Cluster } from '../../cluster/cluster.js';
import { createCluster } from '../../cluster/full-cluster.js';
import { UsageError } from '../command-line.js';
import { certificateForHost, type ServedCluster, serve, type TlsFiles } from '../serve.js';
import { type ApiServerSettings, readApiServerFlags, readTokenFile } from './flags.js';

/** A running API server. */
export interface EnvtestApiServer extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly served: ServedCluster;
}

/** Starts an API server with the command line of kube-apiserver. `write` gets warnings and the request log. */
export async function startApiServer(
  args: readonly string[],
  write: (line: string) => void,
): Promise<EnvtestApiServer> {
  const settings = readApiServerFlags(args);
  for (const name of settings.ignored) write(`warning: the flag --${name} is ignored`);
  const cluster = createCluster({
    dialect: 'kubernetes',
    admission: await pluginsOf(settings),
    featureGates: settings.featureGates,
    runtimeConfig: settings.runtimeConfig,
    ...(settings.allowsAll ? { authorizer: allowAll() } : {}),
    authentication: { serviceAccounts: await accountTokensOf(settings) },
    onWarning: write,
  });
  const tls = await certificateOf(settings);
  const { clientCaFile, tokenFile, host, port, logsRequests } = settings;
  const served = await serve(cluster, {
    host,
    port,
    tls,
    tokens: tokenFile === undefined ? {} : readTokenFile(await readFile(tokenFile, 'utf8')),
    ...(clientCaFile === undefined ? {} : { clientCa: await readFile(clientCaFile, 'utf8') }),
    ...(logsRequests ? { log: write } : {}),
    onError: (error) => write(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
  const close = async (): Promise<void> => {
    await served.close();
    await cluster.close();
  };
  return { cluster, served, [Symbol.asyncDispose]: close };
}

/** The defaults of the reference server, which include ServiceAccount, and what the flags add and remove. */
async function pluginsOf({ enabledPlugins, disabledPlugins }: ApiServerSettings): Promise<readonly AdmissionPlugin[]> {
  const known = new Map<string, AdmissionPlugin>();
  for (const value of Object.values(await import('../../admission/index.js'))) {
    if (typeof value === 'object' && 'isBuiltIn' in value) known.set(value.name, value);
  }
  for (const plugin of defaultAdmission) known.set(plugin.name, plugin);
  const find = (flag: string, name: string): AdmissionPlugin => {
    const plugin = known.get(name);
    if (plugin === undefined) throw new UsageError(`--${flag}: the plugin "${name}" is unknown`);
    return plugin;
  };
  const disabled = disabledPlugins.map((name) => find('disable-admission-plugins', name));
  const enabled = ['ServiceAccount', ...enabledPlugins].map((name) => find('enable-admission-plugins', name));
  const chosen = new Set([...defaultAdmission, ...enabled]);
  return inReferenceOrder([...chosen].filter((plugin) => !disabled.includes(plugin)));
}

async function accountTokensOf({ signingKeyFile, issuer, audiences }: ApiServerSettings) {
  const key =
    signingKeyFile === undefined
      ? undefined
      : createPrivateKey(await readFile(signingKeyFile)).export({ format: 'jwk' });
  return {
    ...(key === undefined ? {} : { key }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(audiences.length === 0 ? {} : { audiences }),
  };
}

/** Reads the serving certificate, or generates one and writes it to the files, as the reference server does. */
async function certificateOf({ certFile, keyFile, host }: ApiServerSettings): Promise<TlsFiles> {
  if (existsSync(certFile)) return { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') };
  const { cert, key, ca } = await certificateForHost(host);
  await mkdir(dirname(certFile), { recursive: true });
  // Clients read the CA from the same file.
  await writeFile(certFile, `${cert}${ca}`);
  await mkdir(dirname(keyFile), { recursive: true });
  await writeFile(keyFile, key, { mode: 0o600 });
  return { cert: `${cert}${ca}`, key, ca };
}
