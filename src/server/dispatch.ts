/**
 * Dispatches a request: authorizes it, finds its kind, checks the verb and calls the handler of the verb.
 */
import { deprecationOf } from '../kinds/lifecycle.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { errors } from '../meta/errors.js';
import type { ApiRequest, Verb } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { authorizeRequest } from './authorize.js';
import type { ServerContext } from './context.js';
import { withWarnings } from './response.js';
import { requireKeyName } from './steps/commit.js';
import { connectSubresourceOf, subresourceOf } from './subresource.js';
import { onConnect } from './verbs/connect.js';
import { deleteCollection, deleteOne } from './verbs/delete.js';
import { patch } from './verbs/patch.js';
import { get, list } from './verbs/read.js';
import { create, update } from './verbs/update.js';
import { onView } from './verbs/view.js';
import { onAction, onVirtual } from './verbs/virtual.js';
import { watch } from './verbs/watch.js';
import { ConversionPending, MAX_CONVERSIONS } from './versions.js';

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

/** Handles one request. Throws, or rejects with, a StatusError; any other error is a bug or a failure of a plugin. */
export function dispatch(context: ServerContext, request: ApiRequest): MaybePromise<ApiResponse> {
  // Authorized first, so that a denied user does not learn which resources exist.
  authorizeRequest(context, request);
  const served = context.registry.byResource(request.resource);
  if (served === undefined) throw errors.genericServerResponse('NotFound');
  checkAddress(request, served);
  const { deprecation: warningOf, lifecycle, customResourceHandler: custom } = served.kind;
  const run = () =>
    custom?.mayBeAsynchronous === true
      ? whenConverted(context, detached(request), served)
      : handle(context, request, served);
  if (warningOf === undefined && lifecycle === undefined) return run();
  const deprecation = deprecationOf(served.kind, context.dialect, context.release);
  if (deprecation === undefined) return run();
  request.audit?.deprecated?.(deprecation);
  // Failed requests carry the warning too.
  const { warning } = deprecation;
  const answered = withWarnings([warning], run);
  return chain(answered, (response) => ({ ...response, warnings: [warning, ...response.warnings] }));
}

/**
 * Copies the body, because the caller may change its object while a conversion webhook runs. The copy of the request identifies
 * its attempts.
 */
function detached(request: ApiRequest): ApiRequest {
  const body = request.body?.detach?.();
  return body === undefined ? { ...request } : { ...request, body };
}

/** Waits for pending conversions of stored objects and starts the request again. */
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
      // The CRD may have changed meanwhile.
      const again = context.registry.byResource(request.resource);
      if (again === undefined) throw errors.genericServerResponse('NotFound');
      checkAddress(request, again);
      return whenConverted(context, request, again, attempt + 1);
    });
  };
  return rescue(() => handle(context, request, served), wait);
}

function handle(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ApiResponse> {
  const { virtual } = served.kind;
  const connectSubresource = connectSubresourceOf(served, request.subresource);
  const subresource = subresourceOf(served, request.subresource);
  if (connectSubresource !== undefined || subresource?.type === 'action') requireKeyName(request.name ?? '');
  if (connectSubresource !== undefined) return onConnect(context, request, { served, connectSubresource });
  if (subresource?.type === 'view') return onView(context, request, { served, view: subresource });
  if (subresource?.type === 'action') return onAction(context, request, { served, action: subresource });
  if (virtual !== undefined && subresource === undefined) return onVirtual(context, request, { served, virtual });
  return HANDLERS[request.verb](context, request, served);
}

/** Checks verb, scope and name. Over HTTP the router has rejected most of these; a client in process has no router. */
function checkAddress(request: ApiRequest, served: ServedKind): void {
  const { verb, name, namespace } = request;
  // Authorization was for this namespace, so a cluster-scoped resource must not be reachable through it.
  if (namespace && !served.namespaced) throw errors.genericServerResponse('NotFound');
  if (request.subresource !== undefined) {
    const subresource = subresourceOf(served, request.subresource) ?? connectSubresourceOf(served, request.subresource);
    if (subresource === undefined) throw errors.genericServerResponse('NotFound');
    if (!subresource.verbs.includes(verb)) throw errors.genericServerResponse('MethodNotAllowed');
  } else if (!served.verbs.includes(verb)) {
    throw errors.genericServerResponse('MethodNotAllowed');
  }
  if (NAMED.has(verb)) {
    if (!name) throw errors.badRequest('name must be provided');
    if (served.namespaced && !namespace) throw errors.badRequest('Namespace parameter required.');
    return;
  }
  if (verb === 'create' && served.namespaced && !namespace) throw errors.genericServerResponse('MethodNotAllowed');
  if (verb === 'deletecollection' && served.namespaced && !namespace)
    throw errors.genericServerResponse('MethodNotAllowed');
}
