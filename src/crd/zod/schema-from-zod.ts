/**
 * Converts zod schemas to structural schemas: every field with its type, and all constraints that a CRD can express.
 * The result follows what `defineKind` does with the same zod schema.
 */
import type * as z from 'zod';
import { MAX_SCHEMA_NODES, zodObjectOf } from '../../schema/from-zod.js';
import { type Hint, hintOf, mergeHints, type SchemaKeywords, type ZodShape } from '../../schema/hints.js';
import type { MutableRecord } from '../../util/json.js';
import { setOwn } from '../../util/json.js';
import type { Draft, ZodDef, ZodNode, ZodPosition } from './context.js';
import {
  allowNull,
  anyValue,
  below,
  checksOf,
  defOf,
  extension,
  reportLoss,
  reportUnsupportedChecks,
} from './context.js';
import { applyKeywords } from './keywords.js';
import {
  enumSchema,
  lengths,
  NO_VALUE,
  numberSchema,
  patternSchema,
  stringSchema,
  TYPES_WITHOUT_JSON,
} from './scalars.js';
import { intersectionSchema, tupleItems, unionSchema } from './unions.js';

type ConversionOptions = Pick<ZodPosition, 'owner' | 'dialect' | 'report' | 'datesAreTexts'>;

/**
 * Converts the body of a kind. Constraints that cannot be expressed are passed to `report`. `keywords` are those of the
 * whole object.
 */
export function schemaFromZod(body: ZodShape, options: ConversionOptions, keywords?: SchemaKeywords): Draft {
  const draft = convertInner(zodObjectOf(body), {}, startOf(options));
  if (keywords !== undefined) applyKeywords(draft, keywords, options.dialect);
  return draft;
}

/** Converts the schema of one field. */
export function fieldSchemaFromZod(schema: ZodNode, options: ConversionOptions): Draft {
  return convert(schema, startOf(options));
}

function startOf(options: ConversionOptions): ZodPosition {
  return { path: '', noDefaults: false, enclosing: [], closed: new WeakSet(), count: { nodes: 0 }, ...options };
}

/** A schema without its wrappers, and what the wrappers declare. */
interface Unwrapped {
  readonly inner: ZodNode;
  readonly hint: Hint;
  readonly isNullable: boolean;
  /** The default in a list, because undefined and null are different defaults. */
  readonly fallback: readonly unknown[];
  readonly documentation: Draft;
}

function convert(schema: ZodNode, position: ZodPosition): Draft {
  if (++position.count.nodes > MAX_SCHEMA_NODES) {
    throw new TypeError(
      `orchplane: ${position.owner}: its CustomResourceDefinition would have more than ${MAX_SCHEMA_NODES} fields`,
    );
  }
  const { inner, hint, isNullable, fallback, documentation } = unwrap(schema, position);
  if (position.enclosing.includes(inner)) {
    reportLoss(position, 'the content of a recursive schema');
    return anyValue(position);
  }
  const converted = convertInner(inner, hint, { ...position, enclosing: [...position.enclosing, inner] });
  const draft: Draft = { ...documentation, ...converted };
  if (position.closed.has(converted)) position.closed.add(draft);
  if (isNullable) allowNull(draft);
  if (!position.noDefaults && fallback.length > 0) {
    // A null default counts as no default in a CRD.
    if (fallback[0] === null) reportLoss(position, 'a default of null', 'differs');
    else draft.default = fallback[0];
  }
  if (hint.keywords !== undefined) applyKeywords(draft, hint.keywords, position.dialect);
  return draft;
}

function unwrap(schema: ZodNode, position: ZodPosition): Unwrapped {
  let current = schema;
  let hint: Hint = {};
  let isNullable = false;
  let fallback: readonly unknown[] = [];
  let documentation: Draft = {};
  for (;;) {
    hint = mergeHints(hintOf(current), hint);
    documentation = { ...documentationOf(current), ...documentation };
    const def = defOf(current);
    if (def.type === 'nullable') isNullable = true;
    else if (def.type === 'default' || def.type === 'prefault') {
      if (fallback.length === 0) fallback = [structuredClone(def.defaultValue)];
    } else if (def.type !== 'optional' && def.type !== 'readonly' && def.type !== 'nonoptional') {
      return { inner: current, hint, isNullable, fallback, documentation };
    }
    reportUnsupportedChecks(checksOf(current), [], position);
    current = def.innerType;
  }
}

/** The documentation of a schema. */
function documentationOf(schema: ZodNode): Draft {
  const { title, description, examples } = (schema as z.ZodType).meta() ?? {};
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {}),
  };
}

function convertInner(schema: ZodNode, hint: Hint, position: ZodPosition): Draft {
  const def = defOf(schema);
  const checks = checksOf(schema);
  if ('coerce' in def && def.coerce === true) return unsupported('a coercion', position);
  const { builtIn } = hint;
  if (builtIn?.type === 'scalar' && (builtIn.scalar === 'quantity' || builtIn.scalar === 'intOrString')) {
    return { [extension(position.dialect, 'int-or-string')]: true };
  }
  switch (def.type) {
    case 'string':
      return stringSchema(checks, position);
    case 'template_literal':
      reportUnsupportedChecks(checks, [], position);
      return patternSchema((schema as z.core.$ZodTemplateLiteral)._zod.pattern, position);
    case 'number':
      return numberSchema(checks, position);
    case 'boolean':
      reportUnsupportedChecks(checks, [], position);
      return { type: 'boolean' };
    case 'enum':
    case 'literal': {
      reportUnsupportedChecks(checks, [], position);
      const values = def.type === 'literal' ? def.values : [...((schema as z.core.$ZodEnum)._zod.values ?? [])];
      return enumSchema(values, position);
    }
    case 'object':
      reportUnsupportedChecks(checks, [], position);
      return objectSchema(def, hint, position);
    case 'record':
      reportUnsupportedChecks(checks, [], position);
      return recordSchema(def, hint, position);
    case 'array':
      reportUnsupportedChecks(checks, LIST_CHECKS, position);
      return { ...listSchema(def, hint, position), ...lengths(checks, 'Items') };
    case 'unknown':
    case 'any':
      reportUnsupportedChecks(checks, [], position);
      return { ...anyValue(position), nullable: true };
    case 'union':
    case 'intersection': {
      reportUnsupportedChecks(checks, [], position);
      const inside = { ...position, noDefaults: true };
      if (def.type === 'intersection')
        return intersectionSchema([convert(def.left, inside), convert(def.right, inside)], inside);
      const isExclusive = 'inclusive' in def && def.inclusive === false && !('discriminator' in def);
      return unionSchema(
        def.options.map((option) => convert(option, inside)),
        { isExclusive },
        inside,
      );
    }
    default:
      return convertUnionMember(schema, def, position);
  }
}

const LIST_CHECKS = ['min_length', 'max_length', 'length_equals'];

/** Converts types that `defineKind` accepts only inside unions and intersections, which zod validates as a whole. */
function convertUnionMember(schema: ZodNode, def: ZodDef, position: ZodPosition): Draft {
  if (TYPES_WITHOUT_JSON.has(def.type)) return { ...NO_VALUE };
  switch (def.type) {
    case 'null':
      return { ...NO_VALUE, nullable: true };
    case 'catch':
      return { ...anyValue(position), nullable: true };
    case 'lazy':
      return convert((schema as z.core.$ZodLazy)._zod.innerType, position);
    case 'tuple': {
      const items = [...def.items, ...(def.rest === null ? [] : [def.rest])].map((item) =>
        convert(item, below(position, '[*]')),
      );
      return {
        type: 'array',
        items: tupleItems(items, below(position, '[*]')),
        minItems: def.items.filter((item) => item._zod.optin === undefined).length,
        ...(def.rest === null ? { maxItems: def.items.length } : {}),
      };
    }
    default:
      return unsupported(`the type z.${def.type}`, position);
  }
}

function unsupported(what: string, position: ZodPosition): Draft {
  reportLoss(position, what);
  return { ...anyValue(position), nullable: true };
}

function objectSchema(def: z.core.$ZodObjectDef, hint: Hint, position: ZodPosition): Draft {
  const names = Object.keys(def.shape);
  const properties: MutableRecord = {};
  for (const name of names) setOwn(properties, name, convert(def.shape[name] as ZodNode, below(position, name)));
  const required = names.filter((name) => def.shape[name]?._zod.optin === undefined);
  const others = def.catchall === undefined ? 'never' : defOf(def.catchall).type;
  const isOpen = others !== 'never';
  if (isOpen && !['unknown', 'any', 'never'].includes(others)) reportLoss(position, 'the schema of unknown fields');
  const draft: Draft = {
    type: 'object',
    ...(names.length === 0 ? {} : { properties: properties as Record<string, Draft> }),
    ...(required.length === 0 ? {} : { required }),
    ...(isOpen ? anyValue(position) : {}),
    ...atomicMap(hint, position),
  };
  // Outside of unions, unknown fields are pruned before zod validates the object.
  if (def.catchall !== undefined && others === 'never' && position.noDefaults) {
    reportLoss(position, 'the rejection of unknown fields, which are pruned');
    position.closed.add(draft);
  }
  return draft;
}

function atomicMap(hint: Hint, { dialect }: ZodPosition): Draft {
  return hint.atomic === true ? { [extension(dialect, 'map-type')]: 'atomic' } : {};
}

function recordSchema(def: z.core.$ZodRecordDef, hint: Hint, position: ZodPosition): Draft {
  const values = convert(def.valueType, below(position, '[*]'));
  const keys = [...(def.keyType._zod.values ?? [])].map(String);
  const isLoose = 'mode' in def && def.mode === 'loose';
  if (keys.length > 0) return namedFields(keys, values, { def, hint, isLoose }, position);
  const isFree = defOf(def.keyType).type === 'string' && checksOf(def.keyType).length === 0;
  if (!isFree && isLoose) return { type: 'object', ...unsupported('the value schema of each key', position) };
  if (!isFree) reportLoss(position, 'the schema of keys');
  return { type: 'object', additionalProperties: values, ...atomicMap(hint, position) };
}

/** A record with a fixed set of keys is an object. */
function namedFields(
  keys: readonly string[],
  values: Draft,
  { def, hint, isLoose }: { readonly def: z.core.$ZodRecordDef; readonly hint: Hint; readonly isLoose: boolean },
  position: ZodPosition,
): Draft {
  const isPartial = 'partial' in def && def.partial === true;
  if (!isLoose) reportLoss(position, 'the rejection of other keys, which are pruned');
  const required = isPartial || def.valueType._zod.optin !== undefined ? [] : [...keys];
  return {
    type: 'object',
    properties: Object.fromEntries(keys.map((key) => [key, structuredClone(values)])),
    ...(required.length === 0 ? {} : { required }),
    ...(isLoose ? anyValue(position) : {}),
    ...atomicMap(hint, position),
  };
}

function listSchema(def: z.core.$ZodArrayDef, hint: Hint, position: ZodPosition): Draft {
  const { listType, mapKeys = [], builtIn } = hint;
  const { dialect } = position;
  const items = convert(def.element, below(position, '[*]'));
  if (builtIn?.type === 'list') {
    // A CRD requires a default for a key that items may omit.
    for (const [key, value] of Object.entries(builtIn.keyFallbacks ?? {})) {
      items.properties = { ...items.properties, [key]: { ...items.properties?.[key], default: value } };
    }
  }
  return {
    type: 'array',
    items,
    ...(listType === undefined ? {} : { [extension(dialect, 'list-type')]: listType }),
    ...(listType === 'map' ? { [extension(dialect, 'list-map-keys')]: [...mapKeys] } : {}),
  };
}
