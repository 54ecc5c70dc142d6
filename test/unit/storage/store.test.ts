/** The store: compare-and-swap, one revision counter, snapshots and forks. */
import { fakeClock } from 'orchplane/testing';
import { describe, expect, test, vi } from 'vitest';
import type { ApiObject } from '../../../src/meta/object.js';
import { memoryStorage } from '../../../src/storage/memory-storage.js';
import { Store } from '../../../src/storage/store.js';
import { CompactedError, type ObjectKey, StorageError } from '../../../src/storage/types.js';
import { object } from './objects.js';

function newStore(options: Parameters<typeof memoryStorage>[0] = {}) {
  const clock = fakeClock();
  return { clock, store: new Store({ clock, ...memoryStorage(options) }) };
}

const keyOf = (name: string, resource = 'things'): ObjectKey => ({ storageKey: resource, namespace: 'default', name });
const sealed = (name: string) => (revision: string) => object(name, Number(revision));

function create(store: Store, name: string, resource = 'things'): ApiObject {
  return store.commit({ type: 'create', key: keyOf(name, resource), makeObject: sealed(name) });
}

function update(store: Store, expected: ApiObject): ApiObject {
  const { name } = expected.metadata;
  return store.commit({ type: 'update', key: keyOf(name), expected, makeObject: sealed(name) });
}

function remove(store: Store, expected: ApiObject): ApiObject {
  const { name } = expected.metadata;
  return store.commit({ type: 'delete', key: keyOf(name), expected, makeObject: sealed(name) });
}

const names = (store: Store, at?: number) =>
  store.list({ storageKey: 'things', ...(at === undefined ? {} : { at }) }).items.map(({ metadata }) => metadata.name);

describe('a commit', () => {
  test('takes the next revision of one counter for all resources', () => {
    const { store } = newStore();
    expect(create(store, 'a').metadata.resourceVersion).toBe('1');
    expect(create(store, 'a', 'others').metadata.resourceVersion).toBe('2');
    expect(create(store, 'b').metadata.resourceVersion).toBe('3');
    expect(store.revision).toBe(3);
  });

  test('stores the object that the seal function of a commit returns', () => {
    const { store } = newStore();
    const stored = create(store, 'a');
    expect(store.get(keyOf('a'))).toBe(stored);
  });

  test('fails a commit if the name to create exists', () => {
    const { store } = newStore();
    create(store, 'a');
    expect(() => create(store, 'a')).toThrow(new StorageError('exists'));
  });

  test('fails a commit if the expected object is stale or missing', () => {
    const { store } = newStore();
    const first = create(store, 'a');
    const second = update(store, first);
    expect(() => update(store, first)).toThrow(new StorageError('stale'));
    expect(() => remove(store, first)).toThrow(new StorageError('stale'));
    remove(store, second);
    expect(() => update(store, second)).toThrow(new StorageError('missing'));
    expect(() => remove(store, second)).toThrow(new StorageError('missing'));
  });

  test('takes no revision and causes no event in a failed commit', () => {
    const { store } = newStore();
    const first = create(store, 'a');
    const cursor = store.watch({ storageKey: 'things', after: 1 });
    expect(() => create(store, 'a')).toThrow(StorageError);
    expect(() => {
      store.commit({
        type: 'update',
        key: keyOf('a'),
        expected: first,
        makeObject: () => {
          throw new Error('cannot seal');
        },
      });
    }).toThrow('cannot seal');
    expect(store.revision).toBe(1);
    expect(store.get(keyOf('a'))).toBe(first);
    expect(cursor.poll()).toBeUndefined();
  });

  test('takes a revision and removes the object in a commit of a deletion', () => {
    const { store } = newStore();
    const gone = remove(store, create(store, 'a'));
    expect(gone.metadata.resourceVersion).toBe('2');
    expect(store.get(keyOf('a'))).toBeUndefined();
  });

  test('calls revision listeners until they are removed', () => {
    const { store } = newStore();
    const wake = vi.fn();
    const undo = store.onRevision(wake);
    create(store, 'a');
    undo();
    create(store, 'b');
    expect(wake).toHaveBeenCalledTimes(1);
  });
});

describe('a list of the store', () => {
  test('returns an empty list at the current revision for a resource without writes', () => {
    const { store } = newStore();
    create(store, 'a', 'others');
    expect(store.list({ storageKey: 'things' })).toEqual({ items: [], revision: 1 });
  });

  test('undoes only changes of the listed resource in a list at a past revision', () => {
    const { store } = newStore();
    create(store, 'a');
    create(store, 'a', 'others');
    create(store, 'b');
    expect(names(store, 2)).toEqual(['a']);
    expect(names(store, 1)).toEqual(['a']);
  });

  test('fails a list at an expired revision', async () => {
    const { store, clock } = newStore({ historyMs: 1_000 });
    create(store, 'a');
    create(store, 'b');
    await clock.advance(1_001);
    expect(() => names(store, 1)).toThrow(CompactedError);
    expect(names(store, 2)).toEqual(['a', 'b']);
  });

  test('returns a list at a held revision until the hold ends', async () => {
    const { store, clock } = newStore({ history: 1 });
    create(store, 'a');
    store.hold('things', 1, clock.now() + 1_000);
    for (const name of ['b', 'c', 'd']) create(store, name);
    await clock.advance(1_000);
    expect(names(store, 1)).toEqual(['a']);
    await clock.advance(1);
    expect(() => names(store, 1)).toThrow(CompactedError);
  });
});

describe('a watch on the store', () => {
  test('drops expired events before it checks the start of a watch', async () => {
    const { store, clock } = newStore({ historyMs: 1_000 });
    create(store, 'a');
    await clock.advance(1_001);
    expect(() => store.watch({ storageKey: 'things', after: 0 })).toThrow(CompactedError);
  });

  test('returns a live watch for a resource without writes', () => {
    const { store } = newStore();
    const cursor = store.watch({ storageKey: 'things', after: 0 });
    create(store, 'a');
    expect(cursor.poll()).toMatchObject({ type: 'ADDED' });
  });
});

describe('the memory limit of the history', () => {
  /** Replaces an object's text of 10,000 characters. */
  function replaceText(store: Store, expected: ApiObject, resource = 'things'): ApiObject {
    const key = keyOf(expected.metadata.name, resource);
    const makeObject = (revision: string) =>
      object(expected.metadata.name, Number(revision), { data: { text: revision.padEnd(10_000) } });
    return store.commit({ type: 'update', key, expected, makeObject });
  }

  function bytesInMemory(store: Store): number {
    const changes = store.changesOf(keyOf('a'));
    return changes.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  test('drops the oldest events beyond the limit', () => {
    const { store } = newStore({ historyBytes: 1_000_000 });
    let live = create(store, 'a');
    for (let count = 0; count < 500; count++) {
      live = replaceText(store, live);
      expect(bytesInMemory(store)).toBeLessThan(1_000_000);
    }
    expect(store.changesOf(keyOf('a')).length).toBeGreaterThan(30);
    expect(() => store.watch({ storageKey: 'things', after: 1 })).toThrow(CompactedError);
    expect(() => names(store, 1)).toThrow(CompactedError);
    expect(store.get(keyOf('a'))).toBe(live);
  });

  test.each([
    ['labels', (text: string) => ({ labels: { a: text } })],
    ['long keys', (text: string) => ({ annotations: { [text]: '' } })],
    ['finalizers', (text: string) => ({ finalizers: [text] })],
    [
      'ownerReferences',
      (text: string) => ({ ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: text, uid: 'u' }] }),
    ],
    ['managedFields', (text: string) => ({ managedFields: [{ manager: 'a', fieldsV1: { [`k:${text}`]: {} } }] })],
  ])('counts %s of metadata', (_, metadataOf) => {
    const { store } = newStore({ historyBytes: 1_000_000 });
    let live = create(store, 'a');
    for (let count = 0; count < 200; count++) {
      const makeObject = (revision: string): ApiObject => {
        const { metadata, ...rest } = object('a', Number(revision));
        return { ...rest, metadata: { ...metadata, ...(metadataOf(revision.padEnd(20_000)) as object) } };
      };
      live = store.commit({ type: 'update', key: keyOf('a'), expected: live, makeObject });
    }
    expect(bytesInMemory(store)).toBeLessThan(1_000_000);
    expect(store.changesOf(keyOf('a')).length).toBeLessThan(50);
  });

  test('drops old events of a resource because of those of another', () => {
    const { store } = newStore({ historyBytes: 1_000_000 });
    create(store, 'b', 'others');
    const cursor = store.watch({ storageKey: 'others', after: 0 });
    const caughtUp = store.watch({ storageKey: 'others', after: 1 });
    let live = create(store, 'a');
    for (let count = 0; count < 100; count++) live = replaceText(store, live);
    expect(() => cursor.poll()).toThrow(CompactedError);
    create(store, 'c', 'others');
    expect(caughtUp.poll()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'c' } } });
  });

  test('drops held list pages with the events', () => {
    const { store, clock } = newStore({ historyBytes: 1_000_000 });
    let live = create(store, 'a');
    store.hold('things', 1, clock.now() + 1_000);
    live = replaceText(store, live);
    expect(names(store, 1)).toEqual(['a']);
    for (let count = 0; count < 100; count++) live = replaceText(store, live);
    expect(() => names(store, 1)).toThrow(CompactedError);
  });

  test('applies to events that are kept for histories, too', () => {
    const { store } = newStore({ history: 10, keepHistory: 100_000, historyBytes: 1_000_000 });
    let live = create(store, 'a');
    for (let count = 0; count < 3_000; count++) live = replaceText(store, live);
    expect(store.changesOf(keyOf('a')).length).toBeGreaterThan(30);
    expect(bytesInMemory(store)).toBeLessThan(1_000_000);
    expect(() => store.snapshotAt(1)).toThrow(CompactedError);
    expect(store.snapshotAt(store.oldestRevision()).revision).toBe(store.oldestRevision());
  });

  test('does not count parts of an object that a change keeps', () => {
    const { store } = newStore({ historyBytes: 2_000_000 });
    let live = replaceText(store, create(store, 'a'));
    const { data } = live as unknown as { data: object };
    for (let count = 0; count < 1_000; count++) {
      const makeObject = (revision: string) => object('a', Number(revision), { data });
      live = store.commit({ type: 'update', key: keyOf('a'), expected: live, makeObject });
    }
    expect(store.changesOf(keyOf('a')).length).toBe(1_002);
  });
});

describe('a store snapshot', () => {
  test('restores objects and revision of a snapshot, and the next write takes the following revision', () => {
    const { store } = newStore();
    const first = create(store, 'a');
    const snapshot = store.snapshot();
    update(store, first);
    create(store, 'b');
    store.restore(snapshot);
    expect(store.revision).toBe(1);
    expect(store.get(keyOf('a'))).toBe(first);
    expect(names(store)).toEqual(['a']);
    expect(create(store, 'c').metadata.resourceVersion).toBe('2');
  });

  test('restores a snapshot more than once', () => {
    const { store } = newStore();
    create(store, 'a');
    const snapshot = store.snapshot();
    for (const name of ['b', 'c']) {
      create(store, name);
      store.restore(snapshot);
    }
    expect(names(store)).toEqual(['a']);
  });

  test('removes resources on restore that were first written after the snapshot', () => {
    const { store } = newStore();
    const snapshot = store.snapshot();
    create(store, 'a');
    store.restore(snapshot);
    expect(names(store)).toEqual([]);
    expect(store.revision).toBe(0);
  });

  test('restores only the history of the time of a snapshot', () => {
    const { store } = newStore();
    create(store, 'a');
    create(store, 'b');
    const snapshot = store.snapshot();
    create(store, 'c');
    store.restore(snapshot);
    create(store, 'd');
    expect(names(store, 1)).toEqual(['a']);
    expect(names(store, 3)).toEqual(['a', 'b', 'd']);
  });

  test('ends open watches when a snapshot is restored', () => {
    const { store } = newStore();
    const snapshot = store.snapshot();
    const cursor = store.watch({ storageKey: 'things', after: 0 });
    store.restore(snapshot);
    expect(() => cursor.poll()).toThrow(CompactedError);
    create(store, 'a');
    expect(() => cursor.poll()).toThrow(CompactedError);
  });
});

describe('a store fork', () => {
  test('creates a fork that starts from the same state and is independent', () => {
    const { store, clock } = newStore();
    create(store, 'a');
    const fork = new Store({ clock, ...memoryStorage() }, store.snapshot());
    create(store, 'b');
    create(fork, 'c');
    create(fork, 'd');
    expect([names(store), store.revision]).toEqual([['a', 'b'], 2]);
    expect([names(fork), fork.revision]).toEqual([['a', 'c', 'd'], 3]);
  });

  test('copies the history of the origin into a fork, which may keep less of it', () => {
    const { store, clock } = newStore();
    for (const name of ['a', 'b', 'c']) create(store, name);
    const fork = new Store({ clock, ...memoryStorage({ history: 1 }) }, store.snapshot());
    expect(names(fork, 2)).toEqual(['a', 'b']);
    expect(() => names(fork, 1)).toThrow(CompactedError);
    expect(names(store, 1)).toEqual(['a']);
  });

  test('does not send events of the origin to a fork, nor events of the fork to its origin', () => {
    const { store, clock } = newStore();
    create(store, 'a');
    const cursor = store.watch({ storageKey: 'things', after: 1 });
    const fork = new Store({ clock, ...memoryStorage() }, store.snapshot());
    const forked = fork.watch({ storageKey: 'things', after: 1 });
    create(fork, 'b');
    expect(cursor.poll()).toBeUndefined();
    create(store, 'c');
    expect(forked.poll()?.object.metadata.name).toBe('b');
    expect(forked.poll()).toBeUndefined();
    expect(cursor.poll()?.object.metadata.name).toBe('c');
  });
});
