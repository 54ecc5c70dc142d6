/**
 * Waits for what is left in namespaces that go: tells when the last object of a kind has gone from one. It follows those
 * kinds only, there only, and only as long as something is left.
 */
import type { Client } from '../../client/client.js';
import type { Informer } from '../../client/informer.js';
import type { ServedKind } from '../../kinds/served-kind.js';

export interface RemainingOptions {
  readonly client: Client;
  /** Called when nothing is left of a kind that was followed in the namespace. */
  readonly onVanished: (namespace: string) => void;
  readonly onError: (error: unknown, about: string) => void;
}

export class Remaining {
  readonly #options: RemainingOptions;
  /** By namespace and storage. */
  readonly #informers = new Map<string, Map<string, Informer<unknown>>>();
  #isClosed = false;

  constructor(options: RemainingOptions) {
    this.#options = options;
  }

  /** From now on these kinds are followed in the namespace, and no others. */
  follow(namespace: string, kinds: readonly ServedKind[]): void {
    // A look may end after everything else has.
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
    for (const namespace of [...this.#informers.keys()]) this.follow(namespace, []);
    this.#isClosed = true;
  }

  #start(namespace: string, { kind, storage }: ServedKind): Informer<unknown> {
    const { client, onVanished, onError } = this.#options;
    const about = `what is left of ${storage} in ${namespace}`;
    const informer = client.api(kind, namespace).informer({ onError: (error) => onError(error, about) });
    // Counted, because a list of ten thousand objects is not made anew for each that goes.
    let count = 0;
    const check = () => {
      if (count === 0) onVanished(namespace);
    };
    informer.subscribe(({ type }) => {
      if (type === 'ADDED') count++;
      if (type !== 'DELETED') return;
      count--;
      check();
    });
    count += informer.list().length;
    // Some may have gone before this began; whoever closes it early does not want to know.
    void informer.synced.then(check, () => undefined);
    return informer;
  }
}
