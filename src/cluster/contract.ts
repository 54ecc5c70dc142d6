/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What a cluster can do. `cluster.ts` makes one.
 */
import type { AuditLog } from '../audit/log.js';
import type { ClusterAuthentication } from '../auth/cluster-authentication.js';
import type { Client } from '../client/client.js';
import type { LocalHost } from '../client/host.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { Kind, ObjectOf } from '../kinds/kind.js';
import type { Release } from '../kinds/lifecycle.js';
import type { InsideReader } from '../kinds/objects.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { ApiRequest, User } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import type { AccessListener } from '../server/context.js';
import type { ChangeRecord, HistoryOptions, ObjectReference } from '../server/history.js';
import type { Middleware } from '../server/middleware.js';
import type { RestOptions } from '../util/activity.js';
import type { Ids } from '../util/ids.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { ForkOptions } from './options.js';

/** The state of a cluster at one moment. Opaque; give it to `restore`. */
export interface ClusterSnapshot {
  readonly resourceVersion: string;
}

/** A control plane in this process. It is its own client. */
export interface Cluster extends Client, LocalHost, AsyncDisposable {
  readonly ids: Ids;
  /** The version of the newest write. */
  readonly resourceVersion: string;

  /** Answers a request of the protocol; what clients and the HTTP handler stand on. */
  send(request: ApiRequest): MaybePromise<ApiResponse>;

  /** Serves one more kind. Throws when its names are taken by another. */
  install(kind: Kind): void;

  /**
   * Calls back with every question that requests ask of the authorizer, the administrator's included, and with the answer.
   * Returns what ends it: a function, which `using` calls by itself. See `recordAccess`.
   */
  onAccess(listener: AccessListener): (() => void) & Disposable;

  /** May somebody do that? What a handler asks before it looks anything up. No user: the administrator. */
  authorize(user: User | undefined, attributes: AccessAttributes): AccessDecision;

  /** Whom tokens stand for. */
  readonly authentication: ClusterAuthentication;

  /** Objects as they are stored, past all access control: for handlers. */
  readonly inside: InsideReader;

  /** What writes its requests down, if anything. */
  readonly audit?: AuditLog | undefined;

  /**
   * Puts a middleware around every request, from whatever client. Returns what takes it away again: a function, which
   * `using` calls by itself.
   *
   * @example
   * using _log = cluster.use((request, next) => { console.log(request.verb); return next(); });
   */
  use(middleware: Middleware): (() => void) & Disposable;

  /** Holds the state of this moment, in time that does not depend on the number of objects. */
  snapshot(): ClusterSnapshot;

  /** Puts a snapshot of this cluster or of a fork of it back, version included. Open watches end with Expired. */
  restore(snapshot: ClusterSnapshot): void;

  /** An independent cluster that starts from this moment and shares memory with this one, but nothing else. */
  fork(options?: ForkOptions): Cluster;

  /**
   * Every change of one object that is remembered, oldest first, its deletion and what came after it under the same name
   * included. How far that goes: see `keepHistory` of `memoryStorage`. A restore takes what it undoes out of it.
   *
   * @example
   * for (const { type, manager, object } of cluster.history(ConfigMap, 'web')) console.log(type, manager, object.data);
   */
  history<AnyKind extends Kind>(
    kind: AnyKind,
    name: string,
    options?: HistoryOptions,
  ): readonly ChangeRecord<ObjectOf<AnyKind>>[];
  /** The same of an object that was read, or of a reference to one. */
  history<Reference extends ObjectReference>(
    object: Reference,
  ): readonly ChangeRecord<Reference extends { readonly metadata: { readonly uid: string } } ? Reference : ApiObject>[];

  /**
   * An independent cluster as this one was right after a version, custom kinds included, without controllers. It shares
   * memory with this one, but nothing else; it can be written to, watched and forked, and its snapshots can be restored here.
   * It lives by the same clock, or where that is a fake one, by another that stands at the time of the version. Kinds that
   * were installed since are served there too. Throws a RangeError for a version that is yet to come, and Expired for one
   * that is forgotten.
   *
   * @example
   * const before = await cluster.at('12').api(ConfigMap).list();
   */
  at(resourceVersion: string, options?: ForkOptions): Cluster;

  /** Which kind a resource is, if it is served. */
  resolve(resource: GroupVersionResource): ServedKind | undefined;
  /** Whether built-in kinds live in a group: what they do not serve is refused differently. */
  hasBuiltIns(group: string): boolean;
  /** Every kind it serves, in each version; the same list until another kind is installed. */
  kinds(): readonly ServedKind[];
  /** Which features are on. */
  readonly features: FeatureGates;
  /** The release that it plays. */
  readonly release: Release;

  /**
   * Resolves when everything has come to rest that runs on its own: each watch that somebody follows is delivered, each
   * queue of a controller is empty and no timer is due. Time does not pass by it: what waits for a later moment waits on.
   * Rejects with an error that names who is still busy when `timeoutMs` (10 s of the machine's time) is over.
   *
   * @example
   * await cluster.settle();
   */
  settle(options?: RestOptions): Promise<void>;

  /** Ends every watch; later requests are refused. */
  close(): Promise<void>;
}
