/**
 * Decides which of several errors in a document is reported.
 */
import { isRecord, jsonView, MAX_DEPTH } from '../util/json.js';
import { DecodeError, decodeScalar, type FieldPosition } from './decode-scalar.js';
import type { ScalarNode, SchemaNode } from './schema-node.js';

/**
 * Returns the error that comes first in the document, whatever the order in which the fields are decoded. `isThere`
 * reports whether a key is the failed one; it decodes keys that have not been decoded yet.
 */
export function firstErrorInDocument(
  error: unknown,
  keys: readonly string[],
  isThere: (key: string) => boolean,
): unknown {
  if (!(error instanceof DecodeError)) return error;
  try {
    keys.some(isThere);
    return error;
  } catch (earlier) {
    return earlier instanceof DecodeError ? earlier : error;
  }
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
      return SELF_DECODING_SCALARS.has(node.scalar) ? scalarError(node, raw, given, above) : undefined;
    case 'any':
      return undefined;
  }
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => DecodeError | undefined): DecodeError | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function scalarError(
  node: ScalarNode,
  raw: unknown,
  given: unknown,
  position: FieldPosition | undefined,
): DecodeError | undefined {
  try {
    decodeScalar(node, raw, position, given);
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}
