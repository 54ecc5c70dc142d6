/**
 * The contract of this folder: what a kind is. A kind is a value; one definition yields the TypeScript types, the
 * decoder, the validator and the server's behaviour. Built-in kinds and users' own take the same road through
 * `define-kind.ts`, and generic code reads only what stands here: it never asks which kind it holds.
 */
import type * as z from 'zod';
import type { FieldSet } from '../merge/apply/field-set.js';
import type { Dialect } from '../meta/dialect.js';
import type { FieldError } from '../meta/field-error.js';
import type { GroupVersion } from '../meta/gvk.js';
import type { ApiObject, DeepReadonly, DraftObject } from '../meta/object.js';
import type { AccessReader } from '../protocol/access.js';
import type { ApiRequest, Preconditions, User, Verb } from '../protocol/request.js';
import type { ObjectNode } from '../schema/structural.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Column, RowCondition } from './columns.js';
import type { CustomResourceHandler, CustomValidationResult } from './custom-resource-handler.js';
import type { FeatureGates } from './feature-gates.js';
import type { Lifecycle } from './lifecycle.js';
import type { Objects } from './objects.js';
import type { ReconcilerHost, ServerReconciler } from './reconciler.js';
import type { AnySubresource, ConnectSubresource, OwnableFields } from './subresource.js';
import type { TokenPower } from './tokens.js';

export type Scope = 'Namespaced' | 'Cluster';

/** Names under which a kind is served. */
export interface KindNames {
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** Carries a kind's types for inference; it has no value at run time. */
declare const types: unique symbol;

export interface KindTypes<Object, Input, Subresource extends string> {
  readonly object: Object;
  readonly input: Input;
  readonly subresource: Subresource;
}

/**
 * A kind. `Object` is what the server returns, `Input` what it accepts on create and update; `ObjectScope` and
 * `Subresource` make misuse a compile-time error.
 */
export interface Kind<
  Object = unknown,
  Input = unknown,
  ObjectScope extends Scope = Scope,
  Subresource extends string = string,
> {
  /** Canonical; `dialect.group(kind.group)` is what a client sees. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly scope: ObjectScope;
  readonly names: KindNames;
  /** What can be done with its objects and its collection. */
  readonly verbs: readonly Verb[];
  /** See `schema/structural.ts`: built-in kinds are structs, users' own are documents. */
  readonly representation: ObjectNode['representation'];
  /** The whole object, metadata included. Built by the first look at it, like `body`. */
  readonly schema: ObjectNode;
  /** Everything but `apiVersion`, `kind` and `metadata`; its value rules are run by the validate step. */
  readonly body: z.ZodObject;
  readonly strategy: Strategy;
  readonly subresources: Readonly<Record<string, AnySubresource>>;
  /** Lines from its objects to what runs elsewhere. */
  readonly connectSubresources?: Readonly<Record<string, ConnectSubresource>>;
  /** Present on further versions of a kind: how their objects are stored. */
  readonly storageVersion?: StorageVersion;
  /** Present when objects of the kind are not stored: a review is answered, a status is looked up. */
  readonly virtual?: VirtualKind;
  /** In admission requests the namespace of an object is its own name: Namespace. */
  readonly isOwnNamespace?: boolean;
  /** The feature gate that must be on for the kind to be served. */
  readonly gate?: string;
  /** What to tell everybody who still uses this version; follows from `lifecycle` where there is one. */
  readonly deprecation?: (dialect: Dialect) => string;
  /** In which releases there is this version, and what comes after it. Read by `deprecationOf`. */
  readonly lifecycle?: Lifecycle;
  /**
   * Objects that are there from the start, whole: without anything that the server gives every object. In their stored
   * form; another version may say how its own names of what is owned are. `served` tells which versions of which groups
   * the cluster serves, as clients name them.
   */
  readonly initial?: (dialect: Dialect, now: string, served: () => readonly GroupVersion[]) => readonly InitialObject[];
  /** What a table shows of it; absent: its name and when it was created. */
  readonly columns?: readonly Column[];
  /** What a row of a table says of its object besides the cells; absent or empty: nothing. */
  readonly rowConditions?: (object: ApiObject) => readonly RowCondition[];
  /** The order of rows, as `sort` takes it; absent: that of the list. */
  readonly rowOrder?: (left: ApiObject, right: ApiObject) => number;
  /**
   * Annotations in which this version keeps what the reference server's own form has fields for. Whoever asks for the
   * metadata alone does not see them.
   */
  readonly fieldAnnotations?: readonly string[];
  /** The version in which the reference server keeps it, where that is not the one in which we do; clients see a hash. */
  readonly referenceStorageVersion?: string;
  /** Rules in CEL that it was defined with. */
  readonly rules?: readonly KindRule[];
  /** Present on kinds that a definition makes while the cluster runs. */
  readonly custom?: CustomResourceHandler;
  /** Present on kinds whose objects change what the server does. */
  readonly reconciler?: (server: ReconcilerHost) => ServerReconciler;
  readonly [types]?: KindTypes<Object, Input, Subresource>;
}

/** What an object of a kind looks like when it comes back from the server. */
export type ObjectOf<AnyKind> = DeepReadonly<DraftOf<AnyKind>>;

/** The same while an edit is changing it. */
export type DraftOf<AnyKind> =
  AnyKind extends Kind<infer Object, infer _Input, infer _Scope, infer _Sub> ? Object : never;

/** What may be sent to create or update an object of a kind; what came back from the server may be sent again. */
export type InputOf<AnyKind> = DeepReadonly<InputDraftOf<AnyKind>>;

/** The same, still to be put together. */
export type InputDraftOf<AnyKind> =
  AnyKind extends Kind<infer _Object, infer Input, infer _Scope, infer _Sub> ? Input : never;

/** What a strategy may know about the write it takes part in. */
export interface WriteContext {
  readonly dialect: Dialect;
  /** Now, as a Time. */
  readonly now: string;
  readonly features: FeatureGates;
}

/** A write or an action that may look at other objects, and change some. */
export interface StrategyContext extends WriteContext {
  readonly objects: Objects;
  readonly access: AccessReader;
  readonly tokens: TokenPower;
  readonly request: ApiRequest;
  readonly user: User;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Warnings for the client; add to them. */
  readonly warnings: string[];
  /** Evenly from 0 to 1, from the cluster's own source. */
  random(): number;
}

/** Another version of the same objects: the kind in whose form they are stored, and the way there and back. */
export interface StorageVersion {
  readonly kind: Kind;
  /** Changes a copy of an object of this version into the stored form; absent: they differ in `apiVersion` alone. */
  readonly toStored?: (draft: DraftObject, dialect: Dialect) => void;
  readonly fromStored?: (draft: DraftObject, dialect: Dialect) => void;
}

/** An object of a new cluster, in wire order, defaults included. */
export interface InitialObject {
  readonly metadata: {
    readonly name: string;
    /** Absent for cluster-scoped kinds. One of those that every cluster has. */
    readonly namespace?: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managers: readonly InitialManager[];
  };
  readonly [field: string]: unknown;
}

/** Who owns the fields of an object of a new cluster, in the order in which they are shown. */
export interface InitialManager {
  readonly manager: string;
  /** Absent: by an update. */
  readonly operation?: 'Apply';
  readonly subresource?: string;
  readonly fields: FieldSet;
}

/** Objects that exist only in answers. */
export interface VirtualKind {
  readonly create?: (draft: DraftObject, context: StrategyContext) => MaybePromise<DraftObject>;
  readonly get?: (name: string, context: StrategyContext) => MaybePromise<DraftObject>;
  readonly list?: (context: StrategyContext) => MaybePromise<readonly DraftObject[]>;
}

/** Problems with a name, as messages. `prefix` is true for a generateName, which may end in a dash. */
export type NameRule = (name: string, prefix: boolean, object?: ApiObject) => readonly string[];

/**
 * How a kind differs from the default behaviour, grouped by operation. Hooks that take a draft change it in place; no
 * other code sees the draft yet. `Object` is the kind's own type, so hooks of built-in kinds need no casts.
 */
export interface Strategy<Object = unknown> {
  readonly name: NameStrategy;
  readonly decode: DecodeStrategy<Object>;
  readonly read: ReadStrategy<Object>;
  /** Applies to create and update. */
  readonly write: WriteStrategy<Object>;
  readonly create: CreateStrategy<Object>;
  readonly update: UpdateStrategy<Object>;
  readonly delete: DeleteStrategy<Object>;
}

/** A strategy as a kind declares it: groups and members that are absent have their default. */
export type StrategyDefinition<Object = unknown> = {
  readonly [Group in keyof Strategy<Object>]?: Partial<Strategy<Object>[Group]>;
};

export interface NameStrategy {
  readonly validate: NameRule;
  /** Builds a name from a generateName prefix; absent: appends five random characters. */
  readonly generate?: (prefix: string) => string;
}

export interface DecodeStrategy<Object = unknown> {
  /** Why a well-formed document cannot be decoded as this kind; called before defaulting. */
  readonly problem?: (draft: DraftObject & Object) => string | undefined;
  /** Defaults that a schema cannot express. Runs with decoding, before admission. */
  readonly defaults?: (draft: DraftObject & Object, context: WriteContext) => void;
  /** Why an unknown field is rejected; other unknown fields are dropped with a warning. */
  readonly rejectUnknownField?: (field: string, dialect: Dialect) => string | undefined;
}

export interface ReadStrategy<Object = unknown> {
  /** The reference server has no watch cache for the kind: reads go to storage, with its messages and limits. */
  readonly uncached?: boolean;
  /** Field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject & Object) => string>>;
  /** The message for an unsupported field selector; absent: the one that lists the two metadata fields. */
  readonly unknownFieldLabel?: (field: string, dialect: Dialect) => string;
}

export interface WriteStrategy<Object = unknown> {
  /** The main endpoint neither sets nor changes the status: empty on create, unchanged on update. */
  readonly separateStatus: boolean;
  /** Fields that writes to the main endpoint can own; absent: all, or all but a separate status. */
  readonly ownableFields?: OwnableFields;
  /** `metadata.generation` starts at 1 and rises when this returns true; absent: the kind has no generation. */
  readonly generation?: (next: ApiObject & Object, live: ApiObject & Object) => boolean;
  /** Throws when the user may not write this object at all. Runs after mutation, before validation. */
  readonly authorize?: AuthorizeHook<Object>;
  /** The same, after validation. */
  readonly authorizeValidated?: AuthorizeHook<Object>;
  /** CEL rules, evaluated on every write, status writes included. */
  readonly rules?: (next: ApiObject & Object, live: (ApiObject & Object) | undefined) => CustomValidationResult;
  /** Warnings about an object that is accepted. */
  readonly warnings?: (
    object: ApiObject & Object,
    live: (ApiObject & Object) | undefined,
    context: WriteContext,
  ) => readonly string[];
  /** Last change after validation, before the object is stored. */
  readonly canonicalize?: (draft: DraftObject & Object, context: WriteContext) => void;
  /**
   * Reserves resources for an object before it is validated (addresses, ports) by changing the draft. The result makes
   * the reservation final when the object is stored.
   */
  readonly allocate?: (
    draft: DraftObject & Object,
    live: (ApiObject & Object) | undefined,
    context: StrategyContext,
  ) => Allocation | undefined;
  /** Returns what was allocated, after the object was removed. */
  readonly release?: (removed: ApiObject & Object, context: StrategyContext) => void;
}

export type AuthorizeHook<Object = unknown> = (
  next: ApiObject & Object,
  live: (ApiObject & Object) | undefined,
  context: StrategyContext,
) => void;

export interface CreateStrategy<Object = unknown> {
  readonly prepare?: (draft: DraftObject & Object, context: WriteContext) => void;
  /** Rules across fields; rules of single fields are part of the schema. `live` is set when an update runs them again. */
  readonly validate?: (
    object: ApiObject & Object,
    context: WriteContext,
    live?: ApiObject & Object,
  ) => readonly FieldError[];
  /** How the kind validates metadata again; absent: strict, if it is built in. */
  readonly metadata?: MetadataStrictness;
  /** Warnings about a new object after preparation, whether or not it is accepted. */
  readonly warnings?: (object: ApiObject & Object) => readonly string[];
}

export interface UpdateStrategy<Object = unknown> {
  /** PUT without a resourceVersion overwrites the live object. */
  readonly unconditional: boolean;
  /** PUT to an absent name creates the object. */
  readonly createsAbsent: boolean;
  /** The order of validation after the rules for any object; absent: metadata, change, schema. */
  readonly steps?: readonly UpdateStep[];
  readonly prepare?: (draft: DraftObject & Object, live: ApiObject & Object, context: WriteContext) => void;
  readonly validate?: UpdateRules<Object>;
  /** As in {@link CreateStrategy}, before all other rules. `placed`: `validate` reports metadata errors itself. */
  readonly metadata?: MetadataStrictness | 'placed';
}

export interface DeleteStrategy<Object = unknown> {
  /** DELETE returns the object where other kinds return a Status. */
  readonly returnsObject: boolean;
  /** Runs before the default deletion and may replace it; see {@link DeletionVerdict}. */
  readonly intercept?: (live: ApiObject & Object, request: DeletionRequest, context: WriteContext) => DeletionVerdict;
  /** A further condition for removing a terminating object that has no finalizers. */
  readonly canBeRemoved?: (object: ApiObject & Object) => boolean;
  /**
   * Seconds that a deleted object remains before it is removed; 0 or absent: it is removed at once. `requested` is the
   * client's value, if any.
   */
  readonly gracePeriod?: (live: ApiObject & Object, requested: number | undefined) => number;
  /** Propagation when the client sets none; absent: the garbage collector deletes the dependents. */
  readonly defaultPropagation?: 'Orphan';
  readonly warnings?: (request: DeletionRequest) => readonly string[];
}

/**
 * - `metadata`: what may change of the metadata, once more for the kind
 * - `change`: the kind's rules between two versions
 * - `whole`: all rules of a new object, its metadata included
 */
export type UpdateStep = 'metadata' | 'change' | 'whole';

/** Rules of an update. `metadata` is for kinds that place metadata errors among their own. */
export type UpdateRules<Object = unknown> = (
  next: ApiObject & Object,
  live: ApiObject & Object,
  context: WriteContext,
  metadata: MetadataErrors,
) => readonly FieldError[];

/**
 * The server validates the metadata of every object before the kind's own rules. Most kinds of the reference server
 * validate it again, so that its errors occur twice: `plain`, by the same rules; `strict`, also rejecting finalizers
 * without a domain. `none`: the kind does not validate metadata again.
 */
export type MetadataStrictness = 'strict' | 'plain' | 'none';

/** Metadata errors of a changed object, with the strictness of {@link CreateStrategy}. */
export interface MetadataErrors {
  /** As if the object were new. */
  forCreate(): readonly FieldError[];
  forUpdate(): readonly FieldError[];
}

/** What was set aside and becomes final with the write. */
export interface Allocation {
  /**
   * Takes it, right before the object is stored; nothing else can fail any more. Everything that may be refused is
   * refused before the first thing is taken. Throws StorageError `stale` when what was picked has gone to somebody else
   * meanwhile: the write starts again from what the client sent.
   */
  commit(stored: ApiObject): void;
}

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan';

/** A rule in CEL, as in a definition: `self` is the object, `oldSelf` what it was before. */
export interface KindRule {
  /** True for objects that are fine: `self.spec.min <= self.spec.max`. */
  readonly rule: string;
  readonly message?: string;
  /** Gives the message; used where it can be evaluated. */
  readonly messageExpression?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  /** Which field the message is about: `.spec.min`. */
  readonly fieldPath?: string;
  /** The rule is run on create too, and `oldSelf` is an optional. */
  readonly optionalOldSelf?: boolean;
}

/** A checked delete. */
export interface DeletionRequest {
  readonly preconditions: Preconditions;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  readonly orphanDependents?: boolean;
}

/**
 * - `proceed`: the ordinary deletion
 * - `unchanged`: answer with the live object, change nothing
 * - `conflict`: 409 with this text
 * - `update`: store this and answer with it
 */
export type DeletionVerdict =
  | { readonly type: 'proceed' }
  | { readonly type: 'unchanged' }
  | { readonly type: 'conflict'; readonly why: string }
  | { readonly type: 'update'; readonly object: DraftObject };
