/**
 * May who asks do that? Asked before anything is looked up, so that who may not ask does not learn what there is.
 */
import { ADMINISTRATOR } from '../auth/administrator.js';
import { resourceAttributes } from '../auth/attributes.js';
import { readImpersonation } from '../auth/impersonation.js';
import { accessRefusal } from '../auth/refusal.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { HttpRequest } from './answer.js';
import type { ResourceRoute, Route } from './path.js';
import { percentDecode } from './percent.js';
import type { Query } from './query.js';
import type { Call } from './routes.js';
import { verbOf } from './routes.js';
import type { FetchTarget } from './target.js';

/** Throws 403, after whoever wants to know was told. */
export function requireAccess(
  target: FetchTarget,
  user: User | undefined,
  attributes: AccessAttributes,
  tell?: (decision: AccessDecision) => void,
): void {
  const decision = target.authorize(user, attributes);
  tell?.(decision);
  if (!decision.allowed) throw accessRefusal(user ?? ADMINISTRATOR, attributes, decision);
}

/** What a request asks for, as far as its line tells. */
export function attributesOfRoute(
  route: Exclude<Route, { type: 'malformed' }>,
  about: { readonly path: string; readonly query: Query; readonly call: Call },
): AccessAttributes {
  const { query, call } = about;
  if (route.type === 'resource') return ofResource(route, query, call);
  // Rules speak of paths as they are meant, however they were escaped.
  const path = route.type === 'other' ? route.path : (percentDecode(about.path) ?? about.path);
  return { type: 'path', verb: call.method.toLowerCase(), path };
}

function ofResource(route: ResourceRoute, query: Query, call: Call): AccessAttributes {
  const { group, version, resource, namespace = '', name = '', subresource = '' } = route;
  const verb = name === '' ? collectionVerb(route, call) : (verbOf(route, call) ?? '');
  const isSelective = !route.watch && (verb === 'list' || verb === 'watch' || verb === 'deletecollection');
  const fieldSelector = isSelective ? query.get('fieldSelector')?.[0] : undefined;
  const labelSelector = isSelective ? query.get('labelSelector')?.[0] : undefined;
  return resourceAttributes(
    { verb, group, version, resource, subresource, namespace, name },
    { ...(fieldSelector ? { fieldSelector } : {}), ...(labelSelector ? { labelSelector } : {}) },
  );
}

/** A path that ends where a name should be is about the collection. */
function collectionVerb(route: ResourceRoute, call: Call): string {
  const { name: _, ...collection } = route;
  return verbOf(collection, call) ?? '';
}

export type Acting =
  | { readonly type: 'as'; readonly user: User | undefined; readonly by?: User | undefined }
  | { readonly type: 'senseless'; readonly error: string };

/** On whose behalf the request is. Throws 403 when its sender may not speak for that one. */
export function actingUser(target: FetchTarget, user: User | undefined, request: HttpRequest): Acting {
  const wanted = readImpersonation(request.headers, target.dialect);
  if (wanted === undefined) return { type: 'as', user };
  if (wanted.type === 'senseless') return wanted;
  for (const question of wanted.questions) requireAccess(target, user, question);
  return { type: 'as', user: wanted.user, by: user ?? ADMINISTRATOR };
}
