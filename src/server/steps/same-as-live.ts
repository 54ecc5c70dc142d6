/**
 * Detects updates that change nothing: the response is the live object, and nothing is stored.
 */
import { EMPTY_SET, type FieldSet, sameSet } from '../../merge/apply/field-set.js';
import type { Entries } from '../../merge/apply/managers.js';
import type { ApiObject } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';

/**
 * Returns the live object if `next` equals it apart from the timestamps in managedFields, which count only if the object
 * `isStamped`. Both are in the version of the request.
 */
export function liveIfSame(live: ApiObject, next: ApiObject, isStamped = false): ApiObject {
  const before = live.metadata.managedFields;
  const after = next.metadata.managedFields;
  if (isStamped || before === undefined || after === undefined || before === after)
    return deepEqual(next, live) ? live : next;
  if (before.length !== after.length) return next;
  for (let index = 0; index < after.length; index++) {
    if (!sameButTime(after[index] as Entries[number], before[index] as Entries[number])) return next;
  }
  // The body differs most often, and comparing it needs no copy.
  if (!sameBody(next, live)) return next;
  const metadata = { ...next.metadata, managedFields: before };
  return deepEqual(metadata, live.metadata) ? live : next;
}

/** Compares two managedFields entries without their timestamps. */
export function sameButTime(left: Entries[number], right: Entries[number]): boolean {
  return (
    left.manager === right.manager &&
    left.operation === right.operation &&
    left.apiVersion === right.apiVersion &&
    left.subresource === right.subresource &&
    sameSet((left.fieldsV1 ?? EMPTY_SET) as FieldSet, (right.fieldsV1 ?? EMPTY_SET) as FieldSet)
  );
}

function sameBody(left: ApiObject, right: ApiObject): boolean {
  for (const name in left) if (name !== 'metadata' && !deepEqual(left[name], right[name])) return false;
  for (const name in right) if (right[name] !== undefined && !Object.hasOwn(left, name)) return false;
  return true;
}
