/**
 * Creates a transport from a kubeconfig: server, trusted CA and credentials, as kubectl reads them. The platform's
 * fetch takes no client certificates, so requests use Node's http and https modules.
 */
import { X509Certificate } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { dirname, resolve as resolvePath } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { yamlBody } from '../codec/yaml.js';
import { checkedToken, type HttpTransportOptions, httpTransport } from '../http/transport/http-transport.js';
import { kubernetesDialect } from '../meta/dialect.js';
import { BodyError } from '../protocol/body.js';
import type { Transport } from '../protocol/transport.js';
import { onAbort } from '../util/abort.js';
import { isRecord } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';

/** The options of {@link kubeconfigTransport}. */
export interface KubeconfigTransportOptions
  extends Pick<HttpTransportOptions, 'token' | 'headers' | 'clock' | 'userAgent' | 'retries'> {
  /** The context; the file's current context by default. */
  readonly context?: string | undefined;
  /**
   * The server's dialect, which a kubeconfig does not contain; `kubernetes` by default. A cluster created by
   * `createCluster()` without a dialect and served by `serve` uses `orch`.
   */
  readonly dialect?: HttpTransportOptions['dialect'];
}

/** A transport and the namespace of its context. */
export interface KubeconfigTransport extends Transport {
  /** The namespace of the context, for `createClient`; `default` when it names none. */
  readonly namespace: string;
}

const OPTIONS = [
  'context',
  'dialect',
  'token',
  'headers',
  'clock',
  'userAgent',
  'retries',
] as const satisfies readonly (keyof KubeconfigTransportOptions)[];

/**
 * Creates a transport to the cluster of a kubeconfig, given as a path or as text (more than one line, or starting with
 * a brace). The kubeconfig is read once; only a `tokenFile` is read before each request. Idle connections keep no
 * process alive, so nothing needs closing. Throws when the kubeconfig cannot be read, is incomplete, or uses an
 * unsupported feature: `exec`, `auth-provider` (use the option `token`), passwords, `as`, `proxy-url`.
 *
 * @example
 * const transport = kubeconfigTransport('cluster.kubeconfig');
 * const client = createClient({ transport, namespace: transport.namespace });
 */
export function kubeconfigTransport(
  fileOrText: string | URL,
  options: KubeconfigTransportOptions = {},
): KubeconfigTransport {
  refuseUnknownOptions('kubeconfigTransport', options, OPTIONS);
  const { context, dialect = kubernetesDialect.name, token, ...others } = options;
  const { url, namespace, ...backend } = kubeconfigBackend(fileOrText, { context, token });
  const fetch = (request: Request): Promise<Response> => backend.fetch(request);
  const transport = httpTransport({ ...others, baseUrl: url, dialect, token: backend.token, fetch });
  return Object.freeze({ ...transport, namespace });
}

/** A server that is called with the credentials of a kubeconfig. */
export interface KubeconfigBackend {
  readonly url: string;
  readonly token: string | (() => string | Promise<string>) | undefined;
  /** The namespace of the context; `default` when it names none. */
  readonly namespace: string;
  /** Presents the client certificate, but adds no token. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The agent of connections to the server. */
  readonly agent: Agent;
}

/** The server of a context. Throws as {@link kubeconfigTransport} does. */
export function kubeconfigBackend(
  fileOrText: string | URL,
  { context, token }: Pick<KubeconfigTransportOptions, 'context' | 'token'> = {},
): KubeconfigBackend {
  const config = readConfig(fileOrText, context);
  const url = serverOf(config);
  const agent = agentFor(config, url, token === undefined);
  return {
    url,
    // Checked here: the errors of Node print what a header cannot carry.
    token: typeof token === 'function' ? token : (checkedToken(token) ?? tokenOf(config)),
    namespace: stringAt(config, config.context, 'namespace') ?? 'default',
    fetch: createFetch(agent),
    agent,
  };
}

function serverOf(config: ContextConfig): string {
  if (config.cluster['proxy-url'] !== undefined) throw configError(config, 'proxy-url is not supported');
  const server = stringAt(config, config.cluster, 'server');
  if (server === undefined) throw configError(config, 'the cluster has no server');
  return server;
}

/** The parts of a kubeconfig that one context refers to. */
interface ContextConfig {
  /** Used in messages. */
  readonly name: string;
  /** The base of relative paths. */
  readonly folder: string;
  readonly context: ConfigPart;
  readonly cluster: ConfigPart;
  readonly user: ConfigPart;
}

type ConfigPart = Readonly<Record<string, unknown>>;

function readConfig(fileOrText: string | URL, requestedContext: string | undefined): ContextConfig {
  const { name, folder, text } = readSource(fileOrText);
  const root = parseConfig(name, text);
  if (!Array.isArray(root['contexts'])) {
    throw new Error(`orchplane: ${name} is not a kubeconfig: it has no list of contexts`);
  }
  const contextName = requestedContext ?? root['current-context'];
  if (typeof contextName !== 'string' || contextName === '') {
    throw configError(
      { name },
      `it has no current-context; the option context says which: ${namesIn(root, 'contexts')}`,
    );
  }
  const context = entryOf({ name }, root, { list: 'contexts', field: 'context', named: contextName });
  const partOf = (list: string, field: string): ConfigPart => {
    const named = stringAt({ name }, context, field);
    return named === undefined ? {} : entryOf({ name }, root, { list, field, named });
  };
  return { name, folder, context, cluster: partOf('clusters', 'cluster'), user: partOf('users', 'user') };
}

/** A path has one line and does not start with a brace; a kubeconfig of one line is JSON. */
function readSource(fileOrText: string | URL): {
  readonly name: string;
  readonly folder: string;
  readonly text: string;
} {
  if (typeof fileOrText === 'string' && (fileOrText.includes('\n') || fileOrText.trimStart().startsWith('{'))) {
    return { name: 'the kubeconfig', folder: '.', text: fileOrText };
  }
  if (fileOrText === '' || (typeof fileOrText !== 'string' && !(fileOrText instanceof URL))) {
    throw new TypeError('orchplane: kubeconfigTransport takes the path or the text of a kubeconfig');
  }
  const path = resolvePath(typeof fileOrText === 'string' ? fileOrText : fileURLToPath(fileOrText));
  return { name: `the kubeconfig ${path}`, folder: dirname(path), text: readFileSync(path, 'utf8') };
}

function parseConfig(name: string, text: string): ConfigPart {
  try {
    const { value } = yamlBody(text).read();
    return isRecord(value) ? value : {};
  } catch (cause) {
    if (!(cause instanceof BodyError)) throw cause;
    throw new Error(`orchplane: ${name} is not a kubeconfig: ${cause.message}`, { cause });
  }
}

/** Entries are `{ name, [field]: … }`; returns the value of `field`. */
function entryOf(
  config: Pick<ContextConfig, 'name'>,
  root: ConfigPart,
  { list, field, named }: { readonly list: string; readonly field: string; readonly named: string },
): ConfigPart {
  const found = entriesIn(root, list).find((entry) => entry['name'] === named);
  if (found === undefined) {
    throw configError(config, `there is no ${field} ${JSON.stringify(named)}; it has ${namesIn(root, list)}`);
  }
  const part = found[field];
  return isRecord(part) ? part : {};
}

function entriesIn(root: ConfigPart, list: string): ConfigPart[] {
  const entries = root[list];
  return Array.isArray(entries) ? entries.filter(isRecord) : [];
}

function namesIn(root: ConfigPart, list: string): string {
  return (
    entriesIn(root, list)
      .map(({ name }) => JSON.stringify(name))
      .join(', ') || 'none'
  );
}

/** An empty string counts as absent. */
function stringAt(config: Pick<ContextConfig, 'name'>, part: ConfigPart, key: string): string | undefined {
  const value = part[key] ?? '';
  if (typeof value !== 'string') throw configError(config, `${key} is no text`);
  return value === '' ? undefined : value;
}

function configError({ name }: Pick<ContextConfig, 'name'>, why: string): Error {
  return new Error(`orchplane: ${name} cannot be used: ${why}`);
}

/** Unsupported credentials. Ignoring them would send requests as another user. */
const UNSUPPORTED_USER_FIELDS = [
  'exec',
  'auth-provider',
  'username',
  'password',
  'as',
  'as-uid',
  'as-groups',
  'as-user-extra',
];

/**
 * The token of the user. A `tokenFile` takes precedence over `token` and is read before each request, because its
 * content may change.
 */
function tokenOf(config: ContextConfig): KubeconfigBackend['token'] {
  const { user } = config;
  const unknown = UNSUPPORTED_USER_FIELDS.find((key) => user[key] !== undefined && user[key] !== null);
  if (unknown !== undefined) {
    throw configError(
      config,
      `its user has ${unknown}, which is not supported; the option token says who asks instead`,
    );
  }
  const file = stringAt(config, user, 'tokenFile');
  if (file === undefined) return checkedToken(stringAt(config, user, 'token'));
  return async () => checkedToken(readNamedFile(config, 'tokenFile', file).trim()) ?? '';
}

/** An agent with the cluster's CA and the user's certificate. Invalid certificates are reported here. */
/** Without the client certificate, a token decides who the user is; servers look at certificates first. */
function agentFor(config: ContextConfig, baseUrl: string, withCertificate: boolean): Agent {
  if (!/^https:/i.test(baseUrl)) return new Agent({ keepAlive: true });
  const { cluster, user } = config;
  const ca = pemAt(config, cluster, 'certificate-authority');
  const cert = pemAt(config, user, 'client-certificate');
  const key = pemAt(config, user, 'client-key');
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  if (insecure && ca !== undefined)
    throw configError(config, 'insecure-skip-tls-verify contradicts certificate-authority');
  if ((cert === undefined) !== (key === undefined)) throw configError(config, 'a client certificate needs its key');
  try {
    // Node accepts any text as a CA and then trusts no certificate.
    if (ca !== undefined) new X509Certificate(ca);
    const secureContext = createSecureContext(withCertificate ? { ca, cert, key } : { ca });
    const servername = stringAt(config, cluster, 'tls-server-name');
    const options = { keepAlive: true, secureContext, rejectUnauthorized: !insecure };
    return new SecureAgent(servername === undefined ? options : { ...options, servername });
  } catch (cause) {
    throw new Error(`orchplane: ${config.name} has a certificate or a key that cannot be read: ${String(cause)}`, {
      cause,
    });
  }
}

/** The PEM text, from `KEY-data` (base64) or from the file named by `KEY`. */
function pemAt(config: ContextConfig, part: ConfigPart, key: string): string | undefined {
  const data = stringAt(config, part, `${key}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  const file = stringAt(config, part, key);
  return file === undefined ? undefined : readNamedFile(config, key, file);
}

/** A certificate, a key or a token is shorter. */
const MAX_NAMED_FILE_BYTES = 16 * 1024 * 1024;

/** The text of a file that the kubeconfig names. Reading a device or a pipe may never end. */
function readNamedFile(config: ContextConfig, key: string, file: string): string {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const descriptor = openSync(resolvePath(config.folder, file), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw configError(config, `${key} ${JSON.stringify(file)} is no regular file`);
    if (status.size > MAX_NAMED_FILE_BYTES) {
      throw configError(config, `${key} ${JSON.stringify(file)} has more than ${MAX_NAMED_FILE_BYTES} bytes`);
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** TCP keep-alive detects a dead peer on an idle watch. */
const KEEP_ALIVE_MS = 30_000;

/** The part of fetch that the transport uses: no redirects, no content encodings. */
function createFetch(agent: Agent): (request: Request) => Promise<Response> {
  const send = agent instanceof SecureAgent ? requestHttps : requestHttp;
  return async (request) => {
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const headers: Record<string, string | string[]> = Object.fromEntries(request.headers);
    // fetch joins repeated headers; each group must be sent as a header of its own.
    for (const [name, value] of request.headers)
      if (/^impersonate-(?:group|extra-)/.test(name)) headers[name] = value.split(', ');
    // Node does not add Content-Length to a DELETE.
    if (body !== undefined) headers['content-length'] = String(body.length);
    const outgoing = send(request.url, { agent, method: request.method, headers });
    outgoing.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const off = onAbort(request.signal, () => outgoing.destroy(asError(request.signal.reason)));
      outgoing.on('response', resolve).on('error', reject);
      outgoing.on('close', () => {
        off();
        // Also after a response with the status 101, for which there is no other event.
        reject(new Error('socket hang up'));
      });
      outgoing.end(body);
    });
    return toResponse(incoming);
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the request was aborted', { cause: reason });
}

/** Status codes without a body. */
const STATUS_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function toResponse(incoming: IncomingMessage): Response {
  // The error is reported to the reader of the body; without a listener it would be uncaught.
  incoming.on('error', () => undefined);
  const { statusCode = 0, statusMessage = '', rawHeaders } = incoming;
  try {
    const headers = new Headers();
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
    const isEmpty = STATUS_WITHOUT_BODY.has(statusCode);
    if (isEmpty) incoming.resume();
    return new Response(isEmpty ? null : bodyStream(incoming), {
      status: statusCode,
      statusText: statusMessage,
      headers,
    });
  } catch (error) {
    // The status or a header is invalid for a Response; the rest is not read.
    incoming.destroy();
    throw error;
  }
}

/** A pull-based stream, so that a slow reader applies back pressure. */
function bodyStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = incoming[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void incoming.destroy(),
    },
    { highWaterMark: 0 },
  );
}
