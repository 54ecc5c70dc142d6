/**
 * Converts the structural schema of a CRD version to the schema tree that field ownership, merge and comparison use.
 * The tree only describes types; values are validated against the CRD schema itself (`value/`).
 *
 * The conversion follows the reference server:
 * - `x-kubernetes-preserve-unknown-fields` applies to all nodes below
 * - an object without properties may have any fields
 * - a string with a format accepts every scalar, and a node without a type accepts any value
 * upstream: apiextensions-apiserver/pkg/controller/openapi/v2/conversion.go ToStructuralOpenAPIV2
 */

import { objectMetaNode } from '../kinds/shared/object-meta.js';
import {
  type AnyNode,
  type Field,
  type MapNode,
  type ObjectNode,
  type ScalarNode,
  type SchemaNode,
  uniform,
} from '../schema/schema-node.js';
import { compareUtf8 } from '../text/go/go-value.js';
import { additionalSchema, type StructuralSchema } from './structural-schema.js';
import { hasDefault } from './value/defaults.js';

/** The schema of a whole object without `kind`, `apiVersion` and `metadata`, which every object has. */
export function schemaNodeOf(root: StructuralSchema): ObjectNode {
  const preservesUnknown = root.preserveUnknownFields === true;
  const fields = new Map([...fieldsOf(root, preservesUnknown)].filter(([name]) => !OBJECT_FIELDS.has(name)));
  return uniform({ ...objectNode(root, fields), preserveUnknown: preservesUnknown });
}

const OBJECT_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** `above` is true if an enclosing node preserves unknown fields. */
function nodeOf(schema: StructuralSchema, preservesAbove: boolean): SchemaNode {
  const node = bareNode(schema, preservesAbove || schema.preserveUnknownFields === true);
  const { raw } = schema;
  if (!hasDefault(schema) && raw.nullable !== true) return node;
  return uniform({
    ...node,
    ...(hasDefault(schema) ? { default: raw.default } : {}),
    ...(raw.nullable === true ? { nullable: true } : {}),
  });
}

const BASE = { goType: '' } as const;
const ANYTHING = uniform<AnyNode>({ type: 'any', atomic: false, ...BASE });

function bareNode(schema: StructuralSchema, preservesUnknown: boolean): SchemaNode {
  switch (schema.type) {
    case 'object':
      return membersNode(schema, preservesUnknown);
    case 'array':
      return uniform({
        type: 'list',
        items: schema.items === undefined ? ANYTHING : nodeOf(schema.items, preservesUnknown),
        listType: schema.listType === 'set' || schema.listType === 'map' ? schema.listType : 'atomic',
        mapKeys: schema.listMapKeys,
        ...BASE,
      });
    case 'string':
      return scalar(isPlainText(schema) ? 'string' : ANY_SCALAR);
    case 'integer':
      return scalar('int64');
    case 'number':
      return scalar('number');
    case 'boolean':
      return scalar('boolean');
    default:
      // Without a type, maps are merged, and lists and scalars are atomic. A node with properties is treated as an
      // object.
      return schema.properties.size > 0
        ? membersNode(schema, preservesUnknown)
        : uniform({ ...ANYTHING, atomic: isAtomic(schema) });
  }
}

/** The scalar type that accepts every scalar value. */
const ANY_SCALAR = 'intOrString';

function scalar(type: ScalarNode['scalar']): ScalarNode {
  return uniform({ type: 'scalar', scalar: type, ...BASE });
}

function isPlainText({ raw: { format = '' } }: StructuralSchema): boolean {
  return format === '' || format === 'byte';
}

function isAtomic({ mapType }: StructuralSchema): boolean {
  return mapType === 'atomic';
}

function membersNode(schema: StructuralSchema, preservesUnknown: boolean): ObjectNode | MapNode {
  const values = additionalSchema(schema);
  if (values !== undefined && schema.properties.size === 0) {
    return uniform({ type: 'map', values: nodeOf(values, preservesUnknown), atomic: isAtomic(schema), ...BASE });
  }
  const fields = fieldsOf(schema, preservesUnknown);
  const { additionalProperties } = schema;
  const isOpen =
    additionalProperties === undefined ? preservesUnknown || fields.size === 0 : additionalProperties !== false;
  return uniform({ ...objectNode(schema, fields), preserveUnknown: isOpen });
}

function objectNode(schema: StructuralSchema, fields: ReadonlyMap<string, Field>): Omit<ObjectNode, 'preserveUnknown'> {
  return { type: 'object', representation: 'document', goName: '', fields, atomic: isAtomic(schema), ...BASE };
}

/**
 * The fields in wire order. An embedded resource has `apiVersion`, `kind` and `metadata` with their usual types,
 * whatever its schema says.
 */
function fieldsOf(schema: StructuralSchema, preservesUnknown: boolean): ReadonlyMap<string, Field> {
  const required = new Set(schema.raw.required);
  const fields = [...schema.properties].map(([name, property]) =>
    field(name, nodeOf(property, preservesUnknown), required),
  );
  const allFields = schema.embeddedResource ? fields.filter(({ name }) => !OBJECT_FIELDS.has(name)) : fields;
  if (schema.embeddedResource) {
    allFields.push(field('apiVersion', scalar('string'), required), field('kind', scalar('string'), required));
    allFields.push(field('metadata', objectMetaNode(), required));
  }
  allFields.sort((left, right) => compareUtf8(left.name, right.name));
  return new Map(allFields.map((one) => [one.name, one]));
}

function field(name: string, node: SchemaNode, required: ReadonlySet<string>): Field {
  return { name, node, presence: 'pointer', required: required.has(name) };
}
