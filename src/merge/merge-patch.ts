/**
 * JSON Merge Patch (RFC 7386) with the behaviour of the reference server: which nulls are kept, and the order of keys
 * of a merged object. It works on decoded values, without a schema. Runs in the merge step of the write path.
 * spec: Media types and encodings
 */
import { errors } from '../meta/errors.js';
import { jsonType } from '../schema/decode-scalar.js';
import type { MutableRecord } from '../util/json.js';
import { isRecord, own, setOwn } from '../util/json.js';

/** Decoding options of JSON and merge patches. */
export interface PatchDecodeOptions {
  /**
   * `Ignore` skips strict decoding, so that bodies of the wrong type fail later with another message. Default: `Warn`.
   */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

/**
 * Merges a patch into a document. Does not change its arguments; the result shares all parts that the merge did not
 * open. Keys of opened objects are sorted, because the server prints the result in error messages. With `Ignore` an
 * array body replaces the whole document.
 *
 * Throws 400 if the body is not an object.
 *
 * @example
 * applyMergePatch({ data: { a: '1', b: '2' } }, { data: { a: null } }) // { data: { b: '2' } }
 */
export function applyMergePatch(
  document: Readonly<Record<string, unknown>>,
  patch: unknown,
  options: PatchDecodeOptions = {},
): unknown {
  if (isRecord(patch)) return mergeRecords(document, patch, sortKeys);
  if (patch !== null && options.fieldValidation !== 'Ignore') {
    throw errors.badRequest(
      `error decoding patch: ${cannotUnmarshal(patch, 'Go value of type map[string]interface {}')}`,
    );
  }
  if (Array.isArray(patch)) return pruneNulls(patch, sortKeys);
  throw errors.badRequest('Invalid JSON Patch');
}

/** Merges without sorting: keys keep the document's order, and new ones come last. */
export function mergeUnsorted(
  document: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return mergeRecords(document, patch, unsorted);
}

/** The order of the keys of an opened object. */
type Order = (record: MutableRecord) => MutableRecord;

const unsorted: Order = (record) => record;

/** The decoder's error for a value of the wrong type; `target` is the expected Go type. */
export function cannotUnmarshal(value: unknown, target: string): string {
  return `json: cannot unmarshal ${jsonType(value)} into ${target}`;
}

/**
 * Sorts the keys in byte order. Returns the record itself if they are sorted, otherwise a copy. Keys that look like
 * array indexes come first, in numeric order, as JavaScript requires.
 */
export function sortKeys<Value>(record: Record<string, Value>): Record<string, Value> {
  const keys = Object.keys(record);
  if (areSorted(keys)) return record;
  const sorted: Record<string, Value> = {};
  for (const key of keys.sort()) setOwn(sorted, key, record[key]);
  return sorted;
}

function areSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) {
    if (!((keys[index - 1] as string) < (keys[index] as string))) return false;
  }
  return true;
}

function mergeRecords(
  current: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
  order: Order,
): MutableRecord {
  const merged: MutableRecord = { ...current };
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === undefined) continue;
    if (change === null) delete merged[key];
    else setOwn(merged, key, mergeValue(own(current, key), change, order));
  }
  return order(merged);
}

function mergeValue(current: unknown, change: unknown, order: Order): unknown {
  if (!isRecord(current)) return pruneNulls(change, order);
  // Unlike a new value, an array or scalar that replaces an object is not searched for nulls.
  return isRecord(change) ? mergeRecords(current, change, order) : change;
}

/** Removes keys with null values recursively, also inside arrays; nulls that are array elements are kept. */
function pruneNulls(value: unknown, order: Order): unknown {
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => pruneNulls(item, order));
  if (!isRecord(value)) return value;
  const pruned: MutableRecord = {};
  for (const key of Object.keys(value)) {
    const child = value[key];
    if (child !== null && child !== undefined) setOwn(pruned, key, pruneNulls(child, order));
  }
  return order(pruned);
}
