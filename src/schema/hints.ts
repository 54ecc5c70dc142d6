/**
 * Schema hints: what zod cannot express about a field of a user-defined kind and the server needs, such as how apply
 * treats it. A hint is on the schema itself or on a wrapper around it; `from-zod.ts` reads both.
 *
 * The library uses zod only through the schemas that it is given. It does not import zod at run time, so programs without
 * kinds of their own do not load it.
 */
import type * as z from 'zod';
import type { SchemaNode } from './schema-node.js';

/** The hints of a schema. */
export interface Hint {
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly mapKeys?: readonly string[];
  readonly patchMergeKey?: string;
  readonly patchStrategy?: string;
  readonly atomic?: boolean;
  /** The type of a built-in kind that the schema was made from. */
  readonly builtIn?: SchemaNode;
}

const hints = new WeakMap<z.core.$ZodType, Hint>();

/** Adds hints to a schema and returns it. */
export function hint<Schema extends z.core.$ZodType>(schema: Schema, more: Hint): Schema {
  hints.set(schema, { ...hintOf(schema), ...more });
  return schema;
}

/** Returns the hints of a schema, including those of the schema that it refines (`mapList(…).min(1)`). */
export function hintOf(schema: z.core.$ZodType): Hint {
  const { parent } = schema._zod;
  const own = hints.get(schema) ?? {};
  return parent === undefined ? own : { ...hintOf(parent), ...own };
}

/** The fields of an item that can be list-map keys. */
type KeyOf<Item extends z.ZodType> = Extract<keyof z.output<Item>, string>;

/**
 * A list of objects that apply merges item by item: items with the same values of `keys` are the same item.
 *
 * @example
 * mapList(z.object({ name: z.string(), role: z.string().default('guest') }), 'name');
 */
export function mapList<Item extends z.ZodType>(
  item: Item,
  keys: KeyOf<Item> | readonly KeyOf<Item>[],
): z.ZodArray<Item> {
  const mapKeys: readonly string[] = typeof keys === 'string' ? [keys] : keys;
  return hint(item.array(), { listType: 'map', mapKeys, patchMergeKey: mapKeys[0] ?? '', patchStrategy: 'merge' });
}

/**
 * A list of unique scalars, each of which has its own owners.
 *
 * @example
 * setList(z.string());
 */
export function setList<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return hint(item.array(), { listType: 'set' });
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
