/**
 * Defects that hostile input and unusual plugins exposed.
 */
import {
  type AdmissionPlugin,
  createCluster,
  defaultAdmission,
  defineKind,
  memoryStorage,
  mergePatch,
  StatusError,
} from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, CustomResourceDefinition, Lease, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { IncomingHeaders } from '../../src/node/incoming-request.js';
import { valueBody } from '../../src/protocol/body.js';
import { nextTurn } from '../../src/util/clock.js';
import { cpuTimer } from '../fixtures/cpu-time.js';

const BASE = 'http://cluster/api/v1/namespaces/default/configmaps';

function post(url: string, body: unknown, cluster = testCluster()): Promise<Response> {
  return createFetchHandler(cluster)(
    new Request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  );
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

describe('requests designed to be slow', () => {
  test('limits the errors about an invalid field manager', async () => {
    const response = await post(`${BASE}?fieldManager=${'%01'.repeat(4_000)}`, { metadata: { name: 'a' } });
    const { details } = (await response.json()) as { details: { causes: unknown[] } };
    expect(response.status).toBe(422);
    expect(details.causes.length).toBeLessThan(200);
  });

  test('accepts thousands of owner references', async () => {
    const ownerReferences = Array.from({ length: 20_000 }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'x',
      uid: `u${i}`,
    }));
    expect((await post(BASE, { metadata: { name: 'a', ownerReferences } })).status).toBe(201);
  });

  test('accepts a path of 200 000 slashes', async () => {
    const response = await createFetchHandler(testCluster())(new Request(`${BASE}${'/'.repeat(200_000)}x`));
    expect(response.status).toBe(404);
  });

  test.each([
    ['labelSelector', (at: number) => `!k${at}`, 500],
    ['labelSelector', (at: number) => `a!=${at}`, 500],
    ['labelSelector', () => 'n>0', 499],
    ['fieldSelector', (at: number) => `metadata.name!=${at}`, 500],
  ])('lists with a %s of 100 000 terms (%s)', async (parameter, term, count) => {
    const cluster = testCluster();
    for (let at = 0; at < 500; at++) {
      await cluster.api(ConfigMap).create({ metadata: { name: `c-${at}`, labels: { a: 'x', n: String(at) } } });
    }
    const terms = Array.from({ length: 100_000 }, (_, at) => term(at)).join(',');
    const spentMs = cpuTimer();
    const response = await createFetchHandler(cluster)(
      new Request(`${BASE}?${parameter}=${encodeURIComponent(terms)}`),
    );
    expect(((await response.json()) as { items: unknown[] }).items).toHaveLength(count);
    // Testing each term with each object took up to ten seconds.
    expect(spentMs()).toBeLessThan(4_000);
  });

  test('rejects a JSON patch that inserts thousands of items at the start of a long list', async () => {
    const cluster = testCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const list = { op: 'add', path: '/x', value: Array(1_000_000).fill(0) };
    for (const change of [
      { op: 'add', path: '/x/0', value: 1 },
      { op: 'remove', path: '/x/0' },
      { op: 'move', from: '/x/0', path: '/x/-' },
    ]) {
      const request = new Request(`${BASE}/a`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json-patch+json' },
        body: JSON.stringify([list, ...Array(9_000).fill(change)]),
      });
      expect((await createFetchHandler(cluster)(request)).status).toBe(413);
    }
  });

  test('reads a hundred thousand headers', async () => {
    const names = Array.from({ length: 100_000 }, (_, at) => `x-${at}`);
    const headers = new IncomingHeaders({
      headers: Object.fromEntries(names.map((name) => [name, 'a'])),
      rawHeaders: names.flatMap((name) => [name.toUpperCase(), 'a']),
    });
    const spentMs = cpuTimer();
    // Health checks and impersonation read the values of each header.
    const values = [...headers].map(([name]) => headers.getAll(name));
    expect(spentMs()).toBeLessThan(2_000);
    expect(values.flat()).toEqual(names.map(() => 'a'));
  });

  test('reports thousands of invalid labels', async () => {
    const labels = Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`-k${i}`, `-v${i}`]));
    expect((await post(BASE, { metadata: { name: 'a', labels } })).status).toBe(422);
  });
});

describe('plugin that writes the object under review', () => {
  function clusterThatTouches(operation: 'UPDATE' | 'DELETE') {
    let inside = false;
    let round = 0;
    const plugin: AdmissionPlugin = {
      name: 'Toucher',
      validate(request) {
        if (inside || request.operation !== operation) return;
        inside = true;
        if (round++ < 2) void cluster.api(ConfigMap).patch('a', mergePatch({ data: { round: String(round) } }));
        inside = false;
      },
    };
    const cluster = testCluster({ admission: [plugin] });
    return cluster;
  }

  test('retries a delete when a plugin changes the object', async () => {
    const configMaps = clusterThatTouches('DELETE').api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    expect(await configMaps.delete('a')).toMatchObject({ status: 'Success' });
    expect(await configMaps.find('a')).toBeUndefined();
  });

  test('retries an update when a plugin changes the object', async () => {
    const configMaps = clusterThatTouches('UPDATE').api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const { data } = await configMaps.patch('a', mergePatch({ data: { mine: 'yes' } }));
    expect(data).toEqual({ mine: 'yes', round: '2' });
  });

  test('ends with a conflict when a plugin always changes the object', async () => {
    let round = 0;
    const plugin: AdmissionPlugin = {
      name: 'Restless',
      async validate({ operation, object }) {
        if (operation !== 'UPDATE' || object?.metadata.annotations?.['quiet'] === 'yes') return;
        const change = { metadata: { annotations: { quiet: 'yes' } }, data: { round: String(round++) } };
        await cluster.api(ConfigMap).patch('a', mergePatch(change));
        await cluster.api(ConfigMap).patch('a', mergePatch({ metadata: { annotations: { quiet: 'yes' } } }));
      },
    };
    const cluster = testCluster({ admission: [plugin] });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const error = await failureOf(
      cluster.api(ConfigMap).patch('a', mergePatch({ metadata: { annotations: { quiet: null } } })),
    );
    expect(StatusError.is(error, 'Conflict')).toBe(true);
    expect(round).toBeLessThan(200);
  });
});

describe('a creation that waits for a plugin', () => {
  const WIDGETS = { group: 'example.com', version: 'v1', resource: 'widgets' };
  const definition = (kind: string) => ({
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced' as const,
      names: { plural: 'widgets', kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });

  /** A cluster in which creations of objects named `late` wait until `go` is called. */
  async function withSlowPlugin(phase: 'mutate' | 'validate') {
    let go = (): void => undefined;
    const isOpen = new Promise<void>((resolve) => {
      go = resolve;
    });
    const plugin: AdmissionPlugin = {
      name: 'Slow',
      [phase]: ({ name }: { name: string }) => (name === 'late' ? isOpen : undefined),
    };
    const cluster = testCluster({ admission: [...defaultAdmission, plugin] });
    const namespaces = cluster.api(Namespace);
    await namespaces.create({ metadata: { name: 'shop' } });
    const removeNamespace = async () => {
      await namespaces.delete('shop');
      await namespaces.subresource('finalize').edit('shop', (draft) => {
        draft.spec = { finalizers: [] };
      });
      expect(await namespaces.find('shop')).toBeUndefined();
    };
    return { cluster, namespaces, removeNamespace, go };
  }

  test.each(['mutate', 'validate'] as const)(
    'in %s does not create the object in a new namespace with the same name',
    async (phase) => {
      const { cluster, namespaces, removeNamespace, go } = await withSlowPlugin(phase);
      const created = failureOf(cluster.api(ConfigMap, 'shop').create({ metadata: { name: 'late' } }));
      const applied = failureOf(
        cluster.api(Lease, 'shop').apply({ metadata: { name: 'late' } }, { fieldManager: 'test' }),
      );
      await removeNamespace();
      await namespaces.create({ metadata: { name: 'shop' } });
      go();
      for (const failure of [await created, await applied])
        expect(failure).toMatchObject({ code: 404, message: 'namespaces "shop" not found' });
      expect((await cluster.api(ConfigMap, 'shop').list()).items).toEqual([]);
      expect((await cluster.api(Lease, 'shop').list()).items).toEqual([]);
    },
  );

  test('creates the object if the namespace has changed only', async () => {
    const { cluster, namespaces, go } = await withSlowPlugin('mutate');
    const created = cluster.api(ConfigMap, 'shop').create({ metadata: { name: 'late' } });
    await namespaces.patch('shop', mergePatch({ metadata: { labels: { a: 'b' } } }));
    go();
    expect((await created).metadata.name).toBe('late');
  });

  test.each(['Widget', 'Gadget'])('does not create an object of a new definition of the kind %s', async (kind) => {
    const { cluster, go } = await withSlowPlugin('validate');
    const definitions = cluster.api(CustomResourceDefinition);
    await definitions.create(definition('Widget'));
    const body = valueBody({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'late' } });
    const request = { verb: 'create', resource: WIDGETS, namespace: 'shop', options: {}, body } as const;
    const created = failureOf(Promise.resolve(cluster.send(request)));
    await definitions.delete('widgets.example.com');
    await definitions.create(definition(kind));
    go();
    expect(await created).toMatchObject({ code: 404, reason: 'NotFound' });
    const list = await cluster.send({ verb: 'list', resource: WIDGETS, options: {} });
    expect(list).toMatchObject({ object: { items: [] } });
  });
});

describe('results of plugins', () => {
  test('freezes the object during validation', async () => {
    const plugin: AdmissionPlugin = {
      name: 'Meddler',
      validate({ object }) {
        Object.assign(object ?? {}, { data: { late: 'yes' } });
      },
    };
    const error = await failureOf(
      testCluster({ admission: [plugin] })
        .api(ConfigMap)
        .create({ metadata: { name: 'a' } }),
    );
    expect(StatusError.is(error, 'InternalError')).toBe(true);
  });

  test('rejects an object that a plugin makes invalid', async () => {
    const plugin: AdmissionPlugin = {
      name: 'Breaker',
      mutate({ object }) {
        if (object !== undefined) object.metadata.labels = { a: 5 as unknown as string };
      },
    };
    const error = await failureOf(
      testCluster({ admission: [plugin] })
        .api(ConfigMap)
        .create({ metadata: { name: 'a' } }),
    );
    expect(String(error)).toContain('admission plugins made an object that is no ConfigMap');
  });

  test('awaits a thenable that is not a native promise', async () => {
    const refusal = new Error('no');
    // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable of another library
    const thenable = { then: (_yes: unknown, no: (error: unknown) => void) => no(refusal) };
    const plugin: AdmissionPlugin = { name: 'Foreign', validate: () => thenable as unknown as Promise<void> };
    const error = await failureOf(
      testCluster({ admission: [plugin] })
        .api(ConfigMap)
        .create({ metadata: { name: 'a' } }),
    );
    expect(StatusError.is(error, 'InternalError')).toBe(true);
  });

  test('converts an invalid status code of a plugin to 500', async () => {
    const plugin: AdmissionPlugin = {
      name: 'Odd',
      mutate() {
        throw new StatusError({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'm',
          code: 42,
        });
      },
    };
    const response = await post(BASE, { metadata: { name: 'a' } }, testCluster({ admission: [plugin] }));
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 500, message: 'm' });
  });
});

test('checks existence and preconditions of a delete before it calls plugins', async () => {
  const plugin: AdmissionPlugin = {
    name: 'No',
    mutate({ operation }) {
      if (operation === 'DELETE') throw new Error('asked');
    },
  };
  const configMaps = testCluster({ admission: [plugin] }).api(ConfigMap);
  await configMaps.create({ metadata: { name: 'a' } });
  expect(StatusError.is(await failureOf(configMaps.delete('b')), 'NotFound')).toBe(true);
  expect(StatusError.is(await failureOf(configMaps.delete('a', { preconditions: { uid: 'x' } })), 'Conflict')).toBe(
    true,
  );
  expect(StatusError.is(await failureOf(configMaps.delete('a')), 'InternalError')).toBe(true);
});

test('validates a PUT that loses the race to create as an update', async () => {
  const plugin: AdmissionPlugin = { name: 'Slow', validate: () => Promise.resolve() };
  const leases = testCluster({ admission: [plugin] }).api(Lease);
  const responses = await Promise.allSettled([
    leases.update({ metadata: { name: 'l' } }),
    leases.update({ metadata: { name: 'l' } }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  const [, second] = responses;
  expect(second.status === 'rejected' && StatusError.is(second.reason, 'Invalid')).toBe(true);
});

describe('values that are not JSON', () => {
  const Box = defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Box',
    scope: 'Namespaced',
    names: { plural: 'boxes' },
    body: { any: z.unknown().optional() },
  });

  test.each([new Map([[1, 2]]), /x/, new Error('x'), new Uint8Array([1])])('rejects a value of %s', async (any) => {
    const boxes = testCluster({ kinds: [Box] }).api(Box);
    expect(StatusError.is(await failureOf(boxes.create({ metadata: { name: 'a' }, any })), 'BadRequest')).toBe(true);
  });

  test('stores the toJSON result of a value', async () => {
    const boxes = testCluster({ kinds: [Box] }).api(Box);
    expect((await boxes.create({ metadata: { name: 'a' }, any: { at: new Date(0) } })).any).toEqual({
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  test('rejects a Map in place of an object', async () => {
    const data = new Map([['a', 'b']]) as unknown as Record<string, string>;
    const error = await failureOf(
      testCluster()
        .api(ConfigMap)
        .create({ metadata: { name: 'a' }, data }),
    );
    expect(StatusError.is(error, 'BadRequest')).toBe(true);
  });
});

test('ends a watch from a resourceVersion that a restore removed with Expired', async () => {
  const cluster = createCluster({ storage: memoryStorage() });
  const configMaps = cluster.api(ConfigMap);
  const before = cluster.snapshot();
  const { metadata } = await configMaps.create({ metadata: { name: 'gone' } });
  cluster.restore(before);
  const watch = configMaps.watch({ resourceVersion: metadata.resourceVersion });
  expect(StatusError.is(await failureOf(watch.next()), 'Expired')).toBe(true);
});

test('accepts a watch timeout longer than the longest timer', async () => {
  // Fake timers treat a delay that is too long as zero, like real timers.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const watch = createCluster().api(ConfigMap).watch({ timeoutSeconds: 3_000_000 });
    const first = watch.next();
    vi.advanceTimersByTime(20);
    expect(await Promise.race([first, nextTurn().then(() => 'still open')])).toBe('still open');
    watch.close();
  } finally {
    vi.useRealTimers();
  }
});

describe('an object with more errors than arguments of a function can be', () => {
  test('is rejected with its errors', async () => {
    const allOf = Array.from({ length: 50_000 }, () => ({ type: 'string', default: 'a', nullable: true }));
    const version = { name: 'v1', served: true, storage: true };
    const create = createCluster()
      .api(CustomResourceDefinition)
      .create({
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [{ ...version, schema: { openAPIV3Schema: { type: 'object', allOf } } }],
        },
      });
    await expect(create).rejects.toMatchObject({ reason: 'Invalid', code: 422 });
  });
});
