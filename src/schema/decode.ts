/**
 * Decodes a parsed document into a new object of a kind: checks types, prunes unknown fields, applies defaults, and
 * puts fields in wire order. The result shares nothing with the input, so the write may change it.
 *
 * Errors have the messages of the reference server's decoder (`json: cannot unmarshal number into Go struct field …`).
 * Unknown and duplicate fields are not errors: they are returned as findings, and the caller decides by
 * `fieldValidation` whether to ignore them, to warn or to reject.
 */
import type { DuplicateKeys, MutableRecord, ParsedBody } from '../util/json.js';
import { cloneJson, copyJson, isRecord, jsonView, MAX_DEPTH, mustFill, NotJsonError, setOwn } from '../util/json.js';
import { getOrInsertComputed } from '../util/once.js';
import { sortedKeys } from '../util/order.js';
import { arrange } from './arrange.js';
import {
  DecodeError,
  decodeAny,
  decodeScalar,
  type FieldPosition,
  isEmpty,
  plainScalar,
  typeError,
  ZERO_VALUES,
} from './decode-scalar.js';
import { rememberIfEmpty, rememberSentItem } from './empty-values.js';
import { decodingFindings } from './findings.js';
import { firstAbortingError, firstErrorInDocument } from './first-error.js';
import { rememberQuantityText } from './quantity-texts.js';
import {
  areInWireOrder,
  type Field,
  type FieldListing,
  type ListedField,
  type ListNode,
  listingOf,
  type MapNode,
  type ObjectNode,
  type SchemaNode,
} from './schema-node.js';

/** The result of decoding. */
export interface Decoded {
  readonly value: MutableRecord;
  /** `unknown field "spec.foo"`, `duplicate field "metadata.name"`, in document order. */
  readonly findings: readonly string[];
}

/**
 * Tells whether a list or a reusable struct was created by this library, is frozen and will not be changed: it is then
 * reused as it is.
 */
export type IsReusable = (value: object, node: ListNode | ObjectNode) => boolean;

/**
 * Decodes a whole object. Throws {@link DecodeError}. `metadata` is that of a stored object: if the body has the same
 * metadata object, its members are reused.
 */
export function decode(schema: ObjectNode, body: ParsedBody, isReusable?: IsReusable, metadata?: object): Decoded {
  const { duplicates } = body;
  const walk: Walk = { duplicates, hasFindings: duplicates !== undefined, depth: 0, isReusable, metadata };
  const value = decodeWhole(schema, body.value, walk);
  return { value, findings: walk.hasFindings ? decodingFindings(schema, body) : NO_FINDINGS };
}

function decodeWhole(schema: ObjectNode, value: unknown, walk: Walk): MutableRecord {
  try {
    return decodeObject(schema, jsonView(value), undefined, walk);
  } catch (error) {
    if (error instanceof NotJsonError) throw new DecodeError(`json: ${error.message}`, { cause: error });
    if (error instanceof DecodeError && !error.aborts && schema.representation === 'struct')
      throw firstAbortingError(schema, value) ?? error;
    throw error;
  }
}

/** Decodes a struct inside a value that has its own decoder, which has no findings. */
export function decodeInside(schema: ObjectNode, value: unknown, depth: number): MutableRecord {
  return decodeWhole(schema, value, { duplicates: undefined, hasFindings: false, depth });
}

const NO_FINDINGS: readonly string[] = Object.freeze([]);

/** State of one decode. */
interface Walk {
  readonly duplicates: DuplicateKeys | undefined;
  /** Set if there are findings; they are collected by a second walk in document order. */
  hasFindings: boolean;
  /** The number of open objects, maps and lists; limits the depth of documents before other code walks them. */
  depth: number;
  readonly isReusable?: IsReusable | undefined;
  readonly metadata?: object | undefined;
}

function enter(walk: Walk): void {
  if (walk.depth++ > MAX_DEPTH) throw tooDeep();
}

function tooDeep(): NotJsonError {
  return new NotJsonError('exceeded max depth');
}

/** `raw` is the value as JSON represents it. */
function decodeObject(node: ObjectNode, raw: unknown, position: FieldPosition | undefined, walk: Walk): MutableRecord {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw typeError(raw, position, node.goType);
  if (walk.depth++ > MAX_DEPTH) throw tooDeep();
  const keys = Object.keys(raw);
  const out: MutableRecord = {};
  const listing = listingOf(node);
  const decoding: Decoding = { raw: raw as Record<string, unknown>, keys, out, listing };
  if (areInWireOrder(listing, keys)) decodeInOrder(node, decoding, position, walk);
  else decodeInAnyOrder(node, decoding, position, walk);
  walk.depth--;
  return out;
}

interface Decoding {
  readonly raw: Record<string, unknown>;
  readonly keys: readonly string[];
  readonly out: MutableRecord;
  readonly listing: FieldListing;
}

/** Iterates over the keys of an object whose fields are in wire order: most fields of most objects are absent. */
function decodeInOrder(node: ObjectNode, decoding: Decoding, position: FieldPosition | undefined, walk: Walk): void {
  const { raw, keys, out } = decoding;
  const { named, fillers } = decoding.listing;
  const isStruct = node.representation === 'struct';
  const isOnce = walk.duplicates === undefined;
  let filled = 0;
  for (let at = 0; at < keys.length; at++) {
    const name = keys[at] as string;
    const field = named.get(name) as ListedField;
    while (filled < fillers.length && (fillers[filled] as ListedField).index <= field.index) {
      const filler = fillers[filled++] as ListedField;
      if (filler !== field) fillIn(node, filler, out);
    }
    const given = raw[name];
    const { scalar } = field;
    let value: unknown;
    // Fast path: most fields are non-empty strings.
    if (isOnce && scalar?.scalar === 'string' && typeof given === 'string' && given !== '') value = given;
    else {
      if (isOnce && scalar !== undefined) value = plainScalar(scalar, given);
      value ??= decodeField(node, field, given, { walk, holder: raw, above: position });
      rememberSent(out, field, given, value);
      if (value === undefined) continue;
    }
    // Field names of structs are known, so plain assignment is safe (no `__proto__`).
    if (isStruct) out[name] = value;
    else setOwn(out, name, value);
  }
  for (; filled < fillers.length; filled++) fillIn(node, fillers[filled] as ListedField, out);
}

/** Like JSON, ignore properties that are not enumerable. */
const isEnumerable = Object.prototype.propertyIsEnumerable;

function decodeInAnyOrder(node: ObjectNode, decoding: Decoding, position: FieldPosition | undefined, walk: Walk): void {
  const { raw, keys, out } = decoding;
  const isOnce = walk.duplicates === undefined;
  const holding: FieldHolder = { walk, holder: raw, above: position };
  const { depth } = walk;
  let fieldCount = 0;
  let index = 0;
  try {
    for (const field of decoding.listing.all) {
      index = field.index;
      if (isEnumerable.call(raw, field.name)) {
        fieldCount++;
        const given = raw[field.name];
        const plain = isOnce && field.scalar !== undefined ? plainScalar(field.scalar, given) : undefined;
        const value = plain ?? decodeField(node, field, given, holding);
        if (value !== undefined) setOwn(out, field.name, value);
        if (plain === undefined) rememberSent(out, field, given, value);
      } else if (field.fillsIn) fillIn(node, field, out);
    }
  } catch (error) {
    throw firstErrorInDocument(error, keys, (key) => {
      const field = decoding.listing.named.get(key);
      if (field === undefined || field.index <= index) return field?.index === index;
      walk.depth = depth;
      decodeField(node, field, raw[key], holding);
      return false;
    });
  }
  if (fieldCount !== keys.length) keepOrDropUnknown(node, raw, out, walk);
}

function fillIn(node: ObjectNode, field: ListedField, out: MutableRecord): void {
  const { scalar } = field;
  const value =
    scalar !== undefined && scalar.default === undefined
      ? ZERO_VALUES[scalar.scalar]
      : absentField(node, field, undefined);
  if (value !== undefined) setOwn(out, field.name, value);
  if (scalar?.scalar === 'quantity') rememberQuantityText(out, field.name, '');
}

/** Keeps unknown fields if the schema preserves them; otherwise drops them and notes that there are findings. */
function keepOrDropUnknown(node: ObjectNode, raw: Record<string, unknown>, out: MutableRecord, walk: Walk): void {
  if (!node.preserveUnknown) {
    walk.hasFindings = true;
    return;
  }
  for (const key of Object.keys(raw)) {
    if (!node.fields.has(key) && raw[key] !== undefined) setOwn(out, key, cloneJson(raw[key], walk.depth));
  }
}

/** The object that contains a field. */
interface FieldHolder {
  readonly walk: Walk;
  readonly holder: object;
  readonly above: FieldPosition | undefined;
}

/** Remembers a value as the client sent it, where the decoded form differs. */
function rememberSent(out: object, { name, node, scalar }: ListedField, given: unknown, value: unknown): void {
  if (value === undefined || (value === '' && node.type !== 'any')) rememberIfEmpty(out, name, given, node);
  else if (scalar?.scalar === 'quantity' && value !== String(given))
    rememberQuantityText(out, name, given === null ? '' : String(given));
}

/** Decodes a field; undefined if it is not on the wire. */
function decodeField(node: ObjectNode, field: Field, given: unknown, { walk, holder, above }: FieldHolder): unknown {
  const earlier = walk.duplicates?.get(holder)?.get(field.name);
  // A repeated struct or map is decoded into the same value, so its fields accumulate; any other value is overwritten.
  const raw = earlier === undefined ? given : accumulate(field.node, [...earlier, given]);
  if (raw === undefined || raw === null) return absentField(node, field, raw);
  const position: FieldPosition = { goName: node.goName, name: field.name, above };
  if (node.representation === 'document') return decodeLoose(field.node, raw, position, walk);
  const value = decodeNode(field.node, raw, position, walk);
  // Some clients write the zero time for an absent time.
  if (value === null) return absentField(node, field, null);
  return field.presence === 'omitEmpty' && isEmpty(value) ? defaultOf(field.node) : value;
}

function absentField(node: ObjectNode, field: Field, raw: null | undefined): unknown {
  if (node.representation === 'document') {
    if (raw === null && field.node.nullable === true) return null;
    const value = defaultOf(field.node);
    // Defaults inside of a default are applied too.
    return value === undefined
      ? undefined
      : decodeLoose(field.node, value, undefined, { hasFindings: false, duplicates: undefined, depth: 0 });
  }
  const { node: inner, presence } = field;
  if (inner.default !== undefined && inner.default !== null) return cloneJson(inner.default);
  return presence === 'always' ? zeroValue(inner) : undefined;
}

function defaultOf(node: SchemaNode): unknown {
  return node.default === undefined ? undefined : cloneJson(node.default);
}

function accumulate(node: SchemaNode, values: readonly unknown[]): unknown {
  if (node.type !== 'object' && node.type !== 'map') return values[values.length - 1];
  const merged: MutableRecord = {};
  for (const value of values) {
    if (!isRecord(value)) return value;
    for (const key of Object.keys(value)) setOwn(merged, key, value[key]);
  }
  return merged;
}

/** A document keeps a value of the wrong type; schema validation reports it later. */
function decodeLoose(node: SchemaNode, given: unknown, position: FieldPosition | undefined, walk: Walk): unknown {
  const raw = jsonView(given);
  if (node.type === 'object') {
    if (isRecord(raw)) return decodeObject(node, raw, position, walk);
    // Metadata is a struct also in documents, and is decoded on its own.
    if (node.representation === 'struct') throw typeError(raw, undefined, node.goType);
    return cloneJson(raw, walk.depth);
  }
  if (node.type === 'map' && isRecord(raw)) return decodeMap(node, raw, position, walk, decodeLoose);
  if (node.type === 'list' && Array.isArray(raw)) {
    enter(walk);
    const items = Array.from(raw, (item: unknown) => decodeLoose(node.items, item ?? null, position, walk));
    walk.depth--;
    return items;
  }
  return cloneJson(raw, walk.depth);
}

function decodeNode(node: SchemaNode, given: unknown, position: FieldPosition | undefined, walk: Walk): unknown {
  const isStrange = typeof given === 'object' && given !== null && Object.getPrototypeOf(given) !== Object.prototype;
  const raw = isStrange ? jsonView(given) : given;
  switch (node.type) {
    case 'scalar':
      return decodeScalar(node, raw, position, given);
    case 'map':
      if (!isRecord(raw)) throw typeError(raw, position, node.goType);
      return decodeMap(node, raw, position, walk, decodeNode);
    case 'list':
      if (!Array.isArray(raw)) throw typeError(raw, position, node.goType);
      return walk.isReusable?.(raw, node) === true ? raw : decodeList(node, raw, position, walk);
    case 'object':
      if (raw === walk.metadata && isRecord(raw) && isMetadata(position)) return { ...raw };
      if (node.reusable === true && isRecord(raw) && walk.isReusable?.(raw, node) === true) return raw;
      return node.representation === 'document'
        ? decodeLoose(node, raw, position, walk)
        : decodeObject(node, raw, position, walk);
    case 'any':
      return decodeAny(node, raw, position, walk.depth);
  }
}

function isMetadata(position: FieldPosition | undefined): boolean {
  return position?.above === undefined && position?.name === 'metadata';
}

function decodeList(
  node: ListNode,
  raw: readonly unknown[],
  position: FieldPosition | undefined,
  walk: Walk,
): readonly unknown[] {
  enter(walk);
  mustFill(raw);
  const { items: itemNode } = node;
  const { isReusable } = walk;
  const mayBeReusable = isReusable !== undefined && itemNode.type === 'object' && itemNode.reusable === true;
  const items: unknown[] = [];
  let others: number[] | undefined;
  for (let index = 0; index < raw.length; index++) {
    const item = raw[index];
    if (mayBeReusable) {
      if (typeof item === 'object' && item !== null && isReusable(item, itemNode)) {
        items.push(item);
        continue;
      }
      others ??= [];
      others.push(index);
    }
    items.push(item === null || item === undefined ? zeroValue(itemNode) : decodeNode(itemNode, item, position, walk));
  }
  walk.depth--;
  return mayBeReusable && others?.length !== raw.length ? freezeItems(itemNode, items, others) : items;
}

/** Freezes a list that contains reused items. There may be thousands of items, so only the new ones are normalized. */
function freezeItems(node: ObjectNode, items: unknown[], others: readonly number[] = []): readonly unknown[] {
  for (const index of others) items[index] = arrange(node, items[index], true);
  return Object.freeze(items);
}

type DecodeValue = (node: SchemaNode, raw: unknown, position: FieldPosition | undefined, walk: Walk) => unknown;

function decodeMap(
  node: MapNode,
  raw: Record<string, unknown>,
  position: FieldPosition | undefined,
  walk: Walk,
  decodeValue: DecodeValue,
): MutableRecord {
  enter(walk);
  const out: MutableRecord = {};
  const { values } = node;
  const isText = decodeValue === decodeNode && values.type === 'scalar' && values.scalar === 'string';
  const { depth } = walk;
  let reached = '';
  try {
    for (const key of sortedKeys(raw)) {
      reached = key;
      const value = raw[key];
      // JavaScript's undefined is an absent key; JSON's null is the zero value.
      if (value === undefined) continue;
      if (isText && typeof value === 'string') setOwn(out, key, value);
      else {
        const decoded = value === null ? zeroValue(values) : decodeValue(values, value, position, walk);
        setOwn(out, key, decoded);
        if (value !== decoded) rememberSentItem(out, key, { given: value, decoded }, values);
      }
    }
  } catch (error) {
    throw firstErrorInDocument(error, Object.keys(raw), (key) => {
      const value = raw[key];
      if (key <= reached || value === undefined || value === null) return key === reached;
      walk.depth = depth;
      decodeValue(values, value, position, walk);
      return false;
    });
  }
  walk.depth--;
  return out;
}

/** The zero value of a type on the wire. */
export function zeroValue(node: SchemaNode): unknown {
  if (node.type === 'object') return copyJson(emptyStruct(node));
  return node.type === 'scalar' ? ZERO_VALUES[node.scalar] : null;
}

const emptyStructs = new WeakMap<ObjectNode, MutableRecord>();

/** A struct decoded from an empty object: defaults, and zero values of fields that are always present. */
function emptyStruct(node: ObjectNode): MutableRecord {
  return getOrInsertComputed(emptyStructs, node, (one) =>
    decodeObject(one, {}, undefined, { duplicates: undefined, hasFindings: false, depth: 0 }),
  );
}
