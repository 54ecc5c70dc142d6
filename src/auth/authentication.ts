/**
 * The contract of authentication. Token authenticators are tried in order; the first that recognizes a token determines
 * the user.
 */
import type { Dialect } from '../meta/dialect.js';
import type { Peer } from '../protocol/http.js';
import type { User } from '../protocol/request.js';
import type { Clock } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** The identity behind a token. */
export interface TokenIdentity {
  readonly user: User;
  /**
   * The token's audiences among the requested ones. Absent: the authenticator does not support audiences, and the token
   * is for the server itself.
   */
  readonly audiences?: readonly string[];
  /** Warnings for the client. */
  readonly warnings?: readonly string[];
  /** Audit annotations of requests with this token. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Authenticates a token. `undefined` means that the token is not of its kind. Throws an Error for a token of its kind that
 * is invalid; only TokenReviews reveal the message.
 */
export type TokenAuthenticator = (
  token: string,
  /** The accepted audiences; never empty. */
  audiences: readonly string[],
  /** Who waits for the result. Absent: the result is needed in any case. */
  caller?: TokenCaller,
) => MaybePromise<TokenIdentity | undefined>;

/** The request that a token is authenticated for. */
export interface TokenCaller {
  /** Aborts when the client has disconnected. It is created when it is read. */
  readonly signal: AbortSignal;
}

/** What token authenticators may use of their cluster. */
export interface AuthenticatorContext {
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** The audiences of the server itself. */
  readonly audiences: readonly string[];
}

/** Creates a token authenticator for a cluster: what `openIdConnect` and `tokenWebhook` return. */
export interface TokenAuthenticatorFactory {
  createAuthenticator(context: AuthenticatorContext): TokenAuthenticator;
}

/** Authenticates bearer tokens of a cluster. */
export interface TokenReader {
  /**
   * Tries all authenticators. The result has a completed user and audiences. Throws or rejects with an Error if none
   * recognizes the token. An empty list of audiences stands for those of the server.
   */
  authenticate(token: string, audiences: readonly string[], caller?: TokenCaller): MaybePromise<TokenIdentity>;
}

/** Users by bearer token. */
export type TokenTable = Readonly<Record<string, User>>;

/** The request as a request authenticator sees it, without the body. */
export interface AuthenticationRequest {
  readonly method: string;
  /** The full URL: `http://cluster.local/api/v1/pods?limit=5`. */
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Iterable<[name: string, value: string]> & { get(name: string): string | null };
  /** The client of the connection, if it presented a certificate. */
  readonly peer?: Peer | undefined;
  /** Aborts when the client has disconnected, so that the result is not needed. It is created when it is read. */
  readonly signal: AbortSignal;
}

/**
 * A custom authenticator: `createFetchHandler(cluster, { authenticate })`. It runs last; `undefined` makes the request
 * anonymous. If it throws, the request is rejected with 401 and the error is passed to `onError`, unless the client has
 * disconnected. A call that waits for another server ends when `signal` aborts: until then the request counts as unanswered.
 */
export type RequestAuthenticator = (request: AuthenticationRequest) => MaybePromise<User | undefined>;

/** What a cluster publishes for clients that verify its tokens. */
export interface TokenDiscovery {
  /** The OpenID provider metadata; undefined if the issuer is not a publishable URL. */
  configuration(jwksUri: string): MaybePromise<object | undefined>;
  /** The public keys as a JWK set. */
  keySet(): MaybePromise<object>;
}
