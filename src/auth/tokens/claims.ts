/**
 * The claims of service account tokens: writes, reads and validates them. Besides the registered JWT claims there is one
 * object under the cluster's domain.
 */

import type { ObjectReader } from '../../kinds/objects.js';
import type { TokenClaims } from '../../kinds/tokens.js';
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { timeToMs } from '../../text/time/time.js';
import { isRecord, own, type ParsedBody } from '../../util/json.js';
import { sortedRecord } from '../../util/order.js';
import { accountUserName } from '../identity.js';

/** A reference to an object in a token. */
export interface ObjectClaim {
  readonly name: string;
  readonly uid: string;
}

/** Times are in seconds since the epoch. */
export interface AccountClaims {
  readonly issuer: string;
  readonly subject: string;
  /** Empty in legacy tokens, which other programs signed with the same key. */
  readonly audiences: readonly string[];
  readonly expiresAt: number | undefined;
  readonly notBefore: number | undefined;
  readonly issuedAt: number | undefined;
  readonly id: string;
  readonly namespace: string;
  readonly account: ObjectClaim;
  readonly pod: ObjectClaim | undefined;
  readonly secret: ObjectClaim | undefined;
  readonly node: ObjectClaim | undefined;
  readonly warnAfter: number | undefined;
}

/** The claims that the server determines. */
export interface ClaimSource {
  readonly dialect: Dialect;
  readonly issuer: string;
  readonly id: string;
  /** In seconds. */
  readonly now: number;
  readonly audiences: readonly string[];
}

/** The claims to sign, sorted by key. */
export function claimsOf(claims: TokenClaims, source: ClaimSource): Readonly<Record<string, unknown>> {
  const { namespace, account, expirationSeconds, warnAfterSeconds, bound, node } = claims;
  const { dialect, issuer, id, now, audiences } = source;
  const boundTo = (kind: string) => (bound?.kind === kind ? nameAndUid(bound) : undefined);
  const cluster = defined({
    namespace,
    node: boundTo('Node') ?? (node === undefined ? undefined : nameAndUid(node)),
    pod: boundTo('Pod'),
    secret: boundTo('Secret'),
    serviceaccount: nameAndUid(account),
    warnafter: warnAfterSeconds === undefined ? undefined : now + warnAfterSeconds,
  });
  const all = {
    aud: audiences,
    exp: now + expirationSeconds,
    iat: now,
    iss: issuer,
    jti: id,
    [dialect.domain]: cluster,
    nbf: now,
    sub: accountUserName({ namespace, name: account.name }),
  };
  return sortedRecord(Object.entries(all));
}

function nameAndUid({ name, uid }: { readonly name: string; readonly uid?: string }): object {
  return uid === undefined || uid === '' ? { name } : { name, uid };
}

function defined(record: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** Throws an Error for malformed claims, with the reference server's message where it is known. */
export function readClaims({ value, duplicates }: ParsedBody, dialect: Dialect): AccountClaims {
  if (!isRecord(value)) throw new Error('json: cannot unmarshal token claims');
  for (const keys of duplicates?.values() ?? []) {
    for (const key of keys.keys()) throw new Error(`json: duplicate key '${key}' in object`);
  }
  const cluster = recordClaim(value, dialect.domain, 'kubernetes') ?? {};
  return {
    issuer: stringClaim(value, 'iss'),
    subject: stringClaim(value, 'sub'),
    audiences: audienceClaim(value),
    expiresAt: dateClaim(value, 'exp'),
    notBefore: dateClaim(value, 'nbf'),
    issuedAt: dateClaim(value, 'iat'),
    id: stringClaim(value, 'jti'),
    namespace: stringClaim(cluster, 'namespace'),
    account: objectClaim(cluster, 'serviceaccount') ?? { name: '', uid: '' },
    pod: objectClaim(cluster, 'pod'),
    secret: objectClaim(cluster, 'secret'),
    node: objectClaim(cluster, 'node'),
    // Zero means absent.
    warnAfter: dateClaim(cluster, 'warnafter') || undefined,
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** Null counts as absent. */
function claimOf(claims: Claims, key: string): unknown {
  return own(claims, key) ?? undefined;
}

function stringClaim(claims: Claims, key: string): string {
  const value = claimOf(claims, key) ?? '';
  if (typeof value !== 'string')
    throw new Error(`json: cannot unmarshal ${jsonType(value)} into Go value of type string`);
  return value;
}

function dateClaim(claims: Claims, key: string): number | undefined {
  const value = claimOf(claims, key);
  if (value === undefined) return undefined;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (!isNumber) throw new Error('go-jose/go-jose/jwt: expected number value to unmarshal NumericDate');
  const seconds = Math.trunc(Number(value));
  // As in the reference server, values beyond 64 bits become the minimum, so that the token has expired.
  return Math.abs(seconds) < 2 ** 63 ? seconds : -(2 ** 63);
}

function audienceClaim(claims: Claims): readonly string[] {
  // Null is an error here.
  const value = Object.hasOwn(claims, 'aud') ? claims['aud'] : [];
  const all = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(all) || !all.every((audience) => typeof audience === 'string')) {
    throw new Error('go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience');
  }
  return all;
}

/** `type` is the Go type that the reference server's message names. */
function recordClaim(claims: Claims, key: string, type: string): Claims | undefined {
  const value = claimOf(claims, key);
  if (value !== undefined && !isRecord(value)) {
    throw new Error(`json: cannot unmarshal ${jsonType(value)} into Go value of type serviceaccount.${type}`);
  }
  return value;
}

function objectClaim(claims: Claims, key: string): ObjectClaim | undefined {
  const object = recordClaim(claims, key, 'ref');
  return object === undefined ? undefined : { name: stringClaim(object, 'name'), uid: stringClaim(object, 'uid') };
}

/** The type of a JSON value as Go's messages name it. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

/** Tolerates clock skew and stale caches. */
const LEEWAY_MS = 60_000;

const INVALIDATED = 'service account token has been invalidated';

/** Throws an Error with the reference server's message. upstream: pkg/serviceaccount/claims.go validator.Validate */
export function checkClaims(claims: AccountClaims, objects: ObjectReader, nowMs: number): void {
  checkTimes(claims, nowMs);
  checkAccount(claims, objects, nowMs);
  const { namespace, secret, pod, node } = claims;
  const at = (resource: string, namespace: string, { name }: ObjectClaim) =>
    objects.get({ group: '', resource, namespace, name });
  if (secret !== undefined) checkBound('secret', secret, at('secrets', namespace, secret), nowMs);
  if (pod !== undefined) checkBound('pod', pod, at('pods', namespace, pod), nowMs);
  // The node of a pod is informational: the token is bound to the pod.
  if (node !== undefined && pod === undefined) checkBound('node', node, at('nodes', '', node), nowMs);
}

function checkTimes({ notBefore, expiresAt, issuedAt }: AccountClaims, nowMs: number): void {
  if (notBefore !== undefined && nowMs + LEEWAY_MS < notBefore * 1000) {
    throw new Error('service account token is not valid yet');
  }
  if (expiresAt !== undefined && nowMs - LEEWAY_MS > expiresAt * 1000) {
    throw new Error('service account token has expired');
  }
  if (issuedAt !== undefined && nowMs + LEEWAY_MS < issuedAt * 1000) {
    throw new Error('service account token is issued in the future');
  }
}

function checkAccount(
  { namespace, account: { name, uid } }: AccountClaims,
  objects: ObjectReader,
  nowMs: number,
): void {
  const account = objects.get({ group: '', resource: 'serviceaccounts', namespace, name });
  if (account === undefined) throw new Error(`serviceaccounts "${name}" not found`);
  if (account.metadata.uid !== uid) {
    throw new Error(`service account UID (${account.metadata.uid}) does not match claim (${uid})`);
  }
  if (wasDeleted(account, nowMs)) throw new Error(`service account ${namespace}/${name} has been deleted`);
}

function checkBound(kind: string, { uid }: ObjectClaim, object: ApiObject | undefined, nowMs: number): void {
  if (object === undefined) throw new Error(INVALIDATED);
  if (object.metadata.uid !== uid) {
    throw new Error(`${kind} UID (${object.metadata.uid}) does not match service account ${kind} ref claim (${uid})`);
  }
  if (wasDeleted(object, nowMs)) throw new Error(INVALIDATED);
}

/** Whether the deletion deadline has passed by more than the leeway. */
function wasDeleted({ metadata: { deletionTimestamp } }: ApiObject, nowMs: number): boolean {
  return deletionTimestamp !== undefined && timeToMs(deletionTimestamp) < nowMs - LEEWAY_MS;
}
