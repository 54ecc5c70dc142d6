/** Conversions of many or large objects. */
import { mergePatch, type WebhookCaller } from 'orchplane';
import { Namespace } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { ANYTHING, api, define, definitions, redefine, version, WIDGETS, widget } from './widgets.js';

type Json = Record<string, unknown>;

const webhook = { clientConfig: { url: 'https://hooks.example.com/' }, conversionReviewVersions: ['v1'] };
const versions = [version({ spec: ANYTHING }), version({ name: 'v2', storage: false, spec: ANYTHING })];

interface Calls {
  /** The number of objects of each call. */
  readonly sizes: number[];
  /** How many calls were open at the same time, at most. */
  most: number;
}

/** A cluster whose webhook changes the spec of each object. */
async function converted(specOf: (spec: unknown) => unknown): Promise<{ cluster: TestCluster; calls: Calls }> {
  const calls: Calls = { sizes: [], most: 0 };
  let open = 0;
  const call: WebhookCaller = async (_address, review) => {
    calls.most = Math.max(calls.most, ++open);
    const { uid, desiredAPIVersion, objects } = review['request'] as {
      uid: string;
      desiredAPIVersion: string;
      objects: readonly Json[];
    };
    calls.sizes.push(objects.length);
    for (let turn = 0; turn < 3; turn++) await undefined;
    const change = (one: Json) => ({ ...one, apiVersion: desiredAPIVersion, spec: specOf(one['spec']) });
    open--;
    return { ...review, response: { uid, result: { status: 'Success' }, convertedObjects: objects.map(change) } };
  };
  const cluster = testCluster({ webhooks: call });
  await define(cluster, { versions, conversion: { strategy: 'Webhook', webhook } });
  return { cluster, calls };
}

test('sends a large list in several reviews, one after the other', async () => {
  const { cluster, calls } = await converted((spec) => spec);
  for (let index = 0; index < 20; index++) {
    await api(cluster).create(widget(`w${index}`, { text: `${index}`.padEnd(1e6, '.') }));
  }
  expect((await api(cluster, 'v2').list()).items.length).toBe(20);
  expect(calls).toEqual({ sizes: [8, 8, 4], most: 1 });
});

test('rejects an object that its conversion makes larger than the storage of the reference server accepts', async () => {
  const { cluster } = await converted((spec) =>
    (spec as Json)['grow'] === true ? { text: 'x'.repeat(1_600_000) } : spec,
  );
  const tooLarge = { code: 500, message: 'etcdserver: request is too large' };
  await expect(api(cluster, 'v2').create(widget('a', { grow: true }))).rejects.toMatchObject(tooLarge);
  expect(await api(cluster).find('a')).toBeUndefined();
  await api(cluster, 'v2').create(widget('b', { text: '' }));
  const grown = mergePatch({ spec: { grow: true } }) as never;
  await expect(api(cluster, 'v2').patch('b', grown)).rejects.toMatchObject(tooLarge);
  expect(await api(cluster).get('b')).toMatchObject({ spec: { text: '' } });
});

test('stores an object without managedFields if its converted form is too large with them', async () => {
  const manyFields = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field-${at}`, at]));
  const { cluster } = await converted((spec) => ({ ...(spec as Json), text: 'x'.repeat(1_000_000) }));
  await api(cluster, 'v2').create(widget('a', manyFields));
  const { metadata, spec } = (await api(cluster).get('a')) as unknown as { metadata: Json; spec: { text: string } };
  expect(spec.text.length).toBe(1_000_000);
  expect(metadata).not.toHaveProperty('managedFields');
});

test('calls a conversion function for one object after the other', async () => {
  const calls = { open: 0, most: 0 };
  const conversion = async (draft: Json, to: string) => {
    calls.most = Math.max(calls.most, ++calls.open);
    await undefined;
    calls.open--;
    return { ...draft, apiVersion: `example.com/${to}` };
  };
  const cluster = testCluster({ conversions: { [WIDGETS]: conversion } } as never);
  await define(cluster, { versions });
  for (const name of ['a', 'b', 'c']) await api(cluster).create(widget(name));
  expect((await api(cluster, 'v2').list()).items.length).toBe(3);
  expect(calls).toEqual({ open: 0, most: 1 });
});

test('converts the objects of one namespace after the other when their CRD is deleted', async () => {
  const { cluster, calls } = await converted((spec) => spec);
  for (const name of ['n1', 'n2', 'n3']) {
    await cluster.api(Namespace).create({ metadata: { name } });
    await api(cluster, 'v1', 'widgets', name).create(widget('a'));
  }
  const swapped = [version({ storage: false, spec: ANYTHING }), version({ name: 'v2', spec: ANYTHING })];
  await redefine(cluster, (spec) => Object.assign(spec, { versions: swapped }));
  Object.assign(calls, { most: 0 });
  await definitions(cluster).delete(WIDGETS);
  for (let turn = 0; turn < 200; turn++) await undefined;
  expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
  expect(calls.most).toBe(1);
});
