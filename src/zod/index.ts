/**
 * The entry `orchplane/zod`: types of built-in kinds as zod schemas, to validate documents without a cluster and to use a
 * built-in type in a kind of your own. It is the only entry that imports zod at run time.
 */
import * as z from 'zod';
import type { Kind, Scope } from '../kinds/kind.js';
import { hint } from '../schema/hints.js';
import type { ObjectNode, ScalarType, SchemaNode } from '../schema/schema-node.js';

type CommonField = 'apiVersion' | 'kind' | 'metadata';
type Member<Type, Field> = Field extends keyof Type ? Exclude<Type[Field], undefined> : unknown;

/** The zod schemas of the fields of a kind other than `apiVersion`, `kind` and `metadata`. */
export type ZodBody<Object, Input> = {
  [Field in Exclude<keyof Object, CommonField>]-?: z.ZodType<Member<Object, Field>, Member<Input, Field>>;
};

/**
 * Returns the fields of a built-in kind as zod schemas. They check types and required fields; the server's validation
 * of values is not part of them. Add `.optional()` to a field that may be absent.
 *
 * @example
 * const { spec } = zodBody(Deployment);
 * const Fleet = defineKind({ apiVersion: 'example.com/v1', kind: 'Fleet', scope: 'Cluster', body: { template: spec } });
 */
export function zodBody<Object, Input>(kind: Kind<Object, Input, Scope, string, unknown>): ZodBody<Object, Input> {
  if (kind?.schema?.type !== 'object') throw new TypeError('orchplane: zodBody takes a kind of orchplane/kinds');
  const body: Record<string, z.ZodType> = {};
  for (const { name, node } of kind.schema.fields.values()) {
    if (!COMMON_FIELDS.includes(name)) body[name] = zodOf(node);
  }
  return body as ZodBody<Object, Input>;
}

const COMMON_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata'] satisfies CommonField[];

const made = new WeakMap<SchemaNode, z.ZodType>();

function zodOf(node: SchemaNode): z.ZodType {
  let schema = made.get(node);
  if (schema === undefined) {
    const plain = plainZodOf(node);
    const wrapped = node.nullable === true ? plain.nullable() : plain;
    schema = node.default === undefined ? wrapped : wrapped.default(node.default);
    made.set(node, schema);
  }
  return schema;
}

function plainZodOf(node: SchemaNode): z.ZodType {
  switch (node.type) {
    case 'object':
      return hint(objectOf(node), { builtIn: node, atomic: node.atomic });
    case 'list':
      return hint(z.array(zodOf(node.items)), { builtIn: node, listType: node.listType, mapKeys: node.mapKeys });
    case 'map':
      return hint(z.record(z.string(), zodOf(node.values)), { builtIn: node, atomic: node.atomic });
    case 'scalar':
      return hint(SCALARS[node.scalar](), { builtIn: node });
    case 'any':
      return hint(z.unknown(), { builtIn: node });
  }
}

function objectOf({ fields }: ObjectNode): z.ZodType {
  const shape: Record<string, z.ZodType> = {};
  for (const { name, node, presence, required } of fields.values()) {
    // A getter, because JSONSchemaProps contains itself.
    const get = () => {
      const schema = presence === 'always' && hasNullZero(node) ? zodOf(node).nullable() : zodOf(node);
      return required ? schema : schema.optional();
    };
    Object.defineProperty(shape, name, { get, enumerable: true });
  }
  return z.object(shape);
}

/** Whether the server writes an absent value as null. */
function hasNullZero(node: SchemaNode): boolean {
  if (node.type === 'scalar') return node.scalar === 'time' || node.scalar === 'microTime';
  return node.type !== 'object';
}

const SCALARS: Readonly<Record<ScalarType, () => z.ZodType>> = {
  string: () => z.string(),
  int32: () => z.int32(),
  // An int64 may exceed the safe integers of JavaScript.
  int64: () => z.number(),
  number: () => z.number(),
  boolean: () => z.boolean(),
  bytes: () => z.string(),
  time: () => z.string(),
  microTime: () => z.string(),
  quantity: () => z.union([z.string(), z.number()]),
  intOrString: () => z.union([z.string(), z.int32()]),
  duration: () => z.string(),
};
