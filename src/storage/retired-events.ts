/**
 * Retired events: events that watches can no longer reach, kept for `cluster.history` and `cluster.at`.
 *
 * A log moves compacted events here in immutable chunks, which forks share. Small chunks are merged with the next one;
 * surplus events are dropped chunk by chunk, oldest first:
 *
 *   kept:   [1 … 1024] [1025 … 2100] [2101 … 2150]     + 30 more     → the last becomes [2101 … 2180]
 *   keep 1,100 →       [1025 … 2100] [2101 … 2180]     droppedRevision: 1024
 */
import type { History, LogBounds, LogEntry } from './event-log.js';
import { CompactedError } from './types.js';

export interface RetiredEvents {
  /** Oldest first; none is empty. */
  readonly chunks: readonly (readonly LogEntry[])[];
  readonly count: number;
  /** The revision of the newest dropped event; 0 if none was dropped. */
  readonly droppedRevision: number;
}

/** Chunks below this size are merged. */
const CHUNK = 1024;

/** No events: everything up to a revision was dropped. */
export function noRetiredEvents(revision: number): RetiredEvents {
  return Object.freeze({ chunks: Object.freeze([]), count: 0, droppedRevision: revision });
}

/** Adds compacted events. At least `keep` events are kept. */
export function retireEvents(retired: RetiredEvents, entries: readonly LogEntry[], keep: number): RetiredEvents {
  const newest = entries[entries.length - 1];
  if (newest === undefined) return retired;
  if (keep === 0) return noRetiredEvents(newest.revision);
  const chunks = [...retired.chunks];
  const last = chunks[chunks.length - 1];
  if (last !== undefined && last.length < CHUNK) chunks[chunks.length - 1] = [...last, ...entries];
  else chunks.push(entries);
  let count = retired.count + entries.length;
  let { droppedRevision } = retired;
  let gone = 0;
  for (const chunk of chunks) {
    if (count - chunk.length < keep) break;
    count -= chunk.length;
    droppedRevision = chunk[chunk.length - 1]?.revision ?? droppedRevision;
    gone++;
  }
  return { chunks: chunks.slice(gone), count, droppedRevision };
}

/** Drops all events up to a revision. */
export function dropRetired(retired: RetiredEvents, revision: number): RetiredEvents {
  const chunks: (readonly LogEntry[])[] = [];
  let { droppedRevision } = retired;
  for (const chunk of retired.chunks) {
    const gone = countUpTo(chunk, revision);
    droppedRevision = chunk[gone - 1]?.revision ?? droppedRevision;
    if (gone < chunk.length) chunks.push(chunk.slice(gone));
  }
  return { chunks, count: chunks.reduce((sum, { length }) => sum + length, 0), droppedRevision };
}

/** The oldest revision that can be reconstructed. */
export function oldestKeptRevision(history: History, bounds: LogBounds): number {
  const { entries, head, compactRevision, retired } = history;
  const { keepEvents = 0 } = bounds;
  if (keepEvents === 0) return compactRevision;
  // Events within the bounds of the log are always kept.
  let surplus = retired.count + Math.min(head, entries.length - keepEvents);
  if (surplus <= 0) return retired.droppedRevision;
  for (const chunk of retired.chunks) {
    if (surplus <= chunk.length) return chunk[surplus - 1]?.revision ?? retired.droppedRevision;
    surplus -= chunk.length;
  }
  return entries[surplus - 1]?.revision ?? retired.droppedRevision;
}

/** All events after a revision, newest first. Throws {@link CompactedError} if some of them were dropped. */
export function* eventsNewestFirst(history: History, after: number, bounds: LogBounds): Iterable<LogEntry> {
  const oldest = oldestKeptRevision(history, bounds);
  if (after < oldest) throw new CompactedError(after, oldest);
  for (const chunk of newestFirst(history)) {
    for (let index = chunk.length - 1; index >= 0; index--) {
      const entry = chunk[index];
      if (entry === undefined || entry.revision <= after) return;
      yield entry;
    }
  }
}

/** The newest kept event up to a revision. */
export function lastEventUpTo(history: History, revision: number): LogEntry | undefined {
  for (const chunk of newestFirst(history)) {
    const at = countUpTo(chunk, revision);
    if (at > 0) return chunk[at - 1];
  }
  return undefined;
}

/**
 * The history as it was right after a revision. It contains as many live events as the bounds allow; a log compacts those
 * that are too old by its clock.
 */
export function historyAt(history: History, revision: number, bounds: LogBounds): History {
  if (bounds.keepEvents === undefined || bounds.keepEvents === 0) {
    const { entries, head, compactRevision } = history;
    const end = countUpTo(entries, revision);
    return {
      entries: entries.slice(Math.min(head, end), end),
      head: 0,
      compactRevision,
      retired: noRetiredEvents(compactRevision),
    };
  }
  const chunks = [...history.retired.chunks, history.entries];
  while ((chunks[chunks.length - 1]?.[0]?.revision ?? Number.POSITIVE_INFINITY) > revision && chunks.length > 0) {
    chunks.pop();
  }
  const recent: (readonly LogEntry[])[] = [];
  let size = 0;
  for (let chunk = chunks.pop(); chunk !== undefined; chunk = size < bounds.maxEvents ? chunks.pop() : undefined) {
    const part = recent.length === 0 ? chunk.slice(0, countUpTo(chunk, revision)) : chunk;
    recent.unshift(part);
    size += part.length;
  }
  const { droppedRevision } = history.retired;
  const before = chunks[chunks.length - 1];
  return {
    entries: recent.flat(),
    head: 0,
    compactRevision: before?.[before.length - 1]?.revision ?? droppedRevision,
    retired: { chunks, count: chunks.reduce((sum, chunk) => sum + chunk.length, 0), droppedRevision },
  };
}

function* newestFirst({ entries, retired }: History): Iterable<readonly LogEntry[]> {
  yield entries;
  for (let index = retired.chunks.length - 1; index >= 0; index--) yield retired.chunks[index] ?? [];
}

/** The number of entries up to a revision; the entries are sorted. */
export function countUpTo(entries: readonly LogEntry[], revision: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.revision ?? 0) > revision) high = middle;
    else low = middle + 1;
  }
  return low;
}
