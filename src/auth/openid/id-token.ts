/**
 * Verification of ID tokens: issuer, audience, times and signature, with the messages of the reference server.
 * upstream: vendor/github.com/coreos/go-oidc/verify.go
 */
import { quote } from '../../text/go/go-text.js';
import { isRecord, own } from '../../util/json.js';
import { jsonType } from '../tokens/claims.js';
import { type CompactToken, claimedIssuer, readCompact } from '../tokens/compact.js';
import { DiscoveryError, ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm, type IssuerKeys } from './key-set.js';

/** The claims of a token by name. */
export type IdTokenClaims = Readonly<Record<string, unknown>>;

/** What a token must fulfil. */
export interface IdTokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly IdTokenAlgorithm[];
  readonly keys: IssuerKeys;
  /** In milliseconds since the epoch. */
  readonly now: () => number;
}

const NOT_BEFORE_LEEWAY_MS = 60_000;

/** Google's tokens may name the issuer without a scheme. */
const GOOGLE = { issuer: 'https://accounts.google.com', claimed: 'accounts.google.com' };

/** The unverified issuer; undefined if the text is not a token. */
export function untrustedIssuer(token: string): string | undefined {
  const issuer = claimedIssuer(token);
  return issuer === GOOGLE.claimed ? GOOGLE.issuer : issuer;
}

/** Rejects with an Error unless the token is valid. */
export async function verifyIdToken(token: string, rules: IdTokenRules): Promise<IdTokenClaims> {
  const compact = readCompact(token);
  if (compact === undefined) throw new Error('oidc: malformed jwt');
  const claims = compact.payload.value;
  if (!isRecord(claims)) throw new Error('oidc: failed to unmarshal claims');
  checkAddressees(claims, rules);
  checkTimes(claims, rules.now());
  const algorithm = algorithmOf(compact, rules.algorithms);
  await rules.keys.verify(compact, algorithm).catch((error: unknown) => {
    throw error instanceof DiscoveryError ? new NotInitializedError(error) : error;
  });
  return claims;
}

/** Nothing is known of the issuer yet. */
export class NotInitializedError extends Error {
  override readonly name = 'NotInitializedError';

  constructor(cause: Error) {
    super('oidc: authenticator not initialized', { cause });
  }
}

function checkAddressees(claims: IdTokenClaims, { issuer, audience }: IdTokenRules): void {
  const subject = own(claims, 'sub') ?? '';
  if (typeof subject !== 'string') throw new Error(unreadable('sub', subject, 'string'));
  const claimed = own(claims, 'iss');
  if (claimed !== issuer && !(issuer === GOOGLE.issuer && claimed === GOOGLE.claimed)) {
    throw new Error(
      `oidc: id token issued by a different provider, expected ${quote(issuer)} got ${quote(String(claimed ?? ''))}`,
    );
  }
  const audiences = audiencesOf(claims);
  if (!audiences.includes(audience)) {
    throw new Error(`oidc: expected audience ${quote(audience)} got [${audiences.map(quote).join(' ')}]`);
  }
}

function audiencesOf(claims: IdTokenClaims): readonly string[] {
  const value = own(claims, 'aud') ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.every((each) => typeof each === 'string')) return list;
  throw new Error(unreadable('aud', value, '[]string'));
}

function checkTimes(claims: IdTokenClaims, nowMs: number): void {
  const expiry = secondsOf(claims, 'exp');
  if (expiry === undefined || expiry * 1000 < nowMs) {
    throw new Error(`oidc: token is expired (Token Expiry: ${printTime(expiry)})`);
  }
  const notBefore = secondsOf(claims, 'nbf');
  if (notBefore !== undefined && nowMs + NOT_BEFORE_LEEWAY_MS < notBefore * 1000) {
    throw new Error(
      `oidc: current time ${printTime(nowMs / 1000)} before the nbf (not before) time: ${printTime(notBefore)}`,
    );
  }
}

/** The seconds of a time claim, without fractions. */
function secondsOf(claims: IdTokenClaims, name: string): number | undefined {
  const value = own(claims, name) ?? undefined;
  if (value === undefined) return undefined;
  // The reference server also reads a number that is written as a string.
  const isNumber =
    typeof value === 'number' || typeof value === 'bigint' || (typeof value === 'string' && NUMBER.test(value));
  if (isNumber) return Math.trunc(Number(value));
  throw new Error(
    `oidc: failed to unmarshal claims: json: cannot unmarshal ${jsonType(value)} into Go value of type json.Number`,
  );
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function unreadable(claim: string, value: unknown, type: string): string {
  const what = `json: cannot unmarshal ${jsonType(value)} into Go struct field idToken.${claim} of type ${type}`;
  return `oidc: failed to unmarshal claims: ${what}`;
}

const MAX_DATE_SECONDS = 8.64e12;

/** `2030-01-01 00:00:00 +0000 UTC`; an absent time is Go's zero time. */
function printTime(seconds: number | undefined): string {
  if (seconds === undefined) return '0001-01-01 00:00:00 +0000 UTC';
  if (Math.abs(seconds) > MAX_DATE_SECONDS) return String(seconds);
  const [date = '', time = ''] = new Date(Math.floor(seconds) * 1000).toISOString().split('T');
  return `${date} ${time.slice(0, 8)} +0000 UTC`;
}

/** The algorithm comes from the token, so it must be one of the accepted ones. */
function algorithmOf({ algorithm }: CompactToken, accepted: readonly IdTokenAlgorithm[]): IdTokenAlgorithm {
  const found = ID_TOKEN_ALGORITHMS.find((each) => each === algorithm);
  if (found !== undefined && accepted.includes(found)) return found;
  throw new Error(
    `oidc: id token signed with unsupported algorithm, expected [${accepted.map(quote).join(' ')}] got ${quote(algorithm)}`,
  );
}
