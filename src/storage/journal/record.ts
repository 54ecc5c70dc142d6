/**
 * Encodes journal records as JSON text without loss. Stored objects contain two values that JSON.stringify cannot encode:
 * bigints and negative zero. They are listed separately with their paths, so that no user text can be mistaken for them.
 *
 *   [9,"ADDED","gadgets.example.com","default","a",1893456000000,{"spec":{"big":0}},[[["spec","big"],"12345678901234567890"]]]
 */
import type { ApiObject } from '../../meta/object.js';
import { deepFreeze, isRecord, setOwn } from '../../util/json.js';
import type { PlacedObject } from '../state.js';
import type { JournalRecord } from './types.js';

export function encodeRecord({ revision, type, key, object, time }: JournalRecord): string {
  return encode([revision, type, key.storageKey, key.namespace, key.name, time], object);
}

/** Throws for a text that {@link encodeRecord} has not produced. */
export function decodeRecord(text: string): JournalRecord {
  const [revision, type, resource, namespace, name, time, object, exceptions] = parse(text, 7);
  const placed = placedObject([resource, namespace, name, object, exceptions]);
  return { revision: revision as number, type: type as JournalRecord['type'], ...placed, time: time as number };
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

type Path = readonly (string | number)[];
type Exceptions = readonly (readonly [path: Path, text: string])[];

function encodeWithExceptions(head: readonly unknown[], object: ApiObject): string {
  const exceptions: [Path, string][] = [];
  const plain = (value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => plain(item, [...path, index]));
    if (isRecord(value)) {
      const copy = {};
      for (const [key, item] of Object.entries(value)) setOwn(copy, key, plain(item, [...path, key]));
      return copy;
    }
    if (isPlainJson(value)) return value;
    exceptions.push([path, typeof value === 'bigint' ? String(value) : NEGATIVE_ZERO]);
    return 0;
  };
  return JSON.stringify([...head, plain(object, []), exceptions]);
}

const NEGATIVE_ZERO = '-0';

function restored(object: unknown, exceptions: unknown): ApiObject {
  for (const [path, text] of (exceptions ?? []) as Exceptions) {
    let target = object as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) target = target[step] as Record<string | number, unknown>;
    const last = path[path.length - 1] as string;
    setOwn(target, last, text === NEGATIVE_ZERO ? -0 : BigInt(text));
  }
  return deepFreeze(object) as ApiObject;
}
