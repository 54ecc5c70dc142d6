/** Responses to rare requests that once differed from the reference server. The differential test found them. */
import { describe, expect, test } from 'vitest';
import { start } from './over-http.js';

const CORE = '/api/v1/namespaces/default';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/x.io/v1/namespaces/default/things';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

function definition(version: object) {
  const versions = [{ name: 'v1', served: true, storage: true, ...version }];
  const spec = { group: 'x.io', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.x.io' },
    spec,
  };
}

describe('a custom resource with the kind of another resource', () => {
  const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
  const spec = { type: 'object', properties: { n: { type: 'integer' }, set } };
  const rules = [{ rule: 'has(self.spec)', message: 'no spec' }];
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-validations': rules, properties: { spec } };
  const thing = { apiVersion: 'x.io/v1', kind: 'Other', metadata: { name: 'a', labels: { a: '-' } } };

  test('is rejected with the errors of lists and rules, without those of the metadata and the schema', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition({ schema: { openAPIV3Schema } }));
    const { body } = await call('POST', THINGS, { ...thing, spec: { n: 'x', set: ['a', 'a'] } });
    const causes: { field: string; message: string }[] = body.details.causes;
    expect(causes.map(({ field }) => field)).toEqual(['kind', 'spec.set[1]']);
    expect(body.details.kind).toBe('Other');
    const withoutSpec = await call('POST', THINGS, thing);
    const messages = withoutSpec.body.details.causes.map(({ message }: { message: string }) => message);
    expect(messages).toEqual(['Invalid value: "Other": must be Thing', 'Invalid value: "object": no spec']);
  });

  test('is rejected by an update with the errors of the metadata', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition({ schema: { openAPIV3Schema } }));
    await call('POST', THINGS, { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { n: 1 } });
    const patch = [
      { op: 'replace', path: '/kind', value: 'Other' },
      { op: 'add', path: '/metadata/labels', value: { a: '-' } },
    ];
    const { body } = await call('PATCH', `${THINGS}/a`, patch, JSON_PATCH);
    const causes: { field: string }[] = body.details.causes;
    expect(causes.map(({ field }) => field)).toEqual(['metadata.labels', 'metadata.labels', 'kind']);
  });

  test('is named by the errors of a patch of its status', async () => {
    const { call } = start();
    const status = { type: 'object', properties: { n: { type: 'integer' } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { status } } };
    await call('POST', DEFINITIONS, definition({ schema, subresources: { status: {} } }));
    await call('POST', THINGS, { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' } });
    const { body } = await call('PATCH', `${THINGS}/a/status`, { kind: 'Other', status: { n: 'x' } });
    expect(body.details.kind).toBe('Other');
    expect(body.details.causes).toHaveLength(1);
  });
});

test.each([
  ['x', 'is an invalid path: expected [ or . but got: x'],
  ['.', 'is an invalid path: unexpected end of JSON path'],
  ["['a']", 'is an invalid path: array notation is not allowed'],
])('validates the selectable field %s of a version with an empty schema', async (jsonPath, problem) => {
  const { body } = await start().call(
    'POST',
    DEFINITIONS,
    definition({ schema: {}, selectableFields: [{ jsonPath }] }),
  );
  expect(body.details.causes[1]).toMatchObject({
    field: 'spec.selectableFields[0].jsonPath',
    message: expect.stringContaining(problem),
  });
});

test('names only the inner fields of a schema that an apply cannot convert', async () => {
  const items = { type: 5 };
  const openAPIV3Schema = { type: 'object', properties: { a: { type: 'array', items } } };
  const body = definition({ schema: { openAPIV3Schema } });
  const applied = await start().call('PATCH', `${DEFINITIONS}/things.x.io?fieldManager=m`, body, APPLY);
  expect(applied).toMatchObject({
    status: 500,
    body: {
      message: expect.stringMatching(
        /: json: cannot unmarshal number into Go struct field JSONSchemaProps\.type of type string$/,
      ),
    },
  });
});

test.each([
  [[1], 'array'],
  [{ a: 1 }, 'object'],
])('rejects an applied port %j when the object is converted', async (targetPort, type) => {
  const body = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { ports: [{ port: 80, targetPort }] },
  };
  const applied = await start().call('PATCH', `${CORE}/services/s?fieldManager=m`, body, APPLY);
  expect(applied.body.message).toBe(
    `failed to convert new object (/s; /v1, Kind=Service) to proper version: unable to convert unstructured object to /v1, Kind=Service: json: cannot unmarshal ${type} into Go value of type int32`,
  );
});

test('rejects an applied list for a text with a format in a custom resource', async () => {
  const { call } = start();
  const spec = { type: 'object', properties: { size: { type: 'string', format: 'int64' } } };
  await call(
    'POST',
    DEFINITIONS,
    definition({ schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }),
  );
  const thing = { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { size: [1] } };
  expect((await call('PATCH', `${THINGS}/a?fieldManager=m`, thing, APPLY)).body.message).toBe(
    'failed to create typed patch object (/a; x.io/v1, Kind=Thing): .spec.size: expected any scalar, got &{[1]}',
  );
});

test('names the core group when the generated name of an Event is taken', async () => {
  const { call } = start();
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  const event = {
    metadata: { name: 'a', generateName: 'a' },
    eventTime: '2020-01-01T00:00:00.000000Z',
    reportingController: 'a.b/c',
    reportingInstance: 'i',
    action: 'x',
    reason: 'r',
    type: 'Normal',
    regarding: { namespace: 'default' },
  };
  await call('POST', path, event);
  expect((await call('POST', path, event)).body.message).toBe(
    'events "a" already exists, the server was not able to generate a unique name for the object',
  );
});

test('returns the selfLink of a patch that removes the object', async () => {
  const { call } = start();
  await call('POST', `${CORE}/configmaps`, { metadata: { name: 'c', finalizers: ['x.y/z'] } });
  await call('DELETE', `${CORE}/configmaps/c`);
  const patched = await call('PATCH', `${CORE}/configmaps/c`, { metadata: { selfLink: '/c', finalizers: null } });
  expect(patched).toMatchObject({ status: 200, body: { metadata: { name: 'c', selfLink: '/c' } } });
  expect((await call('GET', `${CORE}/configmaps/c`)).status).toBe(404);
});

test('returns the empty list of an update that removes the object', async () => {
  const { call } = start();
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  await call('POST', path, { metadata: { name: 'r', finalizers: ['x.y/z'] } });
  await call('DELETE', `${path}/r`);
  const { body } = await call('PUT', `${path}/r`, { metadata: { name: 'r' }, rules: [] });
  expect(body.rules).toEqual([]);
});

test.each([
  ['configmaps', 'binaryData'],
  ['secrets', 'data'],
])('distinguishes null from empty bytes in immutable %s', async (resource, field) => {
  const { call, refusedFields } = start();
  const object = (value: unknown) => ({ metadata: { name: 'a' }, immutable: true, [field]: { key: value } });
  await call('POST', `${CORE}/${resource}`, object(''));
  expect(await refusedFields('PUT', `${CORE}/${resource}/a`, object(null))).toEqual([field]);
  expect((await call('PUT', `${CORE}/${resource}/a`, object(''))).status).toBe(200);
  const labels = { metadata: { labels: { a: 'b' } } };
  expect((await call('PATCH', `${CORE}/${resource}/a`, labels)).status).toBe(200);
});

test('rejects an empty overhead of a pod without a RuntimeClass', async () => {
  const { call } = start();
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], overhead: {} } };
  expect((await call('POST', `${CORE}/pods`, pod)).body.message).toBe(
    'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  );
});

test.each([
  [{}, '', 'Required value'],
  [{ name: 'a/b' }, 'a/b', `Invalid value: "a/b": may not contain '/'`],
])('rejects the fixed address of a Service with the metadata %j', async (metadata, name, problem) => {
  const { call } = start();
  const service = { metadata, spec: { clusterIP: '10.0.7.7', ports: [{ port: 80 }] } };
  const { body } = await call('POST', `${CORE}/services`, service);
  const refusal = `IPAddress.networking.k8s.io "10.0.7.7" is invalid: spec.parentRef.name: ${problem}`;
  expect(body.message).toBe(
    `Service "${name}" is invalid: spec.clusterIPs: Invalid value: []string{"10.0.7.7"}: failed to allocate IP 10.0.7.7: ${refusal}`,
  );
});

test('reports other errors of a patched Scale of a custom resource without an apiVersion', async () => {
  const { call } = start();
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  await call('POST', DEFINITIONS, definition({ schema: { openAPIV3Schema }, subresources: { scale } }));
  await call('POST', THINGS, { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { n: 1 } });
  const remove = { op: 'remove', path: '/apiVersion' };
  const patch = (...more: object[]) => call('PATCH', `${THINGS}/a/scale`, [remove, ...more], JSON_PATCH);
  expect((await patch()).status).toBe(200);
  const { status, body } = await patch({ op: 'replace', path: '/spec/replicas', value: -1 });
  expect([status, body.message]).toEqual([
    422,
    'Thing.x.io "a" is invalid: .spec.n: Invalid value: -1: should be a non-negative integer',
  ]);
});

test.each(['ephemeralcontainers', 'resize', 'status'])(
  'ignores the deletionTimestamp in a patch of %s',
  async (name) => {
    const { call } = start();
    await call('POST', `${CORE}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const metadata = { deletionTimestamp: '2030-01-01T00:00:00Z', selfLink: '/p' };
    const { status, body } = await call('PATCH', `${CORE}/pods/p/${name}`, { metadata });
    expect([status, body.metadata.deletionTimestamp]).toEqual([200, undefined]);
  },
);

describe('an empty list or map in a message', () => {
  const APPS = '/apis/apps/v1/namespaces/default';
  const template = (labels: object) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } });

  test.each([
    [`${APPS}/replicasets`, { matchLabels: { a: 'b' } }],
    [`${APPS}/statefulsets`, { matchLabels: { a: 'b' } }],
    [`${CORE}/replicationcontrollers`, { a: 'b' }],
  ])('prints the empty labels of a template at %s', async (path, selector) => {
    const spec = { selector, template: template({}), serviceName: 's' };
    const { body } = await start().call('POST', path, { metadata: { name: 'a' }, spec });
    expect(body.details.causes[0].message).toBe(
      'Invalid value: map[string]string{}: `selector` does not match template `labels`',
    );
  });

  test('prints the empty capacity of a PersistentVolume', async () => {
    const spec = { capacity: {}, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
    const { body } = await start().call('POST', '/api/v1/persistentvolumes', { metadata: { name: 'a' }, spec });
    expect(body.message).toContain('Unsupported value: core.ResourceList{}: supported values: "storage"');
  });

  test('prints no alternatives of a claim, which the server drops', async () => {
    const { call } = start({ runtimeConfig: 'api/all=true', featureGates: { DynamicResourceAllocation: true } });
    const path = '/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims';
    const claim = (request: object) => ({ metadata: { name: 'a' }, spec: { devices: { requests: [request] } } });
    const deviceClassName = 'c';
    await call('POST', path, claim({ name: 'r', deviceClassName }));
    const { body } = await call('PUT', `${path}/a`, claim({ name: 's', deviceClassName, firstAvailable: [] }));
    expect(body.message).toContain('FirstAvailable:[]resource.DeviceSubRequest(nil)');
  });
});

test('keeps the generation of a StatefulSet when absent containers become an empty list', async () => {
  const { call } = start();
  const path = '/apis/apps/v1/namespaces/default/statefulsets';
  const object = (spec?: object) => {
    const template = { metadata: { labels: { a: 'b' } }, spec };
    return { metadata: { name: 'a' }, spec: { selector: { matchLabels: { a: 'b' } }, serviceName: 's', template } };
  };
  await call('POST', path, object());
  const { status, body } = await call('PUT', `${path}/a`, object({ containers: [] }));
  expect([status, body.metadata.generation]).toEqual([200, 1]);
});

test('changes the resourceVersion of a custom resource with the first write after the apply of a label without a value', async () => {
  const { call } = start();
  await call('POST', DEFINITIONS, definition({ schema: { openAPIV3Schema: { type: 'object' } } }));
  const thing = { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a', labels: { a: null } } };
  const versions: string[] = [];
  for (const [body, headers] of [
    [thing, APPLY],
    [[], JSON_PATCH],
    [[], JSON_PATCH],
  ] as const) {
    const changed = await call('PATCH', `${THINGS}/a?fieldManager=m`, body, headers);
    versions.push(changed.body.metadata.resourceVersion);
  }
  expect(new Set(versions).size).toBe(2);
  expect(versions[1]).toBe(versions[2]);
});

test('keeps the resourceVersion of a custom resource that was applied with empty finalizers in another version', async () => {
  const { call } = start();
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const crd = definition({ schema });
  crd.spec.versions.push({ name: 'v2', served: true, storage: false, schema } as (typeof crd.spec.versions)[0]);
  await call('POST', DEFINITIONS, crd);
  for (const [version, isKept] of [
    ['v2', true],
    ['v1', false],
  ] as const) {
    const path = `${THINGS.replace('v1', version)}/${version}`;
    const thing = { apiVersion: `x.io/${version}`, kind: 'Thing', metadata: { name: version, finalizers: [] } };
    const applied = await call('PATCH', `${path}?fieldManager=m`, thing, APPLY);
    const patched = await call('PATCH', path, { metadata: {} });
    const versions = [applied, patched].map(({ body }) => body.metadata.resourceVersion);
    expect(versions[0] === versions[1]).toBe(isKept);
  }
});

test('prints the digits of a quantity of a LimitRange as sent', async () => {
  const limits = [{ type: 'Container', min: { cpu: 1.5 }, default: { cpu: '1m' } }];
  const { body } = await start().call('POST', `${CORE}/limitranges`, { metadata: { name: 'a' }, spec: { limits } });
  expect(body.message).toContain(
    'resource.Quantity{i:resource.int64Amount{value:15, scale:-1}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1500m", Format:"DecimalSI"}',
  );
});

test('compares quantities of a LimitRange beyond 1000E as they were sent', async () => {
  const limits = [{ type: 'Container', min: { cpu: '3' }, default: { cpu: '2000E' } }];
  const created = await start().call('POST', `${CORE}/limitranges`, { metadata: { name: 'a' }, spec: { limits } });
  expect([created.status, created.body.spec.limits[0].default]).toEqual([201, { cpu: '2' }]);
});

test.each([
  [
    'which a wide one is compared with',
    { min: { memory: '2Gi' }, max: { memory: '0.5Gi' } },
    '0xc000000000',
    '2Gi',
    'BinarySI',
  ],
  ['that was null', { max: { memory: '-1' }, defaultRequest: { memory: null } }, 'nil', '0', ''],
])('prints the parts of a quantity of a LimitRange %s', async (_, lists, pointer, text, format) => {
  const object = { metadata: { name: 'a' }, spec: { limits: [{ type: 'Container', ...lists }] } };
  const { body } = await start().call('POST', `${CORE}/limitranges`, object);
  expect(body.details.causes[0].message).toContain(
    `resource.Quantity{i:resource.int64Amount{value:0, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(${pointer})}, s:"${text}", Format:"${format}"}`,
  );
});

test('warns about a deprecated version in an update of a custom resource without a name', async () => {
  const { call } = start();
  const schema = { openAPIV3Schema: { type: 'object' } };
  await call('POST', DEFINITIONS, definition({ schema, deprecated: true }));
  const { status, warning } = await call('PUT', THINGS, {});
  expect([status, warning]).toEqual([400, '299 - "x.io/v1 Thing is deprecated"']);
});

test.each(['', '[]', { spec: { replicas: 'x' } }])(
  'has one message for the Scale %j that it cannot decode',
  async (body) => {
    const { call } = start();
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
    await call('POST', DEFINITIONS, definition({ schema, subresources: { scale } }));
    await call('POST', THINGS, { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { n: 1 } });
    expect((await call('PUT', `${THINGS}/a/scale`, body)).body.message).toMatch(
      /^no kind is registered for the type v1\.Scale in scheme /,
    );
  },
);

describe('a custom resource of a deprecated version with a scale', () => {
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } },
  };
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  const old = { schema: { openAPIV3Schema }, subresources: { scale }, deprecated: true, deprecationWarning: 'is old' };

  test('has no warning in a path without its namespace, which does not exist', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition(old));
    expect(await call('GET', '/apis/x.io/v1/things/a')).toMatchObject({ status: 404, warning: null });
    expect(await call('GET', `${THINGS}/a`)).toMatchObject({ status: 404, warning: '299 - "is old"' });
  });

  test.each([
    ['a patch', 'PATCH', { apiVersion: null, spec: { replicas: 2 } }],
    ['an update', 'PUT', { kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 2 } }],
  ])('has no manager of the replicas after %s of its scale without apiVersion', async (_, method, body) => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition(old));
    await call('POST', THINGS, { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { n: 1 } });
    const changed = await call(method, `${THINGS}/a/scale?fieldManager=m`, body);
    expect(changed).toMatchObject({ status: 200, body: { apiVersion: 'autoscaling/v1', spec: { replicas: 2 } } });
    const { managedFields } = (await call('GET', `${THINGS}/a`)).body.metadata;
    expect(managedFields.map(({ fieldsV1 }: { fieldsV1: object }) => fieldsV1)).toEqual([{ 'f:spec': {} }]);
  });
});

test('removes an applied map in which only an empty list and a default are left', async () => {
  const { call } = start();
  const a = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
  const spec = { type: 'object', properties: { a, c: { type: 'string', default: 'A' } } };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  await call('POST', DEFINITIONS, definition({ schema: { openAPIV3Schema } }));
  const thing = { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: {} };
  await call('PATCH', `${THINGS}/a?fieldManager=m`, thing, APPLY);
  const changed = await call('PATCH', `${THINGS}/a`, { spec: { a: [] } });
  expect(changed.body.spec).toEqual({ a: [], c: 'A' });
  const { body } = await call('PATCH', `${THINGS}/a?fieldManager=m`, thing, APPLY);
  expect(body).not.toHaveProperty('spec');
});
