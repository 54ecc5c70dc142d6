/**
 * Sends requests to the server that a client configuration describes: an admission or conversion webhook, or an aggregated
 * API server. Failures are described with the messages of Go's HTTP client.
 */

import { joinHostPort } from '../meta/ip.js';
import { isRecord } from '../util/json.js';
import { messageOf } from '../util/message-of.js';
import { nodeModules, sendWithNode } from './node-connection.js';
import type { NetworkAddress, ServiceView } from './service-address.js';

/** The server's part of a client configuration. */
export interface Backend {
  /** The certificates to trust, PEM in base64; empty or absent: those of the platform. */
  readonly caBundle?: string | undefined;
  readonly insecureSkipTLSVerify?: boolean | undefined;
  /** Where to connect; absent: the host of the URL. Without effect if `canConnectToAddresses()` is false. */
  readonly address?: NetworkAddress | undefined;
  /** The name for which the certificate must be valid. Without an address it may also be valid for the host of the URL. */
  readonly serverName?: string | undefined;
}

/** True if the platform can connect to any address and trust any certificate, or the cluster has a runtime with servers. */
export function canConnectToAddresses({ runtimeSlot }: Pick<ServiceView, 'runtimeSlot'> = {}): boolean {
  return nodeModules() !== undefined || runtimeSlot?.runtime?.serverAt !== undefined;
}

/**
 * Sends a request. Rejects if there is no response, see {@link networkProblem}, and with UnreadableBundle. Redirects of
 * servers with a caBundle or an address are not followed.
 */
export async function sendToBackend(url: string, init: RequestInit, backend: Backend): Promise<Response> {
  const { address, serverName, caBundle = '', insecureSkipTLSVerify: isInsecure = false } = backend;
  const via = address?.via;
  // Functions have no certificate. Their redirects are not followed either.
  if (typeof via === 'function') return via(new Request(url, { ...init, redirect: 'manual' }));
  if (isPlain(url, backend)) return fetchDecoded(url, init);
  const node = nodeModules();
  if (node === undefined) {
    if (caBundle === '') return fetchDecoded(url, init);
    throw new Error(BUNDLE_NEEDS_NODE);
  }
  const target = targetOf(url);
  const hosts =
    serverName === undefined ? [target.host] : address === undefined ? [serverName, target.host] : [serverName];
  return sendWithNode(node, url, init, { ...(via ?? address ?? target), caBundle, isInsecure, hosts });
}

/** Whether `fetch` can reach the server everywhere. */
function isPlain(url: string, { address, caBundle = '', insecureSkipTLSVerify = false }: Backend): boolean {
  return (caBundle === '' && address === undefined && !insecureSkipTLSVerify) || !/^https:/i.test(url);
}

/** Whether {@link sendToBackend} joins headers of one name by a comma and a space: `Request` and `fetch` do so. */
export function joinsHeaders(url: string, backend: Backend): boolean {
  return typeof backend.address?.via === 'function' || isPlain(url, backend) || nodeModules() === undefined;
}

const BUNDLE_NEEDS_NODE =
  'a caBundle can be used in Node only, this platform trusts its own certificate authorities: call the server with the `webhooks` option of createCluster, or with `aggregate`';

/** `fetch` decodes bodies and keeps the headers of the encoded ones. */
async function fetchDecoded(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.headers.has('content-encoding')) return response;
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  headers.delete('content-length');
  return new Response(response.body, { status: response.status, headers });
}

function targetOf(url: string): NetworkAddress {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 443 : Number(port) };
}

/** Error codes of connection attempts. */
const DIAL_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};

/** Codes of a certificate whose issuer is not trusted. */
const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The message of Go's network library where it is known, else the platform's. */
export function networkProblem(error: unknown, url: string): string {
  const cause = causeOf(error);
  if (!(cause instanceof Error)) return messageOf(cause);
  // `fetch` blocks some ports; report them as closed.
  if (cause.message === 'bad port') {
    return `dial tcp ${joinHostPort(targetOf(url))}: connect: connection refused`;
  }
  const { code, address, port, hostname } = cause as Error & Readonly<Record<string, unknown>>;
  if (typeof code !== 'string') return cause.message;
  const dialProblem = DIAL_PROBLEMS[code];
  if (dialProblem !== undefined && typeof address === 'string')
    return `dial tcp ${joinHostPort({ host: address, port: Number(port) })}: connect: ${dialProblem}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  if (UNKNOWN_AUTHORITY.has(code))
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  if (CLOSED.test(cause.message)) return 'EOF';
  if (NO_TLS.test(`${code} ${cause.message}`)) return 'http: server gave HTTP response to HTTPS client';
  const alert = ALERT.exec(cause.message)?.[1];
  return alert === undefined ? cause.message : `remote error: tls: ${alert}`;
}

/** The server has closed the connection without a response. */
const CLOSED = /^(socket hang up|Client network socket disconnected|other side closed)/;

/** What OpenSSL reports about a handshake that the server has rejected. */
const ALERT = /\balert ([a-z ]+):/;

/** What OpenSSL reports about a server that responds in plain text. */
const NO_TLS = /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long/i;

/** `fetch` puts the reason in `cause`. A name with several addresses fails with all their errors; the first one counts. */
function causeOf(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const [first]: readonly unknown[] = isRecord(cause) && Array.isArray(cause['errors']) ? cause['errors'] : [];
  return first ?? cause;
}
