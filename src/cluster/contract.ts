/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The interface of a cluster; `cluster.ts` implements it.
 */
import type { AuditLog } from '../audit/log.js';
import type { ClusterAuthentication } from '../auth/cluster-authentication.js';
import type { Client } from '../client/client.js';
import type { LocalHost } from '../client/host.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { Kind, ObjectOf } from '../kinds/kind.js';
import type { Release } from '../kinds/lifecycle.js';
import type { StorageReader } from '../kinds/objects.js';
import type { ServerListener } from '../kinds/reconciler.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ClusterSettings } from '../kinds/shared/cluster-settings.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { PodExecOptions, PodExecResult, PodLog, PodLogOptions, PodReference } from '../protocol/connection.js';
import type { ApiRequest, User } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import type { AccessListener, AccessListenerOptions } from '../server/context.js';
import type { ChangeRecord, HistoryOptions, ObjectReference } from '../server/history.js';
import type { Middleware } from '../server/middleware.js';
import type { RestOptions } from '../util/activity.js';
import type { Ids } from '../util/ids.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { ForkOptions } from './options.js';

/** A saved state of a cluster. Opaque; pass it to `restore`. */
export interface ClusterSnapshot {
  readonly resourceVersion: string;
}

/** A control plane in this process. The cluster is also a client. */
export interface Cluster extends Client, LocalHost, AsyncDisposable {
  readonly ids: Ids;
  /** The resourceVersion of the newest write. */
  readonly resourceVersion: string;

  /** Handles a request; clients and the HTTP handler call this. */
  send(request: ApiRequest): MaybePromise<ApiResponse>;

  /** Serves another kind. Throws if its names are taken. */
  install(kind: Kind): void;

  /**
   * Calls `listener` with every authorization decision about a request, those of the administrator included. The result ends
   * it; it works with `using`. See `recordAccess`.
   */
  onAccess(listener: AccessListener, options?: AccessListenerOptions): (() => void) & Disposable;

  /**
   * Reads the log of a container. Requires a runtime (`orchplane/runtime`).
   *
   * @example
   * for await (const line of cluster.logs('web', { follow: true })) console.log(line);
   */
  logs(pod: PodReference, options?: PodLogOptions): PodLog;

  /**
   * Runs a command in a container. Requires a runtime (`orchplane/runtime`).
   *
   * @example
   * const { stdout, exitCode } = await cluster.exec('web', ['cat', '/etc/hostname']);
   */
  exec(pod: PodReference, command: readonly string[], options?: PodExecOptions): Promise<PodExecResult>;

  /** Authorizes a user; handlers call it before they look up a resource. Without a user: the administrator. */
  authorize(user: User | undefined, attributes: AccessAttributes): AccessDecision;

  /** Authenticates tokens. */
  readonly authentication: ClusterAuthentication;

  /** Stored objects without access control, for handlers. */
  readonly storageReader: StorageReader;

  /**
   * Makes an address of the server the endpoint of its Service; `serve` calls it. The result removes the address. Without
   * any, the endpoint is a made-up address.
   */
  advertise(listener: ServerListener): () => void;

  /** The audit log, if there is one. */
  readonly audit?: AuditLog | undefined;

  /**
   * Adds a middleware around every request of every client. The result removes it; it works with `using`.
   *
   * @example
   * using _log = cluster.use((request, next) => { console.log(request.verb); return next(); });
   */
  use(middleware: Middleware): (() => void) & Disposable;

  /** Saves the current state, in constant time. */
  snapshot(): ClusterSnapshot;

  /** Restores a snapshot of this cluster or of a fork, resourceVersion included. Open watches end with Expired. */
  restore(snapshot: ClusterSnapshot): void;

  /** An independent cluster that starts from the current state; unchanged objects are shared in memory. */
  fork(options?: ForkOptions): Cluster;

  /**
   * All kept changes of one object, oldest first, including its deletion and later objects of the same name. The option
   * `keepHistory` of `memoryStorage` sets how many are kept. A restore removes the changes that it undoes.
   *
   * @example
   * for (const { type, manager, object } of cluster.history(ConfigMap, 'web')) console.log(type, manager, object.data);
   */
  history<AnyKind extends Kind>(
    kind: AnyKind,
    name: string,
    options?: HistoryOptions,
  ): readonly ChangeRecord<ObjectOf<AnyKind>>[];
  /** The same for an object that was read, or for a reference. */
  history<Reference extends ObjectReference>(
    object: Reference,
  ): readonly ChangeRecord<Reference extends { readonly metadata: { readonly uid: string } } ? Reference : ApiObject>[];

  /**
   * An independent cluster in the state right after a version, custom resources included, without controllers. It can be
   * written to, watched and forked, and its snapshots can be restored here. It uses the same clock; with a fake clock, a
   * copy that stands at the time of the version. Kinds that were installed later are served there too. Throws RangeError
   * for a future version and Expired for one that is no longer kept.
   *
   * @example
   * const before = await cluster.at('12').api(ConfigMap).list();
   */
  at(resourceVersion: string, options?: ForkOptions): Cluster;

  /** The kind of a resource, if it is served. */
  resolve(resource: GroupVersionResource): ServedKind | undefined;
  /** Whether a group contains built-in kinds; unknown resources of such groups get another error. */
  hasBuiltIns(group: string): boolean;
  /** All served kinds in all versions; the same list until the set of kinds changes. */
  kinds(): readonly ServedKind[];
  /** The feature gates. */
  readonly features: FeatureGates;
  /** The settings that kinds depend on: the ranges of cluster IPs, and whether containers may be privileged. */
  readonly settings: ClusterSettings;
  /** The Kubernetes release whose behaviour it has. */
  readonly release: Release;

  /**
   * Resolves when nothing is left to do at the current time: all followed watches are delivered, all work queues are empty
   * and no timer is due. It does not advance time. Rejects after `timeoutMs` (default: 10 s of real time) with an error that
   * names what is still busy.
   *
   * @example
   * await cluster.settle();
   */
  settle(options?: RestOptions): Promise<void>;

  /** Ends every watch; later requests fail. */
  close(): Promise<void>;
}
