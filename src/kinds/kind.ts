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
import type { Attendant, AttendedServer } from './attendant.js';
import type { Column, RowCondition } from './columns.js';
import type { CustomForm, Judgement } from './custom-form.js';
import type { FeatureGates } from './feature-gates.js';
import type { Lifecycle } from './lifecycle.js';
import type { Objects } from './objects.js';
import type { AnySubresource, Claimable, Connection } from './subresource.js';
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
  readonly manner: ObjectNode['manner'];
  /** The whole object, metadata included. Built by the first look at it, like `body`. */
  readonly schema: ObjectNode;
  /** Everything but `apiVersion`, `kind` and `metadata`; its value rules are run by the validate step. */
  readonly body: z.ZodObject;
  readonly strategy: Strategy;
  readonly subresources: Readonly<Record<string, AnySubresource>>;
  /** Lines from its objects to what runs elsewhere. */
  readonly connections?: Readonly<Record<string, Connection>>;
  /** Present on further versions of a kind: how their objects are stored. */
  readonly stored?: StoredForm;
  /** Present when objects of the kind are not stored: a review is answered, a status is looked up. */
  readonly virtual?: VirtualKind;
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
  readonly keptAsVersion?: string;
  /** Rules in CEL that it was defined with. */
  readonly rules?: readonly KindRule[];
  /** Present on kinds that a definition makes while the cluster runs. */
  readonly custom?: CustomForm;
  /** Present on kinds whose objects change what the server does. */
  readonly attend?: (server: AttendedServer) => Attendant;
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
export interface PowerContext extends WriteContext {
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
export interface StoredForm {
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
  readonly create?: (draft: DraftObject, context: PowerContext) => MaybePromise<DraftObject>;
  readonly get?: (name: string, context: PowerContext) => MaybePromise<DraftObject>;
  readonly list?: (context: PowerContext) => MaybePromise<readonly DraftObject[]>;
}

/** Problems with a name, as messages. `prefix` is true for a generateName, which may end in a dash. */
export type NameRule = (name: string, prefix: boolean, object?: ApiObject) => readonly string[];

/** How a kind departs from the ordinary. Hooks that take a draft change it in place; nobody else sees it yet. */
export interface Strategy {
  readonly nameRule: NameRule;
  /** What a name is made of a prefix; absent: five characters are added. */
  readonly generatedName?: (prefix: string) => string;
  /** PUT without a resourceVersion overwrites whatever is there. */
  readonly unconditionalUpdate: boolean;
  /** PUT to an absent name creates it. */
  readonly createOnUpdate: boolean;
  /**
   * How an update is judged after the rules for any object: as `metadata`, as a `change` (`validateUpdate`), `whole` as if it
   * were new. Absent: as metadata, as a change, and by its schema.
   */
  readonly updateSteps?: readonly UpdateStep[];
  /** The reference server keeps no such objects at hand: any read of them is one of its store, which has other words and keeps limits. */
  readonly uncached?: boolean;
  /** How the kind's own rules look at metadata; absent: strictly, if it is built in. */
  readonly ownMetadata?: OwnMetadata;
  /** DELETE answers with the object where other kinds answer with a Status. */
  readonly deleteReturnsObject: boolean;
  /** `metadata.generation` is 1 at creation and rises when this says so; absent: the kind has no generation. */
  readonly generation?: (next: ApiObject, live: ApiObject) => boolean;
  /** Why a document that is well formed cannot be read as an object of the kind all the same; asked before defaults. */
  readonly unreadable?: (draft: DraftObject) => string | undefined;
  /** Defaults that a schema cannot state. Runs with decoding, before admission. */
  readonly defaults?: (draft: DraftObject, context: WriteContext) => void;
  /** The main address neither sets nor changes the status: it is empty on create and stays as it is on update. */
  readonly statusApart: boolean;
  /** What writes at the main address can own; absent: all, or all but the status where that is apart. */
  readonly claimable?: Claimable;
  readonly prepareForCreate?: (draft: DraftObject, context: WriteContext) => void;
  readonly prepareForUpdate?: (draft: DraftObject, live: ApiObject, context: WriteContext) => void;
  /** Rules across fields; rules of single fields stand in the schema. `live` where an update runs them again. */
  readonly validate?: (object: ApiObject, context: WriteContext, live?: ApiObject) => readonly FieldError[];
  readonly validateUpdate?: UpdateRules;
  /** Why a field that the schema does not know is refused, where others are dropped with a warning. */
  readonly refuseUnknownField?: (field: string, dialect: Dialect) => string | undefined;
  /** Whether who asks may write such an object at all; throws. After plugins changed it, before anybody judges it. */
  readonly permit?: (next: ApiObject, live: ApiObject | undefined, context: PowerContext) => void;
  /** The same for what is valid. */
  readonly permitValid?: (next: ApiObject, live: ApiObject | undefined, context: PowerContext) => void;
  /** Rules in CEL, on every write, the status alone included. */
  readonly rules?: (next: ApiObject, live: ApiObject | undefined) => Judgement;
  /** What to tell the client about a new object that was filled in, whether or not it is accepted. */
  readonly preparationWarnings?: (object: ApiObject) => readonly string[];
  /** What to tell the client about an object that is accepted all the same. */
  readonly warnings?: (object: ApiObject, live: ApiObject | undefined, context: WriteContext) => readonly string[];
  /** Last touch after validation, before the object is stored. */
  readonly canonicalize?: (draft: DraftObject, context: WriteContext) => void;
  /** Field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>>;
  /** The text for a field that cannot be selected by; absent: the one that lists the two metadata fields. */
  readonly unknownFieldLabel?: (field: string, dialect: Dialect) => string;
  /** A say in deletion before the ordinary algorithm; see {@link DeletionVerdict}. */
  readonly beforeDelete?: (live: ApiObject, request: DeletionRequest, context: WriteContext) => DeletionVerdict;
  /** Extra condition under which a terminating object without finalizers may vanish. */
  readonly mayVanish?: (object: ApiObject) => boolean;
  /**
   * Deletion gives the object this many seconds to end, during which it stays; 0 or absent: it goes at once. Called
   * with what the client asked for, if anything.
   */
  readonly gracePeriod?: (live: ApiObject, asked: number | undefined) => number;
  /** What becomes of dependents when the client does not say; absent: they are left to the collector. */
  readonly defaultPropagation?: 'Orphan';
  /** What to tell a client that deletes an object in this way. */
  readonly deletionWarnings?: (request: DeletionRequest) => readonly string[];
  /**
   * Sets things aside for an object before it is judged (addresses, ports), by changing the draft. What it returns
   * makes that final, and is called in the moment the object is stored.
   */
  readonly allocate?: (
    draft: DraftObject,
    live: ApiObject | undefined,
    context: PowerContext,
  ) => Allocation | undefined;
  /** Gives back what was allocated, after the object is gone. */
  readonly release?: (gone: ApiObject, context: PowerContext) => void;
}

/**
 * - `metadata`: what may change of the metadata, once more for the kind
 * - `change`: the kind's rules between two versions
 * - `whole`: all rules of a new object, its metadata included
 */
export type UpdateStep = 'metadata' | 'change' | 'whole';

/** Rules of a change. `metadata` is for kinds that place its errors among their own. */
export type UpdateRules = (
  next: ApiObject,
  live: ApiObject,
  context: WriteContext,
  metadata: MetadataFindings,
) => readonly FieldError[];

/**
 * The metadata of every object is judged before the kind has its say. Most kinds judge it once more, so that errors stand
 * there again: `plain`, in the same way; `strict`, and finalizers with bare names are refused. With `none` they leave it.
 */
export type MetadataCare = 'strict' | 'plain' | 'none';

export interface OwnMetadata {
  /** Of a new object; absent: strict. */
  readonly create?: MetadataCare;
  /** Of a change, before all other rules; absent: strict. `placed`: `validateUpdate` reports it. */
  readonly update?: MetadataCare | 'placed';
}

/** What is wrong with the metadata of a changed object, with the care of `ownMetadata.create`. */
export interface MetadataFindings {
  /** As if the object were new. */
  asNew(): readonly FieldError[];
  asChange(): readonly FieldError[];
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
