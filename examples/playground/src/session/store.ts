/**
 * One value that changes as a whole, and who wants to know. Small on purpose: the cluster holds the truth, this holds
 * what the page shows of it.
 */
import { useEffect, useRef, useState } from 'preact/hooks';

export class Store<State extends object> {
  #state: State;
  readonly #listeners = new Set<() => void>();

  constructor(initial: State) {
    this.#state = initial;
  }

  get(): State {
    return this.#state;
  }

  /** Takes over the given fields and tells everybody, once. */
  set(changes: Partial<State>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of [...this.#listeners]) listener();
  }

  /** Returns what ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** A part of a store in a component, which is drawn again when the part is another one (by identity). */
export function useStore<State extends object, Part>(store: Store<State>, select: (state: State) => Part): Part {
  const part = select(store.get());
  const [, redraw] = useState(0);
  const latest = useRef({ select, part });
  latest.current = { select, part };
  useEffect(() => {
    const look = (): void => {
      const { select: choose, part: known } = latest.current;
      if (!Object.is(choose(store.get()), known)) redraw((count) => count + 1);
    };
    look(); // whatever has changed between drawing and now
    return store.subscribe(look);
  }, [store]);
  return part;
}
