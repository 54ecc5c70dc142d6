/**
 * Structural sharing between stored objects: parts that come back exactly as the server returned them, such as a pod
 * template that a controller copies, or the spec in a status update. These parts are decoded, validated and frozen, so
 * they are reused without decoding, validating or copying them again.
 *
 * The `reusable` hint in the schema marks the types for which this is done.
 */
import { copyJson, isRecord, type MutableRecord } from '../util/json.js';
import { getOrInsertComputed } from '../util/once.js';
import type { ListNode, ObjectNode, SchemaNode } from './schema-node.js';

/** The path from an object to a reusable part, or to a list of reusable parts. */
interface Route {
  readonly names: readonly string[];
  readonly node: ObjectNode;
  readonly isList: boolean;
}

/** Registers the reusable parts of stored objects. */
export class ReusableParts {
  readonly #nodeOf = new WeakMap<object, ObjectNode>();
  /**
   * The first item and all items of the last stored list that begins with it; all of them are registered, with one type. A
   * copy, because engines read frozen arrays slowly.
   */
  readonly #listByFirst = new WeakMap<object, readonly unknown[]>();
  /** The list whose items are being looked up in order, the next index, and the type of the items. */
  #currentList: readonly unknown[] = NOTHING;
  #nextIndex = 0;
  #currentNode: SchemaNode | undefined;

  /** Reports whether a value is part of a stored object and has the given type. */
  has(part: object, node: SchemaNode): boolean {
    if (this.#currentList[this.#nextIndex] === part && this.#currentNode === node) {
      if (++this.#nextIndex === this.#currentList.length) this.#currentList = NOTHING;
      return true;
    }
    if (this.#nodeOf.get(part) !== node) return false;
    const list = this.#listByFirst.get(part);
    if (list !== undefined) {
      this.#currentList = list;
      this.#currentNode = node;
      this.#nextIndex = 1;
    }
    return true;
  }

  /**
   * Registers the parts of an object before it is stored. On an update the previous part must be registered as well: a
   * part that older validation rules accepted may stay, but must not be reused in other objects.
   */
  register(schema: ObjectNode, object: object, live?: object): void {
    for (const { names, node, isList } of routesOf(schema)) {
      // Parts of an unchanged field are unchanged.
      if (live !== undefined && isShared(object, live, names[0] ?? '')) continue;
      const part = valueAt(object, names);
      const before = live === undefined ? undefined : valueAt(live, names);
      if (part === undefined || part === before) continue;
      if (Array.isArray(part)) {
        if (isList) this.#noteList(part, node);
      } else if (!this.#nodeOf.has(part) && (before === undefined || this.#nodeOf.has(before))) {
        this.#nodeOf.set(part, node);
      }
    }
  }

  #noteList(list: readonly unknown[], node: ObjectNode): void {
    const items = [...list];
    const [first] = items;
    if (!isRecord(first)) return;
    // Most items of a long list are unchanged and already registered.
    const before = this.#nodeOf.get(first) === node ? (this.#listByFirst.get(first) ?? NOTHING) : NOTHING;
    const length = Math.min(items.length, before.length);
    let index = 0;
    while (index < length && items[index] === before[index]) index++;
    let areAllKnown = true;
    for (; index < items.length; index++) areAllKnown = this.#noteItem(items[index], node) && areAllKnown;
    if (areAllKnown && items.length > 1) this.#listByFirst.set(first, items);
  }

  #noteItem(item: unknown, node: ObjectNode): boolean {
    if (!isRecord(item)) return false;
    if (!this.#nodeOf.has(item)) this.#nodeOf.set(item, node);
    return this.#nodeOf.get(item) === node;
  }
}

const NOTHING: readonly unknown[] = Object.freeze([]);

function isShared(object: object, live: object, name: string): boolean {
  return (object as Record<string, unknown>)[name] === (live as Record<string, unknown>)[name];
}

function valueAt(object: object, names: readonly string[]): object | undefined {
  let value: unknown = object;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** Reports whether a schema has reusable parts. */
export function hasReusableParts(schema: ObjectNode): boolean {
  return routesOf(schema).length > 0;
}

const routesBySchema = new WeakMap<ObjectNode, readonly Route[]>();

function routesOf(schema: ObjectNode): readonly Route[] {
  return getOrInsertComputed(routesBySchema, schema, (one) => [...routesBelow(one, [])]);
}

/** A path ends at a list. Recursive types are not followed, because no template contains another one. */
function* routesBelow(node: SchemaNode, names: readonly string[], above: readonly SchemaNode[] = []): Iterable<Route> {
  if (node.type === 'list' && node.items.type === 'object' && node.items.reusable === true) {
    yield { names, node: node.items, isList: true };
  }
  if (node.type !== 'object' || above.includes(node)) return;
  if (node.reusable === true) yield { names, node, isList: false };
  for (const field of node.fields.values()) yield* routesBelow(field.node, [...names, field.name], [...above, node]);
}

/** Reports whether a list or a reusable struct may be shared, because it will not be changed. */
export type IsShared = (part: object, node: ListNode | ObjectNode) => boolean;

/** Copies a value except for its shared parts. */
export function thawValue(node: SchemaNode | undefined, value: unknown, isShared: IsShared): unknown {
  if (typeof value !== 'object' || value === null || node === undefined) return copyJson(value);
  if (node.type === 'list' && Array.isArray(value)) {
    return isShared(value, node) ? value : value.map((item) => thawValue(node.items, item, isShared));
  }
  if (node.type !== 'object' || Array.isArray(value)) return copyJson(value);
  if (node.reusable === true && isShared(value, node)) return value;
  return thawStruct(node, value as Readonly<Record<string, unknown>>, isShared);
}

/**
 * Copies the struct itself and all parts that are not shared. Field names of structs are known, so plain assignment is
 * safe.
 */
function thawStruct(node: ObjectNode, struct: Readonly<Record<string, unknown>>, isShared: IsShared): MutableRecord {
  const out: MutableRecord = { ...struct };
  for (const name in struct) {
    const item = struct[name];
    if (typeof item === 'object') out[name] = thawValue(node.fields.get(name)?.node, item, isShared);
  }
  return out;
}
