/** Observable behaviour that optimizations of requests, plugins and schemas once changed. */
import { type AdmissionPlugin, strategicPatch } from 'orchplane';
import { ConfigMap, ReplicaSet } from 'orchplane/kinds';
import { fakeClock, parseCapture, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { formatTime } from '../../src/text/time/time.js';

describe('middleware', () => {
  test('sets a default user with a spread of the request', async () => {
    const cluster = testCluster();
    cluster.use((request, next) => next({ user: { user: 'bob', groups: [] }, ...request }));
    await expect(cluster.api(ConfigMap).list()).rejects.toMatchObject({ code: 403 });
    await cluster.close();
  });

  test('sees exactly the properties that a request has', async () => {
    const cluster = testCluster();
    const seen: string[][] = [];
    cluster.use((request, next) => {
      seen.push(Object.keys(request).sort());
      return next(request);
    });
    await cluster.api(ConfigMap).list();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(seen).toEqual([
      ['namespace', 'options', 'resource', 'verb'],
      ['body', 'namespace', 'options', 'resource', 'verb'],
    ]);
    await cluster.close();
  });
});

describe('admission plugin', () => {
  const writing = (by: string): AdmissionPlugin['mutate'] => {
    return ({ object }) => {
      if (object !== undefined) object.metadata.annotations = { by };
    };
  };

  test('uses a function that is replaced between two writes', async () => {
    const plugin: { name: string; mutate?: AdmissionPlugin['mutate'] } = { name: 'p', mutate: writing('first') };
    const cluster = testCluster({ admission: [plugin as AdmissionPlugin] });
    const by = async (name: string) => {
      const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name } });
      return metadata.annotations?.['by'];
    };
    expect(await by('a')).toBe('first');
    plugin.mutate = writing('second');
    expect(await by('b')).toBe('second');
    delete plugin.mutate;
    expect(await by('c')).toBeUndefined();
    await cluster.close();
  });

  test('accepts null in place of a function', async () => {
    const plugin = { name: 'nothing', mutate: null, validate: null } as unknown as AdmissionPlugin;
    const cluster = testCluster({ admission: [plugin] });
    await expect(cluster.api(ConfigMap).create({ metadata: { name: 'a' } })).resolves.toMatchObject({
      kind: 'ConfigMap',
    });
    await cluster.close();
  });
});

test('truncates an int32 overflow of an unvalidated object in a strategic patch', async () => {
  const containers = [{ name: 'c', image: 'i' }];
  const labels = { app: 'a' };
  const spec = {
    replicas: 4_294_967_299,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'set', namespace: 'default' }, spec };
  const cluster = testCluster({ from: parseCapture(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [set] })) });
  const patched = await cluster.api(ReplicaSet).patch('set', strategicPatch({ metadata: { labels: { x: '1' } } }));
  expect(patched.spec.replicas).toBe(3);
  await cluster.close();
});

test('allows properties of a fake clock to be redefined', () => {
  const clock = fakeClock();
  Object.defineProperty(clock, 'pending', { value: 5 });
  expect(clock.pending).toBe(5);
});

test('rejects a time after the largest Date', () => {
  expect(formatTime(8.64e15)).toBe('275760-09-13T00:00:00Z');
  expect(() => formatTime(8.64e15 + 1000)).toThrow(RangeError);
});
