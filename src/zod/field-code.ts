/**
 * Writes the zod schema of a field of a CRD: the source text, together with the schema itself. The schema is converted back
 * to a CRD schema with the code of `toCRD`, and each keyword that would differ becomes a keyword of `withKeywords`. So the
 * text always stands for exactly the schema of the CRD.
 */
import * as z from 'zod';
import type { Draft } from '../crd/zod/context.js';
import { patternsOf } from '../crd/zod/pattern.js';
import { fieldSchemaFromZod } from '../crd/zod/schema-from-zod.js';
import type { Dialect } from '../meta/dialect.js';
import { atomic, mapList, type SchemaKeywords, setList, withKeywords } from '../schema/hints.js';
import type { ExtensionName, JSONSchemaProps } from '../schema/json-schema.js';
import { deepEqual, isRecord } from '../util/json.js';
import { docComment, literal, propertyName, quoted } from './literal.js';

/** Source text and the schema that it evaluates to. */
export interface Code {
  readonly text: string;
  readonly schema: z.ZodType;
}

/** The state of one module. */
export interface CodeContext {
  readonly dialect: Dialect;
  /** The functions that the text calls; the module imports or declares them. */
  readonly used: Set<string>;
}

/** Functions that a module declares if it uses them. */
export const DECLARED_FUNCTIONS: Readonly<Record<string, string>> = {
  integer: 'withKeywords(z.int(), { format: null, minimum: null, maximum: null })',
  int32: 'withKeywords(z.int32(), { minimum: null, maximum: null })',
  int64: 'withKeywords(z.int(), { minimum: null, maximum: null })',
  intOrString:
    "withKeywords(z.union([z.int(), z.string()]), { maximum: null, minimum: null, anyOf: [{ type: 'integer' }, { type: 'string' }] })",
};

/** The properties of an object as members of an object literal, in the order of the CRD. */
export function membersCode(
  schema: JSONSchemaProps,
  indent: string,
  context: CodeContext,
): { readonly text: string; readonly shape: Record<string, z.ZodType> } {
  const required = new Set(schema.required ?? []);
  const shape: Record<string, z.ZodType> = {};
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const code = fieldCode(field, { indent: inner, isRequired: required.has(name) }, context);
    Object.defineProperty(shape, name, { value: code.schema, enumerable: true, configurable: true, writable: true });
    return `${docComment(field.description, inner)}${inner}${propertyName(name)}: ${code.text},\n`;
  });
  return { text: members.length === 0 ? '{}' : `{\n${members.join('')}${indent}}`, shape };
}

interface FieldPosition {
  readonly indent: string;
  readonly isRequired: boolean;
}

/** The code of a field, an item or a value. */
export function fieldCode(schema: JSONSchemaProps, { indent, isRequired }: FieldPosition, context: CodeContext): Code {
  let code = withDifference(typeCode(schema, indent, context), withoutWrappers(schema), indent, context);
  if (schema.description) {
    code = then(code, `.describe(${quoted(schema.description)})`, (inner) => inner.describe(schema.description ?? ''));
  }
  if (schema.nullable === true && !isAny(code)) code = then(code, '.nullable()', (inner) => inner.nullable());
  if (schema.default !== undefined && schema.default !== null) code = withDefault(code, schema.default, indent);
  else if (!isRequired) code = then(code, '.optional()', (inner) => inner.optional());
  return withDifference(code, schema, indent, context);
}

/** Keywords that wrappers around the type express. */
function withoutWrappers({ description: _d, nullable: _n, default: _v, ...rest }: JSONSchemaProps): JSONSchemaProps {
  return rest;
}

function isAny({ schema }: Code): boolean {
  return schema instanceof z.ZodUnknown;
}

/** A default of zod has all fields, also those with a default of their own; a prefault may omit them, as in a CRD. */
function withDefault(code: Code, value: unknown, indent: string): Code {
  const isScalar = typeof value !== 'object';
  const text = literal(value, indent);
  return isScalar
    ? then(code, `.default(${text})`, (inner) => inner.default(value))
    : then(code, `.prefault(${text})`, (inner) => inner.prefault(value));
}

function then({ text, schema }: Code, call: string, apply: (schema: z.ZodType) => z.ZodType): Code {
  return { text: `${text}${call}`, schema: apply(schema) };
}

const extensionOf = (schema: JSONSchemaProps, name: ExtensionName, { dialect }: CodeContext): unknown =>
  schema[dialect.extension(name) as `x-${string}`];

/** The code of the type, without keywords that it does not express. */
function typeCode(schema: JSONSchemaProps, indent: string, context: CodeContext): Code {
  if (extensionOf(schema, 'int-or-string', context) === true) {
    return { text: 'z.union([z.int(), z.string()])', schema: z.union([z.int(), z.string()]) };
  }
  switch (schema.type) {
    case 'string':
      return stringCode(schema);
    case 'integer':
    case 'number':
      return numberCode(schema);
    case 'boolean':
      return { text: 'z.boolean()', schema: z.boolean() };
    case 'array':
      return listCode(schema, indent, context);
    case 'object':
      return objectCode(schema, indent, context);
    default:
      return { text: 'z.unknown()', schema: z.unknown() };
  }
}

function stringCode({ enum: values, minLength, maxLength, pattern }: JSONSchemaProps): Code {
  if (values !== undefined && values.length > 0 && values.every((value) => typeof value === 'string')) {
    const unique = [...new Set(values as string[])];
    return { text: `z.enum(${literal(unique)})`, schema: z.enum(unique) };
  }
  let code: { text: string; schema: z.ZodString } = { text: 'z.string()', schema: z.string() };
  if (minLength !== undefined) code = { text: `${code.text}.min(${minLength})`, schema: code.schema.min(minLength) };
  if (maxLength !== undefined) code = { text: `${code.text}.max(${maxLength})`, schema: code.schema.max(maxLength) };
  const expression = pattern === undefined ? undefined : expressionFor(pattern);
  return expression === undefined
    ? code
    : { text: `${code.text}.regex(${expression})`, schema: code.schema.regex(expression) };
}

/** The regular expression of JavaScript with the meaning of a pattern; undefined if there is none with the same text. */
function expressionFor(pattern: string): RegExp | undefined {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern);
  } catch (error) {
    // The syntax of the server has more forms.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const patterns = patternsOf(expression);
  return typeof patterns !== 'string' && deepEqual(patterns, { all: [pattern], none: [] }) ? expression : undefined;
}

function numberCode(schema: JSONSchemaProps): Code {
  const { type, format, enum: values, minimum, maximum, multipleOf } = schema;
  if (values !== undefined && values.length > 0 && values.every((value) => typeof value === 'number')) {
    const unique = [...new Set(values as number[])];
    return { text: `z.literal(${literal(unique)})`, schema: z.literal(unique) };
  }
  const [text, base] =
    type === 'number'
      ? (['z.number()', z.number()] as const)
      : format === 'int32'
        ? (['z.int32()', z.int32()] as const)
        : (['z.int()', z.int()] as const);
  let code: { text: string; schema: z.ZodNumber } = { text, schema: base };
  if (minimum !== undefined && schema.exclusiveMinimum !== true) {
    code = { text: `${code.text}.min(${minimum})`, schema: code.schema.min(minimum) };
  }
  if (maximum !== undefined && schema.exclusiveMaximum !== true) {
    code = { text: `${code.text}.max(${maximum})`, schema: code.schema.max(maximum) };
  }
  if (multipleOf !== undefined && multipleOf > 0) {
    code = { text: `${code.text}.multipleOf(${multipleOf})`, schema: code.schema.multipleOf(multipleOf) };
  }
  return code;
}

function listCode(schema: JSONSchemaProps, indent: string, context: CodeContext): Code {
  const { items, minItems, maxItems } = schema;
  const item: Code =
    items === undefined || Array.isArray(items)
      ? { text: 'z.unknown()', schema: z.unknown() }
      : fieldCode(items, { indent, isRequired: true }, context);
  let code = listOf(schema, item, context);
  if (minItems !== undefined) code = { text: `${code.text}.min(${minItems})`, schema: code.schema.min(minItems) };
  if (maxItems !== undefined) code = { text: `${code.text}.max(${maxItems})`, schema: code.schema.max(maxItems) };
  return code;
}

function listOf(
  schema: JSONSchemaProps,
  item: Code,
  context: CodeContext,
): { readonly text: string; readonly schema: z.ZodArray } {
  const { items } = schema;
  const listType = extensionOf(schema, 'list-type', context);
  const keys = extensionOf(schema, 'list-map-keys', context);
  const item_ = isRecord(items) ? (items as JSONSchemaProps) : {};
  if (listType === 'map' && Array.isArray(keys) && canBeMapList(item_, keys)) {
    context.used.add('mapList');
    const shown = keys.length === 1 ? quoted(String(keys[0])) : literal(keys);
    return { text: `mapList(${item.text}, ${shown})`, schema: mapList(item.schema as z.ZodObject, keys as never) };
  }
  if (listType === 'set' && ['string', 'integer', 'number', 'boolean'].includes(item_.type ?? '')) {
    context.used.add('setList');
    return { text: `setList(${item.text})`, schema: setList(item.schema as z.ZodString) };
  }
  return { text: `z.array(${item.text})`, schema: z.array(item.schema) };
}

/** `mapList` requires objects whose keys are scalars and present. */
function canBeMapList(
  { type, properties = {}, required = [], nullable }: JSONSchemaProps,
  keys: readonly unknown[],
): boolean {
  if (type !== 'object' || nullable === true || keys.length === 0) return false;
  return keys.every((key) => {
    const field = Object.hasOwn(properties, String(key)) ? properties[String(key)] : undefined;
    const isScalar = ['string', 'integer', 'number', 'boolean'].includes(field?.type ?? '');
    return isScalar && (required.includes(String(key)) || field?.default !== undefined);
  });
}

function objectCode(schema: JSONSchemaProps, indent: string, context: CodeContext): Code {
  const { additionalProperties: values } = schema;
  const isAtomic = extensionOf(schema, 'map-type', context) === 'atomic';
  let code: Code;
  if (values !== undefined && schema.properties === undefined) {
    const value: Code =
      typeof values === 'boolean'
        ? { text: 'z.unknown()', schema: z.unknown() }
        : fieldCode(values, { indent, isRequired: true }, context);
    code = { text: `z.record(z.string(), ${value.text})`, schema: z.record(z.string(), value.schema) };
  } else {
    const members = membersCode(schema, indent, context);
    // An embedded resource has apiVersion, kind and metadata besides its properties.
    const isOpen =
      extensionOf(schema, 'preserve-unknown-fields', context) === true ||
      extensionOf(schema, 'embedded-resource', context) === true;
    code = isOpen
      ? { text: `z.looseObject(${members.text})`, schema: z.looseObject(members.shape) }
      : { text: `z.object(${members.text})`, schema: z.object(members.shape) };
  }
  if (!isAtomic) return code;
  context.used.add('atomic');
  return { text: `atomic(${code.text})`, schema: atomic(code.schema) };
}

/** Adds the keywords in which the schema of the code differs from the wanted one. */
function withDifference(code: Code, wanted: JSONSchemaProps, indent: string, context: CodeContext): Code {
  const { dialect } = context;
  const settings = { owner: 'a field', dialect, report: () => undefined, datesAreTexts: false };
  const keywords = keywordDifference(fieldSchemaFromZod(code.schema, settings), wanted);
  if (Object.keys(keywords).length === 0) return code;
  context.used.add('withKeywords');
  const text = `withKeywords(${code.text}, ${literal(keywords, indent)})`;
  const schema = withKeywords(code.schema, keywords);
  const inOneLine = `withKeywords(${code.text}, ${literal(keywords)})`;
  const declared = Object.entries(DECLARED_FUNCTIONS).find(([, each]) => each === inOneLine)?.[0];
  if (declared === undefined) return { text, schema };
  context.used.add(declared);
  return { text: `${declared}()`, schema };
}

/** The keywords that change one schema to another. The schemas of fields, items and values are compared on their own. */
export function keywordDifference(made: Draft, wanted: JSONSchemaProps): SchemaKeywords {
  const keywords: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(made), ...Object.keys(wanted)]) as Set<keyof JSONSchemaProps>) {
    if (isSameKeyword(key, made[key], wanted[key])) continue;
    keywords[key] = wanted[key] ?? null;
  }
  return keywords as SchemaKeywords;
}

function isSameKeyword(key: string, made: unknown, wanted: unknown): boolean {
  if (deepEqual(made, wanted)) return true;
  if (key === 'required' && Array.isArray(made) && Array.isArray(wanted)) {
    return deepEqual([...made].sort(), [...wanted].sort());
  }
  if (key === 'properties') return deepEqual(keysOf(made), keysOf(wanted));
  return (key === 'items' || key === 'additionalProperties') && isRecord(made) && isRecord(wanted);
}

function keysOf(properties: unknown): readonly string[] {
  return isRecord(properties) ? Object.keys(properties).sort() : [];
}
