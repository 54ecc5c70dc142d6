/**
 * The options of `orchplane serve` and what they mean.
 */
import type { FeatureGateSettings } from '../../kinds/feature-gates.js';
import type { DialectName } from '../../meta/dialect.js';
import { Quantity } from '../../meta/quantity.js';
import { ETCD_FLAGS, type EtcdSettings, readEtcdSettings } from '../etcd-flags.js';
import { heapSizeLimit } from '../heap-guard.js';
import { CONTROLLER_FLAGS, readServerFlags, SERVER_FLAGS, type ServerFlags } from '../server-flags.js';
import { type OpenedSnapshot, readOpenedSnapshot, SNAPSHOT_FLAGS } from '../snapshot-flags.js';
import { type CommandInput, type CommandOptions, readHost, readPort, UsageError } from './command.js';

/** The settings of `orchplane serve`. */
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

/** Which APIs a cluster serves. */
export const SERVED_API_FLAGS = {
  'feature-gates': { type: 'string', multiple: true, value: 'LIST', help: 'A=true,B=false' },
  'runtime-config': { type: 'string', multiple: true, value: 'LIST', help: 'api/all=true, GROUP/VERSION=true' },
} as const satisfies CommandOptions;

/** Throws UsageError. */
export function readServedApis(values: CommandInput<typeof SERVED_API_FLAGS>['values']) {
  return {
    featureGates: readGates((values['feature-gates'] ?? []).join(',')),
    runtimeConfig: values['runtime-config']?.join(','),
  };
}

/** The options of `orchplane serve`. */
export const SERVE_OPTIONS = {
  port: { type: 'string', value: 'N', help: 'the port; default: any free port' },
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'the address to listen on; default: 127.0.0.1, which only this machine can reach',
  },
  dialect: {
    type: 'string',
    choices: ['kubernetes', 'orch'],
    help: 'the names of groups and labels; default: kubernetes, for kubectl and client libraries',
  },
  data: {
    type: 'string',
    multiple: true,
    value: 'DIR',
    help: 'keep the cluster in this folder: objects, versions, certificate, tokens and kubeconfigs survive a restart; default: in memory only',
  },
  salvage: { type: 'boolean', help: 'open a damaged folder with what is intact' },
  apply: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: 'manifests to apply first: a file, a folder, or - for standard input; may be repeated',
  },
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    writes: 'file',
    help: 'where to write the kubeconfig; default: a temporary file',
  },
  'no-tls': { type: 'boolean', help: 'plain HTTP; kubectl then sends no token, so --anonymous is needed too' },
  tls: { type: 'boolean', help: 'HTTPS with a generated certificate (the default)' },
  token: { type: 'string', value: 'TOKEN', help: 'the bearer token of the administrator; default: a random one' },
  anonymous: { type: 'boolean', help: 'require no token' },
  controllers: {
    type: 'string',
    choices: ['none', 'standard', 'ready'],
    help: 'none (the default); standard: all controllers; ready: also make every pod ready',
  },
  'max-heap': {
    type: 'string',
    value: 'SIZE',
    help: 'the memory for objects and their history (512Mi); default: what Node allows on this machine. When it is nearly used up, writes are refused until objects are deleted',
  },
  log: { type: 'boolean', help: 'log every request' },
  http2: { type: 'boolean', help: 'let clients choose HTTP/2, for pages with many watches; read SECURITY.md first' },
  'no-http-thread': {
    type: 'boolean',
    help: 'one thread for HTTP and the cluster: health checks then wait for long requests',
  },
  ...SERVED_API_FLAGS,
  ...SNAPSHOT_FLAGS,
  ...ETCD_FLAGS,
  ...SERVER_FLAGS,
  ...CONTROLLER_FLAGS,
} as const satisfies CommandOptions;

/** Throws UsageError. */
export function readServeSettings({ values, positionals: rest }: CommandInput<typeof SERVE_OPTIONS>): ServeSettings {
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
  const controllers = values.controllers ?? 'none';
  if (controllers === 'none' && flags.signing !== undefined) {
    throw new UsageError('flags that begin with --cluster-signing- need --controllers standard or ready');
  }
  return {
    port: readPort(values.port ?? '0'),
    host: readHost(values.host),
    dialect: values.dialect ?? 'kubernetes',
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
    ...readServedApis(values),
    flags,
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

function readDataFolder(text: string | undefined): string | undefined {
  if (text !== '' && text !== '-') return text;
  throw new UsageError('--data takes a folder, which stores the cluster; manifests are given with --apply');
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
