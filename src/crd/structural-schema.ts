/**
 * A normalized, read-only view of a JSON schema: extensions have dialect-independent names, properties are a map (safe
 * for names such as `__proto__`), and absent lists are empty lists.
 */
import type { Dialect } from '../meta/dialect.js';
import type { JSONSchemaProps, ValidationRule } from '../schema/json-schema.js';
import { isRecord } from '../util/json.js';

/**
 * A normalized JSON schema node. Despite its name, which is upstream's, the schema need not be structural: it may still have
 * to pass `structureErrors`, when a CRD is written.
 */
export interface StructuralSchema {
  /** The schema as on the wire. */
  readonly raw: JSONSchemaProps;
  readonly type: string;
  readonly items?: StructuralSchema;
  /** Set if `items` is a list of schemas, which CRDs do not support. */
  readonly itemList: readonly StructuralSchema[];
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  /** A boolean if `additionalProperties` is not a schema. */
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly allOf: readonly StructuralSchema[];
  readonly anyOf: readonly StructuralSchema[];
  readonly oneOf: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
  readonly definitions: ReadonlyMap<string, StructuralSchema>;
  readonly patternProperties: ReadonlyMap<string, StructuralSchema>;
  /** Only those that are schemas. */
  readonly dependencies: ReadonlyMap<string, StructuralSchema>;
  readonly preserveUnknownFields: boolean | undefined;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listMapKeys: readonly string[];
  readonly listType: string | undefined;
  readonly mapType: string | undefined;
  readonly validations: readonly ValidationRule[];
}

/** Shared by all nodes without the keyword: most nodes have none of them, and a CRD has thousands of nodes. */
const NO_SCHEMAS: readonly StructuralSchema[] = Object.freeze([]);
const NO_NAMED_SCHEMAS: ReadonlyMap<string, StructuralSchema> = new Map();
const NO_KEYS: readonly string[] = Object.freeze([]);
const NO_RULES: readonly ValidationRule[] = Object.freeze([]);

/** Creates the view of a schema and of all schemas inside it. */
export function structuralSchemaOf(raw: JSONSchemaProps, dialect: Dialect): StructuralSchema {
  const extension = (name: string) => raw[dialect.extension(name) as `x-${string}`];
  const view = (schema: JSONSchemaProps) => structuralSchemaOf(schema, dialect);
  const each = (schemas: readonly JSONSchemaProps[] | undefined) =>
    schemas === undefined || schemas.length === 0 ? NO_SCHEMAS : schemas.map(view);
  const byName = (schemas: Readonly<Record<string, unknown>> | undefined) => {
    if (schemas === undefined) return NO_NAMED_SCHEMAS;
    const names = Object.keys(schemas).filter((name) => isRecord(schemas[name]));
    return new Map(names.map((name) => [name, view(schemas[name] as JSONSchemaProps)]));
  };
  const { items, additionalProperties: additional, not } = raw;
  return {
    raw,
    type: raw.type ?? '',
    ...(isRecord(items) ? { items: view(items as JSONSchemaProps) } : {}),
    itemList: Array.isArray(items) ? each(items) : NO_SCHEMAS,
    properties: byName(raw.properties),
    ...(additional === undefined
      ? {}
      : { additionalProperties: typeof additional === 'boolean' ? additional : view(additional) }),
    allOf: each(raw.allOf),
    anyOf: each(raw.anyOf),
    oneOf: each(raw.oneOf),
    ...(not === undefined ? {} : { not: view(not) }),
    definitions: byName(raw.definitions),
    patternProperties: byName(raw.patternProperties),
    dependencies: byName(raw.dependencies),
    preserveUnknownFields: extension('preserve-unknown-fields') as boolean | undefined,
    embeddedResource: extension('embedded-resource') === true,
    intOrString: extension('int-or-string') === true,
    listMapKeys: (extension('list-map-keys') as string[] | undefined) ?? NO_KEYS,
    listType: extension('list-type') as string | undefined,
    mapType: extension('map-type') as string | undefined,
    validations: (extension('validations') as ValidationRule[] | undefined) ?? NO_RULES,
  };
}

/** The schema of `additionalProperties`, if it is a schema. */
export function additionalSchema({ additionalProperties: additional }: StructuralSchema): StructuralSchema | undefined {
  return typeof additional === 'object' ? additional : undefined;
}

/** All schemas directly inside a schema. */
export function innerSchemas(schema: StructuralSchema): readonly StructuralSchema[] {
  const { allOf, anyOf, oneOf, not, itemList, definitions } = schema;
  const combined = [...allOf, ...anyOf, ...oneOf, ...(not === undefined ? [] : [not])];
  return [...memberSchemas(schema), ...combined, ...itemList, ...definitions.values()];
}

/** The schemas of fields, map values and list items: those that declare the structure of a value. */
export function memberSchemas(schema: StructuralSchema): readonly StructuralSchema[] {
  const members = [schema.items, ...schema.properties.values(), additionalSchema(schema)];
  return members.filter((inner) => inner !== undefined);
}
