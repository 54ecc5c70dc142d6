/**
 * The door of the server: finds the kind a request is about, checks that it takes the verb, and hands over.
 */
import { deprecationOf } from '../kinds/lifecycle.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { errors } from '../meta/errors.js';
import { pathSegmentProblems } from '../meta/names.js';
import type { ApiRequest, Verb } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { quote } from '../text/go/go-text.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { warned } from './answer.js';
import { authorizeRequest } from './authorize.js';
import type { ServerContext } from './context.js';
import { connectionOf, subresourceOf } from './subresource.js';
import { onAction } from './verbs/action.js';
import { onConnection } from './verbs/connection.js';
import { create } from './verbs/create.js';
import { deleteOne } from './verbs/delete.js';
import { deleteCollection } from './verbs/delete-collection.js';
import { get } from './verbs/get.js';
import { list } from './verbs/list.js';
import { patch } from './verbs/patch.js';
import { update } from './verbs/update.js';
import { onView } from './verbs/view.js';
import { onVirtual } from './verbs/virtual.js';
import { watch } from './verbs/watch.js';
import { ConversionPending } from './versions.js';

type Handler = (context: ServerContext, request: ApiRequest, served: ServedKind) => MaybePromise<ApiResponse>;

const HANDLERS: Readonly<Record<Verb, Handler>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};

const NAMED: ReadonlySet<Verb> = new Set(['get', 'update', 'patch', 'delete']);

/** Answers one request. Throws, or rejects with, StatusError; anything else is a bug or a plugin's own failure. */
export function dispatch(context: ServerContext, request: ApiRequest): MaybePromise<ApiResponse> {
  // Who may not ask does not learn what there is.
  authorizeRequest(context, request);
  const served = context.registry.byResource(request.resource);
  if (served === undefined) throw errors.router('NotFound');
  checkAddress(request, served);
  const { deprecation: isDeprecated, lifecycle, custom } = served.kind;
  const run = () =>
    custom?.mayWait === true ? whenConverted(context, detached(request), served) : handle(context, request, served);
  if (isDeprecated === undefined && lifecycle === undefined) return run();
  const deprecation = deprecationOf(served.kind, context.dialect, context.release);
  if (deprecation === undefined) return run();
  request.audit?.deprecated?.(deprecation);
  // Whoever fails is told as well.
  const { warning } = deprecation;
  const answered = warned([warning], run);
  return chain(answered, (response) => ({ ...response, warnings: [warning, ...response.warnings] }));
}

/** What the sender does with its object while something is converted is no part of the request. */
function detached(request: ApiRequest): ApiRequest {
  const body = request.body?.detach?.();
  return body === undefined ? request : { ...request, body };
}

/** More than any honest contention brings: objects that are written faster than they are converted. */
const MAX_CONVERSIONS = 100;

/** Objects that are still in another version are waited for, and the request begins again. */
function whenConverted(
  context: ServerContext,
  request: ApiRequest,
  served: ServedKind,
  attempt = 1,
): MaybePromise<ApiResponse> {
  const wait = (error: unknown): MaybePromise<ApiResponse> => {
    if (!(error instanceof ConversionPending)) throw error;
    if (attempt === MAX_CONVERSIONS) throw errors.serverTimeout(served.groupResource, request.verb, 2);
    return error.ready.then(() => {
      // The definition may be another one by now.
      const again = context.registry.byResource(request.resource);
      if (again === undefined) throw errors.router('NotFound');
      checkAddress(request, again);
      return whenConverted(context, request, again, attempt + 1);
    });
  };
  return rescue(() => handle(context, request, served), wait);
}

function handle(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ApiResponse> {
  const { virtual } = served.kind;
  const connection = connectionOf(served, request.subresource);
  if (connection !== undefined) return onConnection(context, request, { served, connection });
  const subresource = subresourceOf(served, request.subresource);
  if (subresource?.type === 'view') return onView(context, request, { served, view: subresource });
  if (subresource?.type === 'action') return onAction(context, request, { served, action: subresource });
  if (virtual !== undefined && subresource === undefined) return onVirtual(context, request, { served, virtual });
  return HANDLERS[request.verb](context, request, served);
}

/** Which verbs exist where. Over HTTP the router has refused most of these already; a local client has no router. */
function checkAddress(request: ApiRequest, served: ServedKind): void {
  const { verb, subresource, name, namespace } = request;
  // Who may do something in a namespace was asked about that, and what is outside of all is none of it.
  if (namespace && !served.namespaced) throw errors.router('NotFound');
  if (subresource !== undefined) {
    const strategy = subresourceOf(served, subresource) ?? connectionOf(served, subresource);
    if (strategy === undefined) throw errors.router('NotFound');
    if (!strategy.verbs.includes(verb)) throw errors.router('MethodNotAllowed');
  } else if (!served.verbs.includes(verb)) {
    throw errors.router('MethodNotAllowed');
  }
  if (NAMED.has(verb)) {
    if (!name) throw errors.badRequest('name must be provided');
    const problems = pathSegmentProblems(name);
    if (problems.length > 0) {
      throw errors.badRequest(`Name parameter invalid: ${quote(name)}: ${problems.join(';')}`);
    }
    if (served.namespaced && !namespace) throw errors.badRequest('Namespace parameter required.');
    return;
  }
  if (verb === 'create' && served.namespaced && !namespace) throw errors.router('MethodNotAllowed');
  if (verb === 'deletecollection' && served.namespaced && !namespace) throw errors.router('MethodNotAllowed');
}
