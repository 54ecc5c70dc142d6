/**
 * Distributed claims of ID tokens: the token names an endpoint that returns another token with the claim.
 * See OpenID Connect Core 1.0, section 5.6.2.
 */
import { quote } from '../../text/go/go-text.js';
import { isRecord, own } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';
import {
  type IdTokenClaims,
  type IdTokenRules,
  NotInitializedError,
  untrustedIssuer,
  verifyIdToken,
} from './id-token.js';
import { createIssuerKeys, get, type IssuerKeys, type SendRequest } from './key-set.js';

/** Returns a function that adds a claim which the token does not contain itself. It rejects with an Error. */
export function expandClaim(
  claim: string,
  rules: IdTokenRules,
  send: SendRequest,
): (claims: IdTokenClaims) => Promise<IdTokenClaims> {
  const keysByIssuer = new Map<string, IssuerKeys>([[rules.issuer, rules.keys]]);
  return async (claims) => {
    try {
      const source = sourceOf(claim, claims);
      if (source === undefined) return claims;
      const token = await fetchToken(claim, source, send);
      const issuer = untrustedIssuer(token);
      if (issuer === undefined) {
        throw new Error(
          `getting untrusted issuer from endpoint ${source.endpoint} failed for claim ${quote(claim)}: malformed token`,
        );
      }
      const keys = getOrInsertComputed(keysByIssuer, issuer, () => createIssuerKeys(issuer, send));
      const found = await verifyIdToken(token, { ...rules, issuer, keys }).catch((error: unknown) => {
        throw new Error(
          error instanceof NotInitializedError
            ? `verifying untrusted issuer ${issuer} failed: verifier not initialized for issuer: ${quote(issuer)}`
            : `verify distributed claim token: ${messageOf(error)}`,
          { cause: error },
        );
      });
      if (!Object.hasOwn(found, claim)) {
        throw new Error(
          `jwt returned by distributed claim endpoint ${quote(source.endpoint)} did not contain claim: ${claim}`,
        );
      }
      return { ...claims, [claim]: found[claim] };
    } catch (error) {
      throw new Error(`oidc: could not expand distributed claims: ${messageOf(error)}`, { cause: error });
    }
  };
}

interface ClaimSource {
  readonly endpoint: string;
  readonly accessToken: string;
}

/** Undefined if there is nothing to fetch. */
function sourceOf(claim: string, claims: IdTokenClaims): ClaimSource | undefined {
  if (Object.hasOwn(claims, claim) || !Object.hasOwn(claims, '_claim_names')) return undefined;
  const names = own(claims, '_claim_names');
  if (!isRecord(names)) throw new Error('oidc: error parsing distributed claim names');
  if (!Object.hasOwn(claims, '_claim_sources')) throw new Error('oidc: no claim sources');
  const sources = own(claims, '_claim_sources');
  if (!isRecord(sources)) throw new Error('oidc: could not parse claim sources');
  const name = own(names, claim);
  if (typeof name !== 'string') return undefined;
  const source = own(sources, name);
  if (!isRecord(source)) {
    throw new Error(`id token _claim_names contained a source ${name} missing in _claims_sources`);
  }
  const { endpoint = '', access_token: accessToken = '' } = source;
  // Without an endpoint, the claim is an aggregated one, which the reference server ignores as well.
  if (typeof endpoint !== 'string' || endpoint === '') return undefined;
  return { endpoint, accessToken: String(accessToken) };
}

async function fetchToken(claim: string, { endpoint, accessToken }: ClaimSource, send: SendRequest): Promise<string> {
  try {
    const headers = accessToken === '' ? undefined : { authorization: `Bearer ${accessToken}` };
    const { text, status } = await get(endpoint, send, headers);
    if (status < 200 || status > 226) throw new Error(`error while getting distributed claim JWT: ${status}`);
    return text;
  } catch (error) {
    throw new Error(`while getting distributed claim ${quote(claim)}: ${messageOf(error)}`, { cause: error });
  }
}
