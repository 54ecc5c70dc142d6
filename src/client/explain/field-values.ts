/**
 * Objects seen as fields, the way ownership sees them: which there are, and what stands in each.
 */
import { below, type FieldSet, isEmptySet, isMember, SELF } from '../../merge/apply/field-set.js';
import { elementOrNone } from '../../merge/apply/list-elements.js';
import { fieldName, type PathElement } from '../../merge/apply/path-element.js';
import { hasItems, hasMembers, memberNode, UNTYPED } from '../../merge/apply/typing.js';
import type { Structural } from '../../schema/structural.js';
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

/** What stands at a path of an object; undefined where there is nothing. */
export function valueAt(schema: Structural, object: unknown, path: Path): unknown {
  let node = schema;
  let value = object;
  for (const element of path) {
    const name = fieldName(element);
    if (name === undefined) {
      const list = node;
      if (!hasItems(list) || !Array.isArray(value)) return undefined;
      value = value.find((item) => elementOrNone(list, item) === element);
      node = list.items;
    } else {
      if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
      node = hasMembers(node, value) ? (memberNode(node, name) ?? UNTYPED) : UNTYPED;
      value = value[name];
    }
  }
  return value;
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
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => Math.min(row[column]?.length ?? 0, 80))),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
