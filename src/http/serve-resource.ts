/**
 * Serves an authorized request for a resource: resolves the verb, negotiates encodings, builds the ApiRequest, sends it
 * to the cluster and encodes the response.
 */
import type { Kind } from '../kinds/kind.js';
import { deprecationOf } from '../kinds/lifecycle.js';
import { errors, StatusError } from '../meta/errors.js';
import type { Connection } from '../protocol/connection.js';
import type { Answer } from '../protocol/http.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { timedOut, timeLimitOf } from '../protocol/time-limit.js';
import { append } from '../util/arrays.js';
import { recoverFrom } from '../util/catch-error.js';
import type { Clock } from '../util/clock.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { auditNotesOf } from './audit.js';
import { type Exchange, envelopeOf, refuse, respondNotFound, withPretty } from './exchange.js';
import { awaitBody } from './flow-control.js';
import type { BodyState, Representation } from './negotiate.js';
import { chooseErrorRepresentation, chooseRepresentation, readPatchType, routerRefusal } from './negotiate.js';
import { percentDecode, type ResourceRoute } from './path.js';
import { isInitialStateRequested, readIncludedObject } from './query.js';
import { readRequest } from './read-request.js';
import { respondEmpty, respondInSteps, respondStream } from './respond.js';
import type { DocumentOptions } from './response-document.js';
import { toDocument } from './response-document.js';
import type { Action, ServedResource } from './routes.js';
import { isConnectSubresource, routeResource } from './routes.js';
import { createWatchBody } from './watch-body.js';

/** What the handler knows about a request besides its path. */
export interface RequestContext {
  readonly watch: boolean;
  readonly timeout: number | undefined;
  readonly user: ApiRequest['user'];
}

/** Serves a request for a resource path. */
export function serveResource(
  exchange: Exchange,
  route: ResourceRoute,
  context: RequestContext,
): Answer | Promise<Answer> {
  const { request } = exchange;
  const { target } = exchange.settings;
  const served = target.resolve(route);
  if (served === undefined) {
    // Everything under /api belongs to the core group, whatever version the path names.
    const hasBuiltIns = target.hasBuiltIns(route.group);
    return hasBuiltIns ? refuse(exchange, errors.genericServerResponse('NotFound')) : respondNotFound(exchange);
  }
  const routed = routeResource(served, route, { method: request.method, watch: context.watch });
  switch (routed.type) {
    case 'notFound':
      return respondNotFound(exchange);
    case 'refused': {
      // The resource exists but cannot be watched; reads of a deprecated version still get the warning.
      const isDocument = served.kind.representation === 'document';
      if (isDocument || (context.watch && request.method === 'GET')) warnOfDeprecation(exchange, served);
      return refuse(exchange, routed.error, routed.allow);
    }
    case 'action':
      exchange.served = served;
      exchange.action = routed;
      return performAction(exchange, { served, action: routed, ...context, subpath: subpathOf(exchange, route) });
  }
}

/**
 * The path below a proxy subresource.
 * upstream: apiserver/pkg/endpoints/handlers/get.go getRequestOptions
 */
function subpathOf({ path }: Exchange, { subpath = '' }: ResourceRoute): string {
  return percentDecode(path)?.endsWith('/') && !subpath.endsWith('/') ? `${subpath}/` : subpath;
}

function warnOfDeprecation({ settings, warnings }: Exchange, { kind }: ServedResource): void {
  const deprecation = deprecationOf(kind, settings.target.dialect, settings.target.release);
  if (deprecation !== undefined) warnings.push(deprecation.warning);
}

/** The router looks for a Content-Length, which HTTP/1.1 has for an empty body too. */
function bodyStateOf(request: Exchange['request']): BodyState {
  if (request.hasBody ?? request.body !== null) return 'present';
  return request.headers.get('content-length') === null ? 'missing' : 'empty';
}

/** Kinds that cannot be listed, and action subresources, cannot be returned as a Table. */
function tableSupportOf(kind: Kind, { subresource }: Action): false | undefined {
  if (subresource === undefined) return kind.verbs.includes('list') ? undefined : false;
  const below = kind.subresources[subresource];
  return below?.type === 'action' || (below?.type === undefined && below?.tables === false) ? false : undefined;
}

interface ResourceOperation extends RequestContext {
  readonly served: ServedResource;
  readonly action: Action;
  readonly subpath: string;
}

async function performAction(exchange: Exchange, operation: ResourceOperation): Promise<Answer> {
  const { request, query, accept, userAgent } = exchange;
  const { target, offer } = exchange.settings;
  const { served, action, user, timeout, subpath } = operation;
  const { verb } = action;
  const { representation: kindRepresentation } = served.kind;
  // Custom resources are not behind the reference server's router.
  if (kindRepresentation === 'document') exchange.errorOffer = offer;

  // 1. Negotiate encodings: of the patch, then of the response. A connect subresource passes both through.
  const contentType = request.headers.get('content-type') ?? '';
  const content = bodyStateOf(request);
  const isConnect = isConnectSubresource(served.kind, action);
  // The cluster adds the deprecation warning itself, except for requests that cannot be read.
  const warn = (error: unknown): never => {
    warnOfDeprecation(exchange, served);
    throw error;
  };
  const patch = recoverFrom(
    StatusError,
    () =>
      verb === 'patch' && !isConnect ? readPatchType(offer, contentType, { kindRepresentation, content }) : undefined,
    // The router rejects the patches of built-in kinds, before the handler adds the warning.
    (error) => {
      if (kindRepresentation === 'document') warnOfDeprecation(exchange, served);
      throw error;
    },
  );
  if ((verb === 'patch' || verb === 'update') && action.name === undefined) {
    warnOfDeprecation(exchange, served);
    throw errors.badRequest('name must be provided');
  }
  const streams = verb === 'list' || verb === 'watch';
  const empty = content === 'missing' && (verb === 'create' || verb === 'update' || verb === 'patch');
  const refusal =
    kindRepresentation === 'struct' && !isConnect ? routerRefusal(offer, accept, { streams, empty }) : undefined;
  if (refusal !== undefined) throw refusal;
  exchange.errorOffer = offer;
  // A watch that sends initial events cannot be returned as tables.
  const isStreamingList = verb === 'watch' && target.features.enabled('WatchList') && isInitialStateRequested(query);
  const tables = isStreamingList ? false : tableSupportOf(served.kind, action);
  const negotiation = { watch: verb === 'watch', kindRepresentation, tables };
  // Errors in the options of a list or a watch, which the server finds, precede this one.
  let unacceptable: StatusError | undefined;
  const form = recoverFrom(
    StatusError,
    () =>
      (isConnect ? chooseErrorRepresentation(offer, accept) : undefined) ??
      chooseRepresentation(offer, isConnect ? '' : accept, negotiation),
    (error) => {
      if (!streams) return warn(error);
      unacceptable = error;
      return chooseRepresentation(offer, '', negotiation);
    },
  );

  // 2. Read options and body.
  const admitBody = (byteCount: number): Promise<void> | undefined => {
    // The body arrived after the deadline: its share would never be returned.
    if (exchange.isAnswered === true) throw timedOut(verb);
    exchange.bodyShare = exchange.settings.bodyBudget.share(byteCount);
    return exchange.bodyShare?.granted;
  };
  const incoming = { request, offer, query, contentType, userAgent, user, served, action, subpath, patch, admitBody };
  const { clock } = target;
  const reading = rescue(() => readRequest(incoming), warn);
  const deadline = { clock, timeLimitMs: timeLimitOf({ verb, timeoutMs: timeout }) };
  const tooLate = () => (exchange.bodyShare?.isWaiting() === true ? tooManyLargeBodies() : timedOut(verb));
  const read =
    reading instanceof Promise ? await awaitBody(exchange, withDeadline(reading, { ...deadline, tooLate })) : reading;
  const notes = auditNotesOf(exchange);
  const { isPaced } = exchange.settings;
  const apiRequest =
    notes === undefined && !isPaced && unacceptable === undefined && timeout === undefined
      ? read
      : { ...read, audit: notes, isPaced, unacceptable: unacceptable ?? read.unacceptable, timeoutMs: timeout };

  // 3. Respond. A synchronous response is not awaited, so that a watch is live before anything else runs.
  const sent = target.send(apiRequest);
  if (!(sent instanceof Promise)) return respondToAction(exchange, operation, { sent, form });
  exchange.work = sent;
  const timely = verb === 'watch' ? sent : withDeadline(sent, { ...deadline, tooLate: () => timedOut(verb) });
  return respondToAction(exchange, operation, { sent: await timely, form });
}

function respondToAction(
  exchange: Exchange,
  { served }: ResourceOperation,
  result: { readonly sent: ApiResponse; readonly form: Representation },
): MaybePromise<Answer> {
  const { sent, form } = result;
  const { target, metrics, onError } = exchange.settings;
  append(exchange.warnings, sent.warnings);
  if (sent.type === 'connection') return respondToConnection(exchange, served, sent.connection);
  const envelope = envelopeOf(exchange);
  const include = includedObjectOf(exchange, result);
  const presentation = (): DocumentOptions => ({
    kind: served.kind,
    view: form.view,
    include,
    nowMs: target.clock.now(),
    dialect: target.dialect,
  });
  if (sent.type === 'object') {
    if (sent.code === 204) return respondEmpty(envelope, 204);
    const document = toDocument(sent.object, presentation());
    exchange.document = document;
    const answer = { code: sent.code, document, form: withPretty(exchange, form) };
    return respondInSteps(envelope, answer, exchange.request);
  }
  const { stream } = form.codec;
  // The events will not be read.
  if (envelope.headOnly || stream === undefined) sent.watch.close();
  if (stream === undefined) throw errors.internal('this encoding has no streams');
  const contentType = stream.contentType(target.dialect);
  if (envelope.headOnly) return respondEmpty(envelope, 200, { 'Content-Type': contentType });
  const onEnd = startStream(exchange, served, 200);
  const events = createWatchBody(sent.watch, {
    request: exchange.request,
    codec: stream,
    encodeList: (list) => form.codec.encode(list, { dialect: target.dialect, pretty: false }),
    documentOptions: presentation,
    eventCache: exchange.settings.eventCache,
    onError,
    onEvent: metrics.watchEventCounter(served),
    onEnd,
  });
  return respondStream(envelope, events, contentType);
}

function respondToConnection(exchange: Exchange, served: ServedResource, connection: Connection): MaybePromise<Answer> {
  let end: (() => void) | undefined;
  return chain(
    connection.answer(exchange.request, () => end?.()),
    (given) => {
      const { code, body, webSocket } = given;
      if (body !== null || webSocket !== undefined) end = startStream(exchange, served, code);
      const { headers } = respondEmpty(envelopeOf(exchange), code);
      return { ...given, headers: [...headers, ...given.headers] };
    },
  );
}

/** Starts a long-running response. Returns the function to call at its end. */
function startStream(exchange: Exchange, served: ServedResource, code: number): () => void {
  const ended = exchange.settings.metrics.startStream(served, exchange.action);
  exchange.isStream = true;
  exchange.ticket?.done();
  exchange.record?.responseStarted(code);
  return () => {
    ended();
    exchange.onStreamEnd?.();
    exchange.ticket?.ended();
    exchange.record?.complete();
  };
}

/** The `includeObject` option of a Table. Throws 400, after closing a watch that will not be read. */
function includedObjectOf(
  { query }: Exchange,
  { sent, form }: { readonly sent: ApiResponse; readonly form: Representation },
): DocumentOptions['include'] {
  if (form.view?.kind !== 'Table') return 'None';
  try {
    return readIncludedObject(query);
  } catch (error) {
    if (sent.type === 'watch') sent.watch.close();
    throw error;
  }
}

/** The 429 of a large body that had to wait for others. Nothing was changed. */
function tooManyLargeBodies(): StatusError {
  return errors.tooManyRequests('too many large requests are being processed, please try again later', 1);
}

interface Deadline {
  readonly clock: Clock;
  readonly timeLimitMs: number;
  readonly tooLate: () => StatusError;
}

/** Rejects when the result takes too long. The operation itself is not cancelled. */
export function withDeadline<Value>(result: Promise<Value>, { clock, timeLimitMs, tooLate }: Deadline): Promise<Value> {
  return new Promise((resolve, reject) => {
    const undo = clock.after(timeLimitMs, () => reject(tooLate()));
    result.then(resolve, reject).finally(undo);
  });
}
