/**
 * The published form of a custom kind: its own schema, with what every object has put in its place.
 *
 * Version 3 says what the definition says. Version 2 has no words for null and for alternatives, and its readers take the
 * fields that are named for all that there are: where something else may stand, they are told less, or nothing.
 */

import type { Dialect } from '../../meta/dialect.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import type { OpenApiSchema } from '../../schema/to-openapi.js';
import { deepEqual } from '../../util/json.js';
import { sortedRecord } from '../../util/order.js';
import * as z from 'zod';
import { $ZodRegistry } from 'zod/v4/core';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ObjectNode } from '../../schema/structural.js';
import { objectSchema } from '../../schema/to-openapi.js';
import { own } from '../../util/json.js';

/** Whoever gave a schema an id did not mean to be referred to from here. */
class WordsAlone extends $ZodRegistry<z.core.JSONSchemaMeta> {
  override get(schema: z.core.$ZodType): z.core.JSONSchemaMeta | undefined {
    const { id: _, ...words } = z.globalRegistry.get(schema) ?? {};
    return words;
  }
}

/** The ends of what integers are, which zod tells of each of them. */
const RANGES: readonly unknown[] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31 - 1, -(2 ** 31)];

/** What the schema must ask its surroundings. */
export interface CustomContext {
  readonly version: 2 | 3;
  readonly dialect: Dialect;
  /** A field that every object has: `apiVersion`, `kind`, `metadata`. */
  common(field: CommonField): OpenApiSchema;
}

const COMMON_FIELDS = ['apiVersion', 'kind', 'metadata'] as const;
export type CommonField = (typeof COMMON_FIELDS)[number];

/** The schema of a whole object. */
export function customSchema(schema: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  // To name even one field would forbid the others.
  if (context.version === 2 && keepsUnknown(schema, context)) return { type: 'object' };
  const written = nodeSchema(schema, context);
  return { ...written, properties: withCommonFields(written['properties'], context) };
}

type Properties = Readonly<Record<string, OpenApiSchema>>;

function withCommonFields(properties: unknown, { common }: CustomContext): Properties {
  const fields = COMMON_FIELDS.map((field) => [field, common(field)] as const);
  return inOrder([...Object.entries((properties ?? {}) as Properties), ...fields]);
}

/** The later one of a name stands. */
function inOrder(entries: readonly (readonly [string, OpenApiSchema])[]): Properties {
  return sortedRecord(new Map(entries));
}

export const WORDS = ['description', 'title'] as const;

/** Restrictions that stand for themselves, in both versions. */
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
    ...said(schema, ['$ref', ...WORDS]),
    ...said({ type: typeOf(schema, context) }, ['type']),
    ...said(schema, RESTRICTIONS),
    ...(context.version === 3 ? said(schema, ['default', 'nullable']) : {}),
    ...alternatives(schema, context),
    ...said(members, ['required', 'items', 'properties', 'additionalProperties']),
    ...said(schema, extensionNames(context.dialect)),
  };
}

/** Only what says something: absent, empty and false are the same here. */
function said(schema: object, keys: readonly string[]): OpenApiSchema {
  const entries = keys.map((key) => [key, (schema as OpenApiSchema)[key]] as const);
  return Object.fromEntries(entries.filter(([key, value]) => isSaid(value, key)));
}

function isSaid(value: unknown, key: string): boolean {
  if (value === undefined || value === null) return false;
  // A default of nothing is one.
  if (key === 'default' || key === 'additionalProperties') return true;
  return value !== '' && value !== false && !(Array.isArray(value) && value.length === 0);
}

function extensionNames({ extension }: Dialect): readonly string[] {
  return EXTENSIONS.map(extension);
}

function hasMark(schema: JSONSchemaProps, name: (typeof EXTENSIONS)[number], { dialect }: CustomContext): boolean {
  return schema[dialect.extension(name) as `x-${string}`] === true;
}

function keepsUnknown(schema: JSONSchemaProps, context: CustomContext): boolean {
  return hasMark(schema, 'preserve-unknown-fields', context);
}

/** Whether version 2 can name the fields or items of a value. */
function isVague(schema: JSONSchemaProps, context: CustomContext): boolean {
  return context.version === 2 && (schema.nullable === true || keepsUnknown(schema, context));
}

function typeOf(schema: JSONSchemaProps, context: CustomContext): string | undefined {
  const { type } = schema;
  if (context.version === 3) return type;
  if (schema.nullable === true) return undefined;
  // A list has to say of what.
  if (type === 'array') return isVague(schema, context) || schema.items === undefined ? undefined : type;
  return type === 'object' && keepsUnknown(schema, context) ? undefined : type;
}

interface Members {
  readonly required: readonly string[];
  readonly items?: OpenApiSchema;
  readonly properties?: Properties;
  readonly additionalProperties?: OpenApiSchema | boolean;
}

function membersOf(schema: JSONSchemaProps, context: CustomContext): Members {
  const { items, additionalProperties: others } = schema;
  const vague = isVague(schema, context);
  const properties = vague ? {} : (schema.properties ?? {});
  const written = Object.entries(properties).map(([name, field]) => [name, nodeSchema(field, context)] as const);
  const members: Members = {
    required: requiredOf(schema, properties, context),
    ...(items === undefined || Array.isArray(items) || vague ? {} : { items: nodeSchema(items, context) }),
    ...(written.length === 0 ? {} : { properties: inOrder(written) }),
    ...(others === undefined
      ? {}
      : { additionalProperties: typeof others === 'boolean' ? others : nodeSchema(others, context) }),
  };
  const isWhole = hasMark(schema, 'embedded-resource', context);
  if (!isWhole || (context.version === 2 && keepsUnknown(schema, context))) return members;
  const missing = ['kind', 'apiVersion'].filter((name) => !members.required.includes(name));
  return {
    ...members,
    required: [...members.required, ...missing],
    properties: withCommonFields(members.properties, context),
  };
}

/** In version 2 what may be null is not demanded, because null is not there for it. */
function requiredOf(
  { required = [], additionalProperties: others }: JSONSchemaProps,
  properties: Readonly<Record<string, JSONSchemaProps>>,
  { version }: CustomContext,
): readonly string[] {
  if (version === 3) return required;
  if (typeof others === 'object' && others.nullable === true) return [];
  return required.filter((name) => !Object.hasOwn(properties, name) || properties[name]?.nullable !== true);
}

const NUMBER_OR_TEXT: readonly JSONSchemaProps[] = [{ type: 'integer' }, { type: 'string' }];

/** What holds of a value beside its form; version 2 cannot tell. */
function alternatives(schema: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  if (context.version === 2) return {};
  const { not, oneOf = [] } = schema;
  let { allOf = [], anyOf = [] } = schema;
  const isTold = deepEqual(anyOf, NUMBER_OR_TEXT) || deepEqual(allOf[0]?.anyOf, NUMBER_OR_TEXT);
  if (hasMark(schema, 'int-or-string', context) && !isTold) {
    // Not everybody knows the mark.
    if (anyOf.length === 0) anyOf = [...NUMBER_OR_TEXT];
    else allOf = [{ anyOf: [...NUMBER_OR_TEXT] }, ...allOf];
  }
  const each = (parts: readonly JSONSchemaProps[]) => parts.map((part) => partSchema(part, context));
  const found = { allOf: each(allOf), anyOf: each(anyOf), oneOf: each(oneOf) };
  return { ...said(found, Object.keys(found)), ...(not === undefined ? {} : { not: partSchema(not, context) }) };
}

/** A restriction of a value whose form is told elsewhere. */
function partSchema(part: JSONSchemaProps, context: CustomContext): OpenApiSchema {
  const { items, properties } = part;
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, partSchema(field, context)] as const);
  return {
    ...said(part, ['$ref', ...WORDS, 'type', ...RESTRICTIONS, 'default', 'nullable', 'required']),
    ...alternatives(part, context),
    ...(items === undefined || Array.isArray(items) ? {} : { items: partSchema(items, context) }),
    ...(fields.length === 0 ? {} : { properties: inOrder(fields) }),
    ...said(part, extensionNames(context.dialect)),
  };
}

/** `reference`: to a type of the service that the kind has borrowed. */
export function userDefinedKindSchema(
  { kind, schema, dialect }: ServedKind,
  reference: (type: ObjectNode) => string | undefined,
): JSONSchemaProps {
  const form = objectSchema(schema, {
    version: 3,
    dialect,
    reference: (type) => (typeof type === 'string' ? undefined : reference(type)),
    unionType: () => undefined,
    describe: () => undefined,
  });
  const words = z.toJSONSchema(kind.body, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    metadata: new WordsAlone(),
  });
  return withWords(form as JSONSchemaProps, words as JSONSchemaProps);
}

function withWords(form: JSONSchemaProps, words: JSONSchemaProps): JSONSchemaProps {
  const made: JSONSchemaProps = { ...form, ...picked(words, WORDS) };
  if (words.enum !== undefined && typeof words.type === 'string') {
    // The form has no eye for what the values of a list are made of.
    Object.assign(made, { type: words.type, enum: words.enum });
  } else if (form.type === words.type) {
    Object.assign(made, restrictionsOf(form, words));
  }
  const { items, properties, additionalProperties: others } = form;
  if (isSchema(items) && isSchema(words.items)) made.items = withWords(items, words.items);
  if (isSchema(others) && isSchema(words.additionalProperties)) {
    made.additionalProperties = withWords(others, words.additionalProperties);
  }
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => {
      const said = own(words.properties ?? {}, name);
      return [name, said === undefined ? field : withWords(field, said)];
    });
    made.properties = Object.fromEntries(fields);
  }
  return made;
}

function isSchema(value: JSONSchemaProps | JSONSchemaProps[] | boolean | undefined): value is JSONSchemaProps {
  return typeof value === 'object' && !Array.isArray(value);
}

function restrictionsOf(form: JSONSchemaProps, words: JSONSchemaProps): JSONSchemaProps {
  const { maximum, minimum, format, pattern, ...others } = picked(words, RESTRICTIONS);
  return {
    ...others,
    ...(RANGES.includes(maximum) ? {} : { maximum }),
    ...(RANGES.includes(minimum) ? {} : { minimum }),
    format: form.format ?? format,
    // The pattern that comes with a format says the same again.
    ...(format === undefined ? { pattern, allOf: words.allOf } : {}),
  } as JSONSchemaProps;
}

function picked(schema: JSONSchemaProps, keys: readonly (keyof JSONSchemaProps)[]): JSONSchemaProps {
  return Object.fromEntries(keys.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])));
}
