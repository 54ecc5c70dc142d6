/**
 * Decides which of several errors in a document is reported.
 */
import { isRecord, jsonView, MAX_DEPTH } from '../util/json.js';
import { DecodeError, decodeAny, decodeScalar, type FieldPosition } from './decode-scalar.js';
import type { ScalarNode, SchemaNode } from './schema-node.js';

/**
 * Returns the error that comes first in the document, whatever the order in which the fields are decoded; the first that
 * aborts the decoding if there is one. `isThere` reports whether a key is the failed one; it decodes keys that have not
 * been decoded yet.
 */
export function firstErrorInDocument(
  error: unknown,
  keys: readonly string[],
  isThere: (key: string) => boolean,
): unknown {
  if (!(error instanceof DecodeError)) return error;
  for (const key of keys) {
    try {
      if (isThere(key)) break;
    } catch (earlier) {
      if (!(earlier instanceof DecodeError)) break;
      if (earlier.aborts || !error.aborts) return earlier;
    }
  }
  return error;
}

/**
 * Types with their own decoder: an invalid value aborts the decoding, whereas a value of another wrong type is only
 * noted and reported at the end.
 */
const SELF_DECODING_SCALARS: ReadonlySet<ScalarNode['scalar']> = new Set([
  'duration',
  'intOrString',
  'microTime',
  'quantity',
  'time',
]);

/** Returns the first error in a document that aborts the decoding; it takes precedence over type errors. */
export function firstAbortingError(
  node: SchemaNode,
  given: unknown,
  above?: FieldPosition,
  depth = 0,
): DecodeError | undefined {
  if (given === null || given === undefined || depth > MAX_DEPTH) return undefined;
  const raw = jsonView(given);
  switch (node.type) {
    case 'object':
      if (!isRecord(raw)) return undefined;
      return firstOf(Object.keys(raw), (key) => {
        const field = node.fields.get(key);
        if (field === undefined) return undefined;
        return firstAbortingError(field.node, raw[key], { goName: node.goName, name: key, above }, depth + 1);
      });
    case 'map':
      if (!isRecord(raw)) return undefined;
      return firstOf(Object.keys(raw), (key) => firstAbortingError(node.values, raw[key], above, depth + 1));
    case 'list':
      return Array.isArray(raw)
        ? firstOf(raw, (item) => firstAbortingError(node.items, item, above, depth + 1))
        : undefined;
    case 'scalar':
      return SELF_DECODING_SCALARS.has(node.scalar) ? errorOf(() => decodeScalar(node, raw, above, given)) : undefined;
    case 'any':
      return node.decode === undefined ? undefined : errorOf(() => decodeAny(node, raw, above, depth));
  }
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => DecodeError | undefined): DecodeError | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function errorOf(decodeValue: () => unknown): DecodeError | undefined {
  try {
    decodeValue();
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}
