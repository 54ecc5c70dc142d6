/**
 * Functions on JSON values: type checks, comparison, freezing, copying, printing.
 *
 * Every API object is JSON. Two traps are handled here once: a key named `__proto__` is data like any other
 * (it must be defined, never assigned), and inherited names such as `constructor` are not keys.
 */

/** A JSON value as a client sent it, before validation. */
export type JsonValue = string | number | bigint | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. Index with {@link own} when the key comes from outside. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** A JSON object that the current function owns and may change. */
export type MutableRecord = Record<string, unknown>;

/** A parsed document, and what its value does not contain. */
export interface ParsedBody {
  readonly value: unknown;
  /**
   * Duplicate keys: for each object of `value`, by identity, the earlier values of each duplicate key in document order
   * (`value` contains the last one). Absent when there are none.
   */
  readonly duplicates?: DuplicateKeys;
}

export type DuplicateKeys = ReadonlyMap<object, ReadonlyMap<string, readonly unknown[]>>;

/**
 * A number of a request body whose spelling its value does not preserve: `3.0`, `1e3`. The reference server does not
 * accept it as an integer and prints it as written. {@link jsonView} returns its value.
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

/** True for `{…}`: not null, not an array, not a {@link NumberText}. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
}

/**
 * The JSON value of a JavaScript value: an object with `toJSON` (a Date, a Quantity) is converted. Throws
 * {@link NotJsonError} for other class instances (a Map, a RegExp), which would otherwise become empty objects.
 */
export function jsonView(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (isPlain(value)) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonView(value.toJSON());
  throw new NotJsonError(`a ${value.constructor?.name ?? 'strange object'} is no JSON`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Plain objects of another realm have another Object.prototype, whose prototype is also null.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value of an own property, or undefined. Ignores inherited properties. */
export function own<Value>(record: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Sets an own property, also when the key is `__proto__`. */
export function setOwn(record: MutableRecord, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    record[key] = value;
  }
}

/** Whether two JSON values are equal, regardless of key order. A key with the value `undefined` counts as absent. */
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
    // An inherited property never equals a JSON value.
    if (value === other) continue;
    if (typeof value !== 'object' || !Object.hasOwn(right, key) || !deepEqual(value, other)) return false;
  }
  for (const key in right) if (right[key] !== undefined) present--;
  return present === 0;
}

/** Like {@link deepEqual}, but an empty list equals null or an absent value. Upstream calls this semantic equality. */
export function equalButEmptyLists(left: unknown, right: unknown): boolean {
  if (isEmptyList(left) && isEmptyList(right)) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, at) => equalButEmptyLists(item, right[at]));
  if (!isRecord(left) || !isRecord(right)) return deepEqual(left, right);
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => equalButEmptyLists(own(left, name), own(right, name)));
}

function isEmptyList(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Freezes a value deeply and returns it. Assumes that frozen parts are deeply frozen. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  // Most members are not objects; checking here saves a call.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (typeof value[index] === 'object') deepFreeze(value[index]);
  } else {
    for (const key in value) if (typeof value[key] === 'object') deepFreeze(value[key]);
  }
  return Object.freeze(value);
}

/** Thrown for values that JSON cannot represent: a function, a symbol, NaN, or nesting that is too deep. */
export class NotJsonError extends TypeError {
  override readonly name = 'NotJsonError';
}

/** The maximum nesting depth: more than any real object needs, and safe for recursive functions. Also detects cycles. */
export const MAX_DEPTH = 500;

/** Throws {@link NotJsonError} unless the value is JSON and not nested too deeply. */
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

/** Whether the value consists only of JSON scalars, plain objects and arrays. */
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

/** `undefined` is allowed: it means an absent key. */
function isJsonScalar(value: unknown): boolean {
  return (
    typeof value !== 'function' && typeof value !== 'symbol' && !(typeof value === 'number' && !Number.isFinite(value))
  );
}

/**
 * A deep, unfrozen copy of a JSON value without keys whose value is `undefined`. `depth` is the depth of the value in its
 * document. Throws {@link NotJsonError}.
 */
export function cloneJson<Value>(value: Value, depth = 0): Value {
  return clone(value, depth) as Value;
}

/** Lists up to this length are copied whatever they contain. */
const MAX_SPARSE = 1_000_000;

/** Whether a sparse list, or a Proxy, claims a length that would take all memory. */
function isSparse(list: readonly unknown[]): boolean {
  return list.length > MAX_SPARSE && Object.keys(list).length < list.length;
}

/** Throws {@link NotJsonError} for a list whose length is not that of its items. */
export function mustFill(list: readonly unknown[]): void {
  if (isSparse(list)) throw new NotJsonError(`a list has the length ${list.length} and fewer items`);
}

function clone(given: unknown, depth: number): unknown {
  const value = jsonView(given);
  if (depth > MAX_DEPTH) throw new NotJsonError('exceeded max depth');
  if (Array.isArray(value)) {
    mustFill(value);
    return Array.from(value, (item: unknown) => clone(item ?? null, depth + 1));
  }
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
 * A deep copy of a value that is validated later and may not be JSON. Functions and class instances are kept; an object that
 * is referred to more than once is copied once. Parts that are nested too deeply stay shared, because validation rejects them.
 */
export function copyUnvalidated(value: unknown, depth = 0, copies = new Map<object, unknown>()): unknown {
  const isList = Array.isArray(value);
  if (depth > MAX_DEPTH || !(isList || (isRecord(value) && isPlain(value)))) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  if (isList) {
    // Validation rejects it.
    if (isSparse(value)) return value;
    const list: unknown[] = [];
    copies.set(value, list);
    for (const item of value) list.push(copyUnvalidated(item, depth + 1, copies));
    return list;
  }
  const copy: MutableRecord = {};
  copies.set(value, copy);
  for (const key of Object.keys(value)) setOwn(copy, key, copyUnvalidated(value[key], depth + 1, copies));
  return copy;
}

/** A value as JSON text for messages: bigints in full, `…` for parts that are nested too deeply. */
export function printJson(value: unknown, depth = 0): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth > MAX_DEPTH) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => printJson(item, depth + 1)).join(',')}]`;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${printJson(item, depth + 1)}`).join(',')}}`;
}

/** Characters that could end a script or a line in a web page. In JSON they occur only inside strings. */
const UNSAFE_IN_PAGES = /[<>&\u2028\u2029]/g;

/** A table, because there may be a million of them. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['<', '\\u003c'],
  ['>', '\\u003e'],
  ['&', '\\u0026'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
]);

/** Escapes the characters that Go's JSON encoder escapes for HTML. */
export function escapeForPages(text: string): string {
  return text.replace(UNSAFE_IN_PAGES, (found) => ESCAPES.get(found) ?? found);
}

/**
 * Characters that are invisible, or that terminals and readers of YAML treat as more than text: control characters, line
 * separators, byte order marks and text directions.
 */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** A character of 16 bits as an escape of JSON, JavaScript and YAML: `\u2028`. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Text for a line of a terminal, or for a comment: it cannot end the line. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, unicodeEscape);
}

/** Characters that YAML treats as line breaks or rejects unless they are escaped, and invisible ones. */
const UNSAFE_IN_YAML = /[\x7f-\x9f\p{Bidi_Control}\u2028\u2029\ufeff\ufffe\uffff]/gu;

/** JSON that is read as YAML, too. The escaped characters occur only inside strings. */
export function escapeForYaml(json: string): string {
  return json.replace(UNSAFE_IN_YAML, unicodeEscape);
}

/** A copy of a JSON value in which the keys of all objects are sorted. */
export function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isRecord(value)) return value;
  const sorted: MutableRecord = {};
  for (const key of Object.keys(value).sort()) setOwn(sorted, key, withSortedKeys(value[key]));
  return sorted;
}

/** A value as compact JSON with sorted keys. */
export function encodeSorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(encodeSorted).join(',')}]`;
  if (!isRecord(value)) return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null');
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${encodeSorted(value[key])}`)
    .join(',')}}`;
}

/** A deep, unfrozen copy of a value that is known to be JSON: a stored object, a decoded draft. */
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

/** A copy without fields that are undefined. */
export function withoutUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]?: Exclude<Value[Key], undefined> } {
  const copy: MutableRecord = {};
  for (const [key, item] of Object.entries(value)) if (item !== undefined) setOwn(copy, key, item);
  return copy as { [Key in keyof Value]?: Exclude<Value[Key], undefined> };
}
