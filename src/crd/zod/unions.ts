/**
 * Converts unions and intersections. A structural schema declares the types of all fields outside of `anyOf`; the
 * alternatives may only contain constraints. So the alternatives are split: their structures are joined, and the
 * constraints of each become one branch.
 *
 *     { kind: 'disk', size: int ≥ 1 } | { kind: 'url', href: string }
 *     →  properties: { kind: string, size: integer, href: string }
 *        anyOf: [ { kind in [disk], size ≥ 1, required: kind, size }, { kind in [url], required: kind, href } ]
 */
import { deepEqual, own } from '../../util/json.js';
import type { Draft, Place } from './context.js';
import { allowNull, anything, below, demand, extension, lose, restrict } from './context.js';
import { enumSchema, listed } from './scalars.js';

/** The schema of a union; `oneOf` if the alternatives are exclusive. */
export function unionSchema(options: readonly Draft[], { isExclusive }: { isExclusive: boolean }, place: Place): Draft {
  const isNullable = options.some(({ nullable }) => nullable === true);
  const drafts = options.filter((draft) => !isEmptyEnum(draft)).map((draft) => withoutNull(draft, place));
  const draft = oneOf(drafts, isExclusive ? 'oneOf' : 'anyOf', place);
  if (isNullable) allowNull(draft);
  return draft;
}

function isEmptyEnum({ enum: values }: Draft): boolean {
  return values?.length === 0;
}

/** Returns the draft itself if possible, because `closed` refers to drafts by identity. */
function withoutNull(draft: Draft, { closed }: Place): Draft {
  if (draft.nullable !== true) return draft;
  const { nullable: _, ...rest } = draft;
  if (closed.has(draft)) closed.add(rest);
  return rest;
}

function oneOf(drafts: readonly Draft[], junctor: 'anyOf' | 'oneOf', place: Place): Draft {
  const [first, ...others] = drafts;
  if (first === undefined) {
    lose(place, 'that there is no value');
    return anything(place);
  }
  if (others.length === 0) return first;
  if (drafts.every(isPlainEnum))
    return enumSchema(
      drafts.flatMap((draft) => draft.enum ?? []),
      place,
    );
  const types = new Set(drafts.map((draft) => typeOf(draft, place)));
  if (types.size === 1 || isNumeric(types)) return sameType(drafts, junctor, place);
  if (isIntOrString(types)) return intOrString(drafts, place);
  // An alternative that accepts everything makes the union accept everything.
  if (!types.has(ANY)) lose(place, `which of ${[...types].join(', ')} it is`);
  return anything(place);
}

function isPlainEnum(draft: Draft): boolean {
  return draft.enum !== undefined && Object.keys(draft).every((key) => key === 'enum' || key === 'type');
}

const ANY = 'anything';
const INT_OR_STRING = 'int-or-string';

function typeOf(draft: Draft, { dialect }: Place): string {
  return draft.type ?? (draft[extension(dialect, INT_OR_STRING)] === true ? INT_OR_STRING : ANY);
}

function isNumeric(types: ReadonlySet<string>): boolean {
  return [...types].every((type) => type === 'integer' || type === 'number');
}

function isIntOrString(types: ReadonlySet<string>): boolean {
  return [...types].every((type) => ['integer', 'string', INT_OR_STRING].includes(type));
}

function sameType(drafts: readonly Draft[], junctor: 'anyOf' | 'oneOf', place: Place): Draft {
  const outer = join(drafts, place);
  const branches = drafts.map((draft) => demandsOf(draft, outer, place));
  const [first = {}] = branches;
  if (branches.every((branch) => deepEqual(branch, first)) && junctor === 'anyOf') return { ...outer, ...first };
  // An alternative without constraints accepts everything.
  if (junctor === 'anyOf' && branches.some((branch) => Object.keys(branch).length === 0)) return outer;
  return { ...outer, [junctor]: branches };
}

/** The schema of an intersection. */
export function intersectionSchema(drafts: readonly Draft[], place: Place): Draft {
  const isNullable = drafts.every(({ nullable }) => nullable === true);
  const some = drafts.filter((draft) => typeOf(draft, place) !== ANY).map((draft) => withoutNull(draft, place));
  const types = new Set(some.map((draft) => typeOf(draft, place)));
  if (some.length === 0) return { ...anything(place), nullable: true };
  if (types.size > 1 && !isNumeric(types)) {
    lose(place, `that it is ${[...types].join(' and ')}`);
    return anything(place);
  }
  const joined = join(some, place, 'all');
  const outer = types.size > 1 ? { ...joined, type: 'integer' } : joined;
  const required = new Set(some.flatMap((draft) => draft.required ?? []));
  const demands = some
    .map((draft) => demandsOf(draft, outer, place))
    .map(({ required: _, ...rest }) => rest)
    .filter((rest) => Object.keys(rest).length > 0);
  const draft: Draft = { ...outer, ...(required.size === 0 ? {} : { required: [...required] }) };
  demand(draft, demands);
  if (isNullable) allowNull(draft);
  return draft;
}

/** The item schema of a tuple: each item is one of them. */
export function tupleItems(items: readonly Draft[], place: Place): Draft {
  if (items.length === 0) return anything(place);
  if (!items.every((item) => deepEqual(item, items[0]))) lose(place, 'which item is which');
  return join(items, place);
}

/**
 * Joins the structures of several schemas, with all fields of all of them. The value matches `any` of them (union) or
 * `all` (intersection).
 */
function join(drafts: readonly Draft[], place: Place, which: 'any' | 'all' = 'any'): Draft {
  const [first = {}] = drafts;
  if (drafts.every((draft) => deepEqual(draft, first))) return { ...first };
  const nullable = drafts.some((draft) => draft.nullable === true) ? { nullable: true } : {};
  if (nullable.nullable && !drafts.every((draft) => draft.nullable === true)) lose(place, 'where it may be null');
  const types = new Set(drafts.map((draft) => typeOf(draft, place)));
  const [type = ANY] = types;
  if (types.size > 1) return { ...mixed(types, place), ...nullable };
  if (type === 'object') return { ...joinObjects(drafts, place, which), ...nullable };
  if (type === 'array') return { ...joinLists(drafts, place, which), ...nullable };
  if (type === INT_OR_STRING) return { [extension(place.dialect, INT_OR_STRING)]: true, ...nullable };
  return type === ANY ? { ...anything(place), ...nullable } : { type, ...nullable };
}

function mixed(types: ReadonlySet<string>, place: Place): Draft {
  if (isNumeric(types)) return { type: 'number' };
  lose(place, `which of ${[...types].join(', ')} it is in each alternative`);
  return isIntOrString(types) ? { [extension(place.dialect, INT_OR_STRING)]: true } : anything(place);
}

function joinObjects(drafts: readonly Draft[], place: Place, which: 'any' | 'all'): Draft {
  const values = drafts.flatMap(({ additionalProperties: each }) => (typeof each === 'object' ? [each] : []));
  const key = extension(place.dialect, 'preserve-unknown-fields');
  if (values.length === drafts.length) {
    const joined = join(values, below(place, '[*]'), which);
    if (values.some((each) => !deepEqual(each, joined))) lose(below(place, '[*]'), 'what each alternative demands');
    return { type: 'object', additionalProperties: joined };
  }
  if (values.length > 0) {
    lose(place, 'which fields it has');
    return { type: 'object', [key]: true };
  }
  const names = new Set(drafts.flatMap(({ properties = {} }) => Object.keys(properties)));
  const fields = [...names].map((name): [string, Draft] => {
    const found = drafts.flatMap(({ properties = {} }) => own(properties, name) ?? []);
    const isStranger = ({ properties = {} }: Draft) => which === 'any' && !Object.hasOwn(properties, name);
    const strangers = drafts.filter(isStranger);
    if (strangers.some((draft) => !place.closed.has(draft))) {
      lose(below(place, name), 'that it may be of any type in other alternatives', 'differs');
    }
    // Only the alternatives that have the field constrain it.
    return [name, join(strangers.length === 0 ? found : found.map(structureOf), below(place, name), which)];
  });
  return {
    type: 'object',
    ...(fields.length === 0 ? {} : { properties: Object.fromEntries(fields) }),
    ...(drafts.some((draft) => draft[key] === true) ? { [key]: true } : {}),
  };
}

function joinLists(drafts: readonly Draft[], place: Place, which: 'any' | 'all'): Draft {
  const items = drafts.flatMap(({ items: each }) => (each === undefined || Array.isArray(each) ? [] : [each]));
  const [listType, mapKeys] = [extension(place.dialect, 'list-type'), extension(place.dialect, 'list-map-keys')];
  const [first = {}] = drafts;
  const isSame = drafts.every((each) => each[listType] === first[listType] && deepEqual(each[mapKeys], first[mapKeys]));
  const isSaid = isSame && first[listType] !== undefined;
  if (!isSame) lose(place, 'how its items are told apart');
  return {
    type: 'array',
    items: join(items, below(place, '[*]'), which),
    ...(isSaid ? { [listType]: first[listType] } : {}),
    ...(isSaid && first[mapKeys] !== undefined ? { [mapKeys]: first[mapKeys] } : {}),
  };
}

/** The keywords that are allowed in a branch. */
const DEMANDS = [
  'format',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'multipleOf',
  'enum',
  'required',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
] as const;

/** A schema without the constraints that move to branches. */
function structureOf(draft: Draft): Draft {
  const kept = Object.entries(draft).filter(([key]) => !(DEMANDS as readonly string[]).includes(key));
  const structure: Draft = Object.fromEntries(kept);
  const { properties, items } = structure;
  if (properties !== undefined) {
    structure.properties = Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, structureOf(field)]),
    );
  }
  if (items !== undefined && !Array.isArray(items)) structure.items = structureOf(items);
  return structure;
}

/** The constraints of a schema that its joined structure does not contain. */
function demandsOf(draft: Draft, outer: Draft, place: Place): Draft {
  if (deepEqual(draft, outer)) return {};
  const demands: Draft = {};
  for (const key of DEMANDS) if (draft[key] !== undefined) Object.assign(demands, { [key]: draft[key] });
  // An integer where other numbers are allowed too.
  if (draft.type === 'integer' && outer.type === 'number') restrict(demands, [{ multipleOf: 1 }]);
  const fields = Object.entries(draft.properties ?? {})
    .map(([name, field]): [string, Draft] => [
      name,
      demandsOf(field, own(outer.properties ?? {}, name) ?? {}, below(place, name)),
    ])
    .filter(([, inner]) => Object.keys(inner).length > 0)
    .filter(([name]) => mayBeNamed(name, place));
  if (fields.length > 0) demands.properties = Object.fromEntries(fields);
  const { items } = draft;
  if (items !== undefined && !Array.isArray(items)) {
    const inner = demandsOf(items, (outer.items as Draft | undefined) ?? {}, below(place, '[*]'));
    if (Object.keys(inner).length > 0) demands.items = inner;
  }
  if (place.closed.has(draft)) refuseOthers(demands, draft, outer);
  return demands;
}

/** Branches must not constrain `metadata`. */
function mayBeNamed(name: string, place: Place): boolean {
  if (name !== 'metadata') return true;
  lose(below(place, name), 'what each alternative demands');
  return false;
}

/** Rejects fields that only other alternatives have. */
function refuseOthers(demands: Draft, draft: Draft, outer: Draft): void {
  const known = draft.properties ?? {};
  const others = Object.keys(outer.properties ?? {}).filter((name) => !Object.hasOwn(known, name));
  restrict(
    demands,
    others.map((name) => ({ not: { required: [name] } })),
  );
}

/**
 * An integer or a string. Constraints on one type do not affect the other, so no branches are needed, except for enums.
 */
function intOrString(drafts: readonly Draft[], place: Place): Draft {
  const draft: Draft = { [extension(place.dialect, INT_OR_STRING)]: true };
  for (const type of ['string', 'integer'] as const) {
    const demands = drafts
      .filter((each) => each.type === type)
      .map((each) => scoped(demandsOf(each, { type }, place), place));
    if (demands.length === 0 || demands.some((each) => Object.keys(each).length === 0)) continue;
    demand(draft, demands.length === 1 ? demands : [{ anyOf: demands }]);
  }
  if (drafts.some((each) => each.type === undefined)) lose(place, 'what each alternative demands');
  return draft;
}

/** Formats without an equivalent pattern. */
const UNSAID_FORMATS = ['ipv6', 'cidr', 'uri'];

/** Rewrites constraints so that they do not affect values of the other type. An enum, a format and `not` would. */
function scoped(demands: Draft, place: Place): Draft {
  const { enum: values, format = '', allOf, anyOf, oneOf: exclusive, not, ...rest } = demands;
  if (UNSAID_FORMATS.includes(format)) lose(place, `the format ${format}`);
  if (not !== undefined || exclusive !== undefined) lose(place, 'what it must not be');
  const each = (inner: readonly Draft[]) => inner.map((one) => scoped(one, place));
  const parts = [
    ...each(allOf ?? []),
    ...(anyOf === undefined ? [] : [{ anyOf: each(anyOf) }]),
    ...(values === undefined ? [] : [listed(values)]),
  ];
  const draft: Draft = rest;
  demand(
    draft,
    parts.filter((part) => Object.keys(part).length > 0),
  );
  return draft;
}
