/**
 * Parses the command line of `orchplane`.
 */

import { parseArgs } from 'node:util';
import type { FeatureGateSettings } from '../kinds/feature-gates.js';
import type { DialectName } from '../meta/dialect.js';
import { Quantity } from '../meta/quantity.js';
import { ETCD_FLAGS, type EtcdSettings, readEtcdSettings } from './etcd-flags.js';
import { heapSizeLimit } from './heap-guard.js';
import {
  CONTROLLER_FLAGS,
  readServerFlags,
  SERVER_FLAGS,
  type ServerFlags,
  UsageError,
  withBooleanValues,
} from './server-flags.js';
import {
  type OpenedSnapshot,
  readDialect,
  readOpenedSnapshot,
  readSnapshotSettings,
  SNAPSHOT_FLAGS,
  type SnapshotSettings,
} from './snapshot-flags.js';

/** A parsed command line. */
export type Command =
  | { readonly type: 'help' }
  | { readonly type: 'version' }
  | { readonly type: 'envtest'; readonly folder: string }
  | { readonly type: 'snapshot'; readonly settings: SnapshotSettings }
  | { readonly type: 'serve'; readonly settings: ServeSettings };

/** The options of `orchplane serve`. */
export interface ServeSettings {
  readonly port: number;
  readonly host: string | undefined;
  readonly dialect: DialectName;
  /** The folder that stores the cluster; absent: in memory only. */
  readonly data: string | undefined;
  /** Opens a damaged folder with the intact data. */
  readonly salvage: boolean;
  /** The etcd snapshot that the cluster starts from. */
  readonly snapshot: OpenedSnapshot | undefined;
  /** The etcd that stores the cluster. */
  readonly etcd: EtcdSettings | undefined;
  /** Files, folders, or `-` for standard input. */
  readonly manifests: readonly string[];
  readonly kubeconfig: string | undefined;
  readonly tls: boolean;
  readonly token: string | undefined;
  readonly anonymous: boolean;
  readonly log: boolean;
  /** Whether the HTTP server has a thread of its own. */
  readonly httpThread: boolean;
  /** Whether clients may choose HTTP/2. */
  readonly http2: boolean;
  /** The bytes that the heap may use. */
  readonly maxHeap: number;
  readonly featureGates: FeatureGateSettings;
  readonly runtimeConfig: string | undefined;
  readonly controllers: ServedControllers;
  /** Flags with the names of the reference server's. */
  readonly flags: ServerFlags;
}

/** `standard`: all controllers. `ready`: these, and a simulated kubelet that makes pods ready. */
export type ServedControllers = 'none' | 'standard' | 'ready';

export { UsageError } from './server-flags.js';

export const HELP = `orchplane: a cluster control plane in one process

Usage
  orchplane serve [options]     serve a cluster until Ctrl-C
  orchplane snapshot [options]  write a cluster as an etcd snapshot, for a real kube-apiserver
  orchplane envtest DIR         write kube-apiserver, etcd and kubectl for KUBEBUILDER_ASSETS (Go test suites)
  orchplane --help | --version

Options of serve
  --port N               the port; default: any free port
  --host H               the address to listen on; default: 127.0.0.1, which only this machine can reach
  --dialect NAME         kubernetes (for kubectl and client libraries; the default here) or orch
  --data DIR             keep the cluster in this folder: objects, versions, certificate, tokens and kubeconfigs
                         survive a restart; default: in memory only
  --salvage              open a damaged folder with what is intact
  --etcd-snapshot FILE   start from what "etcdctl snapshot save" wrote on a real cluster; read-only
  --writable             allow changes to it, in memory; the file stays as it is
  --snapshot-skip LIST   leave out objects that cannot be served: unserved (their kind is not served; see
                         --runtime-config), encrypted (by the server that stored them)
  --skip-hash-check      open a file without a hash, such as member/snap/db of a stopped etcd
  --etcd-prefix PREFIX   where kube-apiserver keeps its objects; default: /registry
  --apply FILE           manifests to apply first: a file, a folder, or - for standard input; may be repeated
  --kubeconfig FILE      where to write the kubeconfig; default: a temporary file
  --no-tls               plain HTTP; kubectl then sends no token, so --anonymous is needed too
  --tls                  HTTPS with a generated certificate (the default)
  --token T              the bearer token of the administrator; default: a random one
  --anonymous            require no token
  --controllers WHICH    none (the default); standard: all controllers; ready: also make every pod ready
  --max-heap SIZE        the memory for objects and their history (512Mi); default: what Node allows on this machine.
                         When it is nearly used up, writes are refused until objects are deleted
  --log                  log every request
  --http2                let clients choose HTTP/2, for pages with many watches; read SECURITY.md first
  --no-http-thread       one thread for HTTP and the cluster: health checks then wait for long requests
  --feature-gates LIST   A=true,B=false
  --runtime-config LIST  api/all=true, GROUP/VERSION=true, …

Options of snapshot
  -o, --output FILE      the file to write
  --kubeconfig FILE      read a running cluster through its API, at one version
  --data DIR             read the folder of a cluster that is not being served
  --dialect NAME         the dialect of the running cluster: kubernetes (the default) or orch
  --etcd-prefix PREFIX   where kube-apiserver keeps its objects; default: /registry

Flags of serve that kube-apiserver has, too. Lists are separated by commas, flags with lists may be repeated.
  --etcd-servers LIST                    keep the cluster in etcd, where several processes can share it
  --etcd-cafile FILE, --etcd-certfile FILE, --etcd-keyfile FILE   the authority of etcd, and a client certificate
  --etcd-username NAME, --etcd-password-file FILE   a user of etcd (kube-apiserver has only certificates)
  --tls-cert-file FILE, --tls-private-key-file FILE   the certificate of the server and its key
  --cert-dir DIR                         where a generated certificate is kept: apiserver.crt, apiserver.key
  --client-ca-file FILE                  the authorities of client certificates, which name users
  --token-auth-file FILE                 tokens: a line TOKEN,USER,UID,"GROUP1,GROUP2" for each
  --anonymous-auth=false                 reject requests without credentials with 401
  --service-account-issuer URL           the issuer of service account tokens; further ones are accepted
  --service-account-signing-key-file FILE, --service-account-key-file FILE
                                         the private key that signs them, and the keys that verify them
  --oidc-issuer-url URL, --oidc-client-id ID, --oidc-ca-file FILE, --oidc-username-claim CLAIM,
  --oidc-username-prefix TEXT, --oidc-groups-claim CLAIM, --oidc-groups-prefix TEXT,
  --oidc-required-claim CLAIM=VALUE, --oidc-signing-algs LIST
                                         users of an OpenID provider
  --requestheader-client-ca-file FILE, --requestheader-allowed-names LIST,
  --requestheader-username-headers LIST, --requestheader-uid-headers LIST,
  --requestheader-group-headers LIST, --requestheader-extra-headers-prefix LIST
                                         users that a proxy names in headers
  --authentication-token-webhook-config-file FILE, --authentication-token-webhook-cache-ttl DURATION,
  --authentication-token-webhook-version VERSION
                                         users that a webhook knows
  --authorization-mode LIST              AlwaysAllow, AlwaysDeny, Node, RBAC; default: RBAC
  --enable-admission-plugins LIST, --disable-admission-plugins LIST, --admission-control-config-file FILE
  --service-cluster-ip-range LIST        the range of cluster IPs; two of different families: dual stack
  --allow-privileged=false               reject pods with privileged containers
  --audit-policy-file FILE, --audit-log-path FILE     record requests; - is standard output
  --show-hidden-metrics-for-version VERSION           the previous release: print metrics that are hidden since then

Flags of serve that kube-controller-manager has, too. They need --controllers.
  --cluster-signing-cert-file FILE, --cluster-signing-key-file FILE
                                         the authority that signs CertificateSigningRequests; default: a generated one
  --cluster-signing-duration DURATION    the longest validity of a signed certificate; default: 8760h
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  port: { type: 'string' },
  host: { type: 'string' },
  dialect: { type: 'string' },
  data: { type: 'string', multiple: true },
  salvage: { type: 'boolean' },
  apply: { type: 'string', multiple: true },
  kubeconfig: { type: 'string' },
  tls: { type: 'boolean' },
  'no-tls': { type: 'boolean' },
  token: { type: 'string' },
  anonymous: { type: 'boolean' },
  log: { type: 'boolean' },
  'no-http-thread': { type: 'boolean' },
  http2: { type: 'boolean' },
  controllers: { type: 'string' },
  'max-heap': { type: 'string' },
  'feature-gates': { type: 'string', multiple: true },
  'runtime-config': { type: 'string', multiple: true },
  ...SNAPSHOT_FLAGS,
  ...ETCD_FLAGS,
  ...SERVER_FLAGS,
  ...CONTROLLER_FLAGS,
} as const;

/** Throws UsageError. */
export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parseArguments(args);
  if (values.help === true) return { type: 'help' };
  if (values.version === true) return { type: 'version' };
  const [command, ...rest] = positionals;
  if (command === undefined)
    throw new UsageError('a command is missing; use "orchplane serve", or see "orchplane --help"');
  if (command === 'envtest') return { type: 'envtest', folder: readEnvtestFolder(rest, values) };
  if (command === 'snapshot') return { type: 'snapshot', settings: readSnapshotSettings(rest, values) };
  if (command !== 'serve') throw unknownCommandError(command);
  // A shell expands `--apply *.yaml` to one option value and further arguments.
  if (rest.length > 0 && values.apply === undefined) {
    throw new UsageError(`unexpected "${rest[0]}"; manifests are given with --apply`);
  }
  if ((values.data?.length ?? 0) > 1) {
    throw new UsageError('--data takes one folder, which stores the cluster; manifests are given with --apply');
  }
  if (values.salvage === true && values.data === undefined) throw new UsageError('--salvage needs --data');
  if (values.tls === true && values['no-tls'] === true)
    throw new UsageError('--tls and --no-tls contradict each other');
  if (values.token !== undefined && values.anonymous === true) {
    throw new UsageError('--token and --anonymous contradict each other');
  }
  if (values.token !== undefined && !/^[\x21-\x7e]+$/.test(values.token)) {
    throw new UsageError('--token takes printable characters without spaces');
  }
  const flags = readServerFlags(values);
  if (values.anonymous === true) refuseCredentials(flags);
  const controllers = readControllers(values.controllers ?? 'none');
  if (controllers === 'none' && flags.signing !== undefined) {
    throw new UsageError('flags that begin with --cluster-signing- need --controllers standard or ready');
  }
  return {
    type: 'serve',
    settings: {
      port: readPort(values.port ?? '0'),
      host: values.host,
      dialect: readDialect(values.dialect ?? 'kubernetes'),
      data: readDataFolder(values.data?.[0]),
      salvage: values.salvage === true,
      snapshot: readOpenedSnapshot(values),
      etcd: readEtcdSettings(values),
      manifests: [...(values.apply ?? []), ...rest],
      kubeconfig: values.kubeconfig,
      tls: values['no-tls'] !== true,
      token: values.token,
      anonymous: values.anonymous === true,
      log: values.log === true,
      httpThread: values['no-http-thread'] !== true,
      http2: values.http2 === true,
      maxHeap: readMaxHeap(values['max-heap']),
      controllers,
      featureGates: readGates((values['feature-gates'] ?? []).join(',')),
      runtimeConfig: values['runtime-config']?.join(','),
      flags,
    },
  };
}

/** The least heap in which a server with controllers starts. */
const MIN_HEAP = 64 * 1024 * 1024;

function readMaxHeap(text: string | undefined): number {
  const limit = heapSizeLimit();
  if (text === undefined) return limit;
  const parsed = Quantity.tryParse(text);
  const size = parsed.ok ? Number(parsed.quantity.value()) : Number.NaN;
  if (!(size >= MIN_HEAP))
    throw new UsageError(`--max-heap takes a size of at least 64Mi in bytes or with Ki, Mi, Gi or M, G; not "${text}"`);
  if (size <= limit) return size;
  const megabytes = Math.ceil(size / (1024 * 1024));
  throw new UsageError(
    `--max-heap ${text} is more than Node allows this process; set NODE_OPTIONS=--max-old-space-size=${megabytes}`,
  );
}

/** With --anonymous every client is the administrator, so other users would have no effect. */
function refuseCredentials(flags: ServerFlags): void {
  const { tokenAuthFile, clientCaFile, oidc, tokenWebhook, requestHeader, anonymousAuth } = flags;
  const users = [
    [clientCaFile, '--client-ca-file'],
    [tokenAuthFile, '--token-auth-file'],
    [oidc, '--oidc-issuer-url'],
    [tokenWebhook, '--authentication-token-webhook-config-file'],
    [requestHeader, '--requestheader-client-ca-file'],
    [anonymousAuth === false ? false : undefined, '--anonymous-auth=false'],
  ] as const;
  const given = users.find(([value]) => value !== undefined);
  if (given !== undefined) throw new UsageError(`--anonymous and ${given[1]} contradict each other`);
}

function parseArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: withBooleanValues(args), options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    // Keep only the first sentence; the rest explains how to pass arguments that begin with a dash.
    if (!(error instanceof TypeError)) throw error;
    // The options of another command are unknown, too: kubectl has `apply -f`.
    const [command = '-'] = args;
    if (!command.startsWith('-') && !COMMANDS.includes(command)) throw unknownCommandError(command);
    throw new UsageError(`${error.message.split(/\. |\n/, 1)[0]}; see "orchplane --help"`);
  }
}

const COMMANDS: readonly string[] = ['serve', 'envtest', 'snapshot'];

function unknownCommandError(command: string): UsageError {
  return new UsageError(`unknown command "${command}"; see "orchplane --help"`);
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port takes a number from 0 to 65535, got "${text}"`);
}

function readEnvtestFolder(rest: readonly string[], values: Readonly<Record<string, unknown>>): string {
  const [folder, ...others] = rest;
  const [option] = Object.keys(values);
  if (option !== undefined) throw new UsageError(`envtest takes no options, got --${option}`);
  if (folder === undefined || folder === '' || others.length > 0) throw new UsageError('envtest takes one folder');
  return folder;
}

function readDataFolder(text: string | undefined): string | undefined {
  if (text !== '' && text !== '-') return text;
  throw new UsageError('--data takes a folder, which stores the cluster; manifests are given with --apply');
}

function readControllers(text: string): ServedControllers {
  if (text === 'none' || text === 'standard' || text === 'ready') return text;
  throw new UsageError(`--controllers takes none, standard or ready, got "${text}"`);
}

function readGates(text: string): FeatureGateSettings {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', value = ''] = entry.trim().split('=');
      if (!/^(true|false)$/i.test(value))
        throw new UsageError(`--feature-gates takes NAME=true or NAME=false, got "${entry}"`);
      return [name, value.toLowerCase() === 'true'];
    }),
  );
}
