/**
 * Forwards HTTP requests to the servers of pods, services and nodes.
 * upstream: apimachinery/pkg/util/proxy/upgradeaware.go, apimachinery/pkg/util/proxy/transport.go
 */

import { endToEndHeaders, readableOf } from '../../http/answer.js';
import { percentDecode, withoutLastSlashes } from '../../http/path.js';
import { errors, failure, StatusError } from '../../meta/errors.js';
import type { ProxyConnection } from '../../protocol/connection.js';
import type { Answer, HttpRequest } from '../../protocol/http.js';
import { messageOf } from '../../util/message-of.js';
import { bodyOf } from './body.js';

/** Credentials for this server (a subprotocol may contain a token), names of users that it has not written, and what the platform sets. */
const NOT_FORWARDED =
  /^(authorization|host|content-length|expect|sec-websocket-protocol|impersonate-.*|x-remote-(user|uid|group|extra-.*))$/;

/** A page must not read the answers of another origin because of what a pod says. */
const CORS = /^access-control-allow-(credentials|headers|methods|origin)$/;

/** The address of a proxied request. */
interface ProxyAddress {
  /** The path up to and including `/proxy`. */
  readonly prefix: string;
  /** The path behind it. */
  readonly path: string;
  readonly origin: string;
  /** With its question mark, if it is not empty. */
  readonly query: string;
}

export async function answerThroughProxy(
  connection: ProxyConnection,
  request: HttpRequest,
  onEnd: () => void,
): Promise<Answer> {
  if (request.isWebSocket === true) {
    throw failure({ code: 501, message: 'orchplane does not forward WebSockets to pods (see docs/fidelity.md)' });
  }
  const address = addressOf(request.url, connection.path);
  const { prefix, path, query } = address;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path === '' && isRead) {
    // So that relative links of the page work.
    return { code: 301, headers: [['Location', `${prefix}/${query}`]], body: null };
  }
  const response = await send(connection, request, address);
  const headers = endToEndHeaders(response.headers)
    .filter(([name]) => !CORS.test(name))
    .map(([name, value]): [string, string] => [name, name === 'location' ? proxiedLocation(value, address) : value]);
  const { status: code, body } = response;
  // Not a byte source, which a server would send with the pace of a watch.
  if (body !== null && request.method !== 'HEAD')
    return { code, headers, body: readableOf(bodyOf(body, request, onEnd)) };
  await body?.cancel();
  return { code, headers, body: null };
}

async function send(connection: ProxyConnection, request: HttpRequest, address: ProxyAddress): Promise<Response> {
  const { method, signal } = request;
  try {
    const body = await bodyToSend(request);
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers: forwardedHeaders(request, address),
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    };
    const { origin, path, query } = address;
    return await connection.fetch(new Request(`${origin}${path || '/'}${query}`, init));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (StatusError.is(error)) throw error;
    throw errors.serviceUnavailable(`error trying to reach service: ${messageOf(error)}`);
  }
}

async function bodyToSend(request: HttpRequest): Promise<BodyInit | undefined> {
  const { method, body } = request;
  if (method === 'GET' || method === 'HEAD' || !(request.hasBody ?? body !== null)) return undefined;
  // The BodyInit types of the platforms differ; both accept these bytes.
  return (body ?? (await request.arrayBuffer())) as BodyInit;
}

function forwardedHeaders(request: HttpRequest, { prefix, path }: ProxyAddress): Headers {
  const headers = new Headers(endToEndHeaders(request.headers).filter(([name]) => !NOT_FORWARDED.test(name)));
  headers.set('X-Forwarded-Uri', prefix + (path || '/'));
  if (request.remote !== undefined) headers.append('X-Forwarded-For', request.remote);
  return headers;
}

/**
 * The server in the pod gets the path that was admitted: decoded once, with each character encoded that has a meaning in a URL.
 * `Request` would resolve dot segments after that.
 */
function addressOf(url: string, path: string): ProxyAddress {
  if (DOT_SEGMENT.test(path)) throw errors.badRequest('a path behind a proxy must not have the segments . and ..');
  const { origin, pathname, search } = new URL(url);
  // What follows is as long in the URL, up to the slashes at the end.
  const whole = withoutLastSlashes(percentDecode(pathname) ?? pathname);
  const prefix = encodePath(withoutLastSlashes(whole.slice(0, whole.length - withoutLastSlashes(path).length)));
  return { origin, prefix, path: encodeBytes(pathname.slice(prefix.length), path) ?? encodePath(path), query: search };
}

/** A path whose bytes are no UTF-8; undefined if it is another one, or has only characters. */
function encodeBytes(encoded: string, path: string): string | undefined {
  if (!path.includes('\ufffd')) return undefined;
  const bytes = encoded.replace(/%[0-9a-f]{2}|./gis, (found) => {
    const isByte = /^%[89a-f]/i.test(found);
    return isByte ? found.toUpperCase() : encodePath(percentDecode(found) ?? found);
  });
  return percentDecode(bytes) === path ? bytes : undefined;
}

const DOT_SEGMENT = /(?:^|\/)\.\.?(?:\/|$)/;

/** As the reference server encodes paths. */
function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The address of a redirect for the client. One that leads to another server or to a relative path is not changed. */
function proxiedLocation(location: string, { origin, prefix }: ProxyAddress): string {
  const isAbsolute = /^([a-z][a-z0-9+.-]*:)?\/\//i.test(location);
  if (!(isAbsolute ? URL.canParse(location, origin) : location.startsWith('/'))) return location;
  const target = new URL(location, origin);
  if (target.host !== new URL(origin).host) return location;
  const path = target.pathname.startsWith(prefix) ? target.pathname : prefix + target.pathname;
  return (isAbsolute ? target.origin : '') + path + target.search + target.hash;
}
