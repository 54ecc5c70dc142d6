/**
 * Converts the zod schemas of a user-defined kind to a schema node, once when the kind is defined; no other code inspects
 * zod schemas (except for `crd/zod`). A zod type that is not supported in API objects throws an error that names the
 * field.
 */
import type * as z from 'zod';
import { deepFreeze } from '../util/json.js';
import type { Hint } from './hints.js';
import { hintOf, mergeHints, type ZodShape } from './hints.js';
import {
  type Field,
  GO_TYPES,
  type ListNode,
  type ObjectNode,
  presenceOf,
  type ScalarType,
  type SchemaNode,
  uniform,
} from './schema-node.js';

type ZodNode = z.core.$ZodType;

/** A schema without its wrappers, and what the wrappers declare. */
interface Unwrapped {
  readonly schema: ZodNode;
  readonly hint: Hint;
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  readonly default?: unknown;
}

/**
 * The maximum number of nodes. A schema that is used in several places counts in each, because nesting can multiply a
 * small schema to millions of nodes.
 */
export const MAX_SCHEMA_NODES = 100_000;

/** State of one conversion; `owner` is for messages. */
interface Walk {
  readonly owner: string;
  nodes: number;
  readonly onKeywords: (() => void) | undefined;
}

/** The body of a kind as zod would see it, for code that reads schemas. It cannot parse. */
export function zodObjectOf(shape: ZodShape): z.core.$ZodObject {
  return { _zod: { def: { type: 'object', shape } } } as unknown as z.core.$ZodObject;
}

/**
 * Converts the body of a kind. `owner` is only used in error messages. `onKeywords` is called for schemas with keywords,
 * which the result does not contain.
 */
export function objectFromZod(shape: ZodShape, owner: string, onKeywords?: () => void): ObjectNode {
  return objectNode(unwrap(zodObjectOf(shape), ''), '', { owner, nodes: 0, onKeywords });
}

function unwrap(schema: ZodNode, path: string): Unwrapped {
  let current = schema;
  let hint: Hint = {};
  let isOptional = false;
  let isNullable = false;
  let fallback: unknown;
  for (;;) {
    requireZod(current, path);
    hint = mergeHints(hintOf(current), hint);
    const def = (current as z.core.$ZodTypes)._zod.def;
    rejectTransforms(def, path);
    if (def.type === 'optional') isOptional = true;
    else if (def.type === 'nullable') isNullable = true;
    else if (def.type === 'default' || def.type === 'prefault') {
      isOptional = true;
      fallback = deepFreeze(structuredClone(def.defaultValue));
    } else if (def.type !== 'readonly' && def.type !== 'nonoptional') break;
    current = def.innerType;
  }
  return {
    schema: current,
    hint,
    isOptional,
    isNullable,
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

/** Rejects other values, and schemas of zod/mini, which have no methods for descriptions and JSON schemas. */
function requireZod(schema: unknown, path: string): asserts schema is ZodNode {
  if (typeof schema !== 'object' || schema === null || !('_zod' in schema)) {
    throw new TypeError(`${path} is not a schema of zod 4`);
  }
  if ('meta' in schema || path === '') return;
  throw new TypeError(`${path}: schemas of zod/mini are not supported; import z from 'zod'`);
}

/**
 * Rejects schemas that change values: the server stores what the client sent, so a schema may only validate values and
 * provide defaults.
 */
function rejectTransforms(def: z.core.$ZodTypes['_zod']['def'], path: string): void {
  const coerces = 'coerce' in def && def.coerce === true;
  const overwrites = def.checks?.some((check) => check._zod.def.check === 'overwrite') ?? false;
  if (!coerces && !overwrites) return;
  throw new TypeError(
    `${path || 'the schema'}: zod schemas that change values (coerce, trim, toLowerCase, …) are not supported`,
  );
}

function nodeFromZod(from: Unwrapped, path: string, walk: Walk): SchemaNode {
  if (++walk.nodes > MAX_SCHEMA_NODES) {
    const limit = `${MAX_SCHEMA_NODES} fields, counting each place of a schema that is used in several`;
    throw new TypeError(`orchplane: ${walk.owner}: the schema has more than ${limit}; use z.unknown() in some`);
  }
  const { hint } = from;
  if (hint.keywords !== undefined) walk.onKeywords?.();
  const extras = {
    ...(from.default === undefined ? {} : { default: from.default }),
    ...(from.isNullable ? { nullable: true } : {}),
  };
  const def = (from.schema as z.core.$ZodTypes)._zod.def;
  if (hint.builtIn !== undefined) {
    // A type has one node in all places, so that caches for it are shared between kinds.
    return Object.keys(extras).length === 0 ? hint.builtIn : uniform({ ...hint.builtIn, ...extras });
  }
  const atomic = hint.atomic ?? false;
  switch (def.type) {
    case 'object':
      return uniform({ ...objectNode(from, path, walk), ...extras });
    case 'record': {
      const values = nodeFromZod(unwrap(def.valueType, path), `${path}[*]`, walk);
      return uniform({ type: 'map', values, goType: `map[string]${values.goType}`, atomic, ...extras });
    }
    case 'array': {
      const items = nodeFromZod(unwrap(def.element, path), `${path}[*]`, walk);
      checkListType(items, hint, path);
      return uniform({ ...listNode(items, hint), ...extras });
    }
    case 'string':
    case 'template_literal':
      return scalar('string', extras);
    case 'number': {
      // z.int32(), z.int() etc. have their range as a format on the schema itself.
      const format = 'format' in def ? def.format : undefined;
      const isInt = format === 'int32' || format === 'safeint';
      return scalar(format === 'int32' ? 'int32' : isInt ? 'int64' : 'number', extras);
    }
    case 'boolean':
      return scalar('boolean', extras);
    case 'enum':
    case 'literal':
      // zod validates the allowed values; the decoder only needs the type.
      return scalar('string', extras);
    case 'unknown':
    case 'any':
    case 'custom':
    case 'union':
    case 'intersection':
      // A union has no single structure: the value is kept as sent and validated by zod.
      return uniform({ type: 'any', goType: 'interface {}', atomic, ...extras });
    default:
      throw new TypeError(`${path || 'the schema'}: zod type "${def.type}" is not supported in API objects`);
  }
}

function scalar(type: ScalarType, extras: object): SchemaNode {
  return uniform({ type: 'scalar', scalar: type, goType: GO_TYPES[type], ...extras });
}

/** The items of a list that is merged must be identifiable. */
function checkListType(items: SchemaNode, hint: Hint, path: string): void {
  if (hint.listType === 'set' && items.type !== 'scalar') {
    throw new TypeError(`${path}: setList is for strings, numbers and booleans; use mapList for objects`);
  }
  if (hint.listType !== 'map') return;
  const keys = hint.mapKeys ?? [];
  if (items.type !== 'object') throw new TypeError(`${path}: mapList is for objects; use setList for other values`);
  if (keys.length === 0) throw new TypeError(`${path}: mapList needs at least one key`);
  for (const key of keys) {
    const field = items.fields.get(key);
    if (field === undefined) throw new TypeError(`${path}: mapList key "${key}" is not a field of the items`);
    if (field.node.type !== 'scalar') throw new TypeError(`${path}: mapList key "${key}" is not a scalar`);
    if (items.representation === 'document' && !field.required && field.node.default === undefined) {
      throw new TypeError(`${path}: mapList key "${key}" is optional: make it required, or give it a default`);
    }
  }
}

function listNode(items: SchemaNode, hint: Hint): ListNode {
  return {
    type: 'list',
    items,
    goType: `[]${items.goType}`,
    listType: hint.listType ?? 'atomic',
    mapKeys: hint.mapKeys ?? [],
    ...(hint.patchMergeKey === undefined ? {} : { patchMergeKey: hint.patchMergeKey }),
    ...(hint.patchStrategy === undefined ? {} : { patchStrategy: hint.patchStrategy }),
  };
}

/** No API object is deeper. A schema that refers to itself has no schema node. */
const MAX_SCHEMA_DEPTH = 64;

function objectNode(from: Unwrapped, path: string, walk: Walk): ObjectNode {
  if (path.split('.').length > MAX_SCHEMA_DEPTH) {
    const start = path.split('.').slice(0, 4).join('.');
    throw new TypeError(`${start}…: recursive schemas are not supported in API objects; use z.unknown() there`);
  }
  const def = (from.schema as z.core.$ZodObject)._zod.def;
  const fields = new Map<string, Field>();
  // The reference server writes a document as a sorted map.
  for (const name of Object.keys(def.shape).sort()) {
    const inner = def.shape[name];
    if (inner === undefined) continue;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    const unwrapped = unwrap(inner, fieldPath);
    const node = nodeFromZod(unwrapped, fieldPath, walk);
    fields.set(name, {
      name,
      node,
      presence: presenceOf(node, unwrapped.isOptional),
      required: !unwrapped.isOptional,
    });
  }
  return uniform({
    type: 'object',
    representation: 'document',
    goName: '',
    goType: 'v1.',
    fields,
    preserveUnknown: def.catchall?._zod.def.type === 'unknown',
    atomic: from.hint.atomic ?? false,
    ...(from.hint.patchStrategy === undefined ? {} : { patchStrategy: from.hint.patchStrategy }),
  });
}
