/**
 * The published schemas of custom resources and of user-defined kinds, with the common fields (apiVersion, kind,
 * metadata) added.
 *
 * Version 3 publishes the schema as it is. Version 2 cannot express null or combinators (anyOf, …), and its clients
 * reject fields that are not listed. So where a value may be null or may have unknown fields, the schema omits details.
 */

import type * as z from 'zod';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import type { OpenApiSchema } from '../../schema/to-openapi.js';
import { objectSchema } from '../../schema/to-openapi.js';
import { deepEqual, own } from '../../util/json.js';
import { sortedRecord } from '../../util/order.js';

/** What the schema builder needs from the document. */
export interface CustomContext {
  readonly version: 2 | 3;
  readonly dialect: Dialect;
  /** The schema of a field that every object has: `apiVersion`, `kind`, `metadata`. */
  common(field: CommonField): OpenApiSchema;
}

const COMMON_FIELDS = ['apiVersion', 'kind', 'metadata'] as const;
export type CommonField = (typeof COMMON_FIELDS)[number];

/** The published schema of a custom resource. */
export function customSchema(schema: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  // Clients of version 2 would reject all fields that are not listed.
  if (context.version === 2 && preservesUnknownFields(schema, context)) return { type: 'object' };
  const written = nodeSchema(schema, context);
  return { ...written, properties: withCommonFields(written['properties'], context) };
}

type Properties = Readonly<Record<string, OpenApiSchema>>;

function withCommonFields(properties: unknown, { common }: CustomContext): Properties {
  const fields = COMMON_FIELDS.map((field) => [field, common(field)] as const);
  return sortedProperties([...Object.entries((properties ?? {}) as Properties), ...fields]);
}

/** Sorted by name; of two entries with the same name the later one wins. */
function sortedProperties(entries: readonly (readonly [string, OpenApiSchema])[]): Properties {
  return sortedRecord(new Map(entries));
}

export const ANNOTATIONS = ['description', 'title'] as const;

/** Restrictions that both versions publish unchanged. */
export const RESTRICTIONS = [
  'format',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
] as const;

const EXTENSIONS = [
  'preserve-unknown-fields',
  'embedded-resource',
  'int-or-string',
  'list-map-keys',
  'list-type',
  'map-type',
  'validations',
] as const;

function nodeSchema(schema: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  const members = membersOf(schema, context);
  return {
    ...pickEffective(schema, ['$ref', ...ANNOTATIONS]),
    ...pickEffective({ type: typeOf(schema, context) }, ['type']),
    ...pickEffective(schema, RESTRICTIONS),
    ...(context.version === 3 ? pickEffective(schema, ['default', 'nullable']) : {}),
    ...combinators(schema, context),
    ...pickEffective(members, ['required', 'items', 'properties', 'additionalProperties']),
    ...pickEffective(schema, extensionNames(context.dialect)),
  };
}

/** The keywords that have an effect: absent, empty and false values are omitted. */
function pickEffective(schema: object, keys: readonly string[]): OpenApiSchema {
  const entries = keys.map((key) => [key, (schema as OpenApiSchema)[key]] as const);
  return Object.fromEntries(entries.filter(([key, value]) => isEffective(value, key)));
}

function isEffective(value: unknown, key: string): boolean {
  if (value === undefined || value === null) return false;
  // An empty or false default still is a default.
  if (key === 'default' || key === 'additionalProperties') return true;
  return value !== '' && value !== false && !(Array.isArray(value) && value.length === 0);
}

function extensionNames({ extension }: Dialect): readonly string[] {
  return EXTENSIONS.map(extension);
}

function hasExtension(schema: JSONSchemaProps, name: (typeof EXTENSIONS)[number], { dialect }: CustomContext): boolean {
  return schema[dialect.extension(name) as `x-${string}`] === true;
}

function preservesUnknownFields(schema: JSONSchemaProps, context: CustomContext): boolean {
  return hasExtension(schema, 'preserve-unknown-fields', context);
}

/** Whether version 2 must omit the fields or items of a value. */
function omitsMembers(schema: JSONSchemaProps, context: CustomContext): boolean {
  return context.version === 2 && (schema.nullable === true || preservesUnknownFields(schema, context));
}

function typeOf(schema: JSONSchemaProps, context: CustomContext): string | undefined {
  const { type } = schema;
  if (context.version === 3) return type;
  if (schema.nullable === true) return undefined;
  // Version 2 requires `items` for an array.
  if (type === 'array') return omitsMembers(schema, context) || schema.items === undefined ? undefined : type;
  return type === 'object' && preservesUnknownFields(schema, context) ? undefined : type;
}

interface Members {
  readonly required: readonly string[];
  readonly items?: OpenApiSchema;
  readonly properties?: Properties;
  readonly additionalProperties?: OpenApiSchema | boolean;
}

function membersOf(schema: JSONSchemaProps, context: CustomContext): Members {
  const { items, additionalProperties: others } = schema;
  const omitted = omitsMembers(schema, context);
  const properties = omitted ? {} : (schema.properties ?? {});
  const written = Object.entries(properties).map(([name, field]) => [name, nodeSchema(field, context)] as const);
  const members: Members = {
    required: requiredOf(schema, properties, context),
    ...(items === undefined || Array.isArray(items) || omitted ? {} : { items: nodeSchema(items, context) }),
    ...(written.length === 0 ? {} : { properties: sortedProperties(written) }),
    ...(others === undefined
      ? {}
      : { additionalProperties: typeof others === 'boolean' ? others : nodeSchema(others, context) }),
  };
  const isEmbeddedResource = hasExtension(schema, 'embedded-resource', context);
  if (!isEmbeddedResource || (context.version === 2 && preservesUnknownFields(schema, context))) return members;
  const missing = ['kind', 'apiVersion'].filter((name) => !members.required.includes(name));
  return {
    ...members,
    required: [...members.required, ...missing],
    properties: withCommonFields(members.properties, context),
  };
}

/** Version 2 does not require nullable fields, because its clients treat null as absent. */
function requiredOf(
  { required = [], additionalProperties: others }: JSONSchemaProps,
  properties: Readonly<Record<string, JSONSchemaProps>>,
  { version }: CustomContext,
): readonly string[] {
  if (version === 3) return required;
  if (typeof others === 'object' && others.nullable === true) return [];
  return required.filter((name) => !Object.hasOwn(properties, name) || properties[name]?.nullable !== true);
}

const INT_OR_STRING: readonly JSONSchemaProps[] = [{ type: 'integer' }, { type: 'string' }];

/** The keywords allOf, anyOf, oneOf and not; version 2 omits them. */
function combinators(schema: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  if (context.version === 2) return {};
  const { not, oneOf = [] } = schema;
  let { allOf = [], anyOf = [] } = schema;
  const isListed = deepEqual(anyOf, INT_OR_STRING) || deepEqual(allOf[0]?.anyOf, INT_OR_STRING);
  if (hasExtension(schema, 'int-or-string', context) && !isListed) {
    // For clients that do not support the extension.
    if (anyOf.length === 0) anyOf = [...INT_OR_STRING];
    else allOf = [{ anyOf: [...INT_OR_STRING] }, ...allOf];
  }
  const each = (parts: readonly JSONSchemaProps[]) => parts.map((part) => restrictionSchema(part, context));
  const found = { allOf: each(allOf), anyOf: each(anyOf), oneOf: each(oneOf) };
  return {
    ...pickEffective(found, Object.keys(found)),
    ...(not === undefined ? {} : { not: restrictionSchema(not, context) }),
  };
}

/** A schema inside a combinator. It restricts a value whose structure is defined outside of the combinator. */
function restrictionSchema(part: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  const { items, properties } = part;
  const fields = Object.entries(properties ?? {}).map(
    ([name, field]) => [name, restrictionSchema(field, context)] as const,
  );
  return {
    ...pickEffective(part, ['$ref', ...ANNOTATIONS, 'type', ...RESTRICTIONS, 'default', 'nullable', 'required']),
    ...combinators(part, context),
    ...(items === undefined || Array.isArray(items) ? {} : { items: restrictionSchema(items, context) }),
    ...(fields.length === 0 ? {} : { properties: sortedProperties(fields) }),
    ...pickEffective(part, extensionNames(context.dialect)),
  };
}

/**
 * The schema of a user-defined kind: the structure from its schema node, annotations and restrictions from zod.
 * `reference` resolves built-in types that the kind uses.
 */
export function userDefinedKindSchema(
  { kind, schema, dialect }: ServedKind,
  reference: (type: ObjectNode) => string | undefined,
): JSONSchemaProps {
  const structural = objectSchema(schema, {
    version: 3,
    dialect,
    reference: (type) => (typeof type === 'string' ? undefined : reference(type)),
    unionType: () => undefined,
    describe: () => undefined,
  });
  const properties: Record<string, JSONSchemaProps> = {};
  for (const [field, type] of Object.entries(kind.body ?? {})) {
    properties[field] = (type as z.ZodType).toJSONSchema(JSON_SCHEMA_OPTIONS) as JSONSchemaProps;
  }
  return withAnnotations(structural as JSONSchemaProps, { type: 'object', properties });
}

/** zod reads only `get`. Ids are omitted: a schema with an id would otherwise become a reference. */
const metadataWithoutIds = {
  get(schema: z.ZodType): Omit<z.GlobalMeta, 'id'> {
    const { id: _, ...metadata } = schema.meta() ?? {};
    return metadata;
  },
} as unknown as z.core.$ZodRegistry<Record<string, unknown>>;

const JSON_SCHEMA_OPTIONS = {
  target: 'openapi-3.0',
  io: 'input',
  unrepresentable: 'any',
  metadata: metadataWithoutIds,
} as const;

/** The bounds that zod adds to every integer. */
const INTEGER_BOUNDS: readonly unknown[] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31 - 1, -(2 ** 31)];

function withAnnotations(structural: JSONSchemaProps, annotated: JSONSchemaProps): JSONSchemaProps {
  const made: JSONSchemaProps = { ...structural, ...pickDefined(annotated, ANNOTATIONS) };
  if (annotated.enum !== undefined && typeof annotated.type === 'string') {
    // The schema node has no enums.
    Object.assign(made, { type: annotated.type, enum: annotated.enum });
  } else if (structural.type === annotated.type) {
    Object.assign(made, restrictionsOf(structural, annotated));
  }
  const { items, properties, additionalProperties: others } = structural;
  if (isSchema(items) && isSchema(annotated.items)) made.items = withAnnotations(items, annotated.items);
  if (isSchema(others) && isSchema(annotated.additionalProperties)) {
    made.additionalProperties = withAnnotations(others, annotated.additionalProperties);
  }
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => {
      const annotatedField = own(annotated.properties ?? {}, name);
      return [name, annotatedField === undefined ? field : withAnnotations(field, annotatedField)];
    });
    made.properties = Object.fromEntries(fields);
  }
  return made;
}

function isSchema(value: JSONSchemaProps | JSONSchemaProps[] | boolean | undefined): value is JSONSchemaProps {
  return typeof value === 'object' && !Array.isArray(value);
}

function restrictionsOf(structural: JSONSchemaProps, annotated: JSONSchemaProps): JSONSchemaProps {
  const { maximum, minimum, format, pattern, ...others } = pickDefined(annotated, RESTRICTIONS);
  return {
    ...others,
    ...(INTEGER_BOUNDS.includes(maximum) ? {} : { maximum }),
    ...(INTEGER_BOUNDS.includes(minimum) ? {} : { minimum }),
    format: structural.format ?? format,
    // zod derives a pattern from the format; it would be redundant.
    ...(format === undefined ? { pattern, allOf: annotated.allOf } : {}),
  } as JSONSchemaProps;
}

function pickDefined(schema: JSONSchemaProps, keys: readonly (keyof JSONSchemaProps)[]): JSONSchemaProps {
  return Object.fromEntries(keys.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])));
}
