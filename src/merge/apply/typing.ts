/**
 * How the walks of this folder treat a schema node: as an atomic value, as members by name, or as a list of items.
 * Where there is no schema (below a field that preserves unknown fields), the value decides: maps are merged,
 * everything else is atomic.
 */

import type { AnyNode, ListNode, MapNode, ObjectNode, Structural } from '../../schema/structural.js';
import { byBytes } from '../../text/go/go-value.js';
import { isRecord } from '../../util/json.js';
import { fieldElement, type PathElement } from './path-element.js';

/** A node whose members have their own owners. */
export type MemberNode = ObjectNode | MapNode | AnyNode;

/** The type of values without a schema. */
export const UNTYPED: AnyNode = Object.freeze({ type: 'any', goType: 'interface {}', checked: false, atomic: false });

/** Reports whether the members of the node have their own owners; for an untyped node the value decides. */
export function hasMembers(node: Structural, value: unknown): node is MemberNode {
  switch (node.type) {
    case 'object':
    case 'map':
      return !node.atomic;
    case 'any':
      return !node.atomic && isRecord(value);
    case 'list':
    case 'scalar':
      return false;
  }
}

export function hasItems(node: Structural): node is ListNode {
  return node.type === 'list' && node.listType !== 'atomic';
}

/** The node of a member; undefined if the schema does not allow it. */
export function memberNode(node: MemberNode, name: string): Structural | undefined {
  switch (node.type) {
    case 'object':
      return node.fields.get(name)?.node ?? (node.preserveUnknown ? UNTYPED : undefined);
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
  readonly node: Structural;
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
export function declaredNamed(node: ObjectNode): ReadonlyMap<string, DeclaredField> {
  return (declared.get(node) ?? declaredIn(node)).byName;
}

function declaredIn(node: ObjectNode): Declared {
  let known = declared.get(node);
  if (known === undefined) {
    const inOrder = [...node.fields.values()]
      .sort((left, right) => byBytes(left.name, right.name))
      .map(({ name, node: child }, order) => ({ name, element: fieldElement(name), node: child, order }));
    known = { inOrder, byName: new Map(inOrder.map((field) => [field.name, field])) };
    declared.set(node, known);
  }
  return known;
}

/** The members of a value; none if it is not an object. `undefined` counts as absent. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : NO_MEMBERS;
}

const NO_MEMBERS: Readonly<Record<string, unknown>> = Object.freeze({});

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ITEMS;
}

const NO_ITEMS: readonly unknown[] = Object.freeze([]);

export function isEmptyRecord(record: Readonly<Record<string, unknown>>): boolean {
  for (const name in record) if (record[name] !== undefined) return false;
  return true;
}
