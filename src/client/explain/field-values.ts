/**
 * Objects seen as fields, the way ownership sees them: which there are, and what stands in each.
 */
import { below, type FieldSet, isEmptySet, isMember, SELF } from '../../merge/apply/field-set.js';
import { indexItems } from '../../merge/apply/typed.js';
import { fieldName, type PathElement } from '../../merge/apply/path-element.js';
import { hasItems, hasMembers, memberNode, UNTYPED } from '../../merge/apply/typed.js';
import type { ListNode, Structural } from '../../schema/structural.js';
import { isRecord } from '../../util/json.js';

/** How Node asks an object for its own rendering, by a name that every platform can have. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;

export type Path = readonly PathElement[];

/** The paths of a set in the order of their steps: a field before what is below it. `leaves`: only the ends of it. */
export function* walkPaths(set: FieldSet, kind: 'members' | 'leaves', prefix: Path = []): Generator<Path> {
  for (const element in set) {
    if (element === SELF) continue;
    const node = set[element] as FieldSet;
    const path = [...prefix, element];
    if (kind === 'members' ? isMember(node) : isEmptySet(node)) yield path;
    yield* walkPaths(node, kind, path);
  }
}

export function hasPath(set: FieldSet, path: Path): boolean {
  return isMember(nodeAt(set, path));
}

/** What a set says about a path and below it. */
export function nodeAt(set: FieldSet, path: Path): FieldSet | undefined {
  let node: FieldSet | undefined = set;
  for (const element of path) node = node === undefined ? undefined : below(node, element);
  return node;
}

/** An object by its paths. Items of a list are looked for once, however many paths lead through them. */
export class FieldReader {
  readonly #schema: Structural;
  readonly #object: unknown;
  readonly #items = new Map<object, ReadonlyMap<PathElement, readonly unknown[]>>();

  constructor(schema: Structural, object: unknown) {
    this.#schema = schema;
    this.#object = object;
  }

  /** What stands at a path; undefined where there is nothing. */
  at(path: Path): unknown {
    let node = this.#schema;
    let value = this.#object;
    for (const element of path) {
      const name = fieldName(element);
      if (name === undefined) {
        if (!hasItems(node) || !Array.isArray(value)) return undefined;
        value = this.#itemsOf(node, value).get(element)?.[0];
        node = node.items;
      } else {
        if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
        node = hasMembers(node, value) ? (memberNode(node, name) ?? UNTYPED) : UNTYPED;
        value = value[name];
      }
    }
    return value;
  }

  #itemsOf(list: ListNode, items: readonly unknown[]): ReadonlyMap<PathElement, readonly unknown[]> {
    let known = this.#items.get(items);
    if (known === undefined) {
      known = indexItems(list, items).byElement;
      this.#items.set(items, known);
    }
    return known;
  }
}

const LONGEST_VALUE = 60;

/** A value in a line. */
export function printValue(value: unknown): string {
  const text =
    value === undefined
      ? ''
      : JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? Number(item) : item));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text;
}

/** Columns of text, each as wide as its widest cell within reason. */
export function printRows(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Math.min(cell.length, WIDEST_CELL));
    }
  }
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

const WIDEST_CELL = 80;
