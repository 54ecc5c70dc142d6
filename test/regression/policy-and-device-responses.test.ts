/** Responses of devices, policies, webhooks and reviews, compared with the reference server. */
import { expect, test } from 'vitest';
import { start as startWith, TABLE } from './over-http.js';

const featureGates = { AllBeta: true, ClusterTrustBundle: true, DynamicResourceAllocation: true };
const start = () => startWith({ runtimeConfig: 'api/all=true', featureGates });

const RESOURCE = '/apis/resource.k8s.io';
const VERSIONS = ['v1beta2', 'v1beta1', 'v1alpha3'];

test.each(VERSIONS)('returns null for the missing requests of a %s claim', async (version) => {
  const { call } = start();
  const path = `${RESOURCE}/${version}/namespaces/default/resourceclaims`;
  const created = await call('POST', path, { metadata: { name: 'a' }, spec: {} });
  expect(created.body.spec).toEqual({ devices: { requests: null } });
  const same = { ...created.body, spec: { devices: { requests: [] } } };
  expect((await call('PUT', `${path}/a`, same)).status).toBe(200);
});

test.each(VERSIONS)('returns null for missing device fields of a %s claim', async (version) => {
  const { call } = start();
  const path = `${RESOURCE}/${version}/namespaces/default/resourceclaims`;
  const exactRequest = { deviceClassName: 'c' };
  const request = version === 'v1beta2' ? { name: 'r', exactly: exactRequest } : { name: 'r', ...exactRequest };
  const { body } = await call('POST', path, { metadata: { name: 'a' }, spec: { devices: { requests: [request] } } });
  const device = { driver: 'd', pool: 'p', device: 'x' };
  const status = { allocation: { devices: { results: [{ request: 'r', ...device }] } }, devices: [device] };
  expect((await call('PUT', `${path}/a/status`, { ...body, status })).body.status).toEqual({
    allocation: { devices: { results: [{ request: 'r', ...device, adminAccess: null }] } },
    devices: [{ ...device, conditions: null }],
  });
});

test('reports the missing class of a flat request with admin access', async () => {
  const requests = [{ name: 'r', adminAccess: true }];
  const claim = { metadata: { name: 'a' }, spec: { devices: { requests } } };
  const { body } = await start().call('POST', `${RESOURCE}/v1beta1/namespaces/default/resourceclaims`, claim);
  const fields = body.details.causes.map(({ field }: { field: string }) => field);
  expect(fields).toContain('spec.devices.requests[0].exactly.deviceClassName');
});

test('returns null devices and counts dropped fields in the generation of a slice', async () => {
  const { call } = start();
  const spec = { driver: 'd', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } };
  const { body } = await call('POST', `${RESOURCE}/v1beta2/resourceslices`, { metadata: { name: 'a' }, spec });
  expect(body.spec.devices).toBeNull();
  const path = `${RESOURCE}/v1beta2/resourceslices/a`;
  const sharedCounters = [{ name: 'c', counters: { m: { value: '1' } } }];
  const changed = await call('PUT', path, { ...body, spec: { ...body.spec, sharedCounters } });
  expect(changed.body.metadata.generation).toBe(2);
  expect(changed.body.spec).toEqual(body.spec);
  const emptied = await call('PUT', path, { ...changed.body, spec: { ...body.spec, devices: [] } });
  expect(emptied.body.metadata.generation).toBe(2);
});

const ADMISSION = '/apis/admissionregistration.k8s.io';

test.each([
  [`${ADMISSION}/v1beta1/validatingadmissionpolicies`, { spec: { paramKind: 'x' } }, 'v1beta1.ParamKind'],
  [`${ADMISSION}/v1beta1/validatingadmissionpolicies`, { spec: { validations: [1] } }, 'v1beta1.Validation'],
  [`${ADMISSION}/v1/validatingadmissionpolicies`, { spec: { validations: [1] } }, 'v1.Validation'],
  [
    `${ADMISSION}/v1beta1/validatingadmissionpolicybindings`,
    { spec: 'x' },
    'v1beta1.ValidatingAdmissionPolicyBindingSpec',
  ],
  [`${ADMISSION}/v1alpha1/mutatingadmissionpolicies`, { spec: { failurePolicy: 1 } }, 'v1alpha1.FailurePolicyType'],
  [`${ADMISSION}/v1alpha1/mutatingadmissionpolicies`, { spec: { reinvocationPolicy: 1 } }, 'v1.ReinvocationPolicyType'],
  ['/apis/networking.k8s.io/v1beta1/ipaddresses', { spec: { parentRef: 1 } }, 'v1beta1.ParentReference'],
  ['/apis/networking.k8s.io/v1beta1/servicecidrs', { spec: 1 }, 'v1beta1.ServiceCIDRSpec'],
  ['/apis/certificates.k8s.io/v1alpha1/clustertrustbundles', { spec: 1 }, 'v1alpha1.ClusterTrustBundleSpec'],
  ['/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { extra: { a: 1 } } }, 'v1.ExtraValue'],
])('names the Go type of the version in an error at %s', async (path, body, type) => {
  const response = await start().call('POST', path, body);
  expect(response.status).toBe(400);
  expect(response.body.message.endsWith(` of type ${type}`)).toBe(true);
});

test('checks the fields of a JSONPatch expression with dynamic types only', async () => {
  const { call } = start();
  const resourceRules = [{ operations: ['CREATE'], apiGroups: ['x'], apiVersions: ['v1'], resources: ['y'] }];
  const policy = (expression: string) => ({
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    },
  });
  const path = `${ADMISSION}/v1alpha1/mutatingadmissionpolicies?dryRun=All`;
  const rejected = await call('POST', path, policy('[JSONPatch{foo: 1}]'));
  expect(rejected.body.message).toContain("expected type of field 'foo' is '' but provided type is 'int'");
  expect((await call('POST', path, policy('[JSONPatch{foo: dyn(1)}]'))).status).toBe(201);
});

test.each([
  ['https://a%20b/', 'invalid URL escape \\"%20\\"'],
  ['https://[a]/', 'invalid host: ParseAddr(\\"a\\"): unable to parse IP'],
  ['https://u%zz@x/', 'invalid URL escape \\"%zz\\"'],
  ['https://<x>/', undefined],
])('parses the webhook URL %s like the reference server', async (url, problem) => {
  const webhook = { name: 'a.b.c', clientConfig: { url }, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  const path = `${ADMISSION}/v1/validatingwebhookconfigurations`;
  const { status, body } = await start().call('POST', path, { metadata: { name: 'w' }, webhooks: [webhook] });
  expect(status).toBe(problem === undefined ? 201 : 422);
  if (problem !== undefined) expect(JSON.stringify(body.message)).toContain(problem);
});

test('does not call a webhook with an invalid CA bundle', async () => {
  const { call } = start();
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  const clientConfig = { url: 'https://127.0.0.1:1/', caBundle: 'AAAA' };
  const webhook = { name: 'a.b.c', clientConfig, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  await call('POST', `${ADMISSION}/v1/validatingwebhookconfigurations`, {
    metadata: { name: 'w' },
    webhooks: [webhook],
  });
  const { body } = await call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } });
  expect(body.message).toBe(
    'Internal error occurred: failed calling webhook "a.b.c": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
  );
});

test.each([
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 406],
  ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 406],
  ['POST', '/api/v1/namespaces/default/pods/x/eviction', 406],
  ['GET', '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval', 406],
  ['GET', '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/status', 404],
  ['GET', '/api/v1/namespaces/default/pods/x/resize', 406],
  ['GET', '/apis/apps/v1/namespaces/default/deployments/x/scale', 404],
  ['GET', '/apis/apiregistration.k8s.io/v1/apiservices/x/status', 406],
  ['GET', '/api/v1/namespaces/default/status', 200],
])('responds to a table request %s %s with %d', async (method, path, status) => {
  expect((await start().call(method, path, method === 'POST' ? {} : undefined, { accept: TABLE })).status).toBe(status);
});
