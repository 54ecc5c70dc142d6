/**
 * Whether what a token says still holds: its times, its account, the object it is bound to. Asked with every request,
 * because every part of it may change while the signature stays good.
 */
import type { ObjectReader } from '../../kinds/objects.js';
import type { ApiObject } from '../../meta/object.js';
import { timeToMs } from '../../text/time/time.js';
import type { AccountClaims, ObjectClaim } from './claims.js';

/** Clocks differ, and caches are behind: what happened this short a time ago has not happened yet. */
export const LEEWAY_MS = 60_000;

/** Throws an Error with the words of the reference server. */
export function checkClaims(claims: AccountClaims, objects: ObjectReader, nowMs: number): void {
  checkTimes(claims, nowMs);
  checkAccount(claims, objects, nowMs);
  const { namespace, secret, pod, node } = claims;
  const at = (resource: string, namespace: string, { name }: ObjectClaim) =>
    objects.get({ group: '', resource, namespace, name });
  if (secret !== undefined) checkBound('secret', secret, at('secrets', namespace, secret), nowMs);
  if (pod !== undefined) checkBound('pod', pod, at('pods', namespace, pod), nowMs);
  // The node of a pod is told, not asked for: the token ends with the pod.
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

const INVALIDATED = 'service account token has been invalidated';

/** An object that waits for its end, and should have met it a while ago. */
function wasDeleted({ metadata: { deletionTimestamp } }: ApiObject, nowMs: number): boolean {
  return deletionTimestamp !== undefined && timeToMs(deletionTimestamp) < nowMs - LEEWAY_MS;
}
