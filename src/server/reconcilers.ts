/**
 * Attendants at work: kinds whose objects change what the server does are asked, after each write of such objects, to
 * bring the server in line. See `kinds/attendant.ts`.
 */

import type { Kind } from '../kinds/kind.js';
import type { ExternalCalls, ReconcilerHost, ServerReconciler } from '../kinds/reconciler.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { SERVER_MANAGER } from '../meta/dialect.js';
import { type GroupResource, qualifiedResource } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import type { ApiRequest } from '../protocol/request.js';
import { JournalError } from '../storage/journal/types.js';
import type { Mark } from '../storage/store.js';
import type { Undo } from '../util/clock.js';
import { invariant } from '../util/invariant.js';
import { copyJson } from '../util/json.js';
import { isPromise } from '../util/maybe-promise.js';
import type { ServerContext } from './context.js';
import { writeContext } from './context.js';
import { dispatch } from './dispatch.js';
import { NO_PLUGINS } from './plugins.js';
import { objectReader } from './strategy-context.js';
import { deleteCollection } from './verbs/delete-collection.js';

/** Attendants of kinds that bring none of their own, where somebody wants them. */
export type ExtraReconcilers = ReadonlyMap<Kind, (server: ReconcilerHost) => ServerReconciler>;

export class ServerReconcilers {
  readonly #context: ServerContext;
  readonly #outside: ExternalCalls;
  readonly #more: ExtraReconcilers;
  #kinds: readonly ServedKind[] = [];
  #attendants = new Map<Kind, ServerReconciler>();
  #isSettling = false;
  /** All that attendants have ever looked at. */
  readonly #seen = new Set<string>();
  /** Of all that. */
  readonly #mark: Mark;
  /** Its value when nothing was left to do. */
  #settledAt = -1;
  readonly #timers = new Set<Undo>();

  /** The context is used without its plugins: what attendants do, the server does. */
  constructor(context: ServerContext, outside: ExternalCalls, more: ExtraReconcilers = new Map()) {
    this.#more = more;
    this.#context = { ...context, admission: NO_PLUGINS, pluginsMayWait: () => false };
    this.#outside = outside;
    this.#mark = context.store.markOf([]);
  }

  /** Called after every request, and whenever the store has another state. `isDue`: somebody has waited for this moment. */
  settle(isDue = false): void {
    if (this.#isSettling || (!isDue && this.#isSettled())) return;
    this.#isSettling = true;
    try {
      // What one of them has done may concern another; each ends where there is nothing left to do.
      const { store, registry } = this.#context;
      for (let seen = -1; seen !== store.revision || this.#kinds !== registry.all(); ) {
        seen = store.revision;
        this.#meetKinds();
        for (const attendant of this.#attendants.values()) this.#letSettle(attendant);
      }
      this.#settledAt = this.#mark.value;
    } finally {
      this.#isSettling = false;
    }
  }

  /** Nothing has changed that anybody looks at: so after nearly every request. */
  #isSettled(): boolean {
    const { store, registry } = this.#context;
    if (this.#mark.value !== this.#settledAt) return false;
    // What a journal did not take is tried again.
    return this.#kinds === registry.all() && store.journal === undefined;
  }

  /** What it does follows from a write that has happened, so whoever wrote is not told of its failure. */
  #letSettle(attendant: ServerReconciler): void {
    try {
      attendant.reconcile();
    } catch (error) {
      // It tries again after the next write, or when the journal is opened again.
      if (!(error instanceof JournalError)) throw error;
    }
  }

  /** Everything may be different: after a restore. */
  startOver(): void {
    this.#context.registry.disown();
    this.close();
    this.#kinds = [];
    this.#attendants = new Map();
    this.settle();
  }

  /** Nobody is waked any more. */
  close(): void {
    for (const undo of [...this.#timers]) undo();
    this.#timers.clear();
  }

  #meetKinds(): void {
    const kinds = this.#context.registry.all();
    if (kinds === this.#kinds) return;
    this.#kinds = kinds;
    // Through the stored form where that is served, through another version where the release has no more than that.
    const attended = [...kinds.filter(({ storageKind }) => storageKind === undefined), ...kinds];
    for (const served of attended) {
      const { kind } = served.storageKind ?? served;
      if (this.#attendants.has(kind)) continue;
      const attend = kind.reconciler ?? this.#more.get(kind);
      if (attend !== undefined) this.#attendants.set(kind, attend(this.#serverFor(served)));
    }
  }

  #serverFor(attended: ServedKind): ReconcilerHost {
    const context = this.#context;
    const { registry, store, dialect } = context;
    // Asked after every write: the place of a resource is worked out once.
    const places = new WeakMap<GroupResource, string>();
    const place = (resource: GroupResource): string => {
      let known = places.get(resource);
      if (known === undefined) {
        known = qualifiedResource({ group: dialect.group(resource.group), resource: resource.resource });
        places.set(resource, known);
      }
      return known;
    };
    const objects = objectReader(store, registry);
    return {
      dialect,
      objects: {
        get: (address) => {
          this.#look(place(address));
          return objects.get(address);
        },
        list: (resource, namespace) => {
          this.#look(place(resource));
          return objects.list(resource, namespace);
        },
      },
      external: this.#outside,
      clock: context.clock,
      now: () => writeContext(context).now,
      serve: (owner, kinds, stored) => registry.serve(owner, kinds, stored),
      endWatches: (resource) => {
        const name = place(resource);
        for (const watch of [...context.watches]) if (watch.storage === name) watch.finish(store.revision);
      },
      unownedKinds: (group) => {
        const served = registry.all().filter((other) => other.gvr.group === group && !registry.isOwned(other));
        return served.map(({ kind }) => kind);
      },
      writeStatus: (object, change, appliedBy) => {
        if (appliedBy === undefined) this.#writeStatus(attended, object, change);
        else this.#applyStatus(attended, object, { change, manager: appliedBy });
      },
      create: (draft, manager = SERVER_MANAGER) => {
        this.#carryOut({
          verb: 'create',
          resource: attended.gvr,
          options: { fieldManager: manager },
          body: valueBody({ apiVersion: attended.apiVersion, kind: attended.gvk.kind, ...draft }),
        });
      },
      update: (object, change, manager = SERVER_MANAGER) => {
        const draft = copyJson(object) as unknown as DraftObject;
        change(draft);
        const { name } = object.metadata;
        const options = { fieldManager: manager };
        this.#carryOut({ verb: 'update', resource: attended.gvr, name, options, body: valueBody(draft) });
      },
      remove: ({ metadata }) => {
        this.#carryOut({ verb: 'delete', resource: attended.gvr, name: metadata.name, options: {} });
      },
      kinds: () => registry.all(),
      wakeAfter: (afterMs) => this.#wake(afterMs),
      deleteAll: (resource) => this.#deleteAll(resource),
      writeCount: (resource) => {
        this.#look(place(resource));
        return store.lastChange(place(resource));
      },
    };
  }

  #look(table: string): void {
    if (this.#seen.has(table)) return;
    this.#seen.add(table);
    this.#context.store.extend(this.#mark, table);
    this.#settledAt = -1;
  }

  #writeStatus(served: ServedKind, object: ApiObject, change: (draft: DraftObject) => void): void {
    const draft = copyJson(object) as unknown as DraftObject;
    change(draft);
    const request: ApiRequest = {
      verb: 'update',
      resource: served.gvr,
      subresource: 'status',
      name: object.metadata.name,
      options: { fieldManager: SERVER_MANAGER },
      body: valueBody(draft),
    };
    this.#carryOut(request);
  }

  #carryOut(request: ApiRequest): void {
    const answered = dispatch(this.#context, request);
    invariant(!isPromise(answered), 'without plugins nothing is waited for');
  }

  #wake(afterMs: number): Undo {
    const end = (): void => {
      stop();
      this.#timers.delete(end);
    };
    const due = (): void => {
      this.#timers.delete(end);
      this.settle(true);
    };
    const stop = this.#context.clock.after(afterMs, due, { background: true });
    this.#timers.add(end);
    return end;
  }

  #applyStatus(
    served: ServedKind,
    { metadata }: ApiObject,
    about: { readonly change: (draft: DraftObject) => void; readonly manager: string },
  ): void {
    const { name, namespace } = metadata;
    const draft = { apiVersion: served.apiVersion, kind: served.gvk.kind, metadata: { name } } as DraftObject;
    about.change(draft);
    const request: ApiRequest = {
      verb: 'patch',
      patchType: 'apply',
      resource: served.gvr,
      subresource: 'status',
      name,
      ...(namespace === undefined ? {} : { namespace }),
      options: { fieldManager: about.manager, force: true },
      body: valueBody(draft),
    };
    this.#carryOut(request);
  }

  #deleteAll(resource: GroupResource): void {
    const served = this.#context.registry.storedForm(resource);
    if (served === undefined) return;
    const namespaces = new Set(
      this.#context.store.list({ resource: served.storage }).items.map(({ metadata }) => metadata.namespace ?? ''),
    );
    for (const namespace of namespaces) {
      const request: ApiRequest = {
        verb: 'deletecollection',
        resource: served.gvr,
        ...(namespace === '' ? {} : { namespace }),
        options: {},
      };
      const deleted = deleteCollection(this.#context, request, served);
      invariant(!isPromise(deleted), 'objects in their stored form need no conversion');
    }
  }
}
