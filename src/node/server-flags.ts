/**
 * Flags of `orchplane serve` with the names and the meaning of flags of kube-apiserver and kube-controller-manager. Values
 * are checked here as far as no file is needed; `server-options.ts` reads the files.
 */
import { ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm } from '../auth/openid/key-set.js';
import { parseRelease, REFERENCE_RELEASE } from '../kinds/lifecycle.js';
import { DurationError, parseDuration } from '../text/time/duration.js';
import { translateError } from '../util/catch-error.js';
import { UsageError } from './commands/command.js';

/** A flag with the name of a flag of kube-apiserver. */
export function serverFlag(value: string, help: string) {
  return { type: 'string', value, section: 'Flags that kube-apiserver has, too', help } as const;
}

/** A flag that may be repeated. */
export function repeatedServerFlag(value: string, help: string) {
  return { ...serverFlag(value, help), multiple: true } as const;
}

/** The flags for `parseArgs` of Node. All of them have values. */
export const SERVER_FLAGS = {
  'tls-cert-file': serverFlag('FILE', 'the certificate of the server'),
  'tls-private-key-file': serverFlag('FILE', 'the key of the certificate'),
  'cert-dir': serverFlag('DIR', 'where a generated certificate is kept: apiserver.crt, apiserver.key'),
  'client-ca-file': serverFlag('FILE', 'the authorities of client certificates, which name users'),
  'token-auth-file': serverFlag('FILE', 'tokens: a line TOKEN,USER,UID,"GROUP1,GROUP2" for each'),
  'anonymous-auth': {
    ...serverFlag('BOOL', 'false: reject requests without credentials with 401'),
    implied: 'true',
  },
  'service-account-issuer': repeatedServerFlag('URL', 'the issuer of tokens; further ones are accepted'),
  'service-account-key-file': repeatedServerFlag('FILE', 'the keys that verify service account tokens'),
  'service-account-signing-key-file': serverFlag('FILE', 'the private key that signs service account tokens'),
  'oidc-issuer-url': serverFlag('URL', 'the OpenID provider of users'),
  'oidc-client-id': serverFlag('ID', 'the audience of its tokens'),
  'oidc-ca-file': serverFlag('FILE', 'the authority of its certificate'),
  'oidc-username-claim': serverFlag('CLAIM', 'the claim with the user; default: sub'),
  'oidc-username-prefix': serverFlag('TEXT', 'what is put before the user'),
  'oidc-groups-claim': serverFlag('CLAIM', 'the claim with the groups'),
  'oidc-groups-prefix': serverFlag('TEXT', 'what is put before each group'),
  'oidc-required-claim': repeatedServerFlag('CLAIM=VALUE', 'a claim that tokens must have'),
  'oidc-signing-algs': repeatedServerFlag('LIST', 'the accepted signatures; default: RS256'),
  'requestheader-client-ca-file': serverFlag('FILE', 'the authority of proxies that name users in headers'),
  'requestheader-allowed-names': repeatedServerFlag('LIST', 'the common names of the proxies'),
  'requestheader-username-headers': repeatedServerFlag('LIST', 'the headers with the user'),
  'requestheader-uid-headers': repeatedServerFlag('LIST', 'the headers with the UID of the user'),
  'requestheader-group-headers': repeatedServerFlag('LIST', 'the headers with the groups'),
  'requestheader-extra-headers-prefix': repeatedServerFlag('LIST', 'how headers with other attributes begin'),
  'authentication-token-webhook-config-file': serverFlag('FILE', 'the kubeconfig of a webhook that knows users'),
  'authentication-token-webhook-cache-ttl': serverFlag('DURATION', 'how long its answers are kept; default: 2m0s'),
  'authentication-token-webhook-version': serverFlag('VERSION', 'v1 or v1beta1, the default'),
  'authorization-mode': repeatedServerFlag('LIST', 'AlwaysAllow, AlwaysDeny, Node, RBAC; default: RBAC'),
  'enable-admission-plugins': repeatedServerFlag('LIST', 'admission plugins to run besides the default ones'),
  'disable-admission-plugins': repeatedServerFlag('LIST', 'admission plugins not to run'),
  'admission-control-config-file': serverFlag('FILE', 'the settings of admission plugins'),
  'allow-privileged': { ...serverFlag('BOOL', 'false: reject pods with privileged containers'), implied: 'true' },
  'service-cluster-ip-range': serverFlag('LIST', 'the range of cluster IPs; two of different families: dual stack'),
  'audit-policy-file': serverFlag('FILE', 'which requests are recorded'),
  'audit-log-path': { ...serverFlag('FILE', 'where requests are recorded; - is standard output'), writes: 'text' },
  'show-hidden-metrics-for-version': serverFlag(
    'VERSION',
    'the previous release: print metrics that are hidden since then',
  ),
} as const;

/** A flag with the name of a flag of kube-controller-manager. */
function controllerFlag(value: string, help: string) {
  const section = 'Flags that kube-controller-manager has, too; they need --controllers';
  return { ...serverFlag(value, help), section } as const;
}

/** Flags of kube-controller-manager, which a kube-apiserver does not have. */
export const CONTROLLER_FLAGS = {
  'cluster-signing-cert-file': controllerFlag(
    'FILE',
    'the authority that signs CertificateSigningRequests; default: a generated one',
  ),
  'cluster-signing-key-file': controllerFlag('FILE', 'its key'),
  'cluster-signing-duration': controllerFlag(
    'DURATION',
    'the longest validity of a signed certificate; default: 8760h',
  ),
} as const;

type FlagName = keyof typeof SERVER_FLAGS | keyof typeof CONTROLLER_FLAGS;

/** The values of the command line. */
export type FlagValues = { readonly [Name in FlagName]?: string | readonly string[] | undefined };

/** The settings of the flags. Undefined and empty lists: the flag was not given. */
export interface ServerFlags {
  readonly tlsCertFile: string | undefined;
  readonly tlsPrivateKeyFile: string | undefined;
  readonly certDir: string | undefined;
  readonly clientCaFile: string | undefined;
  readonly tokenAuthFile: string | undefined;
  readonly anonymousAuth: boolean | undefined;
  readonly serviceAccountIssuers: readonly string[];
  readonly serviceAccountKeyFiles: readonly string[];
  readonly serviceAccountSigningKeyFile: string | undefined;
  readonly oidc: OidcFlags | undefined;
  readonly requestHeader: RequestHeaderFlags | undefined;
  readonly tokenWebhook: TokenWebhookFlags | undefined;
  readonly authorizationModes: readonly AuthorizationMode[];
  readonly enabledPlugins: readonly string[];
  readonly disabledPlugins: readonly string[];
  readonly admissionConfigFile: string | undefined;
  readonly allowPrivileged: boolean | undefined;
  readonly serviceCidrs: readonly string[];
  readonly auditPolicyFile: string | undefined;
  /** `-` is standard output. */
  readonly auditLogPath: string | undefined;
  readonly showHiddenMetricsForVersion: string | undefined;
  readonly signing: SigningFlags | undefined;
}

/** The authority that signs approved CertificateSigningRequests. */
export interface SigningFlags {
  /** Undefined: a generated authority. */
  readonly authority: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly durationMs: number | undefined;
}

export interface OidcFlags {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly caFile: string | undefined;
  readonly usernameClaim: string | undefined;
  readonly usernamePrefix: string | undefined;
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string | undefined;
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly signingAlgs: readonly IdTokenAlgorithm[];
}

export interface RequestHeaderFlags {
  readonly caFile: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeadersPrefix: readonly string[];
}

export interface TokenWebhookFlags {
  readonly configFile: string;
  readonly cacheTtlMs: number | undefined;
  readonly version: 'v1' | 'v1beta1' | undefined;
}

const AUTHORIZATION_MODES = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;
/** The modes that are available here. */
export type AuthorizationMode = Exclude<(typeof AUTHORIZATION_MODES)[number], 'ABAC' | 'Webhook'>;

/** Only the previous release is allowed. */
function readHiddenMetrics(flags: FlagReader): string | undefined {
  const version = flags.text('show-hidden-metrics-for-version');
  const [major, minor] = parseRelease(REFERENCE_RELEASE) ?? [0, 0];
  const previous = `${major}.${minor - 1}`;
  if (version === undefined || version === previous) return version;
  throw new UsageError(
    `--show-hidden-metrics-for-version must be omitted or have the value '${previous}'. Only the previous minor version is allowed`,
  );
}

/** Throws UsageError for invalid and contradictory values. */
export function readServerFlags(values: FlagValues): ServerFlags {
  const flags = new FlagReader(values);
  const tlsCertFile = flags.text('tls-cert-file');
  const tlsPrivateKeyFile = flags.text('tls-private-key-file');
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file must be given together');
  }
  const read: ServerFlags = {
    tlsCertFile,
    tlsPrivateKeyFile,
    certDir: flags.text('cert-dir'),
    clientCaFile: flags.text('client-ca-file'),
    tokenAuthFile: flags.text('token-auth-file'),
    anonymousAuth: flags.boolean('anonymous-auth'),
    serviceAccountIssuers: readIssuers(flags),
    serviceAccountKeyFiles: flags.all('service-account-key-file'),
    serviceAccountSigningKeyFile: flags.text('service-account-signing-key-file'),
    oidc: readOidc(flags),
    requestHeader: readRequestHeader(flags),
    tokenWebhook: readTokenWebhook(flags),
    authorizationModes: readModes(flags),
    enabledPlugins: flags.list('enable-admission-plugins'),
    disabledPlugins: flags.list('disable-admission-plugins'),
    admissionConfigFile: flags.text('admission-control-config-file'),
    allowPrivileged: flags.boolean('allow-privileged'),
    serviceCidrs: flags.text('service-cluster-ip-range')?.split(',') ?? [],
    auditPolicyFile: flags.text('audit-policy-file'),
    auditLogPath: flags.text('audit-log-path'),
    showHiddenMetricsForVersion: readHiddenMetrics(flags),
    signing: readSigning(flags),
  };
  if (read.serviceAccountKeyFiles.length > 0 && read.serviceAccountSigningKeyFile === undefined) {
    throw new UsageError('--service-account-key-file needs --service-account-signing-key-file');
  }
  if (read.auditLogPath !== undefined && read.auditPolicyFile === undefined) {
    throw new UsageError('--audit-log-path needs --audit-policy-file, without which no events are recorded');
  }
  if (read.anonymousAuth === true && read.authorizationModes.includes('AlwaysAllow')) {
    throw new UsageError('--anonymous-auth and --authorization-mode AlwaysAllow contradict each other');
  }
  return read;
}

/** Reads values with the rules of the reference server's flag library. */
class FlagReader {
  readonly #values: FlagValues;

  constructor(values: FlagValues) {
    this.#values = values;
  }

  /** An empty value counts as absent. */
  text(name: FlagName): string | undefined {
    const value = this.all(name).at(-1);
    return value === '' ? undefined : value;
  }

  /** All values of a repeated flag. */
  all(name: FlagName): readonly string[] {
    const value = this.#values[name] ?? [];
    return typeof value === 'string' ? [value] : value;
  }

  /** All values, split at commas. A value in double quotes may contain commas. */
  list(name: FlagName): readonly string[] {
    return this.all(name).flatMap((value) => (value === '' ? [] : splitRecord(value, name)));
  }

  boolean(name: FlagName): boolean | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true;
    if (/^(?:0|f|F|false|FALSE|False)$/.test(text)) return false;
    throw new UsageError(`--${name} takes true or false, got "${text}"`);
  }

  isGiven(prefix: string): boolean {
    return Object.entries(this.#values).some(([name, value]) => name.startsWith(prefix) && value !== undefined);
  }
}

/** The fields of a line of comma-separated values. */
function splitRecord(line: string, flag: string): string[] {
  const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/g)];
  if (fields.map(([whole]) => whole).join('') !== line) {
    throw new UsageError(`--${flag} takes a list of values separated by commas, got "${line}"`);
  }
  return fields.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
}

function readIssuers(flags: FlagReader): readonly string[] {
  const issuers = flags.all('service-account-issuer');
  issuers.forEach((issuer, index) => {
    if (issuer === '') throw new UsageError('--service-account-issuer must not be empty');
    if (issuer.includes(':') && !URL.canParse(issuer)) {
      throw new UsageError(`--service-account-issuer "${issuer}" contains a colon but is not a URL`);
    }
    if (issuers.indexOf(issuer) < index) throw new UsageError(`--service-account-issuer "${issuer}" is given twice`);
  });
  return issuers;
}

function readOidc(flags: FlagReader): OidcFlags | undefined {
  if (!flags.isGiven('oidc-')) return undefined;
  const issuerUrl = flags.text('oidc-issuer-url');
  const clientId = flags.text('oidc-client-id');
  if (issuerUrl === undefined || clientId === undefined) {
    throw new UsageError(
      '--oidc-issuer-url and --oidc-client-id must be given together when any --oidc- flag is given',
    );
  }
  return {
    issuerUrl,
    clientId,
    caFile: flags.text('oidc-ca-file'),
    usernameClaim: flags.text('oidc-username-claim'),
    usernamePrefix: flags.text('oidc-username-prefix'),
    groupsClaim: flags.text('oidc-groups-claim'),
    groupsPrefix: flags.text('oidc-groups-prefix'),
    requiredClaims: Object.fromEntries(flags.all('oidc-required-claim').map(readClaim)),
    signingAlgs: flags.list('oidc-signing-algs').map(readAlgorithm),
  };
}

function readClaim(text: string): [claim: string, value: string] {
  const at = text.indexOf('=');
  if (at < 0) throw new UsageError(`--oidc-required-claim takes CLAIM=VALUE, got "${text}"`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function readAlgorithm(text: string): IdTokenAlgorithm {
  const found = ID_TOKEN_ALGORITHMS.find((algorithm) => algorithm === text);
  if (found !== undefined) return found;
  throw new UsageError(`--oidc-signing-algs takes ${ID_TOKEN_ALGORITHMS.join(', ')}, got "${text}"`);
}

function readRequestHeader(flags: FlagReader): RequestHeaderFlags | undefined {
  const names = {
    allowedNames: readNames(flags, 'requestheader-allowed-names'),
    usernameHeaders: readNames(flags, 'requestheader-username-headers'),
    uidHeaders: readNames(flags, 'requestheader-uid-headers'),
    groupHeaders: readNames(flags, 'requestheader-group-headers'),
    extraHeadersPrefix: readNames(flags, 'requestheader-extra-headers-prefix'),
  };
  if (names.uidHeaders.length > 0 && !names.uidHeaders.some((name) => /^x-remote-uid$/i.test(name))) {
    throw new UsageError('--requestheader-uid-headers must contain X-Remote-Uid, which aggregated APIs need');
  }
  const caFile = flags.text('requestheader-client-ca-file');
  // As in the reference server, the other flags have no effect without the CA.
  return caFile === undefined ? undefined : { caFile, ...names };
}

function readNames(flags: FlagReader, name: FlagName): readonly string[] {
  const names = flags.list(name);
  if (names.some((each) => each.trim() === '')) throw new UsageError(`--${name} contains an empty value`);
  return names;
}

function readTokenWebhook(flags: FlagReader): TokenWebhookFlags | undefined {
  const version = flags.text('authentication-token-webhook-version');
  if (version !== undefined && version !== 'v1' && version !== 'v1beta1') {
    throw new UsageError(`--authentication-token-webhook-version takes v1 or v1beta1, got "${version}"`);
  }
  const ttl = flags.text('authentication-token-webhook-cache-ttl');
  const cacheTtlMs = ttl === undefined ? undefined : readDurationMs('authentication-token-webhook-cache-ttl', ttl);
  const configFile = flags.text('authentication-token-webhook-config-file');
  return configFile === undefined ? undefined : { configFile, cacheTtlMs, version };
}

function readSigning(flags: FlagReader): SigningFlags | undefined {
  const certFile = flags.text('cluster-signing-cert-file');
  const keyFile = flags.text('cluster-signing-key-file');
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--cluster-signing-cert-file and --cluster-signing-key-file must be given together');
  }
  const authority = certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
  const duration = flags.text('cluster-signing-duration');
  const durationMs = duration === undefined ? undefined : readDurationMs('cluster-signing-duration', duration);
  if (durationMs !== undefined && durationMs <= 0) {
    throw new UsageError(`--cluster-signing-duration must be positive, got "${duration}"`);
  }
  return authority === undefined && durationMs === undefined ? undefined : { authority, durationMs };
}

function readDurationMs(flag: FlagName, text: string): number {
  const nanoseconds = translateError(
    DurationError,
    () => parseDuration(text),
    () => new UsageError(`--${flag} takes a duration such as 2m0s, got "${text}"`),
  );
  return Number(nanoseconds) / 1e6;
}

function readModes(flags: FlagReader): readonly AuthorizationMode[] {
  const modes = flags.list('authorization-mode');
  return modes.map((text, index) => {
    const mode = AUTHORIZATION_MODES.find((each) => each === text);
    if (mode === undefined) {
      throw new UsageError(`--authorization-mode takes ${AUTHORIZATION_MODES.join(', ')}, got "${text}"`);
    }
    if (mode === 'ABAC' || mode === 'Webhook') {
      throw new UsageError(`--authorization-mode ${mode} is not available here; pass an authorizer to createCluster`);
    }
    if (modes.indexOf(text) < index) throw new UsageError(`--authorization-mode ${mode} is given twice`);
    return mode;
  });
}
