/**
 * Proxies requests for aggregated API versions to their backends with the user's identity, after authorization.
 * Response streams are passed through.
 */

import { ADMINISTRATOR } from '../../auth/identity.js';
import { type Aggregation, checkAggregation, remoteUserHeaders } from '../../kinds/apiregistration/reach.js';
import { StatusError } from '../../meta/errors.js';
import type { Answer, HttpRequest } from '../../protocol/http.js';
import { timedOut, timeLimitOf } from '../../protocol/time-limit.js';
import { resolveAggregation } from '../../webhook/aggregation.js';
import { UnreadableBundle } from '../../webhook/ca-bundle.js';
import { networkProblem } from '../../webhook/connection.js';
import { type ServiceView, UnresolvedService } from '../../webhook/service-address.js';
import { endToEndHeaders } from '../answer.js';
import { type Exchange, envelopeOf } from '../exchange.js';
import { percentDecode, type Route } from '../path.js';
import { respondProxied, respondText } from '../respond.js';
import { type RequestContext, withDeadline } from '../serve-resource.js';
import type { FetchTarget } from '../target.js';
import { ApiServiceIndex, type RemoteApi } from './api-services.js';
import { RemoteDiscovery } from './discovery.js';

/** The aggregated APIs of a handler. */
export interface Aggregator {
  readonly apis: ApiServiceIndex;
  /** The configured backends. */
  readonly aggregation: Aggregation | undefined;
  /** The Services of the backends. */
  readonly view: ServiceView;
  /** The backends' discovery documents. */
  readonly discovery: RemoteDiscovery;
}

/** Creates the aggregator of a handler. Throws TypeError for an invalid `aggregation`. */
export function createAggregator(
  { storageReader, clock, dialect, runtimeSlot }: FetchTarget,
  aggregation: Aggregation | undefined,
): Aggregator {
  checkAggregation(aggregation);
  const apis = new ApiServiceIndex(storageReader);
  const view: ServiceView = { objects: storageReader.objects, dialect, runtimeSlot };
  return { apis, aggregation, view, discovery: new RemoteDiscovery({ apis, aggregation, clock, view }) };
}

/**
 * Set anew for the backend's connection (`fetch` refuses `Expect`); the client's credentials are replaced by identity headers.
 * A subprotocol may contain a token.
 */
const NOT_FORWARDED = /^(host|content-length|expect|authorization|sec-websocket-protocol|impersonate-.*|x-remote-.*)$/;

/** The aggregated API that serves a path; undefined: this server does. */
export function remoteApiOf({ settings }: Exchange, route: Route): RemoteApi | undefined {
  if (route.type !== 'resource' && route.type !== 'discovery') return undefined;
  const { group, version } = route;
  return group === undefined || version === undefined ? undefined : settings.aggregator.apis.remote({ group, version });
}

/** Forwards a request to the backend of an aggregated API. */
export async function proxyRequest(
  exchange: Exchange,
  remote: RemoteApi,
  { user, watch, timeout }: RequestContext,
): Promise<Answer> {
  const { aggregator, target } = exchange.settings;
  if (!aggregator.apis.isAvailable(remote)) return respondText(envelopeOf(exchange), 503, 'service unavailable\n');
  const { request } = exchange;
  if (!isUnchanged(urlParts(request.url).path)) return respondText(envelopeOf(exchange), 400, '400 Bad Request');
  let response: Response;
  let url = '';
  const stop = new AbortController();
  const cancel = () => stop.abort(request.signal.reason);
  if (request.signal.aborted) cancel();
  else request.signal.addEventListener('abort', cancel, { once: true });
  try {
    const reached = resolveAggregation(aggregator.aggregation, remote.api, aggregator.view);
    url = `${reached.address}${pathAndQuery(request.url)}`;
    const headers = forwardedHeaders(exchange, remoteUserHeaders(user ?? ADMINISTRATOR, reached));
    const body = await bodyOf(request);
    const init: RequestInit & { duplex?: 'half' } = {
      method: request.method,
      headers,
      signal: stop.signal,
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    };
    // A watch has no time limit. The backend has flow control of its own.
    // upstream: kube-aggregator/pkg/apiserver/handler_proxy.go proxyHandler.ServeHTTP
    if (watch) exchange.ticket?.done();
    const sent = reached.send(url, init);
    const tooLate = () => {
      stop.abort();
      return timedOut('get');
    };
    const limit = { clock: target.clock, timeLimitMs: timeLimitOf({ verb: 'get', timeoutMs: timeout }), tooLate };
    response = await (watch ? sent : withDeadline(sent, limit));
  } catch (error) {
    if (StatusError.is(error)) throw error;
    // The client is informed; this is no fault of this server.
    if (error instanceof UnresolvedService) return respondText(envelopeOf(exchange), 503, 'service unavailable\n');
    if (error instanceof UnreadableBundle) return respondText(envelopeOf(exchange), 500, `${error.message}\n`);
    const text = `error trying to reach service: ${networkProblem(error, url)}\n`;
    return respondText(envelopeOf(exchange), 503, text);
  }
  if (isRedirect(response)) {
    // How the connection to the backend ends makes no difference to the client.
    response.body?.cancel().catch(() => undefined);
    return respondText(envelopeOf(exchange), 502, REDIRECTED);
  }
  const headers = endToEndHeaders(response.headers);
  return respondProxied(envelopeOf(exchange), { code: response.status, headers, body: response.body });
}

const REDIRECTED = 'the backend attempted to redirect this request, which is not permitted';

/** A client that follows a redirect may send its credentials with it. */
function isRedirect({ status, headers }: Response): boolean {
  return status >= 300 && status <= 399 && Boolean(headers.get('location'));
}

/**
 * `fetch` resolves `..` and backslashes, and many backends do after they have decoded the path: it would not be the one that
 * was authorized.
 */
function isUnchanged(path: string): boolean {
  const decoded = percentDecode(path) ?? '';
  return percentDecode(new URL(`http://backend${path}`).pathname) === decoded && !DOT_SEGMENT.test(decoded);
}

const DOT_SEGMENT = /\\|(?:^|\/)\.\.?(?:\/|$)/;

/** A list, because `Headers` would join the groups of the user. */
function forwardedHeaders({ request, auditId }: Exchange, identity: readonly [string, string][]): [string, string][] {
  const passed = endToEndHeaders(request.headers).filter(([name]) => !NOT_FORWARDED.test(name));
  const headers = new Headers(passed);
  const { origin, path } = urlParts(request.url);
  const [scheme = '', host = ''] = origin.split('://');
  headers.set('Audit-Id', auditId);
  headers.set('X-Forwarded-Uri', path);
  headers.set('X-Forwarded-Host', host);
  headers.set('X-Forwarded-Proto', scheme);
  if (request.remote !== undefined) headers.append('X-Forwarded-For', request.remote);
  return [...headers, ...identity];
}

async function bodyOf(request: HttpRequest): Promise<BodyInit | undefined> {
  const { method, body } = request;
  if (method === 'GET' || method === 'HEAD' || !(request.hasBody ?? body !== null)) return undefined;
  // The BodyInit types of the platforms differ; both accept these bytes.
  return (body ?? (await request.arrayBuffer())) as BodyInit;
}

function urlParts(url: string): { readonly origin: string; readonly path: string } {
  const rest = pathAndQuery(url);
  const question = rest.indexOf('?');
  return {
    origin: url.slice(0, url.indexOf('/', url.indexOf('://') + 3)),
    path: question < 0 ? rest : rest.slice(0, question),
  };
}

function pathAndQuery(url: string): string {
  const fragment = url.indexOf('#');
  const whole = fragment === -1 ? url : url.slice(0, fragment);
  return whole.slice(whole.indexOf('/', whole.indexOf('://') + 3));
}
