/**
 * Tokens, as the kinds see them that ask for one (TokenRequest) or about one (TokenReview). How they are signed and
 * checked stands in `auth/`.
 */
import type { User } from '../protocol/request.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** An object that a token ends with. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

export interface TokenClaims {
  readonly namespace: string;
  readonly account: { readonly name: string; readonly uid: string };
  /** Empty: those of the server itself. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** Who still uses it after this time is noted; absent: it is good until it ends. */
  readonly warnAfterSeconds?: number;
  readonly bound?: BoundObject;
  /** Of the node that a bound pod runs on. */
  readonly node?: { readonly name: string; readonly uid?: string };
}

export interface SignedToken {
  readonly token: string;
  /** When its holder should have another, as a Time: when it ends, or when its use is noted. */
  readonly expirationTimestamp: string;
  readonly audiences: readonly string[];
  /** By which requests with it can be found: `JTI=…`. */
  readonly credentialId: string;
}

export type TokenAnswer =
  | { readonly type: 'known'; readonly user: User; readonly audiences: readonly string[] }
  | { readonly type: 'unknown'; readonly error: string };

export interface TokenPower {
  /** For whom tokens are made when nobody says. */
  readonly apiAudiences: readonly string[];
  /** No token lasts longer than this; absent: as long as is asked for. */
  readonly maxExpirationSeconds?: number;
  /** Tokens that pods get by themselves last a year, so that programs which never read them again go on working. */
  readonly extendsExpiration: boolean;
  sign(claims: TokenClaims): MaybePromise<SignedToken>;
  review(token: string, audiences: readonly string[]): MaybePromise<TokenAnswer>;
}
