/** Watch and makeInformer of client-node: events, their order, and streams that end or break. */
import {
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node';
import { ConfigMap } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Backup, openSite, type Site, ways } from './sites.js';

const PATH = '/api/v1/namespaces/default/configmaps';

/** A list that a test can wait on. */
class Journal<Entry> {
  readonly entries: Entry[] = [];
  #noticed: (() => void)[] = [];

  add(entry: Entry): void {
    this.entries.push(entry);
    for (const notice of this.#noticed.splice(0)) notice();
  }

  /** The first entries, as soon as there are that many. */
  async first(count: number): Promise<Entry[]> {
    while (this.entries.length < count) await new Promise<void>((resolve) => this.#noticed.push(resolve));
    return this.entries.slice(0, count);
  }
}

interface Seen {
  readonly type: string;
  readonly name: string | undefined;
  readonly version: string | undefined;
}

interface Watching {
  readonly seen: Journal<Seen>;
  /** The error with which the watch ended. */
  readonly done: Promise<unknown>;
  readonly stop: AbortController;
}

async function watch(site: Site, path: string, query: Record<string, string | boolean> = {}): Promise<Watching> {
  const seen = new Journal<Seen>();
  let finish: (reason: unknown) => void;
  const done = new Promise<unknown>((resolve) => {
    finish = resolve;
  });
  const stop = await new Watch(site.config).watch(
    path,
    query,
    (type, object: KubernetesObject) =>
      seen.add({ type, name: object.metadata?.name, version: object.metadata?.resourceVersion }),
    (error) => finish(error),
  );
  return { seen, done, stop };
}

const summaries = (list: readonly Seen[]): string[] => list.map(({ type, name }) => `${type} ${name ?? ''}`.trim());

describe.each(ways)('client-node watches (%s)', (way) => {
  let site: Site;
  let core: CoreV1Api;
  const create = (name: string, labels: Record<string, string> = {}): Promise<V1ConfigMap> =>
    core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name, labels } } });
  const remove = (name: string): Promise<unknown> => core.deleteNamespacedConfigMap({ namespace: 'default', name });

  beforeEach(async () => {
    site = await openSite(way);
    core = site.config.makeApiClient(CoreV1Api);
  });
  afterEach(() => site[Symbol.asyncDispose]());

  describe('Watch', () => {
    test('receives existing objects and changes in order, and ends when it is aborted', async () => {
      await create('before');
      const { seen, done, stop } = await watch(site, PATH);
      await create('web');
      await site.cluster.api(ConfigMap).edit('web', (draft) => {
        draft.data = { text: 'zwei\nZeilen \u2028 ü' };
      });
      await remove('web');
      const events = await seen.first(4);
      expect(summaries(events)).toEqual(['ADDED before', 'ADDED web', 'MODIFIED web', 'DELETED web']);
      const versions = events.map(({ version }) => Number(version));
      expect(versions).toEqual([...versions].sort((a, b) => a - b));
      stop.abort();
      expect(await done).toMatchObject({ name: 'AbortError' });
    });

    test('continues after a resourceVersion, with selectors', async () => {
      await create('old', { app: 'web' });
      const { metadata } = await core.listNamespacedConfigMap({ namespace: 'default' });
      await create('new', { app: 'web' });
      await create('other', { app: 'db' });
      const resourceVersion = metadata?.resourceVersion ?? '';
      const { seen, stop } = await watch(site, PATH, { resourceVersion, labelSelector: 'app=web' });
      await remove('new');
      expect(summaries(await seen.first(2))).toEqual(['ADDED new', 'DELETED new']);
      stop.abort();
    });

    test('receives bookmarks if it requests them', async () => {
      const { seen, stop } = await watch(site, PATH, { allowWatchBookmarks: true });
      const { metadata } = await create('a');
      await seen.first(1);
      await site.cluster.clock.advance(61_000);
      const events = await seen.first(2);
      expect(summaries(events)).toEqual(['ADDED a', 'BOOKMARK']);
      expect(events[1]?.version).toBe(metadata?.resourceVersion);
      stop.abort();
    });

    test('ends without an error after its timeout', async () => {
      const { seen, done } = await watch(site, PATH, { timeoutSeconds: '30' });
      await create('a');
      await seen.first(1);
      await site.cluster.clock.advance(30_000);
      expect(await done).toBeNull();
    });

    test('receives an error for an expired resourceVersion', async () => {
      const { metadata } = await create('a');
      await create('b');
      await site.cluster.clock.advance(6 * 60_000);
      await create('c');
      const { seen } = await watch(site, PATH, { resourceVersion: metadata?.resourceVersion ?? '' });
      expect((await seen.first(1))[0]?.type).toBe('ERROR');
    });

    test('fails with the status code of the rejection', async () => {
      const { done } = await watch(site, '/api/v1/nothing');
      expect(await done).toMatchObject({ message: 'Not Found', statusCode: 404 });
      const { done: invalid } = await watch(site, PATH, { labelSelector: 'a=(' });
      expect(await invalid).toMatchObject({ statusCode: 400 });
    });

    test('ends when the cluster closes', async () => {
      const { done } = await watch(site, PATH);
      await site.cluster.close();
      expect(await done).toBeNull();
    });

    test('receives events of user-defined kinds', async () => {
      site.cluster.install(Backup);
      const { seen, stop } = await watch(site, '/apis/example.com/v1/backups');
      await site.cluster.api(Backup).create({ metadata: { name: 'photos' }, spec: { source: '/p' } });
      expect(summaries(await seen.first(1))).toEqual(['ADDED photos']);
      stop.abort();
    });

    test('loses no events if the reader is slower than the writers', async () => {
      const { seen, stop } = await watch(site, PATH);
      const text = 'x'.repeat(100_000);
      for (let number = 0; number < 30; number++) {
        await site.cluster.api(ConfigMap).create({ metadata: { name: `c${number}` }, data: { text } });
      }
      const expected = Array.from({ length: 30 }, (_, number) => `ADDED c${number}`);
      expect(summaries(await seen.first(30))).toEqual(expected);
      stop.abort();
    });
  });

  describe('makeInformer', () => {
    let informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;
    let received: Journal<string>;
    let failed: Journal<unknown>;

    const make = (labelSelector?: string): void => {
      const list = (): ReturnType<CoreV1Api['listNamespacedConfigMap']> =>
        core.listNamespacedConfigMap({
          namespace: 'default',
          ...(labelSelector === undefined ? {} : { labelSelector }),
        });
      informer = makeInformer(site.config, PATH, list, labelSelector);
      // An informer may report that it was stopped after the next test has begun, so each has journals of its own.
      const events = new Journal<string>();
      const errors = new Journal<unknown>();
      for (const verb of ['add', 'update', 'delete'] as const) {
        informer.on(verb, ({ metadata }) => events.add(`${verb} ${metadata?.name}`));
      }
      informer.on('error', (error) => errors.add(error));
      received = events;
      failed = errors;
    };
    afterEach(() => informer.stop());

    test('keeps a copy of the collection', async () => {
      await create('a');
      make();
      await informer.start();
      await create('b');
      await site.cluster.api(ConfigMap).edit('a', (draft) => {
        draft.data = { size: 'm' };
      });
      await remove('b');
      expect(await received.first(4)).toEqual(['add a', 'add b', 'update a', 'delete b']);
      expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['a']);
      expect(informer.get('a', 'default')?.data).toEqual({ size: 'm' });
      expect(failed.entries).toEqual([]);
    });

    test('sees only objects that match its selector', async () => {
      make('app=web');
      await informer.start();
      await create('db', { app: 'db' });
      await create('web', { app: 'web' });
      const label = (app: string): Promise<unknown> =>
        site.cluster.api(ConfigMap).edit('web', (draft) => {
          draft.metadata.labels = { app };
        });
      await label('db');
      expect(await received.first(2)).toEqual(['add web', 'delete web']);
    });

    test('reconnects when the server ends a watch after its timeout', async () => {
      make();
      await informer.start();
      await create('a');
      await received.first(1);
      const connected = new Promise<void>((resolve) => informer.on('connect', () => resolve()));
      // The longest default duration of a watch.
      await site.cluster.clock.advance(60 * 60_000);
      await connected;
      await create('b');
      expect(await received.first(2)).toEqual(['add a', 'add b']);
      expect(failed.entries).toEqual([]);
    });

    test('reports a broken connection, and catches up after a restart', async () => {
      await create('a');
      make();
      await informer.start();
      await received.first(1);
      const broken = failed.first(1);
      site.cut();
      await broken;
      await remove('a');
      await create('b');
      await informer.start();
      expect((await received.first(3)).sort()).toEqual(['add a', 'add b', 'delete a']);
      expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['b']);
    });

    test('lists again if its resourceVersion is expired', async () => {
      await create('a');
      make();
      await informer.start();
      await received.first(1);
      await informer.stop();
      await remove('a');
      await site.cluster.clock.advance(6 * 60_000);
      await create('b');
      await informer.start();
      expect((await received.first(3)).sort()).toEqual(['add a', 'add b', 'delete a']);
      expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['b']);
    });

    test('supports user-defined kinds', async () => {
      site.cluster.install(Backup);
      const custom = site.config.makeApiClient(CustomObjectsApi);
      const plural = { group: 'example.com', version: 'v1', plural: 'backups' };
      const backups = makeInformer(site.config, '/apis/example.com/v1/backups', () =>
        custom.listClusterCustomObject(plural),
      );
      make();
      backups.on('add', ({ metadata }) => received.add(`add ${metadata?.name}`));
      await backups.start();
      await site.cluster.api(Backup).create({ metadata: { name: 'photos' }, spec: { source: '/p' } });
      expect(await received.first(1)).toEqual(['add photos']);
      await backups.stop();
    });
  });
});
