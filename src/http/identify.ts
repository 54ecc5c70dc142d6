/**
 * Who asks: by what the line tells, by bearer token, by a way of the user's own, or nobody in particular. Anything that
 * is not a bearer token is no credential at all: such a request is anonymous, and only a token nobody knows is refused.
 */
import type { RequestAuthenticator, TokenReader } from '../auth/authentication.js';
import { completeUser, STRANGER } from '../auth/identity.js';
import { errors } from '../meta/errors.js';
import type { User } from '../protocol/request.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import type { HttpRequest } from './answer.js';
import type { ErrorListener } from './failure.js';

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

const NO_WARNINGS: readonly string[] = [];
const OPEN: Identity = { warnings: NO_WARNINGS };
const ANONYMOUS: Identity = { user: STRANGER, warnings: NO_WARNINGS };
const EXTRA_SPACE = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

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

const NO_USER = 'orchplane: authenticate returns a user, like { user: "alice", groups: ["dev"] }, or undefined';
