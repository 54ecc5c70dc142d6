/**
 * The CEL type of a schema with the size limits that cost estimation uses, and the names of its types.
 * Nodes without a type are not visible to expressions: they are omitted from objects, and lists and maps of them are
 * omitted as a whole.
 *
 * Sizes are in bytes of JSON, because the size of a request is limited in bytes.
 */

import type { SizeEstimator } from '../../cel/index.js';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  objectType,
  type SimpleType,
  STRING,
  TIMESTAMP,
  type TypeProvider,
} from '../../cel/index.js';
import { kubernetesDialect } from '../../meta/dialect.js';
import { byteLength } from '../../meta/names.js';
import { once } from '../../util/once.js';
import { additionalSchema, type StructuralSchema, structuralSchemaOf } from '../structural-schema.js';
import { hasDefault } from '../value/defaults.js';
import { escapeName, isReservedWord } from './escape.js';

/** The CEL type of a schema node. upstream: apiserver/pkg/cel/types.go DeclType */
export type DeclType = ScalarDeclType | ListDeclType | MapDeclType | ObjectDeclType;

interface SizeLimits {
  /** The maximum number of elements (of a string: bytes); 0 for types without a size. */
  readonly maxElements: number;
  /** The size of the shortest JSON representation. */
  readonly minSize: number;
}

export interface ScalarDeclType extends SizeLimits {
  readonly kind: 'scalar';
  readonly type: SimpleType;
}

export interface ListDeclType extends SizeLimits {
  readonly kind: 'list';
  readonly element: DeclType;
}

export interface MapDeclType extends SizeLimits {
  readonly kind: 'map';
  readonly element: DeclType;
}

export interface ObjectDeclType extends SizeLimits {
  readonly kind: 'object';
  /** By escaped name. */
  readonly fields: ReadonlyMap<string, DeclType>;
}

/** The maximum size of a request body. */
const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** Without quotes, brackets or braces. */
const MAX_CONTENT_BYTES = MAX_REQUEST_BYTES - 2;

/**
 * Returns undefined for a schema that is not visible to expressions. `isRoot` is true for whole resources, which always
 * have names.
 */
export function declTypeOf(schema: StructuralSchema, isRoot: boolean): DeclType | undefined {
  if (schema.intOrString) return scalar(DYN, { maxElements: MAX_CONTENT_BYTES, minSize: 1 });
  switch (schema.type) {
    case 'array':
      return listDeclType(schema);
    case 'object':
      return additionalSchema(schema) === undefined ? objectDeclType(schema, isRoot) : mapDeclType(schema);
    case 'string':
      return stringDeclType(schema);
    case 'boolean':
      return BOOLEAN;
    case 'number':
      return NUMBER;
    case 'integer':
      return INTEGER;
    default:
      return undefined;
  }
}

const scalar = (type: SimpleType, sized: SizeLimits): ScalarDeclType => ({ kind: 'scalar', type, ...sized });

// The shortest values are `true`, `0` and `""`.
const BOOLEAN = scalar(BOOL, { maxElements: 0, minSize: 4 });
const NUMBER = scalar(DOUBLE, { maxElements: 0, minSize: 1 });
const INTEGER = scalar(INT, { maxElements: 0, minSize: 1 });

/** The fields of every resource that expressions see. */
const resourceProperties = once(() => {
  const text = { type: 'string' };
  const metadata = { type: 'object', properties: { name: text, generateName: text } };
  const properties = { kind: text, apiVersion: text, metadata };
  return structuralSchemaOf({ type: 'object', properties }, kubernetesDialect).properties;
});

/** The properties that expressions see. Those of every resource replace those that its schema may specify. */
export function visibleProperties(
  schema: StructuralSchema,
  isResource: boolean,
): ReadonlyMap<string, StructuralSchema> {
  if (!isResource || declaresResourceFields(schema)) return schema.properties;
  return new Map([...schema.properties, ...resourceProperties()]);
}

function listDeclType(schema: StructuralSchema): ListDeclType | undefined {
  const { items } = schema;
  const element = items && declTypeOf(items, items.embeddedResource);
  if (element === undefined) return undefined;
  const { maxItems } = schema.raw;
  const maxElements =
    maxItems === undefined ? Math.floor(MAX_CONTENT_BYTES / (element.minSize + 1)) : atLeast0(maxItems);
  return { kind: 'list', element, maxElements, minSize: 2 };
}

function mapDeclType(schema: StructuralSchema): MapDeclType | undefined {
  const values = additionalSchema(schema);
  const element = values && declTypeOf(values, values.embeddedResource);
  if (element === undefined) return undefined;
  const { maxProperties } = schema.raw;
  // A key of at least two bytes, its quotes, the colon and the comma.
  const most = Math.floor(MAX_CONTENT_BYTES / (element.minSize + 6));
  const maxElements = maxProperties === undefined ? most : atLeast0(maxProperties);
  return { kind: 'map', element, maxElements, minSize: 2 };
}

function objectDeclType(schema: StructuralSchema, isRoot: boolean): ObjectDeclType {
  const requiredNames = new Set(schema.raw.required);
  const fields = new Map<string, DeclType>();
  let minSize = 2;
  for (const [name, property] of visibleProperties(schema, isRoot)) {
    const declType = declTypeOf(property, property.embeddedResource);
    if (declType === undefined) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, declType);
    // A field with a default need not be sent.
    if (requiredNames.has(name) && !hasDefault(property)) minSize += byteLength(name) + declType.minSize + 4;
  }
  return { kind: 'object', fields, maxElements: 0, minSize };
}

/** True if a schema itself specifies all fields of a resource that expressions may see; it is then used as it is. */
function declaresResourceFields({ properties }: StructuralSchema): boolean {
  const metadata = properties.get('metadata');
  const isText = (schema: StructuralSchema | undefined) => schema?.type === 'string';
  return (
    isText(properties.get('kind')) &&
    isText(properties.get('apiVersion')) &&
    metadata?.type === 'object' &&
    isText(metadata.properties.get('name')) &&
    isText(metadata.properties.get('generateName'))
  );
}

function stringDeclType({ raw }: StructuralSchema): ScalarDeclType {
  const { maxLength } = raw;
  switch (raw.format) {
    case 'byte':
      return scalar(BYTES, {
        maxElements: maxLength === undefined ? MAX_CONTENT_BYTES : atLeast0(maxLength),
        minSize: 2,
      });
    case 'duration':
      return scalar(DURATION, { maxElements: 32, minSize: 3 });
    case 'date':
      return scalar(TIMESTAMP, { maxElements: 12, minSize: 12 });
    case 'date-time':
      return scalar(TIMESTAMP, { maxElements: 32, minSize: 21 });
    default:
      return scalar(STRING, { maxElements: maxStringBytes(raw), minSize: 2 });
  }
}

function maxStringBytes({ maxLength, enum: values = [] }: StructuralSchema['raw']): number {
  // A length is in characters of up to four bytes.
  if (maxLength !== undefined) return atLeast0(maxLength) * 4;
  if (values.length === 0) return MAX_CONTENT_BYTES;
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? byteLength(value) : 0)));
}

function atLeast0(limit: number): number {
  return Math.max(0, Number(limit));
}

/** The sizes of values reachable from `self` or `oldSelf` are those of the schema; other sizes are unknown. */
export function sizeEstimatesOf(root: DeclType): SizeEstimator {
  return {
    estimateSize({ path }) {
      if (path.length === 0) return undefined;
      let max = root.maxElements;
      let declType: DeclType | undefined = root;
      for (const step of path.slice(1)) {
        if (declType === undefined) return undefined;
        if (step === '@keys') {
          if (declType.kind !== 'map') return undefined;
          // The size of keys is unbounded; the reference server counts them as empty.
          // upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go sizeEstimator.EstimateSize
          [declType, max] = [undefined, 0];
          continue;
        }
        declType = stepInto(declType, step);
        if (declType === undefined) return undefined;
        max = declType.maxElements;
      }
      return { min: 0, max };
    },
  };
}

function stepInto(declType: DeclType, step: string): DeclType | undefined {
  if (declType.kind === 'object') return declType.fields.get(step);
  const isElement = step === '@items' || step === '@values';
  return isElement && declType.kind !== 'scalar' ? declType.element : undefined;
}

/** How often a value of this type fits into one request, with a comma after each. */
export function maxCardinalityInRequest({ minSize }: DeclType): number {
  return Math.floor(MAX_REQUEST_BYTES / (minSize + 1));
}

const SELF = 'selfType1';

/**
 * Type names that the reference server resolves when it checks an expression, although they have no value when it is
 * evaluated. See {@link isUndefinedType}.
 */
const UNDEFINED_TYPES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
]);

/** The type of `self` and the provider of its nested types. */
export interface SelfType {
  readonly type: CelType;
  readonly provider: TypeProvider;
}

/**
 * The type of `self` for a node, and a type provider for the fields below it. Types are named lazily, because a rule
 * uses little of a large schema. `name` is the type name, if it is not that of `self`.
 */
export function selfTypeOf(declType: DeclType, name = SELF): SelfType {
  const objects = new Map<string, ObjectDeclType>();
  return {
    type: namedType(declType, name, objects),
    provider: {
      hasType: (name) => objects.has(name),
      namedType: (name) => UNDEFINED_TYPES.get(name),
      fieldType(typeName, field) {
        const fields = objects.get(typeName)?.fields;
        // A reserved word may be used with and without its escape.
        const isEscaped = fields?.has(field) === false && isReservedWord(field);
        const name = isEscaped ? (escapeName(field) ?? field) : field;
        const inner = fields?.get(name);
        return inner && namedType(inner, `${typeName}.${name}`, objects);
      },
      fieldNames: (typeName) => [...(objects.get(typeName)?.fields.keys() ?? [])],
    },
  };
}

/** Whether a name is that of a type that can be checked but not evaluated: no program can be created for it. */
export function isUndefinedType(name: string): boolean {
  return UNDEFINED_TYPES.has(name) || name === SELF || name.startsWith(`${SELF}.`);
}

function namedType(declType: DeclType, name: string, objects: Map<string, ObjectDeclType>): CelType {
  switch (declType.kind) {
    case 'scalar':
      return declType.type;
    case 'object':
      objects.set(name, declType);
      return objectType(name);
    case 'list':
      return listOf(namedType(declType.element, `${name}.@idx`, objects));
    case 'map':
      return mapOf(STRING, namedType(declType.element, `${name}.@elem`, objects));
  }
}
