/** The feed of a store in etcd, with a client that is not connected. */
import { expect, test } from 'vitest';
import type { WatchHandlers } from '../../../src/etcd/client.js';
import { EtcdError } from '../../../src/etcd/etcd-error.js';
import { EtcdFeed, type FeedTarget } from '../../../src/etcd/feed.js';
import type { WatchResponse } from '../../../src/etcd/messages.js';
import { errors } from '../../../src/meta/errors.js';

interface Failures {
  /** The errors of the first requests for keys, and of the first calls of `onLoaded`. */
  readonly range?: Error[];
  readonly onLoaded?: Error[];
}

/** A feed of a range without keys at revision 4. */
function createFeed({ range = [], onLoaded = [] }: Failures = {}) {
  const watches: { readonly startRevision: number; readonly handlers: WatchHandlers; isClosed: boolean }[] = [];
  const header = { revision: 4 };
  const client = {
    version: () => Promise.resolve('3.6.0'),
    range: () => failOr(range, { header, kvs: [], more: false, count: 0 }),
    txn: () => Promise.reject(new Error('not used')),
    watch({ startRevision }: { readonly startRevision: number }, handlers: WatchHandlers) {
      const watch = { startRevision, handlers, isClosed: false };
      watches.push(watch);
      const close = (): void => {
        watch.isClosed = true;
      };
      return { requestProgress: () => undefined, close, abandon: close };
    },
  };
  let revision = 0;
  const seen: string[] = [];
  const target: FeedTarget = {
    get revision() {
      return revision;
    },
    replace: (_, loaded) => {
      revision = loaded;
    },
    put: ({ key }) => void seen.push(`put ${new TextDecoder().decode(key)}`),
    delete: ({ key }) => void seen.push(`delete ${new TextDecoder().decode(key)}`),
    advance: (reached) => {
      revision = reached;
    },
    onLoaded: () => failOr(onLoaded, undefined),
  };
  const bytes = new Uint8Array();
  const feed = new EtcdFeed(client, { key: bytes, rangeEnd: bytes, barrierKey: bytes }, target);
  feed.start();
  return { feed, watches, seen, header, target };
}

function failOr<Result>(failures: Error[], result: Result): Promise<Result> {
  const failure = failures.shift();
  return failure === undefined ? Promise.resolve(result) : Promise.reject(failure);
}

/** A feed that has loaded. */
async function startedFeed() {
  const created = createFeed();
  await created.feed.whenReady();
  return created;
}

const RESPONSE: WatchResponse = {
  ...{ header: { revision: 5 }, events: [], compactRevision: 0, cancelReason: '' },
  ...{ canceled: false, created: false, fragment: false },
};

test('watches again when the member that sends the events has stopped', async () => {
  const { feed, watches } = await startedFeed();
  await expect(feed.whenReached(5, 20)).rejects.toMatchObject({ code: 504 });
  expect(watches).toMatchObject([
    { startRevision: 5, isClosed: true },
    { startRevision: 5, isClosed: false },
  ]);
  const reached = feed.whenReached(5, 5_000);
  watches[1]?.handlers.onResponse(RESPONSE);
  await reached;
  feed.close();
});

test('ends what waits for a revision when it closes', async () => {
  const { feed } = await startedFeed();
  const reached = feed.whenReached(5, 60_000);
  feed.close();
  await expect(reached).rejects.toMatchObject({ code: 504 });
  await expect(feed.whenReached(6, 60_000)).rejects.toMatchObject({ code: 504 });
});

test('passes on the parts of a response together, and not if the watch ends before the last one', async () => {
  const { feed, watches, seen } = await startedFeed();
  const kv = (key: string, modRevision: number) => {
    const bytes = new TextEncoder().encode(key);
    return { key: bytes, value: bytes, createRevision: 5, modRevision, version: 1, lease: 0 };
  };
  const first = { ...RESPONSE, fragment: true, events: [{ type: 0, kv: kv('a', 5) } as const] };
  watches[0]?.handlers.onResponse(first);
  expect(seen).toEqual([]);
  watches[0]?.handlers.onEnd(new Error('lost'));
  await expect.poll(() => watches.length).toBe(2);
  expect(watches[1]?.startRevision).toBe(5);
  watches[1]?.handlers.onResponse(first);
  watches[1]?.handlers.onResponse({ ...RESPONSE, events: [{ type: 1, kv: kv('b', 5) }] });
  expect(seen).toEqual(['put a', 'delete b']);
  await feed.whenReached(5, 1_000);
  feed.close();
});

test('loads again when an event cannot be processed', async () => {
  const { feed, watches, seen } = await startedFeed();
  const key = new TextEncoder().encode('a');
  const whole = { key, value: key, createRevision: 5, modRevision: 5, version: 1, lease: 0 };
  // Without a key, as etcd never sends it.
  const events = [{ type: 0, kv: whole }, { type: 0 }] as WatchResponse['events'];
  let failure: Error | undefined;
  try {
    watches[0]?.handlers.onResponse({ ...RESPONSE, events });
  } catch (error) {
    failure = error as Error;
  }
  expect(failure).toBeInstanceOf(TypeError);
  watches[0]?.handlers.onEnd(failure as Error);
  await expect(feed.whenReady()).rejects.toBe(failure);
  await expect.poll(() => feed.whenReady(), { timeout: 5_000 }).toBeUndefined();
  expect(seen).toEqual(['put a']);
  // Revision 4 was loaded again.
  expect(watches).toMatchObject([{ startRevision: 5 }, { startRevision: 5 }]);
  feed.close();
});

test('loads again when etcd was restored from a backup', async () => {
  const { feed, watches, header, target } = await startedFeed();
  header.revision = 3;
  await feed.catchUp();
  expect(target.revision).toBe(3);
  expect(watches).toMatchObject([
    { startRevision: 5, isClosed: true },
    { startRevision: 4, isClosed: false },
  ]);
  feed.close();
});

test('has one watch when etcd is restored while the connection is lost', async () => {
  const { feed, watches, header } = await startedFeed();
  watches[0]?.handlers.onEnd(new EtcdError('connection lost'));
  header.revision = 3;
  await feed.catchUp();
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(watches.filter(({ isClosed }) => !isClosed)).toMatchObject([{ startRevision: 4 }]);
  feed.close();
});

test('notices without a request that etcd was restored, also if it does not answer at first', async () => {
  const failures: Error[] = [];
  const { feed, watches, header, target } = createFeed({ range: failures });
  await feed.whenReady();
  header.revision = 3;
  failures.push(new EtcdError('etcdserver: no leader', { isUnavailable: true }));
  watches[0]?.handlers.onEnd(new EtcdError('connection lost'));
  for (const number of [1, 2]) {
    await expect.poll(() => watches.length, { timeout: 5_000 }).toBe(number + 1);
    watches[number]?.handlers.onResponse({ ...RESPONSE, header, created: true });
  }
  await expect.poll(() => target.revision, { timeout: 5_000 }).toBe(3);
  expect(watches.filter(({ isClosed }) => !isClosed)).toMatchObject([{ startRevision: 4 }]);
  feed.close();
});

test('loads again after a failure that requests have reported', async () => {
  const failure = new EtcdError('rpc error: code = ResourceExhausted desc = too large');
  const { feed, watches } = createFeed({ range: [failure, failure] });
  const caughtUp = feed.catchUp();
  await expect(feed.whenReady()).rejects.toBe(failure);
  await expect(caughtUp).rejects.toBe(failure);
  // Before the next attempt, too.
  await expect(feed.whenReady()).rejects.toBe(failure);
  await expect.poll(() => feed.whenReady(), { timeout: 5_000 }).toBeUndefined();
  await feed.catchUp();
  expect(watches).toHaveLength(1);
  feed.close();
});

test('waits for an etcd that is not available when it starts', async () => {
  const failure = new EtcdError('no connection', { isUnavailable: true });
  const { feed } = createFeed({ range: [failure] });
  await feed.whenReady();
  feed.close();
});

test('completes what was loaded again after a failure, without loading it again', async () => {
  const failure = errors.timeout('etcdserver: request timed out');
  const { feed, watches } = createFeed({ onLoaded: [failure, failure] });
  await expect(feed.whenReady()).rejects.toBe(failure);
  await expect.poll(() => feed.whenReady(), { timeout: 5_000 }).toBeUndefined();
  expect(watches).toHaveLength(1);
  feed.close();
});

test('ends its attempts when it closes', async () => {
  const failure = new EtcdError('permission denied');
  const remaining = [failure, failure];
  const { feed } = createFeed({ range: remaining });
  await expect(feed.whenReady()).rejects.toBe(failure);
  feed.close();
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(remaining).toHaveLength(1);
});
