/**
 * The result of a strategic merge → a document that the decoder takes. The reference server does not decode that result
 * like a body: it sets typed fields from it one by one, with messages of its own (`cannot restore slice from map`),
 * names unknown fields in alphabetical order, and cuts integers to the size of their field. spec: Strategic Merge Patch
 */
import { goKind } from '../meta/go-value.js';
import type { ObjectNode, ScalarNode, Structural } from '../schema/structural.js';
import { Base64Error, canonicalBase64 } from '../util/base64.js';
import { isRecord, setOwn } from '../util/json.js';

/** The document cannot be an object of the kind. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError';
}

export interface Restored {
  /** Shares whatever did not have to be changed; values with a syntax of their own (times, quantities) are unjudged. */
  readonly value: unknown;
  /** `unknown field "spec.foo"`, sorted. */
  readonly findings: readonly string[];
}

/**
 * Throws {@link RestoreError} with the first complaint, in the order of the fields.
 *
 * @example
 * restore(ConfigMap.schema, { data: [] }) // RestoreError: cannot restore map from slice
 */
export function restore(schema: ObjectNode, document: unknown): Restored {
  const unknown = new Set<string>();
  const value = restoreStruct(schema, document, { path: '', unknown });
  return { value, findings: [...unknown].sort() };
}

interface Walk {
  readonly path: string;
  readonly unknown: Set<string>;
}

function restoreValue(node: Structural, value: unknown, walk: Walk): unknown {
  if (value === null || value === undefined) return value;
  switch (node.type) {
    case 'object':
      return restoreStruct(node, value, walk);
    case 'map':
      if (!isRecord(value)) throw new RestoreError(`cannot restore map from ${goKind(value)}`);
      // The keys of a map are no part of the path that messages show.
      return replaceValues(value, (item) => restoreValue(node.values, item, walk));
    case 'list':
      if (!Array.isArray(value)) throw new RestoreError(`cannot restore slice from ${goKind(value)}`);
      return restoreList(value, (item, index) =>
        restoreValue(node.items, item, { ...walk, path: `${walk.path}[${index}]` }),
      );
    case 'scalar':
      return restoreScalar(node, value);
    case 'any':
      return value;
  }
}

function restoreStruct(node: ObjectNode, value: unknown, walk: Walk): unknown {
  if (!isRecord(value)) throw new RestoreError(`cannot restore struct from: ${goKind(value)}`);
  let restored = value;
  for (const { name, node: child } of node.fields.values()) {
    if (!Object.hasOwn(value, name)) continue;
    const item = restoreValue(child, value[name], { ...walk, path: inside(walk.path, name) });
    if (item === value[name]) continue;
    if (restored === value) restored = { ...value };
    setOwn(restored, name, item);
  }
  if (node.preserveUnknown) return restored;
  for (const key of Object.keys(value)) {
    if (!node.fields.has(key)) walk.unknown.add(`unknown field "${inside(walk.path, key)}"`);
  }
  return restored;
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function replaceValues(
  record: Record<string, unknown>,
  change: (value: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  let replaced = record;
  for (const key of Object.keys(record)) {
    const value = change(record[key]);
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
      // A number converts to text in the server's language, though not to what anybody would expect: it is refused.
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
      return node.scalar === 'int32' ? cutToSize(value as number | bigint) : value;
    case 'bytes':
      if (kind !== 'string') throw new RestoreError(`cannot restore slice from ${kind}`);
      checkBase64(value as string);
      return value;
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
    case 'duration':
      // These read themselves, here as in the decoder.
      return value;
  }
}

/** An integer that is too large loses its upper bits. */
function cutToSize(value: number | bigint): number {
  return Number(BigInt.asIntN(32, BigInt(value)));
}

function checkBase64(text: string): void {
  try {
    canonicalBase64(text);
  } catch (error) {
    if (!(error instanceof Base64Error)) throw error;
    throw new RestoreError(`error decoding from json: ${error.message}`, { cause: error });
  }
}
