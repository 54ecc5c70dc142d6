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
import { type ExtensionName, extensionNames, type JSONSchemaProps } from '../../schema/json-schema.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import type { OpenApiSchema } from '../../schema/to-openapi.js';
import { objectSchema } from '../../schema/to-openapi.js';
import { deepEqual, type MutableRecord, own } from '../../util/json.js';
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

const HEAD_KEYWORDS = ['$ref', ...ANNOTATIONS] as const;
const V3_KEYWORDS = ['default', 'nullable'] as const;
const MEMBER_KEYWORDS = ['required', 'items', 'properties', 'additionalProperties'] as const;

/** Runs for each of the hundred thousands of nodes of a thousand CRDs, so it builds one object and no lists. */
function nodeSchema(schema: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  const written: MutableRecord = {};
  copyEffective(schema, HEAD_KEYWORDS, written);
  const type = typeOf(schema, context);
  if (isEffective(type, 'type')) written['type'] = type;
  copyEffective(schema, RESTRICTIONS, written);
  if (context.version === 3) {
    copyEffective(schema, V3_KEYWORDS, written);
    writeCombinators(schema, context, written);
  }
  copyEffective(membersOf(schema, context), MEMBER_KEYWORDS, written);
  copyEffective(schema, extensionsIn(context.dialect), written);
  return written;
}

/** Copies the keywords that have an effect: absent, empty and false values are omitted. */
function copyEffective(schema: object, keys: readonly string[], written: MutableRecord): void {
  for (const key of keys) {
    const value = (schema as OpenApiSchema)[key];
    if (isEffective(value, key)) written[key] = value;
  }
}

function isEffective(value: unknown, key: string): boolean {
  if (value === undefined || value === null) return false;
  // An empty or false default still is a default.
  if (key === 'default' || key === 'additionalProperties') return true;
  return value !== '' && value !== false && !(Array.isArray(value) && value.length === 0);
}

const namesByDialect = new WeakMap<Dialect, readonly string[]>();

function extensionsIn(dialect: Dialect): readonly string[] {
  let names = namesByDialect.get(dialect);
  if (names === undefined) {
    names = extensionNames.map(dialect.extension);
    namesByDialect.set(dialect, names);
  }
  return names;
}

function hasExtension(schema: JSONSchemaProps, name: ExtensionName, { dialect }: CustomContext): boolean {
  return schema[extensionsIn(dialect)[extensionNames.indexOf(name)] as `x-${string}`] === true;
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

/** Writes the keywords allOf, anyOf, oneOf and not; version 2 omits them. */
function writeCombinators(schema: JSONSchemaProps, context: CustomContext, written: MutableRecord): void {
  if (context.version === 2) return;
  const { not, oneOf = [] } = schema;
  let { allOf = [], anyOf = [] } = schema;
  const isListed = () => deepEqual(anyOf, INT_OR_STRING) || deepEqual(allOf[0]?.anyOf, INT_OR_STRING);
  if (hasExtension(schema, 'int-or-string', context) && !isListed()) {
    // For clients that do not support the extension.
    if (anyOf.length === 0) anyOf = [...INT_OR_STRING];
    else allOf = [{ anyOf: [...INT_OR_STRING] }, ...allOf];
  }
  const each = (parts: readonly JSONSchemaProps[]) => parts.map((part) => restrictionSchema(part, context));
  if (allOf.length > 0) written['allOf'] = each(allOf);
  if (anyOf.length > 0) written['anyOf'] = each(anyOf);
  if (oneOf.length > 0) written['oneOf'] = each(oneOf);
  if (not !== undefined) written['not'] = restrictionSchema(not, context);
}

const RESTRICTION_KEYWORDS = [...HEAD_KEYWORDS, 'type', ...RESTRICTIONS, ...V3_KEYWORDS, 'required'] as const;

/** A schema inside a combinator. It restricts a value whose structure is defined outside of the combinator. */
function restrictionSchema(part: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  const { items, properties } = part;
  const fields = Object.entries(properties ?? {}).map(
    ([name, field]) => [name, restrictionSchema(field, context)] as const,
  );
  const written: MutableRecord = {};
  copyEffective(part, RESTRICTION_KEYWORDS, written);
  writeCombinators(part, context, written);
  if (items !== undefined && !Array.isArray(items)) written['items'] = restrictionSchema(items, context);
  if (fields.length > 0) written['properties'] = sortedProperties(fields);
  copyEffective(part, extensionsIn(context.dialect), written);
  return written;
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
