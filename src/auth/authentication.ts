/**
 * Who asks: the contract between those who can tell and those who have to know. A bearer token is looked at by each
 * authenticator in turn; the first that knows it answers.
 */
import type { User } from '../protocol/request.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** Whom a token stands for. */
export interface TokenIdentity {
  readonly user: User;
  /**
   * For whom the token was made, of those that were asked about; absent: whoever knows the token knows no audiences,
   * and it is for the server itself.
   */
  readonly audiences?: readonly string[];
  /** What the client should be told. */
  readonly warnings?: readonly string[];
  /** What is to be noted about a request with this token, by key. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Looks at a token. `undefined`: it is none of its own. Throws an Error for a token that is its own and no good: the
 * message is shown by a TokenReview, and to nobody else.
 */
export type TokenAuthenticator = (
  token: string,
  /** Of which the token must name one; never empty. */
  audiences: readonly string[],
) => MaybePromise<TokenIdentity | undefined>;

/** What a cluster knows about tokens. */
export interface TokenReader {
  /**
   * Tries all authenticators; the user is complete, and there are audiences. Throws, or rejects with, an Error that says
   * why, where none of them knew the token. No audiences: those of the server itself.
   */
  authenticate(token: string, audiences: readonly string[]): MaybePromise<TokenIdentity>;
}

/** Bearer tokens, and whom they stand for. */
export type TokenTable = Readonly<Record<string, User>>;

/** What whoever authenticates a whole request may look at. The body is not theirs. */
export interface AuthenticationRequest {
  readonly method: string;
  /** Whole: `http://cluster.local/api/v1/pods?limit=5`. */
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Iterable<[name: string, value: string]> & { get(name: string): string | null };
  /** Who is at the other end of the line, as far as the line tells. */
  readonly peer?: Peer | undefined;
}

/**
 * A user's own way to tell who asks: `createFetchHandler(cluster, { authenticate })`. It is asked after everything else
 * has nothing to say. `undefined`: it has nothing to say either, and the request is anonymous. When it throws, the
 * request is refused with 401, and the error goes to `onError`.
 */
export type RequestAuthenticator = (request: AuthenticationRequest) => MaybePromise<User | undefined>;

/** What a connection says about its other end: a certificate that is good, or one that is not. */
export type Peer =
  | { readonly type: 'known'; readonly user: User }
  /** Such a request is refused unless something else in it is a credential. */
  | { readonly type: 'refused'; readonly error: string };

/** What a cluster publishes about the tokens it signs, for those who check them elsewhere. */
export interface TokenDiscovery {
  /** The provider's metadata; undefined when the issuer is no address that could be published. */
  configuration(jwksUri: string): MaybePromise<object | undefined>;
  /** The public keys. */
  keySet(): MaybePromise<object>;
}
