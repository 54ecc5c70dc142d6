/**
 * A watcher: a position in one resource's log plus a filter. It holds no events of its own.
 *
 * Worked example, a watcher of `app=x` at position 7:
 *
 *   log:   … 6 ADDED a{x}   7 MODIFIED a{x→y}   8 MODIFIED b{x}   9 DELETED a{y}
 *   poll() → DELETED a{x} at revision 7: it left the selection, so its last matching content is shown
 *   poll() → MODIFIED b{x}
 *   poll() → undefined: 9 never matched; the cursor has caught up
 *
 * A cursor that has caught up has no position to lose. The log offers it every new entry that can concern it, and the
 * first that does becomes its position: an idle watcher of one namespace never looks at the events of another, and
 * does not mind when they are dropped.
 */
import type { ChangeEvent } from '../meta/object.js';
import type { ApiObject } from '../meta/object.js';
import type { EventLog, LogEntry } from './event-log.js';
import { CompactedError } from './types.js';

/** What a cursor selects. */
export interface CursorFilter {
  readonly namespace?: string;
  readonly name?: string;
  readonly matches?: (object: ApiObject) => boolean;
}

export class Cursor {
  readonly filter: CursorFilter;
  readonly #log: EventLog;
  /** Only entries newer than this count; it may lie in the future. */
  readonly #after: number;
  /** Absolute index in the log of the next entry to look at; meaningless while caught up. */
  #position: number;
  #caughtUp: boolean;
  #onEvent: ((event: ChangeEvent | undefined) => void) | undefined;
  #ended: 'closed' | 'expired' | undefined;

  /** Called by {@link EventLog.watch} only. */
  constructor(log: EventLog, start: { readonly after: number; readonly position: number }, filter: CursorFilter) {
    this.#log = log;
    this.#after = start.after;
    this.#position = start.position;
    this.#caughtUp = start.position === log.endPosition;
    this.filter = filter;
  }

  /** Nothing is known that its reader has not been offered. */
  get isCaughtUp(): boolean {
    return this.#caughtUp;
  }

  /** The next event, or undefined when there is none yet. Throws {@link CompactedError} when it was dropped. */
  poll(): ChangeEvent | undefined {
    if (this.#ended === 'closed') return undefined;
    if (this.#ended === 'expired') throw this.#compacted();
    if (this.#caughtUp) return undefined;
    if (this.#position < this.#log.firstPosition) {
      this.#ended = 'expired';
      throw this.#compacted();
    }
    while (this.#position < this.#log.endPosition) {
      const event = this.#see(this.#log.entryAt(this.#position++));
      if (event !== undefined) return event;
    }
    this.#caughtUp = true;
    return undefined;
  }

  /**
   * Asks for one call with the next event, or with nothing when `poll` has an end to report. Only after `poll` found
   * nothing; at most one wait at a time.
   */
  wait(onEvent: (event: ChangeEvent | undefined) => void): void {
    if (this.#ended === 'expired') onEvent(undefined);
    else this.#onEvent = onEvent;
  }

  /** Takes a wait back: the next event will be found by polling. */
  stopWaiting(): void {
    this.#onEvent = undefined;
  }

  /** Called by the log for every new entry that may concern this cursor. */
  offer(entry: LogEntry, position: number): void {
    // A reader that lags will come to it.
    if (!this.#caughtUp) return;
    const event = this.#see(entry);
    if (event === undefined) return;
    const onEvent = this.#onEvent;
    if (onEvent === undefined) {
      this.#position = position;
      this.#caughtUp = false;
      return;
    }
    this.#onEvent = undefined;
    onEvent(event);
  }

  /** History was replaced under the cursor: whoever reads it gets an end of its own kind. */
  expire(): void {
    if (this.#ended === 'closed') return;
    this.#ended = 'expired';
    const onEvent = this.#onEvent;
    this.#onEvent = undefined;
    onEvent?.(undefined);
  }

  close(): void {
    if (this.#ended === 'closed') return;
    this.#ended = 'closed';
    this.#onEvent = undefined;
    this.#log.remove(this);
  }

  #compacted(): CompactedError {
    return new CompactedError(this.#after, this.#log.oldestStart);
  }

  /** The event this watcher sees in an entry, if any. spec: Events */
  #see(entry: LogEntry): ChangeEvent | undefined {
    if (entry.revision <= this.#after) return undefined;
    const { namespace, name, matches } = this.filter;
    if (namespace !== undefined && entry.namespace !== namespace) return undefined;
    if (name !== undefined && entry.name !== name) return undefined;
    if (matches === undefined) return entry.change;
    const was = entry.previous !== undefined && matches(entry.previous);
    const is = entry.type !== 'DELETED' && matches(entry.object);
    if (is) return was === (entry.type === 'MODIFIED') ? entry.change : entry.as(was ? 'MODIFIED' : 'ADDED');
    if (!was) return undefined;
    return entry.type === 'DELETED' ? entry.change : entry.departure();
  }
}
