/**
 * The HTTP request handler of a cluster. It takes and returns fetch-shaped values, so it runs behind any HTTP server,
 * in a service worker, or in a test without a socket. It authenticates, authorizes and routes each request, calls
 * `send` of the cluster and encodes the response.
 */
import type { RequestAuthenticator, TokenTable } from '../auth/authentication.js';
import { escapeMarkup } from '../auth/authorizer.js';
import type { Codec } from '../codec/codec.js';
import { codecs as everyHandlersCodecs } from '../codec/index.js';
import { jsonCodec } from '../codec/json.js';
import { FlowRejection } from '../flowcontrol/flow-control.js';
import type { FlowControl } from '../flowcontrol/types.js';
import type { Aggregation } from '../kinds/apiregistration/reach.js';
import { errors, StatusError } from '../meta/errors.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { Answer, HttpRequest } from '../protocol/http.js';
import { quote } from '../text/go/go-text.js';
import { append } from '../util/arrays.js';
import { unreachable } from '../util/invariant.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { chain, rescue } from '../util/maybe-promise.js';
import { refuseUnknownOptions } from '../util/options.js';
import { actingUser, attributesOfRoute, type Identity, identify, requireAccess } from './access.js';
import { createAggregator, proxyRequest, remoteApiOf } from './aggregate/proxy.js';
import { toResponse } from './answer.js';
import { beginAuditRecord, recordImpersonation, recordUnauthenticated, requestUriOf } from './audit.js';
import { BodyBudget } from './body-budget.js';
import {
  type Exchange,
  envelopeOf,
  type HandlerSettings,
  openExchange,
  refuse,
  respondNotFound,
  withPretty,
} from './exchange.js';
import { awaitSeat, createHandlerFlowControl, type FlowControlOption, respondFlowRejection } from './flow-control.js';
import { answerSize, createHandlerMetrics } from './metrics.js';
import { createOffer } from './negotiate.js';
import { type DiscoveryRoute, respondDiscovery } from './pages/discovery.js';
import type { PageRequest } from './pages/page.js';
import { createPages, versionInfo } from './pages/pages.js';
import type { Route } from './path.js';
import { parsePath } from './path.js';
import { isWatchRequested, readTimeout } from './query.js';
import type { ErrorListener } from './respond.js';
import { respondText, toStatusError } from './respond.js';
import { verbOf } from './routes.js';
import { type RequestContext, serveResource } from './serve-resource.js';
import type { FetchTarget } from './target.js';
import { EncodedEventCache } from './watch-body.js';

/** The options of {@link createFetchHandler} and {@link createHandler}. */
export interface FetchHandlerOptions {
  /**
   * Bearer tokens and the users they authenticate, in addition to those the cluster accepts. Without any tokens and
   * without `authenticate`, a request without credentials acts as the administrator; otherwise it is anonymous.
   */
  readonly tokens?: TokenTable | undefined;
  /** A custom authenticator; see {@link RequestAuthenticator}. */
  readonly authenticate?: RequestAuthenticator | undefined;
  /**
   * API priority and fairness: requests share a number of seats according to the cluster's FlowSchemas and
   * PriorityLevelConfigurations; a request without a seat waits or is rejected with 429. Absent: all requests run at
   * once.
   */
  readonly flowControl?: FlowControlOption | undefined;
  /**
   * Deletions take the real time that they take in the reference server: 2 ms between the MODIFIED and the DELETED event of
   * an object that is removed at once (a pod), and 20 ms until a deleted CRD is gone. Controllers whose caches lag behind
   * may depend on it. Absent: these steps are immediate.
   */
  readonly pacing?: boolean | undefined;
  /**
   * Encodings in addition to JSON and YAML, in the order in which messages list them: `protobuf` of
   * `orchplane/codec/protobuf`, `cbor` of `orchplane/codec/cbor` (requires the feature gate CBORServingAndStorage).
   */
  readonly codecs?: readonly Codec[] | undefined;
  /**
   * The backends of aggregated APIs (versions whose APIService names a Service), keyed by APIService name: a function
   * in this process or a URL. Absent: `fetch` is called with the Service's in-cluster address.
   *
   * @example
   * const metrics = () => Response.json({ kind: 'NodeMetricsList', items: [] });
   * const handler = createFetchHandler(cluster, { aggregate: { 'v1beta1.metrics.example.com': metrics } });
   */
  readonly aggregate?: Aggregation | undefined;
  /** The previous release, such as `1.32`: `/metrics` also prints the metrics that are hidden since then. */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /**
   * Called with errors whose details are hidden from clients: faults of the library, of plugins and of connections.
   * Absent: they are logged to the console.
   */
  readonly onError?: ErrorListener | undefined;
}

/** Answers a Request with a Response. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A handler without platform Request and Response objects; see {@link createHandler}. */
export type Handler = (request: HttpRequest) => Promise<Answer>;

/** The option names of {@link FetchHandlerOptions}. */
export const HANDLER_OPTIONS = [
  'tokens',
  'authenticate',
  'flowControl',
  'pacing',
  'codecs',
  'aggregate',
  'showHiddenMetricsForVersion',
  'onError',
] as const satisfies readonly (keyof FetchHandlerOptions)[];

/**
 * Serves a cluster over HTTP.
 *
 * @example
 * const handler = createFetchHandler(createCluster())
 * const response = await handler(new Request('http://cluster.local/api/v1/namespaces'))
 */
export function createFetchHandler(target: FetchTarget, options: FetchHandlerOptions = {}): FetchHandler {
  const answer = createHandler(target, options);
  return async (request) => {
    if (typeof request?.url !== 'string' || typeof request.headers?.get !== 'function') {
      throw new TypeError(
        'orchplane: a fetch handler takes a Request; node:http has createNodeListener of orchplane/node',
      );
    }
    return toResponse(await answer(request));
  };
}

/** Like {@link createFetchHandler}, but for servers with their own request and response types. */
export function createHandler(target: FetchTarget, options: FetchHandlerOptions = {}): Handler {
  refuseUnknownOptions('a handler', options, HANDLER_OPTIONS);
  const { dialect, features, closing } = target;
  const onError: ErrorListener = options.onError ?? ((error) => console.error(error));
  const codecs = [...everyHandlersCodecs, ...(options.codecs ?? [])].filter(
    ({ gate }) => gate === undefined || features.enabled(gate),
  );
  let flow: FlowControl | undefined;
  const metrics = createHandlerMetrics(target, {
    release: target.release,
    showHiddenMetricsForVersion: options.showHiddenMetricsForVersion,
    sources: {
      build: versionInfo(target.release),
      flow: { flows: () => flow?.metrics.flows() ?? [], levels: () => flow?.metrics.levels() ?? [] },
    },
  });
  flow = createHandlerFlowControl(target, options.flowControl ?? false, metrics.server.flowObserver);
  const settings: HandlerSettings = {
    target,
    offer: createOffer(codecs, dialect),
    pageOffers: {
      groups: createOffer(
        codecs.filter(({ gate }) => gate === undefined),
        dialect,
        { views: false },
      ),
      versions: createOffer(codecs, dialect, { views: false }),
      json: createOffer([jsonCodec], dialect, { views: false }),
    },
    pages: createPages({
      metrics,
      isClosing: () => closing?.aborted === true,
      checkStorage: () => target.storageReader.check?.(),
      release: target.release,
      discovery: target.authentication.discovery,
    }),
    metrics,
    eventCache: new EncodedEventCache(),
    bodyBudget: new BodyBudget(),
    // Older browsers have no CompressionStream.
    canCompress: features.enabled('APIResponseCompression') && typeof CompressionStream === 'function',
    identification: {
      tokens: options.tokens === undefined ? target.authentication : target.authentication.withTokens(options.tokens),
      authenticate: options.authenticate,
      isOpen:
        options.tokens === undefined && options.authenticate === undefined && !target.authentication.hasCredentials,
      allowsAnonymous: target.authentication.allowsAnonymous,
      onError,
    },
    flow,
    isPaced: options.pacing === true,
    aggregator: createAggregator(target, options.aggregate),
    onError,
  };
  return (request) => handle(settings, request);
}

async function handle(settings: HandlerSettings, request: HttpRequest): Promise<Answer> {
  const { metrics, target } = settings;
  const beganMs = target.clock.now();
  const ended = metrics.startRequest(request.method);
  const exchange = openExchange(settings, request);
  const response = await answerOrFail(exchange);
  exchange.isAnswered = true;
  releaseAfterWork(exchange);
  ended();
  const count = () => {
    const { served, action, query } = exchange;
    metrics.count({
      served,
      action,
      method: request.method,
      contentType: request.headers.get('content-type'),
      dryRun: query.get('dryRun') ?? [],
      code: response.code,
      seconds: (target.clock.now() - beganMs) / 1000,
      bytes: answerSize(response),
    });
  };
  if (exchange.isStream === true) exchange.onStreamEnd = count;
  else {
    count();
    exchange.record?.complete({ code: response.code, object: exchange.document });
  }
  return response;
}

/**
 * Returns the seat and the share of a large body when the work ends, which may be after the response: otherwise a client
 * with short timeouts could start any number of writes that wait for a webhook.
 */
function releaseAfterWork({ bodyShare, ticket, work, isStream }: Exchange): void {
  const release = () => {
    bodyShare?.release();
    // The seat of a stream has been returned when it started.
    if (isStream !== true) ticket?.ended();
  };
  if (work === undefined) release();
  else work.then(release, release);
}

async function answerOrFail(exchange: Exchange): Promise<Answer> {
  try {
    return await answer(exchange);
  } catch (error) {
    if (error instanceof FlowRejection) return respondFlowRejection(exchange, error);
    const failure = toStatusError(error, exchange.settings.onError);
    append(exchange.warnings, failure.warnings);
    return refuse(exchange, failure);
  }
}

function answer(exchange: Exchange): Answer | Promise<Answer> {
  const { request, settings } = exchange;
  const route = parsePath(exchange.path);
  if (route.type === 'malformed') return respondText(envelopeOf(exchange), 400, '400 Bad Request');
  const { path, query } = exchange;
  const { method } = request;
  const watch = route.type === 'resource' && verbOf(route, { method, watch: isWatchRequested(query) }) === 'watch';
  const attributes = attributesOfRoute(route, { path, query, call: { method, watch } });
  const refused = (error: unknown): never => {
    settings.metrics.server.authentication('failure');
    if (StatusError.is(error)) recordUnauthenticated(exchange, attributes, error);
    throw error;
  };
  const identified = rescue(() => identify(request, settings.identification), refused);
  return chain(identified, (identity) => {
    settings.metrics.server.authentication('success');
    return serveAuthenticated(exchange, identity, { route, watch, attributes });
  });
}

interface ParsedRequest {
  readonly route: Exclude<Route, { type: 'malformed' }>;
  readonly watch: boolean;
  readonly attributes: AccessAttributes;
}

/**
 * Resolves impersonation, waits for flow control, authorizes, and only then looks up the resource, so that an
 * unauthorized client cannot learn what exists.
 */
function serveAuthenticated(exchange: Exchange, identity: Identity, parsed: ParsedRequest): Answer | Promise<Answer> {
  const { route, watch, attributes } = parsed;
  const { query, request, settings } = exchange;
  const { target } = settings;
  append(exchange.warnings, identity.warnings);
  beginAuditRecord(exchange, attributes, identity);
  // A watch has `timeoutSeconds` instead, and no deadline of its own.
  const timeout = watch ? undefined : readTimeout(query);
  const acting = actingUser(target, identity.user, request);
  if (acting.type === 'invalid') return respondInvalidImpersonation(exchange, acting.error);
  const { user } = acting;
  recordImpersonation(exchange, acting);
  return chain(awaitSeat(exchange, { user, attributes, timeout }), () => {
    requireAccess(target, user, attributes, (decision) => {
      settings.metrics.server.authorization(decision);
      exchange.record?.decision(decision);
    });
    return serveRoute(exchange, route, { watch, timeout, user });
  });
}

function serveRoute(
  exchange: Exchange,
  route: Exclude<Route, { type: 'malformed' }>,
  context: RequestContext,
): Answer | Promise<Answer> {
  const remote = remoteApiOf(exchange, route);
  if (remote !== undefined) return proxyRequest(exchange, remote, context);
  switch (route.type) {
    case 'other':
      return servePage(exchange, route.path);
    case 'discovery':
      return serveDiscovery(exchange, route);
    case 'resource':
      return serveResource(exchange, route, context);
    default:
      return unreachable(route);
  }
}

/** The reference server's plain-text 500 for invalid impersonation headers. */
function respondInvalidImpersonation(exchange: Exchange, error: string): Answer {
  const text = escapeMarkup(`Internal Server Error: ${quote(requestUriOf(exchange.request.url))}: ${error}`);
  return respondText(envelopeOf(exchange), 500, `${text}\n`);
}

function servePage(exchange: Exchange, path: string): Answer | Promise<Answer> {
  const request = pageRequest(exchange, path);
  for (const page of exchange.settings.pages) {
    const response = page(request);
    if (response !== undefined) return response;
  }
  return respondNotFound(exchange);
}

function serveDiscovery(exchange: Exchange, route: DiscoveryRoute): MaybePromise<Answer> {
  const page = respondDiscovery(pageRequest(exchange, exchange.path), route, exchange.settings.aggregator);
  if (page !== undefined) return page;
  const hasBuiltIns = route.version !== undefined && exchange.settings.target.hasBuiltIns(route.group ?? '');
  return hasBuiltIns ? refuse(exchange, errors.genericServerResponse('NotFound')) : respondNotFound(exchange);
}

function pageRequest(exchange: Exchange, path: string): PageRequest {
  const { request, query, accept, settings } = exchange;
  const { dialect } = settings.target;
  return {
    method: request.method,
    path,
    query,
    headers: request.headers,
    accept,
    host: hostOf(request.url),
    envelope: envelopeOf(exchange),
    dialect,
    nowMs: settings.target.clock.now(),
    kinds: settings.target.kinds(),
    offers: settings.pageOffers,
    withPretty: (form) => withPretty(exchange, form),
  };
}

function hostOf(url: string): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}
