/**
 * Who asks: the contract between those who can tell and those who have to know. A bearer token is looked at by each
 * authenticator in turn; the first that knows it answers.
 */
import type { User } from '../protocol/request.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** Whom a token stands for. */
export interface TokenIdentity {
  readonly user: User;
  /** For whom the token was made, of those that were asked about; absent: it is for everybody. */
  readonly audiences?: readonly string[];
  /** What the client should be told. */
  readonly warnings?: readonly string[];
}

/**
 * Looks at a token. `undefined`: it is none of its own. Throws an Error for a token that is its own and no good: the
 * message is shown by a TokenReview, and to nobody else.
 */
export type TokenAuthenticator = (
  token: string,
  /** Of which the token must name one; empty: those of the server itself. */
  audiences: readonly string[],
) => MaybePromise<TokenIdentity | undefined>;

/** What a cluster knows about tokens. */
export interface TokenReader {
  /** Tries all authenticators. Rejects with an Error that says why, where none of them knew the token. */
  authenticate(token: string, audiences: readonly string[]): MaybePromise<TokenIdentity>;
}
