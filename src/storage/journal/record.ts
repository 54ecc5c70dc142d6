/**
 * Encodes journal records as JSON text without loss. Stored objects contain two values that JSON.stringify cannot encode:
 * bigints and negative zero. They follow the object in a value of its shape, so that no user text can be mistaken for them.
 *
 *   [9,"ADDED","gadgets.example.com","default","a",1893456000000,{"spec":{"big":0}},{"spec":{"big":"12345678901234567890"}}]
 */
import type { ApiObject } from '../../meta/object.js';
import { deepFreeze, isRecord, type MutableRecord, own, setOwn } from '../../util/json.js';
import type { PlacedObject } from '../state.js';
import { keyText } from '../types.js';
import type { JournalRecord, JournalState } from './types.js';

export function encodeRecord({ revision, type, key, object, time }: JournalRecord): string {
  return encode([revision, type, key.storageKey, key.namespace, key.name, time], object);
}

/** A record whose object may be incomplete. */
export interface DecodedRecord extends JournalRecord {
  readonly isShort?: boolean | undefined;
}

/** At the place of the exceptions, where earlier versions ignore a text. */
const SHORT = 'short';

/**
 * A deletion with little more than the name of the object, which is that of the last write with another version:
 * {@link withDeletedObjects} completes it.
 */
export function encodeShortDeletion({ revision, type, key, object, time }: JournalRecord): string {
  const { apiVersion, kind } = object;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const identity = { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
  return JSON.stringify([revision, type, key.storageKey, key.namespace, key.name, time, identity, SHORT]);
}

/** Throws for a text that {@link encodeRecord} has not produced. */
export function decodeRecord(text: string): DecodedRecord {
  const [revision, type, resource, namespace, name, time, object, exceptions] = parse(text, 7);
  const placed = placedObject([resource, namespace, name, object, exceptions]);
  const record = { revision: revision as number, type: type as JournalRecord['type'], ...placed, time: time as number };
  return exceptions === SHORT ? { ...record, isShort: true } : record;
}

/** The records with the objects of short deletions. If damage has taken an object away, its deletion stays short. */
export function withDeletedObjects(
  { objects }: JournalState,
  records: readonly DecodedRecord[],
): readonly JournalRecord[] {
  if (!records.some(({ isShort }) => isShort)) return records;
  const last = new Map<string, ApiObject>();
  for (const { key, object } of objects) last.set(keyText(key), object);
  return records.map((record) => {
    const key = keyText(record.key);
    const before = record.isShort ? last.get(key) : undefined;
    const { resourceVersion } = record.object.metadata;
    const object =
      before === undefined
        ? record.object
        : deepFreeze({ ...before, metadata: { ...before.metadata, resourceVersion } });
    last.set(key, object);
    return { ...record, object };
  });
}

/** An object of a checkpoint. */
export function encodePlaced({ key, object }: PlacedObject): string {
  return encode([key.storageKey, key.namespace, key.name], object);
}

export function decodePlaced(text: string): PlacedObject {
  return placedObject(parse(text, 4));
}

function placedObject([resource, namespace, name, object, exceptions]: readonly unknown[]): PlacedObject {
  return {
    key: { storageKey: resource as string, namespace: namespace as string, name: name as string },
    object: restored(object, exceptions),
  };
}

function encode(head: readonly unknown[], object: ApiObject): string {
  return isPlainJson(object) ? JSON.stringify([...head, object]) : encodeWithExceptions(head, object);
}

function parse(text: string, least: number): readonly unknown[] {
  const parts: unknown = JSON.parse(text);
  if (Array.isArray(parts) && parts.length >= least) return parts;
  throw new SyntaxError('not a record');
}

/** Whether JSON.stringify encodes a value without loss. */
function isPlainJson(value: unknown): boolean {
  if (typeof value === 'object') {
    for (const key in value) if (!isPlainJson((value as Record<string, unknown>)[key])) return false;
    return true;
  }
  return typeof value === 'bigint' || value === 0 ? Object.is(value, 0) : true;
}

function encodeWithExceptions(head: readonly unknown[], object: ApiObject): string {
  const withoutBigints = (_key: string, value: unknown) => (typeof value === 'bigint' ? 0 : value);
  return JSON.stringify([...head, object, exceptionsIn(object)], withoutBigints);
}

/** The exceptions in a value, in its shape: each key occurs once, however many there are below it. */
function exceptionsIn(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(exceptionsIn);
    return items.some((item) => item !== undefined) ? items : undefined;
  }
  if (!isRecord(value))
    return isPlainJson(value) ? undefined : typeof value === 'bigint' ? String(value) : NEGATIVE_ZERO;
  const found: MutableRecord = {};
  for (const [key, item] of Object.entries(value)) {
    const exceptions = exceptionsIn(item);
    if (exceptions !== undefined) setOwn(found, key, exceptions);
  }
  return Object.keys(found).length > 0 ? found : undefined;
}

const NEGATIVE_ZERO = '-0';

function restored(object: unknown, exceptions: unknown): ApiObject {
  if (Array.isArray(exceptions)) restoreAtPaths(object, exceptions);
  else if (isRecord(exceptions)) restore(object as MutableRecord, exceptions);
  return deepFreeze(object) as ApiObject;
}

function restore(target: MutableRecord, exceptions: object): void {
  for (const [key, found] of Object.entries(exceptions)) {
    if (typeof found === 'string') setOwn(target, key, exactNumber(found));
    else if (found !== null) restore(own(target, key) as MutableRecord, found as object);
  }
}

/** Earlier versions listed exceptions with their paths: `[[["spec","big"],"12345678901234567890"]]`. */
function restoreAtPaths(object: unknown, exceptions: readonly [path: string[], text: string][]): void {
  for (const [path, text] of exceptions) {
    let target = object as MutableRecord;
    for (const step of path.slice(0, -1)) target = own(target, step) as MutableRecord;
    setOwn(target, path[path.length - 1] as string, exactNumber(text));
  }
}

function exactNumber(text: string): bigint | number {
  return text === NEGATIVE_ZERO ? -0 : BigInt(text);
}
