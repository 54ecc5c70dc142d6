/**
 * A minimal state container with subscriptions. It holds only what the page shows; the cluster holds the objects.
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

  /** Merges the given fields into the state and notifies all listeners once. */
  set(changes: Partial<State>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of [...this.#listeners]) listener();
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Reads a part of a store in a component, which renders again when that part changes (by identity). */
export function useStore<State extends object, Part>(store: Store<State>, select: (state: State) => Part): Part {
  const part = select(store.get());
  const [, redraw] = useState(0);
  const latest = useRef({ select, part });
  latest.current = { select, part };
  useEffect(() => {
    const update = (): void => {
      const { select: choose, part: known } = latest.current;
      if (!Object.is(choose(store.get()), known)) redraw((count) => count + 1);
    };
    update(); // catches changes between render and effect
    return store.subscribe(update);
  }, [store]);
  return part;
}
