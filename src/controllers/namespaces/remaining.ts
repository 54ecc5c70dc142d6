/**
 * Watches the remaining objects of terminating namespaces and reports when the last object of a kind is gone. Only the kinds
 * with remaining objects are watched, only in those namespaces.
 */
import type { Client } from '../../client/client.js';
import type { Informer } from '../../client/informer.js';
import type { ServedKind } from '../../kinds/served-kind.js';

export interface RemainingContentWatcherOptions {
  readonly client: Client;
  /** Called when no object of a watched kind is left in the namespace. */
  readonly onEmpty: (namespace: string) => void;
  readonly onError: (error: unknown, context: string) => void;
}

export class RemainingContentWatcher {
  readonly #options: RemainingContentWatcherOptions;
  /** By namespace, then by storage key of the kind. */
  readonly #informers = new Map<string, Map<string, Informer<unknown>>>();
  #isClosed = false;

  constructor(options: RemainingContentWatcherOptions) {
    this.#options = options;
  }

  /** Watches exactly these kinds in the namespace from now on. */
  watch(namespace: string, kinds: readonly ServedKind[]): void {
    // A reconcile may end after the controller was closed.
    if (this.#isClosed) return;
    const before = this.#informers.get(namespace) ?? new Map<string, Informer<unknown>>();
    const next = new Map<string, Informer<unknown>>();
    for (const served of kinds) {
      const informer = before.get(served.storage) ?? next.get(served.storage);
      next.set(served.storage, informer ?? this.#start(namespace, served));
      before.delete(served.storage);
    }
    for (const informer of before.values()) informer.close();
    if (next.size === 0) this.#informers.delete(namespace);
    else this.#informers.set(namespace, next);
  }

  close(): void {
    for (const namespace of [...this.#informers.keys()]) this.watch(namespace, []);
    this.#isClosed = true;
  }

  #start(namespace: string, { kind, storage }: ServedKind): Informer<unknown> {
    const { client, onEmpty, onError } = this.#options;
    const description = `what is left of ${storage} in ${namespace}`;
    const informer = client.api(kind, namespace).informer({ onError: (error) => onError(error, description) });
    // A counter, because `list()` would copy all remaining objects for each deletion.
    let count = 0;
    const check = () => {
      if (count === 0) onEmpty(namespace);
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
