/** Middleware: functions around every request. */
import type { ApiRequest, Middleware } from 'orchplane';
import { errors } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, latch, Reader, stateOf } from './watch-reader.js';

/** Records when a request passes, before and after the inner handlers. */
function recordPassing(name: string, passed: string[]): Middleware {
  return async (_request, next) => {
    passed.push(`${name} in`);
    const response = await next();
    passed.push(`${name} out`);
    return response;
  };
}

describe('a middleware', () => {
  test('is a function; other values are rejected', () => {
    for (const value of [undefined, {}, 'log']) {
      expect(() => testCluster().use(value as never)).toThrow(new TypeError('orchplane: use takes a function'));
    }
  });

  test('passes the requests of every client of the cluster to a middleware', async () => {
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

  test('runs a middleware that is added later outside of earlier ones', async () => {
    const cluster = testCluster();
    const passed: string[] = [];
    cluster.use(recordPassing('first', passed));
    cluster.use(recordPassing('second', passed));
    await cluster.api(ConfigMap).list();
    expect(passed).toEqual(['second in', 'first in', 'first out', 'second out']);
  });

  test('allows a middleware to respond without calling the inner handlers', async () => {
    const cluster = testCluster();
    const passed: string[] = [];
    cluster.use(recordPassing('inner', passed));
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'made up' } };
    cluster.use(() => ({ type: 'object', code: 200, object: object as never, warnings: [] }));
    expect(await cluster.api(ConfigMap).get('a')).toBe(object);
    expect(passed).toEqual([]);
  });

  test('allows a middleware to change the request for the inner handlers', async () => {
    const cluster = testCluster();
    cluster.use((request, next) => next({ ...request, options: { ...request.options, dryRun: ['All'] } }));
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
  });

  test('allows a middleware to call next more than once', async () => {
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

  test('allows a middleware to fail the request with a Status or any other error', async () => {
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

  test('passes the errors of the inner handlers to a middleware', async () => {
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

  test('allows a middleware to delay the request', async () => {
    const cluster = testCluster();
    const { opened, open } = latch();
    cluster.use(async (_request, next) => {
      await opened;
      return next();
    });
    const created = cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await stateOf(created)).toBe('waiting');
    open();
    expect((await created).metadata.name).toBe('a');
  });

  test('ignores changes of the caller to a request while a middleware waits', async () => {
    const cluster = testCluster();
    const { opened, open } = latch();
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

  test('returns the same response or error through a middleware that only calls next', async () => {
    const nonsense = { metadata: { name: 'a' }, data: { k: Number.NaN } } as never;
    const without = await failureOf(testCluster().api(ConfigMap).create(nonsense));
    const cluster = testCluster();
    cluster.use((_request, next) => next());
    expect(await failureOf(cluster.api(ConfigMap).create(nonsense))).toEqual(without);
  });

  test('returns a watch through a middleware that is live at once', async () => {
    const cluster = testCluster();
    cluster.use((_request, next) => next());
    const reader = new Reader(cluster.api(ConfigMap).watch({ resourceVersion: cluster.resourceVersion }));
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await reader.readAll()).toEqual(['ADDED a']);
  });

  test('keeps the middleware of a fork and its parent separate', async () => {
    const cluster = testCluster();
    const passed: string[] = [];
    cluster.use(recordPassing('parent', passed));
    const fork = cluster.fork();
    fork.use(recordPassing('fork', passed));
    await fork.api(ConfigMap).list();
    expect(passed).toEqual(['fork in', 'fork out']);
  });
});

describe('removing a middleware', () => {
  test('stops calling a removed middleware with the next request', async () => {
    const cluster = testCluster();
    const passed: string[] = [];
    const added = cluster.use(recordPassing('gone', passed));
    cluster.use(recordPassing('stays', passed));
    added[Symbol.dispose]();
    await cluster.api(ConfigMap).list();
    expect(passed).toEqual(['stays in', 'stays out']);
  });

  test('ignores a second removal of a middleware', async () => {
    const cluster = testCluster();
    const passed: string[] = [];
    const same = recordPassing('same', passed);
    const first = cluster.use(same);
    cluster.use(same);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await cluster.api(ConfigMap).list();
    expect(passed).toEqual(['same in', 'same out']);
  });

  test('does not affect a request in progress when a middleware is removed', async () => {
    const cluster = testCluster();
    const passed: string[] = [];
    const inner = cluster.use(recordPassing('inner', passed));
    cluster.use((_request, next) => {
      inner[Symbol.dispose]();
      return next();
    });
    await cluster.api(ConfigMap).list();
    expect(passed).toEqual(['inner in', 'inner out']);
    await cluster.api(ConfigMap).list();
    expect(passed).toHaveLength(2);
  });

  test('handles requests synchronously again after a middleware is removed', () => {
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
