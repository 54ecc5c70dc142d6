/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Serves a cluster on a TCP socket, for kubectl and client libraries.
 */
import { randomBytes } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { TokenTable } from '../auth/authentication.js';
import { checkRequestHeaderOptions, type RequestHeaderOptions } from '../auth/request-header.js';
import type { FetchTarget } from '../http/target.js';
import type { DialectName } from '../meta/dialect.js';
import { refuseUnknownOptions } from '../util/options.js';
import { advertisedListener } from './advertised.js';
import {
  type ClientCertificate,
  type ClientIdentity,
  createClientAuthority,
  createServerCertificate,
  type ServerCertificate,
} from './certificates.js';
import { readCertificates } from './client-peer.js';
import { CLUSTER_LISTENER_OPTIONS, type ClusterListenerOptions, createClusterHandler } from './cluster-handler.js';
import type { HttpServerSettings } from './http-server.js';
import { loadHttpThread, type StartServer } from './http-thread.js';
import { kubeconfigText, writeKubeconfig } from './kubeconfig.js';

/** The options of {@link serve}. */
export interface ServeOptions extends ClusterListenerOptions {
  /** 0 or absent: any free port. */
  readonly port?: number | undefined;
  /** The address to listen on; 127.0.0.1 by default, which only this machine can reach. */
  readonly host?: string | undefined;
  /** True: HTTPS with a generated certificate. Otherwise the certificate and key in PEM format. Absent: plain HTTP. */
  readonly tls?: boolean | TlsFiles | undefined;
  /**
   * The CA certificates (PEM) of client certificates; true: a generated CA, see {@link
   * ServedCluster.createClientCertificate}. The common name is the user, organizations are groups. Requires `tls`.
   */
  readonly clientCa?: string | true | undefined;
  /** Proxies with a client certificate name the user in headers. Requires `tls`. */
  readonly requestHeader?: RequestHeaderOptions | undefined;
  /** The administrator's bearer token; a random one by default. */
  readonly token?: string | undefined;
  /** Instead of `token`: several tokens and the users they authenticate. The kubeconfig gets the first. */
  readonly tokens?: TokenTable | undefined;
  /** No credentials are required: every client acts as the administrator. */
  readonly anonymous?: boolean | undefined;
  /**
   * The file to write the kubeconfig to, readable by its owner only. A file that orchplane did not write is never
   * replaced.
   */
  readonly kubeconfig?: string | undefined;
  /**
   * True: sockets, TLS and HTTP are handled by a thread of their own, which also answers `/healthz`, `/livez` and `/readyz`
   * while the cluster processes a long request. It takes about 40 ms to start. A URL: the same, with the file of the thread
   * (`dist/node/http-thread.cjs` of this package), which a program that is bundled has to name. False by default;
   * `orchplane serve` uses it.
   */
  readonly thread?: boolean | URL | undefined;
  /**
   * True: clients may choose HTTP/2 when they connect with TLS. Node drops HTTP/2 headers with invalid values silently, so
   * a request with such an `Impersonate-User` runs as its sender. False by default.
   */
  readonly http2?: boolean | undefined;
}

const OPTIONS = [
  'port',
  'host',
  'tls',
  'clientCa',
  'requestHeader',
  'token',
  'anonymous',
  'kubeconfig',
  'thread',
  'http2',
  ...CLUSTER_LISTENER_OPTIONS,
] as const satisfies readonly (keyof ServeOptions)[];

/** A server certificate and its key in PEM format. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The CA that clients should trust; absent: they already trust it. */
  readonly ca?: string | undefined;
}

/** A running server. */
export interface ServedCluster extends AsyncDisposable {
  /** The URL for clients on this machine: `https://127.0.0.1:41237`. */
  readonly url: string;
  readonly port: number;
  /** The cluster's dialect; kubectl and Kubernetes client libraries understand only `kubernetes`. */
  readonly dialect: DialectName;
  /** The bearer token; absent when none is required. */
  readonly token?: string;
  /** The text of a kubeconfig. kubectl sends its token over HTTPS only. */
  readonly kubeconfig: string;
  /** The CA certificate in PEM format. Absent for plain HTTP and when `tls` has no `ca`. */
  readonly caCertificate?: string;
  /**
   * Issues a client certificate: `createClientCertificate({ user: 'alice', groups: ['dev'] })`. Rejects with TypeError
   * unless `clientCa` is true.
   */
  createClientCertificate(identity: ClientIdentity): Promise<ClientCertificate>;
  /**
   * Ends watches, lets other requests finish and frees the port. The cluster itself stays open. Repeated calls return
   * the same promise.
   */
  close(): Promise<void>;
}

/**
 * Serves a cluster over HTTP or HTTPS. Rejects when it cannot listen, and with TypeError for unknown or contradictory
 * options.
 *
 * @example
 * await using server = await serve(cluster, { tls: true });
 * console.log(server.url, server.kubeconfig);
 */
export async function serve(cluster: FetchTarget, options: ServeOptions = {}): Promise<ServedCluster> {
  refuseUnknownOptions('serve', options, OPTIONS);
  const { thread = false } = options;
  if (thread === false) return serveWith(cluster, options, (await import('./http-server.js')).startClusterServer);
  const loaded = loadHttpThread(thread === true ? undefined : thread);
  return serveWith(cluster, options, loaded.start).catch(async (error: unknown) => {
    await loaded[Symbol.asyncDispose]();
    throw error;
  });
}

/** Serves a cluster with a server that the caller chooses. */
export async function serveWith(
  cluster: FetchTarget,
  options: Omit<ServeOptions, 'thread'>,
  start: StartServer,
): Promise<ServedCluster> {
  const host = options.host ?? '127.0.0.1';
  const { token, tokens } = resolveTokens(options);
  const tls = await certificateFor(options.tls ?? false, host);
  const authority = await clientAuthorityFor(options);
  const { handler, observer } = createClusterHandler(cluster, {
    flowControl: true,
    pacing: true,
    ...options,
    ...(tokens === undefined ? {} : { tokens }),
  });
  const trust = { clientCa: authority?.ca, requestHeader: options.requestHeader };
  const settings: HttpServerSettings = {
    port: options.port ?? 0,
    host,
    tls: tls && { cert: tls.cert, key: tls.key },
    http2: options.http2 === true,
    trust,
    dialect: cluster.dialect.name,
  };
  const server = await start(settings, handler, observer);
  const { port, url } = server;
  const caCertificate = tls?.ca;
  const kubeconfig = kubeconfigText({ url, caCertificate, token });
  const withdraw = cluster.advertise?.(advertisedListener(host, port, trust));
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    if (closed === undefined) withdraw?.();
    closed ??= server.close();
    return closed;
  };
  if (options.kubeconfig !== undefined) {
    await writeKubeconfig(options.kubeconfig, kubeconfig).catch(async (error) => {
      await close();
      throw error;
    });
  }
  return Object.freeze({
    url,
    port,
    dialect: cluster.dialect.name,
    ...(token === undefined ? {} : { token }),
    kubeconfig,
    ...(caCertificate === undefined ? {} : { caCertificate }),
    async createClientCertificate(identity: ClientIdentity) {
      if (typeof identity?.user !== 'string') {
        throw new TypeError('orchplane: createClientCertificate needs a user: createClientCertificate({ user })');
      }
      if (authority?.issue !== undefined) return authority.issue(identity);
      throw new TypeError('orchplane: only serve with clientCa: true has an authority that issues certificates');
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}

/** The CA of client certificates; a generated one can also issue them. */
async function clientAuthorityFor(options: ServeOptions): Promise<ClientCa | undefined> {
  const { clientCa, requestHeader, tls, anonymous } = options;
  const hasTls = tls !== undefined && tls !== false;
  if (anonymous === true && (clientCa ?? requestHeader) !== undefined) {
    throw new TypeError(
      'orchplane: clientCa and requestHeader have no effect with anonymous: every client is the administrator',
    );
  }
  if (requestHeader !== undefined) {
    if (!hasTls) throw new TypeError('orchplane: requestHeader requires tls');
    checkRequestHeaderOptions(requestHeader);
    readCertificates(requestHeader.ca, 'requestHeader.ca');
  }
  if (clientCa === undefined) return undefined;
  if (!hasTls) throw new TypeError('orchplane: clientCa requires tls');
  if (clientCa === true) return createClientAuthority();
  readCertificates(clientCa, 'clientCa');
  return { ca: clientCa };
}

interface ClientCa {
  readonly ca: string;
  readonly issue?: (identity: ClientIdentity) => Promise<ClientCertificate>;
}

function resolveTokens(options: ServeOptions): { readonly token?: string; readonly tokens?: TokenTable } {
  const { token, tokens, anonymous = false } = options;
  if (Number(token !== undefined) + Number(tokens !== undefined) + Number(anonymous) > 1) {
    throw new TypeError('orchplane: serve takes one of token, tokens and anonymous');
  }
  if (anonymous) return {};
  const table = tokens ?? { [token ?? randomBytes(32).toString('base64url')]: TOKEN_USER };
  for (const each of Object.keys(table)) {
    // Other characters cannot be sent in a header, so no client could authenticate.
    if (!/^[\x21-\x7e]+$/.test(each)) throw new TypeError('orchplane: a token is made of printable characters');
  }
  const [first] = Object.keys(table);
  return { tokens: table, ...(first === undefined ? {} : { token: first }) };
}

/** The group grants all permissions. */
const TOKEN_USER = { user: 'admin', groups: ['system:masters'] };

async function certificateFor(tls: boolean | TlsFiles, host: string): Promise<TlsFiles | undefined> {
  if (tls === false) return undefined;
  return tls === true ? certificateForHost(host) : tls;
}

/** Generates a certificate for all names by which local clients may reach the host. */
export function certificateForHost(host: string): Promise<ServerCertificate> {
  const others = isWildcard(host) ? [hostname(), ...localAddresses()] : [host];
  return createServerCertificate(['localhost', '127.0.0.1', '::1', ...others]);
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}

function localAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
