/** The schema of a kind without defaults, for conversions between versions: the reference server fills in defaults later. */
import type { SchemaNode } from './schema-node.js';

const known = new WeakMap<SchemaNode, SchemaNode>();

/** The same node without the defaults of all fields in it. */
export function withoutDefaults<Node extends SchemaNode>(node: Node): Node {
  const present = known.get(node);
  if (present !== undefined) return present as Node;
  // The precomputed listing of fields belongs to the original.
  const out: Record<string, unknown> = { ...node, default: undefined, listing: undefined };
  // A schema may contain itself.
  known.set(node, out as unknown as SchemaNode);
  if (node.type === 'object')
    out['fields'] = new Map(
      Array.from(node.fields, ([name, field]) => [name, { ...field, node: withoutDefaults(field.node) }]),
    );
  if (node.type === 'map') out['values'] = withoutDefaults(node.values);
  if (node.type === 'list') out['items'] = withoutDefaults(node.items);
  return out as unknown as Node;
}
