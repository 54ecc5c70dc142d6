/**
 * Defaulting by a structural schema: fills in absent fields that have a default and nulls where null is not allowed,
 * recursively also inside of the added values. Runs on every request, on every read from storage, and after a merge.
 *
 * A schema without defaults has no plan, so most objects are not walked at all. Defaults are frozen with their CRD; an
 * object always gets a copy.
 */
import type { MutableRecord } from '../../util/json.js';
import { copyJson, isRecord, setOwn } from '../../util/json.js';
import type { SchemaView } from '../schema-view.js';
import { additionalSchema } from '../schema-view.js';
import { coerceEmbedded, hasEmbedded } from './embedded-resources.js';
import { withOrderedKeys } from './wire-order.js';

/** Applies defaults to a draft in place. Added fields come last, until `inWireOrder`. */
export function applyDefaults(schema: SchemaView, draft: unknown): void {
  const filling = fillingOf(schema);
  if (filling !== undefined) fillIn(filling, draft);
}

/**
 * Applies defaults to a value that may be frozen. Returns the value itself if nothing is added, otherwise a copy that
 * shares all unchanged parts. Objects with added fields are in wire order.
 */
export function withDefaults<Value>(schema: SchemaView, value: Value): Value {
  const filling = fillingOf(schema);
  return filling === undefined ? value : (filled(filling, value) as Value);
}

/** The defaults at and below a schema node. A node without any has no plan. */
interface Filling {
  readonly fields: readonly FieldFilling[];
  readonly properties: ReadonlyMap<string, Filling | undefined>;
  readonly additional: ElementFilling | undefined;
  readonly items: ElementFilling | undefined;
}

/** A field with a default. */
interface FieldFilling {
  readonly name: string;
  readonly default: unknown;
  readonly nullable: boolean;
}

/** Defaults for map values and list items: a null is replaced by the default. */
interface ElementFilling {
  readonly inner: Filling | undefined;
  readonly default: unknown;
  readonly replacesNull: boolean;
}

const fillings = new WeakMap<SchemaView, Filling | null>();

function fillingOf(schema: SchemaView): Filling | undefined {
  let filling = fillings.get(schema);
  if (filling === undefined) {
    filling = prepare(schema) ?? null;
    fillings.set(schema, filling);
  }
  return filling ?? undefined;
}

function prepare(schema: SchemaView): Filling | undefined {
  const properties = new Map([...schema.properties].map(([name, inner]) => [name, fillingOf(inner)]));
  const fields = [...schema.properties]
    .filter(([, inner]) => hasDefault(inner))
    .map(([name, inner]) => ({ name, default: defaultOf(inner), nullable: inner.raw.nullable === true }));
  const additional = elementFilling(additionalSchema(schema));
  const items = elementFilling(schema.items);
  const isEmpty = fields.length === 0 && additional === undefined && items === undefined;
  if (isEmpty && [...properties.values()].every((inner) => inner === undefined)) return undefined;
  return { fields, properties, additional, items };
}

function elementFilling(schema: SchemaView | undefined): ElementFilling | undefined {
  if (schema === undefined) return undefined;
  const inner = fillingOf(schema);
  const replacesNull = schema.raw.nullable !== true && hasDefault(schema);
  return inner === undefined && !replacesNull ? undefined : { inner, default: defaultOf(schema), replacesNull };
}

/** The default without unknown fields of embedded metadata, which a CRD may contain. */
function defaultOf(schema: SchemaView): unknown {
  if (!hasEmbedded(schema)) return schema.raw.default;
  const value = copyJson(schema.raw.default);
  coerceEmbedded(schema, value, { dropMalformed: true });
  return value;
}

function fillIn(filling: Filling, draft: unknown): void {
  if (Array.isArray(draft)) {
    const { items } = filling;
    if (items === undefined) return;
    for (let index = 0; index < draft.length; index++) {
      if (draft[index] === null && items.replacesNull) draft[index] = copyJson(items.default);
      if (items.inner !== undefined) fillIn(items.inner, draft[index]);
    }
  } else if (isRecord(draft)) fillInFields(filling, draft);
}

function fillInFields({ fields, properties, additional }: Filling, draft: MutableRecord): void {
  for (const field of fields) {
    if (isMissing(draft, field)) setOwn(draft, field.name, copyJson(field.default));
  }
  for (const key of Object.keys(draft)) {
    if (properties.has(key)) {
      const inner = properties.get(key);
      if (inner !== undefined) fillIn(inner, draft[key]);
    } else if (additional !== undefined) {
      if (draft[key] === null && additional.replacesNull) setOwn(draft, key, copyJson(additional.default));
      if (additional.inner !== undefined) fillIn(additional.inner, draft[key]);
    }
  }
}

function isMissing(value: Record<string, unknown>, { name, nullable }: FieldFilling): boolean {
  return !Object.hasOwn(value, name) || (value[name] === null && !nullable);
}

function filled(filling: Filling, value: unknown): unknown {
  if (Array.isArray(value)) return filledItems(filling, value);
  return isRecord(value) ? filledFields(filling, value) : value;
}

function filledItems({ items }: Filling, list: readonly unknown[]): readonly unknown[] {
  if (items === undefined) return list;
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = filledElement(items, list[index]);
    if (item === list[index]) continue;
    copy ??= [...list];
    copy[index] = item;
  }
  return copy ?? list;
}

function filledFields(filling: Filling, value: Record<string, unknown>): Record<string, unknown> {
  const { fields, properties, additional } = filling;
  let copy: MutableRecord | undefined;
  const put = (key: string, changed: unknown) => {
    copy ??= { ...value };
    setOwn(copy, key, changed);
  };
  for (const field of fields) {
    if (!isMissing(value, field)) continue;
    const inner = properties.get(field.name);
    const added: unknown = copyJson(field.default);
    put(field.name, inner === undefined ? added : filled(inner, added));
  }
  for (const key of Object.keys(value)) {
    if (copy !== undefined && copy[key] !== value[key]) continue;
    const inner = properties.get(key);
    const changed =
      inner !== undefined
        ? filled(inner, value[key])
        : additional === undefined || properties.has(key)
          ? value[key]
          : filledElement(additional, value[key]);
    if (changed !== value[key]) put(key, changed);
  }
  return copy === undefined ? value : withOrderedKeys(copy);
}

function filledElement({ inner, default: fallback, replacesNull }: ElementFilling, value: unknown): unknown {
  if (value !== null || !replacesNull) return inner === undefined ? value : filled(inner, value);
  const added: unknown = copyJson(fallback);
  return inner === undefined ? added : filled(inner, added);
}

/** Changes a draft in place. */
export function dropNulls(schema: SchemaView, draft: unknown): void {
  if (Array.isArray(draft)) {
    const { items } = schema;
    if (items !== undefined) for (const item of draft) dropNulls(items, item);
  } else if (isRecord(draft)) dropFromFields(schema, draft);
}

function dropFromFields(schema: SchemaView, draft: MutableRecord): void {
  for (const key of Object.keys(draft)) {
    const inner = schema.properties.get(key) ?? additionalSchema(schema);
    if (inner === undefined) continue;
    const value = draft[key];
    if (value !== null) dropNulls(inner, value);
    else if (inner.raw.nullable !== true && !hasDefault(inner)) delete draft[key];
  }
}

/** A null default counts as no default. */
export function hasDefault({ raw }: SchemaView): boolean {
  return raw.default !== undefined && raw.default !== null;
}
