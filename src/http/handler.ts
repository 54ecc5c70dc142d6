/**
 * HTTP in front of a cluster: a fetch-shaped handler, so that it runs behind any server and in a browser's service
 * worker, and a test can call it without a socket. It reads requests, calls `send` and writes answers; what a request
 * means is decided behind it.
 */
import { codecs } from '../codec/index.js';
import type { Dialect } from '../meta/dialect.js';
import type { StatusError } from '../meta/errors.js';
import { errors } from '../meta/errors.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { append } from '../util/append.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import { checkAccess, refuseImpersonation } from './access.js';
import type { Tokens } from './bearer.js';
import { bearerIdentities } from './bearer.js';
import { withDeadline } from './deadline.js';
import { encodeAnswer } from './encode.js';
import type { ErrorListener } from './failure.js';
import { toStatusError } from './failure.js';
import type { Representation } from './negotiate.js';
import { offerOf, readPatchType, represent, representError, routerRefusal } from './negotiate.js';
import type { ResourceRoute } from './path.js';
import { parsePath } from './path.js';
import { asksForPretty, asksToWatch, parseQuery, readTimeout } from './query.js';
import { readRequest } from './read-request.js';
import type { Envelope } from './respond.js';
import { respondError, respondJson, respondStream, respondText } from './respond.js';
import type { Action, ServedResource } from './routes.js';
import { routeResource } from './routes.js';
import { eventStream } from './stream.js';

/** What a handler needs of the cluster behind it. */
export interface FetchTarget {
  readonly dialect: Dialect;
  /** By which requests run out of time. */
  readonly clock: Clock;
  /** For audit ids. */
  readonly ids: Ids;
  /** The resource at a path; names are in the cluster's dialect. */
  resolve(gvr: GroupVersionResource): ServedResource | undefined;
  /** What such a group does not serve is answered with a Status; anything else that is unknown, in plain text. */
  hasBuiltIns(group: string): boolean;
  /** Answers at once or later. Throws, or rejects with, StatusError. */
  send(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}

export interface FetchHandlerOptions {
  /** Bearer tokens and whom they stand for. Absent: every request comes from the administrator. */
  readonly tokens?: Tokens;
  /**
   * Told about errors that no client should see in full: faults of the library, of plugins, of the connection.
   * Absent: they are written to the console.
   */
  readonly onError?: ErrorListener;
}

export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Serves a cluster over HTTP.
 *
 * @example
 * const handler = createFetchHandler(createCluster())
 * const response = await handler(new Request('http://cluster.local/api/v1/namespaces'))
 */
export function createFetchHandler(target: FetchTarget, options: FetchHandlerOptions = {}): FetchHandler {
  const setting: Setting = {
    target,
    offer: offerOf(codecs, target.dialect),
    identify: bearerIdentities(options.tokens),
    onError: options.onError ?? ((error) => console.error(error)),
  };
  return (request) => handle(setting, request);
}

/** What all requests to one handler share. */
interface Setting {
  readonly target: FetchTarget;
  readonly offer: ReturnType<typeof offerOf>;
  readonly identify: ReturnType<typeof bearerIdentities>;
  readonly onError: ErrorListener;
}

/** One request, as far as its line and headers tell. */
interface Exchange {
  readonly setting: Setting;
  readonly request: Request;
  readonly path: string;
  readonly query: ReturnType<typeof parseQuery>;
  readonly accept: string;
  readonly userAgent: string;
  readonly auditId: string;
  /** Grows while the request is worked on. */
  readonly warnings: string[];
}

async function handle(setting: Setting, request: Request): Promise<Response> {
  const exchange = openExchange(setting, request);
  try {
    return await answer(exchange);
  } catch (error) {
    const failure = toStatusError(error, setting.onError);
    append(exchange.warnings, failure.warnings);
    return refuse(exchange, failure);
  }
}

function openExchange(setting: Setting, request: Request): Exchange {
  const { headers, url } = request;
  const fragment = url.indexOf('#');
  const address = fragment === -1 ? url : url.slice(0, fragment);
  const question = address.indexOf('?');
  const end = question === -1 ? address.length : question;
  return {
    setting,
    request,
    path: address.slice(address.indexOf('/', address.indexOf('://') + 3), end),
    query: parseQuery(address.slice(end + 1)),
    accept: headers.get('accept') ?? '',
    userAgent: headers.get('user-agent') ?? '',
    auditId: headers.get('audit-id') ?? setting.target.ids.uid(),
    warnings: [],
  };
}

function answer(exchange: Exchange): Response | Promise<Response> {
  const { query, request } = exchange;
  const route = parsePath(exchange.path);
  const watch = route.type === 'resource' && (route.watch || (route.name === undefined && asksToWatch(query)));
  // A watch says how long it lasts in another way, and is never cut short.
  const timeout = watch ? undefined : readTimeout(query);
  const { user, warnings } = exchange.setting.identify(request.headers.get('authorization') ?? '');
  append(exchange.warnings, warnings);
  refuseImpersonation(request.headers);
  switch (route.type) {
    case 'malformed':
      return respondText(envelopeOf(exchange), 400, '400 Bad Request');
    case 'other':
      return HEALTH_PATHS.has(route.path) ? respondText(envelopeOf(exchange), 200, 'ok') : nothingThere(exchange);
    case 'discovery':
      return nothingThere(exchange);
    case 'resource':
      return serveResource(exchange, route, { watch, timeout, user });
  }
}

const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

interface Circumstances {
  readonly watch: boolean;
  readonly timeout: number | undefined;
  readonly user: ApiRequest['user'];
}

function serveResource(
  exchange: Exchange,
  route: ResourceRoute,
  circumstances: Circumstances,
): Response | Promise<Response> {
  const { request } = exchange;
  const { target } = exchange.setting;
  const served = target.resolve(route);
  if (served === undefined) {
    // Everything under /api belongs to the core group, whatever version it names.
    const known = target.hasBuiltIns(route.group);
    return known ? refuse(exchange, errors.router('NotFound')) : nothingThere(exchange);
  }
  const routed = routeResource(served, route, { method: request.method, watch: circumstances.watch });
  switch (routed.type) {
    case 'nothing':
      return nothingThere(exchange);
    case 'refused':
      return refuse(exchange, routed.error, routed.allow);
    case 'action':
      checkAccess(circumstances.user, served, routed);
      return act(exchange, { served, action: routed, ...circumstances });
  }
}

interface Task extends Circumstances {
  readonly served: ServedResource;
  readonly action: Action;
}

async function act(exchange: Exchange, task: Task): Promise<Response> {
  const { request, query, accept, userAgent } = exchange;
  const { target, offer } = exchange.setting;
  const { served, action, user, timeout } = task;
  const { verb } = action;
  const { manner } = served.kind;

  // 1. The encodings: of a patch, then of the answer.
  const contentType = request.headers.get('content-type') ?? '';
  const patchType = verb === 'patch' ? readPatchType(contentType, manner) : undefined;
  const streams = verb === 'list' || verb === 'watch';
  const empty = request.body === null && (verb === 'create' || verb === 'update' || verb === 'patch');
  const refusal = manner === 'struct' ? routerRefusal(offer, accept, { streams, empty }) : undefined;
  if (refusal !== undefined) throw refusal;
  const form = represent(offer, accept, { watch: verb === 'watch' });

  // 2. Options and body.
  const incoming = { request, offer, query, contentType, userAgent, user, served, action, patchType };
  const reading = readRequest(incoming);
  const apiRequest = reading instanceof Promise ? await reading : reading;

  // 3. The answer. What is there at once is not waited for, so that a watch is live before anything else happens.
  const sent = target.send(apiRequest);
  if (!(sent instanceof Promise)) return respondTo(exchange, task, { sent, form });
  const { clock } = target;
  return respondTo(exchange, task, {
    sent: verb === 'watch' ? await sent : await withDeadline(sent, { clock, verb, timeout }),
    form,
  });
}

function respondTo(
  exchange: Exchange,
  { served }: Task,
  result: { readonly sent: ApiResponse; readonly form: Representation },
): Response {
  const { sent, form } = result;
  append(exchange.warnings, sent.warnings);
  const envelope = envelopeOf(exchange);
  if (sent.type === 'object') {
    const json = encodeAnswer(sent.object, served.kind, form.view);
    return respondJson(envelope, { code: sent.code, json, form: withPretty(exchange, form) });
  }
  // Nobody will read the events.
  if (envelope.headOnly) sent.watch.close();
  const events = eventStream(sent.watch, {
    request: exchange.request,
    view: form.view,
    onError: exchange.setting.onError,
  });
  return respondStream(envelope, events, form.mediaType);
}

function refuse(exchange: Exchange, error: StatusError, allow?: readonly string[]): Response {
  const form = representError(exchange.setting.offer, exchange.accept);
  return respondError(envelopeOf(exchange), {
    error,
    form: form === undefined ? undefined : withPretty(exchange, form),
    allow,
  });
}

function nothingThere(exchange: Exchange): Response {
  return respondText(envelopeOf(exchange), 404, '404 page not found\n');
}

function envelopeOf({ auditId, request, warnings }: Exchange): Envelope {
  return { auditId, headOnly: request.method === 'HEAD', warnings };
}

function withPretty({ query, userAgent }: Exchange, form: Representation): Representation {
  return !form.pretty && asksForPretty(query, userAgent) ? { ...form, pretty: true } : form;
}
