/**
 * Estimates of the memory that JSON values use.
 */
import { MAX_DEPTH } from './json.js';

/** The default of etcd's `--max-request-bytes`: storage rejects larger objects. */
export const MAX_STORED_BYTES = 1.5 * 1024 * 1024;

/** An object or array without its members. */
const CONTAINER_BYTES = 40;
/** A member, and its part of managedFields. */
const MEMBER_BYTES = 48;
/** Longer keys are not those of a schema, which all objects share. */
const MAX_SHARED_KEY = 64;
/** A character, and the same character in an encoding that is kept with the object. */
const CHARACTER_BYTES = 2;

/**
 * The memory of the parts of a value that another value does not share. Strings count even if the other value has equal
 * ones, because they can be two copies.
 */
export function unsharedBytes(value: unknown, other?: unknown): number {
  if (typeof value === 'string') return value.length * CHARACTER_BYTES;
  if (typeof value !== 'object' || value === null || value === other) return 0;
  const members = value as Readonly<Record<string, unknown>>;
  const others = (typeof other === 'object' && other !== null ? other : {}) as Readonly<Record<string, unknown>>;
  let bytes = CONTAINER_BYTES;
  for (const key in members) {
    const keyBytes = key.length > MAX_SHARED_KEY ? key.length * CHARACTER_BYTES : 0;
    bytes += MEMBER_BYTES + keyBytes + unsharedBytes(members[key], others[key]);
  }
  return bytes;
}

/** Whether a value contains more than `max` objects and lists, up to the depth that decoding allows. */
export function hasMoreContainers(value: unknown, max: number): boolean {
  let left = max;
  const count = (part: unknown, depth: number): void => {
    if (typeof part !== 'object' || part === null || depth > MAX_DEPTH || left < 0) return;
    left--;
    for (const key in part) count((part as Readonly<Record<string, unknown>>)[key], depth + 1);
  };
  count(value, 0);
  return left < 0;
}

/** Whether the JSON of a value, up to the depth that decoding allows, has more than about `max` characters. Escapes count as one. */
export function hasMoreCharacters(value: unknown, max: number): boolean {
  let left = max;
  const count = (part: unknown, depth: number): void => {
    left -= typeof part === 'string' ? part.length + 3 : 4;
    if (typeof part !== 'object' || part === null || depth > MAX_DEPTH) return;
    for (const key in part) {
      if (left < 0) return;
      left -= key.length;
      count((part as Readonly<Record<string, unknown>>)[key], depth + 1);
    }
  };
  count(value, 0);
  return left < 0;
}
