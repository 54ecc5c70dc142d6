/** The schema of a kind without defaults, for conversions between versions: the reference server fills in defaults later. */
import type { Field, ObjectNode, SchemaNode } from './schema-node.js';

const known = new WeakMap<SchemaNode, SchemaNode>();

/** The same node without the defaults of all fields in it. */
export function withoutDefaults<Node extends SchemaNode>(node: Node): Node {
  return (known.get(node) ?? copy(node)) as Node;
}

function copy(node: SchemaNode): SchemaNode {
  // The precomputed listing of fields belongs to the original.
  const out = { ...node, default: undefined, listing: undefined } as unknown as Record<string, unknown>;
  // A schema may contain itself.
  known.set(node, out as unknown as SchemaNode);
  if (node.type === 'object') out['fields'] = fieldsWithoutDefaults(node);
  if (node.type === 'map') out['values'] = withoutDefaults(node.values);
  if (node.type === 'list') out['items'] = withoutDefaults(node.items);
  return out as unknown as SchemaNode;
}

function fieldsWithoutDefaults({ fields }: ObjectNode): ReadonlyMap<string, Field> {
  return new Map(Array.from(fields, ([name, field]) => [name, { ...field, node: withoutDefaults(field.node) }]));
}
