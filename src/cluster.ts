/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The one place that knows every part of a cluster and puts them together.
 */
import { slimAdmission } from './admission/plugins/slim.js';
import type { AdmissionPlugin } from './admission/types.js';
import type { AuditLog } from './audit/log.js';
import { type AuthorizerFactory, allowAuthenticated } from './auth/authorizer.js';
import type { AccountTokensFactory, ClusterAuthentication } from './auth/cluster-authentication.js';
import { impersonated } from './auth/identity.js';
import type { Client } from './client/client.js';
import { createClient } from './client/client.js';
import type { Companion, LocalHost } from './client/host.js';
import type { ClientDefaults } from './client/options.js';
import { CLUSTER_OPTIONS, type ClusterOptions, type ForkOptions, outsideOf } from './cluster-options.js';
import type { AccessAttributes, AccessDecision } from './kinds/access.js';
import { Namespace } from './kinds/core/v1/namespace.js';
import { type FeatureGates, featureGates } from './kinds/feature-gates.js';
import type { Kind } from './kinds/kind.js';
import { checkRelease, REFERENCE_RELEASE, type Release } from './kinds/lifecycle.js';
import type { InsideReader } from './kinds/objects.js';
import type { ServedKind } from './kinds/served-kind.js';
import { dialectNamed } from './meta/dialect.js';
import { errors, failure } from './meta/errors.js';
import { type GroupVersionResource, qualifiedResource } from './meta/gvk.js';
import type { ApiRequest, User } from './protocol/request.js';
import type { ApiResponse } from './protocol/response.js';
import { Availability } from './registry/availability.js';
import { Registry } from './registry/registry.js';
import { Attendants, type MoreAttendants } from './server/attend.js';
import { audited } from './server/audited.js';
import { checkPlugged } from './server/check-plugged.js';
import { type AccessListener, ADMINISTRATOR, type ServerContext } from './server/context.js';
import { dispatch } from './server/dispatch.js';
import type { RunningWatch } from './server/event-stream.js';
import { type ContextParts, makeContext } from './server/make-context.js';
import { type Middleware, MiddlewareStack } from './server/middleware.js';
import { objectReader } from './server/power.js';
import { seedInitialObjects, seedNamespaces } from './server/seed.js';
import { memoryStorage } from './storage/memory-storage.js';
import { Store, type StoreSnapshot } from './storage/store.js';
import { Activities, type Activity, type RestOptions, untilAtRest } from './util/activity.js';
import { systemClock } from './util/clock.js';
import { type Ids, randomIds } from './util/ids.js';
import { isPromise, type MaybePromise } from './util/maybe-promise.js';
import { refuseUnknownOptions } from './util/options.js';

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

/** What an entry adds to its clusters: methods over the cluster, with the defaults of its client. */
export type ExtendCluster<Extra> = (cluster: Cluster, defaults: ClientDefaults) => Extra;

/** What a cluster has whose options do not say. */
export interface ClusterDefaults {
  /** Offered when the options name none. */
  readonly kinds?: readonly Kind[];
  readonly admission?: readonly AdmissionPlugin[];
  readonly authorizer?: AuthorizerFactory;
  readonly accountTokens?: AccountTokensFactory;
  /** What writes the status of policies, where that is wanted. */
  readonly policyStatus?: (registry: Registry) => MoreAttendants;
}

/** A cluster from its options. */
export function assembleCluster<Extra extends object = object>(
  options: ClusterOptions,
  defaults: ClusterDefaults,
  extend: ExtendCluster<Extra> = () => ({}) as Extra,
): Cluster & Extra {
  refuseUnknownOptions('createCluster', options, CLUSTER_OPTIONS);
  checkPlugged(options);
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? randomIds;
  const storage = options.storage ?? memoryStorage();
  const dialect = dialectNamed(options.dialect ?? 'orch');
  const release = checkRelease(options.release ?? REFERENCE_RELEASE);
  const warn = options.onWarning ?? ((warning: string) => console.warn(`orchplane: ${warning}`));
  const features = featureGates(options.featureGates, { release, warn });
  const { runtimeConfig } = options;
  const availability = new Availability({
    features,
    dialect,
    release,
    ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
  });
  const registry = new Registry(dialect, availability);
  if (options.kinds === undefined) registry.offer(defaults.kinds ?? []);
  else for (const kind of options.kinds) registry.install(kind);
  // Without namespaces there is no place for anything.
  registry.demand(Namespace);
  const parts: ClusterParts = {
    clock,
    ids,
    dialect,
    storage,
    store: new Store({ clock, ...storage }),
    registry,
    features,
    release,
    admission: options.admission ?? defaults.admission ?? slimAdmission,
    authorizer: options.authorizer ?? defaults.authorizer ?? allowAuthenticated(),
    authentication: options.authentication ?? {},
    accountTokens: defaults.accountTokens,
    isFork: false,
    attendants: (options.policyStatus === true ? defaults.policyStatus : undefined) ?? (() => new Map()),
    audit: options.audit,
    client: options.client ?? {},
    controllers: options.controllers,
    outside: outsideOf(options, ids),
    family: {},
    extend,
  };
  // Whatever the extension adds is there, on this cluster and on its forks.
  const { cluster, start } = assemble(parts);
  seedNamespaces(makeContext({ ...parts, admission: [] }));
  seedInitialObjects(parts, registry.storedForms());
  start();
  return cluster as Cluster & Extra;
}

interface ClusterParts extends ContextParts {
  readonly isFork: boolean;
  readonly attendants: (registry: Registry) => MoreAttendants;
  readonly audit: AuditLog | undefined;
  readonly client: ClientDefaults;
  readonly controllers: Companion | undefined;
  /** Shared by a cluster and its forks. */
  readonly family: object;
  readonly extend: ExtendCluster<object>;
}

function insideOf({ store, registry }: ClusterParts, { view }: ServerContext): InsideReader {
  return {
    objects: objectReader(store, registry),
    changes: view.changes,
    count: (resource) => store.count(qualifiedResource(resource)),
  };
}

/** As a function, and for `using`. */
function undo(run: () => void): (() => void) & Disposable {
  return Object.assign(run, { [Symbol.dispose]: run });
}

/** Snapshots are ours to open only by the cluster's own code. */
const snapshots = new WeakMap<ClusterSnapshot, { readonly state: StoreSnapshot; readonly family: object }>();

/** A cluster, and what starts its controllers once everything is in its place. */
interface Assembled {
  readonly cluster: Cluster;
  start(): void;
}

function assemble(parts: ClusterParts): Assembled {
  const context = makeContext(parts);
  const { accessListeners } = context;
  const { store, registry, dialect, clock, ids } = parts;
  const middlewares = new MiddlewareStack();
  const closing = new AbortController();
  const activities = new Activities();
  activities.add(deliveries(context.watches));
  let companion: ReturnType<Companion> | undefined;

  const attendants = new Attendants(context, parts.outside, parts.attendants(registry));
  // A fork begins where everything is seen to. Attendants look around with its first write, unless they have to know what
  // was there before it.
  if (!parts.isFork || registry.hasOwned()) attendants.settle();

  /** Whatever a request has changed is seen to before anybody is answered. */
  function handle(request: ApiRequest): MaybePromise<ApiResponse> {
    if (parts.audit !== undefined && request.audit === undefined) {
      return audited(parts.audit, context, { request, handle });
    }
    if (request.verb === 'get' || request.verb === 'list' || request.verb === 'watch')
      return dispatch(context, request);
    let answered: MaybePromise<ApiResponse>;
    try {
      answered = dispatch(context, request);
    } catch (error) {
      attendants.settle();
      throw error;
    }
    if (isPromise(answered)) return answered.finally(() => attendants.settle());
    attendants.settle();
    return answered;
  }

  function send(request: ApiRequest): MaybePromise<ApiResponse> {
    if (closing.signal.aborted) throw closing.signal.reason;
    if (request.user !== undefined) {
      const user = impersonated(request.user);
      if (user !== request.user) return send({ ...request, user });
    }
    if (middlewares.isEmpty) return handle(request);
    // A middleware may wait; what the caller does with its object meanwhile is no part of this request.
    const body = request.body?.detach?.();
    return middlewares.run(body === undefined ? request : { ...request, body }, handle);
  }

  async function close(): Promise<void> {
    closing.abort(errors.serviceUnavailable('the cluster is closed'));
    for (const watch of [...context.watches]) watch.close();
    attendants.close();
    await companion?.close();
  }

  function start(): void {
    const started = parts.controllers?.(whole);
    if (parts.controllers !== undefined && typeof started?.close !== 'function') {
      throw new TypeError('orchplane: controllers has to return { close() }; controllers([...]) makes what does');
    }
    companion = started;
  }

  /** What a client in this process is told about a kind that was forgotten: which one, and what to do. */
  function sendLocal(request: ApiRequest): MaybePromise<ApiResponse> {
    // Whoever may not ask is told that, and no more.
    if (request.user !== undefined || registry.byResource(request.resource) !== undefined) return send(request);
    const { group, version, resource } = request.resource;
    const what = qualifiedResource({ group, resource });
    const why =
      registry.whyUnavailable(request.resource) ?? `${what} in version ${version} is not installed (cluster.install)`;
    const message = `the server could not find the requested resource: ${why}`;
    throw failure({ reason: 'NotFound', message, details: {} });
  }

  const transport = { dialect, clock, send: sendLocal, closing: closing.signal };
  const client = createClient({ transport, ...parts.client });

  const cluster: Cluster = {
    ...client,
    dialect,
    clock,
    ids,
    send,
    closing: closing.signal,
    get resourceVersion() {
      return String(store.revision);
    },
    install(kind: Kind) {
      const before = new Set(registry.storedForms());
      registry.install(kind);
      seedInitialObjects(
        parts,
        registry.storedForms().filter((form) => !before.has(form)),
      );
      attendants.settle();
    },
    use(middleware: Middleware) {
      return undo(middlewares.add(middleware));
    },
    onAccess(listener: AccessListener) {
      // A wrapper makes each addition its own.
      const own: AccessListener = (...about) => listener(...about);
      accessListeners.add(own);
      return undo(() => void accessListeners.delete(own));
    },
    authorize(user: User | undefined, attributes: AccessAttributes) {
      return context.authorize(user ?? ADMINISTRATOR, attributes);
    },
    authentication: context.authentication,
    inside: insideOf(parts, context),
    audit: parts.audit,
    snapshot() {
      const state = store.snapshot();
      const snapshot = Object.freeze({ resourceVersion: String(state.revision) });
      snapshots.set(snapshot, { state, family: parts.family });
      return snapshot;
    },
    restore(snapshot: ClusterSnapshot) {
      const held = snapshots.get(snapshot);
      if (held === undefined) throw new TypeError('orchplane: restore takes what snapshot() returned');
      if (held.family !== parts.family) {
        throw new TypeError(
          'orchplane: this snapshot is of another cluster; restore takes those of a cluster and its forks',
        );
      }
      companion?.close();
      store.restore(held.state);
      attendants.startOver();
      start();
    },
    fork(options: ForkOptions = {}) {
      const forkClock = options.clock ?? clock;
      const fork = assemble({
        ...parts,
        isFork: true,
        clock: forkClock,
        ids: options.ids ?? ids,
        client: options.client ?? parts.client,
        store: new Store({ clock: forkClock, ...parts.storage }, store.snapshot()),
        registry: registry.fork(),
      });
      fork.start();
      return fork.cluster;
    },
    resolve: (resource: GroupVersionResource) => registry.byResource(resource),
    hasBuiltIns: (group: string) => registry.hasBuiltIns(group),
    kinds: () => registry.all(),
    features: parts.features,
    release: parts.release,
    activities,
    settle: (options) => untilAtRest(activities, options, () => clock.runDue?.()),
    close,
    [Symbol.asyncDispose]: close,
  };
  const whole: Cluster = Object.freeze(Object.assign(cluster, parts.extend(cluster, parts.client)));
  return { cluster: whole, start };
}

/** Events on their way to those who follow watches. */
function deliveries(watches: ReadonlySet<RunningWatch>): Activity {
  const behind = () => [...watches].filter((watch) => watch.isBehind());
  return {
    isBusy() {
      for (const watch of watches) if (watch.isBehind()) return true;
      return false;
    },
    busyWith: () => behind().map(({ storage }) => `a watch of ${storage ?? 'something'} has events unread`),
  };
}
