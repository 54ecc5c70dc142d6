/** Short constructors of schema nodes for tables, with only the members that apply uses. */
import type {
  AnyNode,
  Field,
  ListNode,
  MapNode,
  ObjectNode,
  ScalarNode,
  ScalarType,
  SchemaNode,
} from '../../../../src/schema/schema-node.js';

const base = { goType: 'x' };

function scalarOf(scalar: ScalarType): ScalarNode {
  return { ...base, type: 'scalar', scalar };
}

export const string = scalarOf('string');
export const number = scalarOf('int64');
export const boolean = scalarOf('boolean');
/** A scalar of any type. */
export const scalar = scalarOf('intOrString');
export const any: AnyNode = { ...base, type: 'any', atomic: false };
export const atomicAny: AnyNode = { ...any, atomic: true };

type Fields = Readonly<Record<string, SchemaNode>>;

export function struct(fields: Fields, more: Partial<ObjectNode> = {}): ObjectNode {
  const map = new Map<string, Field>();
  for (const [name, node] of Object.entries(fields)) {
    map.set(name, { name, node, presence: 'pointer', required: false });
  }
  const rest = { representation: 'document', goName: 'X', preserveUnknown: false, atomic: false } as const;
  return { ...base, ...rest, type: 'object', fields: map, ...more };
}

/** With fields that the schema does not name. */
export const open = (fields: Fields): ObjectNode => struct(fields, { preserveUnknown: true });
export const atomicStruct = (fields: Fields): ObjectNode => struct(fields, { atomic: true });

export const map = (values: SchemaNode): MapNode => ({ ...base, type: 'map', values, atomic: false });
export const atomicMap = (values: SchemaNode): MapNode => ({ ...map(values), atomic: true });

export function list(items: SchemaNode): ListNode {
  return { ...base, type: 'list', items, listType: 'atomic', mapKeys: [] };
}

export const set = (items: SchemaNode): ListNode => ({ ...list(items), listType: 'set' });

/** A list whose items are identified by some of their fields. */
export function keyed(mapKeys: readonly string[], fields: Fields): ListNode {
  return { ...list(struct(fields)), listType: 'map', mapKeys };
}

export const orElse = <Node extends SchemaNode>(node: Node, value: unknown): Node => ({ ...node, default: value });
