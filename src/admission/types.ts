/**
 * The contract of admission: what a plugin is asked, and what it may do about it.
 *
 * Plugins run in the order of their list; every `mutate` runs before any `validate`. A plugin refuses a request by
 * throwing a StatusError (usually `errors.forbidden`).
 */

import type { ExternalCalls } from '../kinds/reconciler.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { ObjectAddress, ObjectReader } from '../kinds/objects.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { AccessAttributes, AccessDecision, AccessReader } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** CONNECT: a line to what runs elsewhere (exec, proxy); its object is the options of the line. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionRequest<Object extends DraftObject | ApiObject = ApiObject> {
  readonly operation: Operation;
  readonly served: ServedKind;
  readonly subresource: string;
  /** Empty for cluster-scoped kinds; for a Namespace, its own name. */
  readonly namespace: string;
  /** The name asked for; a generated one is not known yet and stands as its prefix. */
  readonly name: string;
  /** The same, empty while it is not known: what policies and webhooks are told. For a whole collection, always empty. */
  readonly sentName: string;
  /** The new object, to be changed in place while mutating and left alone while validating; none on DELETE. */
  readonly object: Object | undefined;
  /** The live object; none on CREATE. */
  readonly oldObject: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly user: User;
  /** Of `object` and `oldObject`; below an object it may be another than that of `served` (Scale, Eviction, …). */
  readonly objectKind: GroupVersionKind;
  /** The options of the request as an object of its own: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions. */
  readonly options: Readonly<Record<string, unknown>>;
  /** For the client, beside the answer; add to them. */
  readonly warnings: string[];
  /** Whether, and how, the mutating plugins are run once more. */
  readonly rounds: Rounds;
  /**
   * Leaves a note in the audit event of the request; the first note under a key stays. `body`: it shows a part of an
   * object, and is kept only where objects are.
   */
  annotate(key: string, value: string, shows?: 'body'): void;
  /**
   * Done in the same instant in which the object is stored, right before it; not on a dry run. May throw a StatusError,
   * and then nothing is stored. A write that is tried again asks its plugins again, and only what the last try asked
   * for is done.
   */
  whenStored(effect: () => void): void;
  /** Makes what a plugin wrote into the draft a well-formed object again, defaults filled in, in place. Throws 500. */
  normalize(): void;
}

/** Mutating plugins are run twice where one of them changed what others have looked at already. */
export interface Rounds {
  /** 0, and 1 when they are run once more. */
  readonly round: number;
  /** Asks for a second round; there is no third. */
  again(): void;
  /** What a plugin wants to know about its first round in the second. */
  readonly memory: Map<AdmissionPlugin, unknown>;
}

/** What the cluster lets a plugin see. */
export interface ClusterView extends ObjectReader {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  readonly clock: Clock;
  /** For expressions and the like: what is asked here is not part of what the request asks for. */
  readonly access: AccessReader;
  /** May somebody do what the request comes down to? Whoever keeps a record of that learns of it. */
  authorize(user: User, attributes: AccessAttributes): AccessDecision;
  /** For names that a plugin makes up. */
  readonly ids: Ids;
  /** How webhooks are reached. */
  readonly outside: ExternalCalls;
  namespace(name: string): ApiObject | undefined;
  /** How often objects of a resource have been written: another number, another state. */
  changes(resource: GroupResource): number;
  /** Kinds by their names as clients see them. */
  kindNamed(gvk: GroupVersionKind): ServedKind | undefined;
  resourceNamed(gvr: GroupVersionResource): ServedKind | undefined;
  /** All versions under which the objects of a kind are served, itself included. */
  versionsOf(served: ServedKind): readonly ServedKind[];
  /** An object of one version in the form of another version of the same kind. */
  convert(object: ApiObject, from: ServedKind, to: ServedKind): MaybePromise<ApiObject>;
  /** Changes another object past all plugins, at once. Throws when there is no such object. */
  change(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /** Stores a new object past all plugins, at once, metadata filled in. Throws when there is one. */
  create(address: ObjectAddress, draft: DraftObject): ApiObject;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** Which kinds it looks at; absent: all of them. Asked once for each kind. */
  readonly looksAt?: (served: ServedKind) => boolean;
  /** It looks at lines to what runs elsewhere (CONNECT) too. */
  readonly connects?: boolean;
  /** Its `mutate` only refuses; saves a second look at every object. A function: whether that is so at the moment. */
  readonly changesNothing?: boolean | ((view: ClusterView) => boolean);
  /** Whether it may make writes of this kind wait at the moment. Absent: only one of ours does not. */
  readonly mayWait?: (served: ServedKind, view: ClusterView) => boolean;
  /** It is one of ours: it answers at once, writes nothing, and what it changes is well formed. */
  readonly isBuiltIn?: boolean;
  /** May change `request.object` in place. */
  readonly mutate?: (request: AdmissionRequest<DraftObject>, view: ClusterView) => MaybePromise<void>;
  readonly validate?: (request: AdmissionRequest, view: ClusterView) => MaybePromise<void>;
}
