/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The composition root: builds a cluster from its parts.
 */

import { coreAdmission } from '../admission/plugins/core-plugins.js';
import type { AdmissionPlugin } from '../admission/types.js';
import type { AuditLog } from '../audit/log.js';
import { type AuthorizerFactory, allowAuthenticated } from '../auth/authorizer.js';
import type { AccountTokensFactory } from '../auth/cluster-authentication.js';
import { ADMINISTRATOR } from '../auth/identity.js';
import { createClient } from '../client/client.js';
import type { ControllerStarter } from '../client/host.js';
import type { ClientDefaults } from '../client/options.js';
import { Namespace } from '../kinds/core/v1/namespace.js';
import { featureGates } from '../kinds/feature-gates.js';
import type { Kind } from '../kinds/kind.js';
import { checkRelease, REFERENCE_RELEASE } from '../kinds/lifecycle.js';
import { clusterSettings } from '../kinds/shared/cluster-settings.js';
import { dialectNamed } from '../meta/dialect.js';
import { errors } from '../meta/errors.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { AccessAttributes } from '../protocol/access.js';
import { runtimeIn } from '../protocol/connection.js';
import type { ApiRequest, User } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { Availability } from '../registry/availability.js';
import { Registry } from '../registry/registry.js';
import { ReusableParts } from '../schema/reuse.js';
import { checkUserParts } from '../server/check-user-parts.js';
import { storageReaderOf } from '../server/cluster-view.js';
import { type AccessListener, type AccessListenerOptions, hookContext, type ServerContext } from '../server/context.js';
import { createDialectNameCheck } from '../server/dialect-names.js';
import { dispatch } from '../server/dispatch.js';
import { closeJournalOnError } from '../server/durable.js';
import { type HistoryOptions, historyOf, type ObjectReference } from '../server/history.js';
import { ServerListeners } from '../server/listeners.js';
import { completeFor, loadState } from '../server/load.js';
import { type ContextParts, makeContext } from '../server/make-context.js';
import { type Middleware, MiddlewareStack } from '../server/middleware.js';
import { NO_PLUGINS } from '../server/plugins.js';
import { createReceiver } from '../server/receive.js';
import { type ExtraReconcilers, ServerReconcilers } from '../server/reconcilers.js';
import { pastRevision } from '../server/revision.js';
import { seedInitialObjects, seedNamespaces, seedSharedObjects } from '../server/seed.js';
import type { OpenStore, StoreHost } from '../server/shared-storage.js';
import type { StrictMode } from '../server/strict.js';
import { unknownResource } from '../server/unknown-resource.js';
import { watchDelivery } from '../server/watch-stream.js';
import { beginJournal, resumeJournal } from '../storage/journal/attach.js';
import type { Journal } from '../storage/journal/types.js';
import { memoryStorage, type StorageSettings } from '../storage/memory-storage.js';
import type { ClusterState } from '../storage/state.js';
import { Store, type StoreSnapshot } from '../storage/store.js';
import { Activities, untilAtRest } from '../util/activity.js';
import { systemClock } from '../util/clock.js';
import { lazyMembers, SOURCE } from '../util/hidden-class.js';
import { randomIds } from '../util/ids.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { once } from '../util/once.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { Cluster, ClusterSnapshot } from './contract.js';
import { CLUSTER_OPTIONS, type ClusterOptions, externalCallsOf, type ForkOptions, strictSettingOf } from './options.js';
import { snapshotOf, stateOf } from './snapshots.js';

export type { Cluster, ClusterSnapshot } from './contract.js';

/** Adds methods of an entry point to its clusters. */
export type ExtendCluster<Extra> = (cluster: Cluster, defaults: ClientDefaults) => Extra;

/** Defaults of the entry point for options that are absent. */
export interface ClusterDefaults {
  /** Served when the options name no kinds. */
  readonly kinds?: readonly Kind[];
  readonly admission?: readonly AdmissionPlugin[];
  readonly authorizer?: AuthorizerFactory;
  readonly accountTokens?: AccountTokensFactory;
  /** Writes the status of admission policies, for the option `policyStatus`. */
  readonly policyStatus?: (registry: Registry) => ExtraReconcilers;
  /** The implementation of the option `strict`. */
  readonly strict?: StrictMode;
}

/** Creates a cluster from its options and the defaults of an entry point. */
export function assembleCluster<Extra extends object = object>(
  options: ClusterOptions,
  defaults: ClusterDefaults,
  extend: ExtendCluster<Extra> = () => ({}) as Extra,
): Cluster & Extra {
  refuseUnknownOptions('createCluster', options, CLUSTER_OPTIONS);
  checkUserParts(options);
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? randomIds;
  const storage: StorageSettings & { readonly open?: OpenStore } =
    (options.storage as StorageSettings) ?? memoryStorage();
  const dialect = dialectNamed(options.dialect ?? 'orch');
  const release = checkRelease(options.release ?? REFERENCE_RELEASE);
  const warn = options.onWarning ?? ((warning: string) => console.warn(`orchplane: ${warning}`));
  const features = featureGates(options.featureGates, { release, warn });
  const strict = options.strict === true ? strictOf(defaults) : undefined;
  strict?.check({ release });
  const { runtimeConfig } = options;
  const enabled = runtimeConfig === undefined ? {} : { runtimeConfig };
  const availability = new Availability({ features, dialect, release, ...enabled });
  const registry = new Registry(dialect, availability);
  if (options.kinds === undefined) registry.installAvailable(defaults.kinds ?? []);
  else for (const kind of options.kinds) registry.install(kind);
  // Namespace is always served.
  registry.forceInstall(Namespace);
  const admission = options.admission ?? defaults.admission ?? coreAdmission;
  const host: StoreHost = {
    clock,
    dialect,
    registry,
    hookContext: () => hookContext(built.context),
    onLoaded: () => built.onLoaded(),
  };
  const parts: ClusterParts = {
    clock,
    ids,
    dialect,
    storage,
    store: storage.open?.(host) ?? new Store({ clock, ...storage }),
    registry,
    features,
    release,
    admission: strict === undefined ? admission : [...admission, strict.admission(strictSettingOf(options), warn)],
    dispatch: strict?.dispatch ?? dispatch,
    authorizer: options.authorizer ?? defaults.authorizer ?? allowAuthenticated(),
    authentication: options.authentication ?? {},
    accountTokens: defaults.accountTokens,
    isFork: false,
    settings: clusterSettings(options),
    dialectNames: createDialectNameCheck({ dialect, registry, isStrict: options.strict === true, warn }),
    reconcilers: (options.policyStatus === true ? defaults.policyStatus : undefined) ?? (() => new Map()),
    audit: options.audit,
    client: options.client ?? {},
    controllers: options.controllers,
    journal: options.journal,
    external: externalCallsOf(options, ids),
    listeners: new ServerListeners(),
    warn,
    reusableParts: new ReusableParts(),
    lineage: {},
    extend,
  };
  let built: BuiltCluster;
  const { journal, from } = options;
  const kept = journal?.load();
  return closeJournalOnError(journal, () => {
    const journaled = { store: parts.store, dialect: dialect.name, complete: completeFor(registry) };
    if (journal !== undefined && kept !== undefined) resumeJournal(journal, kept, journaled);
    // The extension's methods exist on this cluster and on its forks.
    built = buildCluster(parts);
    const { shared } = parts.store;
    if (shared !== undefined) {
      if (journal !== undefined || from !== undefined) throw new TypeError(SHARED_IS_ENOUGH);
      shared.start();
    } else {
      // Synchronous in memory.
      void seedNamespaces(makeContext({ ...parts, admission: [] }));
      seedInitialObjects(parts, registry.storageKinds());
    }
    if (from !== undefined && kept === undefined) built.load(from);
    if (journal !== undefined && kept === undefined) beginJournal(journal, journaled);
    built.start();
    return built.cluster as Cluster & Extra;
  });
}

const SHARED_IS_ENOUGH = 'orchplane: createCluster: journal and from are for storage in memory';

function strictOf({ strict }: ClusterDefaults): StrictMode {
  if (strict !== undefined) return strict;
  throw new TypeError(
    'orchplane: strict is an option of createCluster from orchplane; orchplane/core does not know it',
  );
}

interface ClusterParts extends ContextParts {
  readonly isFork: boolean;
  readonly listeners: ServerListeners;
  readonly warn: (warning: string) => void;
  readonly dispatch: typeof dispatch;
  readonly reconcilers: (registry: Registry) => ExtraReconcilers;
  readonly audit: AuditLog | undefined;
  readonly client: ClientDefaults;
  readonly controllers: ControllerStarter | undefined;
  /** Undefined in forks. */
  readonly journal: Journal | undefined;
  /** Identifies a cluster and its forks: a snapshot of one can be restored in another. */
  readonly lineage: object;
  readonly extend: ExtendCluster<object>;
}

/** A function that also works with `using`. */
function undo(run: () => void): (() => void) & Disposable {
  return Object.assign(run, { [Symbol.dispose]: run });
}

/** A new cluster with the functions that complete its construction. */
interface BuiltCluster {
  readonly cluster: Cluster;
  readonly context: ServerContext;
  /** Completes the objects of a shared store, and serves the CRDs among them. */
  onLoaded(): Promise<void>;
  load(state: ClusterState): void;
  /** Restarts the server reconcilers. `from` undoes their writes: a past state does not contain them. */
  restartReconcilers(from?: StoreSnapshot): void;
  start(): void;
}

/** Connects the parts of a cluster; shared by new clusters and forks. */
function buildCluster(parts: ClusterParts): BuiltCluster {
  const context = makeContext(parts);
  const { accessListeners } = context;
  const { store, registry, dialect, clock, ids } = parts;
  const closing = new AbortController();
  const activities = new Activities();
  activities.add(watchDelivery(context.watches));
  const middlewares = new MiddlewareStack({ clock, dialect, activities }, context.watches);
  let runningControllers: ReturnType<ControllerStarter> | undefined;
  let stopReconciling: (() => void) | undefined;

  const reconcilers = new ServerReconcilers(context, parts, parts.reconcilers(registry));
  // A fork starts in a reconciled state, so its reconcilers run with the first write, unless there are CRDs to serve.
  if (store.shared === undefined && (!parts.isFork || registry.hasCustomKinds())) reconcilers.reconcile();

  const { audit, journal } = parts;
  const receiver = createReceiver({
    context,
    reconcilers,
    middlewares,
    dispatch: parts.dispatch,
    audit,
    journal,
    closing: closing.signal,
  });
  const { receive: send } = receiver;

  async function close(): Promise<void> {
    receiver.close();
    closing.abort(CLOSED());
    middlewares.clear();
    for (const watch of [...context.watches]) watch.close();
    stopReconciling?.();
    reconcilers.close();
    await runningControllers?.close();
    await journal?.close();
    await store.shared?.stop();
  }

  function start(): void {
    const started = parts.controllers?.(extended);
    if (parts.controllers !== undefined && typeof started?.close !== 'function') {
      throw new TypeError(
        'orchplane: the option controllers must return { close() }; controllers([...]) of orchplane/controllers does',
      );
    }
    runningControllers = started;
  }

  /** Gives clients in process a helpful error for a kind that is not served. */
  function sendLocal(request: ApiRequest): MaybePromise<ApiResponse> {
    // A request with a user is authorized first.
    if (request.user !== undefined || registry.byResource(request.resource) !== undefined) return send(request);
    throw unknownResource(registry, request.resource);
  }

  function restartReconcilers(from?: StoreSnapshot): void {
    reconcilers.restart();
    // Writes of the reconcilers are not part of a past state; they are repeated with the first write.
    if (from !== undefined && store.revision !== from.revision) store.restore(from);
  }

  const transport = { dialect, clock, send: sendLocal, closing: closing.signal };
  const client = createClient({ transport, ...parts.client });

  const members: Omit<Cluster, 'resourceVersion'> = {
    ...client,
    dialect,
    clock,
    ids,
    send,
    closing: closing.signal,
    install(kind: Kind) {
      const before = new Set(registry.storageKinds());
      registry.install(kind);
      seedInitialObjects(
        parts,
        registry.storageKinds().filter((kind) => !before.has(kind)),
      );
      reconcilers.reconcile();
    },
    use(middleware: Middleware) {
      if (typeof middleware !== 'function') throw new TypeError('orchplane: use takes a function');
      return undo(middlewares.add(middleware));
    },
    onAccess(listener: AccessListener, { allows }: AccessListenerOptions = {}) {
      // A new object, so that a function can be added twice and removed once.
      const observer = { listener, allows };
      accessListeners.add(observer);
      return undo(() => void accessListeners.delete(observer));
    },
    authorize(user: User | undefined, attributes: AccessAttributes) {
      return context.authorize(user ?? ADMINISTRATOR, attributes, 'http');
    },
    authentication: context.authentication,
    storageReader: storageReaderOf(context),
    audit,
    advertise: (listener) => reconcilers.advertise(listener),
    snapshot: () => snapshotOf(parts),
    restore(snapshot: ClusterSnapshot) {
      const state = stateOf(snapshot, parts);
      // Not awaited, because a restore is synchronous. The controllers stop within the call; the promise only reports when
      // their last requests are done, such as releasing a lease. Unhandled, so that a failure is visible.
      runningControllers?.close();
      store.restore(state);
      reconcilers.restart();
      start();
    },
    fork: (options: ForkOptions = {}) => forkOf(parts, options),
    at: (resourceVersion: string, options: ForkOptions = {}) => pastOf(parts, resourceVersion, options),
    history: (what: Kind | ObjectReference, name?: string, options?: HistoryOptions) =>
      historyOf({ ...parts, namespace: parts.client.namespace ?? 'default' }, what, name, options) as never,
    resolve: (resource: GroupVersionResource) => registry.byResource(resource),
    hasBuiltIns: (group: string) => registry.hasBuiltIns(group),
    kinds: () => registry.all(),
    features: parts.features,
    settings: parts.settings,
    release: parts.release,
    activities,
    runtimeSlot: context.runtimeSlot,
    logs: (pod, options) => runtimeIn(context.runtimeSlot).logs(pod, options),
    exec: (pod, command, options) => runtimeIn(context.runtimeSlot).exec(pod, command, options),
    settle: (options) => untilAtRest(activities, options, () => clock.runDue?.()),
    close,
    [Symbol.asyncDispose]: close,
  };
  const cluster: Cluster = withRevision(members, store);
  const extended: Cluster = Object.freeze(Object.assign(cluster, parts.extend(cluster, parts.client)));
  return {
    cluster: extended,
    context,
    async onLoaded() {
      await seedNamespaces({ ...context, admission: NO_PLUGINS });
      await seedSharedObjects(context);
      reconcilers.restart();
      stopReconciling ??= store.onRevision(() => reconcilers.reconcile());
    },
    load: (state) => loadState(state, { store, registry, reconcilers }),
    restartReconcilers,
    start,
  };
}

/** Builds an independent cluster that starts from a state of another. */
function buildFork(parts: ClusterParts, from: StoreSnapshot, options: ForkOptions): BuiltCluster {
  const clock = options.clock ?? parts.clock;
  return buildCluster({
    ...parts,
    isFork: true,
    listeners: parts.listeners.copy(),
    journal: undefined,
    clock,
    ids: options.ids ?? parts.ids,
    external: { ...parts.external, runtimeSlot: { runtime: undefined } },
    client: options.client ?? parts.client,
    store: new Store({ clock, ...parts.storage }, from),
    registry: parts.registry.fork(),
  });
}

function forkOf(parts: ClusterParts, options: ForkOptions): Cluster {
  const fork = buildFork(parts, parts.store.snapshot(), options);
  fork.start();
  return fork.cluster;
}

/** The cluster at a past version, without controllers. */
function pastOf(parts: ClusterParts, resourceVersion: string, options: ForkOptions): Cluster {
  const { store, clock } = parts;
  const revision = pastRevision(store, resourceVersion);
  const from = store.snapshotAt(revision);
  const then = options.clock ?? clock.standingAt?.(store.timeOf(revision) ?? clock.now()) ?? clock;
  const past = buildFork({ ...parts, controllers: undefined }, from, { ...options, clock: then });
  past.restartReconcilers(from);
  return past.cluster;
}

const withRevision = lazyMembers<Store, Pick<Cluster, 'resourceVersion'>>({
  resourceVersion() {
    return String(this[SOURCE].revision);
  },
});

/** Created once: its stack is useless, and capturing one costs more than a fork. */
const CLOSED = once(() => errors.serviceUnavailable('the cluster is closed'));
