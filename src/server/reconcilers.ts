/**
 * Runs the server reconcilers: kinds whose objects change what the server does (CRDs, API services) bring the server in
 * line with these objects. The contract is in `kinds/reconciler.ts`.
 */

import type { Kind } from '../kinds/kind.js';
import type { ExternalCalls, ReconcilerHost, ServerListener, ServerReconciler } from '../kinds/reconciler.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { SERVER_MANAGER } from '../meta/dialect.js';
import type { GroupResource } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ChangeCounter } from '../storage/changes.js';
import { type Clock, systemClock, type Undo } from '../util/clock.js';
import { copyJson } from '../util/json.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { createChangeReader } from './change-reader.js';
import { storageKeysIn } from './cluster-view.js';
import { hookContext, type ServerContext } from './context.js';
import { dispatch } from './dispatch.js';
import type { ServerListeners } from './listeners.js';
import { NO_PLUGINS } from './plugins.js';
import { RefusedWrites } from './refused-writes.js';
import { objectReader } from './strategy-context.js';
import { deleteCollection } from './verbs/delete.js';
import { ConversionPending } from './versions.js';

/** Optional reconcilers for kinds that declare none. */
export type ExtraReconcilers = ReadonlyMap<Kind, (server: ReconcilerHost) => ServerReconciler>;

/** What reconcilers can reach besides the objects. */
export interface ReconcilerDependencies {
  readonly external: ExternalCalls;
  readonly listeners: ServerListeners;
  readonly warn: (warning: string) => void;
}

/** When a reconciler runs again after a write to a shared store has failed. */
const RETRY_MS = 200;
/** How long a response waits for the writes of reconcilers, which may delete thousands of objects. */
const MAX_WAIT_MS = 1_000;

export class ServerReconcilers {
  readonly #context: ServerContext;
  readonly #external: ExternalCalls;
  readonly #listeners: ServerListeners;
  readonly #extra: ExtraReconcilers;
  readonly #refused: RefusedWrites;
  #kinds: readonly ServedKind[] = [];
  /** The kinds whose reconcilers run. */
  #installed: readonly ServedKind[] = [];
  #reconcilers = new Map<Kind, ServerReconciler>();
  #isReconciling = false;
  /** `reconcile` was called during a write. */
  #isRequested = false;
  #isPaced = false;
  /** The number of writes that a shared store has not confirmed. */
  #writing = 0;
  readonly #waitingForIdle: (() => void)[] = [];
  /** The storage keys of all tables that a reconciler has read. */
  readonly #watchedTables = new Set<string>();
  /** Counts the changes of these tables. */
  readonly #changeCounter: ChangeCounter;
  /** The value of the counter after the last complete run; -1: a run is due. */
  #reconciledCount = -1;
  /** The servers of all processes in that run. */
  #servers: readonly string[] | undefined;
  readonly #timers = new Set<Undo>();
  /** Tables whose objects a webhook converts, so that they can be deleted. */
  readonly #converting = new Set<string>();

  /** Reconcilers act as the server itself, so the context is used without its plugins. */
  constructor(context: ServerContext, dependencies: ReconcilerDependencies, extra: ExtraReconcilers = new Map()) {
    this.#extra = extra;
    this.#context = { ...context, admission: NO_PLUGINS, hasUntrustedPlugins: () => false };
    this.#external = dependencies.external;
    this.#listeners = dependencies.listeners;
    this.#refused = new RefusedWrites(dependencies.warn);
    this.#changeCounter = context.store.changes.counterOf([]);
  }

  /**
   * Called after every mutating request, after a restore and when a kind is installed; see `kinds/reconciler.ts`. `isDue`: a
   * timer of a reconciler has fired. `isPaced`: see `ReconcilerHost.pace`.
   */
  reconcile({ isDue, isPaced }: { readonly isDue?: boolean; readonly isPaced?: boolean | undefined } = {}): void {
    // Writes to a shared store take time; the next run follows them.
    if (this.#writing > 0) this.#isRequested = true;
    if (this.#isReconciling || this.#writing > 0 || (isDue !== true && this.#isUpToDate())) return;
    this.#isReconciling = true;
    this.#isRequested = false;
    this.#isPaced = isPaced === true;
    try {
      // A reconciler may create work for another; the loop ends when nothing changes any more.
      const { store, registry } = this.#context;
      for (let seen = -1; seen !== store.revision || this.#kinds !== registry.all(); ) {
        seen = store.revision;
        this.#addReconcilers();
        for (const reconciler of this.#reconcilers.values()) this.#refused.reconcile(reconciler);
        if (this.#writing > 0) return;
      }
      this.#reconciledCount = this.#changeCounter.value;
      this.#servers = store.shared?.servers;
    } finally {
      this.#isReconciling = false;
    }
  }

  /** True after nearly every request: no table that a reconciler reads has changed. */
  #isUpToDate(): boolean {
    const { store, registry } = this.#context;
    if (this.#changeCounter.value !== this.#reconciledCount) return false;
    // With a journal, writes that the journal rejected are retried.
    return this.#kinds === registry.all() && store.journal === undefined && store.shared?.servers === this.#servers;
  }

  /** Discards all state of the reconcilers; after a restore. */
  restart(): void {
    this.#context.registry.removeAllCustomKinds();
    this.close();
    this.#kinds = [];
    this.#installed = [];
    this.#reconcilers = new Map();
    this.reconcile();
  }

  /**
   * Adds an address of the server to the endpoints of its Service. Returns a function that removes it.
   */
  advertise(listener: ServerListener): Undo {
    // The reconcilers of a fork may not have run yet; they must know what was there before.
    this.reconcile({ isDue: true });
    this.#listeners.add(listener);
    const withdraw = this.#context.store.shared?.announce(listener.address);
    this.reconcile({ isDue: true });
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#listeners.remove(listener);
      withdraw?.();
      this.reconcile({ isDue: true });
    };
  }

  /** Cancels all timers. */
  close(): void {
    this.#converting.clear();
    for (const undo of [...this.#timers]) undo();
    this.#timers.clear();
  }

  #addReconcilers(): void {
    this.#kinds = this.#context.registry.all();
    const installed = this.#context.registry.installed();
    if (installed === this.#installed) return;
    this.#installed = installed;
    // A reconciler uses the storage version where it is served, and another version where a release serves no other.
    const storageVersionsFirst = [...installed.filter(({ storageKind }) => storageKind === undefined), ...installed];
    for (const served of storageVersionsFirst) {
      const { kind } = served.storageKind ?? served;
      if (this.#reconcilers.has(kind)) continue;
      const create = kind.reconciler ?? this.#extra.get(kind);
      if (create !== undefined) this.#reconcilers.set(kind, create(this.#hostFor(served)));
    }
  }

  #hostFor(reconciled: ServedKind): ReconcilerHost {
    const context = this.#context;
    const { registry, store, dialect } = context;
    // Cached, because reconcilers ask after every write.
    const storageKeyOf = storageKeysIn(dialect);
    const objects = objectReader(store, registry);
    return {
      dialect,
      objects: {
        get: (address) => {
          this.#watch(storageKeyOf(address));
          return objects.get(address);
        },
        list: (resource, namespace) => {
          this.#watch(storageKeyOf(resource));
          return objects.list(resource, namespace);
        },
      },
      each: (resource, visit) => {
        this.#watch(storageKeyOf(resource));
        for (const object of objects.list(resource)) this.#refused.write(object, () => visit(object));
      },
      external: this.#external,
      clock: context.clock,
      now: () => hookContext(context).now,
      settings: context.settings,
      serveCustomKinds: (crdName, kinds, storageKind) => registry.setCustomKinds(crdName, kinds, storageKind),
      endWatches: (resource) => {
        const storageKey = storageKeyOf(resource);
        for (const watch of [...context.watches]) if (watch.storageKey === storageKey) watch.finish(store.revision);
      },
      installedKinds: () => registry.installed(),
      index: (resource, keysOf) => {
        this.#watch(storageKeyOf(resource));
        return store.index(storageKeyOf(resource), keysOf);
      },
      changedNames: createChangeReader(store, storageKeyOf),
      writeStatus: (object, change, appliedBy) =>
        this.#refused.write(object, () => {
          if (appliedBy === undefined) this.#update(reconciled, object, { change, subresource: 'status' });
          else this.#applyStatus(reconciled, object, { change, manager: appliedBy });
        }),
      create: (draft, manager = SERVER_MANAGER) => {
        this.#dispatch({
          verb: 'create',
          resource: reconciled.gvr,
          ...namespaceOf(draft),
          options: { fieldManager: manager },
          body: valueBody({ apiVersion: reconciled.apiVersion, kind: reconciled.gvk.kind, ...draft }),
        });
      },
      update: (object, change, manager) => {
        this.#refused.write(object, () => this.#update(reconciled, object, { change, manager }));
      },
      remove: (object) => {
        const { name } = object.metadata;
        const request = {
          verb: 'delete',
          resource: reconciled.gvr,
          ...namespaceOf(object),
          name,
          options: {},
        } as const;
        this.#refused.write(object, () => this.#dispatch(request));
      },
      listeners: () => this.#listeners.withServers(store.shared?.servers),
      isShared: store.shared !== undefined,
      wakeAfter: (afterMs) => this.#wakeAfter(afterMs),
      pace: (afterMs, end) => {
        if (this.#isPaced) this.#wakeAfter(afterMs, { clock: systemClock, before: end });
        return this.#isPaced;
      },
      deleteAll: (resource, onConverted) => this.#deleteAll(resource, onConverted),
      isWriting: () => this.#writing > 0,
      lastChange: (resource) => {
        this.#watch(storageKeyOf(resource));
        return store.changes.last(storageKeyOf(resource));
      },
    };
  }

  /** From now on a change of the table makes the reconcilers run. */
  #watch(storageKey: string): void {
    if (this.#watchedTables.has(storageKey)) return;
    this.#watchedTables.add(storageKey);
    this.#context.store.changes.extend(this.#changeCounter, storageKey);
    this.#reconciledCount = -1;
  }

  #update(
    served: ServedKind,
    object: ApiObject,
    { change, manager = SERVER_MANAGER, subresource }: ObjectUpdate,
  ): void {
    const draft = copyJson(object) as unknown as DraftObject;
    change(draft);
    this.#dispatch({
      verb: 'update',
      resource: served.gvr,
      ...(subresource === undefined ? {} : { subresource }),
      ...namespaceOf(object),
      name: object.metadata.name,
      options: { fieldManager: manager },
      body: valueBody(draft),
    });
  }

  #dispatch(request: ApiRequest): void {
    this.#await(dispatch(this.#context, request));
  }

  /** Waits for the writes that follow from earlier ones, but not long; undefined if there are none. */
  whenIdle(): Promise<void> | undefined {
    if (this.#writing === 0) return undefined;
    return new Promise((resolve) => {
      this.#waitingForIdle.push(resolve);
      systemClock.after(MAX_WAIT_MS, resolve, { background: true });
    });
  }

  #await(response: MaybePromise<unknown>): void {
    if (!isPromise(response)) return;
    this.#writing++;
    const end = (retryMs: number) => (): void => {
      this.#writing--;
      if (retryMs > 0) this.#wakeAfter(retryMs);
      if (this.#writing === 0 && (retryMs === 0 || this.#isRequested)) this.reconcile({ isDue: true });
      if (this.#writing === 0) for (const resolve of this.#waitingForIdle.splice(0)) resolve();
    };
    // Another process may have written the same; other failures pass.
    response.then(end(0), end(RETRY_MS));
  }

  #wakeAfter(
    afterMs: number,
    { clock = this.#context.clock, before }: { readonly clock?: Clock; readonly before?: () => void } = {},
  ): Undo {
    const cancel = (): void => {
      stop();
      this.#timers.delete(cancel);
    };
    const onTimer = (): void => {
      this.#timers.delete(cancel);
      before?.();
      this.reconcile({ isDue: true });
    };
    const stop = clock.after(afterMs, onTimer, { background: true });
    this.#timers.add(cancel);
    return cancel;
  }

  #applyStatus(
    served: ServedKind,
    { metadata }: ApiObject,
    { change, manager }: { readonly change: (draft: DraftObject) => void; readonly manager: string },
  ): void {
    const { name, namespace } = metadata;
    const draft = { apiVersion: served.apiVersion, kind: served.gvk.kind, metadata: { name } } as DraftObject;
    change(draft);
    this.#dispatch({
      verb: 'patch',
      patchType: 'apply',
      resource: served.gvr,
      subresource: 'status',
      name,
      ...(namespace === undefined ? {} : { namespace }),
      options: { fieldManager: manager, force: true },
      body: valueBody(draft),
    });
  }

  #deleteAll(resource: GroupResource, onConverted: () => void): void {
    const served = this.#context.registry.storageKindOf(resource);
    if (served === undefined || this.#converting.has(served.storageKey)) return;
    const namespaces = new Set(
      this.#context.store.list({ storageKey: served.storageKey }).items.map(({ metadata }) => metadata.namespace ?? ''),
    );
    for (const namespace of namespaces) {
      // The others follow when its objects are converted.
      if (this.#converting.has(served.storageKey)) return;
      const request: ApiRequest = {
        verb: 'deletecollection',
        resource: served.gvr,
        ...(namespace === '' ? {} : { namespace }),
        options: {},
      };
      this.#deleteCollection(request, served, onConverted);
    }
  }

  /** Objects in an older storage version may have to be converted by a webhook first. The reconcilers run again then. */
  #deleteCollection(request: ApiRequest, served: ServedKind, onConverted: () => void): void {
    try {
      this.#await(deleteCollection(this.#context, request, served));
    } catch (error) {
      if (!(error instanceof ConversionPending)) throw error;
      this.#converting.add(served.storageKey);
      const end = (): void => {
        this.#converting.delete(served.storageKey);
        onConverted();
      };
      const retry = () => this.#wakeAfter(RETRY_MS, { before: end });
      error.ready.then(end, retry).then(() => this.reconcile({ isDue: true }));
    }
  }
}

interface ObjectUpdate {
  readonly change: (draft: DraftObject) => void;
  readonly manager?: string | undefined;
  readonly subresource?: string;
}

/** The namespace of a request for an object; absent for cluster-scoped objects. */
function namespaceOf({ metadata }: Readonly<Record<string, unknown>> | ApiObject): Pick<ApiRequest, 'namespace'> {
  const { namespace } = metadata as { readonly namespace?: string };
  return namespace === undefined ? {} : { namespace };
}
