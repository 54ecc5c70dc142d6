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
import type { Draft, ZodPosition } from './context.js';
import { addAllOf, addConstraints, allowNull, anyValue, below, extension, reportLoss } from './context.js';
import { allowedValues, enumSchema } from './scalars.js';

/** The schema of a union; `oneOf` if the alternatives are exclusive. */
export function unionSchema(
  options: readonly Draft[],
  { isExclusive }: { isExclusive: boolean },
  position: ZodPosition,
): Draft {
  const isNullable = options.some(({ nullable }) => nullable === true);
  const drafts = options.filter((draft) => !isEmptyEnum(draft)).map((draft) => withoutNull(draft, position));
  const draft = oneOf(drafts, isExclusive ? 'oneOf' : 'anyOf', position);
  if (isNullable) allowNull(draft);
  return draft;
}

function isEmptyEnum({ enum: values }: Draft): boolean {
  return values?.length === 0;
}

/** Returns the draft itself if possible, because `closed` refers to drafts by identity. */
function withoutNull(draft: Draft, { closed }: ZodPosition): Draft {
  if (draft.nullable !== true) return draft;
  const { nullable: _, ...rest } = draft;
  if (closed.has(draft)) closed.add(rest);
  return rest;
}

function oneOf(drafts: readonly Draft[], combinator: 'anyOf' | 'oneOf', position: ZodPosition): Draft {
  const [first, ...others] = drafts;
  if (first === undefined) {
    reportLoss(position, 'a schema that accepts no value');
    return anyValue(position);
  }
  if (others.length === 0) return first;
  if (drafts.every(isPlainEnum))
    return enumSchema(
      drafts.flatMap((draft) => draft.enum ?? []),
      position,
    );
  const types = new Set(drafts.map((draft) => typeOf(draft, position)));
  if (types.size === 1 || isNumeric(types)) return sameType(drafts, combinator, position);
  if (isIntOrString(types)) return intOrString(drafts, position);
  // An alternative that accepts everything makes the union accept everything.
  if (!types.has(ANY)) reportLoss(position, `the choice between ${[...types].join(', ')}`);
  return anyValue(position);
}

function isPlainEnum(draft: Draft): boolean {
  return draft.enum !== undefined && Object.keys(draft).every((key) => key === 'enum' || key === 'type');
}

const ANY = 'anything';
const INT_OR_STRING = 'int-or-string';

function typeOf(draft: Draft, { dialect }: ZodPosition): string {
  return draft.type ?? (draft[extension(dialect, INT_OR_STRING)] === true ? INT_OR_STRING : ANY);
}

function isNumeric(types: ReadonlySet<string>): boolean {
  return [...types].every((type) => type === 'integer' || type === 'number');
}

function isIntOrString(types: ReadonlySet<string>): boolean {
  return [...types].every((type) => ['integer', 'string', INT_OR_STRING].includes(type));
}

function sameType(drafts: readonly Draft[], combinator: 'anyOf' | 'oneOf', position: ZodPosition): Draft {
  const outer = join(drafts, position);
  const branches = drafts.map((draft) => constraintsOf(draft, outer, position));
  const [first = {}] = branches;
  if (branches.every((branch) => deepEqual(branch, first)) && combinator === 'anyOf') return { ...outer, ...first };
  // An alternative without constraints accepts everything.
  if (combinator === 'anyOf' && branches.some((branch) => Object.keys(branch).length === 0)) return outer;
  return { ...outer, [combinator]: branches };
}

/** The schema of an intersection. */
export function intersectionSchema(drafts: readonly Draft[], position: ZodPosition): Draft {
  const isNullable = drafts.every(({ nullable }) => nullable === true);
  const some = drafts.filter((draft) => typeOf(draft, position) !== ANY).map((draft) => withoutNull(draft, position));
  const types = new Set(some.map((draft) => typeOf(draft, position)));
  if (some.length === 0) return { ...anyValue(position), nullable: true };
  if (types.size > 1 && !isNumeric(types)) {
    reportLoss(position, `the intersection of ${[...types].join(' and ')}`);
    return anyValue(position);
  }
  const joined = join(some, position, 'all');
  const outer = types.size > 1 ? { ...joined, type: 'integer' } : joined;
  const required = new Set(some.flatMap((draft) => draft.required ?? []));
  const demands = some
    .map((draft) => constraintsOf(draft, outer, position))
    .map(({ required: _, ...rest }) => rest)
    .filter((rest) => Object.keys(rest).length > 0);
  const draft: Draft = { ...outer, ...(required.size === 0 ? {} : { required: [...required] }) };
  addConstraints(draft, demands);
  if (isNullable) allowNull(draft);
  return draft;
}

/** The item schema of a tuple: each item is one of them. */
export function tupleItems(items: readonly Draft[], position: ZodPosition): Draft {
  if (items.length === 0) return anyValue(position);
  if (!items.every((item) => deepEqual(item, items[0]))) reportLoss(position, 'the position of each item');
  return join(items, position);
}

/**
 * Joins the structures of several schemas, with all fields of all of them. The value matches `any` of them (union) or
 * `all` (intersection).
 */
function join(drafts: readonly Draft[], position: ZodPosition, which: 'any' | 'all' = 'any'): Draft {
  const [first = {}] = drafts;
  if (drafts.every((draft) => deepEqual(draft, first))) return { ...first };
  const nullable = drafts.some((draft) => draft.nullable === true) ? { nullable: true } : {};
  if (nullable.nullable && !drafts.every((draft) => draft.nullable === true))
    reportLoss(position, 'which alternatives allow null');
  const types = new Set(drafts.map((draft) => typeOf(draft, position)));
  const [type = ANY] = types;
  if (types.size > 1) return { ...mixed(types, position), ...nullable };
  if (type === 'object') return { ...joinObjects(drafts, position, which), ...nullable };
  if (type === 'array') return { ...joinLists(drafts, position, which), ...nullable };
  if (type === INT_OR_STRING) return { [extension(position.dialect, INT_OR_STRING)]: true, ...nullable };
  return type === ANY ? { ...anyValue(position), ...nullable } : { type, ...nullable };
}

function mixed(types: ReadonlySet<string>, position: ZodPosition): Draft {
  if (isNumeric(types)) return { type: 'number' };
  reportLoss(position, `the choice between ${[...types].join(', ')} in each alternative`);
  return isIntOrString(types) ? { [extension(position.dialect, INT_OR_STRING)]: true } : anyValue(position);
}

function joinObjects(drafts: readonly Draft[], position: ZodPosition, which: 'any' | 'all'): Draft {
  const values = drafts.flatMap(({ additionalProperties: each }) => (typeof each === 'object' ? [each] : []));
  const key = extension(position.dialect, 'preserve-unknown-fields');
  if (values.length === drafts.length) {
    const joined = join(values, below(position, '[*]'), which);
    if (values.some((each) => !deepEqual(each, joined)))
      reportLoss(below(position, '[*]'), 'the constraints of each alternative');
    return { type: 'object', additionalProperties: joined };
  }
  if (values.length > 0) {
    reportLoss(position, 'the set of fields');
    return { type: 'object', [key]: true };
  }
  const names = new Set(drafts.flatMap(({ properties = {} }) => Object.keys(properties)));
  const fields = [...names].map((name): [string, Draft] => {
    const found = drafts.flatMap(({ properties = {} }) => own(properties, name) ?? []);
    const lacksField = ({ properties = {} }: Draft) => which === 'any' && !Object.hasOwn(properties, name);
    const others = drafts.filter(lacksField);
    if (others.some((draft) => !position.closed.has(draft))) {
      reportLoss(below(position, name), 'any type in other alternatives', 'differs');
    }
    // Only the alternatives that have the field constrain it.
    return [name, join(others.length === 0 ? found : found.map(structureOf), below(position, name), which)];
  });
  return {
    type: 'object',
    ...(fields.length === 0 ? {} : { properties: Object.fromEntries(fields) }),
    ...(drafts.some((draft) => draft[key] === true) ? { [key]: true } : {}),
  };
}

function joinLists(drafts: readonly Draft[], position: ZodPosition, which: 'any' | 'all'): Draft {
  const items = drafts.flatMap(({ items: each }) => (each === undefined || Array.isArray(each) ? [] : [each]));
  const [listType, mapKeys] = [extension(position.dialect, 'list-type'), extension(position.dialect, 'list-map-keys')];
  const [first = {}] = drafts;
  const isSame = drafts.every((each) => each[listType] === first[listType] && deepEqual(each[mapKeys], first[mapKeys]));
  const isSaid = isSame && first[listType] !== undefined;
  if (!isSame) reportLoss(position, 'the list type');
  return {
    type: 'array',
    items: join(items, below(position, '[*]'), which),
    ...(isSaid ? { [listType]: first[listType] } : {}),
    ...(isSaid && first[mapKeys] !== undefined ? { [mapKeys]: first[mapKeys] } : {}),
  };
}

/** The keywords that are allowed in a branch. */
const CONSTRAINT_KEYWORDS = [
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
  const structural = Object.entries(draft).filter(([key]) => !(CONSTRAINT_KEYWORDS as readonly string[]).includes(key));
  const structure: Draft = Object.fromEntries(structural);
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
function constraintsOf(draft: Draft, outer: Draft, position: ZodPosition): Draft {
  if (deepEqual(draft, outer)) return {};
  const demands: Draft = {};
  for (const key of CONSTRAINT_KEYWORDS) if (draft[key] !== undefined) Object.assign(demands, { [key]: draft[key] });
  // An integer where other numbers are allowed too.
  if (draft.type === 'integer' && outer.type === 'number') addAllOf(demands, [{ multipleOf: 1 }]);
  const fields = Object.entries(draft.properties ?? {})
    .map(([name, field]): [string, Draft] => [
      name,
      constraintsOf(field, own(outer.properties ?? {}, name) ?? {}, below(position, name)),
    ])
    .filter(([, inner]) => Object.keys(inner).length > 0)
    .filter(([name]) => mayConstrain(name, position));
  if (fields.length > 0) demands.properties = Object.fromEntries(fields);
  const { items } = draft;
  if (items !== undefined && !Array.isArray(items)) {
    const inner = constraintsOf(items, (outer.items as Draft | undefined) ?? {}, below(position, '[*]'));
    if (Object.keys(inner).length > 0) demands.items = inner;
  }
  if (position.closed.has(draft)) rejectOtherFields(demands, draft, outer);
  return demands;
}

/** Branches must not constrain `metadata`. */
function mayConstrain(name: string, position: ZodPosition): boolean {
  if (name !== 'metadata') return true;
  reportLoss(below(position, name), 'the constraints of each alternative');
  return false;
}

/** Rejects fields that only other alternatives have. */
function rejectOtherFields(demands: Draft, draft: Draft, outer: Draft): void {
  const ownFields = draft.properties ?? {};
  const others = Object.keys(outer.properties ?? {}).filter((name) => !Object.hasOwn(ownFields, name));
  addAllOf(
    demands,
    others.map((name) => ({ not: { required: [name] } })),
  );
}

/**
 * An integer or a string. Constraints on one type do not affect the other, so no branches are needed, except for enums.
 */
function intOrString(drafts: readonly Draft[], position: ZodPosition): Draft {
  const draft: Draft = { [extension(position.dialect, INT_OR_STRING)]: true };
  for (const type of ['string', 'integer'] as const) {
    const demands = drafts
      .filter((each) => each.type === type)
      .map((each) => scopedToType(constraintsOf(each, { type }, position), position));
    if (demands.length === 0 || demands.some((each) => Object.keys(each).length === 0)) continue;
    addConstraints(draft, demands.length === 1 ? demands : [{ anyOf: demands }]);
  }
  if (drafts.some((each) => each.type === undefined)) reportLoss(position, 'the constraints of each alternative');
  return draft;
}

/** Formats without an equivalent pattern. */
const FORMATS_WITHOUT_PATTERN = ['ipv6', 'cidr', 'uri'];

/** Rewrites constraints so that they do not affect values of the other type. An enum, a format and `not` would. */
function scopedToType(demands: Draft, position: ZodPosition): Draft {
  const { enum: values, format = '', allOf, anyOf, oneOf: exclusive, not, ...rest } = demands;
  if (FORMATS_WITHOUT_PATTERN.includes(format)) reportLoss(position, `the format ${format}`);
  if (not !== undefined || exclusive !== undefined) reportLoss(position, 'a negated constraint');
  const each = (inner: readonly Draft[]) => inner.map((one) => scopedToType(one, position));
  const parts = [
    ...each(allOf ?? []),
    ...(anyOf === undefined ? [] : [{ anyOf: each(anyOf) }]),
    ...(values === undefined ? [] : [allowedValues(values)]),
  ];
  const draft: Draft = rest;
  addConstraints(
    draft,
    parts.filter((part) => Object.keys(part).length > 0),
  );
  return draft;
}
