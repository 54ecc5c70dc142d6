/** Asynchronous conversions: order of requests, and concurrent requests. */
import type { AdmissionPlugin, ClusterOptions, WebhookCaller } from 'orchplane';
import { mergePatch } from 'orchplane';
import { ResourceQuota } from 'orchplane/kinds';
import { sequentialIds, type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, latch, Reader, stateOf, turns } from '../server/watch-reader.js';
import { api, define, definitions, GROUP, kindOf, object, redefine, version, WIDGETS, widget } from './widgets.js';

type Json = Record<string, unknown>;

interface Review {
  readonly to: string;
  readonly names: readonly string[];
  /** Responds with the objects in the requested version. */
  respond(): Promise<void>;
  fail(why: string): Promise<void>;
}

/** Webhooks that respond when the test calls `respond`, or at once if `isOpen` is true. */
class Hooks {
  readonly reviews: Review[] = [];
  isOpen = true;

  readonly call: WebhookCaller = (_address, review) => {
    const { uid, desiredAPIVersion, objects } = review['request'] as {
      uid: string;
      desiredAPIVersion: string;
      objects: readonly (Json & { metadata: { name: string } })[];
    };
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        end();
        return turns();
      };
      const convertedObjects = objects.map((one) => ({ ...one, apiVersion: desiredAPIVersion }));
      const response = { uid, result: { status: 'Success' }, convertedObjects };
      const made: Review = {
        to: desiredAPIVersion.replace(`${GROUP}/`, ''),
        names: objects.map(({ metadata }) => metadata.name),
        respond: () => settle(() => resolve({ kind: review['kind'], apiVersion: review['apiVersion'], response })),
        fail: (why) => settle(() => reject(new Error(why))),
      };
      this.reviews.push(made);
      if (this.isOpen) void made.respond();
    });
  };

  /** Removes and returns the oldest pending review. */
  next(): Review {
    const review = this.reviews.shift();
    if (review === undefined) throw new Error('no review is pending');
    return review;
  }
}

const SPEC = object({ size: { type: 'integer' }, colour: { type: 'string' } });

async function slow(options: ClusterOptions = {}): Promise<{ cluster: TestCluster; hooks: Hooks }> {
  const hooks = new Hooks();
  const cluster = testCluster({ ...(options as object), webhooks: hooks.call });
  const webhook = { clientConfig: { url: 'https://hooks.example.com/' }, conversionReviewVersions: ['v1'] };
  const versions = [version({ spec: SPEC }), version({ name: 'v2', storage: false, spec: SPEC })];
  await define(cluster, { versions, conversion: { strategy: 'Webhook', webhook } });
  return { cluster, hooks };
}

/** A change in the storage version that needs no conversion, because it also removes the owners in other versions. */
const UNCONVERTED_CHANGE = mergePatch({ metadata: { managedFields: [{}] }, spec: { size: 9 } }) as never;

/** From now on the test sends the responses. */
function shut(hooks: Hooks): void {
  hooks.isOpen = false;
  hooks.reviews.length = 0;
}

describe('reading', () => {
  test('sends one review for a list of 500 objects, and none for the next list', async () => {
    const { cluster, hooks } = await slow();
    for (let index = 0; index < 500; index++) await api(cluster).create(widget(`w${index}`, { size: index }));
    hooks.reviews.length = 0;
    const list = await api(cluster, 'v2').list();
    expect(list.items.length).toBe(500);
    expect(list.items.every(({ apiVersion }) => apiVersion === `${GROUP}/v2`)).toBe(true);
    expect(hooks.reviews.map(({ names }) => names.length)).toEqual([500]);
    await api(cluster, 'v2').list({ labels: {} });
    await api(cluster, 'v2').get('w7');
    expect(hooks.reviews.length).toBe(1);
  });

  test('serves other requests while a read waits for a conversion', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    shut(hooks);
    const got = api(cluster, 'v2').get('a');
    expect(await stateOf(got)).toBe('waiting');
    expect(await api(cluster).get('a')).toMatchObject({ spec: { size: 1 } });
    await hooks.next().respond();
    expect(await got).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { size: 1 } });
  });

  test('returns the state at which a read began, also if objects are written while it waits for a conversion', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    shut(hooks);
    const reads = () => [
      api(cluster, 'v2').get('a'),
      api(cluster, 'v2').list(),
      api(cluster, 'v2').list({ labels: '!absent' as never }),
    ];
    const before = reads();
    const reader = new Reader(api(cluster, 'v2').watch());
    await turns();
    await api(cluster).patch('a', mergePatch({ spec: { size: 2 } }) as never);
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    const [got, ...lists] = (await Promise.all(before)) as [unknown, ...{ items: unknown[] }[]];
    expect(got).toMatchObject({ spec: { size: 1 } });
    for (const { items } of lists) expect(items).toMatchObject([{ spec: { size: 1 } }]);
    expect(await reader.readAll()).toEqual(['ADDED a', 'MODIFIED a']);
    expect(await api(cluster, 'v2').get('a')).toMatchObject({ spec: { size: 2 } });
  });

  test('sends one review for a list or watch with selectors', async () => {
    const { cluster, hooks } = await slow();
    for (let index = 0; index < 120; index++) await api(cluster).create(widget(`w${index}`, { size: index }));
    hooks.reviews.length = 0;
    const labels = '!absent' as never;
    expect((await api(cluster, 'v2').list({ labels, limit: 50 })).items.length).toBe(50);
    expect(hooks.reviews.map(({ names }) => names.length)).toEqual([120]);
    await redefine(cluster, (spec) => Object.assign(spec['names'] as object, { shortNames: ['w'] }));
    hooks.reviews.length = 0;
    const reader = new Reader(api(cluster, 'v2').watch({ labels }));
    expect((await reader.readAll()).length).toBe(120);
    expect(hooks.reviews.map(({ names }) => names.length)).toEqual([120]);
  });

  test('uses the CRD that is current when the response arrives', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    shut(hooks);
    const got = api(cluster, 'v2').get('a');
    await turns();
    await definitions(cluster).delete(WIDGETS);
    await hooks.next().respond();
    expect(await failureOf(got)).toMatchObject({ reason: 'NotFound' });
  });
});

describe('a watch', () => {
  test('keeps the order of events while an object is converted', async () => {
    const { cluster, hooks } = await slow();
    const reader = new Reader(api(cluster, 'v2').watch({ resourceVersion: cluster.resourceVersion }));
    shut(hooks);
    await api(cluster).create(widget('a', { size: 1 }));
    await api(cluster).create(widget('b', { size: 1 }));
    expect(await reader.readAll()).toEqual([]);
    hooks.isOpen = true;
    await hooks.next().respond();
    expect(await reader.readAll()).toEqual(['ADDED a', 'ADDED b']);
  });

  test('sends no bookmark past a pending event', async () => {
    const { cluster, hooks } = await slow();
    const watch = api(cluster, 'v2').watch({ resourceVersion: cluster.resourceVersion, allowWatchBookmarks: true });
    const reader = new Reader(watch);
    shut(hooks);
    await api(cluster).create(widget('a', { size: 1 }));
    expect(await reader.readAll()).toEqual([]);
    await cluster.clock.advance(61_000);
    expect(await reader.readAll()).toEqual([]);
    await hooks.next().respond();
    expect(await reader.readAll()).toEqual(['ADDED a']);
    watch.close();
  });

  test('ends a closed watch at once and drops the pending response', async () => {
    const { cluster, hooks } = await slow();
    const watch = api(cluster, 'v2').watch({ resourceVersion: cluster.resourceVersion });
    const reader = new Reader(watch);
    shut(hooks);
    await api(cluster).create(widget('a', { size: 1 }));
    expect(await reader.readAll()).toEqual([]);
    watch.close();
    expect(await reader.readAll()).toEqual(['end']);
    await hooks.next().respond();
    expect(await reader.read()).toBe('end');
  });

  test('ends a watch with an error if a conversion fails', async () => {
    const { cluster, hooks } = await slow();
    const reader = new Reader(api(cluster, 'v2').watch({ resourceVersion: cluster.resourceVersion }));
    shut(hooks);
    await api(cluster).create(widget('a', { size: 1 }));
    expect(await reader.readAll()).toEqual([]);
    await hooks.next().fail('out of order');
    expect(await failureOf(reader.read())).toMatchObject({ message: expect.stringContaining('out of order') });
    expect(await reader.read()).toBe('end');
  });

  test('delivers pending events of a watch before it ends with the CRD', async () => {
    const { cluster, hooks } = await slow();
    const reader = new Reader(api(cluster, 'v2').watch({ resourceVersion: cluster.resourceVersion }));
    shut(hooks);
    await api(cluster).create(widget('a', { size: 1 }));
    expect(await reader.readAll()).toEqual([]);
    await redefine(cluster, (spec) => Object.assign(spec['names'] as object, { shortNames: ['w'] }));
    expect(await reader.readAll()).toEqual([]);
    await hooks.next().respond();
    expect(await reader.readAll()).toEqual(['ADDED a', 'end']);
  });

  test('waits for the conversion of existing objects at the start of a watch', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    await api(cluster).create(widget('b', { size: 1 }));
    shut(hooks);
    const reader = new Reader(api(cluster, 'v2').watch());
    expect(await reader.readAll()).toEqual([]);
    const review = hooks.next();
    expect(review.names).toEqual(['a', 'b']);
    await review.respond();
    expect(await reader.readAll()).toEqual(['ADDED a', 'ADDED b']);
  });
});

describe('writing', () => {
  test('applies two concurrent patches that wait for conversions', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    await api(cluster, 'v2').get('a');
    shut(hooks);
    const one = api(cluster, 'v2').patch('a', mergePatch({ spec: { size: 2 } }) as never);
    const two = api(cluster, 'v2').patch('a', mergePatch({ spec: { colour: 'blue' } }) as never);
    expect([await stateOf(one), await stateOf(two)]).toEqual(['waiting', 'waiting']);
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    await Promise.all([one, two]);
    expect((await api(cluster).get('a'))['spec']).toEqual({ size: 2, colour: 'blue' });
  });

  test('creates two objects with different generated names while both wait', async () => {
    const suffixes = ['aaaaa', 'aaaaa', 'bbbbb'];
    const { cluster, hooks } = await slow({ ids: { ...sequentialIds(), suffix: () => suffixes.shift() ?? 'zzzzz' } });
    shut(hooks);
    const nameless = { ...(widget('', { size: 1 }) as Json), metadata: { generateName: 'w-' } } as never;
    const made = [1, 2].map(() => api(cluster, 'v2').create(nameless));
    expect(await stateOf(made[1] as Promise<unknown>)).toBe('waiting');
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    const names = (await Promise.all(made)).map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual(['w-aaaaa', 'w-bbbbb']);
  });

  test('charges a quota that is created while an object is converted', async () => {
    const { cluster, hooks } = await slow();
    shut(hooks);
    const made = failureOf(api(cluster, 'v2').create(widget('a', { size: 1 })));
    expect(await stateOf(made)).toBe('waiting');
    const quotas = cluster.api(ResourceQuota);
    const hard = { [`count/${WIDGETS}`]: '0' };
    await quotas.create({ metadata: { name: 'none' }, spec: { hard } });
    await quotas.status.edit('none', (quota) => {
      quota.status = { hard, used: hard };
    });
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    expect(await made).toMatchObject({ code: 403, message: expect.stringContaining('exceeded quota: none') });
    expect((await api(cluster).list()).items).toEqual([]);
  });

  test('rejects one of two concurrent updates as a conflict', async () => {
    const { cluster, hooks } = await slow();
    const live = await api(cluster, 'v2').create(widget('a', { size: 1 }));
    shut(hooks);
    const puts = [2, 3].map((size) => api(cluster, 'v2').update({ ...live, spec: { size } } as never));
    await turns();
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    const outcomes = await Promise.allSettled(puts);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [lost] = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(lost?.reason).toMatchObject({ code: 409 });
  });

  test('retries a waiting write after a concurrent write', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster, 'v2').create(widget('a', { size: 1 }));
    shut(hooks);
    const waiting = api(cluster, 'v2').patch('a', mergePatch({ spec: { colour: 'red' } }) as never);
    await turns();
    await api(cluster).patch('a', UNCONVERTED_CHANGE);
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    expect(await waiting).toMatchObject({ spec: { size: 9, colour: 'red' } });
  });

  test('calls admission again only after a conflicting write', async () => {
    const operations: string[] = [];
    const plugin: AdmissionPlugin = {
      name: 'Counting',
      validate: ({ operation }: { operation: string }) => {
        operations.push(operation);
      },
    } as never;
    const { cluster, hooks } = await slow({ admission: [plugin] });
    operations.length = 0;
    await api(cluster, 'v2').create(widget('a', { size: 1 }));
    await api(cluster).patch('a', mergePatch({ spec: { size: 2 } }) as never);
    // The live object has to be converted before the patch can begin; admission comes after that.
    await api(cluster, 'v2').patch('a', mergePatch({ spec: { size: 3 } }) as never);
    expect(operations).toEqual(['CREATE', 'UPDATE', 'UPDATE']);
    shut(hooks);
    const waiting = api(cluster, 'v2').patch('a', mergePatch({ spec: { colour: 'red' } }) as never);
    await turns();
    await api(cluster).patch('a', UNCONVERTED_CHANGE);
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    await waiting;
    expect(operations).toEqual(['CREATE', 'UPDATE', 'UPDATE', 'UPDATE', 'UPDATE', 'UPDATE']);
  });

  test('ignores later changes that the caller makes to the sent object', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    shut(hooks);
    const { resourceVersion } = (await api(cluster).get('a')).metadata;
    const sent = { metadata: { name: 'a', resourceVersion }, spec: { size: 2 } };
    const updated = api(cluster, 'v2').update(sent as never);
    sent.spec.size = 99;
    await turns();
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    expect(await updated).toMatchObject({ spec: { size: 2 } });
  });

  test('changes nothing if the conversion of a write fails', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster, 'v2').create(widget('a', { size: 1 }));
    shut(hooks);
    const { resourceVersion } = cluster;
    const failures = [
      failureOf(api(cluster, 'v2').create(widget('b', { size: 1 }))),
      failureOf(api(cluster, 'v2').patch('a', mergePatch({ spec: { size: 2 } }) as never)),
      failureOf(api(cluster, 'v2').apply(widget('c', { size: 1 }), { fieldManager: 'me' })),
    ];
    await turns();
    while (hooks.reviews.length > 0) await hooks.next().fail('no');
    for (const failure of failures) expect(await failure).toMatchObject({ code: 500 });
    expect(cluster.resourceVersion).toBe(resourceVersion);
  });

  test('returns the warnings of an update whose conversion fails', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    shut(hooks);
    const body = {
      ...(widget('a', { size: 2 }) as object),
      apiVersion: `${GROUP}/v2`,
      metadata: { name: 'a', wrong: 1 },
    };
    const failure = failureOf(api(cluster, 'v2').update(body as never));
    await turns();
    await hooks.next().fail('no');
    expect(await failure).toMatchObject({ code: 500, warnings: ['unknown field "metadata.wrong"'] });
  });

  test('does not create an object whose CRD is deleted meanwhile', async () => {
    const { cluster, hooks } = await slow();
    shut(hooks);
    const failure = failureOf(api(cluster, 'v2').create(widget('a', { size: 1 })));
    await turns();
    await definitions(cluster).delete(WIDGETS);
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    expect(await failure).toMatchObject({ reason: 'NotFound' });
    await define(cluster);
    expect((await api(cluster).list()).items).toEqual([]);
  });

  test('does not create an object whose CRD starts terminating meanwhile', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('held', {}, { metadata: { name: 'held', finalizers: ['example.com/x'] } }));
    shut(hooks);
    const failure = failureOf(api(cluster, 'v2').create(widget('a', { size: 1 })));
    await turns();
    await definitions(cluster).delete(WIDGETS);
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    expect(await failure).toMatchObject({ code: 405 });
    expect((await api(cluster).list()).items.length).toBe(1);
  });

  test('deletes a CRD without calling its webhook', async () => {
    const { cluster, hooks } = await slow();
    await api(cluster).create(widget('a', { size: 1 }));
    shut(hooks);
    await definitions(cluster).delete(WIDGETS);
    expect(hooks.reviews).toEqual([]);
    expect(kindOf(cluster)).toBeUndefined();
  });
});

describe('deleting', () => {
  test('deletes an object in another version', async () => {
    const { cluster, hooks } = await slow({ dialect: 'kubernetes' });
    await api(cluster).create(widget('a', { size: 1 }, { metadata: { name: 'a', finalizers: ['example.com/x'] } }));
    shut(hooks);
    const deleted = api(cluster, 'v2').delete('a');
    await turns();
    await hooks.next().respond();
    expect(await deleted).toMatchObject({ apiVersion: `${GROUP}/v2`, metadata: { deletionGracePeriodSeconds: 0 } });
    const removed = api(cluster, 'v2').patch('a', mergePatch({ metadata: { finalizers: null } }) as never);
    await turns();
    hooks.isOpen = true;
    while (hooks.reviews.length > 0) await hooks.next().respond();
    expect(await removed).toMatchObject({ apiVersion: `${GROUP}/v2` });
    expect(await api(cluster).find('a')).toBeUndefined();
  });

  test('converts an object again that is written during deletecollection, and returns all objects', async () => {
    const { opened, open } = latch();
    const plugin = {
      name: 'Holding',
      validate: async ({ operation, oldObject }: { operation: string; oldObject?: { metadata: { name: string } } }) => {
        if (operation === 'DELETE' && oldObject?.metadata.name === 'a') await opened;
      },
    };
    const { cluster } = await slow({ dialect: 'kubernetes', admission: [plugin as never] });
    for (const name of ['a', 'b', 'c']) await api(cluster).create(widget(name, { size: 1 }));
    const deleted = api(cluster, 'v2').deleteCollection();
    await turns();
    await api(cluster).patch('b', mergePatch({ spec: { size: 2 } }) as never);
    open();
    const list = (await deleted) as unknown as { items: { metadata: { name: string } }[] };
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect((await api(cluster).list()).items).toEqual([]);
  });
});
