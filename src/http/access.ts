/**
 * What stands in for authorization until there is one: whoever showed no token, where tokens are asked for, may do
 * nothing; whoever showed one may do everything. Impersonation is refused aloud, because to ignore it would be to act
 * as somebody else than the client said. See docs/fidelity.md.
 */

import { errors, failure, type StatusError } from '../meta/errors.js';
import type { User } from '../protocol/request.js';
import type { HttpHeaders } from './answer.js';
import { isAnonymous } from './bearer.js';
import type { ResourceRoute } from './path.js';
import type { Call } from './routes.js';
import { verbOf } from './routes.js';

/**
 * Throws 403 for a caller without a name, in the words of the reference server: before it is looked up whether there is
 * such a resource, so that strangers do not learn what there is.
 */
export function checkAccess(user: User | undefined, route: ResourceRoute, call: Call): void {
  if (user === undefined || !isAnonymous(user)) return;
  const { group, resource, name = '', namespace, subresource } = route;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  const verb = verbOf(route, call) ?? '';
  const why = `User "${user.user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
  throw accessRefusal(errors.forbidden({ group, resource }, name, why));
}

/** What everybody may look at, and what everybody who has a name may: a `*` at the end stands for anything. */
const PUBLIC_PATHS = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const DISCOVERY_PATHS = [...PUBLIC_PATHS, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'];

/** Throws 403 for a page of the server's own that the caller may not see, in the words of the reference server. */
export function checkPageAccess(user: User | undefined, method: string, path: string): void {
  if (user === undefined || user.groups?.includes('system:masters') === true) return;
  const verb = method.toLowerCase();
  const allowed = isAnonymous(user) ? PUBLIC_PATHS : DISCOVERY_PATHS;
  if (verb === 'get' && allowed.some((pattern) => matches(pattern, path))) return;
  const message = `forbidden: User "${user.user}" cannot ${verb} path "${path}"`;
  throw accessRefusal(failure({ reason: 'Forbidden', message, details: {} }));
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

const refusals = new WeakSet<StatusError>();

function accessRefusal(error: StatusError): StatusError {
  refusals.add(error);
  return error;
}

/** Whether the caller was refused for who it is, not for what it sent: such an answer has a header more. */
export function isAccessRefusal(error: StatusError): boolean {
  return refusals.has(error);
}

/** Throws 400 for a request on behalf of somebody else. */
export function refuseImpersonation(headers: HttpHeaders): void {
  for (const [name] of headers) {
    if (!name.startsWith('impersonate-')) continue;
    throw errors.badRequest(`orchplane does not support impersonation yet (header ${name}; see docs/fidelity.md)`);
  }
}
