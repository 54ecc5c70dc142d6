/**
 * A watcher: a position in one resource's log plus a filter. It holds no events of its own.
 *
 * Worked example, a watcher of `app=x` that has read everything up to revision 41:
 *
 *   log:   … 41 ADDED a{x}   42 MODIFIED a{x→y}   43 MODIFIED b{x}   44 DELETED a{y}
 *   poll() → DELETED a{x} at revision 42: it no longer matches, so its last matching content is sent
 *   poll() → MODIFIED b{x}
 *   poll() → undefined: 44 never matched; the cursor has caught up
 *
 * A cursor that has caught up has no position. The log offers it every new entry that can match, and the first match
 * becomes its position. So an idle watcher of one namespace never tests events of another and is not affected by their
 * compaction.
 */
import type { ApiObject, ChangeEvent } from '../meta/object.js';
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
  /** Called once when events that were not polled are compacted, so that the reader can drop what it holds. */
  onCompacted: (() => void) | undefined;
  readonly #log: EventLog;
  /** Only entries after this revision are delivered; it may be in the future. */
  readonly #after: number;
  /** The absolute position of the next entry to test; unused while caught up. */
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

  /** Whether the reader has read all events. */
  get isCaughtUp(): boolean {
    return this.#caughtUp;
  }

  /** The next event, or undefined if there is none yet. Throws {@link CompactedError} if it was compacted. */
  poll(): ChangeEvent | undefined {
    if (this.#ended === 'closed') return undefined;
    if (this.#ended === 'expired') throw this.#compacted();
    if (this.#caughtUp) return undefined;
    if (this.#position < this.#log.firstPosition) {
      this.#ended = 'expired';
      throw this.#compacted();
    }
    while (this.#position < this.#log.endPosition) {
      const event = this.#watchEventFor(this.#log.entryAt(this.#position++));
      if (event !== undefined) return event;
    }
    this.#caughtUp = true;
    return undefined;
  }

  /**
   * Calls `onEvent` once with the next event, or without one when the cursor has expired. Allowed only after `poll`
   * returned undefined, and once at a time.
   */
  wait(onEvent: (event: ChangeEvent | undefined) => void): void {
    if (this.#ended === 'expired') onEvent(undefined);
    else this.#onEvent = onEvent;
  }

  /** Cancels `wait`; the next event is returned by `poll`. */
  stopWaiting(): void {
    this.#onEvent = undefined;
  }

  /** Called by the log for every new entry that may concern this cursor. */
  offer(entry: LogEntry, position: number): void {
    // A reader that is behind polls it later.
    if (!this.#caughtUp) return;
    const event = this.#watchEventFor(entry);
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

  /** Called by the log when it has compacted events. */
  noteCompaction(): void {
    if (this.#caughtUp || this.#position >= this.#log.firstPosition) return;
    const { onCompacted } = this;
    this.onCompacted = undefined;
    onCompacted?.();
  }

  /** Ends the cursor, because its history was replaced. */
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

  /** The watch event for an entry of the log; undefined if the entry is filtered out. spec: Events */
  #watchEventFor(entry: LogEntry): ChangeEvent | undefined {
    if (entry.revision <= this.#after) return undefined;
    const { namespace, name, matches } = this.filter;
    if (namespace !== undefined && entry.namespace !== namespace) return undefined;
    if (name !== undefined && entry.name !== name) return undefined;
    if (matches === undefined) return entry.watchEvent;
    const was = entry.previous !== undefined && matches(entry.previous);
    const is = entry.type !== 'DELETED' && matches(entry.object);
    if (is)
      return was === (entry.type === 'MODIFIED') ? entry.watchEvent : entry.watchEventAs(was ? 'MODIFIED' : 'ADDED');
    if (!was) return undefined;
    return entry.type === 'DELETED' ? entry.watchEvent : entry.deletedWatchEvent();
  }
}
