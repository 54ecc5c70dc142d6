/**
 * The contract of admission: what a plugin is asked, and what it may do about it.
 *
 * Plugins run in the order of their list; every `mutate` runs before any `validate`. A plugin refuses a request by
 * throwing a StatusError (usually `errors.forbidden`).
 */

import type { ObjectReader } from '../kinds/objects.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { User } from '../protocol/request.js';
import type { MaybePromise } from '../util/maybe-promise.js';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

export interface AdmissionRequest<Object extends DraftObject | ApiObject = ApiObject> {
  readonly operation: Operation;
  readonly served: ServedKind;
  readonly subresource: string;
  /** Empty for cluster-scoped kinds; for a Namespace, its own name. */
  readonly namespace: string;
  /** The name asked for; a generated one is not known yet and stands as its prefix. */
  readonly name: string;
  /** The new object, to be changed in place while mutating and left alone while validating; none on DELETE. */
  readonly object: Object | undefined;
  /** The live object; none on CREATE. */
  readonly oldObject: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly user: User;
}

/** What the cluster lets a plugin see. */
export interface ClusterView extends ObjectReader {
  readonly dialect: Dialect;
  namespace(name: string): ApiObject | undefined;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** Which kinds it looks at; absent: all of them. Asked once for each kind. */
  readonly looksAt?: (served: ServedKind) => boolean;
  /** Its `mutate` only refuses; saves a second look at every object. */
  readonly changesNothing?: boolean;
  /** What it changes is known to be well formed, and needs no second look either. Built-in plugins only. */
  readonly trusted?: boolean;
  /** May change `request.object` in place. */
  readonly mutate?: (request: AdmissionRequest<DraftObject>, view: ClusterView) => MaybePromise<void>;
  readonly validate?: (request: AdmissionRequest, view: ClusterView) => MaybePromise<void>;
}
