/**
 * Words for JSON-shaped values: what they are, whether two are the same, how to freeze and copy them.
 *
 * Every API object is JSON. Two traps are handled here once: a key named `__proto__` is data like any other
 * (it must be defined, never assigned), and inherited names such as `constructor` are not keys.
 */

/** A JSON value as it arrives from a client, before any schema has looked at it. */
export type JsonValue = string | number | bigint | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. Index with {@link own} when the key comes from outside. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** A JSON object that the current function owns and may still change. */
export type MutableRecord = Record<string, unknown>;

/** A parsed document, and what its plain value cannot show. */
export interface ParsedBody {
  readonly value: unknown;
  /**
   * Keys that stood more than once: for each object of `value`, by identity, the earlier values of each repeated key
   * in document order (`value` holds the last one). Absent when no key was repeated, which is nearly always.
   */
  readonly duplicates?: DuplicateKeys;
}

export type DuplicateKeys = ReadonlyMap<object, ReadonlyMap<string, readonly unknown[]>>;

/**
 * A number of a request body that was spelt in a way its value does not show: `3.0`, `1e3`. To the reference server
 * that is no integer, and it prints it as it came. Where only the value counts, {@link jsonView} gives it.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }
}

/** True for `{…}`: not null, not an array, not a number in disguise. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
}

/**
 * The value as JSON would have it: an object that knows its own JSON (a Date, a Quantity) gives it, and one of a class
 * that does not (a Map, a RegExp) is refused instead of being taken for an empty object. Throws {@link NotJsonError}.
 */
export function jsonView(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (isPlain(value)) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonView(value.toJSON());
  throw new NotJsonError(`a ${value.constructor?.name ?? 'strange object'} is no JSON`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Plain objects of another realm have another Object.prototype, which has nothing above it either.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value of an own key, or undefined: never something inherited. */
export function own<Value>(record: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Sets a key as data, also when it is called `__proto__`. */
export function setOwn(record: MutableRecord, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    record[key] = value;
  }
}

/** Same JSON, key order aside. A key that holds `undefined` counts as absent. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) if (!deepEqual(left[index], right[index])) return false;
    return true;
  }
  return sameRecord(left as Record<string, unknown>, right as Record<string, unknown>);
}

function sameRecord(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  let present = 0;
  for (const key in left) {
    const value = left[key];
    if (value === undefined) continue;
    present++;
    const other = right[key];
    // What is inherited is never the same as a value of JSON.
    if (value === other) continue;
    if (typeof value !== 'object' || !Object.hasOwn(right, key) || !deepEqual(value, other)) return false;
  }
  for (const key in right) if (right[key] !== undefined) present--;
  return present === 0;
}

/** Freezes a value all the way down and returns it. Parts that are frozen already are taken as frozen throughout. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  // Most of what is inside is no object, and not worth a call.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (typeof value[index] === 'object') deepFreeze(value[index]);
  } else {
    for (const key in value) if (typeof value[key] === 'object') deepFreeze(value[key]);
  }
  return Object.freeze(value);
}

/** A value that JavaScript has and JSON has not: a function, a symbol, NaN, or nesting without end. */
export class NotJsonError extends TypeError {
  override readonly name = 'NotJsonError';
}

/** Deeper than any sensible object, and shallow enough for every recursive walk. A cycle has no end at all. */
export const MAX_DEPTH = 500;

/** Throws {@link NotJsonError} unless the value is JSON throughout and every recursive walk can reach its end. */
export function requireJson(value: unknown, depth = 0): void {
  if (typeof value === 'object' && value !== null) {
    if (depth > MAX_DEPTH) throw new NotJsonError('exceeded max depth');
    if (value instanceof NumberText) return;
    if (jsonView(value) !== value) throw new NotJsonError(`a ${value.constructor.name} is no JSON`);
    for (const item of Object.values(value)) requireJson(item, depth + 1);
  } else if (!isJsonScalar(value)) {
    throw new NotJsonError(`${typeof value === 'number' ? value : `a ${typeof value}`} is no JSON`);
  }
}

/** Whether the value is JSON as it stands, in plain objects and lists all the way down. */
export function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return isJsonScalar(value);
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (item === undefined || !isPlainJson(item, depth + 1)) return false;
    return true;
  }
  if (!isPlain(value)) return false;
  for (const key in value) if (!isPlainJson((value as Record<string, unknown>)[key], depth + 1)) return false;
  return true;
}

/** `undefined` counts: it is an absent key. */
function isJsonScalar(value: unknown): boolean {
  return (
    typeof value !== 'function' && typeof value !== 'symbol' && !(typeof value === 'number' && !Number.isFinite(value))
  );
}

/**
 * A fresh, unfrozen copy of a JSON value; keys that hold `undefined` are left out. `depth` is how deep it stands in its
 * document. Throws {@link NotJsonError}.
 */
export function cloneJson<Value>(value: Value, depth = 0): Value {
  return clone(value, depth) as Value;
}

function clone(given: unknown, depth: number): unknown {
  const value = jsonView(given);
  if (depth > MAX_DEPTH) throw new NotJsonError('exceeded max depth');
  if (Array.isArray(value)) return Array.from(value, (item: unknown) => clone(item ?? null, depth + 1));
  if (isRecord(value)) {
    const copy: MutableRecord = {};
    for (const key of Object.keys(value)) {
      if (value[key] !== undefined) setOwn(copy, key, clone(value[key], depth + 1));
    }
    return copy;
  }
  requireJson(value);
  return value;
}

/**
 * A copy of whatever a caller handed over, JSON or not, to be judged later: functions and the like are kept, and what
 * is nested beyond all measure, or in circles, is left shared, because it will be refused anyway.
 */
export function copyLoose(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => copyLoose(item, depth + 1));
  if (!isRecord(value) || !isPlain(value)) return value;
  const copy: MutableRecord = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copyLoose(value[key], depth + 1));
  return copy;
}

/** A value as text for a message; large integers in full, and a sign where it goes deeper than anybody reads. */
export function printJson(value: unknown, depth = 0): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth > MAX_DEPTH) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => printJson(item, depth + 1)).join(',')}]`;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${printJson(item, depth + 1)}`).join(',')}}`;
}

/** What could end a script or break a line in a web page. In JSON they occur only inside strings. */
const UNSAFE_IN_PAGES = /[<>&\u2028\u2029]/g;

/** JSON text as the reference server writes it: these few characters as escapes, which JSON does not ask for. */
export function escapeForPages(text: string): string {
  return text.replace(UNSAFE_IN_PAGES, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value as compact JSON with the keys of every map in order. */
export function encodeSorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(encodeSorted).join(',')}]`;
  if (!isRecord(value)) return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null');
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${encodeSorted(value[key])}`)
    .join(',')}}`;
}

/** A fresh, unfrozen copy of what is known to be JSON: an object of the store, a decoded draft. */
export function copyJson<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyJson) as Value;
  if (!isRecord(value)) return value;
  const copy: MutableRecord = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item !== undefined) setOwn(copy, key, typeof item === 'object' ? copyJson(item) : item);
  }
  return copy as Value;
}
