/**
 * Requests for a version that somebody else answers for: passed on with the name of who asks, once that one may ask at
 * all. What comes back goes to the client as it comes, streams as streams.
 */

import { ADMINISTRATOR } from '../../auth/identity.js';
import {
  type Aggregation,
  checkAggregation,
  messageOfFailure,
  reach,
  tellIdentity,
} from '../../kinds/apiregistration/reach.js';
import type { User } from '../../protocol/request.js';
import type { Answer, HttpRequest } from '../answer.js';
import { type Exchange, envelopeOf } from '../exchange.js';
import type { Route } from '../path.js';
import { respondForeign, respondText } from '../respond.js';
import type { FetchTarget } from '../target.js';
import { Apis, type RemoteApi } from './api-services.js';
import { RemoteDiscovery } from './discovery.js';

/** What a handler knows about those who answer in its place. */
export interface Aggregator {
  readonly apis: Apis;
  /** How they are reached. */
  readonly aggregation: Aggregation | undefined;
  /** What they say about themselves. */
  readonly discovery: RemoteDiscovery;
}

export function createAggregator(
  { inside, clock, dialect }: FetchTarget,
  aggregation: Aggregation | undefined,
): Aggregator {
  checkAggregation(aggregation);
  const apis = new Apis(inside);
  return { apis, aggregation, discovery: new RemoteDiscovery({ apis, aggregation, clock, dialect }) };
}

/** Between two ends of one connection, and nobody else's business. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Those are for the other connection to say anew; who asks has been found out. */
const NOT_PASSED_ON = new Set(['host', 'content-length', 'authorization']);
/** Whatever came over a network has been unpacked on the way. */
const NOT_PASSED_BACK = new Set(['content-encoding', 'content-length']);

/** Who answers for what a path is about; undefined: this server does. */
export function remoteOf({ setting }: Exchange, route: Route): RemoteApi | undefined {
  if (route.type !== 'resource' && route.type !== 'discovery') return undefined;
  const { group, version } = route;
  return group === undefined || version === undefined ? undefined : setting.aggregator.apis.remote({ group, version });
}

export async function passOn(exchange: Exchange, remote: RemoteApi, user: User | undefined): Promise<Answer> {
  const { aggregator } = exchange.setting;
  if (!aggregator.apis.isAvailable(remote)) return respondText(envelopeOf(exchange), 503, 'service unavailable\n');
  const { request } = exchange;
  let response: Response;
  let isFar: boolean;
  try {
    const reached = reach(aggregator.aggregation, remote.api);
    isFar = reached.isFar;
    const headers = headersFor(exchange, user ?? ADMINISTRATOR);
    const body = await bodyOf(request);
    const init: RequestInit & { duplex?: 'half' } = {
      method: request.method,
      headers,
      signal: request.signal,
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    };
    response = await reached.send(`${reached.address}${pathAndQuery(request.url)}`, init);
  } catch (error) {
    // It is the client who is told; to the server nothing has happened.
    const text = `error trying to reach service: ${messageOfFailure(error)}\n`;
    return respondText(envelopeOf(exchange), 503, text);
  }
  const headers = [...response.headers].filter(
    ([name]) => !HOP_BY_HOP.has(name) && !(isFar && NOT_PASSED_BACK.has(name)),
  );
  return respondForeign(envelopeOf(exchange), { code: response.status, headers, body: response.body });
}

function headersFor({ request, auditId }: Exchange, user: User): Headers {
  const headers = new Headers();
  const named = new Set((request.headers.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const [name, value] of request.headers) {
    const isPassed = !HOP_BY_HOP.has(name) && !NOT_PASSED_ON.has(name) && !named.has(name);
    if (isPassed && !name.startsWith('impersonate-')) headers.append(name, value);
  }
  tellIdentity(headers, user);
  const { origin, path } = partsOf(request.url);
  const [scheme = '', host = ''] = origin.split('://');
  headers.set('Audit-Id', auditId);
  headers.set('X-Forwarded-Uri', path);
  headers.set('X-Forwarded-Host', host);
  headers.set('X-Forwarded-Proto', scheme);
  if (request.remote !== undefined) headers.append('X-Forwarded-For', request.remote);
  return headers;
}

async function bodyOf(request: HttpRequest): Promise<BodyInit | undefined> {
  const { method, body } = request;
  if (method === 'GET' || method === 'HEAD' || !(request.hasBody ?? body !== null)) return undefined;
  // The types of platforms differ in what bytes may lie in; each takes its own.
  return (body ?? (await request.arrayBuffer())) as BodyInit;
}

function partsOf(url: string): { readonly origin: string; readonly path: string } {
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
