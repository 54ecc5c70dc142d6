/**
 * From a kubeconfig to a transport: where the cluster is, whom to trust and who asks, as kubectl would read it. The
 * platform's fetch takes no certificates, so requests go through one of our own over Node's http and https.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent, request as askPlainly, type IncomingMessage } from 'node:http';
import { request as askSecurely, Agent as SecureAgent } from 'node:https';
import { dirname, resolve as resolvePath } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { yamlBody } from '../codec/yaml.js';
import { type HttpTransportOptions, httpTransport } from '../http/transport/http-transport.js';
import { kubernetesDialect } from '../meta/dialect.js';
import { BodyError } from '../protocol/body.js';
import type { Transport } from '../protocol/transport.js';
import { onAbort } from '../util/abort.js';
import { isRecord } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';

export interface KubeconfigTransportOptions
  extends Pick<HttpTransportOptions, 'token' | 'headers' | 'clock' | 'userAgent' | 'retries'> {
  /** The context to use instead of the file's current one. */
  readonly context?: string | undefined;
  /**
   * The names the other end speaks. A kubeconfig does not tell: unless said otherwise `kubernetes`, which whoever can be
   * reached by one nearly always speaks. A `createCluster()` without a dialect, served by `serve`, speaks `orch`.
   */
  readonly dialect?: HttpTransportOptions['dialect'];
}

export interface KubeconfigTransport extends Transport {
  /** The context's, for `createClient`; `default` where it names none. */
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
 * A transport to the cluster of a kubeconfig: its path, or its text, which has more than one line or begins with a brace.
 * It is read now, once; only a `tokenFile` is read before each request. Idle connections keep no process alive, so there is
 * nothing to close. Throws when the file cannot be read, says nothing usable, or wants what is not known here: `exec` and
 * `auth-provider` (give the token yourself), a password, `as`, `proxy-url`.
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
  const config = readConfig(fileOrText, context);
  const { cluster } = config;
  if (cluster['proxy-url'] !== undefined) throw refused(config, 'proxy-url is not supported');
  const baseUrl = textAt(config, cluster, 'server');
  if (baseUrl === undefined) throw refused(config, 'the cluster has no server');
  const transport = httpTransport({
    ...others,
    baseUrl,
    dialect,
    token: token ?? tokenOf(config),
    fetch: fetchThrough(agentFor(config, baseUrl)),
  });
  return Object.freeze({ ...transport, namespace: textAt(config, config.context, 'namespace') ?? 'default' });
}

/** The parts of a kubeconfig that one context is made of. */
interface Config {
  /** For messages. */
  readonly name: string;
  /** What the paths in it are relative to. */
  readonly folder: string;
  readonly context: Part;
  readonly cluster: Part;
  readonly user: Part;
}

type Part = Readonly<Record<string, unknown>>;

function readConfig(fileOrText: string | URL, wanted: string | undefined): Config {
  const { name, folder, text } = readSource(fileOrText);
  const root = parse(name, text);
  const contextName = wanted ?? root['current-context'];
  if (typeof contextName !== 'string' || contextName === '') {
    throw refused({ name }, `it has no current-context; the option context says which: ${namesIn(root, 'contexts')}`);
  }
  const context = entryOf({ name }, root, { list: 'contexts', field: 'context', named: contextName });
  const partOf = (list: string, field: string): Part => {
    const named = textAt({ name }, context, field);
    return named === undefined ? {} : entryOf({ name }, root, { list, field, named });
  };
  return { name, folder, context, cluster: partOf('clusters', 'cluster'), user: partOf('users', 'user') };
}

/** A path has one line and no brace; a kubeconfig of one line is JSON. */
function readSource(given: string | URL): { readonly name: string; readonly folder: string; readonly text: string } {
  if (typeof given === 'string' && (given.includes('\n') || given.trimStart().startsWith('{'))) {
    return { name: 'the kubeconfig', folder: '.', text: given };
  }
  if (given === '' || (typeof given !== 'string' && !(given instanceof URL))) {
    throw new TypeError('orchplane: kubeconfigTransport takes the path or the text of a kubeconfig');
  }
  const path = resolvePath(typeof given === 'string' ? given : fileURLToPath(given));
  return { name: `the kubeconfig ${path}`, folder: dirname(path), text: readFileSync(path, 'utf8') };
}

function parse(name: string, text: string): Part {
  try {
    const { value } = yamlBody(text).read();
    return isRecord(value) ? value : {};
  } catch (cause) {
    if (!(cause instanceof BodyError)) throw cause;
    throw new Error(`orchplane: ${name} is no YAML: ${cause.message}`, { cause });
  }
}

/** Entries are `{ name, [field]: … }`; the part itself is returned. */
function entryOf(
  config: Pick<Config, 'name'>,
  root: Part,
  { list, field, named }: { readonly list: string; readonly field: string; readonly named: string },
): Part {
  const found = entriesIn(root, list).find((entry) => entry['name'] === named);
  if (found === undefined) {
    throw refused(config, `there is no ${field} ${JSON.stringify(named)}; it has ${namesIn(root, list)}`);
  }
  const part = found[field];
  return isRecord(part) ? part : {};
}

function entriesIn(root: Part, list: string): Part[] {
  const entries = root[list];
  return Array.isArray(entries) ? entries.filter(isRecord) : [];
}

function namesIn(root: Part, list: string): string {
  return (
    entriesIn(root, list)
      .map(({ name }) => JSON.stringify(name))
      .join(', ') || 'none'
  );
}

/** An empty text is as good as none. */
function textAt(config: Pick<Config, 'name'>, part: Part, key: string): string | undefined {
  const value = part[key] ?? '';
  if (typeof value !== 'string') throw refused(config, `${key} is no text`);
  return value === '' ? undefined : value;
}

function refused({ name }: Pick<Config, 'name'>, why: string): Error {
  return new Error(`orchplane: ${name} cannot be used: ${why}`);
}

/** Ways to say who asks that are not known here. Without them a request would come from somebody else than was meant. */
const UNKNOWN_USERS = ['exec', 'auth-provider', 'username', 'password', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

/** Who asks. A file may get another token at any time, and goes before a token that stands beside it. */
function tokenOf(config: Config): HttpTransportOptions['token'] {
  const { user, folder } = config;
  const unknown = UNKNOWN_USERS.find((key) => user[key] !== undefined && user[key] !== null);
  if (unknown !== undefined) {
    throw refused(config, `its user has ${unknown}, which is not supported; the option token says who asks instead`);
  }
  const file = textAt(config, user, 'tokenFile');
  if (file === undefined) return textAt(config, user, 'token');
  return async () => (await readFile(resolvePath(folder, file), 'utf8')).trim();
}

/** Connections that trust whom the cluster names and show the user's certificate. Bad certificates are told now. */
function agentFor(config: Config, baseUrl: string): Agent {
  if (!/^https:/i.test(baseUrl)) return new Agent({ keepAlive: true });
  const { cluster, user } = config;
  const ca = pemAt(config, cluster, 'certificate-authority');
  const cert = pemAt(config, user, 'client-certificate');
  const key = pemAt(config, user, 'client-key');
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  if (insecure && ca !== undefined) throw refused(config, 'insecure-skip-tls-verify contradicts certificate-authority');
  if ((cert === undefined) !== (key === undefined)) throw refused(config, 'a client certificate needs its key');
  try {
    // Node itself takes any text for an authority, and then trusts nobody.
    if (ca !== undefined) new X509Certificate(ca);
    const secureContext = createSecureContext({ ca, cert, key });
    const servername = textAt(config, cluster, 'tls-server-name');
    const options = { keepAlive: true, secureContext, rejectUnauthorized: !insecure };
    return new SecureAgent(servername === undefined ? options : { ...options, servername });
  } catch (cause) {
    throw new Error(`orchplane: ${config.name} has a certificate or a key that cannot be read: ${String(cause)}`, {
      cause,
    });
  }
}

/** The text in PEM, from `KEY-data` in base64 or else from the file that `KEY` names. */
function pemAt(config: Config, part: Part, key: string): string | undefined {
  const data = textAt(config, part, `${key}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  const file = textAt(config, part, key);
  return file === undefined ? undefined : readFileSync(resolvePath(config.folder, file), 'utf8');
}

/** Watches are quiet for long: without this, nobody would notice that the other end has vanished. */
const PROBE_AFTER_MS = 30_000;

/** As much of fetch as the transport uses: no redirects are followed, no encodings asked for. */
function fetchThrough(agent: Agent): (request: Request) => Promise<Response> {
  const ask = agent instanceof SecureAgent ? askSecurely : askPlainly;
  return async (request) => {
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const headers: Record<string, string | string[]> = Object.fromEntries(request.headers);
    // What fetch has joined: each group is a header of its own, or the other end takes them for one.
    for (const [name, value] of request.headers)
      if (/^impersonate-(?:group|extra-)/.test(name)) headers[name] = value.split(', ');
    // Of a DELETE, Node would not say by itself how long its body is.
    if (body !== undefined) headers['content-length'] = String(body.length);
    const outgoing = ask(request.url, { agent, method: request.method, headers });
    outgoing.setSocketKeepAlive(true, PROBE_AFTER_MS);
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const off = onAbort(request.signal, () => outgoing.destroy(asError(request.signal.reason)));
      outgoing.on('response', resolve).on('error', reject).on('close', off);
      outgoing.end(body);
    });
    return responseOf(incoming);
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the request was aborted', { cause: reason });
}

/** Codes that have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(incoming: IncomingMessage): Response {
  // What broke it is told to whoever reads on; without a listener it would be forgotten before.
  incoming.on('error', () => undefined);
  const { statusCode = 0, statusMessage = '', rawHeaders } = incoming;
  try {
    const headers = new Headers();
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
    const isEmpty = WITHOUT_BODY.has(statusCode);
    if (isEmpty) incoming.resume();
    return new Response(isEmpty ? null : bodyOf(incoming), { status: statusCode, statusText: statusMessage, headers });
  } catch (error) {
    // A code or a header that no Response can have: nobody will read the rest.
    incoming.destroy();
    throw error;
  }
}

/** Read when somebody asks for more, so that a slow reader slows the server down. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
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
