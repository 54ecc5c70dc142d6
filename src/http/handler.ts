/**
 * HTTP in front of a cluster: a fetch-shaped handler, so that it runs behind any server and in a browser's service
 * worker, and a test can call it without a socket. It reads requests, calls `send` and writes answers; what a request
 * means is decided behind it.
 */
import type { Codec } from '../codec/codec.js';
import { codecs as everyHandlersCodecs } from '../codec/index.js';
import { jsonCodec } from '../codec/json.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { StatusError } from '../meta/errors.js';
import { errors } from '../meta/errors.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { append } from '../util/append.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import { checkAccess, checkPageAccess, refuseImpersonation } from './access.js';
import type { Answer, HttpRequest } from './answer.js';
import { toResponse } from './answer.js';
import type { Tokens } from './bearer.js';
import { bearerIdentities } from './bearer.js';
import { withDeadline } from './deadline.js';
import type { ErrorListener } from './failure.js';
import { toStatusError } from './failure.js';
import { Metrics } from './metrics.js';
import type { Offer, Representation } from './negotiate.js';
import { offerOf, readPatchType, represent, representError, routerRefusal } from './negotiate.js';
import { discoveryPage } from './pages/discovery.js';
import { pagesOf } from './pages/index.js';
import type { Page, PageOffers, PageRequest } from './pages/page.js';
import type { ResourceRoute } from './path.js';
import { parsePath } from './path.js';
import type { Presentation } from './present.js';
import { present } from './present.js';
import { asksForPretty, asksToWatch, parseQuery, readIncludedObject, readTimeout } from './query.js';
import { readRequest } from './read-request.js';
import { RecentEvents } from './recent-events.js';
import type { Envelope } from './respond.js';
import { respondDocument, respondEmpty, respondError, respondStream, respondText } from './respond.js';
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
  /** Everything it serves; the same list as long as that does not change. */
  kinds(): readonly ServedKind[];
  readonly features: FeatureGates;
  /** Aborts when there will be no more answers. */
  readonly closing?: AbortSignal;
  /** Answers at once or later. Throws, or rejects with, StatusError. */
  send(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}

export interface FetchHandlerOptions {
  /** Bearer tokens and whom they stand for. Absent: every request comes from the administrator. */
  readonly tokens?: Tokens;
  /**
   * Encodings besides JSON and YAML, in the order in which messages list them: `protobuf` of `orchplane/codec/protobuf`,
   * `cbor` of `orchplane/codec/cbor` (which the feature gate CBORServingAndStorage must switch on).
   */
  readonly codecs?: readonly Codec[];
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
  const answerTo = createHandler(target, options);
  return async (request) => toResponse(await answerTo(request));
}

/** The same without the platform's own objects, for servers that have theirs. */
export function createHandler(
  target: FetchTarget,
  options: FetchHandlerOptions = {},
): (request: HttpRequest) => Promise<Answer> {
  const { dialect, features, closing } = target;
  const codecs = [...everyHandlersCodecs, ...(options.codecs ?? [])].filter(
    ({ gate }) => gate === undefined || features.enabled(gate),
  );
  const metrics = new Metrics();
  const setting: Setting = {
    target,
    offer: offerOf(codecs, dialect),
    pageOffers: {
      groups: offerOf(
        codecs.filter(({ gate }) => gate === undefined),
        dialect,
        { views: false },
      ),
      versions: offerOf(codecs, dialect, { views: false }),
      json: offerOf([jsonCodec], dialect, { views: false }),
    },
    pages: pagesOf({ metrics, isClosing: () => closing?.aborted === true }),
    metrics,
    recent: new RecentEvents(),
    // Old browsers cannot.
    compresses: features.enabled('APIResponseCompression') && typeof CompressionStream === 'function',
    identify: bearerIdentities(options.tokens),
    onError: options.onError ?? ((error) => console.error(error)),
  };
  return (request) => handle(setting, request);
}

/** What all requests to one handler share. */
interface Setting {
  readonly target: FetchTarget;
  readonly offer: Offer;
  readonly pageOffers: PageOffers;
  readonly pages: readonly Page[];
  readonly metrics: Metrics;
  readonly recent: RecentEvents;
  readonly compresses: boolean;
  readonly identify: ReturnType<typeof bearerIdentities>;
  readonly onError: ErrorListener;
}

/** One request, as far as its line and headers tell. */
interface Exchange {
  readonly setting: Setting;
  readonly request: HttpRequest;
  readonly path: string;
  readonly query: ReturnType<typeof parseQuery>;
  readonly accept: string;
  readonly userAgent: string;
  readonly auditId: string;
  /** Grows while the request is worked on. */
  readonly warnings: string[];
  /** Known as soon as the path is understood. */
  served?: ServedResource;
  action?: Action;
}

async function handle(setting: Setting, request: HttpRequest): Promise<Answer> {
  const exchange = openExchange(setting, request);
  const response = await answerOrRefuse(exchange);
  const { served, action, query } = exchange;
  setting.metrics.count({ served, action, method: request.method, dryRun: query.has('dryRun'), code: response.code });
  return response;
}

async function answerOrRefuse(exchange: Exchange): Promise<Answer> {
  try {
    return await answer(exchange);
  } catch (error) {
    const failure = toStatusError(error, exchange.setting.onError);
    append(exchange.warnings, failure.warnings);
    return refuse(exchange, failure);
  }
}

function openExchange(setting: Setting, request: HttpRequest): Exchange {
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

function answer(exchange: Exchange): Answer | Promise<Answer> {
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
      checkPageAccess(user, request.method, route.path);
      return servePage(exchange, route.path);
    case 'discovery':
      checkPageAccess(user, request.method, exchange.path);
      return serveDiscovery(exchange, route);
    case 'resource':
      return serveResource(exchange, route, { watch, timeout, user });
  }
}

function servePage(exchange: Exchange, path: string): Answer | Promise<Answer> {
  const asked = pageRequest(exchange, path);
  for (const page of exchange.setting.pages) {
    const response = page(asked);
    if (response !== undefined) return response;
  }
  return nothingThere(exchange);
}

function serveDiscovery(exchange: Exchange, route: Parameters<typeof discoveryPage>[1]): Answer {
  const page = discoveryPage(pageRequest(exchange, exchange.path), route);
  if (page !== undefined) return page;
  const known = route.version !== undefined && exchange.setting.target.hasBuiltIns(route.group ?? '');
  return known ? refuse(exchange, errors.router('NotFound')) : nothingThere(exchange);
}

function pageRequest(exchange: Exchange, path: string): PageRequest {
  const { request, query, accept, setting } = exchange;
  const { dialect } = setting.target;
  return {
    method: request.method,
    path,
    query,
    headers: request.headers,
    accept,
    host: hostOf(request.url),
    envelope: envelopeOf(exchange),
    dialect,
    nowMs: setting.target.clock.now(),
    kinds: setting.target.kinds(),
    offers: setting.pageOffers,
    inForm: (form) => withPretty(exchange, form),
  };
}

function hostOf(url: string): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}

interface Circumstances {
  readonly watch: boolean;
  readonly timeout: number | undefined;
  readonly user: ApiRequest['user'];
}

function serveResource(
  exchange: Exchange,
  route: ResourceRoute,
  circumstances: Circumstances,
): Answer | Promise<Answer> {
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
      exchange.served = served;
      exchange.action = routed;
      checkAccess(circumstances.user, served, routed);
      return act(exchange, { served, action: routed, ...circumstances });
  }
}

interface Task extends Circumstances {
  readonly served: ServedResource;
  readonly action: Action;
}

async function act(exchange: Exchange, task: Task): Promise<Answer> {
  const { request, query, accept, userAgent } = exchange;
  const { target, offer } = exchange.setting;
  const { served, action, user, timeout } = task;
  const { verb } = action;
  const { manner } = served.kind;

  // 1. The encodings: of a patch, then of the answer.
  const contentType = request.headers.get('content-type') ?? '';
  const patch = verb === 'patch' ? readPatchType(offer, contentType, manner) : undefined;
  const streams = verb === 'list' || verb === 'watch';
  const empty =
    !(request.hasBody ?? request.body !== null) && (verb === 'create' || verb === 'update' || verb === 'patch');
  const refusal = manner === 'struct' ? routerRefusal(offer, accept, { streams, empty }) : undefined;
  if (refusal !== undefined) throw refusal;
  const form = represent(offer, accept, { watch: verb === 'watch', manner });

  // 2. Options and body.
  const incoming = { request, offer, query, contentType, userAgent, user, served, action, patch };
  const { clock } = target;
  const reading = readRequest(incoming);
  const apiRequest = reading instanceof Promise ? await withDeadline(reading, { clock, verb, timeout }) : reading;

  // 3. The answer. What is there at once is not waited for, so that a watch is live before anything else happens.
  const sent = target.send(apiRequest);
  if (!(sent instanceof Promise)) return respondTo(exchange, task, { sent, form });
  return respondTo(exchange, task, {
    sent: verb === 'watch' ? await sent : await withDeadline(sent, { clock, verb, timeout }),
    form,
  });
}

function respondTo(
  exchange: Exchange,
  { served }: Task,
  result: { readonly sent: ApiResponse; readonly form: Representation },
): Answer {
  const { sent, form } = result;
  const { target, metrics, onError } = exchange.setting;
  append(exchange.warnings, sent.warnings);
  const envelope = envelopeOf(exchange);
  const include = form.view?.kind === 'Table' ? readIncludedObject(exchange.query) : 'None';
  const presentation = (): Presentation => ({
    kind: served.kind,
    view: form.view,
    include,
    nowMs: target.clock.now(),
    dialect: target.dialect,
  });
  if (sent.type === 'object') {
    if (sent.code === 204) return respondEmpty(envelope, 204);
    const document = present(sent.object, presentation());
    return respondDocument(envelope, { code: sent.code, document, form: withPretty(exchange, form) });
  }
  const { stream } = form.codec;
  // Nobody will read the events.
  if (envelope.headOnly || stream === undefined) sent.watch.close();
  if (stream === undefined) throw errors.internal('this encoding has no streams');
  metrics.watchBegan();
  const events = eventStream(sent.watch, {
    request: exchange.request,
    codec: stream,
    presentation,
    recent: exchange.setting.recent,
    onError,
    onEnd: () => metrics.watchEnded(),
  });
  return respondStream(envelope, events, stream.contentType(target.dialect));
}

function refuse(exchange: Exchange, error: StatusError, allow?: readonly string[]): Answer {
  const form = representError(exchange.setting.offer, exchange.accept);
  return respondError(envelopeOf(exchange), {
    error,
    form: form === undefined ? undefined : withPretty(exchange, form),
    allow,
  });
}

function nothingThere(exchange: Exchange): Answer {
  return respondText(envelopeOf(exchange), 404, '404 page not found\n');
}

function envelopeOf({ auditId, request, warnings, setting }: Exchange): Envelope {
  return {
    auditId,
    dialect: setting.target.dialect,
    headOnly: request.method === 'HEAD',
    gzip: setting.compresses && takesGzip(request.headers.get('accept-encoding')),
    warnings,
  };
}

/** Only the bare word counts: the reference server does not weigh encodings. */
function takesGzip(header: string | null): boolean {
  return header?.split(',').some((token) => token.trim() === 'gzip') === true;
}

function withPretty({ query, userAgent }: Exchange, form: Representation): Representation {
  return !form.pretty && asksForPretty(query, userAgent) ? { ...form, pretty: true } : form;
}
