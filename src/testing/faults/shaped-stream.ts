/**
 * A stage between a watch and its reader, for faults. It reads the stream eagerly, queues the events in order, and delivers
 * those that its shape releases. The reader sees an ordinary stream that is slower or shorter.
 *
 *   behind   a b c ──► entries   a ready · b held · c ready ──► reader   a      (c waits behind b: order is kept)
 */
import type { InterceptableStream, ServerWatchEvent, WatchStage } from '../../protocol/watch-event.js';
import type { MiddlewareHost } from '../../server/middleware.js';
import type { Activity } from '../../util/activity.js';
import { nextTurn, type Undo } from '../../util/clock.js';

/** How a fault changes one stream. */
export interface StreamShape {
  /**
   * Called when an event arrives. `ready`: deliver it. `coming`: `release` is called without time passing. `held`:
   * `release` is called later, or never.
   */
  readonly onEvent?: (event: ServerWatchEvent, release: () => void) => EntryState;
  /** Called before an event is delivered; `cut`: the shape ended the stream instead. */
  readonly handing?: () => 'pass' | 'cut';
  /** Called when the stream ends for any reason. */
  readonly closed?: () => void;
}

export type EntryState = 'ready' | 'coming' | 'held';

interface Entry {
  /** Undefined: the end of the stream. */
  readonly event: ServerWatchEvent | undefined;
  state: EntryState;
}

type Receive = (event: ServerWatchEvent | undefined) => void;

/** Operations on the stream for its shape. */
export interface StreamControl {
  /** Ends the stream now, with an optional last event. Undelivered events are lost. */
  end(last?: ServerWatchEvent): void;
  /** Delivers everything that is held back, and all later events at once. */
  releaseAll(): void;
}

/** Inserts a shape between a watch and its reader. */
export function shapeStream(
  watch: InterceptableStream,
  host: MiddlewareHost,
  shapeOf: (control: StreamControl) => StreamShape,
): void {
  watch.insertStage((behind) => new ShapedStream(behind, host, shapeOf));
}

/** More turns than any event is delayed; the clock does not wait longer for a reader that stopped reading. */
const MOST_TURNS = 100;

class ShapedStream implements WatchStage, Activity, StreamControl {
  readonly #behind: WatchStage;
  readonly #host: MiddlewareHost;
  readonly #shape: StreamShape;
  readonly #leave: Undo;
  #entries: Entry[] = [];
  #receive: Receive | undefined;
  #isFollowed = false;
  #isPassing = false;
  #isOver = false;
  #stopJoining: Undo | undefined;

  constructor(behind: WatchStage, host: MiddlewareHost, shapeOf: (control: StreamControl) => StreamShape) {
    this.#behind = behind;
    this.#host = host;
    this.#leave = host.activities.add(this);
    this.#shape = shapeOf(this);
    this.#pump();
  }

  take(): ServerWatchEvent | undefined {
    if (this.#receive !== undefined) return undefined;
    return this.#shift()?.event;
  }

  read(receive: Receive): void {
    if (this.#isOver && this.#entries.length === 0) receive(undefined);
    else {
      this.#receive = receive;
      this.#flush();
    }
  }

  stopReading(): Receive | undefined {
    const receive = this.#receive;
    this.#receive = undefined;
    return receive;
  }

  async next(): Promise<IteratorResult<ServerWatchEvent, undefined>> {
    const event = await new Promise<ServerWatchEvent | undefined>((resolve) => this.read(resolve));
    return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
  }

  follow(): void {
    this.#isFollowed = true;
    this.#behind.follow();
  }

  close(): void {
    this.end();
  }

  [Symbol.asyncIterator](): AsyncIterator<ServerWatchEvent, undefined> {
    return {
      next: () => this.next(),
      return: async () => {
        this.close();
        return { done: true, value: undefined };
      },
    };
  }

  end(last?: ServerWatchEvent): void {
    if (this.#isOver) return;
    this.#over();
    this.#entries = last === undefined ? [] : [{ event: last, state: 'ready' }];
    this.#behind.close();
    this.#flush();
  }

  releaseAll(): void {
    this.#isPassing = true;
    for (const entry of this.#entries) entry.state = 'ready';
    this.#flush();
  }

  isBusy(): boolean {
    if (!this.#isFollowed || this.#isOver) return false;
    return this.#entries[0]?.state === 'ready' || this.#entries.some(({ state }) => state === 'coming');
  }

  busyWith(): readonly string[] {
    return this.isBusy() ? ['a watch that a fault acts on has events on their way'] : [];
  }

  /** Reads all available events, then waits for more. */
  #pump(): void {
    if (this.#isOver) return;
    for (let event = this.#behind.take(); event !== undefined; event = this.#behind.take()) this.#arrive(event);
    if (!this.#isOver) this.#behind.read(this.#onEvent);
  }

  /** May be called inside a write, so further reads are deferred. */
  readonly #onEvent = (event: ServerWatchEvent | undefined): void => {
    if (this.#isOver) return;
    this.#arrive(event);
    if (event !== undefined) queueMicrotask(() => this.#pump());
  };

  #arrive(event: ServerWatchEvent | undefined): void {
    const entry: Entry = { event, state: 'ready' };
    this.#entries.push(entry);
    if (event !== undefined && !this.#isPassing && this.#shape.onEvent !== undefined) {
      entry.state = this.#shape.onEvent(event, () => {
        entry.state = 'ready';
        this.#host.activities.move();
        this.#flush();
      });
      if (entry.state === 'coming') this.#keepTimeBack();
    }
    this.#flush();
  }

  /** Prevents time from advancing while events are on their way that do not depend on time. */
  #keepTimeBack(): void {
    this.#stopJoining ??= this.#host.clock.join?.(async () => {
      for (let left = MOST_TURNS; left > 0 && this.isBusy(); left--) await nextTurn();
      this.#stopJoining?.();
      this.#stopJoining = undefined;
    });
  }

  #flush(): void {
    if (this.#receive === undefined) return;
    const entry = this.#shift();
    const isEnd = entry === undefined && this.#isOver && this.#entries.length === 0;
    if (entry === undefined && !isEnd) return;
    const receive = this.#receive;
    this.#receive = undefined;
    receive?.(entry?.event);
  }

  /** The next entry that may be delivered, including the end of the stream. */
  #shift(): Entry | undefined {
    const [head] = this.#entries;
    if (head === undefined || head.state !== 'ready') return undefined;
    if (head.event === undefined) this.#over();
    else if (!this.#isOver && !this.#isPassing && this.#shape.handing?.() === 'cut') {
      // Deliver the last event, if there is one and no read is pending.
      return this.#shift();
    }
    this.#entries.shift();
    return head;
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopJoining?.();
    this.#leave();
    this.#shape.closed?.();
  }
}
