#!/usr/bin/env node
/**
 * The command `orchplane`. It is a program and exports nothing.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import type { Companion } from '../client/host.js';
import type { Cluster } from '../cluster/cluster.js';
import { createCluster } from '../cluster/full-cluster.js';
import { HELP, parseCommandLine, type ServedControllers, type ServeSettings, UsageError } from './command-line.js';
import { type DataFolder, openDataFolder } from './data-folder.js';
import { loadManifests, readManifestFiles } from './manifests.js';
import { type ServedCluster, serve } from './serve.js';

/** What is to be expected of what stands behind the API. */
const BEHIND: Readonly<Record<ServedControllers, string>> = {
  none: 'Nothing runs behind the API (--controllers): pods stay Pending, deleted namespaces stay Terminating.',
  standard: 'Controllers run; pods stay Pending (--controllers ready makes them ready).',
  ready: 'Controllers run, and every pod becomes ready; nothing runs in it.',
};

// Two folders up both from here and from the built file.
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const stop = new Promise<void>((resolve) => {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    // Whoever asks twice does not want to wait.
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    resolve();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
});

// Whoever read along may stop reading (`… | head`): the cluster is served all the same.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  version: manifest.version,
  stdin: process.stdin,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  stop,
});

/** What a command needs of the process it runs in. */
interface Surroundings {
  readonly version: string;
  readonly stdin: NodeJS.ReadableStream;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Fulfilled when the command is to end. */
  readonly stop: Promise<void>;
}

/** Follows the command line and answers with the exit code: 0, or 2 with one line that says why not. */
async function run(words: readonly string[], surroundings: Surroundings): Promise<number> {
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
  const { featureGates, runtimeConfig, dialect, tls, host } = settings;
  const data =
    settings.data === undefined
      ? undefined
      : await openDataFolder(settings.data, { tls, host: host ?? '127.0.0.1', token: settings.token });
  const kept = data?.credentials;
  await using cluster = createCluster({
    dialect,
    ...(data === undefined ? {} : { journal: data.journal }),
    ...(kept === undefined ? {} : { authentication: { serviceAccounts: { key: kept.accountKey } } }),
    featureGates,
    ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
    controllers: await controllersOf(settings.controllers),
  });
  const loaded = await loadFiles(cluster, settings.manifests, surroundings);
  const chosen = settings.kubeconfig ?? data?.kubeconfig;
  await using folder = chosen === undefined ? await temporaryFolder() : undefined;
  // Whole, because it is printed for another terminal, which may be in another folder.
  const kubeconfig = resolve(chosen ?? join(folder?.path ?? '', 'kubeconfig'));
  const { anonymous } = settings;
  // Where it was before, so that who knows it finds it again.
  const port = settings.port === 0 ? (kept?.port ?? 0) : settings.port;
  await using served = await serve(cluster, {
    port,
    host,
    tls: tls ? (kept?.tls ?? true) : false,
    token: anonymous ? undefined : (settings.token ?? kept?.token),
    anonymous,
    log: settings.log && ((line) => surroundings.out(`${line}\n`)),
    kubeconfig,
    onError: (error) =>
      surroundings.err(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`),
  }).catch((error: unknown) => {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new UsageError(
      settings.port === port
        ? `port ${port} is in use; --port 0 takes a free one`
        : `port ${port}, where this cluster was before, is in use; --port takes another one`,
    );
  });
  await data?.keep(served.port);
  surroundings.out(banner({ settings, served, kubeconfig, loaded, data, version: surroundings.version }));
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
async function loadFiles(cluster: Cluster, names: readonly string[], { stdin, err }: Surroundings): Promise<number> {
  const texts = await readManifestFiles(names, stdin).catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT' && error instanceof Error && 'path' in error
      ? new UsageError(`--apply ${error.path}: no such file or directory`)
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
  readonly data: DataFolder | undefined;
  readonly version: string;
}

function banner({ settings, served, kubeconfig, loaded, data, version }: Started): string {
  const { dialect, manifests, tls } = settings;
  const { url, token } = served;
  const facts: [string, string][] = [
    ['address', url],
    ['dialect', dialect],
    ['token', token ?? 'none is asked for'],
    [
      'kubeconfig',
      (settings.kubeconfig ?? data) === undefined ? `${kubeconfig} (until this process ends)` : kubeconfig,
    ],
  ];
  if (data !== undefined) facts.push(['data', data.path]);
  if (manifests.length > 0) {
    facts.push(['loaded', `${loaded} object${loaded === 1 ? '' : 's'} from ${manifests.join(', ')}`]);
  }
  const authorization = token === undefined ? '' : ` -H 'Authorization: Bearer ${token}'`;
  const curl = `curl ${tls ? '--insecure ' : ''}${authorization.trim()} ${url}/api/v1/namespaces`.replace(/ +/g, ' ');
  const kubectl =
    dialect === 'kubernetes' && (tls || token === undefined)
      ? [`export KUBECONFIG='${kubeconfig}'`, 'kubectl get namespaces', 'kubectl get configmaps --watch']
      : [`# kubectl needs ${dialect === 'orch' ? '--dialect kubernetes' : 'HTTPS to show a token, or --anonymous'}`];
  return [
    `orchplane ${version} serves a cluster from ${data === undefined ? 'memory' : 'a folder'}`,
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(11)} ${value}`),
    '',
    'Next, in another terminal:',
    '',
    ...[...kubectl, curl].map((line) => `  ${line}`),
    '',
    BEHIND[settings.controllers],
    data === undefined
      ? 'Ctrl-C ends it, and all that is in it.'
      : 'Ctrl-C ends it; the folder keeps all that is in it.',
    '',
  ].join('\n');
}
