/**
 * The event log of one resource: recent changes, oldest first, and the cursors that wait at its end.
 *
 * The log is bounded by age and count. Compaction is lazy: it runs when the log is written or read. Watches cannot reach
 * compacted events; `retired-events.ts` keeps some of them for histories.
 */
import type { ApiObject, ChangeEvent } from '../meta/object.js';
import { invariant } from '../util/invariant.js';
import { unsharedBytes } from '../util/json-bytes.js';
import { getOrInsertComputed } from '../util/once.js';
import type { CursorFilter } from './cursor.js';
import { Cursor } from './cursor.js';
import { countUpTo, dropRetired, noRetiredEvents, type RetiredEvents, retireEvents } from './retired-events.js';
import type { StoredEvent } from './types.js';
import { CompactedError } from './types.js';

export interface LogBounds {
  /** The maximum number of events per resource. */
  readonly maxEvents: number;
  /** The maximum age of events. */
  readonly maxAgeMs: number;
  /** The number of events per resource to keep for histories, beyond what watches can reach; absent: none. */
  readonly keepEvents?: number;
  /** The memory that the events of all resources together may keep in use; absent: unlimited. */
  readonly maxBytes?: number;
}

/** An event without its objects, and the small fields of the metadata of one object. */
const EVENT_BYTES = 1_000;

/**
 * About the memory that could be freed without an event: what its change replaced. The current objects are in use anyway,
 * so a creation adds nothing, and an update only what the new object does not share with the previous one.
 */
function retainedBytes({ type, object, previous }: StoredEvent): number {
  if (previous === undefined) return EVENT_BYTES;
  const next = type === 'DELETED' ? undefined : object;
  let bytes = EVENT_BYTES;
  for (const name in previous) {
    if (name !== 'metadata') bytes += unsharedBytes(previous[name], next?.[name]);
  }
  const { metadata } = previous;
  for (const field of LARGE_METADATA) {
    const value = metadata[field];
    if (value !== undefined) bytes += unsharedBytes(value, next?.metadata[field]);
  }
  return bytes;
}

/** The fields of metadata whose length clients choose. EVENT_BYTES contains the others. */
const LARGE_METADATA = ['annotations', 'labels', 'ownerReferences', 'finalizers', 'managedFields'] as const;

/** An event in the log, with the watch events that cursors share. */
export class LogEntry implements StoredEvent {
  readonly revision: number;
  readonly type: StoredEvent['type'];
  readonly namespace: string;
  readonly name: string;
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
  readonly time: number;
  /** The memory that the event keeps in use. */
  readonly bytes: number;
  /** The watch event for watchers without selectors; all of them share this object. */
  readonly watchEvent: ChangeEvent;
  #deletedWatchEvent: ChangeEvent | undefined;

  constructor(event: StoredEvent) {
    this.revision = event.revision;
    this.type = event.type;
    this.namespace = event.namespace;
    this.name = event.name;
    this.object = event.object;
    this.previous = event.previous;
    this.time = event.time;
    this.bytes = retainedBytes(event);
    this.watchEvent = Object.freeze({ type: event.type, object: event.object });
  }

  /** The watch event with another type: an update that makes the object match a selector is ADDED for its watchers. */
  watchEventAs(type: 'ADDED' | 'MODIFIED'): ChangeEvent {
    return Object.freeze({ type, object: this.object });
  }

  /** DELETED for watchers whose selector no longer matches: the old content with the new resourceVersion. */
  deletedWatchEvent(): ChangeEvent {
    if (this.#deletedWatchEvent === undefined) {
      const { previous } = this;
      invariant(previous !== undefined, 'an object that no longer matches existed before');
      const metadata = Object.freeze({ ...previous.metadata, resourceVersion: String(this.revision) });
      this.#deletedWatchEvent = Object.freeze({ type: 'DELETED', object: Object.freeze({ ...previous, metadata }) });
    }
    return this.#deletedWatchEvent;
  }
}

/** The content of a log. A log and its forks share it until the next write. */
export interface History {
  readonly entries: readonly LogEntry[];
  /** The index of the first entry that is not compacted. */
  readonly head: number;
  /** The revision of the newest compacted event; 0, or that of the loaded state, if none was compacted. */
  readonly compactRevision: number;
  /** Retired events before the entries. */
  readonly retired: RetiredEvents;
}

/** The empty history of a log that starts after a revision. */
export function emptyHistoryAfter(revision: number): History {
  return Object.freeze({
    entries: Object.freeze([]),
    head: 0,
    compactRevision: revision,
    retired: noRetiredEvents(revision),
  });
}

export const NO_HISTORY: History = emptyHistoryAfter(0);

export class EventLog {
  readonly #bounds: LogBounds;
  /** Live entries are `#entries[#head, ...]`; earlier ones are compacted and removed by a later append. */
  #entries: LogEntry[];
  #head = 0;
  /** Absolute position of `#entries[0]`; it only grows, so a cursor's position stays meaningful. */
  #base = 0;
  /** The revision of the newest compacted event, as etcd's compact revision: watches and reads can start at or after it. */
  #compactRevision: number;
  /** Retired events before the array. */
  #retired: RetiredEvents;
  /** Open cursors over all namespaces. */
  readonly #cursors = new Set<Cursor>();
  /** Open cursors over one namespace each. */
  readonly #cursorsByNamespace = new Map<string, Set<Cursor>>();

  /** Several logs share the array; it is copied before the first append. */
  #isShared: boolean;

  constructor(bounds: LogBounds, history: History) {
    this.#bounds = bounds;
    this.#entries = history.entries as LogEntry[];
    this.#head = history.head;
    this.#compactRevision = history.compactRevision;
    this.#retired = history.retired;
    this.#isShared = true;
  }

  get firstPosition(): number {
    return this.#base + this.#head;
  }

  get endPosition(): number {
    return this.#base + this.#entries.length;
  }

  /** The oldest revision from which a watch can start. */
  get oldestStart(): number {
    return this.#compactRevision;
  }

  /** The revision of the newest event, compacted or not. */
  get lastRevision(): number {
    return this.#entries[this.#entries.length - 1]?.revision ?? this.#compactRevision;
  }

  entryAt(position: number): LogEntry {
    const entry = this.#entries[position - this.#base];
    invariant(entry !== undefined, 'a log position holds an entry');
    return entry;
  }

  /** Adds an event and returns how much memory it keeps in use. */
  append(event: StoredEvent): number {
    const entry = new LogEntry(event);
    if (this.#isShared) this.#retireCompacted();
    this.#entries.push(entry);
    this.compact(event.time);
    const position = this.endPosition - 1;
    for (const cursor of this.#cursors) cursor.offer(entry, position);
    const ofNamespace = this.#cursorsByNamespace.get(event.namespace);
    if (ofNamespace !== undefined) for (const cursor of ofNamespace) cursor.offer(entry, position);
    return entry.bytes;
  }

  /** Compacts events beyond the bounds. */
  compact(now: number): void {
    const oldest = now - this.#bounds.maxAgeMs;
    const excess = this.#entries.length - this.#bounds.maxEvents;
    let head = this.#head;
    while (head < this.#entries.length) {
      const entry = this.#entries[head];
      if (entry === undefined || (head >= excess && entry.time >= oldest)) break;
      this.#compactRevision = entry.revision;
      head++;
    }
    this.#head = head;
    // Reclaims in large steps, so that compaction costs O(1) per event.
    if (head > 1024 && head * 2 > this.#entries.length) this.#retireCompacted();
  }

  /** All events that are in memory, in no particular order. */
  *eventsInMemory(): Iterable<LogEntry> {
    for (const chunk of this.#retired.chunks) yield* chunk;
    yield* this.#entries;
  }

  /** Drops all events up to a revision, and those that were compacted. Watches that have not read them expire. */
  dropUpTo(revision: number): void {
    const end = countUpTo(this.#entries, revision);
    if (end > this.#head) {
      this.#compactRevision = this.#entries[end - 1]?.revision ?? this.#compactRevision;
      this.#head = end;
    }
    this.#retireCompacted();
    this.#retired = dropRetired(this.#retired, revision);
  }

  /** Moves the live entries to a new array and retires the rest. */
  #retireCompacted(): void {
    this.#retired = retireEvents(this.#retired, this.#entries.slice(0, this.#head), this.#bounds.keepEvents ?? 0);
    this.#entries = this.#entries.slice(this.#head);
    this.#base += this.#head;
    this.#head = 0;
    this.#isShared = false;
    for (const cursor of this.#cursors) cursor.noteCompaction();
    for (const cursors of this.#cursorsByNamespace.values()) for (const cursor of cursors) cursor.noteCompaction();
  }

  /** Opens a cursor for events after a revision. Throws {@link CompactedError} if some of them are compacted. */
  watch(after: number, filter: CursorFilter): Cursor {
    if (after < this.#compactRevision) throw new CompactedError(after, this.#compactRevision + 1);
    const cursor = new Cursor(this, { after, position: this.#positionAfter(after) }, filter);
    this.#cursorSetOf(cursor).add(cursor);
    return cursor;
  }

  /** Events after a revision, newest first, for rewinding to an older state. */
  *entriesNewestFirst(after: number): Iterable<LogEntry> {
    if (after < this.#compactRevision) throw new CompactedError(after, this.#compactRevision);
    for (let i = this.#entries.length - 1; i >= this.#head; i--) {
      const entry = this.#entries[i];
      if (entry === undefined || entry.revision <= after) return;
      yield entry;
    }
  }

  /** The history for a snapshot or a fork: nothing is copied until the next write. */
  shareHistory(): History {
    this.#isShared = true;
    return this.history();
  }

  /** All kept events. Valid until the next write. */
  history(): History {
    return { entries: this.#entries, head: this.#head, compactRevision: this.#compactRevision, retired: this.#retired };
  }

  /** Drops all events up to a revision and ends every watch. */
  resetTo(revision: number): void {
    this.expireAll();
    this.#base = this.endPosition;
    this.#entries = [];
    this.#head = 0;
    this.#isShared = false;
    this.#compactRevision = revision;
    this.#retired = noRetiredEvents(revision);
  }

  /** Ends every watch with Expired. */
  expireAll(): void {
    const open = [...this.#cursors, ...[...this.#cursorsByNamespace.values()].flatMap((set) => [...set])];
    this.#cursors.clear();
    this.#cursorsByNamespace.clear();
    for (const cursor of open) cursor.expire();
  }

  /** Called by a cursor that is closed. */
  remove(cursor: Cursor): void {
    const cursors = this.#cursorSetOf(cursor);
    cursors.delete(cursor);
    const { namespace } = cursor.filter;
    if (namespace !== undefined && cursors.size === 0) this.#cursorsByNamespace.delete(namespace);
  }

  #cursorSetOf(cursor: Cursor): Set<Cursor> {
    const { namespace } = cursor.filter;
    if (namespace === undefined) return this.#cursors;
    return getOrInsertComputed(this.#cursorsByNamespace, namespace, () => new Set());
  }

  /** The position of the first entry after a revision. */
  #positionAfter(revision: number): number {
    return this.#base + Math.max(this.#head, countUpTo(this.#entries, revision));
  }
}
