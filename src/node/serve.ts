/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Serves a cluster on a TCP socket, for kubectl and client libraries.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import { type AddressInfo, isIPv6 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { TlsOptions } from 'node:tls';
import type { TokenTable } from '../auth/authentication.js';
import { checkRequestHeaderOptions, type RequestHeaderOptions } from '../auth/request-header.js';
import type { FetchTarget } from '../http/target.js';
import type { DialectName } from '../meta/dialect.js';
import { systemClock } from '../util/clock.js';
import { refuseUnknownOptions } from '../util/options.js';
import { advertisedListener } from './advertised.js';
import {
  type ClientCertificate,
  type ClientIdentity,
  createClientAuthority,
  createServerCertificate,
  type ServerCertificate,
} from './certificates.js';
import { createPeerReader, readCertificates } from './client-peer.js';
import { type Connections, trackConnections } from './connections.js';
import type { Listener } from './http-listener.js';
import { kubeconfigText, writeKubeconfig } from './kubeconfig.js';
import {
  attachCluster,
  CLUSTER_LISTENER_OPTIONS,
  type ClusterListenerOptions,
  MAX_HEADER_BYTES,
  SERVER_OPTIONS,
} from './node-listener.js';

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
  const host = options.host ?? '127.0.0.1';
  const { token, tokens } = resolveTokens(options);
  const tls = await certificateFor(options.tls ?? false, host);
  const authority = await clientAuthorityFor(options);
  let url = '';

  const server =
    tls === undefined
      ? createServer(SERVER_OPTIONS)
      : await createTlsServer({ cert: tls.cert, key: tls.key, ...clientTlsOptions(authority, options) });
  server.maxHeadersCount = 0;
  const connections = trackConnections(server, SERVER_OPTIONS.keepAliveTimeout);
  const tokenOptions = tokens === undefined ? {} : { tokens };
  const { requestHeader } = options;
  const trust = { clientCa: authority?.ca, requestHeader };
  const peers = (authority ?? requestHeader) === undefined ? {} : { peerOf: createPeerReader(cluster.dialect, trust) };
  const listener = attachCluster(server, cluster, {
    flowControl: true,
    pacing: true,
    ...options,
    ...tokenOptions,
    ...peers,
    origin: () => url,
  });
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  url = `${tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${port}`;
  const caCertificate = tls?.ca;
  const kubeconfig = kubeconfigText({ url, caCertificate, token });
  const withdraw = cluster.advertise?.(advertisedListener(host, port, trust));
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    if (closed === undefined) withdraw?.();
    closed ??= shutDown(server, listener, connections);
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

/** The handshake accepts every client; the handler evaluates the certificate with each request. */
function clientTlsOptions(trust: ClientCa | undefined, { requestHeader }: ServeOptions): TlsOptions {
  const ca = [trust?.ca, requestHeader?.ca].filter((each) => each !== undefined);
  return ca.length === 0 ? {} : { ca, requestCert: true, rejectUnauthorized: false };
}

/** How long active requests may take to finish on shutdown. */
const SHUTDOWN_GRACE_MS = 2_000;

/**
 * A server of HTTP/2 and HTTP/1.1; the client chooses during the handshake.
 * upstream: apiserver/pkg/server/secure_serving.go SecureServingInfo.Serve
 */
async function createTlsServer(tls: TlsOptions): Promise<Http2SecureServer & Pick<Server, 'maxHeadersCount'>> {
  const { createSecureServer } = await import('node:http2');
  const server = createSecureServer({
    ...tls,
    noDelay: true,
    allowHTTP1: true,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    settings: {
      maxConcurrentStreams: 100,
      initialWindowSize: STREAM_BUFFER_BYTES,
      maxFrameSize: STREAM_BUFFER_BYTES,
      maxHeaderListSize: MAX_HEADER_BYTES,
    },
  });
  // For HTTP/1.1 it reads these from its properties.
  return Object.assign(server, SERVER_OPTIONS, { maxHeadersCount: 0 });
}

/** What a stream may send before the server has read it. */
const STREAM_BUFFER_BYTES = 256 * 1024;

/** Fields in a header; {@link MAX_HEADER_BYTES} limits them first. */
const MAX_HEADER_PAIRS = 100_000;

async function shutDown(
  server: Server | Http2SecureServer,
  listener: Listener,
  { sockets, sessions }: Connections,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  // Lets streams finish, and tells the client to open no more.
  for (const session of sessions) session.close();
  await new Promise<void>((resolve) => {
    const undo = systemClock.after(SHUTDOWN_GRACE_MS, resolve, { background: true });
    void listener.drain().then(() => {
      undo();
      resolve();
    });
  });
  for (const socket of sockets) socket.destroy();
  await stopped;
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

/** The host in a URL for clients on this machine. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::' || host === '') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}
