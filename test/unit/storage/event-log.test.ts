/** The bounded event log of one resource: retention, compaction and reading. */
import { describe, expect, test } from 'vitest';
import { EventLog } from '../../../src/storage/event-log.js';
import { CompactedError } from '../../../src/storage/types.js';
import { event, object } from './objects.js';

const NO_HISTORY = { entries: [], head: 0, compactRevision: 0, retired: { chunks: [], count: 0, droppedRevision: 0 } };
const ROOMY = { maxEvents: 1_000, maxAgeMs: 60_000 };

function logOf(bounds: { maxEvents: number; maxAgeMs: number }, ...revisions: number[]): EventLog {
  const log = new EventLog(bounds, NO_HISTORY);
  for (const revision of revisions) log.append(event(revision));
  return log;
}

function revisionsAfter(log: EventLog, after: number): (string | undefined)[] {
  const cursor = log.watch(after, {});
  const seen: string[] = [];
  for (let next = cursor.poll(); next !== undefined; next = cursor.poll()) {
    seen.push(next.object.metadata.resourceVersion);
  }
  cursor.close();
  return seen;
}

describe('event log retention by size', () => {
  test('keeps the configured number of events', () => {
    const log = logOf({ maxEvents: 3, maxAgeMs: 60_000 }, 1, 2, 3);
    expect(log.oldestStart).toBe(0);
    expect(revisionsAfter(log, 0)).toEqual(['1', '2', '3']);
  });

  test('drops the oldest event when the limit is exceeded', () => {
    const log = logOf({ maxEvents: 3, maxAgeMs: 60_000 }, 1, 2, 3, 7);
    expect(log.oldestStart).toBe(1);
    expect(revisionsAfter(log, 1)).toEqual(['2', '3', '7']);
  });

  test('keeps at least the newest event', () => {
    const log = logOf({ maxEvents: 1, maxAgeMs: 0 }, 1, 2, 3);
    expect(log.oldestStart).toBe(2);
    expect(revisionsAfter(log, 2)).toEqual(['3']);
  });

  test('keeps positions correct over thousands of events', () => {
    const log = logOf({ maxEvents: 10, maxAgeMs: 60_000 });
    for (let revision = 1; revision <= 5_000; revision++) log.append(event(revision));
    expect(log.endPosition - log.firstPosition).toBe(10);
    expect(log.endPosition).toBe(5_000);
    expect(revisionsAfter(log, 4_990)).toEqual(Array.from({ length: 10 }, (_, index) => String(4_991 + index)));
  });
});

describe('event log retention by age', () => {
  test('drops events older than the limit on compaction', () => {
    const log = new EventLog({ maxEvents: 100, maxAgeMs: 1_000 }, NO_HISTORY);
    log.append(event(1, { time: 0 }));
    log.append(event(2, { time: 500 }));
    log.compact(1_001);
    expect(log.oldestStart).toBe(1);
  });

  test('keeps an event of exactly the maximum age', () => {
    const log = new EventLog({ maxEvents: 100, maxAgeMs: 1_000 }, NO_HISTORY);
    log.append(event(1, { time: 0 }));
    log.compact(1_000);
    expect(log.oldestStart).toBe(0);
  });

  test('drops old events when a new one is appended', () => {
    const log = new EventLog({ maxEvents: 100, maxAgeMs: 1_000 }, NO_HISTORY);
    log.append(event(1, { time: 0 }));
    log.append(event(2, { time: 5_000 }));
    expect(log.oldestStart).toBe(1);
    expect(revisionsAfter(log, 1)).toEqual(['2']);
  });

  test('keeps the last revision when all events are dropped', () => {
    const log = new EventLog({ maxEvents: 100, maxAgeMs: 1_000 }, NO_HISTORY);
    log.append(event(1, { time: 0 }));
    log.append(event(4, { time: 0 }));
    log.compact(9_999);
    expect(log.oldestStart).toBe(4);
    expect(log.lastRevision).toBe(4);
    expect(revisionsAfter(log, 4)).toEqual([]);
  });
});

describe('a watch on the event log', () => {
  test('starts a watch after its revision, also if the resource has no event at it', () => {
    const log = logOf(ROOMY, 2, 5, 9);
    expect(revisionsAfter(log, 2)).toEqual(['5', '9']);
    expect(revisionsAfter(log, 6)).toEqual(['9']);
    expect(revisionsAfter(log, 9)).toEqual([]);
  });

  test('fails a watch from a dropped revision with the oldest available one', () => {
    const log = logOf({ maxEvents: 2, maxAgeMs: 60_000 }, 3, 6, 8, 9);
    expect(() => log.watch(5, {})).toThrow(new CompactedError(5, 7));
    expect(() => log.watch(6, {})).not.toThrow();
  });
});

describe('reading the event log backwards', () => {
  test('yields the events after a revision backwards, newest first', () => {
    const log = logOf(ROOMY, 1, 4, 6);
    expect([...log.entriesNewestFirst(1)].map(({ revision }) => revision)).toEqual([6, 4]);
  });

  test('fails to read backwards from a dropped revision', () => {
    const log = logOf({ maxEvents: 1, maxAgeMs: 60_000 }, 1, 4, 6);
    expect(() => [...log.entriesNewestFirst(3)]).toThrow(CompactedError);
    expect([...log.entriesNewestFirst(4)].map(({ revision }) => revision)).toEqual([6]);
  });
});

describe('the history for a fork', () => {
  test('copies the live entries and the compact revision into a fork, which does not grow with its origin', () => {
    const log = logOf({ maxEvents: 2, maxAgeMs: 60_000 }, 1, 2, 3);
    const history = log.shareHistory();
    log.append(event(4));
    expect(history.entries.slice(history.head).map(({ revision }) => revision)).toEqual([2, 3]);
    expect(history.compactRevision).toBe(1);
    expect(revisionsAfter(new EventLog(ROOMY, history), 1)).toEqual(['2', '3']);
  });
});

describe('an event log entry', () => {
  test('returns the old content at the new revision to selections that the object left', () => {
    const log = logOf(ROOMY);
    const previous = object('a', 1, { colour: 'red' });
    log.append(event(2, { name: 'a', previous, object: object('a', 2, { colour: 'blue' }) }));
    const departure = log.entryAt(0).deletedWatchEvent();
    expect(departure).toEqual({ type: 'DELETED', object: object('a', 2, { colour: 'red' }) });
    expect(log.entryAt(0).deletedWatchEvent()).toBe(departure);
  });

  test('returns one frozen event to all watchers that see it unchanged', () => {
    const log = logOf(ROOMY, 1);
    const [left, right] = [log.watch(0, {}), log.watch(0, {})];
    const seen = left.poll();
    expect(seen).toBe(right.poll());
    expect(Object.isFrozen(seen)).toBe(true);
  });
});
