/**
 * Defaulting by a structural schema: fills in absent fields that have a default and nulls where null is not allowed,
 * recursively also inside of the added values. Runs on every request, on every read from storage, and after a merge.
 * Nulls without a default are dropped before.
 *
 * A schema without defaults has no plan, so most objects are not walked at all. Defaults are frozen with their CRD; an
 * object always gets a copy.
 */
import type { MutableRecord } from '../../util/json.js';
import { copyJson, isRecord, setOwn } from '../../util/json.js';
import type { StructuralSchema } from '../structural-schema.js';
import { additionalSchema } from '../structural-schema.js';
import { coerceEmbeddedResources, hasEmbeddedResources } from './embedded-resources.js';
import { withOrderedKeys } from './wire-order.js';

/** Applies defaults to a draft in place. Added fields come last, until `inWireOrder`. */
export function applyDefaults(schema: StructuralSchema, draft: unknown): void {
  const plan = planOf(schema);
  if (plan !== undefined) fill(plan, draft);
}

/**
 * Applies defaults to a value that may be frozen. Returns the value itself if nothing is added, otherwise a copy that
 * shares all unchanged parts. Objects with added fields are in wire order.
 */
export function withDefaults<Value>(schema: StructuralSchema, value: Value): Value {
  const plan = planOf(schema);
  return plan === undefined ? value : (withFilled(plan, value) as Value);
}

/** The defaults at and below a schema node. A node without any has no plan. */
interface DefaultsPlan {
  readonly fields: readonly FieldDefault[];
  readonly properties: ReadonlyMap<string, DefaultsPlan | undefined>;
  readonly additional: ElementDefaults | undefined;
  readonly items: ElementDefaults | undefined;
}

/** A field with a default. */
interface FieldDefault {
  readonly name: string;
  readonly default: unknown;
  readonly nullable: boolean;
}

/** Defaults for map values and list items: a null is replaced by the default. */
interface ElementDefaults {
  readonly inner: DefaultsPlan | undefined;
  readonly default: unknown;
  readonly replacesNull: boolean;
}

const plans = new WeakMap<StructuralSchema, DefaultsPlan | null>();

function planOf(schema: StructuralSchema): DefaultsPlan | undefined {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = buildPlan(schema) ?? null;
    plans.set(schema, plan);
  }
  return plan ?? undefined;
}

function buildPlan(schema: StructuralSchema): DefaultsPlan | undefined {
  const properties = new Map([...schema.properties].map(([name, inner]) => [name, planOf(inner)]));
  const fields = [...schema.properties]
    .filter(([, inner]) => hasDefault(inner))
    .map(([name, inner]) => ({ name, default: defaultOf(inner), nullable: inner.raw.nullable === true }));
  const additional = elementDefaults(additionalSchema(schema));
  const items = elementDefaults(schema.items);
  const isEmpty = fields.length === 0 && additional === undefined && items === undefined;
  if (isEmpty && [...properties.values()].every((inner) => inner === undefined)) return undefined;
  return { fields, properties, additional, items };
}

function elementDefaults(schema: StructuralSchema | undefined): ElementDefaults | undefined {
  if (schema === undefined) return undefined;
  const inner = planOf(schema);
  const replacesNull = schema.raw.nullable !== true && hasDefault(schema);
  return inner === undefined && !replacesNull ? undefined : { inner, default: defaultOf(schema), replacesNull };
}

/** The default without unknown fields of embedded metadata, which a CRD may contain. */
function defaultOf(schema: StructuralSchema): unknown {
  if (!hasEmbeddedResources(schema)) return schema.raw.default;
  const value = copyJson(schema.raw.default);
  coerceEmbeddedResources(schema, value, { dropMalformed: true });
  return value;
}

function fill(plan: DefaultsPlan, draft: unknown): void {
  if (Array.isArray(draft)) {
    const { items } = plan;
    if (items === undefined) return;
    for (let index = 0; index < draft.length; index++) {
      if (draft[index] === null && items.replacesNull) draft[index] = copyJson(items.default);
      if (items.inner !== undefined) fill(items.inner, draft[index]);
    }
  } else if (isRecord(draft)) fillFields(plan, draft);
}

function fillFields({ fields, properties, additional }: DefaultsPlan, draft: MutableRecord): void {
  for (const field of fields) {
    if (isMissing(draft, field)) setOwn(draft, field.name, copyJson(field.default));
  }
  for (const key of Object.keys(draft)) {
    if (properties.has(key)) {
      const inner = properties.get(key);
      if (inner !== undefined) fill(inner, draft[key]);
    } else if (additional !== undefined) {
      if (draft[key] === null && additional.replacesNull) setOwn(draft, key, copyJson(additional.default));
      if (additional.inner !== undefined) fill(additional.inner, draft[key]);
    }
  }
}

function isMissing(value: Record<string, unknown>, { name, nullable }: FieldDefault): boolean {
  return !Object.hasOwn(value, name) || (value[name] === null && !nullable);
}

function withFilled(plan: DefaultsPlan, value: unknown): unknown {
  if (Array.isArray(value)) return withFilledItems(plan, value);
  return isRecord(value) ? withFilledFields(plan, value) : value;
}

function withFilledItems({ items }: DefaultsPlan, list: readonly unknown[]): readonly unknown[] {
  if (items === undefined) return list;
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = withFilledElement(items, list[index]);
    if (item === list[index]) continue;
    copy ??= [...list];
    copy[index] = item;
  }
  return copy ?? list;
}

function withFilledFields(plan: DefaultsPlan, value: Record<string, unknown>): Record<string, unknown> {
  const { fields, properties, additional } = plan;
  let copy: MutableRecord | undefined;
  const put = (key: string, changed: unknown) => {
    copy ??= { ...value };
    setOwn(copy, key, changed);
  };
  for (const field of fields) {
    if (!isMissing(value, field)) continue;
    const inner = properties.get(field.name);
    const added: unknown = copyJson(field.default);
    put(field.name, inner === undefined ? added : withFilled(inner, added));
  }
  for (const key of Object.keys(value)) {
    if (copy !== undefined && copy[key] !== value[key]) continue;
    const inner = properties.get(key);
    const changed =
      inner !== undefined
        ? withFilled(inner, value[key])
        : additional === undefined || properties.has(key)
          ? value[key]
          : withFilledElement(additional, value[key]);
    if (changed !== value[key]) put(key, changed);
  }
  return copy === undefined ? value : withOrderedKeys(copy);
}

function withFilledElement({ inner, default: fallback, replacesNull }: ElementDefaults, value: unknown): unknown {
  if (value !== null || !replacesNull) return inner === undefined ? value : withFilled(inner, value);
  const added: unknown = copyJson(fallback);
  return inner === undefined ? added : withFilled(inner, added);
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
    else if (inner.raw.nullable !== true && !hasDefault(inner)) delete draft[key];
  }
}

/** A null default counts as no default. */
export function hasDefault({ raw }: StructuralSchema): boolean {
  return raw.default !== undefined && raw.default !== null;
}
