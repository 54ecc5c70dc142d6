/**
 * How the walks of this folder treat a schema node: as an atomic value, as members by name, or as a list of items, and
 * the path elements of items. Where there is no schema (below a field that preserves unknown fields), the value
 * decides: maps are merged, everything else is atomic.
 */

import { zeroValue } from '../../schema/decode.js';
import type { AnyNode, Field, ListNode, MapNode, ObjectNode, SchemaNode } from '../../schema/schema-node.js';
import { quote } from '../../text/go/go-text.js';
import { compareUtf8 } from '../../text/go/go-value.js';
import { isRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { fieldElement, keyElement, type PathElement, valueElement } from './path-element.js';

/** A node whose members have their own owners. */
export type MemberNode = ObjectNode | MapNode | AnyNode;

/** The type of values without a schema. */
export const UNTYPED: AnyNode = Object.freeze({ type: 'any', goType: 'interface {}', atomic: false });

/** Reports whether the members of the node have their own owners; for an untyped node the value decides. */
export function hasMembers(node: SchemaNode, value: unknown): node is MemberNode {
  if (node.type === 'list' || node.type === 'scalar') return false;
  return !node.atomic && (node.type !== 'any' || isRecord(value));
}

/** Reports whether the items of the node have their own owners. */
export function hasItems(node: SchemaNode): node is ListNode {
  return node.type === 'list' && node.listType !== 'atomic';
}

/** The node of a member; undefined if the schema does not allow it. */
export function memberNode(node: MemberNode, name: string): SchemaNode | undefined {
  switch (node.type) {
    case 'object':
      // The reference server publishes a struct without fields as a map of anything.
      return node.fields.get(name)?.node ?? (node.preserveUnknown || node.fields.size === 0 ? UNTYPED : undefined);
    case 'map':
      return node.values;
    case 'any':
      return UNTYPED;
  }
}

/** Reports whether the schema declares the field, as opposed to a map key. */
export function isDeclared(node: MemberNode, name: string): boolean {
  return node.type === 'object' && node.fields.has(name);
}

/** A declared field with its path element. */
export interface DeclaredField {
  readonly name: string;
  readonly element: PathElement;
  readonly node: SchemaNode;
  /** The index in canonical order. */
  readonly order: number;
}

interface Declared {
  readonly inOrder: readonly DeclaredField[];
  readonly byName: ReadonlyMap<string, DeclaredField>;
}

const declared = new WeakMap<ObjectNode, Declared>();

/** The declared fields in canonical order, so that walks build sorted sets. */
export function declaredFields(node: ObjectNode): readonly DeclaredField[] {
  return declaredIn(node).inOrder;
}

/** The declared fields by name. */
export function declaredByName(node: ObjectNode): ReadonlyMap<string, DeclaredField> {
  return declaredIn(node).byName;
}

function declaredIn(node: ObjectNode): Declared {
  return getOrInsertComputed(declared, node, listDeclared);
}

function listDeclared({ fields }: ObjectNode): Declared {
  const inOrder = [...fields.values()]
    .sort((left, right) => compareUtf8(left.name, right.name))
    .map(({ name, node }, order) => ({ name, element: fieldElement(name), node, order }));
  return { inOrder, byName: new Map(inOrder.map((field) => [field.name, field])) };
}

/** The members of a value; none if it is not an object. `undefined` counts as absent. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : NO_MEMBERS;
}

const NO_MEMBERS: Readonly<Record<string, unknown>> = Object.freeze({});

/** The items of a value; none if it is not a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ITEMS;
}

const NO_ITEMS: readonly unknown[] = Object.freeze([]);

/** Reports whether an object has no members. */
export function isEmptyRecord(record: Readonly<Record<string, unknown>>): boolean {
  for (const name in record) if (record[name] !== undefined) return false;
  return true;
}

/** An item that has no path element, because it lacks a key or has the wrong type. */
export class ItemError extends Error {
  override readonly name = 'ItemError';
}

/** The path element of an item. Throws {@link ItemError}. */
export function itemElement(list: ListNode, item: unknown): PathElement {
  const element = elementOrNone(list, item);
  if (element === undefined) throw new ItemError(itemProblem(list, item));
  return element;
}

/**
 * The path element of an item; undefined if it has none. It does not throw, because a hostile list may have many such
 * items.
 */
export function elementOrNone(list: ListNode, item: unknown): PathElement | undefined {
  if (item === null || item === undefined) return undefined;
  if (list.listType === 'set') return typeof item === 'object' ? undefined : valueElement(item);
  return isRecord(item) ? mapElement(list, item) : undefined;
}

/** Whether {@link elementOrNone} has a result. */
export function hasElement(list: ListNode, item: unknown): boolean {
  if (list.listType === 'set') return item !== null && item !== undefined && typeof item !== 'object';
  return isRecord(item) && keysOf(list).every((key) => keyValue(item, key) !== undefined);
}

function mapElement(list: ListNode, item: Readonly<Record<string, unknown>>): PathElement | undefined {
  const wanted = keysOf(list);
  const only = wanted.length === 1 ? wanted[0] : undefined;
  if (only !== undefined) {
    const value = keyValue(item, only);
    return value === undefined ? undefined : cachedKeyElement(only, value);
  }
  const keys: [name: string, value: unknown][] = [];
  for (const key of wanted) {
    const value = keyValue(item, key);
    if (value === undefined) return undefined;
    keys.push([key.name, value]);
  }
  return keyElement(keys);
}

/** Most items have a single key with one of few values (`Ready`, `web`), so the elements are cached. */
function cachedKeyElement({ name, elements }: Key, value: unknown): PathElement {
  if (typeof value !== 'string' || value.length > MAX_CACHED_LENGTH) return keyElement([[name, value]]);
  let element = elements.get(value);
  if (element === undefined) {
    element = keyElement([[name, value]]);
    if (elements.size >= MAX_CACHED) elements.clear();
    elements.set(value, element);
  }
  return element;
}

const MAX_CACHED = 256;

const MAX_CACHED_LENGTH = 64;

function itemProblem(list: ListNode, item: unknown): string {
  if (list.listType === 'set') {
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
    return `associative list without keys has an element that's ${isRecord(item) ? 'a map type' : 'an explicit null'}`;
  }
  if (!isRecord(item)) {
    const what = item === null || item === undefined ? 'a null element' : 'non-map elements';
    return `associative list with keys may not have ${what}`;
  }
  // The first missing key in the order of the schema.
  const byName = new Map(keysOf(list).map((key) => [key.name, keyValue(item, key)]));
  const name = list.mapKeys.find((wanted) => byName.get(wanted) === undefined);
  return `associative list with keys has an element that omits key field ${quote(name ?? '')} (and doesn't have default value)`;
}

function keyValue(item: Readonly<Record<string, unknown>>, { name, fallback }: Key): unknown {
  const value = Object.hasOwn(item, name) ? item[name] : undefined;
  return value === undefined ? fallback : value;
}

const keysByList = new WeakMap<ListNode, readonly Key[]>();

interface Key {
  readonly name: string;
  /** The value used if an item omits the key. */
  readonly fallback: unknown;
  /** Cached elements by key value, for items with a single key. */
  readonly elements: Map<string, PathElement>;
}

/** Sorted by name. */
function keysOf(list: ListNode): readonly Key[] {
  let keys = keysByList.get(list);
  if (keys === undefined) {
    const fields = list.items.type === 'object' ? list.items.fields : undefined;
    keys = [...list.mapKeys]
      .sort(compareUtf8)
      .map((name) => ({ name, fallback: fallbackOf(list, fields?.get(name)), elements: new Map() }));
    keysByList.set(list, keys);
  }
  return keys;
}

/** The default; for a field of a struct that is always present, its zero value. */
function fallbackOf(list: ListNode, field: Field | undefined): unknown {
  if (field === undefined) return undefined;
  if (field.node.default !== undefined) return field.node.default;
  const isStruct = list.items.type === 'object' && list.items.representation === 'struct';
  if (isStruct && field.presence === 'always') return zeroValue(field.node) ?? undefined;
  return list.keyFallbacks?.[field.name];
}

/** The items of a list with their path elements. */
export interface IndexedItems {
  /** One per item, in order; undefined for an item without an element. */
  readonly elements: readonly (PathElement | undefined)[];
  readonly byElement: ReadonlyMap<PathElement, readonly unknown[]>;
}

/** Indexes the items of a list by path element. Items without an element are skipped; they have no owner. */
export function indexItems(list: ListNode, items: readonly unknown[]): IndexedItems {
  const elements: (PathElement | undefined)[] = [];
  const byElement = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const element = elementOrNone(list, item);
    elements.push(element);
    if (element === undefined) continue;
    const same = byElement.get(element);
    if (same === undefined) byElement.set(element, [item]);
    else same.push(item);
  }
  return { elements, byElement };
}
