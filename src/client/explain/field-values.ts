/**
 * Reads objects field by field, with the paths of field ownership.
 */
import { childOf, type FieldSet, isEmptySet, isMember, SELF } from '../../merge/apply/field-set.js';
import { fieldName, type PathElement } from '../../merge/apply/path-element.js';
import { hasItems, hasMembers, indexItems, memberNode, UNTYPED } from '../../merge/apply/typed.js';
import type { ListNode, SchemaNode } from '../../schema/schema-node.js';
import { isRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';

/** The symbol with which Node's `util.inspect` finds an object's own rendering. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;

export type Path = readonly PathElement[];

/** The paths of a field set in order, parents before children. `leaves`: only paths without children. */
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

/** The subset of a field set at a path. */
export function nodeAt(set: FieldSet, path: Path): FieldSet | undefined {
  let node: FieldSet | undefined = set;
  for (const element of path) node = node === undefined ? undefined : childOf(node, element);
  return node;
}

/** Reads the values of an object by path. The items of a list are indexed once. */
export class FieldReader {
  readonly #schema: SchemaNode;
  readonly #object: unknown;
  readonly #items = new Map<object, ReadonlyMap<PathElement, readonly unknown[]>>();

  constructor(schema: SchemaNode, object: unknown) {
    this.#schema = schema;
    this.#object = object;
  }

  /** The value at a path; undefined when there is none. */
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
    return getOrInsertComputed(this.#items, items, () => indexItems(list, items).byElement);
  }
}

const MAX_VALUE_LENGTH = 60;

/** A value as one line of text. */
export function printValue(value: unknown): string {
  const text =
    value === undefined
      ? ''
      : JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? Number(item) : item));
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 1)}…` : text;
}

/** Formats rows as columns, each as wide as its widest cell up to a limit. */
export function printRows(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Math.min(cell.length, MAX_CELL_WIDTH));
    }
  }
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

const MAX_CELL_WIDTH = 80;
