/** Responses to generated requests (test/differential) that once differed from the reference server. */
import { describe, expect, test } from 'vitest';
import { MERGE, start as startWith } from './over-http.js';

const featureGates = { AllBeta: true, DynamicResourceAllocation: true };
const start = () => startWith({ runtimeConfig: 'api/all=true', featureGates });

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A CRD whose versions have the given schemas of `spec`; the first one is stored. */
function definition(specs: Readonly<Record<string, object>>) {
  return {
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: Object.entries(specs).map(([name, spec], index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      })),
    },
  };
}

const widgets = (version: string) => `/apis/x.io/${version}/namespaces/default/widgets`;

describe('metadata of a claim template', () => {
  const TEMPLATES = '/apis/resource.k8s.io/v1beta2/namespaces/default/resourceclaimtemplates';
  const body = (metadata: object) => ({ metadata: { name: 'a' }, spec: { metadata } });

  test.each(['managedFields', 'ownerReferences', 'finalizers'])('rejects empty %s', async (field) => {
    const { refusedFields } = start();
    expect(await refusedFields('POST', TEMPLATES, body({ [field]: [] }))).toEqual([`spec.metadata.${field}`]);
  });

  test('prints managedFields in the message about a changed spec', async () => {
    const { call } = start();
    await call('POST', TEMPLATES, body({}));
    const patch = { spec: { metadata: { managedFields: [{}] } } };
    expect((await call('PATCH', `${TEMPLATES}/a`, patch)).body.message).toContain(
      'ManagedFields:[]v1.ManagedFieldsEntry{v1.ManagedFieldsEntry{Manager:"", Operation:"", APIVersion:"", Time:<nil>, FieldsType:"", FieldsV1:(*v1.FieldsV1)(nil), Subresource:""}}}',
    );
  });

  test('rejects field sets that are not maps when they are applied', async () => {
    const { call } = start();
    const applied = {
      apiVersion: 'resource.k8s.io/v1beta2',
      kind: 'ResourceClaimTemplate',
      ...body({ managedFields: [{ fieldsV1: 'x' }] }),
    };
    const { status, body: answer } = await call('PATCH', `${TEMPLATES}/a?fieldManager=m`, applied, APPLY);
    expect([status, answer.message]).toEqual([
      500,
      'failed to create typed patch object (/a; resource.k8s.io/v1beta2, Kind=ResourceClaimTemplate): .spec.metadata.managedFields[0].fieldsV1: expected map, got &{x}',
    ]);
  });
});

test('treats a v1beta1 device request with empty selectors as an exact one', async () => {
  const { refusedFields } = start();
  const path = '/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims';
  const requests = [{ name: 'r', selectors: [] }];
  expect(await refusedFields('POST', path, { metadata: { name: 'a' }, spec: { devices: { requests } } })).toEqual([
    'spec.devices.requests[0].exactly.deviceClassName',
    'spec.devices.requests[0].exactly.allocationMode',
  ]);
});

describe('empty lists in older versions of the resource group', () => {
  const CLAIMS = (version: string) => `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`;
  const claim = (version: string, fields: object) => {
    const exact = { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1, ...fields };
    const request = version === 'v1beta2' ? { name: 'r', exactly: exact } : { name: 'r', ...exact };
    const spec = { devices: { requests: [request] } };
    return { apiVersion: `resource.k8s.io/${version}`, kind: 'ResourceClaim', metadata: { name: 'a' }, spec };
  };

  test.each([
    ['v1alpha3', 'v1beta2'],
    ['v1beta2', 'v1beta1'],
  ])('keeps empty selectors and drops empty tolerations between %s and %s', async (first, second) => {
    const { call } = start();
    await call('PATCH', `${CLAIMS(first)}/a?fieldManager=m`, claim(first, {}), APPLY);
    const applied = claim(second, { selectors: [] });
    const { status, body } = await call('PATCH', `${CLAIMS(second)}/a?fieldManager=n`, applied, APPLY);
    expect([status, body.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "m": .spec.devices.requests',
    ]);
    const tolerant = claim(second, { tolerations: [] });
    expect((await call('PATCH', `${CLAIMS(second)}/a?fieldManager=n`, tolerant, APPLY)).status).toBe(200);
  });

  test.each([
    ['resourceclaims', claim('v1beta1', {}), claim('v1beta1', { tolerations: [] })],
    ...['consumesCounters', 'taints', 'attributes', 'capacity'].map((field) => {
      const slice = (basic: object) => ({
        metadata: { name: 'a' },
        spec: {
          driver: 'd',
          nodeName: 'n',
          pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
          devices: [{ name: 'x', basic }],
        },
      });
      return ['resourceslices', slice({}), slice({ [field]: field.startsWith('a') || field === 'capacity' ? {} : [] })];
    }),
  ] as [string, object, object][])(
    'leaves managedFields of %s unchanged by an update with an empty list',
    async (resource, without, withEmpty) => {
      const { call } = start();
      const path = resource === 'resourceclaims' ? CLAIMS('v1beta1') : `/apis/resource.k8s.io/v1beta1/${resource}`;
      const created = await call('POST', `${path}?fieldManager=m`, without);
      const updated = await call('PUT', `${path}/a?fieldManager=n`, withEmpty);
      expect([created.status, updated.status]).toEqual([201, 200]);
      expect(updated.body.metadata).toEqual(created.body.metadata);
    },
  );
});

test('leaves a LimitRange unchanged when a patch adds an empty default, which containers always have', async () => {
  const { call } = start();
  const path = '/api/v1/namespaces/default/limitranges';
  const created = await call('POST', path, { metadata: { name: 'a' }, spec: { limits: [{ type: 'Container' }] } });
  for (const field of ['default', 'defaultRequest']) {
    const patch = [{ op: 'add', path: `/spec/limits/0/${field}`, value: {} }];
    const { status, body } = await call('PATCH', `${path}/a?fieldManager=m`, patch, JSON_PATCH);
    expect([status, body.metadata]).toEqual([200, created.body.metadata]);
  }
});

test.each([
  [5, false],
  ['5', false],
  ['5.0', true],
])('compares a quantity in a list as it was sent: %j', async (cpu, isChange) => {
  const { call } = start();
  const path = '/api/v1/namespaces/default/limitranges';
  const sent = { metadata: { name: 'a' }, spec: { limits: [{ type: 'Pod', max: { cpu } }] } };
  const created = await call('POST', path, sent);
  const { body } = await call('PUT', `${path}/a?fieldManager=m`, sent);
  expect(body.metadata.resourceVersion !== created.body.metadata.resourceVersion).toBe(isChange);
});

test('stores the status of an autoscaler in v1 without an average value', async () => {
  const { call } = start();
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 6 };
  await call('POST', path('v2'), { metadata: { name: 'a' }, spec });
  const status = { currentCPUUtilizationPercentage: 5 };
  await call('PUT', `${path('v1')}/a/status`, { metadata: { name: 'a' }, status });
  const { body } = await call('GET', `${path('v2')}/a`);
  const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 5 } } }];
  expect(body['status']).toEqual({ currentMetrics, desiredReplicas: 0 });
});

describe('an apply to an object that apply cannot represent', () => {
  const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } };
  const KEYLESS =
    '.secrets: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)';

  test('reports the stored object before the configuration if it has no managers', async () => {
    const { call } = start();
    await call('POST', ACCOUNTS, { ...account, secrets: [{}] });
    const { status, body } = await call('PATCH', `${ACCOUNTS}/a?fieldManager=m`, { ...account, secrets: [{}] }, APPLY);
    expect([status, body.message]).toEqual([
      500,
      `failed to create manager for existing fields: failed to convert new object (default/a; /v1, Kind=ServiceAccount) to smd typed: ${KEYLESS}`,
    ]);
  });

  test('reports a stored object that does not match the schema of the requested version', async () => {
    const { call } = start();
    const number = { type: 'object', properties: { a: { type: 'integer', default: 1 } } };
    const map = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
    await call('POST', DEFINITIONS, definition({ v1: number, v1beta1: map }));
    const applied = { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} };
    await call('PATCH', `${widgets('v1')}/a?fieldManager=m`, applied, APPLY);
    const other = { ...applied, apiVersion: 'x.io/v1beta1' };
    const { status, body } = await call('PATCH', `${widgets('v1beta1')}/a?fieldManager=n`, other, APPLY);
    expect([status, body.message]).toEqual([
      500,
      'failed to create typed live object (default/a; x.io/v1beta1, Kind=Widget): .spec.a: expected map, got &{1}',
    ]);
  });
});

test('reports a value of the wrong type in a configuration before a version that lacks a field of the object', async () => {
  const { call } = start();
  const map = { type: 'object', properties: { a: { type: 'string' } } };
  const current = { type: 'object', properties: { c: { type: 'integer', default: 1 }, value: map } };
  await call('POST', DEFINITIONS, definition({ v1: current, v1beta1: { type: 'object', properties: { value: map } } }));
  const widget = (version: string, spec: object) => ({
    apiVersion: `x.io/${version}`,
    kind: 'Widget',
    metadata: { name: 'a' },
    spec,
  });
  await call('POST', widgets('v1'), widget('v1', {}));
  const older = { ...widget('v1beta1', { value: { a: 'x' } }) };
  expect((await call('PATCH', `${widgets('v1beta1')}/a?fieldManager=n`, older, APPLY)).status).toBe(200);
  const applied = widget('v1', { value: 'x' });
  const { status, body } = await call('PATCH', `${widgets('v1')}/a?fieldManager=m`, applied, APPLY);
  expect([status, body.message]).toEqual([
    500,
    'failed to create typed patch object (/a; x.io/v1, Kind=Widget): .spec.value: expected map, got &{x}',
  ]);
});

describe('the apiVersion of a custom resource', () => {
  const SPEC = { v1: { type: 'object', properties: { a: { type: 'string' } } } };

  test('has its own error if it is null', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition(SPEC));
    const why = '.apiVersion accessor error: <nil> is of the type <nil>, expected string';
    const widget = { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' } };
    const { body } = await call('POST', widgets('v1'), { ...widget, apiVersion: null });
    expect(body.message).toBe(`Widget in version "" cannot be handled as a Widget: ${why}`);
    await call('POST', widgets('v1'), widget);
    const patch = [{ op: 'add', path: '/apiVersion', value: null }];
    const patched = await call('PATCH', `${widgets('v1')}/a`, patch, JSON_PATCH);
    expect(patched.status).toBe(422);
    expect(patched.body.message).toContain(why);
  });

  test('is compared after warnings about unknown fields', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition(SPEC));
    const sent = { apiVersion: 'x', kind: 'Widget', metadata: { y: 1 }, z: 1 };
    const { body, warning } = await call('POST', widgets('v1'), sent);
    expect(body.message).toMatch(/^the API version in the data \(x\) does not match/);
    expect(warning).toBe('299 - "unknown field \\"metadata.y\\""');
  });

  test('may be missing after a patch only if the namespace is wrong too', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition(SPEC));
    await call('POST', widgets('v1'), { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' } });
    const remove = { op: 'remove', path: '/apiVersion' };
    const move = { op: 'replace', path: '/metadata/namespace', value: 'other' };
    const patch = (...operations: object[]) => call('PATCH', `${widgets('v1')}/a`, operations, JSON_PATCH);
    expect((await patch(remove)).body.message).toContain("Object 'apiVersion' is missing");
    expect((await patch(remove, move)).body.message).toContain('the namespace of the provided object does not match');
  });
});

test('drops nulls that an apply leaves in a list of a custom resource', async () => {
  const { call } = start();
  const item = { type: 'object', properties: { v: { 'x-kubernetes-preserve-unknown-fields': true } } };
  await call(
    'POST',
    DEFINITIONS,
    definition({ v1: { type: 'object', properties: { l: { type: 'array', items: item } } } }),
  );
  const applied = { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { l: [{ v: null }] } };
  const { body } = await call('PATCH', `${widgets('v1')}/a?fieldManager=m`, applied, APPLY);
  expect(body.spec).toEqual({ l: [{}] });
});

describe('reads of a version from the future', () => {
  test('fail for the scale of a workload', async () => {
    const { cluster, call } = start();
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const SETS = '/apis/apps/v1/namespaces/default/replicasets';
    await call('POST', SETS, { metadata: { name: 'a' }, spec: { selector: { matchLabels: { a: 'b' } }, template } });
    const answer = call('GET', `${SETS}/a/scale?resourceVersion=999999999`);
    await cluster.clock.advance(3000);
    expect((await answer).body).toMatchObject({ code: 504, details: { retryAfterSeconds: 1 } });
  });

  test('fail at once for events, which have no watch cache', async () => {
    const { call } = start();
    const { body } = await call('GET', '/api/v1/namespaces/default/events?resourceVersion=999999999');
    expect(body.code).toBe(504);
    expect(body.details).not.toHaveProperty('retryAfterSeconds');
  });
});

test('reports a missing name of an event only if the event is valid otherwise', async () => {
  const { refusedFields } = start();
  const path = '/api/v1/namespaces/kube-system/events';
  expect(await refusedFields('POST', path, {})).toEqual(['involvedObject.namespace']);
  expect(await refusedFields('POST', path, { involvedObject: { namespace: 'kube-system' } })).toEqual([
    'metadata.name',
  ]);
});

test.each([
  ['c'.repeat(247), 'Always'],
  ['c'.repeat(248), 'IfNotPresent'],
  [`example.com/${'c'.repeat(255)}`, 'Always'],
  [`example.com/${'c'.repeat(256)}`, 'IfNotPresent'],
])('chooses the pull policy of an image by the length of its repository: %s', async (image, policy) => {
  const { call } = start();
  const spec = { containers: [{ name: 'c', image }] };
  const { body } = await call('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'a' }, spec });
  expect(body.spec.containers[0].imagePullPolicy).toBe(policy);
});

test('sorts the keys of a value that a JSON patch copies into itself', async () => {
  const { call } = start();
  const MAPS = '/api/v1/namespaces/default/configmaps';
  await call('POST', MAPS, { metadata: { name: 'a' } });
  const patch = [{ op: 'copy', from: '/metadata', path: '/metadata/generation' }];
  const { body } = await call('PATCH', `${MAPS}/a`, patch, JSON_PATCH);
  expect(body.message).toMatch(/"generation\\":\{\\"creationTimestamp\\":.*\\"name\\":\\"a\\",\\"namespace\\"/);
  expect((await call('PATCH', `${MAPS}/a`, {}, { 'content-type': MERGE })).status).toBe(200);
});

test('validates the finalizers of events.k8s.io events', async () => {
  const { refusedFields } = start();
  const event = {
    metadata: { name: 'a', finalizers: ['unqualified'] },
    eventTime: '2030-01-01T00:00:00.000000Z',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    action: 'Run',
    reason: 'Ran',
    type: 'Normal',
    regarding: { namespace: 'default' },
  };
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  expect(await refusedFields('POST', path, event)).toEqual(['metadata.finalizers[0]']);
});

test('stores a template whose metadata has an invalid field set without managedFields', async () => {
  const { call } = start();
  const metadata = { managedFields: [{ fieldsV1: true }] };
  const template = { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const { status, body } = await call('POST', '/api/v1/namespaces/default/podtemplates', {
    metadata: { name: 'a' },
    template,
  });
  expect(status).toBe(201);
  expect(body.metadata).not.toHaveProperty('managedFields');
});

test('stores new timestamps of managedFields with an update that sets selfLink', async () => {
  const { cluster, call } = start();
  const MAPS = '/api/v1/namespaces/default/configmaps';
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } };
  const apply = async (metadata: object) =>
    (await call('PATCH', `${MAPS}/a?fieldManager=m`, { ...applied, metadata: { name: 'a', ...metadata } }, APPLY)).body
      .metadata;
  const { resourceVersion } = await apply({});
  await cluster.clock.advance(1000);
  expect((await apply({})).resourceVersion).toBe(resourceVersion);
  const stamped = await apply({ selfLink: 'x' });
  expect(stamped.resourceVersion).not.toBe(resourceVersion);
  expect(stamped).not.toHaveProperty('selfLink');
});

test('prints the invalid status of a condition of a StorageVersion', async () => {
  const { call } = start();
  const VERSIONS = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
  await call('POST', VERSIONS, { metadata: { name: 'x.a' }, spec: {} });
  const conditions = [{ type: 'T', status: 'a b', reason: 'r', message: 'm' }];
  const { body } = await call('PATCH', `${VERSIONS}/x.a/status`, { status: { conditions } });
  const causes = body.details.causes.map(({ field, message }: Record<string, string>) => `${field}: ${message}`);
  expect(causes).toEqual([expect.stringMatching(/^status\[0\]\.status: Invalid value: "a b": name part must consist/)]);
});

test('treats missing and empty topology keys of a CSI driver as equal', async () => {
  const { call } = start();
  const NODES = '/apis/storage.k8s.io/v1/csinodes';
  const driver = { name: 'd.example.com', nodeID: 'n' };
  await call('POST', NODES, { metadata: { name: 'a' }, spec: { drivers: [driver] } });
  const patch = { spec: { drivers: [{ ...driver, topologyKeys: [] }] } };
  expect((await call('PATCH', `${NODES}/a`, patch)).status).toBe(200);
});

test('sorts warnings about finalizers of custom resources', async () => {
  const { call } = start();
  await call('POST', DEFINITIONS, definition({ v1: { type: 'object' } }));
  const metadata = { name: 'a', finalizers: ['b', 'a', 'b'] };
  const { warning } = await call('POST', widgets('v1'), { apiVersion: 'x.io/v1', kind: 'Widget', metadata });
  expect(warning?.match(/finalizers: \\"\w/g)).toEqual(['finalizers: \\"a', 'finalizers: \\"b']);
});

test('validates the selectors of a deletecollection before the options of the query', async () => {
  const { call } = start();
  const { body } = await call(
    'DELETE',
    '/api/v1/namespaces/default/configmaps?labelSelector=a+in+(&gracePeriodSeconds=x',
  );
  expect(body.message).toContain('unable to parse requirement');
});

test('accepts any field in a struct without fields when it is applied', async () => {
  const { call } = start();
  const path = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/x.a?fieldManager=m';
  const applied = {
    apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
    kind: 'StorageVersion',
    metadata: { name: 'x.a' },
  };
  const { status, body } = await call('PATCH', path, { ...applied, spec: { x: '' } }, APPLY);
  expect(status).toBe(201);
  expect(body.spec).toEqual({});
  expect(body.metadata.managedFields[0].fieldsV1).toEqual({ 'f:spec': { 'f:x': {} } });
});

test('quotes a malformed resource name of an autoscaler', async () => {
  const { call } = start();
  const scaleTargetRef = { kind: 'Deployment', name: 'd' };
  const target = { type: 'Utilization', averageUtilization: 1 };
  const metrics = [{ type: 'ContainerResource', containerResource: { name: 'a b', container: 'c', target } }];
  const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
  const { body } = await call('POST', path, {
    metadata: { name: 'a' },
    spec: { scaleTargetRef, maxReplicas: 2, metrics },
  });
  expect(body.details.causes.map(({ message }: { message: string }) => message.slice(0, 21))).toEqual([
    'Invalid value: "a b":',
    'Invalid value: a b: m',
  ]);
});

test('forgets empty maps of a stored volume claim', async () => {
  const { call } = start();
  const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
  const resources = { requests: { storage: '1Gi' }, limits: {} };
  await call('POST', CLAIMS, { metadata: { name: 'a' }, spec: { accessModes: ['ReadWriteOnce'], resources } });
  const { body } = await call('PATCH', `${CLAIMS}/a`, { spec: { resources: { requests: { x: 1 } } } });
  expect(body.message).toContain('\tLimits: nil,');
  expect(body.message).not.toContain('core.ResourceList{},');
});

test('validates the prefix of a generated event name', async () => {
  const { refusedFields } = start();
  const event = { metadata: { generateName: '/' }, involvedObject: { namespace: 'kube-system' } };
  expect(await refusedFields('POST', '/api/v1/namespaces/kube-system/events', event)).toEqual([
    'metadata.generateName',
    'metadata.name',
  ]);
});
