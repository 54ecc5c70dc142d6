/**
 * Sets of fields seen through a schema: which steps are fields that it names, and which lead into something that is
 * owned as a whole.
 */
import type { Structural } from '../../schema/structural.js';
import { type FieldSet, isEmptySet, isMember, LEAF, SELF } from './field-set.js';
import { fieldName, isKeyed, type PathElement } from './path-element.js';
import { type MemberNode, memberNode, UNTYPED } from './typing.js';

/**
 * The set with every named field on the way to a path added: a struct goes when the last thing in it goes. Keys of maps
 * and items of lists are not added, they exist in their own right.
 */
export function namedFieldsToo(node: Structural, fields: FieldSet): FieldSet {
  return mapSteps(fields, (element, inner) => {
    const name = fieldName(element);
    const isNamed = name !== undefined && node.type === 'object' && node.fields.has(name);
    const deeper = isEmptySet(inner) ? inner : namedFieldsToo(childOf(node, element), inner);
    return isNamed && !isMember(deeper) ? { [SELF]: LEAF, ...deeper } : deeper;
  });
}

/** The set with everything below what the schema owns as a whole replaced by that. */
export function atomicOnly(node: Structural, fields: FieldSet): FieldSet {
  return mapSteps(fields, (element, inner) => {
    if (isEmptySet(inner)) return inner;
    const child = anyChildOf(node, element);
    return isAtom(child) ? LEAF : atomicOnly(child, inner);
  });
}

/** Owned as a whole although it has an inside. */
function isAtom(node: Structural): boolean {
  if (node.type === 'list') return node.listType === 'atomic';
  return node.type !== 'scalar' && node.atomic && !isOfUntyped(node);
}

/** A map of values of no particular type: the reference server takes it for one without a schema, and leaves its sets. */
function isOfUntyped(node: MemberNode): boolean {
  if (node.type === 'object') return node.preserveUnknown && node.fields.size === 0;
  if (node.type === 'any') return false;
  const { values } = node;
  return values.type === 'any' ? !values.atomic : values.type === 'scalar' && values.scalar === 'intOrString';
}

function mapSteps(fields: FieldSet, change: (element: PathElement, inner: FieldSet) => FieldSet): FieldSet {
  let out: Record<PathElement, FieldSet> | undefined;
  for (const element in fields) {
    if (element === SELF) continue;
    const inner = fields[element] as FieldSet;
    const changed = change(element, inner);
    if (changed === inner) continue;
    out ??= { ...fields };
    out[element] = changed;
  }
  return out ?? fields;
}

function childOf(node: Structural, element: PathElement): Structural {
  const name = fieldName(element);
  if (name === undefined) return node.type === 'list' && isKeyed(element) ? node.items : UNTYPED;
  return isMemberNode(node) ? (memberNode(node, name) ?? UNTYPED) : UNTYPED;
}

/** What a list or a map has inside is of one type, whatever sort of step somebody wrote. */
function anyChildOf(node: Structural, element: PathElement): Structural {
  if (node.type === 'list') return node.items;
  return node.type === 'map' ? node.values : childOf(node, element);
}

function isMemberNode(node: Structural): node is MemberNode {
  return node.type === 'object' || node.type === 'map' || node.type === 'any';
}
