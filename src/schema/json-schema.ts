/**
 * JSONSchemaProps, the schema language of CRDs, as on the wire. It is the only recursive type of the library.
 *
 * Four fields accept values of several types (`items`, `additionalProperties`, `additionalItems`, `dependencies`). The
 * reference server decodes them separately, without reporting unknown fields.
 */
import { orchDialect } from '../meta/dialect.js';
import { cloneJson, isRecord, withSortedKeys } from '../util/json.js';
import {
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
  selfDecoding,
  string,
  type Type,
  type,
} from './declare.js';
import { decodeInside } from './decode.js';
import { DecodeError, typeError } from './decode-scalar.js';
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

/** Any JSON value, stored with sorted keys. */
const json = (): Declaration => selfDecoding((value, depth) => withSortedKeys(cloneJson(value, depth)));

/** A value that is a schema or of another type, which `decodeOther` decodes. */
function schemaOr(decodeOther: (value: unknown, decodeSchema: (value: unknown) => unknown) => unknown): Declaration {
  return selfDecoding((value, depth, schema) => {
    const decodeSchema = (one: unknown) => decodeInside(schema as ObjectNode, one, depth);
    return isRecord(value) ? decodeSchema(value) : decodeOther(value, decodeSchema);
  }, jsonSchemaProps());
}

const schemaOrBoolean = (): Declaration =>
  schemaOr((value) => {
    if (typeof value !== 'boolean') throw new DecodeError('boolean or JSON schema expected');
    return value;
  });

/** Any other value counts as an empty one, which is not on the wire. */
const schemaOrSchemas = (): Declaration =>
  schemaOr((value, decodeSchema) =>
    Array.isArray(value) && value.length > 0 ? value.map((item: unknown) => decodeSchema(item ?? {})) : undefined,
  );

/** Any other value counts as null. */
const schemaOrNames = (): Declaration =>
  schemaOr((value) => {
    if (!Array.isArray(value)) return null;
    return value.map((item: unknown) => {
      if (typeof item !== 'string' && item !== null) throw typeError(item, undefined, 'string');
      return item ?? '';
    });
  });

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
  default: pointer(json()),
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
  enum: optional(hint(list(json()), { goType: '[]v1.JSON' })),
  maxProperties: pointer(int64()),
  minProperties: pointer(int64()),
  required: optional(list(string())),
  items: pointer(schemaOrSchemas()),
  allOf: schemas(),
  oneOf: schemas(),
  anyOf: schemas(),
  not: pointer(jsonSchemaProps()),
  properties: schemasByName(),
  additionalProperties: pointer(schemaOrBoolean()),
  patternProperties: schemasByName(),
  // Rejected even if empty, so it must stay on the wire.
  dependencies: pointer(hint(map(schemaOrNames()), { goType: 'v1.JSONSchemaDependencies' })),
  additionalItems: pointer(schemaOrBoolean()),
  definitions: optional(hint(map(jsonSchemaProps()), { goType: 'v1.JSONSchemaDefinitions' })),
  externalDocs: pointer(externalDocumentation()),
  example: pointer(json()),
  nullable: optional(boolean()),
  ...Object.fromEntries(extensionNames.map((name) => [orchDialect.extension(name), EXTENSIONS[name]()])),
});

/** The type JSONSchemaProps in the library's own dialect. */
export const jsonSchemaProps: Type = type('JSONSchemaProps', jsonSchemaPropsShape);
