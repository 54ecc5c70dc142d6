/**
 * Converts zod schemas to structural schemas: every field with its type, and all constraints that a CRD can express.
 * The result follows what `defineKind` does with the same zod schema.
 */
import * as z from 'zod';
import { MAX_SCHEMA_NODES } from '../../schema/from-zod.js';
import { type Hint, hintOf } from '../../schema/hints.js';
import type { MutableRecord } from '../../util/json.js';
import { setOwn } from '../../util/json.js';
import type { Draft, Place, ZodDef, ZodNode } from './context.js';
import { allowNull, anything, below, checksOf, defOf, extension, lose, loseOthers } from './context.js';
import { enumSchema, isNothing, lengths, NOTHING, numberSchema, patternSchema, textSchema } from './scalars.js';
import { intersectionSchema, tupleItems, unionSchema } from './unions.js';

/** Converts the body of a kind. Constraints that cannot be expressed are passed to `report`. */
export function schemaFromZod(
  body: ZodNode,
  about: Pick<Place, 'owner' | 'dialect' | 'report' | 'datesAreTexts'>,
): Draft {
  return walk(body, { path: '', noDefaults: false, around: [], closed: new WeakSet(), count: { nodes: 0 }, ...about });
}

/** A schema without its wrappers, and what the wrappers declare. */
interface Unwrapped {
  readonly inner: ZodNode;
  readonly hint: Hint;
  readonly isNullable: boolean;
  /** The default in a list, because undefined and null are different defaults. */
  readonly fallback: readonly unknown[];
  readonly words: Draft;
}

function walk(schema: ZodNode, place: Place): Draft {
  if (++place.count.nodes > MAX_SCHEMA_NODES) {
    throw new TypeError(`orchplane: ${place.owner}: its definition would have more than ${MAX_SCHEMA_NODES} fields`);
  }
  const { inner, hint, isNullable, fallback, words } = unwrap(schema, place);
  if (place.around.includes(inner)) {
    lose(place, 'what a schema says that refers to itself');
    return anything(place);
  }
  const made = bare(inner, hint, { ...place, around: [...place.around, inner] });
  const draft: Draft = { ...words, ...made };
  if (place.closed.has(made)) place.closed.add(draft);
  if (isNullable) allowNull(draft);
  if (place.noDefaults || fallback.length === 0) return draft;
  // A null default counts as no default in a CRD.
  if (fallback[0] === null) lose(place, 'a default of null', 'differs');
  else draft.default = fallback[0];
  return draft;
}

function unwrap(schema: ZodNode, place: Place): Unwrapped {
  let current = schema;
  let hint: Hint = {};
  let isNullable = false;
  let fallback: readonly unknown[] = [];
  let words: Draft = {};
  for (;;) {
    // Outer hints take precedence, as in schema/from-zod.ts.
    hint = { ...hintOf(current), ...hint };
    words = { ...wordsOf(current), ...words };
    const def = defOf(current);
    if (def.type === 'nullable') isNullable = true;
    else if (def.type === 'default' || def.type === 'prefault') {
      if (fallback.length === 0) fallback = [structuredClone(def.defaultValue)];
    } else if (def.type !== 'optional' && def.type !== 'readonly' && def.type !== 'nonoptional') {
      return { inner: current, hint, isNullable, fallback, words };
    }
    loseOthers(checksOf(current), [], place);
    current = def.innerType;
  }
}

/** The documentation of a schema. */
function wordsOf(schema: ZodNode): Draft {
  const { title, description, examples } = z.globalRegistry.get(schema) ?? {};
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {}),
  };
}

function bare(schema: ZodNode, hint: Hint, place: Place): Draft {
  const def = defOf(schema);
  const checks = checksOf(schema);
  if ('coerce' in def && def.coerce === true) return unsaid('what zod changes', place);
  switch (def.type) {
    case 'string':
      return textSchema(checks, place);
    case 'template_literal':
      loseOthers(checks, [], place);
      return patternSchema((schema as z.core.$ZodTemplateLiteral)._zod.pattern, place);
    case 'number':
      return numberSchema(checks, place);
    case 'boolean':
      loseOthers(checks, [], place);
      return { type: 'boolean' };
    case 'enum':
    case 'literal': {
      loseOthers(checks, [], place);
      const values = def.type === 'literal' ? def.values : [...((schema as z.core.$ZodEnum)._zod.values ?? [])];
      return enumSchema(values, place);
    }
    case 'object':
      loseOthers(checks, [], place);
      return objectSchema(def, hint, place);
    case 'record':
      loseOthers(checks, [], place);
      return recordSchema(def, hint, place);
    case 'array':
      loseOthers(checks, LIST_CHECKS, place);
      return { ...listSchema(def, hint, place), ...lengths(checks, 'Items') };
    case 'unknown':
    case 'any':
      loseOthers(checks, [], place);
      return { ...anything(place), nullable: true };
    case 'union':
    case 'intersection': {
      loseOthers(checks, [], place);
      const inside = { ...place, noDefaults: true };
      if (def.type === 'intersection')
        return intersectionSchema([walk(def.left, inside), walk(def.right, inside)], inside);
      const isExclusive = 'inclusive' in def && def.inclusive === false && !('discriminator' in def);
      return unionSchema(
        def.options.map((option) => walk(option, inside)),
        { isExclusive },
        inside,
      );
    }
    default:
      return insideUnions(schema, def, place);
  }
}

const LIST_CHECKS = ['min_length', 'max_length', 'length_equals'];

/** Converts types that `defineKind` accepts only inside unions and intersections, which zod validates as a whole. */
function insideUnions(schema: ZodNode, def: ZodDef, place: Place): Draft {
  if (isNothing(def.type)) return { ...NOTHING };
  switch (def.type) {
    case 'null':
      return { ...NOTHING, nullable: true };
    case 'catch':
      return { ...anything(place), nullable: true };
    case 'lazy':
      return walk((schema as z.core.$ZodLazy)._zod.innerType, place);
    case 'tuple': {
      const items = [...def.items, ...(def.rest === null ? [] : [def.rest])].map((item) =>
        walk(item, below(place, '[*]')),
      );
      return {
        type: 'array',
        items: tupleItems(items, below(place, '[*]')),
        minItems: def.items.filter((item) => item._zod.optin === undefined).length,
        ...(def.rest === null ? { maxItems: def.items.length } : {}),
      };
    }
    default:
      return unsaid(`what z.${def.type} says`, place);
  }
}

function unsaid(what: string, place: Place): Draft {
  lose(place, what);
  return { ...anything(place), nullable: true };
}

function objectSchema(def: z.core.$ZodObjectDef, hint: Hint, place: Place): Draft {
  const names = Object.keys(def.shape);
  const properties: MutableRecord = {};
  for (const name of names) setOwn(properties, name, walk(def.shape[name] as ZodNode, below(place, name)));
  const required = names.filter((name) => def.shape[name]?._zod.optin === undefined);
  const others = def.catchall === undefined ? 'never' : defOf(def.catchall).type;
  const isOpen = hint.preserveUnknown ?? others !== 'never';
  if (isOpen && !['unknown', 'any', 'never'].includes(others)) lose(place, 'what unknown fields hold');
  const draft: Draft = {
    type: 'object',
    ...(names.length === 0 ? {} : { properties: properties as Record<string, Draft> }),
    ...(required.length === 0 ? {} : { required }),
    ...(isOpen ? anything(place) : {}),
    ...atomicMap(hint, place),
  };
  // Outside of unions, unknown fields are pruned before zod validates the object.
  if (def.catchall !== undefined && others === 'never' && place.noDefaults) {
    lose(place, 'that unknown fields are refused: they are dropped');
    place.closed.add(draft);
  }
  return draft;
}

function atomicMap(hint: Hint, { dialect }: Place): Draft {
  return hint.atomic === true ? { [extension(dialect, 'map-type')]: 'atomic' } : {};
}

function recordSchema(def: z.core.$ZodRecordDef, hint: Hint, place: Place): Draft {
  const values = walk(def.valueType, below(place, '[*]'));
  const keys = [...(def.keyType._zod.values ?? [])].map(String);
  const isLoose = 'mode' in def && def.mode === 'loose';
  if (keys.length > 0) return namedFields(keys, values, { def, hint, isLoose }, place);
  const isFree = defOf(def.keyType).type === 'string' && checksOf(def.keyType).length === 0;
  if (!isFree && isLoose) return { type: 'object', ...unsaid('which keys have which values', place) };
  if (!isFree) lose(place, 'the rules for keys');
  return { type: 'object', additionalProperties: values, ...atomicMap(hint, place) };
}

/** A record with a fixed set of keys is an object. */
function namedFields(
  keys: readonly string[],
  values: Draft,
  { def, hint, isLoose }: { readonly def: z.core.$ZodRecordDef; readonly hint: Hint; readonly isLoose: boolean },
  place: Place,
): Draft {
  const isPartial = 'partial' in def && def.partial === true;
  if (!isLoose) lose(place, 'that other keys are refused: they are dropped');
  const required = isPartial || def.valueType._zod.optin !== undefined ? [] : [...keys];
  return {
    type: 'object',
    properties: Object.fromEntries(keys.map((key) => [key, structuredClone(values)])),
    ...(required.length === 0 ? {} : { required }),
    ...(isLoose ? anything(place) : {}),
    ...atomicMap(hint, place),
  };
}

function listSchema(def: z.core.$ZodArrayDef, hint: Hint, place: Place): Draft {
  const { listType, mapKeys = [] } = hint;
  const { dialect } = place;
  return {
    type: 'array',
    items: walk(def.element, below(place, '[*]')),
    ...(listType === undefined ? {} : { [extension(dialect, 'list-type')]: listType }),
    ...(listType === 'map' ? { [extension(dialect, 'list-map-keys')]: [...mapKeys] } : {}),
  };
}
