/** Middlewares: the one seam around every request. */
import type { ApiRequest, Middleware } from 'orchplane';
import { errors } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { door, failureOf, Reader, stateOf } from './reading.js';

/** Notes when a request passes, on the way in and on the way out. */
function notes(name: string, noted: string[]): Middleware {
  return async (_request, next) => {
    noted.push(`${name} in`);
    const response = await next();
    noted.push(`${name} out`);
    return response;
  };
}

describe('a middleware', () => {
  test('sees the requests of every client of the cluster', async () => {
    const cluster = testCluster();
    const seen: string[] = [];
    cluster.use((request, next) => {
      seen.push(`${request.verb} ${request.resource.resource} ${request.name ?? ''}`.trim());
      return next();
    });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.with({ dryRun: true }).api(ConfigMap).delete('a');
    await cluster.all(ConfigMap).list();
    expect(seen).toEqual(['create configmaps', 'delete configmaps a', 'list configmaps']);
  });

  test('that came later is further out', async () => {
    const cluster = testCluster();
    const noted: string[] = [];
    cluster.use(notes('first', noted));
    cluster.use(notes('second', noted));
    await cluster.api(ConfigMap).list();
    expect(noted).toEqual(['second in', 'first in', 'first out', 'second out']);
  });

  test('may answer by itself, and nothing behind it is asked', async () => {
    const cluster = testCluster();
    const noted: string[] = [];
    cluster.use(notes('inner', noted));
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'made up' } };
    cluster.use(() => ({ type: 'object', code: 200, object: object as never, warnings: [] }));
    expect(await cluster.api(ConfigMap).get('a')).toBe(object);
    expect(noted).toEqual([]);
  });

  test('may change the request for those behind it', async () => {
    const cluster = testCluster();
    cluster.use((request, next) => next({ ...request, options: { ...request.options, dryRun: ['All'] } }));
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
  });

  test('may ask more than once', async () => {
    const cluster = testCluster();
    let failures = 1;
    cluster.use((_request, next) => {
      if (failures-- > 0) throw errors.serviceUnavailable('not now');
      return next();
    });
    cluster.use((_request, next) => {
      try {
        return next();
      } catch {
        return next();
      }
    });
    expect((await cluster.api(ConfigMap).list()).items).toEqual([]);
  });

  test('may fail the request, with a Status or with anything else', async () => {
    const cluster = testCluster();
    const refusal = errors.tooManyRequests('slow down', 3);
    const boom = new Error('boom');
    let failure: unknown = refusal;
    cluster.use(() => {
      throw failure;
    });
    expect(await failureOf(cluster.api(ConfigMap).list())).toBe(refusal);
    failure = boom;
    expect(await failureOf(cluster.api(ConfigMap).list())).toBe(boom);
  });

  test('sees the failures of those behind it', async () => {
    const cluster = testCluster();
    const seen: unknown[] = [];
    cluster.use(async (_request, next) => {
      try {
        return await next();
      } catch (error) {
        seen.push(error);
        throw error;
      }
    });
    const error = await failureOf(cluster.api(ConfigMap).get('a'));
    expect(error).toMatchObject({ reason: 'NotFound' });
    expect(seen).toEqual([error]);
  });

  test('may make the client wait', async () => {
    const cluster = testCluster();
    const { opened, open } = door();
    cluster.use(async (_request, next) => {
      await opened;
      return next();
    });
    const created = cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await stateOf(created)).toBe('waiting');
    open();
    expect((await created).metadata.name).toBe('a');
  });

  test('that waits does not let the caller change what was sent', async () => {
    const cluster = testCluster();
    const { opened, open } = door();
    cluster.use(async (_request, next) => {
      await opened;
      return next();
    });
    const input = { metadata: { name: 'a' }, data: { k: 'sent' } };
    const created = cluster.api(ConfigMap).create(input);
    input.data.k = 'changed';
    open();
    expect((await created).data).toEqual({ k: 'sent' });
  });

  test('that passes everything on changes no answer, not even that to nonsense', async () => {
    const nonsense = { metadata: { name: 'a' }, data: { k: Number.NaN } } as never;
    const without = await failureOf(testCluster().api(ConfigMap).create(nonsense));
    const cluster = testCluster();
    cluster.use((_request, next) => next());
    expect(await failureOf(cluster.api(ConfigMap).create(nonsense))).toEqual(without);
  });

  test('lets a watch through that is live at once', async () => {
    const cluster = testCluster();
    cluster.use((_request, next) => next());
    const reader = new Reader(cluster.api(ConfigMap).watch({ resourceVersion: cluster.resourceVersion }));
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await reader.readAll()).toEqual(['ADDED a']);
  });

  test('is no part of a fork, nor of its parent when it was added to the fork', async () => {
    const cluster = testCluster();
    const noted: string[] = [];
    cluster.use(notes('parent', noted));
    const fork = cluster.fork();
    fork.use(notes('fork', noted));
    await fork.api(ConfigMap).list();
    expect(noted).toEqual(['fork in', 'fork out']);
  });
});

describe('taking a middleware away', () => {
  test('ends it with the next request', async () => {
    const cluster = testCluster();
    const noted: string[] = [];
    const added = cluster.use(notes('gone', noted));
    cluster.use(notes('stays', noted));
    added[Symbol.dispose]();
    await cluster.api(ConfigMap).list();
    expect(noted).toEqual(['stays in', 'stays out']);
  });

  test('twice does nothing more than once', async () => {
    const cluster = testCluster();
    const noted: string[] = [];
    const same = notes('same', noted);
    const first = cluster.use(same);
    cluster.use(same);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await cluster.api(ConfigMap).list();
    expect(noted).toEqual(['same in', 'same out']);
  });

  test('does not touch a request on its way', async () => {
    const cluster = testCluster();
    const noted: string[] = [];
    const inner = cluster.use(notes('inner', noted));
    cluster.use((_request, next) => {
      inner[Symbol.dispose]();
      return next();
    });
    await cluster.api(ConfigMap).list();
    expect(noted).toEqual(['inner in', 'inner out']);
    await cluster.api(ConfigMap).list();
    expect(noted).toHaveLength(2);
  });

  test('leaves requests as fast as before: they are answered at once', () => {
    const cluster = testCluster();
    cluster.use(async (_request, next) => next())[Symbol.dispose]();
    const request: ApiRequest = {
      verb: 'list',
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      namespace: 'default',
      options: {},
    };
    expect(cluster.send(request)).toMatchObject({ type: 'object', code: 200 });
  });
});
