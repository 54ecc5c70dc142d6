/**
 * The command `orchplane serve`: creates a cluster, applies manifests and serves it until a signal arrives.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ControllerStarter } from '../../client/host.js';
import type { Cluster } from '../../cluster/cluster.js';
import { createCluster } from '../../cluster/full-cluster.js';
import type { ClusterOptions } from '../../cluster/options.js';
import type { CertificateSigningOptions } from '../../controllers/index.js';
import type { DialectName } from '../../meta/dialect.js';
import { memoryStorage, type StorageSettings } from '../../storage/memory-storage.js';
import { type DataFolder, openDataFolder } from '../data-folder.js';
import { guardHeap } from '../heap-guard.js';
import { loadHttpThread } from '../http-thread.js';
import { loadManifests } from '../manifests.js';
import { type ServedCluster, type ServeOptions, serveWith } from '../serve.js';
import type { SnapshotStart } from '../serve-snapshot.js';
import { readServerOptions } from '../server-options.js';
import type { OpenedSnapshot } from '../snapshot-flags.js';
import { type CommandEnvironment, defineCommand, UsageError } from './command.js';
import { readFiles } from './manifest-input.js';
import { counted } from './output.js';
import { readServeSettings, SERVE_OPTIONS, type ServedControllers, type ServeSettings } from './serve-settings.js';

export const command = defineCommand({
  usage: ['serve [options]'],
  summary: 'Serves a cluster until Ctrl-C.',
  options: SERVE_OPTIONS,
  async run(input, environment) {
    await runServe(readServeSettings(input), environment);
    return 0;
  },
});

/** All that concerns etcd is loaded on demand. */
async function openSnapshot(settings: OpenedSnapshot, dialect: DialectName): Promise<SnapshotStart> {
  const { startFromSnapshot } = await import('../serve-snapshot.js');
  return startFromSnapshot(settings, dialect);
}

async function openStorage({ etcd, maxHeap }: ServeSettings, warn: (text: string) => void): Promise<StorageSettings> {
  const historyBytes = maxHeap * HISTORY_SHARE;
  if (etcd === undefined) return memoryStorage({ historyBytes });
  const { openEtcd } = await import('../serve-etcd.js');
  return openEtcd(etcd, { historyBytes, warn });
}

/** Serves a cluster until a signal arrives, or while `whileServed` runs, which is called with the path of a kubeconfig. */
export async function runServe(
  settings: ServeSettings,
  environment: CommandEnvironment,
  whileServed?: (kubeconfig: string, stopped: Promise<NodeJS.Signals>) => Promise<void>,
): Promise<void> {
  const stopped = environment.untilStopped();
  const hasBanner = environment.hasBanner && whileServed === undefined;
  const { featureGates, runtimeConfig, dialect, tls, host, http2 } = settings;
  const warn = (text: string): void => environment.writeError(`orchplane: ${text}\n`);
  // It loads while this thread creates the cluster.
  await using thread = settings.httpThread ? loadHttpThread() : undefined;
  const data =
    settings.data === undefined
      ? undefined
      : await openDataFolder(settings.data, {
          tls,
          host: host ?? '127.0.0.1',
          token: settings.token,
          salvage: settings.salvage,
        });
  const credentials = data?.credentials;
  await using options = await readServerOptions(settings.flags, {
    host: host ?? '127.0.0.1',
    tls,
    accountKey: credentials?.accountKey,
    writeOut: environment.writeOut,
    warn,
  });
  const snapshot = settings.snapshot && (await openSnapshot(settings.snapshot, dialect));
  const clusterOptions: ClusterOptions = {
    dialect,
    ...(data === undefined ? {} : { journal: data.journal }),
    ...options.cluster,
    storage: await openStorage(settings, warn),
    featureGates,
    ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
    controllers: await loadControllers(settings, options.signing),
  };
  await using cluster = snapshot === undefined ? createCluster(clusterOptions) : snapshot.create(clusterOptions);
  using _attached = snapshot?.attach(cluster, warn);
  using _guard = guardHeap(cluster, { maxHeap: settings.maxHeap, warn });
  const loaded = await applyFiles(cluster, settings.manifests, environment);
  const chosen = settings.kubeconfig ?? data?.kubeconfig;
  // A busy disk can delay the start and the stop, so the folder is created only if it is used.
  await using folder = chosen === undefined && environment.hasBanner ? await temporaryFolder() : undefined;
  const file = chosen ?? (folder && join(folder.path, 'kubeconfig'));
  // Absolute, because it is printed for use in another terminal, which may be in another folder.
  const kubeconfig = file && resolve(file);
  const { anonymous } = settings;
  // The previous port, so that existing kubeconfigs keep working.
  const port = settings.port === 0 ? (credentials?.port ?? 0) : settings.port;
  const start = thread?.start ?? (await import('../http-server.js')).startClusterServer;
  const serveOptions: ServeOptions = {
    port,
    host,
    tls: tls ? (options.tls ?? credentials?.tls ?? true) : false,
    http2,
    clientCa: options.clientCa,
    requestHeader: options.requestHeader,
    showHiddenMetricsForVersion: options.showHiddenMetricsForVersion,
    token: anonymous ? undefined : (settings.token ?? credentials?.token),
    anonymous,
    log: settings.log && ((line) => environment.writeOut(`${line}\n`)),
    kubeconfig,
    onError: (error) =>
      environment.writeError(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`),
  };
  await using served = await serveWith(cluster, serveOptions, start).catch((error: unknown) => {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new UsageError(
      settings.port === port
        ? `port ${port} is in use; --port 0 takes a free one`
        : `port ${port}, where this cluster was before, is in use; --port takes another one`,
    );
  });
  await data?.saveCredentials(served.port);
  if (hasBanner && kubeconfig !== undefined) {
    environment.writeOut(banner({ settings, served, kubeconfig, loaded, data, version: environment.version }));
  }
  if (settings.anonymous && !isLoopback(settings.host)) {
    environment.writeError(
      'orchplane: every client that reaches this port is the administrator (--anonymous with --host)\n',
    );
  }
  if (whileServed === undefined) await stopped;
  else await whileServed(kubeconfig ?? '', stopped);
  if (hasBanner) environment.writeOut('\nstopping: watches end, the port is free again\n');
}

/** The part of the memory that old events may use. */
const HISTORY_SHARE = 1 / 8;

/** Loaded on demand: the controllers are a third of the program. */
async function loadControllers(
  { controllers: which, etcd }: ServeSettings,
  certificateSigning: CertificateSigningOptions,
): Promise<ControllerStarter | undefined> {
  if (which === 'none') return undefined;
  const { controllers, leaderElection, stages, standardControllers } = await import('../../controllers/index.js');
  const all = [...standardControllers({ certificateSigning }), ...(which === 'ready' ? [stages()] : [])];
  // One of the processes that share a cluster runs them.
  return controllers(
    all,
    etcd === undefined ? {} : { leaderElection: leaderElection({ name: 'kube-controller-manager' }) },
  );
}

/** Applies the files and returns the number of objects. Prints all errors; a single one prevents the start. */
async function applyFiles(
  cluster: Cluster,
  names: readonly string[],
  { stdin, writeError }: CommandEnvironment,
): Promise<number> {
  const texts = await readFiles('--apply', names, stdin);
  const loaded = await loadManifests(cluster, texts);
  const errors = loaded.flatMap((each) => (each.outcome === 'failed' ? [each.error] : []));
  const last = errors.pop();
  if (last !== undefined) {
    for (const { message } of errors) writeError(`orchplane: ${message.replaceAll('\n', ' ')}\n`);
    throw last;
  }
  for (const each of loaded) {
    if (each.outcome !== 'failed')
      for (const warning of each.warnings) writeError(`${each.place}: warning: ${warning}\n`);
  }
  return loaded.length;
}

/** The system error code, such as ENOENT; undefined for other errors. */
function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'orchplane-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function isLoopback(host: string | undefined): boolean {
  return host === undefined || host === 'localhost' || host === '::1' || host.startsWith('127.');
}

interface ServeSummary {
  readonly settings: ServeSettings;
  readonly served: ServedCluster;
  readonly kubeconfig: string;
  readonly loaded: number;
  readonly data: DataFolder | undefined;
  readonly version: string;
}

function banner({ settings, served, kubeconfig, loaded, data, version }: ServeSummary): string {
  const { dialect, manifests, tls, snapshot } = settings;
  const { url, token } = served;
  const facts: [string, string][] = [
    ['address', url],
    ['dialect', dialect],
    ['token', token ?? 'none is required'],
    [
      'kubeconfig',
      (settings.kubeconfig ?? data) === undefined ? `${kubeconfig} (until this process ends)` : kubeconfig,
    ],
  ];
  if (data !== undefined) facts.push(['data', data.path]);
  if (snapshot !== undefined) facts.push(['snapshot', `${snapshot.file}${snapshot.isWritable ? '' : ' (read-only)'}`]);
  if (manifests.length > 0) {
    facts.push(['loaded', `${counted(loaded, 'object')} from ${manifests.join(', ')}`]);
  }
  const authorization = token === undefined ? '' : ` -H 'Authorization: Bearer ${token}'`;
  const curl = `curl ${tls ? '--insecure ' : ''}${authorization.trim()} ${url}/api/v1/namespaces`.replace(/ +/g, ' ');
  const kubectl =
    dialect === 'kubernetes' && (tls || token === undefined)
      ? [`export KUBECONFIG='${kubeconfig}'`, 'kubectl get namespaces', 'kubectl get configmaps --watch']
      : [`# kubectl needs ${dialect === 'orch' ? '--dialect kubernetes' : 'HTTPS to send a token, or --anonymous'}`];
  return [
    `orchplane ${version} serves a cluster from ${originOf(settings)}`,
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(11)} ${value}`),
    '',
    'Next, in another terminal:',
    '',
    ...[...kubectl, curl].map((line) => `  ${line}`),
    '',
    CONTROLLER_NOTES[settings.controllers],
    data === undefined && settings.etcd === undefined
      ? 'Ctrl-C ends it, and all that is in it.'
      : `Ctrl-C ends it; ${data === undefined ? 'etcd' : 'the folder'} keeps all that is in it.`,
    '',
  ].join('\n');
}

function originOf({ data, snapshot, etcd }: ServeSettings): string {
  if (etcd !== undefined) return 'etcd';
  if (snapshot !== undefined) return 'an etcd snapshot';
  return data === undefined ? 'memory' : 'a folder';
}

/** The note in the banner about what the controllers do. */
const CONTROLLER_NOTES: Readonly<Record<ServedControllers, string>> = {
  none: 'Nothing runs behind the API (--controllers): pods stay Pending, deleted namespaces stay Terminating.',
  standard: 'Controllers run; pods stay Pending (--controllers ready makes them ready).',
  ready: 'Controllers run, and every pod becomes ready; nothing runs in it.',
};
