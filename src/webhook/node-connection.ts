/**
 * Sends requests over HTTPS with the modules of Node, for what `fetch` cannot do: trust the certificates of a bundle, and
 * connect to another address than that of the URL. The modules are requested at run time, because this file is also part
 * of bundles for browsers. Every request opens a connection of its own.
 */

import type { X509Certificate } from 'node:crypto';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { SecureContext, TLSSocket } from 'node:tls';
import { systemClock } from '../util/clock.js';
import { HeldBody } from '../util/held-body.js';
import { getOrInsertComputed } from '../util/once.js';
import { readBundle, rememberBundles, UnreadableBundle } from './ca-bundle.js';
import { certificateProblem } from './certificate-problem.js';
import type { NetworkAddress } from './service-address.js';

/** The modules of Node that connections need. */
export interface NodeModules {
  readonly crypto: typeof import('node:crypto');
  readonly http: typeof import('node:http');
  readonly net: typeof import('node:net');
  readonly stream: typeof import('node:stream');
  readonly tls: typeof import('node:tls');
  readonly zlib: typeof import('node:zlib');
}

/** Returns undefined on platforms other than Node. */
export function nodeModules(): NodeModules | undefined {
  // Not a static import: browsers have no such modules.
  const load = globalThis.process?.getBuiltinModule;
  if (typeof load !== 'function') return undefined;
  return {
    crypto: load('node:crypto'),
    http: load('node:http'),
    net: load('node:net'),
    stream: load('node:stream'),
    tls: load('node:tls'),
    zlib: load('node:zlib'),
  };
}

/** How to connect to a server. */
export interface TlsTarget extends NetworkAddress {
  /** The certificates to trust, PEM in base64; empty: those of Node. */
  readonly caBundle: string;
  /** Accepts any certificate. */
  readonly isInsecure: boolean;
  /** The certificate must be valid for one of these names or IP addresses. The first one is sent to the server. */
  readonly hosts: readonly string[];
}

/**
 * Sends a request. Rejects with the abort reason, with an error of Node, if the server's certificate is invalid, and with
 * UnreadableBundle.
 */
export async function sendWithNode(
  node: NodeModules,
  url: string,
  init: RequestInit,
  target: TlsTarget,
): Promise<Response> {
  const { method = 'GET', body } = init;
  const signal = init.signal ?? undefined;
  const [, host = '', path = '/'] = /^https:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? [];
  // The body of a client is passed on as it arrives: it has no limit.
  const isStream = body instanceof ReadableStream;
  const bytes = body == null || isStream ? undefined : new Uint8Array(await new Response(body).arrayBuffer());
  const socket = await connect(node, target, signal);
  const options: RequestOptions = {
    method,
    path,
    // Node sends the body of a DELETE without any framing unless it is told to.
    headers: {
      ...headerLines(init.headers),
      host,
      ...(bytes === undefined ? {} : { 'content-length': bytes.length }),
      ...(isStream ? { 'transfer-encoding': 'chunked' } : {}),
    },
    createConnection: () => socket,
    ...(signal === undefined ? {} : { signal }),
  };
  return new Promise((resolve, reject) => {
    const request = requestOver(node, socket, options);
    request.on('error', (error) => reject(signal?.aborted === true ? signal.reason : error));
    responseTo(request).then(resolve, reject);
    if (isStream)
      node.stream.promises
        .pipeline(node.stream.Readable.fromWeb(body as NodeReadableStream, ONE_PART), request)
        .catch(reject);
    else request.end(bytes);
  });
}

/** Throws for a method, a path or a header that cannot be sent; the connection is not used then. */
function requestOver({ http }: NodeModules, socket: TLSSocket, options: RequestOptions): ClientRequest {
  try {
    return http.request(options);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Options of `Readable.fromWeb`: without them, thousands of small parts would be read in advance. */
export const ONE_PART = { highWaterMark: 1 };

/** The values of each header. Those of a list are sent as they are: `Headers` would join them. */
function headerLines(headers: RequestInit['headers']): Record<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const [name, value] of Array.isArray(headers) ? headers : new Headers(headers)) {
    getOrInsertComputed(lines, name.toLowerCase(), () => []).push(value);
  }
  return Object.fromEntries(lines);
}

/** The response to a request of node:http. Rejects if there is none, or if it is not one that a Response can represent. */
export function responseTo(request: ClientRequest): Promise<Response> {
  return new Promise((resolve, reject) => {
    request.once('response', (message) => {
      try {
        resolve(messageToResponse(message));
      } catch (error) {
        // An error of a listener would end the process.
        message.destroy();
        reject(error);
      }
    });
    // Also after a response with the status 101, for which there is no other event.
    request.once('close', () => reject(new Error('socket hang up')));
  });
}

/** What a bundle trusts. */
interface Trust {
  readonly anchors: readonly X509Certificate[];
  readonly secureContext: SecureContext;
}

const trustOf = rememberBundles((caBundle, { crypto, tls }: NodeModules): Trust => {
  const anchors = readBundle(caBundle, (der) => {
    try {
      return new crypto.X509Certificate(der);
    } catch {
      // Not a certificate.
      return undefined;
    }
  });
  if (typeof anchors === 'string') throw new UnreadableBundle(anchors);
  // Any certificate of a bundle is trusted, also one that is not a root.
  const secureContext = tls.createSecureContext({ ca: anchors.map(String), allowPartialTrustChain: true });
  return { anchors, secureContext };
});

/** Connects and verifies the server's certificate. Nothing is sent to a server before that. */
async function connect(node: NodeModules, target: TlsTarget, signal: AbortSignal | undefined): Promise<TLSSocket> {
  const trust = target.caBundle === '' ? undefined : trustOf(target.caBundle, node);
  const [name = ''] = target.hosts;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = node.tls.connect({
      host: target.host,
      port: target.port,
      ALPNProtocols: ['http/1.1'],
      ...(node.net.isIP(name) === 0 ? { servername: name } : {}),
      ...(trust === undefined ? {} : { secureContext: trust.secureContext }),
      // `secureConnect` decides, because Node's errors do not contain the certificate.
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    const abort = (): void => {
      socket.destroy();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('EOF')));
    socket.once('secureConnect', () => {
      signal?.removeEventListener('abort', abort);
      const problem = target.isInsecure ? undefined : problemOf(socket, target, trust?.anchors);
      if (problem === undefined) {
        resolve(socket);
      } else {
        socket.destroy();
        reject(new Error(`tls: failed to verify certificate: ${problem}`));
      }
    });
  });
}

function problemOf(
  socket: TLSSocket,
  { hosts }: TlsTarget,
  anchors: readonly X509Certificate[] | undefined,
): string | undefined {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return 'x509: the server has no certificate';
  const { authorized, authorizationError } = socket;
  // The property holds the code of the error; its declared type is Error.
  const chainError = authorized ? undefined : String(authorizationError);
  return certificateProblem({ leaf, chainError, anchors, hosts, nowMs: systemClock.now() });
}

/** Statuses whose responses have no body. */
const NO_BODY = [204, 205, 304];

/** A response of node:http as Response. Throws RangeError for a status that no Response can have. */
function messageToResponse(message: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  if (!NO_BODY.includes(status)) {
    const held = new HeldBody(message, () => message.errored ?? new Error('aborted'));
    return new Response(held.readable({ onCancel: () => message.destroy() }), { status, headers });
  }
  message.resume();
  return new Response(null, { status, headers });
}
