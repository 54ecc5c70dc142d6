/**
 * The contract of this folder: the `Kind` and `Strategy` types. One kind definition yields the TypeScript types, the
 * decoder, the validator and the server's behaviour. Built-in and user-defined kinds are built by the same code
 * (`define-kind.ts`); generic code reads only the members declared here and never branches on a particular kind.
 */
import type { FieldSet } from '../merge/apply/field-set.js';
import type { Dialect } from '../meta/dialect.js';
import type { FieldError } from '../meta/field-error.js';
import type { GroupVersion } from '../meta/gvk.js';
import type { ApiObject, CommonInput, CommonObject, DeepReadonly, DraftObject } from '../meta/object.js';
import type { ClusterAuthorizer } from '../protocol/access.js';
import type { ApiRequest, User, Verb } from '../protocol/request.js';
import type { ZodShape } from '../schema/hints.js';
import type { ObjectNode } from '../schema/schema-node.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Column, RowCondition } from './columns.js';
import type { CustomResourceHandler, CustomValidationResult } from './custom-resource-handler.js';
import type { DeletionDecision, DeletionRequest } from './deletion.js';
import type { FeatureGates } from './feature-gates.js';
import type { KindCrd, KindRule } from './kind-crd.js';
import type { Lifecycle } from './lifecycle.js';
import type { Objects } from './objects.js';
import type { ReconcilerHost, ServerReconciler } from './reconciler.js';
import type { ClusterSettings } from './shared/cluster-settings.js';
import type { AnySubresource, ConnectSubresource, OwnableFields } from './subresource.js';
import type { TokenService } from './tokens.js';

export type Scope = 'Namespaced' | 'Cluster';

/** The names under which a kind is served. */
export interface KindNames {
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** Carries a kind's types for inference; it has no value at run time. */
declare const types: unique symbol;

/** The types that `ObjectOf`, `InputOf` and their like read from a kind. */
export interface KindTypes<Object, Input, Subresource extends string, Draft> {
  readonly object: DeepReadonly<Object>;
  readonly draft: Draft;
  readonly input: DeepReadonly<Input>;
  readonly inputDraft: Input;
  readonly subresource: Subresource;
}

/**
 * A kind. `Object` is what the server returns, `Input` what it accepts on create and update; `ObjectScope` and
 * `Subresource` make misuse a compile-time error. `Draft` is what an edit function receives. Without arguments: any kind.
 */
export interface Kind<
  Object = CommonObject,
  Input = CommonInput,
  ObjectScope extends Scope = Scope,
  Subresource extends string = string,
  Draft = Object,
> {
  /** The canonical group; clients see `dialect.group(kind.group)`. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly scope: ObjectScope;
  readonly names: KindNames;
  /** The verbs of its objects and its collection. */
  readonly verbs: readonly Verb[];
  /** `struct` for built-in kinds, `document` for user-defined kinds; see `schema/schema-node.ts`. */
  readonly representation: ObjectNode['representation'];
  /** The schema of the whole object, metadata included. Built on first access. */
  readonly schema: ObjectNode;
  /** On user-defined kinds: the zod schemas of the fields other than `apiVersion`, `kind` and `metadata`. */
  readonly body?: ZodShape;
  readonly strategy: Strategy;
  readonly subresources: Readonly<Record<string, AnySubresource>>;
  /** Subresources that open a connection to a process outside the API server: `pods/exec`, `services/proxy`. */
  readonly connectSubresources?: Readonly<Record<string, ConnectSubresource>>;
  /** Present on versions that are not the storage version: the conversion to and from it. */
  readonly storageVersion?: StorageVersion;
  /** Present on kinds whose objects are computed and not stored, such as TokenReview and ComponentStatus. */
  readonly virtual?: VirtualKind;
  /** In admission requests the namespace of an object is its own name. True for Namespace. */
  readonly isOwnNamespace?: boolean;
  /** The feature gate that must be enabled for the kind to be served. */
  readonly gate?: string;
  /** The warning for requests to this version; derived from `lifecycle` if that is present. */
  readonly deprecation?: (dialect: Dialect) => string;
  /** The releases that serve this version, and its replacement. Read by `deprecationOf`. */
  readonly lifecycle?: Lifecycle;
  /**
   * Objects of a new cluster, in the storage version and without the metadata that the server sets on every object.
   * Another version may declare them too, for the names of its owned fields. `served` returns the group versions that
   * the cluster serves, in its dialect.
   */
  readonly initial?: (
    dialect: Dialect,
    now: string,
    served: () => readonly GroupVersion[],
    settings: ClusterSettings,
    features: FeatureGates,
  ) => readonly InitialObject[];
  /** The columns of its tables; absent: the name and the creation time. */
  readonly columns?: readonly Column[];
  /** The conditions of an object's table row; absent: none. */
  readonly rowConditions?: (object: ApiObject) => readonly RowCondition[];
  /** Compares two objects to order the rows of a table; absent: list order. */
  readonly rowOrder?: (left: ApiObject, right: ApiObject) => number;
  /**
   * Annotations in which this version stores values that are fields of the reference server's internal type.
   * PartialObjectMetadata responses omit them.
   */
  readonly fieldAnnotations?: readonly string[];
  /** The reference server's storage version, if it differs from this library's. Discovery returns a hash of it. */
  readonly referenceStorageVersion?: string;
  /** The CEL validation rules of a user-defined kind. */
  readonly rules?: readonly KindRule[];
  /** What only the CRD of a user-defined kind has. */
  readonly crd?: KindCrd;
  /** Present on kinds that a CustomResourceDefinition declares while the cluster runs. */
  readonly customResourceHandler?: CustomResourceHandler;
  /** Present on kinds whose objects change what the server does. */
  readonly reconciler?: (server: ReconcilerHost) => ServerReconciler;
  readonly [types]: KindTypes<Object, Input, Subresource, Draft>;
}

// Indexed access types: in code that is generic over kinds, the compiler knows the members that every object has.

/** An object of a kind as the server returns it. */
export type ObjectOf<AnyKind extends Kind> = AnyKind[typeof types]['object'];

/**
 * A mutable object of a kind, as an edit function receives it. What every object of the kind has can be read without a
 * test; parts may be assigned as in an input, without the fields that the server fills in.
 */
export type DraftOf<AnyKind extends Kind> = AnyKind[typeof types]['draft'];

/** The input of create and update. An object that the server returned is a valid input too. */
export type InputOf<AnyKind extends Kind> = AnyKind[typeof types]['input'];

/** A mutable input. */
export type InputDraftOf<AnyKind extends Kind> = AnyKind[typeof types]['inputDraft'];

/** The subresources that a kind declares. */
export type SubresourceOf<AnyKind extends Kind> = AnyKind[typeof types]['subresource'];

/** What a strategy hook may read about the write. */
export interface HookContext {
  readonly dialect: Dialect;
  /** The current time in wire format. */
  readonly now: string;
  readonly features: FeatureGates;
  /** Absent: the defaults. */
  readonly settings?: ClusterSettings | undefined;
}

/** The context of hooks and actions that read or change other objects. */
export interface StrategyContext extends HookContext {
  readonly objects: Objects;
  readonly access: ClusterAuthorizer;
  readonly tokens: TokenService;
  readonly request: ApiRequest;
  readonly user: User;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Warnings for the client; hooks append to it. */
  readonly warnings: string[];
  /** A number in [0, 1) from the cluster's random source. */
  random(): number;
}

/** The storage version of a kind, and the conversions between it and the version that declares this. */
export interface StorageVersion {
  readonly kind: Kind;
  /**
   * Converts an object to the storage version, in place; absent: only `apiVersion` differs. The draft is a copy of the top
   * level and of the metadata: deeper values belong to the object too, and must not be changed.
   */
  readonly toStored?: (draft: DraftObject, dialect: Dialect) => void;
  readonly fromStored?: (draft: DraftObject, dialect: Dialect) => void;
}

/** An object of a new cluster, in wire order, defaults included. */
export interface InitialObject {
  readonly metadata: {
    readonly name: string;
    /** One of the namespaces that every cluster has; absent for cluster-scoped kinds. */
    readonly namespace?: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managers: readonly InitialManager[];
  };
  readonly [field: string]: unknown;
}

/** A field manager of an initial object, in the order of `managedFields`. */
export interface InitialManager {
  readonly manager: string;
  /** Absent: Update. */
  readonly operation?: 'Apply';
  readonly subresource?: string;
  readonly fields: FieldSet;
}

/** The handlers of a kind whose objects are computed and not stored. */
export interface VirtualKind<Object = unknown> {
  readonly create?: (draft: DraftObject & Object, context: StrategyContext) => MaybePromise<DraftObject>;
  readonly get?: (name: string, context: StrategyContext) => MaybePromise<DraftObject>;
  readonly list?: (context: StrategyContext) => MaybePromise<readonly DraftObject[]>;
}

/** Returns error messages for a name. `prefix` is true for a generateName, which may end in a dash. */
export type NameValidator = (name: string, prefix: boolean, object?: ApiObject) => readonly string[];

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

/** Rules for names. */
export interface NameStrategy {
  readonly validate: NameValidator;
  /** Builds a name from a generateName prefix; absent: appends five random characters. */
  readonly generate?: (prefix: string) => string;
}

/** How a request body becomes an object. */
export interface DecodeStrategy<Object = unknown> {
  /** The reason why a well-formed document cannot be decoded as this kind; called before defaulting. */
  readonly decodeError?: (draft: DraftObject & Object) => string | undefined;
  /** Defaults that a schema cannot express. Runs with decoding, before admission. */
  readonly defaults?: (draft: DraftObject & Object, context: HookContext) => void;
  /** The reason why an unknown field is rejected; other unknown fields are dropped with a warning. */
  readonly rejectUnknownField?: (field: string, dialect: Dialect) => string | undefined;
}

/** How objects are read and selected. */
export interface ReadStrategy<Object = unknown> {
  /** The reference server has no watch cache for the kind: reads go to storage, with its messages and limits. */
  readonly uncached?: boolean;
  /** Field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject & Object) => string>>;
  /** The message for an unsupported field selector; absent: the one that lists the two metadata fields. */
  readonly unknownFieldLabel?: (field: string, dialect: Dialect) => string;
}

/** Hooks that run on create and on update. */
export interface WriteStrategy<Object = unknown> {
  /** The main endpoint neither sets nor changes the status: empty on create, unchanged on update. */
  readonly separateStatus: boolean;
  /** Fields that writes to the main endpoint can own; absent: all, or all but a separate status. */
  readonly ownableFields?: OwnableFields;
  /** `metadata.generation` starts at 1 and rises when this returns true; absent: the kind has no generation. */
  readonly generation?: (next: ApiObject & Object, live: ApiObject & Object) => boolean;
  /** Throws when the user may not write this object at all. Runs after mutation, before validation. */
  readonly authorize?: AuthorizeHook<Object>;
  /** Like `authorize`, but runs after validation, with the object to store. */
  readonly authorizeValidated?: AuthorizeHook<Object>;
  /** CEL rules, evaluated on every write, status writes included. */
  readonly rules?: (next: ApiObject & Object, live: (ApiObject & Object) | undefined) => CustomValidationResult;
  /** Warnings about an object that is accepted. */
  readonly warnings?: (
    object: ApiObject & Object,
    live: (ApiObject & Object) | undefined,
    context: HookContext,
  ) => readonly string[];
  /** Last change after validation, before the object is stored. */
  readonly canonicalize?: (draft: DraftObject & Object, context: HookContext) => void;
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

/** Throws a StatusError if the user may not make this write. */
export type AuthorizeHook<Object = unknown> = (
  next: ApiObject & Object,
  live: (ApiObject & Object) | undefined,
  context: StrategyContext,
) => void;

/** Hooks of create. */
export interface CreateStrategy<Object = unknown> {
  readonly prepare?: (draft: DraftObject & Object, context: HookContext) => void;
  /**
   * Rules across fields; rules of single fields are part of the schema. `live` is set when an update runs them again.
   */
  readonly validate?: (
    object: ApiObject & Object,
    context: HookContext,
    live?: ApiObject & Object,
  ) => readonly FieldError[];
  /** How the kind validates metadata again; absent: strict, if it is built in. */
  readonly metadataValidation?: MetadataStrictness;
  /** Warnings about a new object after preparation, whether or not it is accepted. */
  readonly warnings?: (object: ApiObject & Object) => readonly string[];
}

/** Hooks of update, patch and apply. */
export interface UpdateStrategy<Object = unknown> {
  /** PUT without a resourceVersion overwrites the live object. */
  readonly allowUnconditionalUpdate: boolean;
  /** PUT to an absent name creates the object. */
  readonly allowCreateOnUpdate: boolean;
  /** The steps of validation, in this order, after the checks for any object; absent: the order of `server/steps/validate.ts`. */
  readonly validationOrder?: readonly UpdateStep[];
  readonly prepare?: (draft: DraftObject & Object, live: ApiObject & Object, context: HookContext) => void;
  readonly validate?: ValidateUpdate<Object>;
  /** As in {@link CreateStrategy}, before all other rules. `inValidate`: `validate` reports metadata errors itself. */
  readonly metadataValidation?: MetadataStrictness | 'inValidate';
}

/** Hooks of delete. */
export interface DeleteStrategy<Object = unknown> {
  /** DELETE returns the object, not a Status. `unpublished`: only in the reference server, against its OpenAPI document. */
  readonly returnDeletedObject: boolean | 'unpublished';
  /** Runs before the default deletion and may replace it; see {@link DeletionDecision}. */
  readonly intercept?: (live: ApiObject & Object, request: DeletionRequest, context: HookContext) => DeletionDecision;
  /** A further condition for removing a terminating object that has no finalizers. */
  readonly shouldDeleteDuringUpdate?: (object: ApiObject & Object) => boolean;
  /**
   * Seconds that a deleted object remains before it is removed; 0 or absent: it is removed at once. `requested` is the
   * client's value, if any.
   */
  readonly gracePeriod?: (live: ApiObject & Object, requested: number | undefined) => number;
  /** Propagation when the client sets none; absent: `Background`. `Unsupported`: the client's policy has no effect. */
  readonly defaultPropagation?: 'Orphan' | 'Unsupported';
  readonly warnings?: (request: DeletionRequest) => readonly string[];
}

/**
 * A step of update validation. `metadata`: the kind validates the metadata update again. `update`: the kind's rules for an
 * update. `create`: all rules of a new object, its metadata included.
 */
export type UpdateStep = 'metadata' | 'update' | 'create';

/** Rules of an update. `metadata` is for kinds that place metadata errors among their own. */
export type ValidateUpdate<Object = unknown> = (
  next: ApiObject & Object,
  live: ApiObject & Object,
  context: HookContext,
  metadata: MetadataErrors,
) => readonly FieldError[];

/**
 * The server validates the metadata of every object before the kind's own rules. Most kinds of the reference server
 * validate it again, so that its errors occur twice: `repeated`, by the same checks; `strict`, also rejecting finalizers
 * without a domain. `none`: the kind does not validate metadata again.
 */
export type MetadataStrictness = 'strict' | 'repeated' | 'none';

/** Metadata errors of a changed object, with the strictness of {@link CreateStrategy}. */
export interface MetadataErrors {
  /** As if the object were new. */
  forCreate(): readonly FieldError[];
  forUpdate(): readonly FieldError[];
}

/** Resources reserved for a write, taken when the object is stored. */
export interface Allocation {
  /**
   * Takes the reserved resources right before the object is stored, after all checks. Throws StorageError `stale` before it
   * changes anything if another write has taken one of them; the server then repeats the write.
   */
  commit(stored: ApiObject): void;
}
