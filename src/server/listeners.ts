/**
 * The addresses on which a cluster is served. They become the endpoints of the control plane's Service; see
 * `kinds/shared/control-plane`.
 */
import type { ServerListener } from '../kinds/reconciler.js';

export class ServerListeners {
  #all: readonly ServerListener[] | undefined;

  constructor(all?: readonly ServerListener[]) {
    this.#all = all;
  }

  /** Oldest first; undefined before the first. The same list until it changes. */
  get all(): readonly ServerListener[] | undefined {
    return this.#all;
  }

  add(listener: ServerListener): void {
    this.#all = [...(this.#all ?? []), listener];
  }

  remove(listener: ServerListener): void {
    this.#all = (this.#all ?? []).filter((other) => other !== listener);
  }

  /** For a fork, which starts with the endpoints of the other cluster. */
  copy(): ServerListeners {
    return new ServerListeners(this.#all);
  }
}
