/** Types and names in generated requests (test/differential) whose responses once differed from the reference server. */
import { describe, expect, test } from 'vitest';
import { start } from './over-http.js';

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MAPS = '/api/v1/namespaces/default/configmaps';
const WIDGETS = '/apis/x.io/v1/namespaces/default/widgets';
const SCALE = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' } };

/** A CRD with status and scale. */
const definition = {
  metadata: { name: 'widgets.x.io' },
  spec: {
    group: 'x.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { n: { type: 'integer' }, at: { type: 'string', format: 'date-time' } },
              },
              status: { type: 'object', properties: { n: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

const widget = { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 3 } };

async function startWithWidgets() {
  const started = start();
  await started.call('POST', DEFINITIONS, definition);
  return started;
}

describe('an apiVersion without a version', () => {
  const map = { apiVersion: '/', kind: 'ConfigMap', metadata: { name: 'a' } };

  test('is that of the endpoint', async () => {
    const { call } = start();
    expect((await call('POST', MAPS, map)).body.apiVersion).toBe('v1');
    const revision = {
      apiVersion: 'apps/',
      kind: 'ControllerRevision',
      metadata: { name: 'a' },
      data: {},
      revision: 1,
    };
    const { body } = await call('POST', '/apis/apps/v1/namespaces/default/controllerrevisions', revision);
    expect(body.apiVersion).toBe('apps/v1');
  });

  test('is the internal version in a patched object', async () => {
    const { call } = start();
    await call('POST', MAPS, map);
    const { status, body, warning } = await call('PATCH', `${MAPS}/a`, { apiVersion: '/' });
    expect([status, warning]).toEqual([400, '299 - "unknown field \\"metadata\\""']);
    expect(body.message).toContain('name must be provided');
  });

  test('counts as missing in a custom resource', async () => {
    const { call } = await startWithWidgets();
    const { body } = await call('POST', WIDGETS, { ...widget, apiVersion: '/' });
    expect(body.message).toBe('the API version in the data () does not match the expected API version (x.io/v1)');
    await call('POST', WIDGETS, widget);
    const patched = await call('PATCH', `${WIDGETS}/a`, { apiVersion: '/' });
    expect([patched.status, patched.body.reason]).toEqual([500, 'InternalError']);
  });
});

describe('a custom resource of another kind', () => {
  test('has this kind in the error about unknown fields', async () => {
    const { call } = await startWithWidgets();
    const other = { ...widget, kind: 'Other', metadata: { name: 'a', x: 1 } };
    const { body } = await call('POST', `${WIDGETS}?fieldValidation=Strict`, other);
    expect(body.message).toBe(
      'Other in version "v1" cannot be handled as a Other: strict decoding error: unknown field "metadata.x"',
    );
  });

  test('reports duplicate fields', async () => {
    const { call } = await startWithWidgets();
    const text = '{"apiVersion":"x.io/v1","kind":"Odd","kind":"Other","metadata":{"name":"a"}}';
    const { body } = await call('POST', `${WIDGETS}?fieldValidation=Strict`, text);
    expect(body.message).toContain('strict decoding error: duplicate field "kind"');
  });

  test.each([{ kind: 'Other' }, { apiVersion: 'apps/v1' }])(
    'loses its managers in a status write with %o',
    async (type) => {
      const { call } = await startWithWidgets();
      const { body: created } = await call('POST', WIDGETS, widget);
      expect(created.metadata.managedFields).toHaveLength(1);
      const { status, body } = await call('PATCH', `${WIDGETS}/a/status`, type);
      expect([status, body.kind, body.apiVersion]).toEqual([200, 'Widget', 'x.io/v1']);
      expect(body.metadata).not.toHaveProperty('managedFields');
    },
  );
});

test('stores a custom resource with an empty list instead of a time without managers', async () => {
  const { call } = await startWithWidgets();
  await call('POST', WIDGETS, widget);
  const patch = [{ op: 'add', path: '/spec/at', value: [] }];
  const { status, body } = await call('PATCH', `${WIDGETS}/a`, patch, JSON_PATCH);
  expect([status, body.spec.at]).toEqual([200, []]);
  expect(body.metadata).not.toHaveProperty('managedFields');
});

describe('an apply to the scale of a custom resource', () => {
  const apply = (spec?: object) => ({ ...SCALE, ...(spec && { spec }) });

  test.each([undefined, { replicas: 3 }])('succeeds if it changes nothing: %o', async (spec) => {
    const { call } = await startWithWidgets();
    await call('POST', WIDGETS, widget);
    const { status, body } = await call('PATCH', `${WIDGETS}/a/scale?fieldManager=m`, apply(spec), APPLY);
    expect([status, body.spec]).toEqual([200, { replicas: 3 }]);
  });

  test('fails if it changes the replicas', async () => {
    const { call } = await startWithWidgets();
    await call('POST', WIDGETS, widget);
    const path = `${WIDGETS}/a/scale?fieldManager=m&force=true`;
    const { status, body } = await call('PATCH', path, apply({ replicas: 4 }), APPLY);
    expect([status, body.message]).toEqual([
      500,
      'failed to convert new object (/a; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1',
    ]);
  });
});

describe('names that cannot be a path segment', () => {
  const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const request = (metadata: object) => ({
    metadata,
    spec: { request: 'LS0t', signerName: 'a.com/b', usages: ['client auth'] },
  });

  test('are rejected after the rules of the kind', async () => {
    const { refusedFields } = start();
    expect(await refusedFields('POST', REQUESTS, request({ name: 'a%', generateName: 'a/b' }))).toEqual([
      'spec.request',
    ]);
    const role = { metadata: { name: 'a', generateName: 'a/b' } };
    const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
    expect(await refusedFields('POST', ROLES, role)).toEqual(['metadata.generateName']);
  });

  test('are rejected when the object is read', async () => {
    const { call } = start();
    const WHY = `Name parameter invalid: "a%": may not contain '%'`;
    expect((await call('GET', `${MAPS}/a%25?resourceVersion=x`)).body.message).toBe(WHY);
    expect((await call('DELETE', `${MAPS}/a%25`)).body.message).toBe(WHY);
    const other = await call('PUT', `${MAPS}/a%25`, { metadata: { name: 'a%', namespace: 'other' } });
    expect(other.body.message).toContain('the namespace of the provided object does not match');
  });
});

test('ignores an empty subresource of a custom resource and what follows it', async () => {
  const { call } = await startWithWidgets();
  await call('POST', WIDGETS, widget);
  expect((await call('GET', `${WIDGETS}/a//b`)).body.kind).toBe('Widget');
  await call('POST', MAPS, { metadata: { name: 'a' } });
  expect((await call('GET', `${MAPS}/a//b`)).status).toBe(404);
});

test('checks the structure of a schema with empty dependencies', async () => {
  const { refusedFields } = start();
  const [version] = definition.spec.versions;
  const openAPIV3Schema = { type: 'object', properties: { spec: { dependencies: {} } } };
  const spec = { ...definition.spec, versions: [{ ...version, schema: { openAPIV3Schema } }] };
  expect(await refusedFields('POST', DEFINITIONS, { ...definition, spec })).toEqual([
    'spec.validation.openAPIV3Schema.properties[spec].type',
    'spec.validation.openAPIV3Schema.properties[spec].dependencies',
  ]);
});

test('requires the name of a policy for the keys of its audit annotations', async () => {
  const { call } = start();
  const policy = { metadata: {}, spec: { auditAnnotations: [{ key: 'k' }] } };
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const { body } = await call('POST', path, policy);
  expect(body.details.causes).toContainEqual({
    reason: 'FieldValueInvalid',
    field: 'spec.auditAnnotations[0].key',
    message: 'Invalid value: "k": requires metadata.name be non-empty',
  });
});
