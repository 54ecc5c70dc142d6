/**
 * HTTP in front of a cluster: a fetch-shaped handler, so that it runs behind any server and in a browser's service
 * worker, and a test can call it without a socket. It reads requests, calls `send` and writes answers; what a request
 * means is decided behind it.
 */
import type { RequestAuthenticator, TokenTable } from '../auth/authentication.js';
import { withoutMarkup } from '../auth/authorizer.js';
import type { Codec } from '../codec/codec.js';
import { codecs as everyHandlersCodecs } from '../codec/index.js';
import { jsonCodec } from '../codec/json.js';
import { FlowRejection } from '../flowcontrol/flow-control.js';
import type { FlowControl } from '../flowcontrol/types.js';
import type { Aggregation } from '../kinds/apiregistration/reach.js';
import { errors, StatusError } from '../meta/errors.js';
import type { AccessAttributes } from '../protocol/access.js';
import { quote } from '../text/go/go-text.js';
import { append } from '../util/append.js';
import { unreachable } from '../util/invariant.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { chain, rescue } from '../util/maybe-promise.js';
import { refuseUnknownOptions } from '../util/options.js';
import { actingUser, attributesOfRoute, type Identity, identify, requireAccess } from './access.js';
import { createAggregator, passOn, remoteOf } from './aggregate/proxy.js';
import type { Answer, HttpRequest } from './answer.js';
import { toResponse } from './answer.js';
import { beginRecord, recordActing, recordStranger, uriOf } from './audit.js';
import { type Exchange, envelopeOf, nothingThere, openExchange, refuse, type Setting, withPretty } from './exchange.js';
import { type FlowControlOption, flowOf, takeTurn, turnedAway } from './flow-control.js';
import { metricsOf, sizeOf } from './metrics.js';
import { offerOf } from './negotiate.js';
import { type DiscoveryRoute, discoveryPage } from './pages/discovery.js';
import type { PageRequest } from './pages/page.js';
import { pagesOf, versionOf } from './pages/pages.js';
import type { Route } from './path.js';
import { parsePath } from './path.js';
import { asksToWatch, readTimeout } from './query.js';
import type { ErrorListener } from './respond.js';
import { respondText, toStatusError } from './respond.js';
import { type Circumstances, serveResource } from './serve-resource.js';
import type { FetchTarget } from './target.js';
import { RecentEvents } from './watch-body.js';

export interface FetchHandlerOptions {
  /**
   * Bearer tokens and whom they stand for, beside those that the cluster knows. When neither knows any, and there is no
   * `authenticate`, requests without credentials come from the administrator; otherwise they are anonymous.
   */
  readonly tokens?: TokenTable | undefined;
  /** A way of your own to tell who asks; see {@link RequestAuthenticator}. */
  readonly authenticate?: RequestAuthenticator | undefined;
  /**
   * Requests share a number of seats by the FlowSchemas and PriorityLevelConfigurations of the cluster; who finds none
   * waits or is turned away (429). Absent: all requests are carried out at once.
   */
  readonly flowControl?: FlowControlOption | undefined;
  /**
   * Encodings besides JSON and YAML, in the order in which messages list them: `protobuf` of `orchplane/codec/protobuf`,
   * `cbor` of `orchplane/codec/cbor` (which the feature gate CBORServingAndStorage must switch on).
   */
  readonly codecs?: readonly Codec[] | undefined;
  /**
   * Who answers for versions whose APIService names a Service, by the names of APIServices: a function of this process or
   * an address. Absent: `fetch` looks for the Service where it would be in a cluster's network.
   *
   * @example
   * const metrics = () => Response.json({ kind: 'NodeMetricsList', items: [] });
   * const handler = createFetchHandler(cluster, { aggregate: { 'v1beta1.metrics.example.com': metrics } });
   */
  readonly aggregate?: Aggregation | undefined;
  /**
   * Told about errors that no client should see in full: faults of the library, of plugins, of the connection.
   * Absent: they are written to the console.
   */
  readonly onError?: ErrorListener | undefined;
}

export type FetchHandler = (request: Request) => Promise<Response>;

/** The same before there is a Response; see {@link createHandler}. */
export type Handler = (request: HttpRequest) => Promise<Answer>;

/** What {@link FetchHandlerOptions} knows. */
export const HANDLER_OPTIONS = [
  'tokens',
  'authenticate',
  'flowControl',
  'codecs',
  'aggregate',
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
  const answerTo = createHandler(target, options);
  return async (request) => {
    if (typeof request?.url !== 'string' || typeof request.headers?.get !== 'function') {
      throw new TypeError(
        'orchplane: a fetch handler takes a Request; node:http has createNodeListener of orchplane/node',
      );
    }
    return toResponse(await answerTo(request));
  };
}

/** The same without the platform's own objects, for servers that have theirs. */
export function createHandler(target: FetchTarget, options: FetchHandlerOptions = {}): Handler {
  refuseUnknownOptions('a handler', options, HANDLER_OPTIONS);
  const { dialect, features, closing } = target;
  const onError: ErrorListener = options.onError ?? ((error) => console.error(error));
  const codecs = [...everyHandlersCodecs, ...(options.codecs ?? [])].filter(
    ({ gate }) => gate === undefined || features.enabled(gate),
  );
  let flow: FlowControl | undefined;
  const metrics = metricsOf(target, {
    release: target.release,
    sources: {
      build: versionOf(target.release),
      flow: { flows: () => flow?.metrics.flows() ?? [], levels: () => flow?.metrics.levels() ?? [] },
    },
  });
  flow = flowOf(target, options.flowControl ?? false, metrics.server.flowObserver);
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
    pages: pagesOf({
      metrics,
      isClosing: () => closing?.aborted === true,
      release: target.release,
      discovery: target.authentication.discovery,
    }),
    metrics,
    recent: new RecentEvents(),
    // Old browsers cannot.
    compresses: features.enabled('APIResponseCompression') && typeof CompressionStream === 'function',
    identification: {
      tokens: options.tokens === undefined ? target.authentication : target.authentication.withTokens(options.tokens),
      authenticate: options.authenticate,
      isOpen: options.tokens === undefined && options.authenticate === undefined && !target.authentication.isAsked,
      onError,
    },
    flow,
    aggregator: createAggregator(target, options.aggregate),
    onError,
  };
  return (request) => handle(setting, request);
}

async function handle(setting: Setting, request: HttpRequest): Promise<Answer> {
  const { metrics, target } = setting;
  const beganMs = target.clock.now();
  const ended = metrics.began(request.method);
  const exchange = openExchange(setting, request);
  const response = await answerOrRefuse(exchange);
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
      bytes: sizeOf(response),
    });
  };
  if (exchange.isStream === true) exchange.whenEnded = count;
  else {
    count();
    exchange.ticket?.ended();
    exchange.record?.complete({ code: response.code, object: exchange.document });
  }
  return response;
}

async function answerOrRefuse(exchange: Exchange): Promise<Answer> {
  try {
    return await answer(exchange);
  } catch (error) {
    if (error instanceof FlowRejection) return turnedAway(exchange, error);
    const failure = toStatusError(error, exchange.setting.onError);
    append(exchange.warnings, failure.warnings);
    return refuse(exchange, failure);
  }
}

function answer(exchange: Exchange): Answer | Promise<Answer> {
  const { request, setting } = exchange;
  const route = parsePath(exchange.path);
  if (route.type === 'malformed') return respondText(envelopeOf(exchange), 400, '400 Bad Request');
  const watch = route.type === 'resource' && (route.watch || (route.name === undefined && asksToWatch(exchange.query)));
  const { path, query } = exchange;
  const attributes = attributesOfRoute(route, { path, query, call: { method: request.method, watch } });
  const refused = (error: unknown): never => {
    setting.metrics.server.authentication('failure');
    if (StatusError.is(error)) recordStranger(exchange, attributes, error);
    throw error;
  };
  const identified = rescue(() => identify(request, setting.identification), refused);
  return chain(identified, (identity) => {
    setting.metrics.server.authentication('success');
    return answerTo(exchange, identity, { route, watch, attributes });
  });
}

interface Understood {
  readonly route: Exclude<Route, { type: 'malformed' }>;
  readonly watch: boolean;
  readonly attributes: AccessAttributes;
}

/** From who asks to what is answered: on whose behalf, whether that one may, and only then what there is. */
function answerTo(exchange: Exchange, identity: Identity, understood: Understood): Answer | Promise<Answer> {
  const { route, watch, attributes } = understood;
  const { query, request, setting } = exchange;
  const { target } = setting;
  append(exchange.warnings, identity.warnings);
  beginRecord(exchange, attributes, identity);
  // A watch says how long it lasts in another way, and is never cut short.
  const timeout = watch ? undefined : readTimeout(query);
  const acting = actingUser(target, identity.user, request);
  if (acting.type === 'senseless') return senseless(exchange, acting.error);
  const { user } = acting;
  recordActing(exchange, acting);
  return chain(takeTurn(exchange, { user, attributes, timeout }), () => {
    requireAccess(target, user, attributes, (decision) => {
      setting.metrics.server.authorization(decision);
      exchange.record?.decision(decision);
    });
    return serveRoute(exchange, route, { watch, timeout, user });
  });
}

function serveRoute(
  exchange: Exchange,
  route: Exclude<Route, { type: 'malformed' }>,
  circumstances: Circumstances,
): Answer | Promise<Answer> {
  const remote = remoteOf(exchange, route);
  if (remote !== undefined) return passOn(exchange, remote, circumstances.user);
  switch (route.type) {
    case 'other':
      return servePage(exchange, route.path);
    case 'discovery':
      return serveDiscovery(exchange, route);
    case 'resource':
      return serveResource(exchange, route, circumstances);
    default:
      return unreachable(route);
  }
}

/** What the reference server says where it finds no better words. */
function senseless(exchange: Exchange, error: string): Answer {
  const text = withoutMarkup(`Internal Server Error: ${quote(uriOf(exchange.request.url))}: ${error}`);
  return respondText(envelopeOf(exchange), 500, `${text}\n`);
}

function servePage(exchange: Exchange, path: string): Answer | Promise<Answer> {
  const asked = pageRequest(exchange, path);
  for (const page of exchange.setting.pages) {
    const response = page(asked);
    if (response !== undefined) return response;
  }
  return nothingThere(exchange);
}

function serveDiscovery(exchange: Exchange, route: DiscoveryRoute): MaybePromise<Answer> {
  const page = discoveryPage(pageRequest(exchange, exchange.path), route, exchange.setting.aggregator);
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
