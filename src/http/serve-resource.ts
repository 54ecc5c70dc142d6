/**
 * A request for a resource, once it is known who asks and that this one may: the verb, the encodings, the request of the
 * protocol and its answer.
 */
import { markAuthorized } from '../auth/authorizer.js';
import type { Kind } from '../kinds/kind.js';
import { deprecationOf } from '../kinds/lifecycle.js';
import { errors } from '../meta/errors.js';
import type { ApiRequest, Verb } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { append } from '../util/append.js';
import type { Clock } from '../util/clock.js';
import { rescue } from '../util/maybe-promise.js';
import type { Answer } from './answer.js';
import { notesOf } from './audit.js';
import { type Exchange, envelopeOf, nothingThere, refuse, withPretty } from './exchange.js';
import type { Representation } from './negotiate.js';
import { readPatchType, represent, representError, routerRefusal } from './negotiate.js';
import type { ResourceRoute } from './path.js';
import { asksForState, readIncludedObject } from './query.js';
import { readRequest } from './read-request.js';
import { respondDocument, respondEmpty, respondStream } from './respond.js';
import type { Presentation } from './response-document.js';
import { present } from './response-document.js';
import type { Action, ServedResource } from './routes.js';
import { isLine, routeResource } from './routes.js';
import { eventStream } from './watch-body.js';

/** What the server gives a request at most, in milliseconds; writes get less, to be undone in time. */
const MAX_READ = 60_000;

const MAX_WRITE = 34_000;

const READ_TEXT = 'request did not complete within the allotted timeout';

const WRITE_TEXT = 'request did not complete within requested timeout - context deadline exceeded';

/** What is known of a request besides its path. */
export interface Circumstances {
  readonly watch: boolean;
  readonly timeout: number | undefined;
  readonly user: ApiRequest['user'];
}

export function serveResource(
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
      if (circumstances.watch && request.method === 'GET') warnOfDeprecation(exchange, served);
      return refuse(exchange, routed.error, routed.allow);
    }
    case 'action':
      exchange.served = served;
      exchange.action = routed;
      return act(exchange, { served, action: routed, ...circumstances });
  }
}

function warnOfDeprecation({ setting, warnings }: Exchange, { kind }: ServedResource): void {
  const deprecation = deprecationOf(kind, setting.target.dialect, setting.target.release);
  if (deprecation !== undefined) warnings.push(deprecation.warning);
}

/** Nothing is tabulated of kinds that cannot be listed, nor of what is done to an object. */
function tablesOf(kind: Kind, { subresource }: Action): false | undefined {
  if (subresource === undefined) return kind.verbs.includes('list') ? undefined : false;
  const below = kind.subresources[subresource];
  return below?.type === 'action' || (below?.type === undefined && below?.tables === false) ? false : undefined;
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
  const { representation: manner } = served.kind;
  // No router stands before users' own kinds.
  if (manner === 'document') exchange.refusals = offer;

  // 1. The encodings: of a patch, then of the answer. Whoever is at the other end of a line knows its own.
  const contentType = request.headers.get('content-type') ?? '';
  const line = isLine(served.kind, action);
  const patch = verb === 'patch' && !line ? readPatchType(offer, contentType, manner) : undefined;
  if (verb === 'patch' && action.name === undefined) throw errors.badRequest('name must be provided');
  const streams = verb === 'list' || verb === 'watch';
  const empty =
    !(request.hasBody ?? request.body !== null) && (verb === 'create' || verb === 'update' || verb === 'patch');
  const refusal = manner === 'struct' && !line ? routerRefusal(offer, accept, { streams, empty }) : undefined;
  if (refusal !== undefined) throw refusal;
  exchange.refusals = offer;
  // A watch that begins with the state cannot be shown as tables.
  const tables = verb === 'watch' && asksForState(query) ? false : tablesOf(served.kind, action);
  const wanted = { watch: verb === 'watch', manner, tables };
  const form = (line ? representError(offer, accept) : undefined) ?? represent(offer, line ? '' : accept, wanted);

  // 2. Options and body.
  const incoming = { request, offer, query, contentType, userAgent, user, served, action, patch };
  const { clock } = target;
  // Who carries the request out warns as well, but does not get what cannot be read.
  const warn = (error: unknown): never => {
    warnOfDeprecation(exchange, served);
    throw error;
  };
  const reading = rescue(() => readRequest(incoming), warn);
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

interface Deadline {
  readonly clock: Clock;
  readonly verb: Verb;
  /** What the client asked for; absent, zero or less: what the server gives. */
  readonly timeout: number | undefined;
}

/** The result, or a 504 when it does not come in time. The work itself goes on. */
function withDeadline<Value>(result: Promise<Value>, { clock, verb, timeout }: Deadline): Promise<Value> {
  const isRead = verb === 'get' || verb === 'list';
  const most = isRead ? MAX_READ : MAX_WRITE;
  const limit = timeout === undefined || timeout <= 0 ? most : Math.min(timeout, most);
  return new Promise((resolve, reject) => {
    const undo = clock.after(limit, () => reject(errors.timeout(isRead ? READ_TEXT : WRITE_TEXT)));
    result.then(resolve, reject).finally(undo);
  });
}
