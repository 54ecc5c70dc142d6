/**
 * Converts a schema to a dialect. Kinds are declared with canonical names; fields that are named after an extension
 * (`x-orch-list-type`) have another name in another dialect.
 */
import { type Dialect, orchDialect } from '../meta/dialect.js';
import { type Field, type ObjectNode, type SchemaNode, uniform } from './schema-node.js';

const CANONICAL_PREFIX = orchDialect.extension('');

/** Returns the schema itself if none of its names differ. */
export function schemaInDialect(schema: ObjectNode, dialect: Dialect): ObjectNode {
  if (dialect.extension('') === CANONICAL_PREFIX || !hasExtensions(schema, new Set())) return schema;
  return convertNames(schema, { dialect, done: new Map() }) as ObjectNode;
}

/** A schema may contain itself, so visited nodes are skipped. */
function hasExtensions(node: SchemaNode, seen: Set<SchemaNode>): boolean {
  if (seen.has(node)) return false;
  seen.add(node);
  if (node.type === 'list') return hasExtensions(node.items, seen);
  if (node.type === 'map') return hasExtensions(node.values, seen);
  if (node.type !== 'object') return false;
  for (const { name, node: inner } of node.fields.values()) {
    if (name.startsWith(CANONICAL_PREFIX) || hasExtensions(inner, seen)) return true;
  }
  return false;
}

interface Walk {
  readonly dialect: Dialect;
  /** Nodes are added before they are complete, because a schema may contain itself. */
  readonly done: Map<SchemaNode, SchemaNode>;
}

function convertNames(node: SchemaNode, walk: Walk): SchemaNode {
  const present = walk.done.get(node);
  if (present !== undefined) return present;
  if (node.type === 'list') return uniform({ ...node, items: convertNames(node.items, walk) });
  if (node.type === 'map') return uniform({ ...node, values: convertNames(node.values, walk) });
  if (node.type !== 'object') return node;
  const fields = new Map<string, Field>();
  const converted = uniform<ObjectNode>({ ...node, fields });
  walk.done.set(node, converted);
  for (const field of node.fields.values()) {
    const name = field.name.startsWith(CANONICAL_PREFIX)
      ? walk.dialect.extension(field.name.slice(CANONICAL_PREFIX.length))
      : field.name;
    fields.set(name, { ...field, name, node: convertNames(field.node, walk) });
  }
  return converted;
}
