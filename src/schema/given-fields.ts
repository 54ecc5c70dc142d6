/** Fields that must be given, in encodings that cannot tell a zero value from an absent one. */
import { isRecord, type MutableRecord, setOwn } from '../util/json.js';
import { zeroValue } from './decode.js';
import { type SchemaNode, searchIn } from './schema-node.js';

/** Adds the zero values of scalars and lists that must be given. */
export function addGivenZeros(node: SchemaNode, value: unknown): void {
  if (!hasGiven(node)) return;
  if (node.type === 'list' && Array.isArray(value)) for (const item of value) addGivenZeros(node.items, item);
  if (!isRecord(value)) return;
  if (node.type === 'map') for (const inner of Object.values(value)) addGivenZeros(node.values, inner);
  if (node.type !== 'object') return;
  for (const { name, node: inner, presence } of node.fields.values()) {
    if (Object.hasOwn(value, name)) addGivenZeros(inner, value[name]);
    else if (presence === 'given' && inner.type !== 'object')
      setOwn(value as MutableRecord, name, inner.type === 'list' ? [] : zeroValue(inner));
  }
}

const hasGiven = searchIn(
  (node) => node.type === 'object' && Array.from(node.fields.values()).some(({ presence }) => presence === 'given'),
);
