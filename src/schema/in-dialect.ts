/**
 * Converts a schema to a dialect. Kinds are declared once, with canonical names and the reference server's properties.
 * Fields that are named after an extension (`x-orch-list-type`) have another name in another dialect, and the dialect's
 * rules for a type change its fields.
 */
import { type Dialect, orchDialect } from '../meta/dialect.js';
import type { FieldRule, TypeRule } from '../meta/dialect-rules.js';
import { getOrInsertComputed } from '../util/once.js';
import { type Field, type ObjectNode, type SchemaNode, uniform } from './schema-node.js';

const CANONICAL_PREFIX = orchDialect.extension('');

/** Returns the schema itself if nothing in it differs. Equal parts are shared with the schema. */
export function schemaInDialect(schema: ObjectNode, dialect: Dialect): ObjectNode {
  const known = getOrInsertComputed(converted, dialect, () => new WeakMap<SchemaNode, SchemaNode>());
  const done = new Map<SchemaNode, SchemaNode>();
  const result = convert(schema, { dialect, known, done }) as ObjectNode;
  // Only complete conversions are shared: an error at the limit of the stack must not leave a part of one.
  for (const [node, same] of done) known.set(node, same);
  return result;
}

/** Kinds share types, so conversions are kept by dialect. */
const converted = new WeakMap<Dialect, WeakMap<SchemaNode, SchemaNode>>();

interface Walk {
  readonly dialect: Dialect;
  readonly known: WeakMap<SchemaNode, SchemaNode>;
  /** Nodes are added before they are complete, because a schema may contain itself. */
  readonly done: Map<SchemaNode, SchemaNode>;
}

/** The rule of a dialect for a type. A rule is for the type that has all its fields: Go packages may share a name. */
export function typeRuleOf(node: ObjectNode, dialect: Dialect): TypeRule | undefined {
  if (node.representation !== 'struct' || !Object.hasOwn(dialect.rules.types, node.goName)) return undefined;
  const rule = dialect.rules.types[node.goName] as TypeRule;
  return Object.keys(rule.fields).every((name) => node.fields.has(name)) ? rule : undefined;
}

function convert(node: SchemaNode, walk: Walk): SchemaNode {
  const present = walk.done.get(node) ?? walk.known.get(node);
  if (present !== undefined) return present;
  const seen = new Set<SchemaNode>();
  if (!differs(node, walk, seen)) {
    for (const same of seen) walk.done.set(same, same);
    return node;
  }
  if (node.type === 'list') return uniform({ ...node, items: convert(node.items, walk) });
  if (node.type === 'map') return uniform({ ...node, values: convert(node.values, walk) });
  if (node.type === 'any' && node.schema !== undefined)
    return uniform({ ...node, schema: convert(node.schema, walk) as ObjectNode });
  return node.type === 'object' ? convertObject(node, walk) : node;
}

/** Visited nodes are skipped. */
function differs(node: SchemaNode, walk: Walk, seen: Set<SchemaNode>): boolean {
  if (seen.has(node)) return false;
  const present = walk.done.get(node) ?? walk.known.get(node);
  if (present !== undefined) return present !== node;
  seen.add(node);
  if (node.type === 'list') return differs(node.items, walk, seen);
  if (node.type === 'map') return differs(node.values, walk, seen);
  if (node.type === 'any' && node.schema !== undefined) return differs(node.schema, walk, seen);
  if (node.type !== 'object') return false;
  if (typeRuleOf(node, walk.dialect) !== undefined) return true;
  for (const { name, node: inner } of node.fields.values()) {
    if (nameInDialect(name, walk.dialect) !== name || differs(inner, walk, seen)) return true;
  }
  return false;
}

function nameInDialect(name: string, dialect: Dialect): string {
  return name.startsWith(CANONICAL_PREFIX) ? dialect.extension(name.slice(CANONICAL_PREFIX.length)) : name;
}

function convertObject(node: ObjectNode, walk: Walk): ObjectNode {
  const fields = new Map<string, Field>();
  const rule = typeRuleOf(node, walk.dialect);
  const result = uniform<ObjectNode>({ ...node, fields, atomic: rule?.isAtomic ?? node.atomic });
  walk.done.set(node, result);
  for (const field of node.fields.values()) {
    const name = nameInDialect(field.name, walk.dialect);
    fields.set(name, withRule({ ...field, name, node: convert(field.node, walk) }, rule?.fields[field.name]));
  }
  return result;
}

function withRule(field: Field, rule: FieldRule | undefined): Field {
  if (rule === undefined) return field;
  const { node } = field;
  const presence = rule.required === 'given' && field.required ? 'given' : field.presence;
  if (rule.items !== undefined && node.type === 'list' && node.items.type === 'object') {
    const { items } = node;
    const fields = Array.from(items.fields.values(), (one) => withRule(one, rule.items?.fields[one.name]));
    const changed = uniform<ObjectNode>({ ...items, fields: new Map(fields.map((one) => [one.name, one])) });
    return { ...field, node: uniform({ ...node, items: changed }) };
  }
  if (rule.default === undefined) return { ...field, presence };
  return { ...field, presence, node: uniform({ ...node, default: rule.default }) };
}
