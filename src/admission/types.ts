/**
 * The contract of admission: the request that a plugin receives and what the plugin may do.
 *
 * Plugins run in the order of their list; every `mutate` runs before any `validate`. A plugin rejects a request by
 * throwing a StatusError (usually `errors.forbidden`).
 */

import type { FeatureGates } from '../kinds/feature-gates.js';
import type { ObjectAddress, ObjectReader } from '../kinds/objects.js';
import type { ExternalCalls } from '../kinds/reconciler.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { AccessAttributes, AccessDecision, ClusterAuthorizer } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** CONNECT is a request to a connect subresource (pods/exec, pods/proxy, …); its object is the options of the request. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionRequest<Object extends DraftObject | ApiObject = ApiObject> {
  readonly operation: Operation;
  readonly served: ServedKind;
  readonly subresource: string;
  /** Empty for cluster-scoped kinds; for a Namespace, its own name. */
  readonly namespace: string;
  /** The requested name; while a generated name is not known yet, its prefix. */
  readonly name: string;
  /** The name as policies and webhooks see it: empty while it is not known, and for requests to a whole collection. */
  readonly sentName: string;
  /** The new object: `mutate` may change it in place, `validate` must not. Undefined on DELETE. */
  readonly object: Object | undefined;
  /** The live object; undefined on CREATE. */
  readonly oldObject: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly user: User;
  /** The kind of `object` and `oldObject`; for a subresource it may differ from `served` (Scale, Eviction, …). */
  readonly objectKind: GroupVersionKind;
  /** The options object of the request: CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Warnings for the client; plugins append to them. */
  readonly warnings: string[];
  /** The state of reinvocation: whether the mutating plugins run a second time. */
  readonly rounds: Rounds;
  /**
   * Adds an annotation to the audit event of the request; the first value of a key wins. `body` marks a value that
   * contains a part of an object: it is kept only at audit levels that record objects.
   */
  annotate(key: string, value: string, contains?: 'body'): void;
  /**
   * Registers an effect that runs synchronously right before the object is stored; not on a dry run. The effect may throw
   * a StatusError, and then nothing is stored. A retried write runs its plugins again, and only the effects of the last
   * attempt run.
   */
  beforeCommit(effect: () => void): void;
  /** Decodes and defaults, in place, a draft that a plugin changed. Throws 500 if it is not a valid object any more. */
  normalize(): void;
}

/** Reinvocation: mutating plugins run twice if one of them changed an object that earlier ones have already seen. */
export interface Rounds {
  /** 0 in the first round, 1 in the second. */
  readonly round: number;
  /** Requests the second round; there is no third. */
  requestReinvocation(): void;
  /** State that a plugin keeps from the first round to the second. */
  readonly pluginState: Map<AdmissionPlugin, unknown>;
}

/** What a plugin may read and do in the cluster. */
export interface ClusterView extends ObjectReader {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  readonly clock: Clock;
  /** For CEL expressions: these checks are not recorded as part of the request. */
  readonly access: ClusterAuthorizer;
  /** Authorizes an action that the request implies; access recorders see the check. */
  authorize(user: User, attributes: AccessAttributes): AccessDecision;
  /** For names that a plugin generates. */
  readonly ids: Ids;
  /** How webhooks are called. */
  readonly externalCalls: ExternalCalls;
  namespace(name: string): ApiObject | undefined;
  /** A number that grows with every change of a resource; an unchanged number means an unchanged state. */
  lastChange(resource: GroupResource): number;
  /** Looks up kinds by their names as clients see them. */
  kindNamed(gvk: GroupVersionKind): ServedKind | undefined;
  resourceNamed(gvr: GroupVersionResource): ServedKind | undefined;
  /** All versions in which the objects of a kind are served, including the given one. */
  versionsOf(served: ServedKind): readonly ServedKind[];
  /** Converts an object between two versions of its kind. */
  convert(object: ApiObject, from: ServedKind, to: ServedKind): MaybePromise<ApiObject>;
  /** Updates another object synchronously and without admission. Throws if it does not exist. */
  change(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /** Like `change`, but only the top-level parts of the draft may be changed: deeper values are those of the stored object. */
  changeParts(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /** Creates an object synchronously and without admission, with metadata filled in. Throws if it exists. */
  create(address: ObjectAddress, draft: DraftObject): ApiObject;
}

/** One step of admission. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Whether the plugin handles a kind; absent: it handles all. Called once for each kind. */
  readonly handlesKind?: (served: ServedKind) => boolean;
  /** Whether it also handles CONNECT requests. */
  readonly handlesConnect?: boolean;
  /** Its `mutate` only rejects, so drafts need not be re-decoded after it. A function tells whether that is so now. */
  readonly changesNothing?: boolean | ((view: ClusterView) => boolean);
  /** Its `mutate` leaves a draft as it is, or decoded again and with defaults. */
  readonly decodesChanges?: boolean;
  /** Whether it may return a promise for a write of this kind now. Absent: built-in plugins never do, others may. */
  readonly mayBeAsynchronous?: (served: ServedKind, view: ClusterView) => boolean;
  /** The plugin is part of this library: it is synchronous, writes nothing, and leaves drafts well formed. */
  readonly isBuiltIn?: boolean;
  /** May change `request.object` in place. */
  readonly mutate?: (request: AdmissionRequest<DraftObject>, view: ClusterView) => MaybePromise<void>;
  readonly validate?: (request: AdmissionRequest, view: ClusterView) => MaybePromise<void>;
}
