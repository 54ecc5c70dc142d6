/**
 * Converts the result of a strategic merge to a document for the decoder. The reference server does not decode that
 * result like a body: it sets typed fields one by one, with other messages (`cannot restore slice from map`), reports
 * unknown fields in alphabetical order, and truncates integers to the size of their field.
 * spec: Media types and encodings
 */

import { DecodeError, jsonType } from '../schema/decode-scalar.js';
import {
  type AnyNode,
  type Field,
  fieldsOf,
  type ObjectNode,
  type ScalarNode,
  type SchemaNode,
} from '../schema/schema-node.js';
import { goKind } from '../text/go/go-value.js';
import { Base64Error, canonicalBase64, encodeBase64 } from '../util/base64.js';
import { translateError } from '../util/catch-error.js';
import { isRecord, setOwn } from '../util/json.js';

/** The document cannot be an object of the kind. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError';
}

/** The result of the conversion. */
export interface Restored {
  /** Shares all unchanged parts. Scalars with their own syntax (times, quantities) are not validated yet. */
  readonly value: unknown;
  /** `unknown field "spec.foo"`, sorted. */
  readonly findings: readonly string[];
}

/**
 * Throws {@link RestoreError} for the first error, in field order.
 *
 * @example
 * restore(ConfigMap.schema, { data: [] }) // RestoreError: cannot restore map from slice
 */
export function restore(schema: ObjectNode, document: unknown, live?: unknown): Restored {
  const walk: Walk = { sawUnknown: false };
  const value = restoreStruct(schema, document, { walk, live });
  if (!walk.sawUnknown) return { value, findings: NO_FINDINGS };
  // Unknown fields are rare, so a separate walk collects them.
  const unknown = new Set<string>();
  collectUnknown(schema, document, '', unknown);
  return { value, findings: [...unknown].sort().slice(0, MAX_FINDINGS) };
}

/** Further findings are not listed, to bound the size of the response. */
const MAX_FINDINGS = 100;

const NO_FINDINGS: readonly string[] = Object.freeze([]);

interface Walk {
  sawUnknown: boolean;
}

/** `live` is the value at the same path of the live object; an identical value needs no conversion. */
interface Place {
  readonly walk: Walk;
  readonly live: unknown;
}

function restoreValue(node: SchemaNode, value: unknown, position: Place): unknown {
  if (value === null || value === undefined || value === position.live) return value;
  switch (node.type) {
    case 'object':
      return restoreStruct(node, value, position);
    case 'map':
      if (!isRecord(value)) throw new RestoreError(`cannot restore map from ${goKind(value)}`);
      return replaceValues(value, (item, key) => restoreValue(node.values, item, inside(position, key)));
    case 'list':
      if (!Array.isArray(value)) throw new RestoreError(`cannot restore slice from ${goKind(value)}`);
      return restoreList(value, (item, index) => restoreValue(node.items, item, inside(position, index)));
    case 'scalar':
      return restoreScalar(node, value);
    case 'any':
      checkOwnDecoder(node, value);
      return value;
  }
}

/** The error of a type with its own decoder names only the fields inside of the value. */
function checkOwnDecoder({ decode, schema }: AnyNode, value: unknown): void {
  if (decode === undefined) return;
  const read = () => decode(value, 0, schema);
  translateError(DecodeError, read, ({ message }) => new RestoreError(message));
}

function inside({ walk, live }: Place, key: string | number): Place {
  const isInside = typeof live === 'object' && live !== null && Object.hasOwn(live, key);
  return { walk, live: isInside ? (live as Record<string | number, unknown>)[key] : undefined };
}

function restoreStruct(node: ObjectNode, value: unknown, position: Place): unknown {
  if (!isRecord(value)) throw new RestoreError(`cannot restore struct from: ${goKind(value)}`);
  const { walk } = position;
  const live = isRecord(position.live) ? position.live : NOTHING;
  const fields = fieldsOf(node);
  let restored = value;
  let fieldCount = 0;
  for (let index = 0; index < fields.length; index++) {
    const { name, node: child } = fields[index] as Field;
    if (!Object.hasOwn(value, name)) continue;
    fieldCount++;
    const given = value[name];
    // Most of a patched object is unchanged. Inherited properties never equal a JSON value.
    if (given === live[name]) continue;
    const item = restoreValue(child, given, inside(position, name));
    if (item === given) continue;
    if (restored === value) restored = { ...value };
    setOwn(restored, name, item);
  }
  if (!node.preserveUnknown && fieldCount !== Object.keys(value).length) walk.sawUnknown = true;
  return restored;
}

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({});

/** Collects unknown fields. Map keys are not part of the printed paths. */
function collectUnknown(node: SchemaNode, value: unknown, path: string, unknown: Set<string>): void {
  if (node.type === 'list' && Array.isArray(value)) {
    value.forEach((item, index) => {
      collectUnknown(node.items, item, `${path}[${index}]`, unknown);
    });
  }
  if (!isRecord(value)) return;
  for (const key of Object.keys(value)) {
    if (node.type === 'map') collectUnknown(node.values, value[key], path, unknown);
    if (node.type !== 'object') continue;
    const inside = path === '' ? key : `${path}.${key}`;
    const field = node.fields.get(key);
    if (field !== undefined) collectUnknown(field.node, value[key], inside, unknown);
    else if (!node.preserveUnknown) unknown.add(`unknown field "${inside}"`);
  }
}

function replaceValues(
  record: Record<string, unknown>,
  change: (value: unknown, key: string) => unknown,
): Readonly<Record<string, unknown>> {
  let replaced = record;
  for (const key of Object.keys(record)) {
    const value = change(record[key], key);
    if (value === record[key]) continue;
    if (replaced === record) replaced = { ...record };
    setOwn(replaced, key, value);
  }
  return replaced;
}

function restoreList(list: readonly unknown[], change: (item: unknown, index: number) => unknown): readonly unknown[] {
  const changed = list.map(change);
  return changed.every((item, index) => item === list[index]) ? list : changed;
}

function restoreScalar(node: ScalarNode, value: unknown): unknown {
  const kind = goKind(value);
  switch (node.scalar) {
    case 'string':
      // Go could convert an int64 to a string, but only as a character code; the server rejects it.
      if (kind === 'int64') throw new RestoreError(`cannot convert int64 to ${node.goType}`);
      if (kind !== 'string') throw new RestoreError('unrecognized type: string');
      return value;
    case 'boolean':
      if (kind !== 'bool') throw new RestoreError('unrecognized type: bool');
      return value;
    case 'number':
      if (kind !== 'int64' && kind !== 'float64') throw new RestoreError('unrecognized type: float64');
      return value;
    case 'int32':
    case 'int64':
      if (kind === 'float64') throw new RestoreError(`cannot convert float64 to ${node.goType}`);
      if (kind !== 'int64') throw new RestoreError(`unrecognized type: ${node.scalar}`);
      return node.scalar === 'int32' ? truncateToInt32(value as number | bigint) : value;
    case 'bytes':
      // A list has the numbers of the bytes.
      if (Array.isArray(value)) return encodeBase64(Uint8Array.from(value, restoreByte));
      if (kind !== 'string') throw new RestoreError(`cannot restore slice from ${kind}`);
      checkBase64(value as string);
      return value;
    case 'time':
    case 'microTime':
    case 'duration':
      // These types have their own decoder, as in the normal decoder, but the error does not name the field here.
      if (kind !== 'string') throw decodeFailure(value, 'string');
      return value;
    case 'intOrString':
      if (kind !== 'string' && !isInt32(value)) throw decodeFailure(value, 'int32');
      return value;
    case 'quantity':
      return value;
  }
}

function decodeFailure(value: unknown, goType: string): RestoreError {
  const number = typeof value === 'number' || typeof value === 'bigint';
  const what = number && goType === 'int32' ? `number ${value}` : jsonType(value);
  return new RestoreError(`json: cannot unmarshal ${what} into Go value of type ${goType}`);
}

function isInt32(value: unknown): boolean {
  return typeof value === 'number' && value === (value | 0);
}

/** An integer that is too large loses its upper bits. */
function truncateToInt32(value: number | bigint): number {
  return Number(BigInt.asIntN(32, BigInt(value)));
}

function restoreByte(item: unknown): number {
  const kind = goKind(item);
  if (kind === 'nil') return 0;
  if (kind === 'float64') throw new RestoreError('cannot convert float64 to uint8');
  if (kind !== 'int64') throw new RestoreError('unrecognized type: uint8');
  return Number(BigInt.asUintN(8, BigInt(item as number | bigint)));
}

function checkBase64(text: string): void {
  try {
    canonicalBase64(text);
  } catch (error) {
    if (!(error instanceof Base64Error)) throw error;
    throw new RestoreError(`error decoding from json: ${error.message}`, { cause: error });
  }
}
