/**
 * The addresses on which a cluster is served. They become the endpoints of the control plane's Service; see
 * `kinds/shared/control-plane`.
 */
import type { ServerListener } from '../kinds/reconciler.js';

export class ServerListeners {
  #all: readonly ServerListener[] | undefined;
  #servers: readonly string[] = [];
  /** What `all` was when `joined` was made. */
  #joinedTo: readonly ServerListener[] | undefined;
  #joined: readonly ServerListener[] | undefined;

  constructor(all?: readonly ServerListener[]) {
    this.#all = all;
    this.#joinedTo = all;
    this.#joined = all;
  }

  /** Oldest first; undefined before the first. The same list until it changes. */
  get all(): readonly ServerListener[] | undefined {
    return this.#all;
  }

  /**
   * The listeners of all processes, given their addresses, of which those of this process may not be part yet. Undefined if
   * no address is known. The same list until one of them changes.
   */
  withServers(servers: readonly string[] | undefined): readonly ServerListener[] | undefined {
    if (servers === undefined) return this.#all;
    if (servers !== this.#servers || this.#joinedTo !== this.#all) {
      this.#servers = servers;
      this.#joinedTo = this.#all;
      const own = this.#all ?? [];
      const others = servers.filter((address) => !own.some((listener) => listener.address === address));
      const known = own.filter(({ address }) => servers.includes(address));
      const joined = [...known, ...others.map((address) => ({ address }))];
      const isEmpty = joined.length === 0 && (this.#all === undefined || own.length > 0);
      this.#joined = isEmpty ? undefined : joined;
    }
    return this.#joined;
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
