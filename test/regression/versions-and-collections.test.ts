/** Writes in several versions of a kind, and deletions of collections, that once differed from the reference server. */
import { describe, expect, test } from 'vitest';
import { start as startWith } from './over-http.js';

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RESOURCE = 'resource.k8s.io';
const POLICIES = 'admissionregistration.k8s.io';

const start = () => startWith({ runtimeConfig: 'api/all=true', featureGates: { DynamicResourceAllocation: true } });

function object(apiVersion: string, kind: string, spec: object) {
  return { apiVersion, kind, metadata: { name: 'a' }, spec };
}

describe('an apply to an object that another manager owns in another version', () => {
  test('conflicts about changed fields only, not about an empty list', async () => {
    const { call } = start();
    const config = [{ opaque: { driver: 'gpu.example.com', parameters: {} } }];
    const spec = { selectors: [{ cel: { expression: 'true' } }], config };
    await call('POST', `/apis/${RESOURCE}/v1alpha3/deviceclasses`, object(`${RESOURCE}/v1alpha3`, 'DeviceClass', spec));
    const applied = object(`${RESOURCE}/v1beta1`, 'DeviceClass', { selectors: [{}], config: [] });
    const { body } = await call('PATCH', `/apis/${RESOURCE}/v1beta1/deviceclasses/a?fieldManager=m`, applied, APPLY);
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual(['.spec.selectors']);
  });

  test('conflicts about a part whose defaults it removes', async () => {
    const { call } = start();
    const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
    const matchConstraints = { resourceRules: [rule] };
    const policy = (version: string, validations: object[]) =>
      object(`${POLICIES}/${version}`, 'ValidatingAdmissionPolicy', { matchConstraints, validations });
    const path = (version: string) => `/apis/${POLICIES}/${version}/validatingadmissionpolicies`;
    await call('POST', path('v1beta1'), policy('v1beta1', [{ expression: 'true' }]));
    const { body } = await call('PATCH', `${path('v1')}/a?fieldManager=m`, policy('v1', [{}]), APPLY);
    const fields = body.details.causes.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(['.spec.matchConstraints', '.spec.validations']);
  });

  test('names that version if pruning fails in it', async () => {
    const { call } = start();
    const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const apply = (spec: object) => {
      const applied = object('autoscaling/v2', 'HorizontalPodAutoscaler', spec);
      return call('PATCH', `${path('v2')}/a?fieldManager=m&force=true`, applied, APPLY);
    };
    const scaler = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
    await call('POST', path('v1'), object('autoscaling/v1', 'HorizontalPodAutoscaler', scaler));
    await apply({ behavior: { scaleUp: { selectPolicy: 'Min' } } });
    const { body } = await apply({ metrics: [{ containerResource: { target: { averageValue: '100%' } } }] });
    expect(body.message).toMatch(
      /^failed to prune fields: failed add back owned items: failed to convert merged object at version autoscaling\/v1: unable to convert/,
    );
  });

  test('fails in that version if a value has the wrong form', async () => {
    const { call } = start();
    const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const scaler = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
    await call('POST', path('v1'), object('autoscaling/v1', 'HorizontalPodAutoscaler', scaler));
    const metrics = [{ containerResource: { target: { averageValue: '100%' } } }];
    const applied = object('autoscaling/v2', 'HorizontalPodAutoscaler', { metrics });
    const { body } = await call('PATCH', `${path('v2')}/a?fieldManager=m&force=true`, applied, APPLY);
    expect(body.message).toMatch(
      /^failed to convert new object: unable to convert unstructured object to autoscaling\/v2, Kind=HorizontalPodAutoscaler: quantities must match/,
    );
  });
});

test('a patch in a version that cannot represent a field keeps the owner of the field', async () => {
  const { call } = start();
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const target = { type: 'Utilization', averageUtilization: 5, value: 1 };
  const metrics = [{ type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target } }];
  const scaler = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5, metrics };
  await call('POST', path('v2'), object('autoscaling/v2', 'HorizontalPodAutoscaler', scaler));
  const { body } = await call('PATCH', `${path('v1')}/a`, { metadata: { labels: { a: 'b' } } });
  const [{ fieldsV1 }] = body.metadata.managedFields.filter(
    ({ apiVersion }: { apiVersion: string }) => apiVersion === 'autoscaling/v2',
  );
  expect(fieldsV1['f:spec']).toHaveProperty('f:metrics');
});

describe('a deletion of a collection', () => {
  test('removes the system priority classes, which cannot be deleted by name', async () => {
    const { call } = start();
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
    expect((await call('DELETE', `${path}/system-node-critical`)).status).toBe(403);
    expect((await call('DELETE', path)).status).toBe(200);
    expect((await call('GET', path)).body.items).toEqual([]);
  });
});

describe('a custom resource in a version that is not stored', () => {
  test('gets the defaults of the storage version by a deletion that waits for finalizers', async () => {
    const { call } = start();
    const version = (name: string, spec: object) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    });
    const text = { type: 'string', default: 'x' };
    const versions = [
      version('v1', { type: 'object', properties: { a: text, b: text } }),
      version('v1beta1', { type: 'object', properties: { a: text, b: { type: 'string' } } }),
    ];
    await call('POST', DEFINITIONS, definition(versions));
    const metadata = { name: 'a', finalizers: ['example.com/a'] };
    const thing = { apiVersion: 'x.io/v1beta1', kind: 'Thing', metadata, spec: {} };
    await call('POST', '/apis/x.io/v1beta1/things', thing);
    const { body: marked } = await call('DELETE', '/apis/x.io/v1beta1/things/a');
    const { body: patched } = await call('PATCH', '/apis/x.io/v1beta1/things/a', { metadata: {} });
    expect(patched.metadata.resourceVersion).toBe(marked.metadata.resourceVersion);
  });
});

describe('a custom resource with managers in two versions', () => {
  const version = (name: string) => ({
    name,
    served: true,
    storage: name === 'v1',
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: text } } } } },
  });
  const text = { type: 'string' };
  const thing = (name: string, rest: object) => ({
    apiVersion: `x.io/${name}`,
    kind: 'Thing',
    metadata: { name: 'a' },
    ...rest,
  });

  test('loses the owner of a field that a write to the status of the other version has changed', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition([version('v1'), version('v1beta1')]));
    await call('POST', '/apis/x.io/v1/things', thing('v1', { spec: { a: 'x' } }));
    const { body } = await call('PATCH', '/apis/x.io/v1beta1/things/a/status', { spec: { a: 'y' } });
    expect(body.spec.a).toBe('x');
    expect(JSON.stringify(body.metadata.managedFields)).not.toContain('f:a');
  });

  test('loses all metadata that its applier owned', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition([version('v1'), version('v1beta1')]));
    await call('POST', '/apis/x.io/v1/things', thing('v1', { spec: { a: 'x' } }));
    const withFinalizer = { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a', finalizers: ['x.io/a'] } };
    await call('PATCH', '/apis/x.io/v1/things/a?fieldManager=m', withFinalizer, APPLY);
    const applied = await call('PATCH', '/apis/x.io/v1beta1/things/a?fieldManager=m', thing('v1beta1', {}), APPLY);
    expect(applied.status).toBe(200);
    expect(applied.body.metadata.finalizers).toBeUndefined();
  });

  test('has no owners when a list of one version has an item twice', async () => {
    const { call } = start();
    const path = (name: string) => `/apis/storage.k8s.io/${name}/volumeattributesclasses`;
    const spec = { driverName: 'd', parameters: { k: 'v' } };
    const metadata = { name: 'a', finalizers: ['x.io/a', 'x.io/a'] };
    const stored = { apiVersion: 'storage.k8s.io/v1alpha1', kind: 'VolumeAttributesClass', metadata, ...spec };
    await call('POST', path('v1alpha1'), stored);
    const { body } = await call('PATCH', `${path('v1beta1')}/a`, { metadata: { labels: { a: 'b' } } });
    expect(body.metadata.managedFields).toBeUndefined();
  });
});

test('versions of a definition with one name share the subresources of the first in the errors of their schemas', async () => {
  const { call } = start();
  const openAPIV3Schema = { $schema: 'a' };
  const versions = [
    { name: 'v1', served: true, storage: true, subresources: { status: {} } },
    { name: 'v1', served: true, storage: false, schema: { openAPIV3Schema } },
  ];
  const { body } = await call('POST', DEFINITIONS, definition(versions));
  expect(body.message).toContain('fields are allowed at the root of the schema if the status subresource is enabled');
  expect(body.message).not.toContain("OpenAPIV3Schema 'schema' is not supported");
});

function definition(versions: object[]) {
  const spec = { group: 'x.io', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.x.io' },
    spec,
  };
}
