/**
 * The structural form of a custom kind's schema: what field ownership, merging and comparing read. Values are judged by
 * the schema itself (`value/`), so this form says only what they are made of.
 *
 * What the reference server makes of a schema is not always what its author meant:
 * - a node that keeps unknown fields keeps them everywhere below it
 * - an object of which nothing is said may have any fields
 * - a string with a format may be any plain value, and what has no type may be anything
 */

import { objectMetaNode } from '../kinds/shared/object-meta.js';
import {
  type AnyNode,
  type Field,
  type MapNode,
  type ObjectNode,
  type ScalarNode,
  type Structural,
  uniform,
} from '../schema/structural.js';
import { byBytes } from '../text/go/go-value.js';
import { additionalSchema, type SchemaView } from './schema-view.js';
import { hasDefault } from './value/nulls.js';

/** The form of a whole object, without `kind`, `apiVersion` and `metadata`, which every object has. */
export function structuralOf(root: SchemaView): ObjectNode {
  const keeps = root.preserveUnknownFields === true;
  const fields = new Map([...fieldsOf(root, keeps)].filter(([name]) => !OF_EVERY_OBJECT.has(name)));
  return uniform({ ...objectNode(root, fields), preserveUnknown: keeps });
}

const OF_EVERY_OBJECT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** `above`: some node around it keeps unknown fields. */
function nodeOf(schema: SchemaView, above: boolean): Structural {
  const node = bareNode(schema, above || schema.preserveUnknownFields === true);
  const { raw } = schema;
  if (!hasDefault(schema) && raw.nullable !== true) return node;
  return uniform({
    ...node,
    ...(hasDefault(schema) ? { default: raw.default } : {}),
    ...(raw.nullable === true ? { nullable: true } : {}),
  });
}

const BASE = { goType: '', checked: false } as const;
const ANYTHING = uniform<AnyNode>({ type: 'any', atomic: false, ...BASE });

function bareNode(schema: SchemaView, keeps: boolean): Structural {
  switch (schema.type) {
    case 'object':
      return membersNode(schema, keeps);
    case 'array':
      return uniform({
        type: 'list',
        items: schema.items === undefined ? ANYTHING : nodeOf(schema.items, keeps),
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
      // Maps are merged, lists and everything else are one value; where fields are named, a map is expected.
      return schema.properties.size > 0
        ? membersNode(schema, keeps)
        : uniform({ ...ANYTHING, atomic: isAtomic(schema) });
  }
}

/** The plain type that takes every plain value. */
const ANY_SCALAR = 'intOrString';

function scalar(type: ScalarNode['scalar']): ScalarNode {
  return uniform({ type: 'scalar', scalar: type, ...BASE });
}

function isPlainText({ raw: { format = '' } }: SchemaView): boolean {
  return format === '' || format === 'byte';
}

function isAtomic({ mapType }: SchemaView): boolean {
  return mapType === 'atomic';
}

function membersNode(schema: SchemaView, keeps: boolean): ObjectNode | MapNode {
  const values = additionalSchema(schema);
  if (values !== undefined && schema.properties.size === 0) {
    return uniform({ type: 'map', values: nodeOf(values, keeps), atomic: isAtomic(schema), ...BASE });
  }
  const fields = fieldsOf(schema, keeps);
  const { additionalProperties } = schema;
  const isOpen = additionalProperties === undefined ? keeps || fields.size === 0 : additionalProperties !== false;
  return uniform({ ...objectNode(schema, fields), preserveUnknown: isOpen });
}

function objectNode(schema: SchemaView, fields: ReadonlyMap<string, Field>): Omit<ObjectNode, 'preserveUnknown'> {
  return { type: 'object', manner: 'document', goName: '', fields, atomic: isAtomic(schema), ...BASE };
}

/** In wire order. An embedded resource has what every object has, whatever its schema says of it. */
function fieldsOf(schema: SchemaView, keeps: boolean): ReadonlyMap<string, Field> {
  const required = new Set(schema.raw.required);
  const fields = [...schema.properties].map(([name, property]) => field(name, nodeOf(property, keeps), required));
  const known = schema.embeddedResource ? fields.filter(({ name }) => !OF_EVERY_OBJECT.has(name)) : fields;
  if (schema.embeddedResource) {
    known.push(field('apiVersion', scalar('string'), required), field('kind', scalar('string'), required));
    known.push(field('metadata', objectMetaNode(), required));
  }
  known.sort((left, right) => byBytes(left.name, right.name));
  return new Map(known.map((one) => [one.name, one]));
}

function field(name: string, node: Structural, required: ReadonlySet<string>): Field {
  return { name, node, presence: 'pointer', required: required.has(name) };
}
