/**
 * Converts a zod schema to a structural schema, once per kind when it is defined; no other code inspects zod schemas
 * (except for `crd/zod`). A zod type that is not supported in API objects throws an error that names the field.
 */
import type * as z from 'zod';
import { deepFreeze } from '../util/json.js';
import type { Hint } from './hints.js';
import { hintOf } from './hints.js';
import {
  type Field,
  type ListNode,
  type ObjectNode,
  type Presence,
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
  /** A wrapper has its own checks. */
  readonly checked: boolean;
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
}

/** Converts an object schema. `path` and `owner` are only used in error messages. */
export function objectFromZod(schema: z.core.$ZodType, path = '', owner = 'the schema'): ObjectNode {
  const node = nodeFromZod(unwrap(schema, path), path, undefined, { owner, nodes: 0 });
  if (node.type !== 'object') throw new TypeError(`${path || 'the schema'} must be a z.object`);
  return node;
}

function unwrap(schema: ZodNode, path: string): Unwrapped {
  let current = schema;
  let hint: Hint = {};
  let isOptional = false;
  let isNullable = false;
  let checked = false;
  let fallback: unknown;
  for (;;) {
    // Outer hints (`pointer`) take precedence over inner ones.
    hint = { ...hintOf(current), ...hint };
    const def = (current as z.core.$ZodTypes)._zod.def;
    checked ||= (def.checks?.length ?? 0) > 0;
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
    checked,
    ...(fallback === undefined ? {} : { default: fallback }),
  };
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

/** `representation` is that of the enclosing object; nested objects without a Go name inherit it. */
function nodeFromZod(
  from: Unwrapped,
  path: string,
  representation: ObjectNode['representation'] | undefined,
  walk: Walk,
): SchemaNode {
  if (++walk.nodes > MAX_SCHEMA_NODES) {
    const limit = `${MAX_SCHEMA_NODES} fields, counting each place of a schema that is used in several`;
    throw new TypeError(`orchplane: ${walk.owner}: the schema has more than ${limit}; use z.unknown() in some`);
  }
  const { hint } = from;
  const extras = {
    ...(from.default === undefined ? {} : { default: from.default }),
    ...(from.isNullable ? { nullable: true } : {}),
  };
  const def = (from.schema as z.core.$ZodTypes)._zod.def;
  // In the API's own types raw documents are atomic; in user-defined kinds they are merged.
  const isAtomic = () => hint.atomic ?? representation === 'struct';
  switch (def.type) {
    case 'object': {
      // A type has one node in all places, so that caches for it are shared between kinds.
      const node = objectNode(from, path, representation, walk);
      return Object.keys(extras).length === 0 ? node : uniform({ ...node, ...extras });
    }
    case 'record': {
      const values = nodeFromZod(unwrap(def.valueType, path), `${path}[*]`, representation, walk);
      const goType = hint.goType ?? `map[string]${values.goType}`;
      const checked = from.checked || values.checked || hasChecks(def.keyType);
      return uniform({ type: 'map', values, goType, checked, atomic: hint.atomic ?? false, ...extras });
    }
    case 'array': {
      const items = nodeFromZod(unwrap(def.element, path), `${path}[*]`, representation, walk);
      checkListType(items, hint, path);
      return uniform({ ...listNode(items, hint, from.checked || items.checked), ...extras });
    }
    case 'string':
    case 'template_literal':
      return scalar(hint.scalar ?? 'string', from, extras);
    case 'number': {
      // z.int32(), z.int() etc. have their range as a format on the schema itself.
      const format = 'format' in def ? def.format : undefined;
      const isInt = format === 'int32' || format === 'safeint';
      return scalar(hint.scalar ?? (format === 'int32' ? 'int32' : isInt ? 'int64' : 'number'), from, extras);
    }
    case 'boolean':
      return scalar('boolean', from, extras);
    case 'enum':
    case 'literal':
      // zod validates the allowed values; the decoder only needs the type.
      return uniform({ ...scalar(hint.scalar ?? 'string', from, extras), checked: true });
    case 'unknown':
    case 'any':
    case 'custom':
      if (hint.scalar !== undefined) return scalar(hint.scalar, from, extras);
      return uniform({
        type: 'any',
        goType: hint.goType ?? 'interface {}',
        checked: from.checked,
        atomic: isAtomic(),
        ...extras,
      });
    case 'union':
    case 'intersection':
      // A union has no single structure: the value is kept as sent and validated by zod.
      return uniform({
        type: 'any',
        goType: hint.goType ?? 'interface {}',
        checked: true,
        atomic: isAtomic(),
        ...extras,
      });
    default:
      throw new TypeError(`${path || 'the schema'}: zod type "${def.type}" is not supported in API objects`);
  }
}

function scalar(type: ScalarType, from: Unwrapped, extras: object): SchemaNode {
  const goType = from.hint.goType ?? GO_TYPES[type];
  return uniform({ type: 'scalar', scalar: type, goType, checked: from.checked, ...extras });
}

const GO_TYPES: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  number: 'float64',
  boolean: 'bool',
  bytes: '[]uint8',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  duration: 'v1.Duration',
};

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

function listNode(items: SchemaNode, hint: Hint, checked: boolean): ListNode {
  return {
    type: 'list',
    items,
    goType: hint.goType ?? `[]${items.goType}`,
    checked,
    listType: hint.listType ?? 'atomic',
    mapKeys: hint.mapKeys ?? [],
    ...(hint.keyFallbacks === undefined ? {} : { keyFallbacks: hint.keyFallbacks }),
    ...(hint.patchMergeKey === undefined ? {} : { patchMergeKey: hint.patchMergeKey }),
    ...(hint.patchStrategy === undefined ? {} : { patchStrategy: hint.patchStrategy }),
  };
}

/** No API object is deeper. A schema that refers to itself has no structural schema. */
const MAX_SCHEMA_DEPTH = 64;

function objectNode(
  from: Unwrapped,
  path: string,
  outer: ObjectNode['representation'] | undefined,
  walk: Walk,
): ObjectNode {
  if (path.split('.').length > MAX_SCHEMA_DEPTH) {
    const start = path.split('.').slice(0, 4).join('.');
    throw new TypeError(`${start}…: recursive schemas are not supported in API objects; use z.unknown() there`);
  }
  const isShared = isSharable(from);
  const present = isShared ? structs.get(from.schema) : undefined;
  if (present !== undefined) return present;
  const def = (from.schema as z.core.$ZodObject)._zod.def;
  const representation = from.hint.goName === undefined ? (outer ?? 'document') : 'struct';
  let names = Object.keys(def.shape);
  // The reference server writes a document as a sorted map, and a struct in declaration order.
  if (representation === 'document') names = names.sort();
  const fields = new Map<string, Field>();
  const result: Mutable<ObjectNode> = uniform({
    type: 'object',
    representation,
    goName: from.hint.goName ?? '',
    goType: from.hint.goType ?? `v1.${from.hint.goName ?? ''}`,
    fields,
    checked: from.checked,
    preserveUnknown: from.hint.preserveUnknown ?? def.catchall?._zod.def.type === 'unknown',
    atomic: from.hint.atomic ?? false,
    ...(from.hint.patchStrategy === undefined ? {} : { patchStrategy: from.hint.patchStrategy }),
    ...(from.hint.reusable === undefined ? {} : { reusable: from.hint.reusable }),
  });
  // Before the fields are converted, because one of them may have the same type.
  if (isShared) structs.set(from.schema, result);
  for (const name of names) {
    const inner = def.shape[name];
    if (inner === undefined) continue;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    const unwrapped = unwrap(inner, fieldPath);
    const node = nodeFromZod(unwrapped, fieldPath, representation, walk);
    // In a document the schema also validates presence and type, so every field must be checked.
    if (node.checked || representation === 'document') result.checked = true;
    fields.set(name, {
      name,
      node,
      presence: unwrapped.hint.presence ?? presenceOf(unwrapped, node),
      required: !unwrapped.isOptional,
    });
  }
  return result;
}

type Mutable<Node> = { -readonly [Key in keyof Node]: Node[Key] };

/** Structs by schema: a pod template has the same node in every kind. */
const structs = new WeakMap<ZodNode, ObjectNode>();

/** True if the wrappers around a struct declare nothing that its node has to contain. */
function isSharable({ schema, hint, checked }: Unwrapped): boolean {
  if (hint.goName === undefined) return false;
  const own = hintOf(schema);
  const same = own.atomic === hint.atomic && own.patchStrategy === hint.patchStrategy && own.goType === hint.goType;
  return same && checked === hasChecks(schema);
}

function presenceOf(from: Unwrapped, node: SchemaNode): Presence {
  if (!from.isOptional) return 'always';
  return node.type === 'object' ? 'pointer' : 'omitEmpty';
}

function hasChecks(schema: ZodNode): boolean {
  return ((schema as z.core.$ZodTypes)._zod.def.checks?.length ?? 0) > 0;
}
