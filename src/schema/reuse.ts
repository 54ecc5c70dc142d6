/**
 * Parts of stored objects that come back as they were given out: the template that a controller copies into what it
 * makes, the spec beside a status that is written. They are complete, in order and frozen, so nobody has to read, judge
 * or copy them again.
 *
 * Which types are worth it, and are left alone by the kinds that hold them, says `reusable` in the schema.
 */
import { isRecord } from '../util/json.js';
import type { ObjectNode, Structural } from './structural.js';

/** A way down from an object to a reusable part of it, and what that part is; or to a list of such parts. */
interface Route {
  readonly names: readonly string[];
  readonly node: ObjectNode;
  readonly isList: boolean;
}

export class KnownParts {
  readonly #nodeOf = new WeakMap<object, ObjectNode>();
  /**
   * The items of the list that was stored last of those that begin with a part; all of them are known, and of one type.
   * A copy: engines are slow to read from frozen lists.
   */
  readonly #listFrom = new WeakMap<object, readonly unknown[]>();
  /** A list whose items are asked for one after the other, which of them is next, and what they are. */
  #asked: readonly unknown[] = NOTHING;
  #next = 0;
  #askedNode: Structural | undefined;

  /** Is this a part of a stored object, and of that type? */
  has(part: object, node: Structural): boolean {
    if (this.#asked[this.#next] === part && this.#askedNode === node) {
      if (++this.#next === this.#asked.length) this.#asked = NOTHING;
      return true;
    }
    if (this.#nodeOf.get(part) !== node) return false;
    const list = this.#listFrom.get(part);
    if (list !== undefined) {
      this.#asked = list;
      this.#askedNode = node;
      this.#next = 1;
    }
    return true;
  }

  /**
   * Notes the parts of an object that is about to be stored. What stood in the place of a part before must be known as
   * well: a part that was let in by rules of another day may stay, but is no example for others.
   */
  note(schema: ObjectNode, object: object, live?: object): void {
    for (const { names, node, isList } of routesOf(schema)) {
      // What stands in the same is the same.
      if (live !== undefined && isShared(object, live, names[0] ?? '')) continue;
      const part = walk(object, names);
      const before = live === undefined ? undefined : walk(live, names);
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
    // Most of a long list is what it was, and known by now.
    const before = this.#nodeOf.get(first) === node ? (this.#listFrom.get(first) ?? NOTHING) : NOTHING;
    const length = Math.min(items.length, before.length);
    let index = 0;
    while (index < length && items[index] === before[index]) index++;
    let areAllKnown = true;
    for (; index < items.length; index++) areAllKnown = this.#noteItem(items[index], node) && areAllKnown;
    if (areAllKnown && items.length > 1) this.#listFrom.set(first, items);
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

function walk(object: object, names: readonly string[]): object | undefined {
  let value: unknown = object;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === 'object' && value !== null ? value : undefined;
}

export function hasReusableParts(schema: ObjectNode): boolean {
  return routesOf(schema).length > 0;
}

const known = new WeakMap<ObjectNode, readonly Route[]>();

function routesOf(schema: ObjectNode): readonly Route[] {
  let routes = known.get(schema);
  if (routes === undefined) {
    routes = [...routesBelow(schema, [])];
    known.set(schema, routes);
  }
  return routes;
}

/** A list is where a way ends. Types that hold themselves are not followed: no template is inside another. */
function* routesBelow(node: Structural, names: readonly string[], above: readonly Structural[] = []): Iterable<Route> {
  if (node.type === 'list' && node.items.type === 'object' && node.items.reusable === true) {
    yield { names, node: node.items, isList: true };
  }
  if (node.type !== 'object' || above.includes(node)) return;
  if (node.reusable === true) yield { names, node, isList: false };
  for (const field of node.fields.values()) yield* routesBelow(field.node, [...names, field.name], [...above, node]);
}
