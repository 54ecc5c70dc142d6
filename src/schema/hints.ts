/**
 * What zod cannot say about a field and the server must know: its wire manner, its Go names for decoding messages,
 * how apply and strategic merge treat it. Hints sit in a zod registry, on the schema itself or on the optional
 * wrapper around it; `from-zod.ts` reads both.
 */
import * as z from 'zod';
import type { Presence, ScalarType } from './structural.js';

export interface Hint {
  /** See `Structural.goType`; guessed from the schema when absent. */
  readonly goType?: string;
  /** On objects: the struct's name. Its presence makes the object a struct of the reference server. */
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
   * On structs: what was stored once is taken as it is when it comes again. Kinds that hold one fill in and change only
   * what is not frozen.
   */
  readonly reusable?: boolean;
}

const registry = z.registry<Hint>();

/** Adds hints to a schema and returns it. Apply it after `.check` and the like: those make a new schema. */
export function hint<Schema extends z.ZodType>(schema: Schema, more: Hint): Schema {
  registry.add(schema, { ...registry.get(schema), ...more });
  return schema;
}

export function hintOf(schema: z.core.$ZodType): Hint {
  return registry.get(schema) ?? {};
}

/** An object that comes out as the reference server's struct of that name does. */
export function struct<Shape extends z.ZodRawShape>(goName: string, shape: Shape): z.ZodObject<Shape> {
  return hint(z.object(shape), { goName }) as z.ZodObject<Shape>;
}

/** Optional, and on the wire whenever it was given, empty or not. */
export function pointer<Schema extends z.ZodType>(schema: Schema): z.ZodExactOptional<Schema> {
  return hint(z.exactOptional(schema), { presence: 'pointer' });
}

/** Optional, and left out of the wire when empty. */
export function optional<Schema extends z.ZodType>(schema: Schema): z.ZodExactOptional<Schema> {
  return z.exactOptional(schema);
}

/** Base64 text of arbitrary bytes. */
export function bytes(): z.ZodString {
  return hint(z.string(), { scalar: 'bytes' });
}

/** RFC 3339, kept in whole seconds UTC. */
export function time(): z.ZodString {
  return hint(z.string(), { scalar: 'time' });
}

/** RFC 3339 with exactly six fractional digits. */
export function microTime(): z.ZodString {
  return hint(z.string(), { scalar: 'microTime' });
}

export function int32(): z.ZodNumber {
  return hint(z.number(), { scalar: 'int32' });
}

export function int64(): z.ZodNumber {
  return hint(z.number(), { scalar: 'int64' });
}

/** A string with a name of its own in the reference server's types. */
export function namedString(goType: string): z.ZodString {
  return hint(z.string(), { goType });
}

/** A string of which the reference server knows these words; whether another one is allowed is for its kind to say. */
export function words<Word extends string>(goType: string): z.ZodType<Word, Word> {
  return namedString(goType) as unknown as z.ZodType<Word, Word>;
}

/** `1`, `500m`, `2Gi`: kept in canonical form. A bare number is taken too. */
export function quantity(): z.ZodType<string, string | number> {
  return hint(z.string(), { scalar: 'quantity' }) as unknown as z.ZodType<string, string | number>;
}

/** Amounts by the name of a resource. */
export function resourceList(): z.ZodRecord<z.ZodString, z.ZodType<string, string | number>> {
  return hint(z.record(z.string(), quantity()), { goType: 'v1.ResourceList' });
}

export function intOrString(): z.ZodType<number | string, number | string> {
  return hint(z.unknown(), { scalar: 'intOrString' }) as unknown as z.ZodType<number | string, number | string>;
}

/** An embedded document of any kind, kept as it is. */
export function rawExtension(): z.ZodType<unknown, unknown> {
  return hint(z.unknown(), { goType: 'runtime.RawExtension' });
}

/** Optional when sent; on the wire always, empty if need be. */
export function always<Schema extends z.ZodType>(schema: Schema): z.ZodDefault<Schema> {
  // Its type is that of a default: whoever reads it finds it. The default is the empty value of the schema.
  return hint(z.exactOptional(schema), { presence: 'always' }) as unknown as z.ZodDefault<Schema>;
}

/** A time that is `null` on the wire when it was not given. */
export function timeOrNull(): z.ZodExactOptional<z.ZodNullable<z.ZodString>> {
  return hint(z.exactOptional(time().nullable()), { presence: 'always' });
}

/** Filled in when absent or empty. */
export function defaulted<Schema extends z.ZodType>(
  schema: Schema,
  value: z.util.NoUndefined<z.output<Schema>>,
): z.ZodDefault<Schema> {
  return hint(schema.default(value), { presence: 'omitEmpty' });
}

/** Filled in when absent; an empty value that was given stays. */
export function defaultedPointer<Schema extends z.ZodType>(
  schema: Schema,
  value: z.util.NoUndefined<z.output<Schema>>,
): z.ZodDefault<Schema> {
  return hint(schema.default(value), { presence: 'pointer' });
}

/** The fields of an item by which it may be told from others. */
type KeyOf<Item extends z.ZodType> = Extract<keyof z.output<Item>, string>;

/**
 * A list of objects that apply merges item by item: items with the same values of `keys` are the same item. Strategic
 * merge, which built-in kinds know, goes by the first key unless `patchKey` names another one.
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

/** A list merged by the values of `keys`, by apply only: strategic merge replaces it. */
export function applyMapList<Item extends z.ZodType>(item: Item, keys: string | readonly string[]): z.ZodArray<Item> {
  return hint(z.array(item), { listType: 'map', mapKeys: typeof keys === 'string' ? [keys] : keys });
}

/**
 * A list of plain values, each of which stands in it once and is owned on its own.
 *
 * @example
 * setList(z.string());
 */
export function setList<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return hint(z.array(item), { listType: 'set' });
}

/**
 * An object or a record that apply replaces as a whole: it belongs to whoever applied it last. Lists are that without a
 * word.
 *
 * @example
 * atomic(z.object({ from: z.string(), to: z.string() }));
 */
export function atomic<Schema extends z.ZodType>(schema: Schema): Schema {
  return hint(schema, { atomic: true });
}
