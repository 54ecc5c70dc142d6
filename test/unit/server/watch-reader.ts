/** Helpers of the server tests: reading watches without blocking, and promises that the test resolves. */
import type { Watch, WatchEvent } from 'orchplane';

/** Waits until all work that does not depend on a later event is done. */
export async function turns(count = 40): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined;
}

/** The state of a promise: its value, its error, or `waiting`. */
export async function stateOf<Value>(
  promise: Promise<Value>,
): Promise<{ value: Value } | { error: unknown } | 'waiting'> {
  const settled = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return Promise.race([settled, turns().then(() => 'waiting' as const)]);
}

/** A watch that the test reads step by step. A read without a result keeps waiting, like a loop. */
export class Reader<Object> {
  readonly watch: Watch<Object>;
  #next: Promise<IteratorResult<WatchEvent<Object>, undefined>> | undefined;

  constructor(watch: Watch<Object>) {
    this.watch = watch;
  }

  /** The next event, `waiting`, or `end`. Throws the error of the watch. */
  async read(): Promise<WatchEvent<Object> | 'waiting' | 'end'> {
    this.#next ??= this.watch.next();
    const state = await stateOf(this.#next);
    if (state === 'waiting') return 'waiting';
    this.#next = undefined;
    if ('error' in state) throw state.error;
    return state.value.done === true ? 'end' : state.value.value;
  }

  /** All events until the watch waits or ends, in short form: `ADDED a`, `BOOKMARK 7`, `end`. */
  async readAll(): Promise<string[]> {
    const seen: string[] = [];
    for (;;) {
      const event = await this.read();
      if (event === 'waiting') return seen;
      if (event === 'end') return [...seen, 'end'];
      seen.push(inShort(event));
    }
  }
}

function inShort(event: WatchEvent<unknown>): string {
  const { metadata } = event.object as { metadata: { name?: string; resourceVersion: string } };
  return `${event.type} ${event.type === 'BOOKMARK' ? metadata.resourceVersion : metadata.name}`;
}

/** A promise that the test resolves. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** The error that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
