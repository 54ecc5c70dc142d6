/**
 * Authorization of requests. Requests without a user run as the administrator.
 */

import { attributesOf } from '../auth/attributes.js';
import { accessDeniedError } from '../auth/authorizer.js';
import { ADMINISTRATOR } from '../auth/identity.js';
import { errors } from '../meta/errors.js';
import type { ResourceAttributes } from '../protocol/access.js';
import { type ApiRequest, isAuthorized, sourceOf } from '../protocol/request.js';
import type { ServerContext } from './context.js';

/** Throws 403 when the user may not make the request. */
export function authorizeRequest(context: ServerContext, request: ApiRequest): void {
  if (request.user === undefined && context.accessListeners.size === 0) return;
  if (!isAuthorized(request)) decide(context, request, attributesOf(request));
}

/** Throws 403 when an update or a patch creates an object and the user may not create it. */
export function authorizeCreation(context: ServerContext, request: ApiRequest): void {
  if (request.user === undefined && context.accessListeners.size === 0) return;
  decide(context, request, { ...attributesOf(request), verb: 'create' });
}

function decide(context: ServerContext, request: ApiRequest, attributes: ResourceAttributes): void {
  const user = request.user ?? ADMINISTRATOR;
  const decision = context.authorize(user, attributes, sourceOf(request));
  request.audit?.decision?.(decision);
  if (decision.allowed) return;
  if (decision.error !== undefined && decision.reason === '') throw errors.internal(decision.error);
  throw accessDeniedError(user, attributes, decision);
}
