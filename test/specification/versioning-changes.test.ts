/** docs/specification.md, G6: notable changes in the replacements of removed versions. */
import { controllers, disruptionBudgets } from 'orchplane/controllers';
import { describe, expect, test } from 'vitest';
import { CRDS, open, WIDGETS } from './http.js';

const HOOKS = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations';

test('G6.1: an event has Normal or Warning, its required fields and no deprecated ones', async () => {
  const { post } = open();
  const event = {
    eventTime: '2030-01-01T00:00:00.000000Z',
    ...{ action: 'a', reason: 'r', type: 'Normal' },
    ...{ reportingController: 'example.com/c', reportingInstance: 'i' },
    regarding: { namespace: 'default' },
  };
  let count = 0;
  const create = (more: object) =>
    post('/apis/events.orch.io/v1/namespaces/default/events', { metadata: { name: `e${count++}` }, ...event, ...more });
  expect((await create({ series: { count: 2, lastObservedTime: event.eventTime } })).code).toBe(201);
  expect((await create({ type: 'Other' })).code).toBe(422);
  for (const field of ['action', 'reason', 'reportingController', 'reportingInstance', 'eventTime']) {
    expect((await create({ [field]: undefined })).code).toBe(422);
  }
  for (const deprecated of [
    { deprecatedCount: 1 },
    { deprecatedFirstTimestamp: '2030-01-01T00:00:00Z' },
    { deprecatedLastTimestamp: '2030-01-01T00:00:00Z' },
    { deprecatedSource: { component: 'c' } },
  ]) {
    expect((await create(deprecated)).code).toBe(422);
  }
});

test('G6.2: an endpoint slice has nodeName and zone; deprecatedTopology is read-only', async () => {
  const { post } = open();
  const create = (name: string, endpoint: object) =>
    post('/apis/discovery.orch.io/v1/namespaces/default/endpointslices', {
      metadata: { name },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
    });
  const stored = await create('a', { nodeName: 'n', zone: 'z' });
  expect(stored.body['endpoints']).toMatchObject([{ nodeName: 'n', zone: 'z' }]);
  const { body } = await create('b', { deprecatedTopology: { 'example.com/rack': 'r' } });
  expect(body['endpoints']).toEqual([{ addresses: ['10.0.0.1'], conditions: {} }]);
});

test('G6.3: an empty selector of a budget selects all pods, an absent one none', async () => {
  const { cluster, clock, post, send } = open({ controllers: controllers([disruptionBudgets()]) });
  await post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  await post(budgets, { metadata: { name: 'all' }, spec: { minAvailable: 1, selector: {} } });
  await post(budgets, { metadata: { name: 'none' }, spec: { minAvailable: 1 } });
  await clock.advance(10_000);
  const pods = async (name: string) =>
    ((await send('GET', `${budgets}/${name}`)).body['status'] as { expectedPods?: number }).expectedPods;
  expect([await pods('all'), await pods('none')]).toEqual([1, 0]);
  await cluster.close();
});

test('G6.4: a webhook needs sideEffects and admissionReviewVersions; names are unique', async () => {
  const { post } = open();
  const hook = {
    name: 'a.example.com',
    clientConfig: { url: 'https://example.com/x' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1', 'v1beta1'],
  };
  const create = (...webhooks: object[]) => post(HOOKS, { metadata: { generateName: 'w' }, webhooks });
  expect((await create(hook)).body['webhooks']).toMatchObject([
    { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 },
  ]);
  expect((await create({ ...hook, sideEffects: 'NoneOnDryRun' })).code).toBe(201);
  for (const wrong of [
    { ...hook, sideEffects: undefined },
    { ...hook, sideEffects: 'Some' },
    { ...hook, admissionReviewVersions: undefined },
    { ...hook, admissionReviewVersions: ['v2'] },
  ]) {
    expect((await create(wrong)).code).toBe(422);
  }
  expect((await create(hook, hook)).code).toBe(422);
});

describe('CustomResourceDefinition', () => {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const create = (spec: object, version: object = {}) =>
    open().post(`${CRDS}?fieldValidation=Strict`, {
      ...WIDGETS,
      spec: {
        ...WIDGETS.spec,
        versions: [{ name: 'v1', served: true, storage: true, schema, ...version }],
        ...spec,
      },
    });

  test('G6.5: scope and a structural schema are required; settings are per version', async () => {
    expect((await create({})).code).toBe(201);
    expect((await create({ scope: undefined })).code).toBe(422);
    expect((await create({}, { schema: undefined })).code).toBe(422);
    expect((await create({}, { schema: { openAPIV3Schema: { properties: {} } } })).code).toBe(422);
    expect((await create({ preserveUnknownFields: true })).code).toBe(422);
    for (const old of [
      { version: 'v1' },
      { validation: schema },
      { subresources: {} },
      { additionalPrinterColumns: [] },
    ]) {
      expect((await create(old)).code).toBe(400);
    }
    const column = { name: 'Size', type: 'string', jsonPath: '.spec.size' };
    expect((await create({}, { additionalPrinterColumns: [column], subresources: { status: {} } })).code).toBe(201);
    const webhook = { clientConfig: { url: 'https://example.com/x' }, conversionReviewVersions: ['v1'] };
    expect((await create({ conversion: { strategy: 'Webhook', webhook } })).code).toBe(201);
    expect((await create({ conversion: { strategy: 'Webhook' } })).code).toBe(422);
  });
});

test('G6.6: an access review has groups', async () => {
  const spec = { user: 'u', groups: ['system:masters'], nonResourceAttributes: { path: '/x', verb: 'get' } };
  const { body } = await open().post('/apis/authorization.orch.io/v1/subjectaccessreviews', { spec });
  expect(body['status']).toMatchObject({ allowed: true });
});

test('G6.7: a certificate signing request needs a signer and known usages', async () => {
  const { post } = open();
  const create = (more: object) =>
    post('/apis/certificates.orch.io/v1/certificatesigningrequests', {
      metadata: { generateName: 'c' },
      spec: { request: btoa('not a request'), signerName: 'example.com/s', usages: ['client auth'], ...more },
    });
  const fields = async (more: object) => {
    const { body } = await create(more);
    return ((body['details'] as { causes: { field: string }[] }).causes ?? []).map(({ field }) => field);
  };
  const base = await fields({});
  expect(base).toEqual(['spec.request']);
  expect(await fields({ signerName: undefined })).toContain('spec.signerName');
  expect(await fields({ signerName: 'orch.io/legacy-unknown' })).toContain('spec.signerName');
  expect(await fields({ usages: [] })).toContain('spec.usages');
  expect(await fields({ usages: ['client auth', 'client auth'] })).toContain('spec.usages[1]');
  expect(await fields({ usages: ['dancing'] })).toContain('spec.usages[0]');
});

test('G6.8: an ingress has a default backend with a service, and a required path type', async () => {
  const { post } = open();
  const create = (spec: object) =>
    post('/apis/networking.orch.io/v1/namespaces/default/ingresses?fieldValidation=Strict', {
      metadata: { generateName: 'i' },
      spec,
    });
  const backend = { service: { name: 's', port: { number: 80 } } };
  expect((await create({ defaultBackend: backend })).code).toBe(201);
  expect((await create({ defaultBackend: { service: { name: 's', port: { name: 'http' } } } })).code).toBe(201);
  expect((await create({ backend })).code).toBe(400);
  const rule = (path: object) => ({ rules: [{ http: { paths: [{ path: '/', backend, ...path }] } }] });
  for (const pathType of ['Prefix', 'Exact', 'ImplementationSpecific']) {
    expect((await create(rule({ pathType }))).code).toBe(201);
  }
  expect((await create(rule({}))).code).toBe(422);
  expect((await create(rule({ pathType: 'Regex' }))).code).toBe(422);
});
