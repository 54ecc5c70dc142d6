/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A cluster behind a socket of this machine: what kubectl and client libraries connect to.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, isIPv6 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { TlsOptions } from 'node:tls';
import type { TokenTable } from '../auth/authentication.js';
import type { FetchTarget } from '../http/target.js';
import type { DialectName } from '../meta/dialect.js';
import { systemClock } from '../util/clock.js';
import { refuseUnknownOptions } from '../util/options.js';
import {
  type ClientCertificate,
  type ClientIdentity,
  certifiedPeers,
  checkClientCa,
  createClientAuthority,
  createServerCertificate,
  type ServerCertificate,
} from './certificates.js';
import type { Listener } from './http-listener.js';
import { kubeconfigText, writeKubeconfig } from './kubeconfig.js';
import { ATTACH_OPTIONS, type AttachOptions, attachCluster, SERVER_OPTIONS } from './node-listener.js';

export interface ServeOptions extends AttachOptions {
  /** 0, or none: any that is free. */
  readonly port?: number | undefined;
  /** The address or name to listen at; 127.0.0.1 unless said otherwise, which only this machine can reach. */
  readonly host?: string | undefined;
  /** True: HTTPS with a certificate made up for the occasion. Texts are in PEM. Absent: plain HTTP. */
  readonly tls?: boolean | TlsFiles | undefined;
  /**
   * Clients may show certificates of these authorities, in PEM; true: of one that is made up for the occasion, see
   * {@link ServedCluster.createClientCertificate}. The common name is the user, organizations are groups. Needs `tls`.
   */
  readonly clientCa?: string | true | undefined;
  /** The one bearer token that opens the cluster, for its administrator. Unless said otherwise: a random one. */
  readonly token?: string | undefined;
  /** Instead of `token`: several, and whom they stand for. The kubeconfig gets the first. */
  readonly tokens?: TokenTable | undefined;
  /** No token is asked for: whoever reaches the port is the administrator. */
  readonly anonymous?: boolean | undefined;
  /** A file to write the kubeconfig to, readable by its owner alone. A file that is not ours is never replaced. */
  readonly kubeconfig?: string | undefined;
}

const OPTIONS = [
  'port',
  'host',
  'tls',
  'clientCa',
  'token',
  'anonymous',
  'kubeconfig',
  ...ATTACH_OPTIONS,
] as const satisfies readonly (keyof ServeOptions)[];

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The authority that clients should trust; absent: they know it anyway. */
  readonly ca?: string | undefined;
}

/** A cluster that is being served. */
export interface ServedCluster extends AsyncDisposable {
  /** `https://127.0.0.1:41237`: where clients on this machine find it. */
  readonly url: string;
  readonly port: number;
  /** The spelling of names that clients need to know: kubectl and its like know `kubernetes` only. */
  readonly dialect: DialectName;
  /** What to show as a bearer token; absent when none is asked for. */
  readonly token?: string;
  /** The text of a kubeconfig. Mind that kubectl shows its token over HTTPS only. */
  readonly kubeconfig: string;
  /** In PEM: what clients have to trust. Absent for plain HTTP, and where the caller's own certificate came without. */
  readonly caCertificate?: string;
  /**
   * A certificate by which a client is somebody: `createClientCertificate({ user: 'alice', groups: ['dev'] })`. Rejects
   * with TypeError unless the server was given `clientCa: true`.
   */
  createClientCertificate(identity: ClientIdentity): Promise<ClientCertificate>;
  /** Ends watches, lets other requests finish, frees the port. The cluster itself stays open. Again: the same promise. */
  close(): Promise<void>;
}

/**
 * Serves a cluster over HTTP or HTTPS. Rejects when it cannot listen, and with TypeError for options that it does not
 * know or that contradict each other.
 *
 * @example
 * await using server = await serve(cluster, { tls: true });
 * console.log(server.url, server.kubeconfig);
 */
export async function serve(cluster: FetchTarget, options: ServeOptions = {}): Promise<ServedCluster> {
  refuseUnknownOptions('serve', options, OPTIONS);
  const host = options.host ?? '127.0.0.1';
  const { token, tokens } = credentials(options);
  const tls = await certificateFor(options.tls ?? false, host);
  const authority = await clientAuthorityFor(options);
  let url = '';

  const server =
    tls === undefined
      ? createServer(SERVER_OPTIONS)
      : createSecureServer({ ...SERVER_OPTIONS, cert: tls.cert, key: tls.key, ...handshakeFor(authority) });
  const asked = tokens === undefined ? {} : { tokens };
  const peers = authority === undefined ? {} : { peerOf: certifiedPeers(cluster.dialect) };
  const listener = attachCluster(server, cluster, {
    flowControl: true,
    ...options,
    ...asked,
    ...peers,
    origin: () => url,
  });
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  url = `${tls === undefined ? 'http' : 'https'}://${reachable(host)}:${port}`;
  const caCertificate = tls?.ca;
  const kubeconfig = kubeconfigText({ url, caCertificate, token });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= shutDown(server, listener);
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
        throw new TypeError('orchplane: a certificate is for somebody: createClientCertificate({ user })');
      }
      if (authority?.issue !== undefined) return authority.issue(identity);
      throw new TypeError('orchplane: only serve with clientCa: true has an authority that issues certificates');
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}

/** Those whom clients may have their certificates from; one of our own issues them too. */
async function clientAuthorityFor({ clientCa, tls }: ServeOptions): Promise<ClientTrust | undefined> {
  if (clientCa === undefined) return undefined;
  if (tls === undefined || tls === false) throw new TypeError('orchplane: clientCa needs tls: no other line shows one');
  if (clientCa === true) return createClientAuthority();
  checkClientCa(clientCa);
  return { ca: clientCa };
}

interface ClientTrust {
  readonly ca: string;
  readonly issue?: (identity: ClientIdentity) => Promise<ClientCertificate>;
}

/** Everybody gets through, and what they showed is judged with their requests. */
function handshakeFor(trust: ClientTrust | undefined): TlsOptions {
  return trust === undefined ? {} : { ca: trust.ca, requestCert: true, rejectUnauthorized: false };
}

/** How long requests have to finish once the server is to close. */
const GRACE_MS = 2_000;

async function shutDown(server: Server, listener: Listener): Promise<void> {
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  await new Promise<void>((resolve) => {
    const undo = systemClock.after(GRACE_MS, resolve, { background: true });
    void listener.drain().then(() => {
      undo();
      resolve();
    });
  });
  server.closeAllConnections();
  await stopped;
}

function credentials(options: ServeOptions): { readonly token?: string; readonly tokens?: TokenTable } {
  const { token, tokens, anonymous = false } = options;
  if (Number(token !== undefined) + Number(tokens !== undefined) + Number(anonymous) > 1) {
    throw new TypeError('orchplane: serve takes one of token, tokens and anonymous');
  }
  if (anonymous) return {};
  const table = tokens ?? { [token ?? randomBytes(32).toString('base64url')]: TOKEN_HOLDER };
  for (const each of Object.keys(table)) {
    // Anything else could not be shown in a header, so the cluster would be closed to everybody.
    if (!/^[\x21-\x7e]+$/.test(each)) throw new TypeError('orchplane: a token is made of printable characters');
  }
  const [first] = Object.keys(table);
  return { tokens: table, ...(first === undefined ? {} : { token: first }) };
}

/** May do everything, by the group. */
const TOKEN_HOLDER = { user: 'admin', groups: ['system:masters'] };

async function certificateFor(tls: boolean | TlsFiles, host: string): Promise<TlsFiles | undefined> {
  if (tls === false) return undefined;
  return tls === true ? certificateForHost(host) : tls;
}

/** Made up: for all names under which this machine's clients may know a server that listens there. */
export function certificateForHost(host: string): Promise<ServerCertificate> {
  const others = isWildcard(host) ? [hostname(), ...ownAddresses()] : [host];
  return createServerCertificate(['localhost', '127.0.0.1', '::1', ...others]);
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

/** The host in a URL that works on this machine. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::' || host === '') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}
