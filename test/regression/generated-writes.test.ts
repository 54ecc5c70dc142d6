/** Writes of generated requests (test/differential) whose results once differed from those of the reference server. */
import { describe, expect, test } from 'vitest';
import { start as startWith } from './over-http.js';

const featureGates = { AllBeta: true, StorageVersionMigrator: true };
const start = () => startWith({ runtimeConfig: 'api/all=true', featureGates });

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

describe('an apply of a custom resource with fields that are stored and never returned', () => {
  const WIDGETS = '/apis/x.io/v1/namespaces/default/widgets';
  const widget = { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
  const definition = {
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };

  async function startWithWidgets() {
    const { call } = start();
    await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    const versionOf = async (...request: Parameters<typeof call>) =>
      Number((await call(...request)).body.metadata.resourceVersion);
    const apply = (metadata: object, path = 'a') =>
      versionOf(
        'PATCH',
        `${WIDGETS}/${path}?fieldManager=m`,
        { ...widget, metadata: { name: 'a', ...metadata } },
        APPLY,
      );
    return { apply, patch: () => versionOf('PATCH', `${WIDGETS}/a`, {}), versionOf };
  }

  test.each([{ labels: {} }, { annotations: null }, { finalizers: [] }, { ownerReferences: [] }])(
    'changes the object each time with %o',
    async (metadata) => {
      const { apply } = await startWithWidgets();
      const first = await apply(metadata);
      const second = await apply(metadata);
      expect(second).toBeGreaterThan(first);
      expect(await apply(metadata)).toBeGreaterThan(second);
    },
  );

  test('makes the next write a change, and the one after it none', async () => {
    const { apply, patch } = await startWithWidgets();
    const applied = await apply({ finalizers: [] });
    const next = await patch();
    expect(next).toBeGreaterThan(applied);
    expect(await patch()).toBe(next);
  });

  test('makes the next write a change if fields were pruned', async () => {
    const { patch, versionOf } = await startWithWidgets();
    const applied = await versionOf('PATCH', `${WIDGETS}/a?fieldManager=m`, { ...widget, spec: { x: 1 } }, APPLY);
    const next = await patch();
    expect(next).toBeGreaterThan(applied);
    expect(await patch()).toBe(next);
  });
});

test('returns null as the group of a data source in a claim template of a StatefulSet', async () => {
  const { call } = start();
  const labels = { a: 'b' };
  const dataSourceRef = { kind: 'PersistentVolumeClaim', name: 'x' };
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels } },
    volumeClaimTemplates: [{ spec: { dataSourceRef } }],
  };
  const { body } = await call('POST', '/apis/apps/v1/namespaces/default/statefulsets', {
    metadata: { name: 'a' },
    spec,
  });
  expect(body.spec.volumeClaimTemplates[0].spec.dataSourceRef).toEqual({ apiGroup: null, ...dataSourceRef });
});

test.each(['resize', 'ephemeralcontainers'])(
  'validates the metadata of a pod in a write to %s',
  async (subresource) => {
    const { call } = start();
    const PODS = '/api/v1/namespaces/default/pods';
    await call('POST', PODS, { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const patch = [{ op: 'add', path: '/metadata/generateName', value: 'a/b' }];
    const { body } = await call('PATCH', `${PODS}/a/${subresource}`, patch, JSON_PATCH);
    expect(body.details.causes.map(({ message }: { message: string }) => message.slice(22, 50))).toEqual([
      "may not contain '/'",
      expect.stringContaining('a lowercase RFC 1123'),
    ]);
  },
);

test('does not own empty conditions of a StorageVersionMigration', async () => {
  const { call } = start();
  const PATH = '/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations';
  const resource = { group: 'apps', version: 'v1', resource: 'deployments' };
  const { body: created } = await call('POST', PATH, { metadata: { name: 'a' }, spec: { resource } });
  const { body } = await call('PATCH', `${PATH}/a/status`, { status: { conditions: [] } });
  expect(body.metadata.managedFields).toEqual(created.metadata.managedFields);
});

test('remembers empty values of a request when there are mutating webhooks', async () => {
  const { call } = start();
  const PATH = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  const webhook = {
    name: 'a.b.example.com',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: 'https://127.0.0.1:1/x' },
  };
  await call('POST', PATH, { metadata: { name: 'a' }, webhooks: [webhook] });
  const patch = [{ op: 'add', path: '/webhooks/0/objectSelector/matchLabels', value: {} }];
  expect((await call('PATCH', `${PATH}/a`, patch, JSON_PATCH)).body.metadata.generation).toBe(2);
});
