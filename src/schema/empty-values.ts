/**
 * Remembers empty lists, maps and bytes, and empty values of types with their own decoder, that a client sent and that the
 * stored form omits. The reference server keeps them while it handles a request: messages print them (`[]string{}`, not
 * `[]string(nil)`), and a few kinds compare them. The entries live as long as the decoded object.
 */
import { getOrInsertComputed } from '../util/once.js';
import { rememberQuantityText } from './quantity-texts.js';
import type { SchemaNode } from './schema-node.js';

const fields = new WeakMap<object, Set<string>>();

/** Remembers an empty field of a decoded object, if the client sent it. */
export function rememberIfEmpty(holder: object, name: string, given: unknown, node: SchemaNode): void {
  const isOwn = node.type === 'any' && node.decode !== undefined && given !== undefined;
  const isEmpty =
    node.type === 'scalar'
      ? node.scalar === 'bytes' && (given === '' || Array.isArray(given))
      : isOwn || (typeof given === 'object' && (node.type === 'list' || node.type === 'map'));
  if (isEmpty && given !== null) getOrInsertComputed(fields, holder, () => new Set()).add(name);
}

/** Whether the client sent the absent list or map, or the empty bytes, of a decoded object as an empty value. */
export function wasSentEmpty(holder: object, name: string): boolean {
  // A default may have replaced it.
  return fields.get(holder)?.has(name) === true && !((holder as Readonly<Record<string, unknown>>)[name] ?? '');
}

/** A list of a decoded object as the client sent it: an empty one instead of an absent one. */
export function asSent<Holder extends object, Name extends keyof Holder & string>(
  holder: Holder,
  name: Name,
): NonNullable<Holder[Name]> | readonly [] | undefined {
  return holder[name] ?? (wasSentEmpty(holder, name) ? [] : undefined);
}

/** A map of a decoded object as the client sent it. */
export function asSentMap<Holder extends object, Name extends keyof Holder & string>(
  holder: Holder,
  name: Name,
): NonNullable<Holder[Name]> | Readonly<Record<string, never>> | undefined {
  return holder[name] ?? (wasSentEmpty(holder, name) ? {} : undefined);
}

/** Whether the client sent any list or map of this object, or of one in it, as an empty one. */
export function hasSentEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return hasOwnSentEmpty(value) || Object.values(value).some(hasSentEmpty);
}

/** Whether the client sent any list or map of this object as an empty one. */
export function hasOwnSentEmpty(holder: object): boolean {
  return sentEmptyFields(holder).length > 0;
}

/** The absent fields of this object that the client sent as empty ones. */
export function sentEmptyFields(holder: object): readonly string[] {
  return [...(fields.get(holder) ?? [])].filter((name) => wasSentEmpty(holder, name));
}

const mapsWithNull = new WeakSet<object>();

/** Remembers a value of a decoded map as the client sent it: null for bytes, which is stored as empty bytes, and quantities. */
export function rememberSentItem(
  map: object,
  key: string,
  { given, decoded }: { readonly given: unknown; readonly decoded: unknown },
  node: SchemaNode,
): void {
  if (node.type !== 'scalar') return;
  // A number may have the digits of the decoded text.
  if (node.scalar === 'quantity' && String(given) !== decoded)
    rememberQuantityText(map, key, given === null ? '' : String(given));
  if (node.scalar === 'bytes' && given === null) mapsWithNull.add(map);
}

/** Whether the client sent null in this map of bytes. */
export function wasSentWithNull(map: unknown): boolean {
  return typeof map === 'object' && map !== null && mapsWithNull.has(map);
}

/** Forgets that the client sent a field, which the server has dropped. */
export function forgetSentEmpty(holder: object, name: string): void {
  fields.get(holder)?.delete(name);
}

/** Adds the entries of an object to those of its copy. */
export function copySentEmpty(from: object, to: object): void {
  const present = fields.get(from);
  if (present !== undefined) fields.set(to, new Set([...present, ...(fields.get(to) ?? [])]));
}
