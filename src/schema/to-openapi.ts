/**
 * Converts schema nodes to OpenAPI schemas, version 2 or 3, one type at a time. The context provides the names of
 * other types and the field descriptions.
 *
 * The versions differ in what is allowed beside a reference and in defaults: version 3 states them (those of the
 * schema, and the zero value of every field that is always on the wire), version 2 does not.
 */
import type { Dialect } from '../meta/dialect.js';
import { ZERO_VALUES } from './decode-scalar.js';
import type { Field, ListNode, ObjectNode, ScalarType, SchemaNode } from './schema-node.js';

/** A JSON value; schemas are data. */
export interface OpenApiSchema {
  readonly [key: string]: unknown;
}

/** Types without fields that are published under their own name. */
export type NamedType =
  | 'Time'
  | 'MicroTime'
  | 'Quantity'
  | 'IntOrString'
  | 'RawExtension'
  | 'FieldsV1'
  | 'JSON'
  | 'JSONSchemaPropsOrArray'
  | 'JSONSchemaPropsOrBool'
  | 'JSONSchemaPropsOrStringArray';

/** What the conversion needs to know about other types. */
export interface SchemaContext {
  readonly version: 2 | 3;
  readonly dialect: Dialect;
  /** A reference to the definition of a named type; undefined: the type is written inline. */
  reference(type: ObjectNode | NamedType): string | undefined;
  /** The named type of a field that accepts several types, if any. */
  unionType(field: string): NamedType | undefined;
  /** The description of a field of the current type. */
  describe(field: string): string | undefined;
}

/** The definition of a type with fields. */
export function objectSchema(node: ObjectNode, context: SchemaContext): OpenApiSchema {
  const { extension } = context.dialect;
  const fields = [...node.fields.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  const required = [...node.fields.values()].filter((field) => field.required).map((field) => field.name);
  return {
    type: 'object',
    ...(fields.length === 0
      ? {}
      : { properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, node, context)])) }),
    ...(required.length === 0 ? {} : { required }),
    ...(node.atomic ? { [extension('map-type')]: 'atomic' } : {}),
    ...(node.preserveUnknown ? { [extension('preserve-unknown-fields')]: true } : {}),
  };
}

/** The definition of a named type without fields. */
export function namedSchema(type: NamedType, version: 2 | 3): OpenApiSchema {
  switch (type) {
    case 'Time':
    case 'MicroTime':
      return { type: 'string', format: 'date-time' };
    case 'Quantity':
      return version === 2 ? { type: 'string' } : { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'IntOrString':
      return {
        format: 'int-or-string',
        ...(version === 2 ? { type: 'string' } : { oneOf: [{ type: 'integer' }, { type: 'string' }] }),
      };
    case 'RawExtension':
    case 'FieldsV1':
      return { type: 'object' };
    default:
      // Accepts several types.
      return {};
  }
}

function fieldSchema(field: Field, owner: ObjectNode, context: SchemaContext): OpenApiSchema {
  const isDocument = owner.representation === 'document';
  const description = context.describe(field.name);
  const fallback = context.version === 2 ? undefined : fieldDefault(field, isDocument);
  return withReference({
    ...nodeSchema(field.node, context, { field: field.name, isDocument }),
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  });
}

/** OpenAPI 3 allows no keywords beside a reference, so the reference moves into `allOf`. */
function withReference(schema: OpenApiSchema): OpenApiSchema {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== 'string' || $ref.startsWith('#/definitions/') || Object.keys(rest).length === 0) return schema;
  return { allOf: [{ $ref }], ...rest };
}

/** The position of a node: the field it belongs to, and the representation of the enclosing object. */
interface NodePosition {
  readonly field: string;
  readonly isDocument: boolean;
  /** True for items of lists and values of maps. */
  readonly isItem?: boolean;
}

function nodeSchema(node: SchemaNode, context: SchemaContext, position: NodePosition): OpenApiSchema {
  const { isDocument } = position;
  const { extension } = context.dialect;
  const nullable = isDocument && node.nullable === true && context.version === 3 ? { nullable: true } : {};
  switch (node.type) {
    case 'object': {
      const $ref = context.reference(node);
      // The descriptions of the enclosing type do not apply to an inline type.
      const schema = $ref === undefined ? objectSchema(node, { ...context, describe: () => undefined }) : { $ref };
      return {
        ...schema,
        ...nullable,
        ...(node.patchStrategy === undefined ? {} : { [extension('patch-strategy')]: node.patchStrategy }),
      };
    }
    case 'map':
      return {
        type: 'object',
        additionalProperties: itemSchema(node.values, context, position),
        ...(node.atomic ? { [extension('map-type')]: 'atomic' } : {}),
        ...nullable,
      };
    case 'list':
      return {
        type: 'array',
        items: itemSchema(node.items, context, position),
        ...listExtensions(node, context, position),
        ...nullable,
      };
    case 'scalar':
      return {
        ...scalarSchema(node.scalar, context, isDocument),
        ...(node.listType === undefined ? {} : { [extension('list-type')]: node.listType }),
        ...nullable,
      };
    case 'any': {
      const type = isDocument ? undefined : (NAMED_BY_GO_TYPE[node.goType] ?? context.unionType(position.field));
      const $ref = type === undefined ? undefined : context.reference(type);
      return $ref === undefined ? { [extension('preserve-unknown-fields')]: true } : { $ref };
    }
  }
}

function itemSchema(node: SchemaNode, context: SchemaContext, position: NodePosition): OpenApiSchema {
  const zero = context.version === 2 || position.isDocument ? undefined : zeroValueOf(node);
  return withReference({
    ...nodeSchema(node, context, { ...position, isItem: true }),
    ...(zero === undefined ? {} : { default: zero }),
  });
}

function listExtensions(node: ListNode, { dialect }: SchemaContext, position: NodePosition): OpenApiSchema {
  const { extension } = dialect;
  const { isDocument, isItem } = position;
  const { listType, mapKeys, patchMergeKey, patchStrategy } = node;
  // `atomic` is stated only for lists that are fields of the API's own types.
  const isStated = (!isDocument && isItem !== true) || listType !== 'atomic';
  return {
    ...(isStated ? { [extension('list-type')]: listType } : {}),
    ...(listType === 'map' ? { [extension('list-map-keys')]: mapKeys } : {}),
    // Strategic merge is only for the API's own types.
    ...(isDocument || patchMergeKey === undefined ? {} : { [extension('patch-merge-key')]: patchMergeKey }),
    ...(isDocument || patchStrategy === undefined ? {} : { [extension('patch-strategy')]: patchStrategy }),
  };
}

const SCALARS: Readonly<Record<ScalarType, OpenApiSchema>> = {
  string: { type: 'string' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number', format: 'double' },
  boolean: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  quantity: { type: 'string' },
  intOrString: { type: 'string', format: 'int-or-string' },
  duration: { type: 'string' },
};

const NAMED_SCALARS: Readonly<Partial<Record<ScalarType, NamedType>>> = {
  time: 'Time',
  microTime: 'MicroTime',
  quantity: 'Quantity',
  intOrString: 'IntOrString',
};

const NAMED_BY_GO_TYPE: Readonly<Record<string, NamedType>> = {
  'runtime.RawExtension': 'RawExtension',
  'v1.FieldsV1': 'FieldsV1',
};

function scalarSchema(scalar: ScalarType, context: SchemaContext, isDocument: boolean): OpenApiSchema {
  const named = NAMED_SCALARS[scalar];
  if (named === undefined) return SCALARS[scalar];
  const $ref = isDocument ? undefined : context.reference(named);
  if ($ref !== undefined) return { $ref };
  // In documents these types are inline, with an extension that marks them.
  if (scalar === 'intOrString') return { [context.dialect.extension('int-or-string')]: true };
  return SCALARS[scalar];
}

function fieldDefault({ node, presence }: Field, isDocument: boolean): unknown {
  if (node.default !== undefined) return node.default;
  if (isDocument) return undefined;
  return presence === 'always' ? zeroValueOf(node) : undefined;
}

/** The zero value of a field that is always on the wire; undefined for types whose zero value is not a valid value. */
function zeroValueOf(node: SchemaNode): unknown {
  if (node.nullable === true) return undefined;
  if (node.type === 'object') return {};
  return node.type === 'scalar' && WITH_ZERO_VALUE.has(node.scalar) ? ZERO_VALUES[node.scalar] : undefined;
}

const WITH_ZERO_VALUE: ReadonlySet<ScalarType> = new Set(['string', 'int32', 'int64', 'number', 'boolean']);
