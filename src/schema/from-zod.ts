/**
 * zod → the structural form. Walked once per kind, at definition; nothing else in the library looks inside a zod
 * schema. A zod type that has no place in an API object fails here, loudly, naming the field.
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
  type Structural,
  uniform,
} from './structural.js';

type ZodNode = z.core.$ZodType;

/** A schema without its wrappers, and what they said. */
interface Unwrapped {
  readonly schema: ZodNode;
  readonly hint: Hint;
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  readonly default?: unknown;
  /** A wrapper carried checks of its own. */
  readonly checked: boolean;
}

/** A schema that stands in several places counts in each: doubled on every level, a few lines stand for millions. */
export const MAX_SCHEMA_NODES = 100_000;

/** State of one walk, and what messages call its subject. */
interface Walk {
  readonly owner: string;
  nodes: number;
}

/** The structural form of an object schema. `path` and `owner` are used in error texts only. */
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
    // Inner hints first, so that a wrapper's (`pointer`) win.
    hint = { ...hintOf(current), ...hint };
    const def = (current as z.core.$ZodTypes)._zod.def;
    checked ||= (def.checks?.length ?? 0) > 0;
    refuseChanges(def, path);
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

/** What is stored is what was sent: a schema may judge values and fill in absent ones, but not change them. */
function refuseChanges(def: z.core.$ZodTypes['_zod']['def'], path: string): void {
  const coerces = 'coerce' in def && def.coerce === true;
  const overwrites = def.checks?.some((check) => check._zod.def.check === 'overwrite') ?? false;
  if (!coerces && !overwrites) return;
  throw new TypeError(`${path || 'the schema'}: zod would change values here (coerce, trim, toLowerCase, …)`);
}

/** `manner` of the object around it: nested objects without a Go name follow it. */
function nodeFromZod(from: Unwrapped, path: string, manner: ObjectNode['manner'] | undefined, walk: Walk): Structural {
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
  // The reference server's own types hold raw documents as one value; in users' kinds they are merged like the rest.
  const isAtomic = () => hint.atomic ?? manner === 'struct';
  switch (def.type) {
    case 'object': {
      // One node for one type, wherever it stands: what is known of it in one kind is known in all.
      const node = objectNode(from, path, manner, walk);
      return Object.keys(extras).length === 0 ? node : uniform({ ...node, ...extras });
    }
    case 'record': {
      const values = nodeFromZod(unwrap(def.valueType, path), `${path}[*]`, manner, walk);
      const goType = hint.goType ?? `map[string]${values.goType}`;
      const checked = from.checked || values.checked || hasChecks(def.keyType);
      return uniform({ type: 'map', values, goType, checked, atomic: hint.atomic ?? false, ...extras });
    }
    case 'array': {
      const items = nodeFromZod(unwrap(def.element, path), `${path}[*]`, manner, walk);
      checkListType(items, hint, path);
      return uniform({ ...listNode(items, hint, from.checked || items.checked), ...extras });
    }
    case 'string':
    case 'template_literal':
      return scalar(hint.scalar ?? 'string', from, extras);
    case 'number': {
      // z.int32(), z.int() and friends carry their range as a format on the schema itself.
      const format = 'format' in def ? def.format : undefined;
      const isInt = format === 'int32' || format === 'safeint';
      return scalar(hint.scalar ?? (format === 'int32' ? 'int32' : isInt ? 'int64' : 'number'), from, extras);
    }
    case 'boolean':
      return scalar('boolean', from, extras);
    case 'enum':
    case 'literal':
      // Which values are allowed is zod's to check; what they are made of is all the decoder needs.
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
      // No single structure: kept as sent, judged by zod.
      return uniform({
        type: 'any',
        goType: hint.goType ?? 'interface {}',
        checked: true,
        atomic: isAtomic(),
        ...extras,
      });
    default:
      throw new TypeError(`${path || 'the schema'}: zod type "${def.type}" has no place in an API object`);
  }
}

function scalar(type: ScalarType, from: Unwrapped, extras: object): Structural {
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

/** A list that is merged item by item needs items that can be told apart. */
function checkListType(items: Structural, hint: Hint, path: string): void {
  if (hint.listType === 'set' && items.type !== 'scalar') {
    throw new TypeError(`${path}: setList is for strings, numbers and booleans; use mapList for objects`);
  }
  if (hint.listType !== 'map') return;
  const keys = hint.mapKeys ?? [];
  if (items.type !== 'object') throw new TypeError(`${path}: mapList is for objects; use setList for other values`);
  if (keys.length === 0) throw new TypeError(`${path}: mapList needs the key that tells items apart`);
  for (const key of keys) {
    const field = items.fields.get(key);
    if (field === undefined) throw new TypeError(`${path}: mapList by "${key}", which its items do not have`);
    if (field.node.type !== 'scalar') throw new TypeError(`${path}: mapList by "${key}", which is no plain value`);
    if (items.manner === 'document' && !field.required && field.node.default === undefined) {
      throw new TypeError(
        `${path}: mapList by "${key}", which items may leave out: make it required, or give it a default`,
      );
    }
  }
}

function listNode(items: Structural, hint: Hint, checked: boolean): ListNode {
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

/** Deeper than any API object goes: a schema that refers to itself has no end, and no structural form. */
const MAX_SCHEMA_DEPTH = 64;

function objectNode(from: Unwrapped, path: string, outer: ObjectNode['manner'] | undefined, walk: Walk): ObjectNode {
  if (path.split('.').length > MAX_SCHEMA_DEPTH) {
    const start = path.split('.').slice(0, 4).join('.');
    throw new TypeError(
      `${start}…: a schema that refers to itself has no place in an API object; use z.unknown() there`,
    );
  }
  const isShared = sharable(from);
  const present = isShared ? structs.get(from.schema) : undefined;
  if (present !== undefined) return present;
  const def = (from.schema as z.core.$ZodObject)._zod.def;
  const manner = from.hint.goName === undefined ? (outer ?? 'document') : 'struct';
  let names = Object.keys(def.shape);
  // A document comes out of the reference server as a sorted map; a struct in the order of its declaration.
  if (manner === 'document') names = names.sort();
  const fields = new Map<string, Field>();
  const made: Mutable<ObjectNode> = uniform({
    type: 'object',
    manner,
    goName: from.hint.goName ?? '',
    goType: from.hint.goType ?? `v1.${from.hint.goName ?? ''}`,
    fields,
    checked: from.checked,
    preserveUnknown: from.hint.preserveUnknown ?? def.catchall?._zod.def.type === 'unknown',
    atomic: from.hint.atomic ?? false,
    ...(from.hint.patchStrategy === undefined ? {} : { patchStrategy: from.hint.patchStrategy }),
    ...(from.hint.reusable === undefined ? {} : { reusable: from.hint.reusable }),
  });
  // Before its fields: one of them may be of the same type.
  if (isShared) structs.set(from.schema, made);
  for (const name of names) {
    const inner = def.shape[name];
    if (inner === undefined) continue;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    const unwrapped = unwrap(inner, fieldPath);
    const node = nodeFromZod(unwrapped, fieldPath, manner, walk);
    // In a document the schema also judges presence and type, so every field must be looked at.
    if (node.checked || manner === 'document') made.checked = true;
    fields.set(name, {
      name,
      node,
      presence: unwrapped.hint.presence ?? presenceOf(unwrapped, node),
      required: !unwrapped.isOptional,
    });
  }
  return made;
}

type Mutable<Node> = { -readonly [Key in keyof Node]: Node[Key] };

/** Structs by schema: a pod template is the same in every kind that has one. */
const structs = new WeakMap<ZodNode, ObjectNode>();

/** True when the wrappers around a struct say nothing that its node would have to remember. */
function sharable({ schema, hint, checked }: Unwrapped): boolean {
  if (hint.goName === undefined) return false;
  const own = hintOf(schema);
  const same = own.atomic === hint.atomic && own.patchStrategy === hint.patchStrategy && own.goType === hint.goType;
  return same && checked === hasChecks(schema);
}

function presenceOf(from: Unwrapped, node: Structural): Presence {
  if (!from.isOptional) return 'always';
  return node.type === 'object' ? 'pointer' : 'omitEmpty';
}

function hasChecks(schema: ZodNode): boolean {
  return ((schema as z.core.$ZodTypes)._zod.def.checks?.length ?? 0) > 0;
}
