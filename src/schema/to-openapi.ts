/**
 * The structural form → schemas of OpenAPI, version 2 or 3. It writes one type at a time: what other types are called
 * and what is said about fields is for the caller to answer, so nothing here knows a kind or a group.
 *
 * The two versions differ in what may stand beside a reference and in what is said of values: version 3 states
 * defaults (those of the schema, and the zero value of every field that is always on the wire), version 2 none.
 */
import type { Dialect } from '../meta/dialect.js';
import type { Field, ListNode, ObjectNode, ScalarType, Structural } from './structural.js';

/** A JSON value; schemas are data. */
export interface OpenApiSchema {
  readonly [key: string]: unknown;
}

/** Types without fields that are published under a name of their own. */
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

/** What a schema must ask its surroundings. */
export interface SchemaContext {
  readonly version: 2 | 3;
  readonly dialect: Dialect;
  /** A reference to the definition of a type with a name; undefined: it is written out in its place. */
  reference(type: ObjectNode | NamedType): string | undefined;
  /** The name of what a field of the type at hand may hold in more than one form, if it has one. */
  formless(field: string): NamedType | undefined;
  /** What a field of the type at hand is for. */
  describe(field: string): string | undefined;
}

/** A type with fields, as a definition. */
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

/** The form of a type that has a name but no fields. */
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
      // Whatever stands there is of more than one form.
      return {};
  }
}

function fieldSchema(field: Field, owner: ObjectNode, context: SchemaContext): OpenApiSchema {
  const isDocument = owner.manner === 'document';
  const description = context.describe(field.name);
  const fallback = context.version === 2 ? undefined : fieldDefault(field, isDocument);
  return withReference({
    ...nodeSchema(field.node, context, { field: field.name, isDocument }),
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  });
}

/** Version 3 allows nothing beside a reference; one with company becomes a part of a whole. */
function withReference(schema: OpenApiSchema): OpenApiSchema {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== 'string' || $ref.startsWith('#/definitions/') || Object.keys(rest).length === 0) return schema;
  return { allOf: [{ $ref }], ...rest };
}

/** Where a node stands: of which field it is a part, and in which manner of object. */
interface Place {
  readonly field: string;
  readonly isDocument: boolean;
  /** Of a list or a map. */
  readonly isItem?: boolean;
}

function nodeSchema(node: Structural, context: SchemaContext, place: Place): OpenApiSchema {
  const { isDocument } = place;
  const { extension } = context.dialect;
  const nullable = isDocument && node.nullable === true && context.version === 3 ? { nullable: true } : {};
  switch (node.type) {
    case 'object': {
      const $ref = context.reference(node);
      // What is written out in its place is described by whoever defined it, not by the type around it.
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
        additionalProperties: itemSchema(node.values, context, place),
        ...(node.atomic ? { [extension('map-type')]: 'atomic' } : {}),
        ...nullable,
      };
    case 'list':
      return {
        type: 'array',
        items: itemSchema(node.items, context, place),
        ...listExtensions(node, context, place),
        ...nullable,
      };
    case 'scalar':
      return { ...scalarSchema(node.scalar, context, isDocument), ...nullable };
    case 'any': {
      const type = isDocument ? undefined : (NAMED_BY_GO_TYPE[node.goType] ?? context.formless(place.field));
      const $ref = type === undefined ? undefined : context.reference(type);
      return $ref === undefined ? { [extension('preserve-unknown-fields')]: true } : { $ref };
    }
  }
}

function itemSchema(node: Structural, context: SchemaContext, place: Place): OpenApiSchema {
  const zero = context.version === 2 || place.isDocument ? undefined : zeroOf(node);
  return withReference({
    ...nodeSchema(node, context, { ...place, isItem: true }),
    ...(zero === undefined ? {} : { default: zero }),
  });
}

function listExtensions(node: ListNode, { dialect }: SchemaContext, place: Place): OpenApiSchema {
  const { extension } = dialect;
  const { isDocument, isItem } = place;
  const { listType, mapKeys, patchMergeKey, patchStrategy } = node;
  // Users need not say what goes without saying, and of lists in other things nobody says it.
  const isSaid = (!isDocument && isItem !== true) || listType !== 'atomic';
  return {
    ...(isSaid ? { [extension('list-type')]: listType } : {}),
    ...(listType === 'map' ? { [extension('list-map-keys')]: mapKeys } : {}),
    // Strategic merge is for the service's own types.
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
  // A document writes them out, with the mark by which they are known.
  if (scalar === 'intOrString') return { [context.dialect.extension('int-or-string')]: true };
  return SCALARS[scalar];
}

function fieldDefault({ node, presence }: Field, isDocument: boolean): unknown {
  if (node.default !== undefined) return node.default;
  if (isDocument) return undefined;
  return presence === 'always' ? zeroOf(node) : undefined;
}

/** What a field that is always on the wire holds when nothing was given; of types whose zero is a value of theirs. */
function zeroOf(node: Structural): unknown {
  if (node.nullable === true) return undefined;
  if (node.type === 'object') return {};
  if (node.type !== 'scalar') return undefined;
  switch (node.scalar) {
    case 'string':
      return '';
    case 'int32':
    case 'int64':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return undefined;
  }
}
