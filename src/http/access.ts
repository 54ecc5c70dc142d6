/**
 * May who asks do that? Asked before anything is looked up, so that who may not ask does not learn what there is.
 */

import { resourceAttributes } from '../auth/attributes.js';
import type { RequestAuthenticator, TokenReader } from '../auth/authentication.js';
import { accessRefusal } from '../auth/authorizer.js';
import { ADMINISTRATOR, completeUser, STRANGER } from '../auth/identity.js';
import { readImpersonation } from '../auth/impersonation.js';
import { errors } from '../meta/errors.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import type { HttpRequest } from './answer.js';
import type { ResourceRoute, Route } from './path.js';
import { percentDecode } from './path.js';
import type { Query } from './query.js';
import type { ErrorListener } from './respond.js';
import type { Call } from './routes.js';
import { verbOf } from './routes.js';
import type { FetchTarget } from './target.js';

const NO_WARNINGS: readonly string[] = [];

const OPEN: Identity = { warnings: NO_WARNINGS };

const ANONYMOUS: Identity = { user: STRANGER, warnings: NO_WARNINGS };

const EXTRA_SPACE = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

const NO_USER = 'orchplane: authenticate returns a user, like { user: "alice", groups: ["dev"] }, or undefined';

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

export interface Identity {
  /** Absent: the administrator, because nobody is asked for credentials. */
  readonly user?: User;
  /** What the client should be told about its header. */
  readonly warnings: readonly string[];
  /** What is to be noted about the request. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface IdentifyOptions {
  readonly tokens: TokenReader;
  readonly authenticate: RequestAuthenticator | undefined;
  /** Whoever shows nothing is the administrator. */
  readonly isOpen: boolean;
  readonly onError: ErrorListener;
}

/** Throws, or rejects with, 401. */
export function identify(request: HttpRequest, options: IdentifyOptions): MaybePromise<Identity> {
  const { peer } = request;
  if (peer?.type === 'known') return { user: completeUser(peer.user), warnings: NO_WARNINGS };
  const shown = bearerToken(request.headers.get('authorization') ?? '');
  if (shown.type === 'token') return identityOfToken(shown.token, request, options);
  return chain(ownIdentity(request, options), (own): Identity => {
    if (own !== undefined) return own;
    if (peer?.type === 'refused') throw errors.unauthorized('Unauthorized');
    const nobody = options.isOpen ? OPEN : ANONYMOUS;
    return shown.type === 'spaced' ? { ...nobody, warnings: [EXTRA_SPACE] } : nobody;
  });
}

type Shown = { readonly type: 'token'; readonly token: string } | { readonly type: 'none' | 'spaced' };

function bearerToken(authorization: string): Shown {
  const [scheme = '', token, ...rest] = authorization.trim().split(' ');
  if (token === undefined || scheme.toLowerCase() !== 'bearer') return { type: 'none' };
  if (token === '') return { type: rest.length > 0 ? 'spaced' : 'none' };
  return { type: 'token', token };
}

function identityOfToken(token: string, request: HttpRequest, options: IdentifyOptions): MaybePromise<Identity> {
  // Why nobody knows it is nobody's business but a reviewer's.
  const unknown = (): MaybePromise<Identity> =>
    chain(ownIdentity(request, options), (own) => {
      if (own === undefined) throw errors.unauthorized('Unauthorized');
      return own;
    });
  return rescue(
    () =>
      chain(options.tokens.authenticate(token, []), ({ user, warnings = NO_WARNINGS, annotations }): Identity => {
        return { user, warnings, ...(annotations === undefined ? {} : { annotations }) };
      }),
    unknown,
  );
}

function ownIdentity(
  request: HttpRequest,
  { authenticate, onError }: IdentifyOptions,
): MaybePromise<Identity | undefined> {
  if (authenticate === undefined) return undefined;
  const failed = (error: unknown): never => {
    onError(error);
    throw errors.unauthorized('Unauthorized');
  };
  return rescue(
    () =>
      chain(authenticate(request), (user) => {
        if (user === undefined) return undefined;
        if (typeof user?.user !== 'string' || user.user === '') throw new TypeError(NO_USER);
        return { user: completeUser(user), warnings: NO_WARNINGS };
      }),
    failed,
  );
}
