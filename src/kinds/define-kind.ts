/**
 * From a definition to a kind. `defineKind` is for users' own kinds; built-in kinds go through `defineBuiltIn`, which
 * differs only in the wire manner of its objects (see `schema/structural.ts`).
 */
import * as z from 'zod';
import type { FieldError } from '../meta/field-error.js';
import type { ApiObject, ObjectMeta, ObjectMetaInput } from '../meta/object.js';
import type { Verb } from '../protocol/request.js';
import { objectFromZod } from '../schema/from-zod.js';
import { struct } from '../schema/hints.js';
import { type Field, type ObjectNode, type Structural, uniform } from '../schema/structural.js';
import { once } from '../schema/type.js';
import { deepEqual, isRecord } from '../util/json.js';
import { buildKind, type Described, mergeStrategies, type OptionalPart } from './build-kind.js';
import type { Kind, KindNames, KindRule, Scope, StorageVersion, Strategy, StrategyDefinition } from './kind.js';
import { unqualifiedFinalizerWarnings } from './shared/finalizers.js';
import { objectMetaNode } from './shared/object-meta.js';
import type { AnySubresource, SubresourceStrategy, SubresourceView } from './subresource.js';

/** What every object has beside its body. */
export interface ObjectBase {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** What every input has beside its body. `apiVersion` and `kind` are filled in when left out. */
export interface InputBase {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMetaInput;
}

/** What zod makes of a body; a body without fields says nothing, where zod would say that there can be none at all. */
export type BodyOutput<Shape extends z.ZodRawShape> = keyof Shape extends never
  ? unknown
  : z.output<z.ZodObject<Shape>>;
export type BodyInput<Shape extends z.ZodRawShape> = keyof Shape extends never ? unknown : z.input<z.ZodObject<Shape>>;

export interface KindDefinition<Shape extends z.ZodRawShape, ObjectScope extends Scope, Subresource extends string> {
  /** `example.com/v1`; the core group is just `v1`. */
  readonly apiVersion: string;
  /** CamelCase, singular. */
  readonly kind: string;
  readonly scope: ObjectScope;
  /** Plural and the rest; derived from the kind where left out. */
  readonly names?: Partial<KindNames>;
  /** zod schemas of the top-level fields beside `apiVersion`, `kind` and `metadata`. */
  readonly body: Shape;
  /** `status` and `scale`, where the kind has them. */
  readonly subresources?: Readonly<Record<Subresource, SubresourceStrategy | SubresourceView>>;
  /** Rules across fields in CEL, as definitions have them. Not in `orchplane/core`, which has no expression engine. */
  readonly rules?: readonly KindRule[];
  /** Rules across fields. */
  readonly validate?: (object: ObjectBase & BodyOutput<Shape>) => readonly FieldError[];
}

/**
 * Makes a kind of your own from zod schemas.
 *
 * @example
 * const Widget = defineKind({
 *   apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced',
 *   body: { spec: z.object({ size: z.enum(['s', 'm', 'l']).default('m') }) },
 * });
 */
export function defineKind<
  const Shape extends z.ZodRawShape,
  const ObjectScope extends Scope,
  const Subresource extends string = never,
>(
  definition: KindDefinition<Shape, ObjectScope, Subresource>,
): Kind<ObjectBase & BodyOutput<Shape>, InputBase & BodyInput<Shape>, ObjectScope, Subresource> {
  return defineWith(definition, withoutEngine);
}

/** Makes rules of their texts. */
export type CompileRules = (
  kind: string,
  body: z.ZodObject,
  rules: readonly KindRule[],
) => NonNullable<Strategy['write']['rules']>;

const withoutEngine: CompileRules = (kind) => {
  throw new TypeError(
    `orchplane: ${kind}: rules need the expression engine, which orchplane/core leaves out; import defineKind from 'orchplane'`,
  );
};

/** {@link defineKind}, with an expression engine or without. */
export function defineWith<
  const Shape extends z.ZodRawShape,
  const ObjectScope extends Scope,
  const Subresource extends string,
>(
  definition: KindDefinition<Shape, ObjectScope, Subresource>,
  compileRules: CompileRules,
): Kind<ObjectBase & BodyOutput<Shape>, InputBase & BodyInput<Shape>, ObjectScope, Subresource> {
  checkNames(definition);
  const { validate, rules = [] } = definition;
  checkBody(definition.kind, definition.body);
  const hasStatus = definition.subresources !== undefined && 'status' in definition.subresources;
  const statusSchema = definition.body['status'];
  if (hasStatus && statusSchema !== undefined && statusSchema._zod.optin === undefined) {
    throw new TypeError(
      `orchplane: ${definition.kind}: with the status subresource the status is not given on create, so its schema must be optional`,
    );
  }
  const body = z.object(definition.body);
  // A mistake in a user's schema shows where the kind is defined, not when its first object comes.
  const schema = wholeObject(objectFromZod(body, '', definition.kind), definition.kind);
  return buildKind(
    definition,
    { representation: 'document', body: () => body, schema: () => schema },
    mergeStrategies(
      {
        update: { unconditional: false },
        read: { unknownFieldLabel: (field) => `field label not supported: ${field}` },
        write: {
          warnings: unqualifiedFinalizerWarnings,
          generation: (next, live) => !sameOutside(next, live, hasStatus ? ['metadata', 'status'] : ['metadata']),
        },
      },
      hasStatus ? STATUS_SUBRESOURCE : {},
      validate === undefined ? {} : onEveryWrite(validate as unknown as WholeRule),
      rules.length === 0 ? {} : { write: { rules: compileRules(definition.kind, body, rules) } },
    ),
  );
}

/** For who has no compiler to say so. */
function checkNames(definition: unknown): void {
  const given = isRecord(definition) ? definition : {};
  for (const [member, example] of [
    ['kind', 'Widget'],
    ['apiVersion', 'example.com/v1'],
  ] as const) {
    if (typeof given[member] !== 'string')
      throw new TypeError(`orchplane: defineKind needs the ${member} as a text, such as "${example}"`);
  }
}

/** Mistakes that would only show when the first object is made. */
function checkBody(kind: string, body: unknown): void {
  if (!isRecord(body) || '_zod' in body) {
    throw new TypeError(`orchplane: ${kind}: body is a plain object of zod schemas by field, not a schema itself`);
  }
  for (const field of ['apiVersion', 'kind', 'metadata']) {
    if (Object.hasOwn(body, field))
      throw new TypeError(`orchplane: ${kind}: ${field} is every kind's own; leave it out of body`);
  }
}

/** A built-in kind: its schema is built when it is first needed, and it may have ways of its own. */
export interface BuiltInDefinition<ObjectScope extends Scope, Subresources extends string, Object = unknown>
  extends Pick<Kind, Exclude<OptionalPart, 'storageVersion' | 'custom' | 'rules'>> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope: ObjectScope;
  readonly names?: Partial<KindNames>;
  /** The top-level fields beside `apiVersion`, `kind` and `metadata`, in wire order. */
  readonly body: () => z.ZodRawShape;
  /** All of them unless said otherwise. */
  readonly verbs?: readonly Verb[];
  /** Types that the body shares with another version, by name, although messages show this version's own. */
  readonly ownTypes?: readonly string[];
  readonly strategy?: StrategyDefinition<NoInfer<Object>>;
  readonly subresources?: Readonly<Record<Subresources, AnySubresource>>;
}

/**
 * A built-in kind: its objects are structs of the reference server. Its types are those it is declared with
 * (`const Lease: Kind<Lease, LeaseInput, …> = defineBuiltIn(…)`), so that messages show them by name.
 *
 * @__NO_SIDE_EFFECTS__ A bundle drops the kinds it does not use.
 */
export function defineBuiltIn<Object, Input, ObjectScope extends Scope, Subresources extends string>(
  definition: BuiltInDefinition<ObjectScope, Subresources, Object>,
): Kind<Object, Input, ObjectScope, Subresources> {
  const body = once(() => struct(definition.kind, definition.body()));
  const schema = once(() => ownTyped(wholeObject(objectFromZod(body()), definition.kind), definition));
  return buildKind(
    definition,
    { representation: 'struct', body, schema },
    (definition.strategy ?? {}) as StrategyDefinition,
  );
}

function ownTyped(schema: ObjectNode, { apiVersion, ownTypes }: Pick<BuiltIn, 'apiVersion' | 'ownTypes'>): ObjectNode {
  return ownTypes === undefined
    ? schema
    : withOwnTypes(schema, apiVersion.slice(apiVersion.lastIndexOf('/') + 1), ownTypes);
}

type BuiltIn = BuiltInDefinition<Scope, string>;

/** How a further version of a kind departs from the one that is stored. */
export interface VersionDefinition<Subresources extends string, Object = unknown>
  extends Partial<Omit<BuiltInDefinition<Scope, Subresources, Object>, 'apiVersion' | 'kind' | 'scope'>>,
    Omit<StorageVersion, 'kind'> {
  readonly apiVersion: string;
}

/**
 * The same objects in another version. What is not said is as in the stored one: identical shapes need no code.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function anotherVersion<Object, Input, ObjectScope extends Scope, Subresources extends string>(
  stored: Kind<unknown, unknown, ObjectScope>,
  definition: VersionDefinition<Subresources, Object>,
): Kind<Object, Input, ObjectScope, Subresources> {
  const { toStored, fromStored, body: shape, strategy, ...rest } = definition;
  const { kind, scope, names, verbs, subresources } = stored;
  const body = shape === undefined ? () => stored.body : once(() => struct(kind, shape()));
  const schema = once(() =>
    ownTyped(shape === undefined ? stored.schema : wholeObject(objectFromZod(body()), kind), definition),
  );
  const form: StorageVersion = {
    kind: stored as Kind,
    ...(toStored === undefined ? {} : { toStored }),
    ...(fromStored === undefined ? {} : { fromStored }),
  };
  const inherited = {
    ...(stored.columns === undefined ? {} : { columns: stored.columns }),
    ...(stored.gate === undefined ? {} : { gate: stored.gate }),
  };
  const described: Described = { kind, scope, names, verbs, subresources, ...inherited, ...rest, storageVersion: form };
  return buildKind(
    described,
    { representation: 'struct', body, schema },
    mergeStrategies(stored.strategy, (strategy ?? {}) as StrategyDefinition),
  );
}

/** The body's form with `kind`, `apiVersion` and `metadata` in their places. */
export function wholeObject(body: ObjectNode, goName: string): ObjectNode {
  const text = uniform({ type: 'scalar', scalar: 'string', goType: 'string', checked: false });
  const common: Field[] = [
    { name: 'kind', node: text, presence: 'omitEmpty', required: false },
    { name: 'apiVersion', node: text, presence: 'omitEmpty', required: false },
    { name: 'metadata', node: objectMetaNode(), presence: 'always', required: false },
  ];
  const all = [...common, ...body.fields.values()];
  // A document is a sorted map on the wire; metadata keeps its own order in both manners.
  if (body.representation === 'document') all.sort((left, right) => (left.name < right.name ? -1 : 1));
  const fields = new Map(all.map((field) => [field.name, field]));
  return uniform({ ...body, goName: body.goName === '' ? goName : body.goName, fields });
}

export function sameOutside(next: ApiObject, live: ApiObject, ignored: readonly string[]): boolean {
  const names = new Set([...Object.keys(next), ...Object.keys(live)]);
  return [...names].every((name) => ignored.includes(name) || deepEqual(next[name], live[name]));
}

type WholeRule = (object: ApiObject) => readonly FieldError[];

/** What must hold for an object must hold for every version of it. */
function onEveryWrite(rule: WholeRule): StrategyDefinition {
  return { create: { validate: (object) => rule(object) }, update: { validate: (next) => rule(next) } };
}

/** With the status subresource, the main endpoint neither sets nor changes the status. */
export const STATUS_SUBRESOURCE: StrategyDefinition = {
  create: {
    prepare(draft) {
      delete draft['status'];
    },
  },
  update: {
    prepare(draft, live) {
      if (live['status'] === undefined) delete draft['status'];
      else draft['status'] = live['status'];
    },
  },
};

/** The schema with these types, by name, in the package of that version: `v1.ParamKind` becomes `v1beta1.ParamKind`. */
function withOwnTypes(schema: ObjectNode, version: string, names: readonly string[]): ObjectNode {
  const ofAnyVersion = new RegExp(`\\bv\\d\\w*\\.(?=(?:${names.join('|')})$)`);
  const rename = (node: Structural): Structural => {
    const goType = node.goType.replace(ofAnyVersion, `${version}.`);
    if (node.type === 'list') return uniform({ ...node, goType, items: rename(node.items) });
    if (node.type === 'map') return uniform({ ...node, goType, values: rename(node.values) });
    if (node.type !== 'object') return uniform({ ...node, goType });
    const fields = new Map<string, Field>();
    for (const field of node.fields.values()) fields.set(field.name, { ...field, node: rename(field.node) });
    return uniform({ ...node, goType, fields });
  };
  return rename(schema) as ObjectNode;
}
