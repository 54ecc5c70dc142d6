/** Cursors: a watcher's position in the event log, its events, its wake-ups and its end. */
import { describe, expect, test, vi } from 'vitest';
import type { ApiObject, ChangeEvent } from '../../../src/meta/object.js';
import { EventLog } from '../../../src/storage/event-log.js';
import { CompactedError } from '../../../src/storage/types.js';
import { event, object } from './objects.js';

function emptyLog(maxEvents = 1_000): EventLog {
  return new EventLog(
    { maxEvents, maxAgeMs: 60_000 },
    { entries: [], head: 0, compactRevision: 0, retired: { chunks: [], count: 0, droppedRevision: 0 } },
  );
}

const isRed = (each: ApiObject) => each['colour'] === 'red';
const red = (name: string, revision: number) => object(name, revision, { colour: 'red' });
const blue = (name: string, revision: number) => object(name, revision, { colour: 'blue' });

describe('the events of a cursor', () => {
  test('returns every event after the start of a cursor once', () => {
    const log = emptyLog();
    log.append(event(1));
    const cursor = log.watch(0, {});
    log.append(event(2));
    expect(cursor.poll()?.object.metadata.resourceVersion).toBe('1');
    expect(cursor.poll()?.object.metadata.resourceVersion).toBe('2');
    expect(cursor.poll()).toBeUndefined();
  });

  test('returns only events of the namespace and name of a cursor', () => {
    const log = emptyLog();
    const cursor = log.watch(0, { namespace: 'a', name: 'x' });
    log.append(event(1, { namespace: 'b', name: 'x' }));
    log.append(event(2, { namespace: 'a', name: 'y' }));
    log.append(event(3, { namespace: 'a', name: 'x' }));
    expect(cursor.poll()?.object.metadata.resourceVersion).toBe('3');
    expect(cursor.poll()).toBeUndefined();
  });

  test('returns ADDED for an update into the selection', () => {
    const log = emptyLog();
    const cursor = log.watch(0, { matches: isRed });
    log.append(event(2, { name: 'a', previous: blue('a', 1), object: red('a', 2) }));
    expect(cursor.poll()).toEqual({ type: 'ADDED', object: red('a', 2) });
  });

  test('returns MODIFIED for an update within the selection', () => {
    const log = emptyLog();
    const cursor = log.watch(0, { matches: isRed });
    log.append(event(2, { name: 'a', previous: red('a', 1), object: red('a', 2) }));
    expect(cursor.poll()).toEqual({ type: 'MODIFIED', object: red('a', 2) });
  });

  test('returns DELETED with the old content at the new revision for an update out of the selection', () => {
    const log = emptyLog();
    const cursor = log.watch(0, { matches: isRed });
    log.append(event(2, { name: 'a', previous: red('a', 1), object: blue('a', 2) }));
    expect(cursor.poll()).toEqual({ type: 'DELETED', object: red('a', 2) });
  });

  test('returns no event for an update outside the selection', () => {
    const log = emptyLog();
    const cursor = log.watch(0, { matches: isRed });
    log.append(event(2, { name: 'a', previous: blue('a', 1), object: blue('a', 2) }));
    expect(cursor.poll()).toBeUndefined();
  });

  test('returns DELETED only for a deletion in the selection', () => {
    const log = emptyLog();
    const cursor = log.watch(0, { matches: isRed });
    log.append(event(3, { type: 'DELETED', name: 'b', previous: blue('b', 1), object: blue('b', 3) }));
    log.append(event(4, { type: 'DELETED', name: 'a', previous: red('a', 2), object: red('a', 4) }));
    expect(cursor.poll()).toEqual({ type: 'DELETED', object: red('a', 4) });
    expect(cursor.poll()).toBeUndefined();
  });
});

/** The revision of the event that a waiting cursor received. */
const revisionOf = (received: ChangeEvent | undefined) => received?.object.metadata.resourceVersion;

describe('a waiting cursor', () => {
  test('wakes a waiting cursor for the next event once, and returns later events by polling', () => {
    const log = emptyLog();
    const cursor = log.watch(0, {});
    const seen: unknown[] = [];
    cursor.wait((received) => seen.push(revisionOf(received)));
    log.append(event(1));
    log.append(event(2));
    expect(seen).toEqual(['1']);
    expect(revisionOf(cursor.poll())).toBe('2');
    expect(cursor.poll()).toBeUndefined();
  });

  test('does not wake a waiting cursor for events that it does not select', () => {
    const log = emptyLog();
    const cursor = log.watch(0, { namespace: 'a', matches: isRed });
    const seen: unknown[] = [];
    cursor.wait((received) => seen.push(revisionOf(received)));
    log.append(event(1, { namespace: 'b', object: red('o1', 1) }));
    log.append(event(2, { namespace: 'a', object: blue('o2', 2) }));
    expect(seen).toEqual([]);
    log.append(event(3, { namespace: 'a', object: red('o3', 3) }));
    expect(seen).toEqual(['3']);
  });

  test('wakes a cursor for the following event if its callback waits again', () => {
    const log = emptyLog();
    const cursor = log.watch(0, {});
    const seen: unknown[] = [];
    const onEvent = (received: ChangeEvent | undefined) => {
      seen.push(revisionOf(received));
      cursor.wait(onEvent);
    };
    cursor.wait(onEvent);
    log.append(event(1));
    log.append(event(2));
    expect(seen).toEqual(['1', '2']);
  });

  test('keeps a waiting cursor readable when events of other namespaces are dropped', () => {
    const log = emptyLog(2);
    const cursor = log.watch(0, { namespace: 'a' });
    const seen: unknown[] = [];
    cursor.wait((received) => seen.push(revisionOf(received)));
    for (let revision = 1; revision <= 10; revision++) log.append(event(revision, { namespace: 'b' }));
    log.append(event(11, { namespace: 'a' }));
    expect(seen).toEqual(['11']);
  });

  test('returns the next event by polling to a cursor that stops waiting', () => {
    const log = emptyLog();
    const cursor = log.watch(0, {});
    const onEvent = vi.fn();
    cursor.wait(onEvent);
    cursor.stopWaiting();
    log.append(event(1));
    expect(onEvent).not.toHaveBeenCalled();
    expect(revisionOf(cursor.poll())).toBe('1');
  });

  test('moves a cursor that stops waiting past all earlier events, also dropped ones of other namespaces', () => {
    const log = emptyLog(2);
    const cursor = log.watch(0, { namespace: 'a' });
    cursor.wait(() => undefined);
    for (let revision = 1; revision <= 10; revision++) log.append(event(revision, { namespace: 'b' }));
    cursor.stopWaiting();
    expect(cursor.poll()).toBeUndefined();
  });
});

describe('a lagging cursor', () => {
  test('returns all events to a lagging cursor while its position is in the log', () => {
    const log = emptyLog(2);
    const cursor = log.watch(0, {});
    log.append(event(1));
    log.append(event(2));
    expect(cursor.poll()?.object.metadata.resourceVersion).toBe('1');
    log.append(event(3));
    expect(cursor.poll()?.object.metadata.resourceVersion).toBe('2');
    expect(cursor.poll()?.object.metadata.resourceVersion).toBe('3');
  });

  test('fails every poll of a lagging cursor once the log is compacted past it', () => {
    const log = emptyLog(2);
    const cursor = log.watch(0, {});
    for (const revision of [1, 2, 3]) log.append(event(revision));
    expect(() => cursor.poll()).toThrow(CompactedError);
    expect(() => cursor.poll()).toThrow(CompactedError);
  });
});

describe('the end of a cursor', () => {
  test('returns no event and does not wake a cursor after close', () => {
    const log = emptyLog();
    const cursor = log.watch(0, {});
    const onEvent = vi.fn();
    cursor.wait(onEvent);
    cursor.close();
    log.append(event(1));
    expect(cursor.poll()).toBeUndefined();
    expect(onEvent).not.toHaveBeenCalled();
  });

  test('wakes a cursor and fails its polls when the history is replaced', () => {
    const log = emptyLog();
    const cursor = log.watch(0, {});
    const onEvent = vi.fn();
    cursor.wait(onEvent);
    log.expireAll();
    expect(onEvent).toHaveBeenCalledTimes(1);
    expect(() => cursor.poll()).toThrow(CompactedError);
  });

  test('wakes a cursor at once that waits after the history is replaced', () => {
    const log = emptyLog();
    const cursor = log.watch(0, {});
    log.expireAll();
    const onEvent = vi.fn();
    cursor.wait(onEvent);
    expect(onEvent).toHaveBeenCalledTimes(1);
  });

  test('does not fail a closed cursor when the history is replaced', () => {
    const log = emptyLog();
    const cursor = log.watch(0, {});
    cursor.close();
    log.expireAll();
    expect(cursor.poll()).toBeUndefined();
  });
});
