/** The feed of a store in etcd, with a client that is not connected. */
import { expect, test } from 'vitest';
import type { WatchHandlers } from '../../../src/etcd/client.js';
import { EtcdFeed, type FeedTarget } from '../../../src/etcd/feed.js';
import type { WatchResponse } from '../../../src/etcd/messages.js';

test('watches again when the member that sends the events has stopped', async () => {
  const watches: { readonly startRevision: number; readonly handlers: WatchHandlers; isClosed: boolean }[] = [];
  const header = { revision: 4 };
  const client = {
    version: () => Promise.resolve('3.6.0'),
    range: () => Promise.resolve({ header, kvs: [], more: false, count: 0 }),
    txn: () => Promise.reject(new Error('not used')),
    watch({ startRevision }: { readonly startRevision: number }, handlers: WatchHandlers) {
      const watch = { startRevision, handlers, isClosed: false };
      watches.push(watch);
      const close = (): void => {
        watch.isClosed = true;
      };
      return { requestProgress: () => undefined, close };
    },
  };
  let revision = 0;
  const target: FeedTarget = {
    get revision() {
      return revision;
    },
    replace: (_, loaded) => {
      revision = loaded;
    },
    put: () => undefined,
    delete: () => undefined,
    advance: (reached) => {
      revision = reached;
    },
    onLoaded: () => Promise.resolve(),
  };
  const bytes = new Uint8Array();
  const feed = new EtcdFeed(client, { key: bytes, rangeEnd: bytes, barrierKey: bytes }, target);
  feed.start();
  await feed.whenReady();
  await expect(feed.whenReached(5, 20)).rejects.toMatchObject({ code: 504 });
  expect(watches).toMatchObject([
    { startRevision: 5, isClosed: true },
    { startRevision: 5, isClosed: false },
  ]);
  const reached = feed.whenReached(5, 5_000);
  const progress: WatchResponse = {
    ...{ header: { revision: 5 }, events: [], compactRevision: 0, cancelReason: '' },
    ...{ canceled: false, created: false, fragment: false },
  };
  watches[1]?.handlers.onResponse(progress);
  await reached;
  feed.close();
});
