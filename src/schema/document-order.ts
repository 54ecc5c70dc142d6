/**
 * Which of several mistakes in a document is reported.
 */
import { isRecord, jsonView, MAX_DEPTH } from '../util/json.js';
import { DecodeError, decodeScalar, type Place } from './decode-scalar.js';
import type { ScalarNode, Structural } from './structural.js';

/**
 * Of several parts that are wrong, the one that stands first in the document is reported, in whatever order they are
 * read. `isThere` says of a key whether it is the one that has failed, and reads those that nobody has read yet.
 */
export function firstInDocument(error: unknown, keys: readonly string[], isThere: (key: string) => boolean): unknown {
  if (!(error instanceof DecodeError)) return error;
  try {
    keys.some(isThere);
    return error;
  } catch (earlier) {
    return earlier instanceof DecodeError ? earlier : error;
  }
}

/** Values that read themselves: one that cannot ends the reading, where a value of the wrong type is only noted. */
const READ_BY_THEMSELVES: ReadonlySet<ScalarNode['scalar']> = new Set([
  'duration',
  'intOrString',
  'microTime',
  'quantity',
  'time',
]);

/** The first in a document that ends the reading, whatever else is wrong with it. */
export function firstThatEnds(node: Structural, given: unknown, above?: Place, depth = 0): DecodeError | undefined {
  if (given === null || given === undefined || depth > MAX_DEPTH) return undefined;
  const raw = jsonView(given);
  switch (node.type) {
    case 'object':
      if (!isRecord(raw)) return undefined;
      return firstOf(Object.keys(raw), (key) => {
        const field = node.fields.get(key);
        if (field === undefined) return undefined;
        return firstThatEnds(field.node, raw[key], { goName: node.goName, name: key, above }, depth + 1);
      });
    case 'map':
      if (!isRecord(raw)) return undefined;
      return firstOf(Object.keys(raw), (key) => firstThatEnds(node.values, raw[key], above, depth + 1));
    case 'list':
      return Array.isArray(raw) ? firstOf(raw, (item) => firstThatEnds(node.items, item, above, depth + 1)) : undefined;
    case 'scalar':
      return READ_BY_THEMSELVES.has(node.scalar) ? problemOf(node, raw, given, above) : undefined;
    case 'any':
      return undefined;
  }
}

function firstOf<Item>(items: readonly Item[], look: (item: Item) => DecodeError | undefined): DecodeError | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOf(node: ScalarNode, raw: unknown, given: unknown, place: Place | undefined): DecodeError | undefined {
  try {
    decodeScalar(node, raw, place, given);
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}
