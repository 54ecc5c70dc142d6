/**
 * The token service that TokenRequest and TokenReview use. `auth/` implements it.
 */
import type { User } from '../protocol/request.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** The object that a token is bound to: the token becomes invalid when the object is deleted. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

/** The content of a token to sign. */
export interface TokenClaims {
  readonly namespace: string;
  readonly account: { readonly name: string; readonly uid: string };
  /** Empty: the API server's audiences. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** Use of the token after this time is recorded as stale; absent: never. */
  readonly warnAfterSeconds?: number;
  readonly bound?: BoundObject;
  /** The node that a bound pod runs on. */
  readonly node?: { readonly name: string; readonly uid?: string };
}

/** A signed token and the data of a TokenRequest status. */
export interface SignedToken {
  readonly token: string;
  /** When the client must have a new token: the expiration, or `warnAfterSeconds` if that is set. */
  readonly expirationTimestamp: string;
  readonly audiences: readonly string[];
  /** Identifies the token in audit events: `JTI=…`. */
  readonly credentialId: string;
}

/** The result of a token review. */
export type TokenReviewResult =
  | { readonly type: 'known'; readonly user: User; readonly audiences: readonly string[] }
  | { readonly type: 'unknown'; readonly error: string };

/** Signs and reviews service account tokens. */
export interface TokenService {
  /** The audiences of a token whose request names none. */
  readonly apiAudiences: readonly string[];
  /** The longest lifetime of a token; absent: unlimited. */
  readonly maxExpirationSeconds?: number;
  /** Tokens that pods request automatically last a year, so that clients that never reload them keep working. */
  readonly extendsExpiration: boolean;
  sign(claims: TokenClaims): MaybePromise<SignedToken>;
  review(token: string, audiences: readonly string[]): MaybePromise<TokenReviewResult>;
}
