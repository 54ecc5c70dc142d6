/**
 * JSONSchemaProps, the schema language of CRDs, as on the wire. It is the only recursive type of the library.
 *
 * Four fields accept values of several types (`items`, `additionalProperties`, `additionalItems`, `dependencies`). The
 * reference server decodes them separately, without reporting unknown fields; so does
 * `crd/definition/normalize-schema.ts`.
 */
import { type Dialect, orchDialect } from '../meta/dialect.js';
import { getOrInsertComputed } from '../util/once.js';
import {
  anything,
  boolean,
  type Declaration,
  hint,
  int64,
  list,
  map,
  mapList,
  namedString,
  number,
  optional,
  pointer,
  type Shape,
  string,
  type Type,
  type,
} from './declare.js';
import { schemaInDialect } from './in-dialect.js';
import type { ObjectNode } from './schema-node.js';

interface ExternalDocumentation {
  description?: string;
  url?: string;
}

const externalDocumentation: Type = type('ExternalDocumentation', () => ({
  description: optional(string()),
  url: optional(string()),
}));

type FieldValueErrorReason = 'FieldValueDuplicate' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueRequired';

export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: FieldValueErrorReason;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}
export interface ValidationRuleInput extends ValidationRule {}

const validationRule: Type = type('ValidationRule', () => ({
  rule: string(),
  message: optional(string()),
  messageExpression: optional(string()),
  reason: pointer(namedString('v1.FieldValueErrorReason')),
  fieldPath: optional(string()),
  optionalOldSelf: pointer(boolean()),
}));

/** A JSON schema. Extensions have the names of the cluster's dialect. */
export interface JSONSchemaProps {
  id?: string;
  $schema?: string;
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  title?: string;
  default?: unknown;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  multipleOf?: number;
  enum?: unknown[];
  maxProperties?: number;
  minProperties?: number;
  required?: string[];
  items?: JSONSchemaProps | JSONSchemaProps[];
  allOf?: JSONSchemaProps[];
  oneOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  not?: JSONSchemaProps;
  properties?: Record<string, JSONSchemaProps>;
  additionalProperties?: JSONSchemaProps | boolean;
  patternProperties?: Record<string, JSONSchemaProps>;
  dependencies?: Record<string, JSONSchemaProps | string[]>;
  additionalItems?: JSONSchemaProps | boolean;
  definitions?: Record<string, JSONSchemaProps>;
  externalDocs?: ExternalDocumentation;
  example?: unknown;
  nullable?: boolean;
  /** `list-type`, `validations` etc. with the prefix of the dialect. */
  [extension: `x-${string}`]: unknown;
}

/** The extensions in wire order, without their prefix. */
const EXTENSIONS = {
  'preserve-unknown-fields': () => pointer(boolean()),
  'embedded-resource': () => optional(boolean()),
  'int-or-string': () => optional(boolean()),
  'list-map-keys': () => optional(list(string())),
  'list-type': () => pointer(string()),
  'map-type': () => pointer(string()),
  validations: () => optional(hint(mapList(validationRule(), 'rule'), { goType: 'v1.ValidationRules' })),
} as const;

/** Names of extensions, without prefix. */
export type ExtensionName = keyof typeof EXTENSIONS;
/** All extensions, in wire order. */
export const extensionNames = Object.keys(EXTENSIONS) as ExtensionName[];

/** Any JSON value, stored as it is. */
const json = () => pointer(anything());
const schemas = (): Declaration => optional(list(jsonSchemaProps()));
const schemasByName = (): Declaration => optional(map(jsonSchemaProps()));

const jsonSchemaPropsShape = (): Shape => ({
  id: optional(string()),
  $schema: optional(namedString('v1.JSONSchemaURL')),
  $ref: pointer(string()),
  description: optional(string()),
  type: optional(string()),
  format: optional(string()),
  title: optional(string()),
  default: json(),
  maximum: pointer(number()),
  exclusiveMaximum: optional(boolean()),
  minimum: pointer(number()),
  exclusiveMinimum: optional(boolean()),
  maxLength: pointer(int64()),
  minLength: pointer(int64()),
  pattern: optional(string()),
  maxItems: pointer(int64()),
  minItems: pointer(int64()),
  uniqueItems: optional(boolean()),
  multipleOf: pointer(number()),
  enum: optional(hint(list(anything()), { goType: '[]v1.JSON' })),
  maxProperties: pointer(int64()),
  minProperties: pointer(int64()),
  required: optional(list(string())),
  items: json(),
  allOf: schemas(),
  oneOf: schemas(),
  anyOf: schemas(),
  not: pointer(jsonSchemaProps()),
  properties: schemasByName(),
  additionalProperties: json(),
  patternProperties: schemasByName(),
  // Rejected even if empty, so it must stay on the wire.
  dependencies: pointer(hint(map(anything()), { goType: 'v1.JSONSchemaDependencies' })),
  additionalItems: json(),
  definitions: optional(hint(map(jsonSchemaProps()), { goType: 'v1.JSONSchemaDefinitions' })),
  externalDocs: pointer(externalDocumentation()),
  example: json(),
  nullable: optional(boolean()),
  ...Object.fromEntries(extensionNames.map((name) => [orchDialect.extension(name), EXTENSIONS[name]()])),
});

/** The type JSONSchemaProps in the library's own dialect. */
export const jsonSchemaProps: Type = type('JSONSchemaProps', jsonSchemaPropsShape);

const nodesByDialect = new Map<string, ObjectNode>();

/** The schema node of JSONSchemaProps in a dialect. */
export function jsonSchemaNode(dialect: Dialect): ObjectNode {
  return getOrInsertComputed(nodesByDialect, dialect.name, () =>
    schemaInDialect(jsonSchemaProps().node as ObjectNode, dialect),
  );
}
