/**
 * A schema as rules look at it: extensions under names that do not depend on a dialect, properties in a map whose
 * keys are nobody's prototype, absent lists as empty ones.
 */
import type { Dialect } from '../meta/dialect.js';
import type { JSONSchemaProps, ValidationRule } from '../schema/json-schema.js';
import { isRecord } from '../util/json.js';

export interface SchemaView {
  /** As it stands on the wire. */
  readonly raw: JSONSchemaProps;
  readonly type: string;
  readonly items?: SchemaView;
  /** Where a list of schemas stands, which custom kinds do not support. */
  readonly itemList: readonly SchemaView[];
  readonly properties: ReadonlyMap<string, SchemaView>;
  /** `true` or `false` where no schema is given. */
  readonly additionalProperties?: SchemaView | boolean;
  readonly allOf: readonly SchemaView[];
  readonly anyOf: readonly SchemaView[];
  readonly oneOf: readonly SchemaView[];
  readonly not?: SchemaView;
  readonly definitions: ReadonlyMap<string, SchemaView>;
  readonly preserveUnknownFields: boolean | undefined;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listMapKeys: readonly string[];
  readonly listType: string | undefined;
  readonly mapType: string | undefined;
  readonly validations: readonly ValidationRule[];
}

export function schemaView(raw: JSONSchemaProps, dialect: Dialect): SchemaView {
  const extension = (name: string) => raw[dialect.extension(name) as `x-${string}`];
  const view = (schema: JSONSchemaProps) => schemaView(schema, dialect);
  const byName = (schemas: Record<string, JSONSchemaProps> = {}) =>
    new Map(Object.keys(schemas).map((name) => [name, view(schemas[name] as JSONSchemaProps)]));
  const { items, additionalProperties: additional, not } = raw;
  return {
    raw,
    type: raw.type ?? '',
    ...(isRecord(items) ? { items: view(items as JSONSchemaProps) } : {}),
    itemList: Array.isArray(items) ? items.map(view) : [],
    properties: byName(raw.properties),
    ...(additional === undefined
      ? {}
      : { additionalProperties: typeof additional === 'boolean' ? additional : view(additional) }),
    allOf: (raw.allOf ?? []).map(view),
    anyOf: (raw.anyOf ?? []).map(view),
    oneOf: (raw.oneOf ?? []).map(view),
    ...(not === undefined ? {} : { not: view(not) }),
    definitions: byName(raw.definitions),
    preserveUnknownFields: extension('preserve-unknown-fields') as boolean | undefined,
    embeddedResource: extension('embedded-resource') === true,
    intOrString: extension('int-or-string') === true,
    listMapKeys: (extension('list-map-keys') as string[] | undefined) ?? [],
    listType: extension('list-type') as string | undefined,
    mapType: extension('map-type') as string | undefined,
    validations: (extension('validations') as ValidationRule[] | undefined) ?? [],
  };
}

/** The schema of further properties, where there is one. */
export function additionalSchema({ additionalProperties: additional }: SchemaView): SchemaView | undefined {
  return typeof additional === 'object' ? additional : undefined;
}
