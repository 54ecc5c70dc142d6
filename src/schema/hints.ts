/**
 * Schema hints: what zod cannot express about a field of a user-defined kind and the server needs, such as how apply
 * treats it. A hint is on the schema itself or on a wrapper around it; `from-zod.ts` reads both.
 *
 * The library uses zod only through the schemas that it is given. It does not import zod at run time, so programs without
 * kinds of their own do not load it.
 */
import type * as z from 'zod';
import type { JSONSchemaProps } from './json-schema.js';
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
  readonly keywords?: SchemaKeywords;
}

/**
 * Keywords of the JSON schema of a CRD. They replace those that follow from the zod schema; null removes one. `properties`
 * are added to those of the zod schema. Extensions may have the names of any dialect.
 */
export type SchemaKeywords = {
  readonly [Keyword in keyof JSONSchemaProps]?: JSONSchemaProps[Keyword] | null;
};

/**
 * The part of a zod schema's type that public types read. Public types do not name zod's own types: a program without
 * kinds of its own then does not load zod's declarations, which take longer to check than all others together.
 */
export interface ZodSchema {
  readonly _zod: {
    readonly output: unknown;
    readonly input: unknown;
    readonly optin?: 'optional' | 'defaulted' | undefined;
    readonly optout?: 'optional' | undefined;
  };
}

/** zod schemas by field. */
export interface ZodShape {
  readonly [field: string]: ZodSchema;
}

/**
 * Shared by all copies of the library in a process: a kind of a program's copy may be converted by the copy of the command
 * line.
 */
const SHARED = Symbol.for('orchplane.schema-hints');

function sharedHints(): WeakMap<ZodSchema, Hint> {
  const holder = globalThis as { [SHARED]?: WeakMap<ZodSchema, Hint> };
  holder[SHARED] ??= new WeakMap();
  return holder[SHARED];
}

const hints = /* @__PURE__ */ sharedHints();

/** Adds hints to a schema and returns it. */
export function hint<Schema extends ZodSchema>(schema: Schema, more: Hint): Schema {
  hints.set(schema, { ...hintOf(schema), ...more });
  return schema;
}

/** Returns the hints of a schema, including those of the schema that it refines (`mapList(…).min(1)`). */
export function hintOf(schema: ZodSchema): Hint {
  const { parent } = (schema as z.core.$ZodType)._zod;
  const own = hints.get(schema) ?? {};
  return parent === undefined ? own : mergeHints(hintOf(parent), own);
}

/** Outer hints take precedence over inner ones; keywords are merged one by one. */
export function mergeHints(inner: Hint, outer: Hint): Hint {
  const keywords = inner.keywords === undefined ? outer.keywords : { ...inner.keywords, ...outer.keywords };
  return { ...inner, ...outer, ...(keywords === undefined ? {} : { keywords }) };
}

/** The fields of an item that can be list-map keys. */
type KeyOf<Item extends ZodSchema> = Extract<keyof Item['_zod']['output'], string>;

/** A schema with zod's method `array`. */
interface Listable<List> extends ZodSchema {
  array(): List;
}

/**
 * A list of objects that apply merges item by item: items with the same values of `keys` are the same item.
 *
 * @example
 * mapList(z.object({ name: z.string(), role: z.string().default('guest') }), 'name');
 */
export function mapList<Item extends ZodSchema, List extends ZodSchema>(
  item: Item & Listable<List>,
  keys: KeyOf<Item> | readonly KeyOf<Item>[],
): List {
  const mapKeys: readonly string[] = typeof keys === 'string' ? [keys] : keys;
  return hint(item.array(), { listType: 'map', mapKeys, patchMergeKey: mapKeys[0] ?? '', patchStrategy: 'merge' });
}

/**
 * A list of unique scalars, each of which has its own owners.
 *
 * @example
 * setList(z.string());
 */
export function setList<List extends ZodSchema>(item: Listable<List>): List {
  return hint(item.array(), { listType: 'set' });
}

/**
 * An object or a record that apply replaces as a whole; the last applier owns it. Lists are atomic by default.
 *
 * @example
 * atomic(z.object({ from: z.string(), to: z.string() }));
 */
export function atomic<Schema extends ZodSchema>(schema: Schema): Schema {
  return hint(schema, { atomic: true });
}

/**
 * Adds keywords of the CRD's JSON schema that zod cannot express: rules in CEL, patterns in the syntax of the server, `oneOf`,
 * embedded resources. A cluster validates the objects of the kind with them, and `toCRD` writes them.
 *
 * @example
 * withKeywords(z.string(), { format: 'hostname' });
 */
export function withKeywords<Schema extends ZodSchema>(schema: Schema, keywords: SchemaKeywords): Schema {
  return hint(schema, mergeHints(hintOf(schema), { keywords }));
}
