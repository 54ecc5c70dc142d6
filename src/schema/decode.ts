/**
 * A parsed document → a fresh object of a kind: types checked, unknown fields dropped, defaults filled in, fields in
 * wire order, maps sorted. The result shares nothing with the input, so the write that asked for it may change it.
 *
 * Failures speak as the reference server's decoder does (`json: cannot unmarshal number into Go struct field …`).
 * Unknown and repeated fields are no failure here: they are returned as findings, and the caller decides by
 * `fieldValidation` whether to ignore, warn or refuse.
 */
import { Quantity } from '../meta/quantity.js';
import { isUsualTime, parseMicroTime, parseTime, ZERO_TIME } from '../meta/time.js';
import { canonicalBase64 } from '../util/base64.js';
import type { DuplicateKeys, MutableRecord, ParsedBody } from '../util/json.js';
import { cloneJson, copyJson, isRecord, jsonView, MAX_DEPTH, NotJsonError, NumberText, setOwn } from '../util/json.js';
import { decodingFindings } from './findings.js';
import {
  type Field,
  fieldsOf,
  type ListedField,
  type ListNode,
  type MapNode,
  type ObjectNode,
  type ScalarNode,
  type Structural,
} from './structural.js';

/** The document cannot be an object of the kind. The message is the decoder's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

export interface Decoded {
  readonly value: MutableRecord;
  /** `unknown field "spec.foo"`, `duplicate field "metadata.name"`, in document order. */
  readonly findings: readonly string[];
}

/** Says of a list or a reusable struct that the library itself has made it, for good: it is taken as it is. */
export type IsOurs = (value: object, node: ListNode | ObjectNode) => boolean;

/** Decodes a whole object. Throws {@link DecodeError}. */
export function decode(schema: ObjectNode, body: ParsedBody, isOurs?: IsOurs): Decoded {
  const { duplicates } = body;
  const walk: Walk = { duplicates, suspicious: duplicates !== undefined, depth: 0, isOurs };
  const value = decodeWhole(schema, body.value, walk);
  return { value, findings: walk.suspicious ? decodingFindings(schema, body) : NO_FINDINGS };
}

function decodeWhole(schema: ObjectNode, value: unknown, walk: Walk): MutableRecord {
  try {
    return decodeObject(schema, jsonView(value), undefined, walk);
  } catch (error) {
    if (error instanceof NotJsonError) throw new DecodeError(`json: ${error.message}`, { cause: error });
    throw error;
  }
}

const NO_FINDINGS: readonly string[] = Object.freeze([]);

/** State of one decode. */
interface Walk {
  readonly duplicates: DuplicateKeys | undefined;
  /** Something was seen that findings must name; they are collected by a second walk, in document order. */
  suspicious: boolean;
  /** How many objects, maps and lists are open: what goes too deep is refused here, before anything else walks over it. */
  depth: number;
  readonly isOurs?: IsOurs | undefined;
}

/** Where a value stands, for messages: the nearest struct, the field, and where that struct stands. Absent: at the top. */
interface Place {
  readonly goName: string;
  readonly name: string;
  readonly above: Place | undefined;
}

function enter(walk: Walk): void {
  if (walk.depth++ > MAX_DEPTH) throw new NotJsonError('exceeded max depth');
}

function decodeObject(node: ObjectNode, raw: unknown, place: Place | undefined, walk: Walk): MutableRecord {
  if (!isRecord(raw)) throw typeError(raw, place, node.goType);
  enter(walk);
  const out: MutableRecord = {};
  let known = 0;
  const isStruct = node.manner === 'struct';
  const fields = fieldsOf(node);
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as ListedField;
    const { name } = field;
    // Most fields of most objects are absent, and most of the others plain texts: these are dealt with on the spot.
    const isThere = Object.hasOwn(raw, name);
    if (!isThere && !field.fillsIn) continue;
    const given = isThere ? raw[name] : undefined;
    if (isThere) known++;
    if (field.isText && typeof given === 'string' && given !== '' && walk.duplicates === undefined) {
      out[name] = given;
      continue;
    }
    const value = isThere
      ? decodeField(node, field, given, { walk, holder: raw, above: place })
      : absentField(node, field, undefined);
    if (value === undefined) continue;
    // The names of structs are ours.
    if (isStruct) out[name] = value;
    else setOwn(out, name, value);
  }
  if (known !== Object.keys(raw).length) keepOrDrop(node, raw, out, walk);
  walk.depth--;
  return out;
}

/** Keys the schema does not know: kept where it says so, else dropped and noted. */
function keepOrDrop(node: ObjectNode, raw: Record<string, unknown>, out: MutableRecord, walk: Walk): void {
  if (!node.preserveUnknown) {
    walk.suspicious = true;
    return;
  }
  for (const key of Object.keys(raw)) {
    if (!node.fields.has(key) && raw[key] !== undefined) setOwn(out, key, cloneJson(raw[key], walk.depth));
  }
}

/** The object that a field is in. */
interface Holding {
  readonly walk: Walk;
  readonly holder: object;
  readonly above: Place | undefined;
}

/** The decoded field, or undefined when it is not on the wire. */
function decodeField(node: ObjectNode, field: Field, given: unknown, { walk, holder, above }: Holding): unknown {
  const earlier = walk.duplicates?.get(holder)?.get(field.name);
  // A repeated struct or map is decoded onto the same value, so its parts add up; anything else is overwritten.
  const raw = earlier === undefined ? given : accumulate(field.node, [...earlier, given]);
  if (raw === undefined || raw === null) return absentField(node, field, raw);
  const place: Place = { goName: node.goName, name: field.name, above };
  if (node.manner === 'document') return decodeLoose(field.node, raw, place, walk);
  const value = decodeNode(field.node, raw, place, walk);
  // The zero time is how some clients write no time at all.
  if (value === null) return absentField(node, field, null);
  return field.presence === 'omitEmpty' && isEmpty(value) ? defaultOf(field.node) : value;
}

function absentField(node: ObjectNode, field: Field, raw: null | undefined): unknown {
  if (node.manner === 'document') {
    if (raw === null && field.node.nullable === true) return null;
    const value = defaultOf(field.node);
    // A default is completed by the defaults inside it.
    return value === undefined
      ? undefined
      : decodeLoose(field.node, value, undefined, { suspicious: false, duplicates: undefined, depth: 0 });
  }
  return defaultOf(field.node) ?? (field.presence === 'always' ? zeroValue(field.node) : undefined);
}

function defaultOf(node: Structural): unknown {
  return node.default === undefined ? undefined : cloneJson(node.default);
}

function accumulate(node: Structural, values: readonly unknown[]): unknown {
  if (node.type !== 'object' && node.type !== 'map') return values[values.length - 1];
  const merged: MutableRecord = {};
  for (const value of values) {
    if (!isRecord(value)) return value;
    for (const key of Object.keys(value)) setOwn(merged, key, value[key]);
  }
  return merged;
}

/** A document keeps a value of the wrong type: its schema's rules will report it, in their own words. */
function decodeLoose(node: Structural, given: unknown, place: Place | undefined, walk: Walk): unknown {
  const raw = jsonView(given);
  if (node.type === 'object') return isRecord(raw) ? decodeObject(node, raw, place, walk) : cloneJson(raw, walk.depth);
  if (node.type === 'map' && isRecord(raw)) return decodeMap(node, raw, place, walk, decodeLoose);
  if (node.type === 'list' && Array.isArray(raw)) {
    enter(walk);
    const items = Array.from(raw, (item: unknown) => decodeLoose(node.items, item ?? null, place, walk));
    walk.depth--;
    return items;
  }
  return cloneJson(raw, walk.depth);
}

function decodeNode(node: Structural, given: unknown, place: Place | undefined, walk: Walk): unknown {
  const raw = typeof given === 'object' ? jsonView(given) : given;
  switch (node.type) {
    case 'scalar':
      return decodeScalar(node, raw, place, given);
    case 'map':
      if (!isRecord(raw)) throw typeError(raw, place, node.goType);
      return decodeMap(node, raw, place, walk, decodeNode);
    case 'list':
      if (!Array.isArray(raw)) throw typeError(raw, place, node.goType);
      return walk.isOurs?.(raw, node) === true ? raw : decodeList(node, raw, place, walk);
    case 'object':
      if (node.reusable === true && isRecord(raw) && walk.isOurs?.(raw, node) === true) return raw;
      return node.manner === 'document' ? decodeLoose(node, raw, place, walk) : decodeObject(node, raw, place, walk);
    case 'any':
      return cloneJson(raw, walk.depth);
  }
}

function decodeList(node: ListNode, raw: readonly unknown[], place: Place | undefined, walk: Walk): unknown[] {
  enter(walk);
  const items: unknown[] = [];
  for (let index = 0; index < raw.length; index++) {
    const item = raw[index];
    items.push(item === null || item === undefined ? zeroValue(node.items) : decodeNode(node.items, item, place, walk));
  }
  walk.depth--;
  return items;
}

type DecodeValue = (node: Structural, raw: unknown, place: Place | undefined, walk: Walk) => unknown;

function decodeMap(
  node: MapNode,
  raw: Record<string, unknown>,
  place: Place | undefined,
  walk: Walk,
  decodeValue: DecodeValue,
): MutableRecord {
  enter(walk);
  const out: MutableRecord = {};
  const { values } = node;
  const isText = decodeValue === decodeNode && values.type === 'scalar' && values.scalar === 'string';
  for (const key of sortedKeys(raw)) {
    const value = raw[key];
    // JavaScript's undefined is an absent key; JSON's null is the zero value.
    if (value === undefined) continue;
    if (isText && typeof value === 'string') setOwn(out, key, value);
    else setOwn(out, key, value === null ? zeroValue(values) : decodeValue(values, value, place, walk));
  }
  walk.depth--;
  return out;
}

function sortedKeys(record: Record<string, unknown>): string[] {
  const keys = Object.keys(record);
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort();
  return keys;
}

/** `given` is what stood there, when that was no plain value. */
function decodeScalar(node: ScalarNode, raw: unknown, place: Place | undefined, given: unknown): unknown {
  switch (node.scalar) {
    case 'string':
      if (typeof raw !== 'string') throw typeError(raw, place, node.goType);
      return raw;
    case 'boolean':
      if (typeof raw !== 'boolean') throw typeError(raw, place, node.goType);
      return raw;
    case 'int32':
    case 'int64':
      return decodeInteger(node, raw, place, given);
    case 'number':
      if (typeof raw !== 'number' && typeof raw !== 'bigint') throw typeError(raw, place, node.goType);
      return Number(raw);
    case 'bytes':
      if (typeof raw !== 'string') throw typeError(raw, place, node.goType);
      return worded(() => canonicalBase64(raw));
    case 'time':
    case 'microTime':
      // Times and the like decode themselves, as the plain type that they are written in.
      if (typeof raw !== 'string') throw typeError(raw, place, 'string');
      return decodeTime(node.scalar, raw);
    case 'quantity':
      // Its spelling is a matter of its own: `1e3` stays that.
      return worded(() => Quantity.parse(String(given instanceof NumberText ? given : raw).trim()).toString());
    case 'intOrString':
      if (typeof raw === 'string') return raw;
      return decodeInteger({ ...node, scalar: 'int32', goType: 'int32' }, raw, place, given);
    case 'duration':
      if (typeof raw !== 'string') throw typeError(raw, place, 'string');
      return raw;
  }
}

/**
 * A scalar that is on the wire just as it was given, or in the one spelling of its moment; undefined for everything about
 * which more is to be said: another type, an empty value, one that cannot be read.
 */
export function plainScalar({ scalar }: ScalarNode, value: unknown): string | number | boolean | undefined {
  switch (scalar) {
    case 'string':
      return typeof value === 'string' && value !== '' ? value : undefined;
    case 'boolean':
      return value === true ? value : undefined;
    case 'int32':
      return typeof value === 'number' && value !== 0 && value === (value | 0) ? value : undefined;
    case 'int64':
      return Number.isSafeInteger(value) && value !== 0 ? (value as number) : undefined;
    case 'time':
      return typeof value === 'string' && isUsualTime(value) ? value : undefined;
    default:
      return undefined;
  }
}

function decodeTime(scalar: 'time' | 'microTime', raw: string): string | null {
  try {
    const text = scalar === 'time' ? parseTime(raw) : parseMicroTime(raw);
    return text.startsWith(ZERO_SECOND) ? null : text;
  } catch (error) {
    throw inWordsOf(error);
  }
}

const ZERO_SECOND = ZERO_TIME.slice(0, -1);

const INT32_LIMIT = 2 ** 31;
const INT64_LIMIT = 2 ** 63;

function decodeInteger(node: ScalarNode, raw: unknown, place: Place | undefined, given: unknown): number | bigint {
  if (typeof raw !== 'number' && typeof raw !== 'bigint') throw typeError(raw, place, node.goType);
  // With a point or an exponent it is no integer, whatever its value.
  if (given instanceof NumberText) throw typeError(raw, place, node.goType, given.text);
  if (typeof raw === 'number' && !Number.isInteger(raw)) throw typeError(raw, place, node.goType, String(raw));
  // Integers of both types compare exactly.
  const limit = node.scalar === 'int32' ? INT32_LIMIT : INT64_LIMIT;
  if (raw >= limit || raw < -limit) throw typeError(raw, place, node.goType, String(raw));
  return raw;
}

/** Runs a parser of ours and passes its message on as the decoder's. */
function worded(parse: () => string): string {
  try {
    return parse();
  } catch (error) {
    throw inWordsOf(error);
  }
}

function inWordsOf(error: unknown): DecodeError {
  return new DecodeError(error instanceof Error ? error.message : String(error), { cause: error });
}

/** What an absent value of a type is on the wire. */
export function zeroValue(node: Structural): unknown {
  switch (node.type) {
    case 'object':
      return copyJson(emptyStruct(node));
    case 'map':
    case 'list':
    case 'any':
      return null;
    case 'scalar':
      return ZERO[node.scalar];
  }
}

const emptyStructs = new WeakMap<ObjectNode, MutableRecord>();

/** A struct of which nothing was given: defaults, and zero values where there is always something. */
function emptyStruct(node: ObjectNode): MutableRecord {
  let empty = emptyStructs.get(node);
  if (empty === undefined) {
    empty = decodeObject(node, {}, undefined, { duplicates: undefined, suspicious: false, depth: 0 });
    emptyStructs.set(node, empty);
  }
  return empty;
}

/** The fields of a struct that nobody has touched, not even to fill in defaults. */
export function untouchedFields(node: ObjectNode): MutableRecord {
  const out: MutableRecord = {};
  for (const { name, node: inner, presence } of node.fields.values()) {
    if (presence !== 'always') continue;
    setOwn(out, name, inner.type === 'object' ? untouchedFields(inner) : zeroValue(inner));
  }
  return out;
}

const ZERO: Readonly<Record<ScalarNode['scalar'], unknown>> = {
  string: '',
  int32: 0,
  int64: 0,
  number: 0,
  boolean: false,
  bytes: '',
  time: null,
  microTime: null,
  quantity: '0',
  intOrString: 0,
  duration: '0s',
};

function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _key in value) return false;
  return true;
}

function typeError(raw: unknown, place: Place | undefined, goType: string, literal = ''): DecodeError {
  const what = literal === '' ? jsonType(raw) : `number ${literal}`;
  if (place === undefined) return new DecodeError(`json: cannot unmarshal ${what} into Go value of type ${goType}`);
  return new DecodeError(
    `json: cannot unmarshal ${what} into Go struct field ${place.goName}.${pathTo(place)} of type ${goType}`,
  );
}

/** The names of the fields from the top. */
function pathTo({ name, above }: Place): string {
  return above === undefined ? name : `${pathTo(above)}.${name}`;
}

/** How the decoder calls what it found. */
export function jsonType(raw: unknown): string {
  if (raw === null) return 'null';
  if (raw instanceof NumberText) return 'number';
  if (Array.isArray(raw)) return 'array';
  switch (typeof raw) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'number';
    case 'number':
    case 'string':
    case 'object':
      return typeof raw;
    default:
      // A function or a symbol from JavaScript: no JSON, but the sentence still reads.
      return typeof raw;
  }
}
