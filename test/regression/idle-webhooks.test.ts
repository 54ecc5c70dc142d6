/** A mutating webhook that no request matches changes no object. The differential test found the differences. */
import { beforeEach, expect, test } from 'vitest';
import { start } from './over-http.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/x.io/v1/namespaces/default/things';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

let { call } = start();

beforeEach(async () => {
  ({ call } = start());
  const rules = [{ apiGroups: ['none.example.com'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }];
  const webhook = { name: 'a.b.c', clientConfig: { url: 'https://a.b' }, sideEffects: 'None', rules };
  const created = await call('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'w' },
    webhooks: [{ ...webhook, admissionReviewVersions: ['v1'] }],
  });
  expect(created.status).toBe(201);
});

test('gives a Job without labels those of its pods', async () => {
  const template = {
    metadata: { labels: { app: 'x' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  };
  const { body } = await call('POST', '/apis/batch/v1/namespaces/default/jobs', {
    metadata: { name: 'a' },
    spec: { template },
  });
  expect(body.metadata.labels).toEqual(body.spec.template.metadata.labels);
  expect(body.metadata.labels).toMatchObject({ app: 'x', 'job-name': 'a' });
});

async function install() {
  const value = { type: 'object', default: {}, properties: { key: { type: 'string', default: 'x' } } };
  const spec = { type: 'object', properties: { s: { type: 'string' } } };
  const schemaOf = (properties: object) => ({
    openAPIV3Schema: { type: 'object', properties: { spec: { ...spec, properties } } },
  });
  const versions = [
    { name: 'v1', served: true, storage: true, schema: schemaOf(spec.properties) },
    { name: 'v1beta1', served: true, storage: false, schema: schemaOf({ ...spec.properties, value }) },
  ];
  const names = { plural: 'things', kind: 'Thing' };
  await call('POST', DEFINITIONS, {
    metadata: { name: 'things.x.io' },
    spec: { group: 'x.io', scope: 'Namespaced', names, versions },
  });
}

const thing = (spec: object, version = 'v1') => ({
  apiVersion: `x.io/${version}`,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
});

test('keeps the null that an apply leaves in a custom resource', async () => {
  await install();
  await call('PATCH', `${THINGS}/a?fieldManager=m`, thing({ s: 'x' }), APPLY);
  const { body } = await call('PATCH', `${THINGS}/a?fieldManager=m`, thing({}), APPLY);
  expect(body.details.causes).toMatchObject([{ field: 'spec', reason: 'FieldValueTypeInvalid' }]);
});

test('adds no defaults to a custom resource that an apply does not change', async () => {
  await install();
  const things = THINGS.replace('v1', 'v1beta1');
  const { body: created } = await call('POST', things, thing({}, 'v1beta1'));
  const { spec: _, ...unchanged } = thing({}, 'v1beta1');
  const { body } = await call('PATCH', `${things}/a?fieldManager=m`, unchanged, APPLY);
  expect(body.metadata).toEqual(created.metadata);
});

test('rejects a patch of the apiVersion of a custom resource', async () => {
  await install();
  await call('POST', THINGS, thing({}));
  const { body } = await call('PATCH', `${THINGS}/a`, { apiVersion: 'x' });
  expect(body.details.causes).toMatchObject([{ field: 'apiVersion' }]);
});
