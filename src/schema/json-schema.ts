/**
 * JSONSchemaProps, the schema language of CRDs, as on the wire. It is the only recursive type of the library.
 *
 * Four fields accept values of several types (`items`, `additionalProperties`, `additionalItems`, `dependencies`). The
 * reference server decodes them separately, without reporting unknown fields; so does
 * `crd/definition/normalize-schema.ts`.
 */
import * as z from 'zod';
import { type Dialect, orchDialect } from '../meta/dialect.js';
import { objectFromZod } from './from-zod.js';
import { enumString, hint, int64, mapList, namedString, optional, pointer } from './hints.js';
import { schemaInDialect } from './in-dialect.js';
import type { ObjectNode } from './schema-node.js';
import { type Input, type Output, once, type Type, type } from './type.js';

const externalDocumentationShape = () => ({ description: optional(z.string()), url: optional(z.string()) });
interface ExternalDocumentation extends Output<typeof externalDocumentationShape> {}
interface ExternalDocumentationInput extends Input<typeof externalDocumentationShape> {}
const externalDocumentation: Type<ExternalDocumentation, ExternalDocumentationInput> = type(
  'ExternalDocumentation',
  externalDocumentationShape,
);

type FieldValueErrorReason = 'FieldValueDuplicate' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueRequired';

const validationRuleShape = () => ({
  rule: z.string(),
  message: optional(z.string()),
  messageExpression: optional(z.string()),
  reason: pointer(enumString<FieldValueErrorReason>('v1.FieldValueErrorReason')),
  fieldPath: optional(z.string()),
  optionalOldSelf: pointer(z.boolean()),
});
export interface ValidationRule extends Output<typeof validationRuleShape> {}
export interface ValidationRuleInput extends Input<typeof validationRuleShape> {}
const validationRule: Type<ValidationRule, ValidationRuleInput> = type('ValidationRule', validationRuleShape);

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
  'preserve-unknown-fields': () => pointer(z.boolean()),
  'embedded-resource': () => optional(z.boolean()),
  'int-or-string': () => optional(z.boolean()),
  'list-map-keys': () => optional(z.array(z.string())),
  'list-type': () => pointer(z.string()),
  'map-type': () => pointer(z.string()),
  validations: () => optional(hint(mapList(validationRule(), 'rule'), { goType: 'v1.ValidationRules' })),
} as const;

/** Names of extensions, without prefix. */
export type ExtensionName = keyof typeof EXTENSIONS;
/** All extensions, in wire order. */
export const extensionNames = Object.keys(EXTENSIONS) as ExtensionName[];

/** Any JSON value, stored as it is. */
const json = () => pointer(z.unknown());
const schemas = () => optional(z.array(jsonSchemaProps()));
const schemasByName = () => optional(z.record(z.string(), jsonSchemaProps()));

const jsonSchemaPropsShape = (): z.ZodRawShape => {
  const shape = {
    id: optional(z.string()),
    $schema: optional(namedString('v1.JSONSchemaURL')),
    $ref: pointer(z.string()),
    description: optional(z.string()),
    type: optional(z.string()),
    format: optional(z.string()),
    title: optional(z.string()),
    default: json(),
    maximum: pointer(z.number()),
    exclusiveMaximum: optional(z.boolean()),
    minimum: pointer(z.number()),
    exclusiveMinimum: optional(z.boolean()),
    maxLength: pointer(int64()),
    minLength: pointer(int64()),
    pattern: optional(z.string()),
    maxItems: pointer(int64()),
    minItems: pointer(int64()),
    uniqueItems: optional(z.boolean()),
    multipleOf: pointer(z.number()),
    enum: optional(hint(z.array(z.unknown()), { goType: '[]v1.JSON' })),
    maxProperties: pointer(int64()),
    minProperties: pointer(int64()),
    required: optional(z.array(z.string())),
    items: json(),
    // Getters, because the schema refers to itself while it is being created.
    get allOf(): z.ZodType {
      return schemas();
    },
    get oneOf(): z.ZodType {
      return schemas();
    },
    get anyOf(): z.ZodType {
      return schemas();
    },
    get not(): z.ZodType {
      return pointer(jsonSchemaProps());
    },
    get properties(): z.ZodType {
      return schemasByName();
    },
    additionalProperties: json(),
    get patternProperties(): z.ZodType {
      return schemasByName();
    },
    // Rejected even if empty, so it must stay on the wire.
    dependencies: pointer(hint(z.record(z.string(), z.unknown()), { goType: 'v1.JSONSchemaDependencies' })),
    additionalItems: json(),
    get definitions(): z.ZodType {
      return optional(hint(z.record(z.string(), jsonSchemaProps()), { goType: 'v1.JSONSchemaDefinitions' }));
    },
    externalDocs: pointer(externalDocumentation()),
    example: json(),
    nullable: optional(z.boolean()),
  };
  for (const name of extensionNames) {
    Object.defineProperty(shape, orchDialect.extension(name), { value: EXTENSIONS[name](), enumerable: true });
  }
  return shape;
};

/** The zod schema of JSONSchemaProps. */
export const jsonSchemaProps: Type<JSONSchemaProps> = type('JSONSchemaProps', jsonSchemaPropsShape);

const canonicalNode = once(() => objectFromZod(jsonSchemaProps()));
const nodesByDialect = new Map<string, ObjectNode>();

/** The structural schema of JSONSchemaProps in a dialect. */
export function jsonSchemaNode(dialect: Dialect): ObjectNode {
  let node = nodesByDialect.get(dialect.name);
  if (node === undefined) {
    node = schemaInDialect(canonicalNode(), dialect);
    nodesByDialect.set(dialect.name, node);
  }
  return node;
}
