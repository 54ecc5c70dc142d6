/**
 * JSON Merge Patch (RFC 7386) with the particulars of the reference server: which nulls survive, and in what order the
 * keys of a merged object are printed. Values in, values out: no text is decoded here (codec) and no field is known
 * (schema). Runs in the merge step of the write path. spec: Merge Patch
 */
import { errors } from '../meta/errors.js';
import type { MutableRecord } from '../util/json.js';
import { isRecord, NumberText, own, setOwn } from '../util/json.js';

/** How a patch body is read; both JSON and merge patches take it. */
export interface PatchDecodeOptions {
  /** `Ignore` skips the checked decoding, so that misshapen bodies fail later and with other words. Absent: `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

/**
 * The document with the patch merged in. Changes neither; the result shares every part of both that the merge did not
 * have to open. Opened objects have their keys sorted, because the server prints the result in its error messages.
 * The result is no API object yet: with `Ignore` an array body replaces the whole document.
 *
 * Throws 400 when the body is not an object.
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

/** The same for who prints nothing: keys stay in the document's order, and new ones come last. */
export function mergeInOrder(
  document: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return mergeRecords(document, patch, asTheyAre);
}

/** In what order the keys of an opened object are. */
type Order = (record: MutableRecord) => MutableRecord;

const asTheyAre: Order = (record) => record;

/** The decoder's complaint about a value of the wrong type; `target` says what was wanted, in the decoder's terms. */
export function cannotUnmarshal(value: unknown, target: string): string {
  return `json: cannot unmarshal ${typeWord(value)} into ${target}`;
}

/**
 * The record with its keys in byte order: itself when they are, else a copy. Keys that look like array indexes stay
 * where the language puts them, in front and by number.
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
  // An array or scalar that takes the place of an object is not searched for nulls, unlike one that is new.
  return isRecord(change) ? mergeRecords(current, change, order) : change;
}

/** Drops the keys that hold null, at any depth and inside arrays; nulls that are array elements stay. */
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

function typeWord(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' || value instanceof NumberText ? 'number' : typeof value;
}
