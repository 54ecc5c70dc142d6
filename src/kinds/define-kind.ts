/**
 * Builds kinds from definitions: `defineKind` for user-defined kinds, `defineBuiltIn` for built-in kinds and
 * `anotherVersion` for their further versions. Built-in kinds are structs on the wire, user-defined kinds are documents
 * (see `schema/schema-node.ts`).
 */
import type { FieldError } from '../meta/field-error.js';
import type {
  ApiObject,
  ClusterObject,
  CommonInput,
  CommonObject,
  InputBase,
  NamespacedObject,
  ObjectBase,
  Scalar,
} from '../meta/object.js';
import type { Verb } from '../protocol/request.js';
import { objectNode } from '../schema/declare.js';
import { objectFromZod } from '../schema/from-zod.js';
import type { SchemaKeywords, ZodShape } from '../schema/hints.js';
import { type Field, type ObjectNode, uniform } from '../schema/schema-node.js';
import { deepEqual, isRecord } from '../util/json.js';
import { once } from '../util/once.js';
import {
  type BuiltInBase,
  buildKind,
  type KindDescription,
  mergeStrategies,
  type OptionalMember,
} from './build-kind.js';
import type { Column, RowCondition } from './columns.js';
import type { Kind, KindNames, Scope, StorageVersion, Strategy, StrategyDefinition, VirtualKind } from './kind.js';
import type { KindCrd, KindRule } from './kind-crd.js';
import { withOwnGoTypes } from './own-go-types.js';
import { unqualifiedFinalizerWarnings } from './shared/finalizers.js';
import { objectMetaNode } from './shared/object-meta.js';
import type { AnySubresource, SubresourceStrategy, SubresourceView } from './subresource.js';

// `defineKind` states its result in full: under the name of an alias, messages would print the zod schemas.

/** The members of every object of a scope besides its body. */
export type BaseOf<ObjectScope extends Scope, Name extends string> = Scope extends ObjectScope
  ? ObjectBase<Name>
  : ObjectScope extends 'Namespaced'
    ? NamespacedObject<Name>
    : ClusterObject<Name>;

type OptionalOutput = { readonly _zod: { readonly optout: 'optional' } };
type OptionalInput = { readonly _zod: { readonly optin: 'optional' | 'defaulted' } };

/** zod's output type of a body. An empty body adds nothing to the members of every object. */
export type BodyOutput<Shape extends ZodShape> = keyof Shape extends never
  ? unknown
  : Members<
      {
        -readonly [Field in keyof Shape as Shape[Field] extends OptionalOutput
          ? never
          : Field]: Shape[Field]['_zod']['output'];
      } & {
        -readonly [Field in keyof Shape as Shape[Field] extends OptionalOutput
          ? Field
          : never]?: Shape[Field]['_zod']['output'];
      }
    >;

/** zod's input type of a body. */
export type BodyInput<Shape extends ZodShape> = keyof Shape extends never
  ? unknown
  : Members<
      {
        -readonly [Field in keyof Shape as Shape[Field] extends OptionalInput
          ? never
          : Field]: Shape[Field]['_zod']['input'];
      } & {
        -readonly [Field in keyof Shape as Shape[Field] extends OptionalInput
          ? Field
          : never]?: Shape[Field]['_zod']['input'];
      }
    >;

/** The members of a type one by one. `& {}` makes the compiler print them and not the name of this type. */
type Members<Type> = { [Key in keyof Type]: Type[Key] } & {};

/**
 * The body of a draft: each field is present as in the output and takes the input. A spec whose input differs also reads
 * as in the output; TypeScript can declare that only for a field with a fixed name.
 */
export type BodyDraft<Output, Input> = Output extends { spec: infer Spec }
  ? Input extends { spec?: Spec | undefined }
    ? FieldsDraft<Output, Input>
    : FieldsDraft<Omit<Output, 'spec'>, Input> & SpecDraft<FieldsDraft<Spec, InputSpec<Input>>, InputSpec<Input>>
  : FieldsDraft<Output, Input>;

type InputSpec<Input> = Input extends { spec?: infer Spec } ? Spec : never;

/** A field `spec` that is read and assigned with different types. */
export interface SpecDraft<Read, Written> {
  get spec(): Read;
  set spec(spec: Written);
}

/** Scalars are as in the output. Objects and lists are present as in the output and have the type of the input. */
type FieldsDraft<Output, Input> = unknown extends Output
  ? Output
  : Members<{
      [Field in keyof Output]: [Output[Field]] extends [Scalar]
        ? Output[Field]
        : Field extends keyof Input
          ? undefined extends Output[Field]
            ? Input[Field]
            : Exclude<Input[Field], undefined>
          : Output[Field];
    }>;

/** The definition of a user-defined kind. */
export interface KindDefinition<
  Shape extends ZodShape,
  ObjectScope extends Scope,
  Subresource extends string,
  Name extends string = string,
> {
  /** `example.com/v1`; for the core group only the version: `v1`. */
  readonly apiVersion: string;
  /** CamelCase, singular. */
  readonly kind: Name;
  readonly scope: ObjectScope;
  /** Absent names are derived from the kind. */
  readonly names?: Partial<KindNames>;
  /** zod schemas of the top-level fields other than `apiVersion`, `kind` and `metadata`. */
  readonly body: Shape;
  /** `status` and `scale`, if the kind has them. */
  readonly subresources?: Readonly<Record<Subresource, SubresourceStrategy | SubresourceView>>;
  /** CEL validation rules, as in a CRD. Not available in `orchplane/core`, which has no expression engine. */
  readonly rules?: readonly KindRule[];
  /** Validation across fields; runs on create and update. */
  readonly validate?: (object: BaseOf<ObjectScope, Name> & BodyOutput<Shape>) => readonly FieldError[];
  /** What only the CRD of the kind has. */
  readonly crd?: KindCrd;
}

/**
 * Defines a kind from zod schemas.
 *
 * @example
 * const Widget = defineKind({
 *   apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced',
 *   body: { spec: z.object({ size: z.enum(['s', 'm', 'l']).default('m') }) },
 * });
 */
export function defineKind<
  const Shape extends ZodShape,
  const ObjectScope extends Scope,
  const Subresource extends string = never,
  const Name extends string = string,
>(
  definition: KindDefinition<Shape, ObjectScope, Subresource, Name>,
): Kind<
  BaseOf<ObjectScope, Name> & BodyOutput<Shape>,
  InputBase & BodyInput<Shape>,
  ObjectScope,
  Subresource,
  BaseOf<ObjectScope, Name> & BodyDraft<BodyOutput<Shape>, BodyInput<Shape>>
> {
  return defineWith(definition, rejectRules);
}

/** Compiles CEL rules to the hook `strategy.write.rules`. */
export type CompileRules = (
  kind: string,
  body: ZodShape,
  rules: readonly KindRule[],
  /** Keywords of the whole object; absent: no schema of the kind has keywords. */
  keywords: SchemaKeywords | undefined,
) => NonNullable<Strategy['write']['rules']>;

const rejectRules: CompileRules = (kind) => {
  throw new TypeError(
    `orchplane: ${kind}: rules and keywords need the expression engine, which orchplane/core leaves out; import defineKind from 'orchplane'`,
  );
};

/** {@link defineKind} with a given rule compiler. */
export function defineWith<
  const Shape extends ZodShape,
  const ObjectScope extends Scope,
  const Subresource extends string,
  const Name extends string,
>(
  definition: KindDefinition<Shape, ObjectScope, Subresource, Name>,
  compileRules: CompileRules,
): Kind<
  BaseOf<ObjectScope, Name> & BodyOutput<Shape>,
  InputBase & BodyInput<Shape>,
  ObjectScope,
  Subresource,
  BaseOf<ObjectScope, Name> & BodyDraft<BodyOutput<Shape>, BodyInput<Shape>>
> {
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
  // Built eagerly, so that a mistake in the schema is reported where the kind is defined and not on the first write.
  let keywords = definition.crd?.schema;
  const body = objectFromZod(definition.body, definition.kind, () => {
    keywords ??= {};
  });
  const schema = objectSchemaFromBody(body, definition.kind);
  return buildKind(
    definition,
    { representation: 'document', body: definition.body, schema: () => schema },
    mergeStrategies(
      {
        update: { allowUnconditionalUpdate: false },
        read: { unknownFieldLabel: (field) => `field label not supported: ${field}` },
        write: {
          warnings: unqualifiedFinalizerWarnings,
          generation: (next, live) => !equalExcept(next, live, hasStatus ? ['metadata', 'status'] : ['metadata']),
        },
      },
      hasStatus ? SEPARATE_STATUS : {},
      validate === undefined ? {} : validatedOnWrites(validate),
      rules.length === 0 && keywords === undefined
        ? {}
        : { write: { rules: compileRules(definition.kind, definition.body, rules, keywords) } },
    ),
  );
}

/** Checks types at run time, for callers without a type checker. */
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

/** Throws for mistakes that would otherwise surface on the first write. */
function checkBody(kind: string, body: unknown): void {
  if (!isRecord(body) || '_zod' in body) {
    throw new TypeError(`orchplane: ${kind}: body is a plain object of zod schemas by field, not a schema itself`);
  }
  for (const field of ['apiVersion', 'kind', 'metadata']) {
    if (Object.hasOwn(body, field))
      throw new TypeError(`orchplane: ${kind}: ${field} is every kind's own; leave it out of body`);
  }
}

/**
 * The definition of a built-in kind. Its schema is built on first access. `Object` is the kind's own type, which hooks
 * and columns receive.
 */
export interface BuiltInDefinition<ObjectScope extends Scope, Subresources extends string, Object = unknown>
  extends BuiltInBase<ObjectScope>,
    Pick<Kind, Exclude<OptionalMember, 'storageVersion' | 'customResourceHandler' | 'rules' | TypedMember>> {
  readonly names?: Partial<KindNames>;
  /** Absent: all verbs. */
  readonly verbs?: readonly Verb[];
  /** Names of Go types that the body shares with another version; messages use this version's package for them. */
  readonly ownTypes?: readonly string[];
  readonly strategy?: StrategyDefinition<NoInfer<Object>>;
  readonly subresources?: Readonly<Record<Subresources, AnySubresource<NoInfer<Object>>>>;
  readonly virtual?: VirtualKind<NoInfer<Object>>;
  readonly columns?: readonly Column<NoInfer<Object>>[];
  readonly rowConditions?: (object: ApiObject & NoInfer<Object>) => readonly RowCondition[];
  readonly rowOrder?: (left: ApiObject & NoInfer<Object>, right: ApiObject & NoInfer<Object>) => number;
}

/** Members whose functions receive objects of the kind's own type. */
type TypedMember = 'virtual' | 'columns' | 'rowConditions' | 'rowOrder';

/**
 * Defines a built-in kind, whose objects are structs of the reference server. The kind's types come from the type
 * annotation (`const Lease: LeaseKind<Lease> = defineBuiltIn(…)`), so that compiler messages show their names.
 *
 * @__NO_SIDE_EFFECTS__ Bundlers drop the kinds that are not used.
 */
export function defineBuiltIn<Object, Input, ObjectScope extends Scope, Subresources extends string, Draft = Object>(
  definition: BuiltInDefinition<ObjectScope, Subresources, Object>,
): Kind<Object, Input, ObjectScope, Subresources, Draft> {
  const { kind, body } = definition;
  const schema = once(() => withOwnGoTypes(objectSchemaFromBody(objectNode(kind, body()), kind), definition));
  return buildKind(
    definition as unknown as KindDescription,
    { representation: 'struct', schema },
    (definition.strategy ?? {}) as StrategyDefinition,
  );
}

/** The differences between a version of a built-in kind and its storage version. */
export interface VersionDefinition<Subresources extends string, Object = unknown>
  extends Partial<Omit<BuiltInDefinition<Scope, Subresources, Object>, 'apiVersion' | 'kind' | 'scope'>>,
    Omit<StorageVersion, 'kind'> {
  readonly apiVersion: string;
}

/**
 * Defines another version of a built-in kind. Absent members are taken from the storage version.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function anotherVersion<Object, Input, ObjectScope extends Scope, Subresources extends string, Draft = Object>(
  stored: Kind<CommonObject, CommonInput, ObjectScope>,
  definition: VersionDefinition<Subresources, Object>,
): Kind<Object, Input, ObjectScope, Subresources, Draft> {
  const { toStored, fromStored, body: shape, strategy, ...rest } = definition;
  const { kind, scope, names, verbs, subresources } = stored;
  const schema = once(() =>
    withOwnGoTypes(
      shape === undefined ? stored.schema : objectSchemaFromBody(objectNode(kind, shape()), kind),
      definition,
    ),
  );
  const storageVersion: StorageVersion = {
    kind: stored as Kind,
    ...(toStored === undefined ? {} : { toStored }),
    ...(fromStored === undefined ? {} : { fromStored }),
  };
  const inherited = {
    ...(stored.columns === undefined ? {} : { columns: stored.columns }),
    ...(stored.gate === undefined ? {} : { gate: stored.gate }),
  };
  return buildKind(
    { kind, scope, names, verbs, subresources, ...inherited, ...rest, storageVersion } as KindDescription,
    { representation: 'struct', schema },
    mergeStrategies(stored.strategy, (strategy ?? {}) as StrategyDefinition),
  );
}

/** The schema of a whole object: the body's fields and `kind`, `apiVersion` and `metadata`. */
export function objectSchemaFromBody(body: ObjectNode, goName: string): ObjectNode {
  const text = uniform({ type: 'scalar', scalar: 'string', goType: 'string' });
  const common: Field[] = [
    { name: 'kind', node: text, presence: 'omitEmpty', required: false },
    { name: 'apiVersion', node: text, presence: 'omitEmpty', required: false },
    { name: 'metadata', node: objectMetaNode(), presence: 'always', required: false },
  ];
  const all = [...common, ...body.fields.values()];
  // A document is a sorted map on the wire; metadata has its own order in both representations.
  if (body.representation === 'document') all.sort((left, right) => (left.name < right.name ? -1 : 1));
  const fields = new Map(all.map((field) => [field.name, field]));
  return uniform({ ...body, goName: body.goName === '' ? goName : body.goName, fields });
}

/** True if the objects differ at most in the ignored top-level fields. */
export function equalExcept(next: ApiObject, live: ApiObject, ignored: readonly string[]): boolean {
  const names = new Set([...Object.keys(next), ...Object.keys(live)]);
  return [...names].every((name) => ignored.includes(name) || deepEqual(next[name], live[name]));
}

/** Validates an object on create and on update. */
function validatedOnWrites<Object>(validate: (object: Object) => readonly FieldError[]): StrategyDefinition {
  const rule = validate as (object: unknown) => readonly FieldError[];
  return { create: { validate: (object) => rule(object) }, update: { validate: (next) => rule(next) } };
}

/** The strategy of a kind with a status subresource: the main endpoint neither sets nor changes the status. */
export const SEPARATE_STATUS: StrategyDefinition = {
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
