/** Conversions of many or large objects, and results that are much larger than the stored objects. */
import type { WebhookCaller } from 'orchplane';
import { Namespace, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { failureOf } from '../server/watch-reader.js';
import { ANYTHING, api, define, definitions, GROUP, redefine, version, WIDGETS, widget } from './widgets.js';

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

test('keeps the latest of the results that are much larger than their objects', async () => {
  const { cluster, calls } = await converted(() => ({ text: 'x'.repeat(3e6) }));
  const names = Array.from({ length: 40 }, (_, index) => `w${index}`);
  for (const name of names) await api(cluster).create(widget(name));
  for (const name of names) await api(cluster, 'v2').get(name);
  calls.sizes.length = 0;
  for (const name of names.slice(-20)) await api(cluster, 'v2').get(name);
  expect(calls.sizes).toEqual([]);
  await api(cluster, 'v2').get('w0');
  expect(calls.sizes).toEqual([1]);
});

test('admits many objects at the same time whose conversion makes them much larger', async () => {
  const { cluster } = await converted(() => ({ text: 'x'.repeat(3e6) }));
  const rules = [{ apiGroups: [GROUP], apiVersions: ['v2'], resources: ['widgets'], operations: ['CREATE'] }];
  await cluster.api(ValidatingAdmissionPolicy).create({
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'size(object.spec.text) > 9' }] },
  } as never);
  const binding = { policyName: 'p', validationActions: ['Deny'] } as never;
  await cluster.api(ValidatingAdmissionPolicyBinding).create({ metadata: { name: 'p' }, spec: binding });
  const made = Array.from({ length: 60 }, (_, index) => api(cluster).create(widget(`w${index}`)));
  expect((await Promise.all(made)).length).toBe(60);
});

test('rejects a list whose conversion makes it much larger, and serves pages of it', async () => {
  const { cluster } = await converted(() => ({ text: 'x'.repeat(3e6) }));
  for (let index = 0; index < 40; index++) await api(cluster).create(widget(`w${index}`));
  expect(await failureOf(api(cluster, 'v2').list())).toMatchObject({
    code: 413,
    message: expect.stringContaining('the converted objects are too large for one list'),
  });
  const page = await api(cluster, 'v2').list({ limit: 20 });
  expect(page.items.length).toBe(20);
});

test('rejects a list that defaults of a later schema make much larger, and deletes its objects', async () => {
  const { cluster } = await converted((spec) => spec);
  for (let index = 0; index < 150; index++) await api(cluster).create(widget(`w${index}`));
  const list = { type: 'array', items: { type: 'string' }, default: Array.from({ length: 20_000 }, () => '') };
  const spec = { type: 'object', properties: { list }, default: {} };
  const [, v2] = versions;
  await redefine(cluster, (draft) => Object.assign(draft, { versions: [version({ spec }), v2] }));
  expect((await api(cluster).get('w0'))['spec']).toEqual({ list: list.default });
  expect(await failureOf(api(cluster).list())).toMatchObject({ code: 413 });
  await api(cluster).deleteCollection();
  expect((await api(cluster).list()).items).toEqual([]);
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
