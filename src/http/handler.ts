/**
 * HTTP in front of a cluster: a fetch-shaped handler, so that it runs behind any server and in a browser's service
 * worker, and a test can call it without a socket. It reads requests, calls `send` and writes answers; what a request
 * means is decided behind it.
 */
import type { RequestAuthenticator, TokenTable } from '../auth/authentication.js';
import { markAuthorized, withoutMarkup } from '../auth/refusal.js';
import type { Codec } from '../codec/codec.js';
import { codecs as everyHandlersCodecs } from '../codec/index.js';
import { jsonCodec } from '../codec/json.js';
import { type FlowControl, FlowRejection } from '../flowcontrol/index.js';
import type { AccessAttributes } from '../kinds/access.js';
import { deprecationOf } from '../kinds/lifecycle.js';
import { errors, StatusError } from '../meta/errors.js';
import { quote } from '../meta/go-text.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { append } from '../util/append.js';
import { chain, rescue } from '../util/maybe-promise.js';
import { refuseUnknownOptions } from '../util/options.js';
import { actingUser, attributesOfRoute, requireAccess } from './access.js';
import type { Answer, HttpRequest } from './answer.js';
import { toResponse } from './answer.js';
import { withDeadline } from './deadline.js';
import { type Exchange, envelopeOf, nothingThere, openExchange, refuse, type Setting, withPretty } from './exchange.js';
import type { ErrorListener } from './failure.js';
import { toStatusError } from './failure.js';
import { type Identity, identify } from './identify.js';
import { metricsOf, sizeOf } from './metrics.js';
import type { Representation } from './negotiate.js';
import { offerOf, readPatchType, represent, routerRefusal } from './negotiate.js';
import { pagesOf } from './pages/index.js';
import { versionOf } from './pages/version.js';
import type { ResourceRoute, Route } from './path.js';
import { parsePath } from './path.js';
import type { Presentation } from './present.js';
import { present } from './present.js';
import { asksToWatch, readIncludedObject, readTimeout } from './query.js';
import { readRequest } from './read-request.js';
import { RecentEvents } from './recent-events.js';
import { beginRecord, notesOf, recordActing, recordStranger, uriOf } from './record.js';
import { respondDocument, respondEmpty, respondStream, respondText } from './respond.js';
import type { Action, ServedResource } from './routes.js';
import { routeResource } from './routes.js';
import { serveDiscovery, servePage } from './serve-page.js';
import { eventStream } from './stream.js';
import type { FetchTarget } from './target.js';
import { type FlowControlOption, flowOf, takeTurn, turnedAway } from './turn.js';

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
  switch (route.type) {
    case 'other':
      return servePage(exchange, route.path);
    case 'discovery':
      return serveDiscovery(exchange, route);
    case 'resource':
      return serveResource(exchange, route, circumstances);
  }
}

/** What the reference server says where it finds no better words. */
function senseless(exchange: Exchange, error: string): Answer {
  const text = withoutMarkup(`Internal Server Error: ${quote(uriOf(exchange.request.url))}: ${error}`);
  return respondText(envelopeOf(exchange), 500, `${text}\n`);
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
    case 'refused': {
      // The path is there, and only watching is not: whoever reads is told.
      const isThere = circumstances.watch && request.method === 'GET';
      const deprecation = isThere ? deprecationOf(served.kind, target.dialect, target.release) : undefined;
      if (deprecation !== undefined) exchange.warnings.push(deprecation.warning);
      return refuse(exchange, routed.error, routed.allow);
    }
    case 'action':
      exchange.served = served;
      exchange.action = routed;
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
  const read = reading instanceof Promise ? await withDeadline(reading, { clock, verb, timeout }) : reading;
  const notes = notesOf(exchange);
  const apiRequest = notes === undefined ? read : { ...read, audit: notes };
  markAuthorized(apiRequest);

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
  const include = includedIn(exchange, result);
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
    exchange.document = document;
    return respondDocument(envelope, { code: sent.code, document, form: withPretty(exchange, form) });
  }
  const { stream } = form.codec;
  // Nobody will read the events.
  if (envelope.headOnly || stream === undefined) sent.watch.close();
  if (stream === undefined) throw errors.internal('this encoding has no streams');
  const contentType = stream.contentType(target.dialect);
  if (envelope.headOnly) return respondEmpty(envelope, 200, { 'Content-Type': contentType });
  const ended = metrics.watchBegan(served, exchange.action);
  exchange.isStream = true;
  exchange.ticket?.done();
  exchange.record?.responseStarted(200);
  const events = eventStream(sent.watch, {
    request: exchange.request,
    codec: stream,
    presentation,
    recent: exchange.setting.recent,
    onError,
    onEvent: metrics.watchEvents(served),
    onEnd: () => {
      ended();
      exchange.whenEnded?.();
      exchange.ticket?.ended();
      exchange.record?.complete();
    },
  });
  return respondStream(envelope, events, contentType);
}

/** What the rows of a table carry along. Throws 400, and then nobody will read a watch. */
function includedIn(
  { query }: Exchange,
  { sent, form }: { readonly sent: ApiResponse; readonly form: Representation },
): Presentation['include'] {
  if (form.view?.kind !== 'Table') return 'None';
  try {
    return readIncludedObject(query);
  } catch (error) {
    if (sent.type === 'watch') sent.watch.close();
    throw error;
  }
}
