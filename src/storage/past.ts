/**
 * Retired events: events that watches can no longer reach, kept for `cluster.history` and `cluster.at`.
 *
 * A log moves compacted events here in immutable chunks, which forks share. Small chunks are merged with the next one;
 * surplus events are dropped chunk by chunk, oldest first:
 *
 *   past:   [1 … 1024] [1025 … 2100] [2101 … 2150]     + 30 more     → the last becomes [2101 … 2180]
 *   keep 1,100 →       [1025 … 2100] [2101 … 2180]     forgotten: 1024
 */
import type { History, LogBounds, LogEntry } from './event-log.js';
import { CompactedError } from './types.js';

export interface Past {
  /** Oldest first; none is empty. */
  readonly chunks: readonly (readonly LogEntry[])[];
  readonly count: number;
  /** The revision of the newest dropped event; 0 if none was dropped. */
  readonly forgotten: number;
}

/** Chunks below this size are merged. */
const CHUNK = 1024;

/** An empty past: everything up to a revision is unknown. */
export function nothingBefore(revision: number): Past {
  return Object.freeze({ chunks: Object.freeze([]), count: 0, forgotten: revision });
}

/** Adds compacted events. At least `keep` events are kept. */
export function retire(past: Past, entries: readonly LogEntry[], keep: number): Past {
  const newest = entries[entries.length - 1];
  if (newest === undefined) return past;
  if (keep === 0) return nothingBefore(newest.revision);
  const chunks = [...past.chunks];
  const last = chunks[chunks.length - 1];
  if (last !== undefined && last.length < CHUNK) chunks[chunks.length - 1] = [...last, ...entries];
  else chunks.push(entries);
  let count = past.count + entries.length;
  let { forgotten } = past;
  let gone = 0;
  for (const chunk of chunks) {
    if (count - chunk.length < keep) break;
    count -= chunk.length;
    forgotten = chunk[chunk.length - 1]?.revision ?? forgotten;
    gone++;
  }
  return { chunks: chunks.slice(gone), count, forgotten };
}

/** The oldest revision that can be reconstructed. */
export function oldestKept(history: History, bounds: LogBounds): number {
  const { entries, head, compacted, past } = history;
  const { keepEvents = 0 } = bounds;
  if (keepEvents === 0) return compacted;
  // Events within the bounds of the log are always kept.
  let surplus = past.count + Math.min(head, entries.length - keepEvents);
  if (surplus <= 0) return past.forgotten;
  for (const chunk of past.chunks) {
    if (surplus <= chunk.length) return chunk[surplus - 1]?.revision ?? past.forgotten;
    surplus -= chunk.length;
  }
  return entries[surplus - 1]?.revision ?? past.forgotten;
}

/** All events after a revision, newest first. Throws {@link CompactedError} if some of them were dropped. */
export function* eventsBack(history: History, after: number, bounds: LogBounds): Iterable<LogEntry> {
  const oldest = oldestKept(history, bounds);
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
export function lastUpTo(history: History, revision: number): LogEntry | undefined {
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
export function cutHistory(history: History, revision: number, bounds: LogBounds): History {
  if (bounds.keepEvents === undefined || bounds.keepEvents === 0) {
    const { entries, head, compacted } = history;
    const end = countUpTo(entries, revision);
    return { entries: entries.slice(Math.min(head, end), end), head: 0, compacted, past: nothingBefore(compacted) };
  }
  const chunks = [...history.past.chunks, history.entries];
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
  const { forgotten } = history.past;
  const before = chunks[chunks.length - 1];
  return {
    entries: recent.flat(),
    head: 0,
    compacted: before?.[before.length - 1]?.revision ?? forgotten,
    past: { chunks, count: chunks.reduce((sum, chunk) => sum + chunk.length, 0), forgotten },
  };
}

function* newestFirst({ entries, past }: History): Iterable<readonly LogEntry[]> {
  yield entries;
  for (let index = past.chunks.length - 1; index >= 0; index--) yield past.chunks[index] ?? [];
}

/** The number of entries up to a revision; the entries are sorted. */
function countUpTo(entries: readonly LogEntry[], revision: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.revision ?? 0) > revision) high = middle;
    else low = middle + 1;
  }
  return low;
}
