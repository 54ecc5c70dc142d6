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
  readonly patchMergeKey?: string;
  readonly patchStrategy?: string;
  readonly atomic?: boolean;
  readonly preserveUnknown?: boolean;
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

/** A list merged by the value of `key`, by apply and by strategic merge alike. */
export function mapList<Item extends z.ZodType>(item: Item, key: string): z.ZodArray<Item> {
  return hint(z.array(item), { listType: 'map', mapKeys: [key], patchMergeKey: key, patchStrategy: 'merge' });
}
