/**
 * Operations on field sets that use the schema: fields that the schema declares, atomic nodes, and fields that no
 * manager can own.
 */
import type { SchemaNode } from '../../schema/schema-node.js';
import { type Field, type ObjectNode, uniform } from '../../schema/schema-node.js';
import { isRecord, own } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { type FieldSet, isEmptySet, isMember, LEAF, SELF, setOfFields } from './field-set.js';
import { fieldName, isKeyed, type PathElement } from './path-element.js';
import { type MemberNode, memberNode, UNTYPED } from './typed.js';

/**
 * Adds every declared field on the way to a path: a struct is removed when its last member is removed. Map keys and
 * list items are not added, because they exist independently of their content.
 * upstream: structured-merge-diff fieldpath/set.go Set.EnsureNamedFieldsAreMembers
 */
export function ensureNamedFieldsAreMembers(node: SchemaNode, fields: FieldSet): FieldSet {
  return mapSteps(fields, (element, inner) => {
    const name = fieldName(element);
    const isNamed = name !== undefined && node.type === 'object' && node.fields.has(name);
    const deeper = isEmptySet(inner) ? inner : ensureNamedFieldsAreMembers(childOf(node, element), inner);
    return isNamed && !isMember(deeper) ? { [SELF]: LEAF, ...deeper } : deeper;
  });
}

/** Replaces all paths below an atomic node by the node. */
export function truncateAtAtomics(node: SchemaNode, fields: FieldSet): FieldSet {
  return mapSteps(fields, (element, inner) => {
    if (isEmptySet(inner)) return inner;
    const child = anyChildOf(node, element);
    return isAtomic(child) ? LEAF : truncateAtAtomics(child, inner);
  });
}

/** Atomic although it has members. */
function isAtomic(node: SchemaNode): boolean {
  if (node.type === 'list') return node.listType === 'atomic';
  return node.type !== 'scalar' && node.atomic && !isOfUntyped(node);
}

/** The reference server treats a map of untyped values as a map without a schema and does not truncate its sets. */
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

function childOf(node: SchemaNode, element: PathElement): SchemaNode {
  const name = fieldName(element);
  if (name === undefined) return node.type === 'list' && isKeyed(element) ? node.items : UNTYPED;
  return isMemberNode(node) ? (memberNode(node, name) ?? UNTYPED) : UNTYPED;
}

/** All children of a list or a map have one type, whatever kind of element a client wrote. */
function anyChildOf(node: SchemaNode, element: PathElement): SchemaNode {
  if (node.type === 'list') return node.items;
  return node.type === 'map' ? node.values : childOf(node, element);
}

function isMemberNode(node: SchemaNode): node is MemberNode {
  return node.type === 'object' || node.type === 'map' || node.type === 'any';
}

const IDENTITY = ['apiVersion', 'kind'];

const SERVER_METADATA = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

/** The fields that no manager can own. */
export const UNTRACKED = setOfFields([...IDENTITY, 'metadata', ...SERVER_METADATA.map((name) => `metadata.${name}`)]);

const schemas = new WeakMap<ObjectNode, ObjectNode>();

/** The schema of an object without these fields, for walks that skip them. */
export function trackedSchema(schema: ObjectNode): ObjectNode {
  return getOrInsertComputed(schemas, schema, withoutUntracked);
}

function withoutUntracked(schema: ObjectNode): ObjectNode {
  const metadata = schema.fields.get('metadata');
  // With preserved unknown fields, removed fields would be visited as unknown ones.
  if (schema.preserveUnknown || metadata?.node.type !== 'object') return schema;
  const node = without(metadata.node, SERVER_METADATA);
  const fields = new Map<string, Field>(without(schema, IDENTITY).fields).set('metadata', { ...metadata, node });
  return uniform({ ...schema, fields });
}

function without(node: ObjectNode, names: readonly string[]): ObjectNode {
  return uniform({ ...node, fields: new Map([...node.fields].filter(([name]) => !names.includes(name))) });
}

/**
 * Whether the set contains a map in which there may be an empty list. When fields without an owner are removed from such a map, the
 * map itself is removed with them if nothing else is left: an empty list has no path in a set. Structs omit empty lists.
 * upstream: structured-merge-diff/merge/update.go Updater.addBackDanglingItems
 */
export function ownsMapWithEmptyList({ representation }: ObjectNode, fields: FieldSet, value: unknown): boolean {
  return representation === 'document' && ownsEmptyList(fields, value);
}

function ownsEmptyList(fields: FieldSet, value: unknown): boolean {
  if (!isRecord(value) || isMember(fields)) return hasEmptyList(value);
  return Object.entries(fields).some(([element, inner]) => ownsEmptyList(inner, own(value, fieldName(element) ?? '')));
}

function hasEmptyList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const items = Object.values(value);
  return items.length === 0 ? Array.isArray(value) : items.some(hasEmptyList);
}
