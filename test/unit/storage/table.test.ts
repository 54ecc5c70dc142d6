/** The table of one resource: order, pages, counts and past states. */
import { describe, expect, test } from 'vitest';
import { keyOf, Table } from '../../../src/storage/table.js';
import { CompactedError, type KeysOf, type ListPage } from '../../../src/storage/types.js';
import { event, object } from './objects.js';

const ROOMY = { maxEvents: 1_000, maxAgeMs: 60_000 };

/** A table with one creation per key, at revisions 1, 2, … in this order. */
function tableOf(bounds: { maxEvents: number; maxAgeMs: number }, ...keys: string[]): Table {
  const table = new Table(bounds);
  for (const [index, key] of keys.entries()) put(table, key, index + 1);
  return table;
}

/** Creates or replaces an object. */
function put(table: Table, key: string, revision: number): void {
  const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key];
  const previous = table.get({ namespace, name });
  const stored = object(name, revision, { key });
  table.set({ namespace, name }, stored);
  table.log.append(
    event(revision, { namespace, name, object: stored, ...(previous === undefined ? {} : { previous }) }),
  );
}

function remove(table: Table, key: string, revision: number): void {
  const [namespace = '', name = ''] = key.split('/');
  const previous = table.get({ namespace, name });
  if (previous === undefined) throw new Error(`${key} is not there`);
  table.delete({ namespace, name });
  table.log.append(event(revision, { type: 'DELETED', namespace, name, object: previous, previous }));
}

const keys = (page: ListPage) => page.items.map((item) => item['key']);

describe('the order of a table', () => {
  test('orders objects by the string namespace/name, so a-b/x comes before a/x', () => {
    const table = tableOf(ROOMY, 'a/x', 'a-b/x', 'b/a', 'a/b', 'a.b/z');
    expect(keys(table.list({ storageKey: 'things' }, 5))).toEqual(['a-b/x', 'a.b/z', 'a/b', 'a/x', 'b/a']);
  });

  test('orders objects of a cluster-scoped resource by name', () => {
    const table = tableOf(ROOMY, 'b', 'a', 'a-b');
    expect(keys(table.list({ storageKey: 'things' }, 3))).toEqual(['a', 'a-b', 'b']);
    expect(keyOf('', 'a')).toBe('a');
  });
});

describe('a range of a table', () => {
  test('excludes namespaces with the same prefix from the range of one namespace', () => {
    const table = tableOf(ROOMY, 'a/x', 'a-b/x', 'ab/x', 'a0/x', 'a/y');
    expect(keys(table.list({ storageKey: 'things', namespace: 'a' }, 5))).toEqual(['a/x', 'a/y']);
  });

  test('returns one object or none for the range of one name', () => {
    const table = tableOf(ROOMY, 'a/x', 'a/y');
    expect(keys(table.list({ storageKey: 'things', namespace: 'a', name: 'y' }, 2))).toEqual(['a/y']);
    expect(keys(table.list({ storageKey: 'things', namespace: 'b', name: 'y' }, 2))).toEqual([]);
  });

  test('returns none for the range of one name if the object does not match or precedes the start key', () => {
    const table = tableOf(ROOMY, 'a/x');
    const one = { storageKey: 'things', namespace: 'a', name: 'x' };
    expect(keys(table.list({ ...one, matches: () => false }, 1))).toEqual([]);
    expect(keys(table.list({ ...one, after: 'a/x' }, 1))).toEqual([]);
    expect(keys(table.list({ ...one, after: 'a/w' }, 1))).toEqual(['a/x']);
  });
});

describe('pages of a table', () => {
  const table = tableOf(ROOMY, 'a/x', 'a/y', 'b/x', 'b/y', 'b/z');

  test('returns the start of the next page and the remaining count', () => {
    const first = table.list({ storageKey: 'things', limit: 2 }, 5);
    expect(keys(first)).toEqual(['a/x', 'a/y']);
    expect(first).toMatchObject({ nextAfter: 'a/y', remaining: 3, revision: 5 });
    const second = table.list({ storageKey: 'things', limit: 2, after: 'a/y' }, 5);
    expect(keys(second)).toEqual(['b/x', 'b/y']);
    expect(second).toMatchObject({ nextAfter: 'b/y', remaining: 1 });
  });

  test('returns no next page when the last item is reached, also if the page is full', () => {
    const last = table.list({ storageKey: 'things', limit: 1, after: 'b/y' }, 5);
    expect(keys(last)).toEqual(['b/z']);
    expect(last).not.toHaveProperty('nextAfter');
    expect(last).not.toHaveProperty('remaining');
  });

  test('counts only one namespace in the pages of that namespace', () => {
    expect(table.list({ storageKey: 'things', namespace: 'b', limit: 1 }, 5).remaining).toBe(2);
    expect(table.list({ storageKey: 'things', namespace: 'b', limit: 1, after: 'b/x' }, 5).remaining).toBe(1);
  });

  test('returns only matches in the pages of a selection, without a remaining count', () => {
    const matches = (item: object) => String((item as { key?: string }).key).endsWith('/y');
    const page = table.list({ storageKey: 'things', limit: 1, matches }, 5);
    expect(keys(page)).toEqual(['a/y']);
    expect(page.nextAfter).toBe('a/y');
    expect(page).not.toHaveProperty('remaining');
    // Objects after the last match are not examined, so an empty page may follow.
    const last = table.list({ storageKey: 'things', limit: 1, matches, after: 'a/y' }, 5);
    expect(keys(last)).toEqual(['b/y']);
    expect(last.nextAfter).toBe('b/y');
    const empty = table.list({ storageKey: 'things', limit: 1, matches, after: 'b/y' }, 5);
    expect(keys(empty)).toEqual([]);
    expect(empty).not.toHaveProperty('nextAfter');
  });

  test('continues pages after a deleted key', () => {
    expect(keys(table.list({ storageKey: 'things', after: 'a/yy' }, 5))).toEqual(['b/x', 'b/y', 'b/z']);
  });
});

describe('a past state of a table', () => {
  test('returns a past state by undoing every later change', () => {
    const table = tableOf(ROOMY, 'a/x', 'a/y');
    put(table, 'a/x', 3);
    remove(table, 'a/y', 4);
    put(table, 'a/z', 5);
    expect(table.list({ storageKey: 'things' }, 2).items.map((item) => item.metadata.resourceVersion)).toEqual([
      '1',
      '2',
    ]);
    expect(keys(table.list({ storageKey: 'things' }, 4))).toEqual(['a/x']);
    expect(keys(table.list({ storageKey: 'things' }, 5))).toEqual(['a/x', 'a/z']);
  });

  test('returns the original of an object in a past state that was deleted and created again', () => {
    const table = tableOf(ROOMY, 'a/x');
    remove(table, 'a/x', 2);
    put(table, 'a/x', 3);
    expect(table.list({ storageKey: 'things' }, 1).items[0]?.metadata.resourceVersion).toBe('1');
    expect(keys(table.list({ storageKey: 'things' }, 2))).toEqual([]);
  });

  test('returns the remaining count of a past state', () => {
    const table = tableOf(ROOMY, 'a/x', 'a/y', 'a/z');
    remove(table, 'a/z', 4);
    expect(table.list({ storageKey: 'things', namespace: 'a', limit: 1 }, 3).remaining).toBe(2);
    expect(table.list({ storageKey: 'things', namespace: 'a', limit: 1 }, 4).remaining).toBe(1);
  });

  test('fails to return a past state once its changes are dropped', () => {
    const table = tableOf({ maxEvents: 1, maxAgeMs: 60_000 }, 'a/x', 'a/y', 'a/z');
    expect(() => table.list({ storageKey: 'things' }, 1)).toThrow(CompactedError);
    expect(keys(table.list({ storageKey: 'things' }, 2))).toEqual(['a/x', 'a/y']);
  });
});

describe('a held state of a table', () => {
  test('keeps a held state readable after further writes and compaction', () => {
    const table = tableOf({ maxEvents: 1, maxAgeMs: 60_000 }, 'a/x', 'a/y');
    table.hold(2, 1_000);
    for (const revision of [3, 4, 5, 6]) put(table, `a/new-${revision}`, revision);
    expect(keys(table.list({ storageKey: 'things' }, 2))).toEqual(['a/x', 'a/y']);
  });

  test('releases a held state when its time ends, not before', () => {
    const table = tableOf({ maxEvents: 1, maxAgeMs: 60_000 }, 'a/x');
    table.hold(1, 1_000);
    for (const revision of [2, 3, 4]) put(table, `a/new-${revision}`, revision);
    table.release(1_000);
    expect(keys(table.list({ storageKey: 'things' }, 1))).toEqual(['a/x']);
    table.release(1_001);
    expect(() => table.list({ storageKey: 'things' }, 1)).toThrow(CompactedError);
  });

  test('keeps a state that is held twice for the longer time', () => {
    const table = tableOf({ maxEvents: 1, maxAgeMs: 60_000 }, 'a/x');
    table.hold(1, 2_000);
    table.hold(1, 1_000);
    for (const revision of [2, 3, 4]) put(table, `a/new-${revision}`, revision);
    table.release(1_500);
    expect(keys(table.list({ storageKey: 'things' }, 1))).toEqual(['a/x']);
  });

  test('holds a past state that is still readable', () => {
    const table = tableOf({ maxEvents: 2, maxAgeMs: 60_000 }, 'a/x', 'a/y');
    table.hold(1, 1_000);
    for (const revision of [3, 4, 5, 6]) put(table, `a/new-${revision}`, revision);
    expect(keys(table.list({ storageKey: 'things' }, 1))).toEqual(['a/x']);
  });

  test('is dropped when 64 others were used after it', () => {
    const names = Array.from({ length: 70 }, (_, index) => `a/${index}`);
    const table = tableOf({ maxEvents: 1_000, maxAgeMs: 60_000 }, ...names);
    for (let revision = 1; revision <= 64; revision++) table.hold(revision, 1_000);
    table.hold(1, 1_000);
    table.hold(65, 1_000);
    table.log.dropUpTo(70);
    expect(table.list({ storageKey: 'things' }, 1).items).toHaveLength(1);
    expect(() => table.list({ storageKey: 'things' }, 2)).toThrow(CompactedError);
    expect(table.list({ storageKey: 'things' }, 65).items).toHaveLength(65);
  });

  test('goes with the history if no event leads to it any more', () => {
    const table = tableOf({ maxEvents: 1, maxAgeMs: 60_000 }, 'a/x');
    table.hold(1, 1_000);
    for (const revision of [2, 3, 4]) put(table, `a/new-${revision}`, revision);
    table.hold(4, 1_000);
    table.dropHistoryUpTo(0);
    expect(() => table.list({ storageKey: 'things' }, 1)).toThrow(CompactedError);
    expect(table.list({ storageKey: 'things' }, 4).items).toHaveLength(4);
  });

  test('returns the remaining count of a held state for pages of different sizes', () => {
    const table = tableOf({ maxEvents: 1, maxAgeMs: 60_000 }, 'a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'b/1');
    table.hold(6, 1_000);
    for (const revision of [7, 8, 9]) put(table, `a/new-${revision}`, revision);
    const read = (limit: number, after: string) => table.list({ storageKey: 'things', limit, after }, 6).remaining;
    expect(read(2, 'a/1')).toBe(3);
    expect(read(1, 'a/3')).toBe(2);
    expect(read(1, 'a/4')).toBe(1);
  });
});

describe('a table state for a snapshot', () => {
  test('does not change a snapshot state by writes to its origin or to a copy', () => {
    const table = tableOf(ROOMY, 'a/x', 'a/y');
    const state = table.state();
    put(table, 'a/z', 3);
    const copy = new Table(ROOMY, state);
    remove(copy, 'a/x', 3);
    expect(keys(new Table(ROOMY, state).list({ storageKey: 'things' }, 2))).toEqual(['a/x', 'a/y']);
    expect(keys(copy.list({ storageKey: 'things' }, 3))).toEqual(['a/y']);
    expect(keys(table.list({ storageKey: 'things' }, 3))).toEqual(['a/x', 'a/y', 'a/z']);
  });

  test('copies the history of the origin into a snapshot state', () => {
    const table = tableOf(ROOMY, 'a/x', 'a/y');
    expect(keys(new Table(ROOMY, table.state()).list({ storageKey: 'things' }, 1))).toEqual(['a/x']);
  });

  test('counts objects separately in every copy of a snapshot state', () => {
    const state = tableOf(ROOMY, 'a/x', 'a/y', 'a/z').state();
    const first = new Table(ROOMY, state);
    remove(first, 'a/x', 4);
    const page = new Table(ROOMY, state).list({ storageKey: 'things', namespace: 'a', limit: 1 }, 3);
    expect(page.remaining).toBe(2);
  });

  test('copies the counts of namespaces into a snapshot state', () => {
    const table = tableOf(ROOMY, 'a/x', 'a/y', 'a/z');
    const page = new Table(ROOMY, table.state()).list({ storageKey: 'things', namespace: 'a', limit: 1 }, 3);
    expect(page.remaining).toBe(2);
  });
});

describe('a table index', () => {
  const letters: KeysOf<string> = ({ metadata }) => metadata.name.split('');

  test('keeps the keys of all objects in an index, and follows every change', () => {
    const table = tableOf(ROOMY, 'a/xy');
    const index = table.index(letters);
    put(table, 'a/yz', 2);
    put(table, 'a/yz', 3);
    expect(['x', 'y', 'z', 'a'].map((key) => index.has(key))).toEqual([true, true, true, false]);
    remove(table, 'a/xy', 4);
    expect(['x', 'y', 'z'].map((key) => index.has(key))).toEqual([false, true, true]);
    expect(table.index(letters)).toBe(index);
  });

  test('keeps the index of a copy independent', () => {
    const table = tableOf(ROOMY, 'a/x');
    const index = table.index(letters);
    const copy = new Table(ROOMY, table.state());
    put(copy, 'a/y', 2);
    remove(table, 'a/x', 2);
    expect([index.has('x'), index.has('y')]).toEqual([false, false]);
    expect([copy.index(letters).has('x'), copy.index(letters).has('y')]).toEqual([true, true]);
  });
});
