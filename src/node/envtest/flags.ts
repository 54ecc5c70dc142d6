/**
 * Parses the command lines of kube-apiserver and etcd, as envtest writes them. Upstream: controller-runtime
 * pkg/internal/testing/controlplane.
 */
import { UsageError } from '../command-line.js';

/** The flags of a command line: all values of each name, in order. */
export type Flags = ReadonlyMap<string, readonly string[]>;

/** `--name=value`, `--name value` or `--name`, which means `true`. A name may have one dash. */
export function parseFlags(args: readonly string[]): Flags {
  const flags = new Map<string, string[]>();
  for (let at = 0; at < args.length; at++) {
    const [, name, attached] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(args[at] ?? '') ?? [];
    if (name === undefined) continue;
    const next = args[at + 1];
    const hasNext = attached === undefined && next !== undefined && !next.startsWith('-');
    if (hasNext) at++;
    flags.set(name, [...(flags.get(name) ?? []), attached ?? (hasNext ? next : 'true')]);
  }
  return flags;
}

/** The settings of an API server that envtest starts. */
export interface ApiServerSettings {
  readonly host: string;
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
  readonly tokenFile: string | undefined;
  readonly allowsAll: boolean;
  readonly signingKeyFile: string | undefined;
  readonly issuer: string | undefined;
  readonly audiences: readonly string[];
  readonly enabledPlugins: readonly string[];
  readonly disabledPlugins: readonly string[];
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly runtimeConfig: string | undefined;
  /** From a verbosity of 3 on, as in the reference server. */
  readonly logsRequests: boolean;
  /** The names of flags without a meaning here. */
  readonly ignored: readonly string[];
}

/** Throws UsageError. */
export function readApiServerFlags(args: readonly string[]): ApiServerSettings {
  const flags = parseFlags(args);
  const last = (name: string): string | undefined => flags.get(name)?.at(-1);
  const all = (name: string): string[] => (flags.get(name) ?? []).flatMap((value) => value.split(',')).filter(Boolean);
  const folder = last('cert-dir') ?? '/var/run/kubernetes';
  const modes = all('authorization-mode');
  const runtimeConfig = all('runtime-config').join(',');
  return {
    host: last('bind-address') ?? '0.0.0.0',
    port: readPort(last('secure-port') ?? '6443'),
    certFile: last('tls-cert-file') ?? `${folder}/apiserver.crt`,
    keyFile: last('tls-private-key-file') ?? `${folder}/apiserver.key`,
    clientCaFile: last('client-ca-file'),
    tokenFile: last('token-auth-file'),
    allowsAll: modes.length === 0 || modes.includes('AlwaysAllow'),
    signingKeyFile: last('service-account-signing-key-file'),
    issuer: flags.get('service-account-issuer')?.[0],
    audiences: all('api-audiences'),
    enabledPlugins: all('enable-admission-plugins'),
    disabledPlugins: all('disable-admission-plugins'),
    featureGates: Object.fromEntries(all('feature-gates').map(readGate)),
    runtimeConfig: runtimeConfig === '' ? undefined : runtimeConfig,
    logsRequests: Number(last('v') ?? 0) >= 3,
    ignored: [...flags.keys()].filter((name) => !KNOWN_FLAGS.includes(name)),
  };
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new UsageError(`--secure-port takes a number from 1 to 65535, got "${text}"`);
}

function readGate(text: string): [string, boolean] {
  const [name = '', value = ''] = text.split('=');
  if (!/^(true|false)$/i.test(value))
    throw new UsageError(`--feature-gates takes NAME=true or NAME=false, got "${text}"`);
  return [name, value.toLowerCase() === 'true'];
}

/** Users by token: lines of token, user, UID and a quoted list of groups. Throws UsageError. */
export function readTokenFile(text: string): Readonly<Record<string, TokenUser>> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line, index) => {
      const [, token, user, uid, groups = ''] = /^([^,]+),([^,]+),([^,]*)(?:,"?([^"]*)"?)?$/.exec(line) ?? [];
      if (token === undefined || user === undefined || uid === undefined) {
        throw new UsageError(`--token-auth-file: line ${index + 1} is not token,user,uid,"group1,group2"`);
      }
      return [token, { user, uid, groups: groups.split(',').filter(Boolean) }];
    }),
  );
}

interface TokenUser {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/** The flags that have a meaning here, and those that may be ignored without a warning. */
export const KNOWN_FLAGS: readonly string[] = [
  'admission-control-config-file',
  'advertise-address',
  'allow-privileged',
  'anonymous-auth',
  'api-audiences',
  'authorization-mode',
  'bind-address',
  'cert-dir',
  'client-ca-file',
  'disable-admission-plugins',
  'enable-admission-plugins',
  'etcd-prefix',
  'etcd-servers',
  'feature-gates',
  'help',
  'runtime-config',
  'secure-port',
  'service-account-issuer',
  'service-account-key-file',
  'service-account-signing-key-file',
  'service-cluster-ip-range',
  'tls-cert-file',
  'tls-private-key-file',
  'token-auth-file',
  'v',
  'version',
];
