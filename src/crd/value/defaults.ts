/**
 * Defaulting by a structural schema: fills in absent fields that have a default and nulls where null is not allowed,
 * recursively also inside of the added values. Runs on every request, on every read from storage, and after a merge.
 * Nulls without a default are dropped before.
 *
 * A schema without defaults has no plan, so most objects are not walked at all. Defaults are frozen with their CRD; an
 * object always gets a copy.
 */
import type { MutableRecord } from '../../util/json.js';
import { copyJson, isRecord, printJson, setOwn } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { StructuralSchema } from '../structural-schema.js';
import { additionalSchema } from '../structural-schema.js';
import { coerceEmbeddedResources, hasEmbeddedResources } from './embedded-resources.js';
import { withOrderedKeys } from './wire-order.js';

/**
 * Applies defaults to a draft in place, because every request does it. Added fields come last, until `inWireOrder`. Throws
 * DefaultsTooLargeError if more than `maxBytes` would be added: a short text with many items can have large defaults.
 */
export function applyDefaults(schema: StructuralSchema, draft: unknown, maxBytes = Number.POSITIVE_INFINITY): void {
  const plan = planOf(schema);
  if (plan !== undefined) withFilled(plan, draft, { isDraft: true, bytesLeft: maxBytes });
}

export class DefaultsTooLargeError extends Error {}

interface Filling {
  /** A draft is changed in place; other values are copied where they change. */
  readonly isDraft: boolean;
  /** What may still be added. */
  bytesLeft: number;
}

/**
 * Applies defaults to a value that may be frozen. Returns the value itself if nothing is added, otherwise a copy that
 * shares all unchanged parts. Objects with added fields are in wire order. Throws as {@link applyDefaults}.
 */
export function withDefaults<Value>(
  schema: StructuralSchema,
  value: Value,
  maxBytes = Number.POSITIVE_INFINITY,
): Value {
  const plan = planOf(schema);
  return plan === undefined ? value : (withFilled(plan, value, { isDraft: false, bytesLeft: maxBytes }) as Value);
}

/** The defaults at and below a schema node. A node without any has no plan. */
interface DefaultsPlan {
  /** The fields that are added if they are absent. */
  readonly added: readonly (readonly [name: string, defaults: ValueDefaults])[];
  readonly properties: ReadonlyMap<string, ValueDefaults | undefined>;
  readonly additional: ValueDefaults | undefined;
  readonly items: ValueDefaults | undefined;
}

/** The defaults of a field, a map value or a list item. */
interface ValueDefaults {
  readonly inner: DefaultsPlan | undefined;
  readonly default: unknown;
  /** The size of the default in JSON. */
  readonly bytes: number;
  /** A null is replaced by the default. */
  readonly replacesNull: boolean;
}

const plans = new WeakMap<StructuralSchema, DefaultsPlan | null>();

function planOf(schema: StructuralSchema): DefaultsPlan | undefined {
  return getOrInsertComputed(plans, schema, (one) => buildPlan(one) ?? null) ?? undefined;
}

function buildPlan(schema: StructuralSchema): DefaultsPlan | undefined {
  const properties = new Map([...schema.properties].map(([name, inner]) => [name, valueDefaults(inner)]));
  const added = [...properties].flatMap(([name, defaults]) =>
    defaults === undefined || defaults.default === undefined ? [] : [[name, defaults] as const],
  );
  const additional = valueDefaults(additionalSchema(schema));
  const items = valueDefaults(schema.items);
  const isEmpty = [...properties.values(), additional, items].every((defaults) => defaults === undefined);
  return isEmpty ? undefined : { added, properties, additional, items };
}

function valueDefaults(schema: StructuralSchema | undefined): ValueDefaults | undefined {
  if (schema === undefined) return undefined;
  const inner = planOf(schema);
  if (!hasDefault(schema)) return inner && { inner, default: undefined, bytes: 0, replacesNull: false };
  const value = defaultOf(schema);
  return { inner, default: value, bytes: printJson(value).length, replacesNull: schema.raw.nullable !== true };
}

/** The default without unknown fields of embedded metadata, which a CRD may contain. */
function defaultOf(schema: StructuralSchema): unknown {
  if (!hasEmbeddedResources(schema)) return schema.raw.default;
  const value = copyJson(schema.raw.default);
  coerceEmbeddedResources(schema, value, { dropMalformed: true });
  return value;
}

function withFilled(plan: DefaultsPlan, value: unknown, filling: Filling): unknown {
  if (Array.isArray(value)) return withFilledItems(plan, value, filling);
  return isRecord(value) ? withFilledFields(plan, value, filling) : value;
}

function withFilledItems({ items }: DefaultsPlan, list: unknown[], filling: Filling): unknown[] {
  if (items === undefined) return list;
  let filled = list;
  for (let index = 0; index < list.length; index++) {
    const item = withFilledValue(items, list[index], filling);
    if (item === list[index]) continue;
    if (filled === list && !filling.isDraft) filled = [...list];
    filled[index] = item;
  }
  return filled;
}

function withFilledFields(plan: DefaultsPlan, value: MutableRecord, filling: Filling): MutableRecord {
  const { added, properties, additional } = plan;
  const keys = Object.keys(value);
  let filled = value;
  const put = (key: string, changed: unknown) => {
    if (filled === value && !filling.isDraft) filled = { ...value };
    setOwn(filled, key, changed);
  };
  for (const [name, defaults] of added) if (!Object.hasOwn(value, name)) put(name, filledDefault(defaults, filling));
  for (const key of keys) {
    const defaults = properties.has(key) ? properties.get(key) : additional;
    const changed = defaults === undefined ? value[key] : withFilledValue(defaults, value[key], filling);
    if (changed !== value[key]) put(key, changed);
  }
  return filled === value ? value : withOrderedKeys(filled);
}

function withFilledValue(defaults: ValueDefaults, value: unknown, filling: Filling): unknown {
  if (value === null && defaults.replacesNull) return filledDefault(defaults, filling);
  return defaults.inner === undefined ? value : withFilled(defaults.inner, value, filling);
}

function filledDefault({ inner, default: fallback, bytes }: ValueDefaults, filling: Filling): unknown {
  filling.bytesLeft -= bytes;
  if (filling.bytesLeft < 0) throw new DefaultsTooLargeError();
  const added: unknown = copyJson(fallback);
  return inner === undefined ? added : withFilled(inner, added, filling);
}

/** Changes a draft in place. */
export function dropNulls(schema: StructuralSchema, draft: unknown): void {
  if (Array.isArray(draft)) {
    const { items } = schema;
    if (items !== undefined) for (const item of draft) dropNulls(items, item);
  } else if (isRecord(draft)) dropFromFields(schema, draft);
}

function dropFromFields(schema: StructuralSchema, draft: MutableRecord): void {
  for (const key of Object.keys(draft)) {
    const inner = schema.properties.get(key) ?? additionalSchema(schema);
    if (inner === undefined) continue;
    const value = draft[key];
    if (value !== null) dropNulls(inner, value);
    else if (isDropped(inner)) delete draft[key];
  }
}

/** Whether a field with this schema is removed if it is null. */
function isDropped(schema: StructuralSchema): boolean {
  return schema.raw.nullable !== true && !hasDefault(schema);
}

/** Whether {@link dropNulls} would change the value. */
export function hasDroppedNulls(schema: StructuralSchema, value: unknown): boolean {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items !== undefined && value.some((item) => hasDroppedNulls(items, item));
  }
  if (!isRecord(value)) return false;
  return Object.keys(value).some((key) => {
    const inner = schema.properties.get(key) ?? additionalSchema(schema);
    if (inner === undefined) return false;
    return value[key] === null ? isDropped(inner) : hasDroppedNulls(inner, value[key]);
  });
}

/** A null default counts as no default. */
export function hasDefault({ raw }: StructuralSchema): boolean {
  return raw.default !== undefined && raw.default !== null;
}
