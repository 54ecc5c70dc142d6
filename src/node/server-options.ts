/**
 * Turns the flags of `orchplane serve` into options of `createCluster` and `serve`. Files are read once, when the server
 * starts.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { admissionPlugins } from '../admission/plugins/named-plugins.js';
import { auditLog } from '../audit/log.js';
import type { AuditPolicy } from '../audit/policy.js';
import type { TokenAuthenticatorFactory, TokenTable } from '../auth/authentication.js';
import { type AuthorizerFactory, allowAll, denyAll, unionAuthorizer } from '../auth/authorizer.js';
import { nodeAuthorizer } from '../auth/node/node-authorizer.js';
import { openIdConnect } from '../auth/openid/openid-connect.js';
import { rbac } from '../auth/rbac/authorizer.js';
import type { RequestHeaderOptions } from '../auth/request-header.js';
import type { AccountTokenOptions } from '../auth/tokens/account-tokens.js';
import { tokenWebhook } from '../auth/tokens/token-webhook.js';
import type { ClusterOptions } from '../cluster/options.js';
import { yamlBody } from '../codec/yaml.js';
import type { CertificateSigningOptions } from '../controllers/index.js';
import { dialects, serviceGroup } from '../meta/dialect.js';
import { BodyError } from '../protocol/body.js';
import { pemBlocks } from '../text/x509/pem.js';
import { isRecord } from '../util/json.js';
import { messageOf } from '../util/message-of.js';
import { type AuditFile, openAuditFile } from './audit-file.js';
import { certificateIn } from './cert-dir.js';
import { UsageError } from './commands/command.js';
import { kubeconfigBackend } from './kubeconfig-transport.js';
import type { TlsFiles } from './serve.js';
import type { AuthorizationMode, OidcFlags, ServerFlags, SigningFlags, TokenWebhookFlags } from './server-flags.js';
import { readTokenFile } from './token-file.js';

/** What the flags need of the command. */
export interface ServerOptionsContext {
  readonly host: string;
  readonly tls: boolean;
  /** The signing key of service account tokens without a flag. */
  readonly accountKey: JsonWebKey | undefined;
  readonly writeOut: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** The options that the flags stand for. Dispose it after the server has stopped. */
export interface ServerOptions extends AsyncDisposable {
  readonly cluster: Partial<ClusterOptions>;
  /** Undefined: no flag names a certificate. */
  readonly tls: TlsFiles | undefined;
  readonly clientCa: string | undefined;
  readonly requestHeader: RequestHeaderOptions | undefined;
  readonly showHiddenMetricsForVersion: string | undefined;
  readonly signing: CertificateSigningOptions;
}

/** Rejects with UsageError for files that cannot be read or used. */
export async function readServerOptions(flags: ServerFlags, context: ServerOptionsContext): Promise<ServerOptions> {
  const tls = await readTls(flags, context);
  const clientCa = await readOptional('client-ca-file', flags.clientCaFile);
  const { requestHeader: headers } = flags;
  const requestHeader =
    headers === undefined
      ? undefined
      : { ...withoutFile(headers), ca: await readText('requestheader-client-ca-file', headers.caFile) };
  const authentication = await readAuthentication(flags, context);
  const admission = await readAdmission(flags);
  const authorizer = authorizerOf(flags.authorizationModes);
  const signing = await readSigning(flags.signing);
  const policy = await readPolicy(flags.auditPolicyFile);
  let file: AuditFile | undefined;
  if (flags.auditLogPath !== undefined) {
    file = await openAuditFile(flags.auditLogPath, context).catch((error: unknown) => {
      throw new UsageError(`--audit-log-path ${flags.auditLogPath}: ${messageOf(error)}`);
    });
  }
  const audit =
    policy &&
    asUsageError('audit-policy-file', () =>
      auditLog({ policy, ...(file && { onEvent: file.write, errors: file.errors }) }),
    );
  return {
    cluster: {
      authentication,
      ...(admission === undefined ? {} : { admission }),
      ...(authorizer === undefined ? {} : { authorizer }),
      ...(audit === undefined || file === undefined ? {} : { audit }),
      ...(flags.allowPrivileged === undefined ? {} : { allowPrivileged: flags.allowPrivileged }),
      ...(flags.serviceCidrs.length === 0 ? {} : { serviceCidrs: flags.serviceCidrs }),
    },
    tls,
    clientCa,
    requestHeader,
    showHiddenMetricsForVersion: flags.showHiddenMetricsForVersion,
    signing,
    async [Symbol.asyncDispose]() {
      await file?.close();
    },
  };
}

function withoutFile<Flags extends { readonly caFile: unknown }>({
  caFile: _,
  ...others
}: Flags): Omit<Flags, 'caFile'> {
  return others;
}

async function readTls(flags: ServerFlags, { tls, host }: ServerOptionsContext): Promise<TlsFiles | undefined> {
  const { tlsCertFile, tlsPrivateKeyFile, certDir } = flags;
  const needsTls = tlsCertFile ?? certDir ?? flags.clientCaFile ?? flags.requestHeader?.caFile;
  if (!tls && needsTls !== undefined) throw new UsageError('--no-tls contradicts flags with certificates');
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) {
    return certDir === undefined ? undefined : certificateIn(certDir, host);
  }
  const cert = await readText('tls-cert-file', tlsCertFile);
  const key = await readText('tls-private-key-file', tlsPrivateKeyFile);
  asUsageError('tls-cert-file', () => createSecureContext({ cert, key }));
  // Go clients trust a certificate that is in the bundle itself, also if it is not that of an authority.
  return { cert, key, ca: cert };
}

async function readSigning(flags: SigningFlags | undefined): Promise<CertificateSigningOptions> {
  const durationMs = flags?.durationMs;
  if (flags?.authority === undefined) return { durationMs };
  const certificate = await readText('cluster-signing-cert-file', flags.authority.certFile);
  const keyText = await readText('cluster-signing-key-file', flags.authority.keyFile);
  const own = asUsageError('cluster-signing-cert-file', () => new X509Certificate(certificate));
  const key = asUsageError('cluster-signing-key-file', () => createPrivateKey(keyText));
  if (!own.checkPrivateKey(key)) {
    throw new UsageError('--cluster-signing-key-file is not the key of the certificate in --cluster-signing-cert-file');
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type !== 'rsa' && !(type === 'ec' && SIGNING_CURVES.includes(details?.namedCurve))) {
    throw new UsageError('--cluster-signing-key-file takes an RSA key or an ECDSA key of curve P-256 or P-384');
  }
  const privateKey = key.export({ format: 'pem', type: 'pkcs8' }).toString();
  // Loaded on demand, as by the command.
  const { createCertificateAuthority } = await import('../controllers/index.js');
  const authority = await createCertificateAuthority({ from: { certificate: own.toString(), privateKey } });
  return { authority, durationMs };
}

/** OpenSSL's names of P-256 and P-384. */
const SIGNING_CURVES: readonly unknown[] = ['prime256v1', 'secp384r1'];

async function readAuthentication(flags: ServerFlags, context: ServerOptionsContext) {
  const authenticators: TokenAuthenticatorFactory[] = [];
  if (flags.oidc !== undefined) authenticators.push(await oidcAuthenticator(flags.oidc));
  if (flags.tokenWebhook !== undefined) authenticators.push(webhookAuthenticator(flags.tokenWebhook));
  // The reference server rejects anonymous requests if every request is allowed.
  const anonymous = flags.anonymousAuth ?? !flags.authorizationModes.includes('AlwaysAllow');
  const tokens = await readTokens(flags.tokenAuthFile, context);
  return {
    serviceAccounts: await readAccountOptions(flags, context),
    ...(tokens === undefined ? {} : { tokens }),
    ...(authenticators.length === 0 ? {} : { authenticators }),
    ...(anonymous ? {} : { anonymous }),
  };
}

async function readTokens(file: string | undefined, { warn }: ServerOptionsContext): Promise<TokenTable | undefined> {
  if (file === undefined) return undefined;
  const text = await readText('token-auth-file', file);
  return asUsageError('token-auth-file', () => readTokenFile(text, file, warn));
}

async function oidcAuthenticator(flags: OidcFlags): Promise<TokenAuthenticatorFactory> {
  const ca = await readOptional('oidc-ca-file', flags.caFile);
  return asUsageError('oidc-issuer-url', () => openIdConnect({ ...withoutFile(flags), ca }));
}

function webhookAuthenticator({ configFile, cacheTtlMs, version }: TokenWebhookFlags): TokenAuthenticatorFactory {
  return asUsageError('authentication-token-webhook-config-file', () => {
    const { url, token, fetch } = kubeconfigBackend(configFile);
    return tokenWebhook({ url, token, fetch: (to, init) => fetch(new Request(to, init)), cacheTtlMs, version });
  });
}

async function readAccountOptions(flags: ServerFlags, context: ServerOptionsContext): Promise<AccountTokenOptions> {
  const [issuer, ...acceptedIssuers] = flags.serviceAccountIssuers;
  const { serviceAccountSigningKeyFile: signingFile, serviceAccountKeyFiles: keyFiles } = flags;
  const key = signingFile === undefined ? context.accountKey : await readSigningKey(signingFile);
  const lists = await Promise.all(keyFiles.map(readPublicKeys));
  return {
    ...(issuer === undefined ? {} : { issuer, acceptedIssuers }),
    ...(key === undefined ? {} : { key }),
    ...(lists.length === 0 ? {} : { publicKeys: lists.flat() }),
  };
}

async function readSigningKey(file: string): Promise<JsonWebKey> {
  const flag = 'service-account-signing-key-file';
  const text = await readText(flag, file);
  return asUsageError(flag, () => createPrivateKey(text).export({ format: 'jwk' }));
}

/** The public keys of a file: of public keys, private keys and certificates. */
async function readPublicKeys(file: string): Promise<readonly JsonWebKey[]> {
  const flag = 'service-account-key-file';
  const blocks = pemBlocks(await readText(flag, file));
  const keys = blocks.flatMap(({ type, bytes }) => publicKeyOf(type, bytes) ?? []);
  if (keys.length > 0) return keys.map((key) => key.export({ format: 'jwk' }));
  throw new UsageError(`--${flag} ${file}: the file contains no PEM-encoded RSA or ECDSA keys`);
}

/** Undefined for other blocks, such as parameters of a curve. */
function publicKeyOf(type: string, bytes: Uint8Array): KeyObject | undefined {
  const body = Buffer.from(bytes).toString('base64').replace(/.{64}/g, '$&\n');
  try {
    return createPublicKey(`-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`);
  } catch {
    return undefined;
  }
}

const AUTHORIZERS: Readonly<Record<AuthorizationMode, () => AuthorizerFactory>> = {
  AlwaysAllow: allowAll,
  AlwaysDeny: denyAll,
  Node: nodeAuthorizer,
  RBAC: rbac,
};

/** Undefined: the default of the cluster. */
function authorizerOf(modes: readonly AuthorizationMode[]): AuthorizerFactory | undefined {
  const [first, ...others] = modes.map((mode) => AUTHORIZERS[mode]());
  return first === undefined || others.length === 0 ? first : unionAuthorizer(first, ...others);
}

async function readAdmission(flags: ServerFlags): Promise<ClusterOptions['admission']> {
  const { enabledPlugins: enable, disabledPlugins: disable, admissionConfigFile: file } = flags;
  if (enable.length === 0 && disable.length === 0 && file === undefined) return undefined;
  const configurations = file === undefined ? {} : await readConfigurations(file);
  return asUsageError('enable-admission-plugins', () => admissionPlugins({ enable, disable, configurations }));
}

const CONFIG_FLAG = 'admission-control-config-file';

/** Whether this is a version of AdmissionConfiguration, in either dialect. */
function isAdmissionConfigVersion(apiVersion: unknown): boolean {
  const groups = dialects.flatMap((dialect) =>
    ['apiserver', 'apiserver.config'].map((name) => dialect.group(serviceGroup(name))),
  );
  return groups.some((group) => apiVersion === `${group}/v1` || apiVersion === `${group}/v1alpha1`);
}

/** The configurations of an AdmissionConfiguration, by plugin. A path is relative to the folder of the file. */
async function readConfigurations(file: string): Promise<Record<string, unknown>> {
  const { apiVersion, kind, plugins = [] } = await readYaml(CONFIG_FLAG, file);
  if (kind !== 'AdmissionConfiguration' || !isAdmissionConfigVersion(apiVersion) || !Array.isArray(plugins)) {
    throw new UsageError(`--${CONFIG_FLAG} ${file}: the file is not an AdmissionConfiguration`);
  }
  const entries = plugins.map(async (plugin: unknown): Promise<[string, unknown]> => {
    if (!isRecord(plugin) || typeof plugin['name'] !== 'string') {
      throw new UsageError(`--${CONFIG_FLAG} ${file}: a plugin has no name`);
    }
    const { name, path, configuration } = plugin;
    if (configuration !== undefined && configuration !== null) return [name, configuration];
    if (typeof path !== 'string' || path === '') return [name, undefined];
    return [name, await readYaml(CONFIG_FLAG, resolve(dirname(file), path))];
  });
  // The first configuration of a plugin counts.
  return Object.fromEntries((await Promise.all(entries)).reverse());
}

async function readPolicy(file: string | undefined): Promise<AuditPolicy | undefined> {
  // auditLog validates it.
  return file === undefined ? undefined : ((await readYaml('audit-policy-file', file)) as unknown as AuditPolicy);
}

async function readYaml(flag: string, file: string): Promise<Record<string, unknown>> {
  const text = await readText(flag, file);
  let value: unknown;
  try {
    value = yamlBody(text).read().value;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw new UsageError(`--${flag} ${file}: ${error.message}`);
  }
  if (isRecord(value)) return value;
  throw new UsageError(`--${flag} ${file}: the file does not contain an object`);
}

function readOptional(flag: string, file: string | undefined): Promise<string | undefined> {
  return file === undefined ? Promise.resolve(undefined) : readText(flag, file);
}

/** Rejects with UsageError. */
function readText(flag: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'no such file or directory' : error.message;
    throw new UsageError(`--${flag} ${file}: ${why}`);
  });
}

/** Errors become usage errors that name the flag. */
function asUsageError<Value>(flag: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof UsageError) throw error;
    throw new UsageError(`--${flag}: ${error.message.replace(/^orchplane: /, '')}`);
  }
}
