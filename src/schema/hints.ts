/**
 * Schema hints: what zod cannot express about a field and the server needs, such as its representation, its Go names
 * for decoding messages, and how apply and strategic merge treat it. Hints are in a zod registry, on the schema itself
 * or on the optional wrapper around it; `from-zod.ts` reads both.
 */
import * as z from 'zod';
import type { Presence, ScalarType } from './schema-node.js';

/** The hints of a schema. */
export interface Hint {
  /** See `Structural.goType`; derived from the schema if absent. */
  readonly goType?: string;
  /** On objects: the name of the Go struct. It makes the object a struct of the API's own types. */
  readonly goName?: string;
  readonly presence?: Presence;
  readonly scalar?: ScalarType;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly mapKeys?: readonly string[];
  readonly keyFallbacks?: Readonly<Record<string, unknown>>;
  readonly patchMergeKey?: string;
  readonly patchStrategy?: string;
  readonly atomic?: boolean;
  readonly preserveUnknown?: boolean;
  /**
   * On structs: a stored value is reused as it is when it is written again. Kinds with such a struct only default and
   * change parts that are not frozen.
   */
  readonly reusable?: boolean;
}

const registry = z.registry<Hint>();

/** Adds hints to a schema and returns it. Call it after `.check` and similar methods, which create a new schema. */
export function hint<Schema extends z.ZodType>(schema: Schema, more: Hint): Schema {
  registry.add(schema, { ...registry.get(schema), ...more });
  return schema;
}

/** Returns the hints of a schema. */
export function hintOf(schema: z.core.$ZodType): Hint {
  return registry.get(schema) ?? {};
}

/** An object that is represented like the reference server's struct of that name. */
export function struct<Shape extends z.ZodRawShape>(goName: string, shape: Shape): z.ZodObject<Shape> {
  return hint(z.object(shape), { goName }) as z.ZodObject<Shape>;
}

/** Optional, and on the wire whenever it was given, empty or not. */
export function pointer<Schema extends z.ZodType>(schema: Schema): z.ZodExactOptional<Schema> {
  return hint(z.exactOptional(schema), { presence: 'pointer' });
}

/** Optional, and omitted from the wire if empty. */
export function optional<Schema extends z.ZodType>(schema: Schema): z.ZodExactOptional<Schema> {
  return z.exactOptional(schema);
}

/** Base64 text of arbitrary bytes. */
export function bytes(): z.ZodString {
  return hint(z.string(), { scalar: 'bytes' });
}

/** RFC 3339, stored in whole seconds UTC. */
export function time(): z.ZodString {
  return hint(z.string(), { scalar: 'time' });
}

/** RFC 3339 with exactly six fractional digits. */
export function microTime(): z.ZodString {
  return hint(z.string(), { scalar: 'microTime' });
}

/** A 32-bit integer. */
export function int32(): z.ZodNumber {
  return hint(z.number(), { scalar: 'int32' });
}

/** A 64-bit integer. */
export function int64(): z.ZodNumber {
  return hint(z.number(), { scalar: 'int64' });
}

/** A string with its own Go type name. */
export function namedString(goType: string): z.ZodString {
  return hint(z.string(), { goType });
}

/** A string type with known values. Whether other values are allowed is decided by the validation of the kind. */
export function enumString<Word extends string>(goType: string): z.ZodType<Word, Word> {
  return namedString(goType) as unknown as z.ZodType<Word, Word>;
}

/** `1`, `500m`, `2Gi`, stored in canonical form. A number is accepted too. */
export function quantity(): z.ZodType<string, string | number> {
  return hint(z.string(), { scalar: 'quantity' }) as z.ZodType<string, string | number>;
}

/** Quantities by resource name. */
export function resourceList(): z.ZodRecord<z.ZodString, z.ZodType<string, string | number>> {
  return hint(z.record(z.string(), quantity()), { goType: 'v1.ResourceList' });
}

/** An integer or a string. */
export function intOrString(): z.ZodType<number | string, number | string> {
  return hint(z.unknown(), { scalar: 'intOrString' }) as z.ZodType<number | string, number | string>;
}

/** An embedded document of any kind, stored as it is. */
export function rawExtension(): z.ZodType<unknown, unknown> {
  return hint(z.unknown(), { goType: 'runtime.RawExtension' });
}

/** Optional in input; always on the wire, with its zero value if absent. */
export function always<Schema extends z.ZodType>(schema: Schema): z.ZodDefault<Schema> {
  // It has the type of a default, because readers always find a value. The default is the zero value of the schema.
  return hint(z.exactOptional(schema), { presence: 'always' }) as unknown as z.ZodDefault<Schema>;
}

/** A time that is `null` on the wire if it was not given. */
export function timeOrNull(): z.ZodExactOptional<z.ZodNullable<z.ZodString>> {
  return hint(z.exactOptional(time().nullable()), { presence: 'always' });
}

/** The default applies if the field is absent or empty. */
export function defaulted<Schema extends z.ZodType>(
  schema: Schema,
  value: z.util.NoUndefined<z.output<Schema>>,
): z.ZodDefault<Schema> {
  return hint(schema.default(value), { presence: 'omitEmpty' });
}

/** The default applies if the field is absent; an empty value that was given is kept. */
export function defaultedPointer<Schema extends z.ZodType>(
  schema: Schema,
  value: z.util.NoUndefined<z.output<Schema>>,
): z.ZodDefault<Schema> {
  return hint(schema.default(value), { presence: 'pointer' });
}

/** The fields of an item that can be list-map keys. */
type KeyOf<Item extends z.ZodType> = Extract<keyof z.output<Item>, string>;

/**
 * A list of objects that apply merges item by item: items with the same values of `keys` are the same item. Strategic
 * merge (only for built-in kinds) uses the first key unless `patchKey` names another one.
 *
 * @example
 * mapList(z.object({ name: z.string(), role: z.string().default('guest') }), 'name');
 */
export function mapList<Item extends z.ZodType>(
  item: Item,
  keys: KeyOf<Item> | readonly KeyOf<Item>[],
  patchKey?: KeyOf<Item>,
): z.ZodArray<Item> {
  const mapKeys: readonly string[] = typeof keys === 'string' ? [keys] : keys;
  const patchMergeKey = patchKey ?? mapKeys[0] ?? '';
  return hint(z.array(item), { listType: 'map', mapKeys, patchMergeKey, patchStrategy: 'merge' });
}

/** A list that only apply merges, by the values of `keys`; strategic merge replaces it. */
export function applyMapList<Item extends z.ZodType>(item: Item, keys: string | readonly string[]): z.ZodArray<Item> {
  return hint(z.array(item), { listType: 'map', mapKeys: typeof keys === 'string' ? [keys] : keys });
}

/**
 * A list of unique scalars, each of which has its own owners.
 *
 * @example
 * setList(z.string());
 */
export function setList<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return hint(z.array(item), { listType: 'set' });
}

/**
 * An object or a record that apply replaces as a whole; the last applier owns it. Lists are atomic by default.
 *
 * @example
 * atomic(z.object({ from: z.string(), to: z.string() }));
 */
export function atomic<Schema extends z.ZodType>(schema: Schema): Schema {
  return hint(schema, { atomic: true });
}
