/** Watches on the cluster's clock: bookmarks, timeouts, future and compacted revisions. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ApiRequest } from 'orchplane';
import { createCluster, memoryStorage, mergePatch, StatusError } from 'orchplane';
import { ConfigMap, Secret } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test, vi } from 'vitest';
import { failureOf, Reader, turns } from './watch-reader.js';

const MINUTE = 60_000;

/** Advances the resourceVersion without an event for watchers of ConfigMaps. */
async function writeElsewhere(cluster: TestCluster, name: string): Promise<void> {
  await cluster.api(Secret).create({ metadata: { name } });
}

function follow(cluster: TestCluster, options: { timeoutSeconds?: number } = {}) {
  const { resourceVersion } = cluster;
  const watch = cluster.api(ConfigMap).watch({ resourceVersion, allowWatchBookmarks: true, ...options });
  return new Reader(watch);
}

describe('bookmarks', () => {
  test('sends a bookmark every minute if there were writes', async () => {
    const cluster = testCluster();
    const reader = follow(cluster);
    await reader.read();
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(MINUTE - 1);
    expect(await reader.read()).toBe('waiting');
    await cluster.clock.advance(1);
    expect(await reader.readAll()).toEqual(['BOOKMARK 5']);
    await writeElsewhere(cluster, 'b');
    await cluster.clock.advance(MINUTE);
    expect(await reader.readAll()).toEqual(['BOOKMARK 6']);
  });

  test('sends only the kind and the resourceVersion in a bookmark', async () => {
    const cluster = testCluster();
    const reader = follow(cluster);
    await reader.read();
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(MINUTE);
    expect(await reader.read()).toEqual({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '5' } },
    });
  });

  test('sends no bookmark if there were no writes since the last one', async () => {
    const cluster = testCluster();
    const reader = follow(cluster);
    await reader.read();
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(MINUTE);
    await reader.readAll();
    await cluster.clock.advance(5 * MINUTE);
    expect(await reader.read()).toBe('waiting');
  });

  test('needs no timer for bookmarks while there are no writes, and keeps them on the minute', async () => {
    const cluster = testCluster();
    const reader = follow(cluster);
    await reader.read();
    await writeElsewhere(cluster, 'a');
    const { pending } = cluster.clock;
    await cluster.clock.advance(2 * MINUTE);
    expect(await reader.readAll()).toEqual(['BOOKMARK 5']);
    expect(cluster.clock.pending).toBe(pending - 1);
    await cluster.clock.advance(10 * MINUTE + 1_000);
    await writeElsewhere(cluster, 'b');
    expect(cluster.clock.pending).toBe(pending);
    await cluster.clock.advance(MINUTE - 1_001);
    expect(await reader.read()).toBe('waiting');
    await cluster.clock.advance(1);
    expect(await reader.readAll()).toEqual(['BOOKMARK 6']);
  });

  test('sends bookmarks to a watch that starts while there is no timer', async () => {
    const cluster = testCluster();
    const first = follow(cluster);
    await first.read();
    const { resourceVersion } = cluster;
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(5 * MINUTE);
    const watch = cluster.api(ConfigMap).watch({ resourceVersion, allowWatchBookmarks: true });
    const late = new Reader(watch);
    await late.read();
    await cluster.clock.advance(MINUTE);
    expect(await late.readAll()).toEqual(['BOOKMARK 5']);
  });

  test('sends no bookmarks to watches that did not request them', async () => {
    const cluster = testCluster();
    const reader = new Reader(cluster.api(ConfigMap).watch({ resourceVersion: cluster.resourceVersion }));
    await reader.read();
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(5 * MINUTE);
    expect(await reader.read()).toBe('waiting');
  });

  test('sends no bookmark before events that have not been read', async () => {
    const cluster = testCluster();
    const reader = follow(cluster);
    await cluster.api(ConfigMap).create({ metadata: { name: 'unread' } });
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(MINUTE);
    expect(await reader.readAll()).toEqual(['ADDED unread']);
    await cluster.clock.advance(MINUTE);
    expect(await reader.readAll()).toEqual(['BOOKMARK 6']);
  });

  test('sends one more bookmark two seconds before the stream ends', async () => {
    const cluster = testCluster();
    const reader = follow(cluster, { timeoutSeconds: 10 });
    await reader.read();
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(7_999);
    expect(await reader.read()).toBe('waiting');
    await cluster.clock.advance(1);
    expect(await reader.readAll()).toEqual(['BOOKMARK 5']);
    await cluster.clock.advance(2_000);
    expect(await reader.read()).toBe('end');
  });

  test('sends no bookmark at the end of a stream that is too short', async () => {
    const cluster = testCluster();
    const reader = follow(cluster, { timeoutSeconds: 2 });
    await reader.read();
    await writeElsewhere(cluster, 'a');
    await cluster.clock.advance(2_000);
    expect(await reader.readAll()).toEqual(['end']);
  });

  test('sends later events after a bookmark, although events of other namespaces were dropped', async () => {
    const cluster = testCluster({ storage: memoryStorage({ history: 2 }) });
    const reader = follow(cluster);
    await reader.read();
    for (const name of ['a', 'b', 'c', 'd']) await cluster.api(ConfigMap, 'kube-system').create({ metadata: { name } });
    await cluster.clock.advance(MINUTE);
    expect(await reader.readAll()).toEqual(['BOOKMARK 8']);
    await cluster.api(ConfigMap).create({ metadata: { name: 'mine' } });
    expect(await reader.readAll()).toEqual(['ADDED mine']);
  });
});

describe('the end of a watch', () => {
  test('ends a watch without an error after timeoutSeconds', async () => {
    const cluster = testCluster();
    const reader = new Reader(cluster.api(ConfigMap).watch({ timeoutSeconds: 30 }));
    await cluster.clock.advance(29_999);
    expect(await reader.read()).toBe('waiting');
    await cluster.clock.advance(1);
    expect(await reader.read()).toBe('end');
  });

  test('ends a watch without timeoutSeconds after 30 to 60 minutes', async () => {
    const cluster = testCluster();
    const reader = new Reader(cluster.api(ConfigMap).watch());
    // The ids of a test cluster return 0.5 for every random number.
    await cluster.clock.advance(45 * MINUTE - 1);
    expect(await reader.read()).toBe('waiting');
    await cluster.clock.advance(1);
    expect(await reader.read()).toBe('end');
  });

  test('does not end a watch early if timeoutSeconds exceeds the maximum of a platform timer', async () => {
    vi.useFakeTimers();
    try {
      const cluster = createCluster();
      const reader = new Reader(cluster.api(ConfigMap).watch({ timeoutSeconds: 3_000_000 }));
      vi.advanceTimersByTime(MINUTE);
      expect(await reader.read()).toBe('waiting');
      await cluster.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('leaves no timer after a watch is closed', async () => {
    const cluster = testCluster();
    const reader = follow(cluster, { timeoutSeconds: 30 });
    expect(cluster.clock.pending).toBeGreaterThan(0);
    reader.watch.close();
    expect(cluster.clock.pending).toBe(0);
    expect(await reader.read()).toBe('end');
  });

  test('leaves no timer after a watch is aborted, which is not an error', async () => {
    const cluster = testCluster();
    const stop = new AbortController();
    const reader = new Reader(cluster.api(ConfigMap).watch({ signal: stop.signal }));
    await reader.read();
    stop.abort(new Error('enough'));
    expect(await reader.read()).toBe('end');
    expect(cluster.clock.pending).toBe(0);
  });

  test('leaves no timer after a watch times out', async () => {
    const cluster = testCluster();
    const reader = follow(cluster, { timeoutSeconds: 300 });
    await reader.read();
    await cluster.clock.advance(5 * MINUTE);
    expect(await reader.read()).toBe('end');
    expect(cluster.clock.pending).toBe(0);
  });

  test('leaves no timer after a watch fails', async () => {
    const cluster = testCluster();
    const before = cluster.snapshot();
    const reader = follow(cluster);
    cluster.restore(before);
    expect(await failureOf(reader.read())).toMatchObject({ reason: 'Expired' });
    expect(cluster.clock.pending).toBe(0);
  });
});

describe('a watch from a resourceVersion', () => {
  test('sends no events from a future resourceVersion until it is reached', async () => {
    const cluster = testCluster();
    const configMaps = cluster.api(ConfigMap);
    const reader = new Reader(configMaps.watch({ resourceVersion: '6' }));
    for (const name of ['five', 'six', 'seven']) await configMaps.create({ metadata: { name } });
    expect(await reader.readAll()).toEqual(['ADDED seven']);
  });

  test('drops initial events that were not read when the history after them is compacted', async () => {
    await using cluster = createCluster({ storage: memoryStorage({ historyBytes: 100_000 }) });
    const api = cluster.api(ConfigMap);
    const names = ['a', 'b', 'c'];
    for (const name of names) await api.create({ metadata: { name }, data: { text: 'x'.repeat(50_000) } });
    const reader = new Reader(api.watch({ resourceVersion: '0' }));
    expect(await reader.read()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    for (const name of names) await api.patch(name, mergePatch({ data: { text: 'y'.repeat(50_000) } }));
    expect(await failureOf(reader.read())).toMatchObject({ reason: 'Expired' });
    expect(await reader.read()).toBe('end');
  });

  test('keeps no initial events that were read', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    await using cluster = createCluster({ storage: memoryStorage({ historyBytes: 0 }) });
    const api = cluster.api(ConfigMap);
    await api.create({ metadata: { name: 'a' } });
    const reader = new Reader(api.watch({ resourceVersion: '0' }));
    expect(await reader.readAll()).toEqual(['ADDED a']);
    const first = new WeakRef(await api.get('a'));
    await api.patch('a', mergePatch({ data: { text: 'new' } }));
    expect(await reader.readAll()).toEqual(['MODIFIED a']);
    await new Promise((resolve) => setTimeout(resolve));
    collectGarbage();
    expect(first.deref()).toBeUndefined();
    reader.watch.close();
  });

  test('fails a watch from a compacted resourceVersion with Expired and names the oldest one', async () => {
    const cluster = testCluster({ storage: memoryStorage({ history: 2 }) });
    const configMaps = cluster.api(ConfigMap);
    for (const name of ['five', 'six', 'seven', 'eight']) await configMaps.create({ metadata: { name } });
    const error = await failureOf(configMaps.watch({ resourceVersion: '5' }).next());
    expect(error).toMatchObject({ reason: 'Expired', code: 410, message: 'too old resource version: 5 (7)' });
    expect(await new Reader(configMaps.watch({ resourceVersion: '6' })).readAll()).toEqual([
      'ADDED seven',
      'ADDED eight',
    ]);
  });

  test('fails a watch from an invalid resourceVersion with a plain 500', async () => {
    const error = await failureOf(testCluster().api(ConfigMap).watch({ resourceVersion: 'abc' }).next());
    expect(error).toMatchObject({
      code: 500,
      reason: undefined,
      message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    });
  });

  test('ends a watch with one Expired error if history is dropped past its reader', async () => {
    const cluster = testCluster({ storage: memoryStorage({ history: 2 }) });
    const configMaps = cluster.api(ConfigMap);
    const watch = configMaps.watch({ resourceVersion: cluster.resourceVersion });
    for (const name of ['a', 'b', 'c']) await configMaps.create({ metadata: { name } });
    expect(await failureOf(watch.next())).toMatchObject({
      reason: 'Expired',
      message: 'The resourceVersion for the provided watch is too old.',
    });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });
});

describe('a watch with initial events', () => {
  const stateFrom = (resourceVersion: string) =>
    ({ resourceVersion, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }) as const;

  test('marks the end of initial events with a bookmark if bookmarks are requested', async () => {
    const cluster = testCluster({ featureGates: { WatchList: true } });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const reader = new Reader(cluster.api(ConfigMap).watch({ ...stateFrom(''), allowWatchBookmarks: true }));
    expect(await reader.read()).toMatchObject({ type: 'ADDED' });
    const mark = await reader.read();
    expect(mark).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: '5',
          annotations: {
            'orch.io/initial-events-end': 'true',
            'orch.io/initial-events-list-blueprint': btoa(
              '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":null}\n',
            ),
          },
        },
      },
    });
  });

  test('sends no end mark after initial events without bookmarks', async () => {
    const cluster = testCluster({ featureGates: { WatchList: true } });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await new Reader(cluster.api(ConfigMap).watch(stateFrom(''))).readAll()).toEqual(['ADDED a']);
  });

  test('waits for a future revision before it sends initial events', async () => {
    const cluster = testCluster({ featureGates: { WatchList: true } });
    const configMaps = cluster.api(ConfigMap);
    const reader = new Reader(configMaps.watch(stateFrom('6')));
    await configMaps.create({ metadata: { name: 'five' } });
    expect(await reader.read()).toBe('waiting');
    await configMaps.create({ metadata: { name: 'six' } });
    expect(await reader.readAll()).toEqual(['ADDED five', 'ADDED six']);
  });

  test('fails within the stream if the revision of initial events is not reached in three seconds', async () => {
    const cluster = testCluster({ featureGates: { WatchList: true } });
    const reader = new Reader(cluster.api(ConfigMap).watch(stateFrom('9')));
    const failure = failureOf(reader.watch.next());
    await cluster.clock.advance(3_000);
    expect(await failure).toMatchObject({
      code: 504,
      reason: 'Timeout',
      message: 'Timeout: Too large resource version: 9, current: 4',
    });
  });

  test('ends without an error if it is aborted while it waits for the revision of initial events', async () => {
    const cluster = testCluster({ featureGates: { WatchList: true } });
    const stop = new AbortController();
    const reader = new Reader(cluster.api(ConfigMap).watch({ ...stateFrom('9'), signal: stop.signal }));
    await reader.read();
    stop.abort();
    expect(await reader.read()).toBe('end');
    expect(cluster.clock.pending).toBe(0);
  });

  test('omits initial events if sendInitialEvents is false', async () => {
    const cluster = testCluster({ featureGates: { WatchList: true } });
    await cluster.api(ConfigMap).create({ metadata: { name: 'before' } });
    const reader = new Reader(
      cluster.api(ConfigMap).watch({ sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' }),
    );
    await cluster.api(ConfigMap).create({ metadata: { name: 'after' } });
    expect(await reader.readAll()).toEqual(['ADDED after']);
  });

  test('is rejected without the feature gate WatchList', async () => {
    const error = await failureOf(testCluster().api(ConfigMap).watch(stateFrom('')).next());
    expect(error).toMatchObject({
      code: 422,
      message:
        'ListOptions.meta.orch.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    });
  });

  test('has no bookmark at their end without the feature gate WatchList', async () => {
    const cluster = testCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const reader = new Reader(cluster.api(ConfigMap).watch({ allowWatchBookmarks: true }));
    expect(await reader.readAll()).toEqual(['ADDED a']);
  });
});

describe('a watch with selectors', () => {
  test('sends no events to a watch with selectors that no object can match', async () => {
    const cluster = testCluster();
    const watch = cluster.api(ConfigMap).watch({ fields: 'metadata.namespace=elsewhere', timeoutSeconds: 1 });
    const reader = new Reader(watch);
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await reader.read()).toBe('waiting');
    await cluster.clock.advance(1_000);
    expect(await reader.read()).toBe('end');
  });

  test('sends only the events of one object to a watch for its name', async () => {
    const cluster = testCluster();
    const configMaps = cluster.api(ConfigMap);
    const reader = new Reader(configMaps.watch({ fields: { 'metadata.name': 'b' } }));
    for (const name of ['a', 'b', 'c']) await configMaps.create({ metadata: { name } });
    await configMaps.patch('b', mergePatch({ data: { k: 'v' } }));
    await configMaps.delete('b');
    expect(await reader.readAll()).toEqual(['ADDED b', 'MODIFIED b', 'DELETED b']);
  });

  test('fails a watch with a selector for an unknown field with BadRequest', async () => {
    const error = await failureOf(testCluster().api(ConfigMap).watch({ fields: 'data.k=v' }).next());
    expect(error).toMatchObject({
      reason: 'BadRequest',
      message: '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
  });
});

describe('the watch stream of a transport', () => {
  const request: ApiRequest = {
    verb: 'watch',
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    namespace: 'default',
    options: {},
  };

  test('returns a live watch stream from send', async () => {
    const cluster = testCluster();
    const response = await cluster.send(request);
    if (response.type !== 'watch') throw new Error('no watch');
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await response.watch.next()).toMatchObject({ done: false, value: { type: 'ADDED' } });
  });

  test('answers calls of next in order', async () => {
    const cluster = testCluster();
    const response = await cluster.send(request);
    if (response.type !== 'watch') throw new Error('no watch');
    const [first, second] = [response.watch.next(), response.watch.next()];
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name } });
    expect(await first).toMatchObject({ value: { object: { metadata: { name: 'a' } } } });
    expect(await second).toMatchObject({ value: { object: { metadata: { name: 'b' } } } });
  });

  test('ends a watch stream with an ERROR event', async () => {
    const cluster = testCluster();
    const before = cluster.snapshot();
    const response = await cluster.send(request);
    if (response.type !== 'watch') throw new Error('no watch');
    const first = response.watch.next();
    cluster.restore(before);
    expect(await first).toMatchObject({ value: { type: 'ERROR', object: { kind: 'Status', reason: 'Expired' } } });
    expect(await response.watch.next()).toEqual({ done: true, value: undefined });
  });

  test('closes a watch stream when a loop over it is left', async () => {
    const cluster = testCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const response = await cluster.send(request);
    if (response.type !== 'watch') throw new Error('no watch');
    for await (const event of response.watch) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await turns();
    expect(cluster.clock.pending).toBe(0);
  });
});

test('rejects contradictory watch options with one Invalid error', async () => {
  const cluster = testCluster({ featureGates: { WatchList: true } });
  const watch = cluster.api(ConfigMap).watch({ resourceVersion: '1', sendInitialEvents: true });
  const error = await failureOf(watch.next());
  expect(StatusError.is(error, 'Invalid')).toBe(true);
  expect(error).toMatchObject({
    message:
      'ListOptions.meta.orch.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  });
});

test('limits the selectors of open watches together', async () => {
  const cluster = testCluster();
  const labelSelector = `k in (${Array.from({ length: 150_000 }, (_, index) => `v${index}`).join()})`;
  const stop = new AbortController();
  const open = async (selector: string, signal?: AbortSignal) =>
    cluster.send({
      verb: 'watch',
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      namespace: 'default',
      options: { labelSelector: selector },
      ...(signal === undefined ? {} : { signal }),
    });
  for (let count = 0; count < 3; count++) await open(labelSelector, stop.signal);
  await expect(open(labelSelector)).rejects.toMatchObject({ code: 429 });
  await open('k=v', stop.signal);
  stop.abort();
  await turns(5);
  await open(labelSelector);
});
