/**
 * What stands in for authorization until there is one: whoever showed no token, where tokens are asked for, may do
 * nothing; whoever showed one may do everything. Impersonation is refused aloud, because to ignore it would be to act
 * as somebody else than the client said. See docs/fidelity.md.
 */
import { errors } from '../meta/errors.js';
import type { User } from '../protocol/request.js';
import { isAnonymous } from './bearer.js';
import type { Action, ServedResource } from './routes.js';

/** Throws 403 for a caller without a name, in the words of the reference server. */
export function checkAccess(user: User | undefined, served: ServedResource, action: Action): void {
  if (user === undefined || !isAnonymous(user)) return;
  const { group, resource } = served.gvr;
  const { verb, name = '', namespace, subresource } = action;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const why = `User "${user.user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
  throw errors.forbidden({ group, resource }, name, why);
}

/** Throws 400 for a request on behalf of somebody else. */
export function refuseImpersonation(headers: Headers): void {
  for (const [name] of headers) {
    if (!name.startsWith('impersonate-')) continue;
    throw errors.badRequest(`orchplane does not support impersonation yet (header ${name}; see docs/fidelity.md)`);
  }
}
