/**
 * Records of a journal ⇄ text. Nothing gets lost: stored objects are JSON with two values that JSON text has no way to tell,
 * integers beyond the precision of numbers and negative zero. Where there are any, they stand apart with their places, so
 * no text of a user can be mistaken for them.
 *
 *   [9,"ADDED","gadgets.example.com","default","a",1893456000000,{"spec":{"big":0}},[[["spec","big"],"12345678901234567890"]]]
 */
import type { ApiObject } from '../../meta/object.js';
import { deepFreeze, isRecord, setOwn } from '../../util/json.js';
import type { PlacedObject } from '../state.js';
import type { JournalRecord } from './types.js';

export function encodeRecord({ revision, type, key, object, time }: JournalRecord): string {
  const head = [revision, type, key.resource, key.namespace, key.name, time];
  return isTold(object) ? JSON.stringify([...head, object]) : encodeApart(head, object);
}

/** Throws for a text that no {@link encodeRecord} has made. */
export function decodeRecord(text: string): JournalRecord {
  const [revision, type, resource, namespace, name, time, object, apart] = parse(text, 7);
  return {
    revision: revision as number,
    type: type as JournalRecord['type'],
    key: { resource: resource as string, namespace: namespace as string, name: name as string },
    object: whole(object, apart),
    time: time as number,
  };
}

/** An object of a checkpoint. */
export function encodePlaced({ key, object }: PlacedObject): string {
  const head = [key.resource, key.namespace, key.name];
  return isTold(object) ? JSON.stringify([...head, object]) : encodeApart(head, object);
}

export function decodePlaced(text: string): PlacedObject {
  const [resource, namespace, name, object, apart] = parse(text, 4);
  return {
    key: { resource: resource as string, namespace: namespace as string, name: name as string },
    object: whole(object, apart),
  };
}

function parse(text: string, least: number): readonly unknown[] {
  const parts: unknown = JSON.parse(text);
  if (Array.isArray(parts) && parts.length >= least) return parts;
  throw new SyntaxError('not a record');
}

/** Whether JSON text tells all of a value. */
function isTold(value: unknown): boolean {
  if (typeof value === 'object') {
    for (const key in value) if (!isTold((value as Record<string, unknown>)[key])) return false;
    return true;
  }
  return typeof value === 'bigint' || value === 0 ? Object.is(value, 0) : true;
}

type Place = readonly (string | number)[];
type Apart = readonly (readonly [place: Place, text: string])[];

function encodeApart(head: readonly unknown[], object: ApiObject): string {
  const apart: [Place, string][] = [];
  const plain = (value: unknown, place: Place): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => plain(item, [...place, index]));
    if (isRecord(value)) {
      const copy = {};
      for (const [key, item] of Object.entries(value)) setOwn(copy, key, plain(item, [...place, key]));
      return copy;
    }
    if (isTold(value)) return value;
    apart.push([place, typeof value === 'bigint' ? String(value) : NEGATIVE_ZERO]);
    return 0;
  };
  return JSON.stringify([...head, plain(object, []), apart]);
}

const NEGATIVE_ZERO = '-0';

function whole(object: unknown, apart: unknown): ApiObject {
  for (const [place, text] of (apart ?? []) as Apart) {
    let target = object as Record<string | number, unknown>;
    for (const step of place.slice(0, -1)) target = target[step] as Record<string | number, unknown>;
    const last = place[place.length - 1] as string;
    setOwn(target, last, text === NEGATIVE_ZERO ? -0 : BigInt(text));
  }
  return deepFreeze(object) as ApiObject;
}
