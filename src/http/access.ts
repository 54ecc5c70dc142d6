/**
 * Authentication, impersonation and authorization of HTTP requests. Authorization runs before anything is looked up, so
 * that an unauthorized client does not learn what exists.
 */

import { resourceAttributes } from '../auth/attributes.js';
import type { RequestAuthenticator, TokenReader } from '../auth/authentication.js';
import { accessDeniedError } from '../auth/authorizer.js';
import { ADMINISTRATOR, ANONYMOUS_USER, completeUser } from '../auth/identity.js';
import { readImpersonation } from '../auth/impersonation.js';
import { errors, failure } from '../meta/errors.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { HttpHeaders, HttpRequest } from '../protocol/http.js';
import type { User } from '../protocol/request.js';
import { quote } from '../text/go/go-text.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import type { ResourceRoute, Route } from './path.js';
import { percentDecode } from './path.js';
import type { Query } from './query.js';
import type { ErrorListener } from './respond.js';
import type { Call } from './routes.js';
import { verbOf } from './routes.js';
import { readSubprotocols } from './subprotocols.js';
import type { FetchTarget } from './target.js';

/** The result of authentication. */
export interface Identity {
  /** Absent: the administrator, because the handler requires no credentials. */
  readonly user?: User;
  /** Warnings about the Authorization header. */
  readonly warnings: readonly string[];
  /** Audit annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** How a handler authenticates requests. */
export interface IdentifyOptions {
  readonly tokens: TokenReader;
  readonly authenticate: RequestAuthenticator | undefined;
  /** Requests without credentials act as the administrator. */
  readonly isOpen: boolean;
  /** Other requests without credentials are anonymous; otherwise they are rejected. */
  readonly allowsAnonymous: boolean;
  readonly onError: ErrorListener;
}

const NO_WARNINGS: readonly string[] = [];

const ADMINISTRATOR_IDENTITY: Identity = { warnings: NO_WARNINGS };

const ANONYMOUS_IDENTITY: Identity = { user: ANONYMOUS_USER, warnings: NO_WARNINGS };

const EXTRA_SPACE = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/**
 * Authenticates a request by client certificate, bearer token or custom authenticator, else as the anonymous user. A
 * header that is not a bearer token counts as no credential; only an unknown token is rejected. Throws, or rejects
 * with, 401.
 */
export function identify(request: HttpRequest, options: IdentifyOptions): MaybePromise<Identity> {
  const { peer } = request;
  if (peer?.type === 'known') return { user: completeUser(peer.user), warnings: NO_WARNINGS };
  const header = credentialsOf(request);
  if (header.type === 'token') return identityOfToken(header.token, request, options);
  return chain(identityFromAuthenticator(request, options), (own): Identity => {
    if (own !== undefined) return own;
    const isRefused = !options.isOpen && !options.allowsAnonymous;
    if (peer?.type === 'refused' || isRefused) throw errors.unauthorized('Unauthorized');
    if (options.isOpen) refuseForeignPages(request);
    const fallback = options.isOpen ? ADMINISTRATOR_IDENTITY : ANONYMOUS_IDENTITY;
    return header.type === 'spaced' ? { ...fallback, warnings: [EXTRA_SPACE] } : fallback;
  });
}

/**
 * Throws 403 if a browser may have sent the request for a page of another host. Pages can send requests to this machine without a
 * preflight request, also under a name of their own that they let resolve to this machine.
 */
function refuseForeignPages({ headers, remote, url }: HttpRequest): void {
  // Other implementations of `get` return undefined.
  const origin = headers.get('origin') ?? '';
  const host = headers.get('host') ?? new URL(url).host;
  const isForeignPage = origin === '' ? isCrossSite(headers) : !isOriginAllowed(origin, host);
  // Only a connection of a network has a remote address.
  if (!isForeignPage && (remote === undefined || isLocalHost(host))) return;
  const sender = isForeignPage ? `of the page ${quote(origin)}` : `to the host ${quote(host)}`;
  const message = `requests ${sender} need credentials: without them, only local clients are administrators of this cluster`;
  throw failure({ reason: 'Forbidden', message });
}

/** A page may always link to another host, but requests of its own have no origin if their answer is hidden from it. */
function isCrossSite(headers: HttpHeaders): boolean {
  return headers.get('sec-fetch-site') === 'cross-site' && headers.get('sec-fetch-mode') !== 'navigate';
}

/** Whether a page is from the server's own host or from this machine. */
export function isOriginAllowed(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return LOOPBACK.test(hostname) || hostname === hostnameOf(host);
}

/**
 * Whether the name cannot be registered in public DNS: it is an address, has no dot, or ends as names of local networks, clusters and
 * tests do. It is not parsed as a URL, because browsers differ in the names that they accept.
 */
function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.?(:\d*)?$/, '');
  return ADDRESS.test(name) || !name.includes('.') || LOCAL_DOMAIN.test(name);
}

function hostnameOf(host: string): string | undefined {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined;
}

const LOOPBACK = /^(([^.]+\.)*localhost|127(\.\d+){3}|\[::1\])$/;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;
const LOCAL_DOMAIN = /\.(localhost|local|internal|test|example|invalid|svc|home\.arpa)$/;

type AuthorizationHeader = { readonly type: 'token'; readonly token: string } | { readonly type: 'none' | 'spaced' };

/** The token of the Authorization header; a WebSocket request may send it as a subprotocol instead. */
function credentialsOf({ headers, isWebSocket }: HttpRequest): AuthorizationHeader {
  const header = bearerToken(headers.get('authorization') ?? '');
  if (header.type === 'token' || isWebSocket !== true) return header;
  const { token } = readSubprotocols(headers);
  return token === undefined ? header : { type: 'token', token };
}

function bearerToken(authorization: string): AuthorizationHeader {
  const [scheme = '', token, ...rest] = authorization.trim().split(' ');
  if (token === undefined || scheme.toLowerCase() !== 'bearer') return { type: 'none' };
  if (token === '') return { type: rest.length > 0 ? 'spaced' : 'none' };
  return { type: 'token', token };
}

function identityOfToken(token: string, request: HttpRequest, options: IdentifyOptions): MaybePromise<Identity> {
  // The reason for the rejection is not disclosed; only a TokenReview tells it.
  const tryAuthenticator = (): MaybePromise<Identity> =>
    chain(identityFromAuthenticator(request, options), (own) => {
      if (own === undefined) throw errors.unauthorized('Unauthorized');
      return own;
    });
  return rescue(
    () =>
      chain(
        options.tokens.authenticate(token, [], request),
        ({ user, warnings = NO_WARNINGS, annotations }): Identity => {
          return { user, warnings, ...(annotations === undefined ? {} : { annotations }) };
        },
      ),
    tryAuthenticator,
  );
}

function identityFromAuthenticator(
  request: HttpRequest,
  { authenticate, onError }: IdentifyOptions,
): MaybePromise<Identity | undefined> {
  if (authenticate === undefined) return undefined;
  const failed = (error: unknown): never => {
    // An authenticator that stops when its client has left has not failed.
    if (!request.signal.aborted) onError(error);
    throw errors.unauthorized('Unauthorized');
  };
  return rescue(
    () =>
      chain(authenticate(request), (user) => {
        if (user === undefined) return undefined;
        if (typeof user?.user !== 'string' || user.user === '') throw new TypeError(INVALID_USER_MESSAGE);
        return { user: completeUser(user), warnings: NO_WARNINGS };
      }),
    failed,
  );
}

const INVALID_USER_MESSAGE =
  'orchplane: authenticate returns a user, like { user: "alice", groups: ["dev"] }, or undefined';

/** The user that a request acts as (`by` impersonates `user`), or an invalid impersonation. */
export type ActingUser =
  | { readonly type: 'as'; readonly user: User | undefined; readonly by?: User | undefined }
  | { readonly type: 'invalid'; readonly error: string };

/** Resolves the impersonation headers. Throws 403 when the sender may not impersonate the requested user. */
export function actingUser(target: FetchTarget, user: User | undefined, request: HttpRequest): ActingUser {
  const impersonation = readImpersonation(request.headers, target.dialect);
  if (impersonation === undefined) return { type: 'as', user };
  if (impersonation.type === 'invalid') return impersonation;
  for (const check of impersonation.checks) requireAccess(target, user, check);
  return { type: 'as', user: impersonation.user, by: user ?? ADMINISTRATOR };
}

/** Throws 403 when access is denied. `onDecision` is called with the decision first. */
export function requireAccess(
  target: FetchTarget,
  user: User | undefined,
  attributes: AccessAttributes,
  onDecision?: (decision: AccessDecision) => void,
): void {
  const decision = target.authorize(user, attributes);
  onDecision?.(decision);
  if (!decision.allowed) throw accessDeniedError(user ?? ADMINISTRATOR, attributes, decision);
}

/** The authorization attributes of a request, from its path, method and query. */
export function attributesOfRoute(
  route: Exclude<Route, { type: 'malformed' }>,
  request: { readonly path: string; readonly query: Query; readonly call: Call },
): AccessAttributes {
  const { query, call } = request;
  if (route.type === 'resource') return resourceRouteAttributes(route, query, call);
  // Non-resource rules match decoded paths.
  const path = route.type === 'other' ? route.path : (percentDecode(request.path) ?? request.path);
  return { type: 'path', verb: call.method.toLowerCase(), path };
}

function resourceRouteAttributes(route: ResourceRoute, query: Query, call: Call): AccessAttributes {
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

/** An empty name in the path addresses the collection. */
function collectionVerb(route: ResourceRoute, call: Call): string {
  const { name: _, ...collection } = route;
  return verbOf(collection, call) ?? '';
}
