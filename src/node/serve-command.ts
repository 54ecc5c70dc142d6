/**
 * `orchplane serve`: a cluster of its own, filled from files, served until a signal comes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Companion } from '../client/host.js';
import type { Cluster } from '../cluster.js';
import { createCluster } from '../full-cluster.js';
import { HELP, parseCommandLine, type ServedControllers, type ServeSettings, UsageError } from './command-line.js';
import { loadManifests } from './load-manifests.js';
import { readManifestFiles } from './manifest-files.js';
import { type ServedCluster, serve } from './serve.js';

/** What a command needs of the process it runs in. */
export interface Surroundings {
  readonly version: string;
  readonly stdin: NodeJS.ReadableStream;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Fulfilled when the command is to end. */
  readonly stop: Promise<void>;
}

/** Follows the command line and answers with the exit code: 0, or 2 with one line that says why not. */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { out, err, version } = surroundings;
  try {
    const command = parseCommandLine(words);
    if (command.type === 'help') out(HELP);
    else if (command.type === 'version') out(`${version}\n`);
    else await runServe(command.settings, surroundings);
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    err(`orchplane: ${error.message.replace(/^orchplane: /, '').replaceAll('\n', ' ')}\n`);
    return 2;
  }
}

async function runServe(settings: ServeSettings, surroundings: Surroundings): Promise<void> {
  const { featureGates, runtimeConfig, dialect } = settings;
  await using cluster = createCluster({
    dialect,
    featureGates,
    ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
    controllers: await controllersOf(settings.controllers),
  });
  const loaded = await loadData(cluster, settings.data, surroundings);
  await using folder = settings.kubeconfig === undefined ? await temporaryFolder() : undefined;
  // Whole, because it is printed for another terminal, which may be in another folder.
  const kubeconfig = resolve(settings.kubeconfig ?? join(folder?.path ?? '', 'kubeconfig'));
  const { port, host, tls, token, anonymous } = settings;
  await using served = await serve(cluster, {
    port,
    host,
    tls,
    token,
    anonymous,
    log: settings.log && ((line) => surroundings.out(`${line}\n`)),
    kubeconfig,
    onError: (error) =>
      surroundings.err(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`),
  }).catch((error: unknown) => {
    throw codeOf(error) === 'EADDRINUSE' ? new UsageError(`port ${port} is in use; --port 0 takes a free one`) : error;
  });
  surroundings.out(banner({ settings, served, kubeconfig, loaded, version: surroundings.version }));
  if (settings.anonymous && !isLoopback(settings.host)) {
    surroundings.err('orchplane: everybody who reaches this port is the administrator (--anonymous with --host)\n');
  }
  await surroundings.stop;
  surroundings.out('\nstopping: watches end, the port is free again\n');
}

/** Loaded only where they are wanted: they are a third of the program. */
async function controllersOf(which: ServedControllers): Promise<Companion | undefined> {
  if (which === 'none') return undefined;
  const { controllers, stages, standardControllers } = await import('../controllers/index.js');
  return controllers([...standardControllers(), ...(which === 'ready' ? [stages()] : [])]);
}

/** How many objects were made. All refusals are told; one is enough not to start. */
async function loadData(cluster: Cluster, names: readonly string[], { stdin, err }: Surroundings): Promise<number> {
  const texts = await readManifestFiles(names, stdin).catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT' && error instanceof Error && 'path' in error
      ? new UsageError(`--data ${error.path}: no such file or directory`)
      : error;
  });
  const loaded = await loadManifests(cluster, texts);
  const errors = loaded.flatMap((each) => (each.outcome === 'failed' ? [each.error] : []));
  const last = errors.pop();
  if (last !== undefined) {
    for (const { message } of errors) err(`orchplane: ${message.replaceAll('\n', ' ')}\n`);
    throw last;
  }
  for (const each of loaded) {
    if (each.outcome !== 'failed') for (const warning of each.warnings) err(`${each.place}: warning: ${warning}\n`);
  }
  return loaded.length;
}

/** What the operating system calls the error; undefined for any other. */
function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'orchplane-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function isLoopback(host: string | undefined): boolean {
  return host === undefined || host === 'localhost' || host === '::1' || host.startsWith('127.');
}

interface Started {
  readonly settings: ServeSettings;
  readonly served: ServedCluster;
  readonly kubeconfig: string;
  readonly loaded: number;
  readonly version: string;
}

function banner({ settings, served, kubeconfig, loaded, version }: Started): string {
  const { dialect, data, tls } = settings;
  const { url, token } = served;
  const facts: [string, string][] = [
    ['address', url],
    ['dialect', dialect],
    ['token', token ?? 'none is asked for'],
    ['kubeconfig', settings.kubeconfig === undefined ? `${kubeconfig} (until this process ends)` : kubeconfig],
  ];
  if (data.length > 0) facts.push(['loaded', `${loaded} object${loaded === 1 ? '' : 's'} from ${data.join(', ')}`]);
  const authorization = token === undefined ? '' : ` -H 'Authorization: Bearer ${token}'`;
  const curl = `curl ${tls ? '--insecure ' : ''}${authorization.trim()} ${url}/api/v1/namespaces`.replace(/ +/g, ' ');
  const kubectl =
    dialect === 'kubernetes' && (tls || token === undefined)
      ? [`export KUBECONFIG='${kubeconfig}'`, 'kubectl get namespaces', 'kubectl get configmaps --watch']
      : [`# kubectl needs ${dialect === 'orch' ? '--dialect kubernetes' : 'HTTPS to show a token, or --anonymous'}`];
  return [
    `orchplane ${version} serves a cluster from memory`,
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(11)} ${value}`),
    '',
    'Next, in another terminal:',
    '',
    ...[...kubectl, curl].map((line) => `  ${line}`),
    '',
    BEHIND[settings.controllers],
    'Ctrl-C ends it, and all that is in it.',
    '',
  ].join('\n');
}

/** What is to be expected of what stands behind the API. */
const BEHIND: Readonly<Record<ServedControllers, string>> = {
  none: 'Nothing runs behind the API (--controllers): pods stay Pending, deleted namespaces stay Terminating.',
  standard: 'Controllers run; pods stay Pending (--controllers ready makes them ready).',
  ready: 'Controllers run, and every pod becomes ready; nothing runs in it.',
};
