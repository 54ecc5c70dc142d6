/**
 * Deletes the content of terminating namespaces, pods first, and removes the namespace's finalizer when nothing is left. The
 * conditions in its status report the progress. Without a deletion delay, the remaining objects are watched.
 * spec: Namespace
 */

import type { Informer, InformerEvent } from '../../client/informer.js';
import { Namespace } from '../../kinds/core/v1/namespace.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { NAMESPACE_FINALIZER } from '../../meta/dialect.js';
import { StatusError } from '../../meta/errors.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { type Controller, type ControllerContext, ControllerPart } from '../runtime/controller.js';
import type { ReconcileResult } from '../runtime/work-queue.js';
import { deleteContent, nextConditions } from './content.js';

export interface NamespacesOptions {
  /**
   * The delay between a change of a terminating namespace and its reconcile. The reference server waits 5,000 ms because
   * other API servers may learn of the deletion late; here there is only one. 0 unless given: then the remaining objects
   * are watched, and the namespace is finalized as soon as the last one is gone. With a delay only timers are used, as in
   * the reference server.
   * upstream: pkg/controller/namespace/namespace_controller.go namespaceDeletionGracePeriod
   */
  readonly deletionDelayMs?: number | undefined;
}

const OPTIONS = ['deletionDelayMs'] as const satisfies readonly (keyof NamespacesOptions)[];
const WORKERS = 10;
const BACKOFF = { firstMs: 5, longestMs: 60_000 };

/**
 * Deletes the content of terminating namespaces and finalizes them.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers(standardControllers({ namespaces: { deletionDelayMs: 5_000 } })) });
 */
export function namespaces(options: NamespacesOptions = {}): Controller {
  refuseUnknownOptions('namespaces', options, OPTIONS);
  const { deletionDelayMs = 0 } = options;
  if (!(deletionDelayMs >= 0))
    throw new TypeError('orchplane: deletionDelayMs is a number of milliseconds, 0 at least');
  return {
    name: 'namespace-controller',
    account: 'namespace-controller',
    local: true,
    needs: [Namespace],
    start(context) {
      const isImmediate = deletionDelayMs === 0;
      const queue = context.queue((name) => reconcileNamespace(name, context, isImmediate ? watcher : undefined), {
        workers: WORKERS,
        backoff: BACKOFF,
      });
      const watcher = new RemainingContentWatcher(context, { onEmpty: (name) => queue.add(name) });
      context.onClose(() => watcher.close());
      context.informer(Namespace).onKey((name, event) => {
        if (event.type === 'DELETED') watcher.watch(name, []);
        else if (event.object.metadata.deletionTimestamp === undefined) return;
        else if (!isImmediate || !isOwnUpdate(event)) queue.addAfter(name, deletionDelayMs);
      });
    },
  };
}

/** Whether only the status changed, which is this controller's own update. */
function isOwnUpdate(event: InformerEvent<ObjectOf<typeof Namespace>>): boolean {
  if (event.type !== 'MODIFIED') return false;
  const { object, previous } = event;
  return previous.metadata.deletionTimestamp !== undefined && deepEqual(previous.spec, object.spec);
}

async function reconcileNamespace(
  name: string,
  context: ControllerContext,
  watcher: RemainingContentWatcher | undefined,
): Promise<ReconcileResult | undefined> {
  const api = context.client.api(Namespace);
  let namespace = await api.find(name);
  if (namespace?.metadata.deletionTimestamp === undefined) {
    watcher?.watch(name, []);
    return undefined;
  }
  try {
    // 1. Set the phase.
    if (namespace.status.phase !== 'Terminating') {
      namespace = await api.status.update(name, {
        ...namespace,
        status: { ...namespace.status, phase: 'Terminating' },
      });
    }
    const { finalizers = [] } = namespace.spec;
    if (finalizers.length === 0) return undefined;

    // 2. Delete the content and report the progress.
    const { deletionTimestamp = '' } = namespace.metadata;
    const content = await deleteContent({
      client: context.client,
      kinds: context.kinds(),
      namespace: name,
      sinceMs: context.clock.now() - timeToMs(deletionTimestamp),
    });
    watcher?.watch(name, content.left);
    const conditions = nextConditions(namespace.status.conditions ?? [], content, context.now());
    if (conditions !== undefined) {
      namespace = await api.status.update(name, { ...namespace, status: { ...namespace.status, conditions } });
    }
    if (content.failures.length > 0)
      throw new Error(`deletion of namespace ${name} failed: ${content.failures.join(', ')}`);
    if (content.estimateSeconds > 0) {
      return { requeueAfterMs: (Math.floor(content.estimateSeconds / 2) + 1) * 1000 };
    }

    // 3. Nothing is left: remove this controller's finalizer.
    if (!finalizers.includes(NAMESPACE_FINALIZER)) return undefined;
    const rest = [...new Set(finalizers)].filter((finalizer) => finalizer !== NAMESPACE_FINALIZER).sort();
    await api.subresource('finalize').update(name, { ...namespace, spec: { finalizers: rest } });
    return undefined;
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
    // Another client finalized the namespace meanwhile.
    watcher?.watch(name, []);
    return undefined;
  }
}

interface RemainingContentWatcherOptions {
  /** Called when no object of a watched kind is left in the namespace. */
  readonly onEmpty: (namespace: string) => void;
}

/**
 * Watches the remaining objects of terminating namespaces and reports when the last object of a kind is gone. Only the kinds
 * with remaining objects are watched, only in those namespaces.
 */
class RemainingContentWatcher extends ControllerPart<RemainingContentWatcherOptions> {
  /** By namespace, then by storage key of the kind. */
  readonly #informers = new Map<string, Map<string, Informer<unknown>>>();
  #isClosed = false;

  /** Watches exactly these kinds in the namespace from now on. */
  watch(namespace: string, kinds: readonly ServedKind[]): void {
    // A reconcile may end after the controller was closed.
    if (this.#isClosed) return;
    const before = this.#informers.get(namespace) ?? new Map<string, Informer<unknown>>();
    const next = new Map<string, Informer<unknown>>();
    for (const served of kinds) {
      const informer = before.get(served.storageKey) ?? next.get(served.storageKey);
      next.set(served.storageKey, informer ?? this.#start(namespace, served));
      before.delete(served.storageKey);
    }
    for (const informer of before.values()) informer.close();
    if (next.size === 0) this.#informers.delete(namespace);
    else this.#informers.set(namespace, next);
  }

  close(): void {
    for (const namespace of [...this.#informers.keys()]) this.watch(namespace, []);
    this.#isClosed = true;
  }

  #start(namespace: string, { kind, storageKey }: ServedKind): Informer<unknown> {
    const { client, report } = this.context;
    const description = `what is left of ${storageKey} in ${namespace}`;
    const informer = client.api(kind, namespace).informer({ onError: (error) => report(error, description) });
    // A counter, because `list()` would copy all remaining objects for each deletion.
    let count = 0;
    const check = () => {
      if (count === 0) this.options.onEmpty(namespace);
    };
    informer.subscribe(({ type }) => {
      if (type === 'ADDED') count++;
      if (type !== 'DELETED') return;
      count--;
      check();
    });
    count += informer.list().length;
    // Objects may have been deleted before the watch began. The rejection after an early close is expected.
    void informer.synced.then(check, () => undefined);
    return informer;
  }
}
