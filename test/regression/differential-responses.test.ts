/** Responses that the differential test found to differ from the reference server. */
import { cbor } from 'orchplane/codec/cbor';
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';
import { expect, test } from 'vitest';
import { start, TABLE } from './over-http.js';

const CORE = '/api/v1/namespaces/default';
const APPS = '/apis/apps/v1/namespaces/default';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

test('rejects fields of an ephemeral container that were sent as empty lists and maps', async () => {
  const { call, refusedFields } = start();
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await call('POST', `${CORE}/pods`, pod);
  const debug = { name: 'e', image: 'i', resizePolicy: [], ports: [], resources: { limits: {} } };
  const spec = { ...pod.spec, ephemeralContainers: [debug] };
  expect(await refusedFields('PUT', `${CORE}/pods/p/ephemeralcontainers`, { ...pod, spec })).toEqual(
    ['ports', 'resources', 'resizePolicy'].map((field) => `spec.ephemeralContainers[0].${field}`),
  );
});

test('names the first segment of a service path that starts with a character of several bytes', async () => {
  const clientConfig = { service: { name: 'n', namespace: 'm', path: 'é' } };
  const webhook = { name: 'a.b.c', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig };
  const { body } = await start().call('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'w' },
    webhooks: [webhook],
  });
  expect(body.details.causes.map(({ message }: { message: string }) => message)).toEqual([
    `Invalid value: "é": must start with a '/'`,
    expect.stringMatching(/^Invalid value: "é": segment\[0\]: a lowercase RFC 1123 subdomain must consist of/),
  ]);
});

test.each([
  ['POST', '', '[]byte{}'],
  ['POST', [], '[]byte{}'],
  ['POST', null, '[]byte(nil)'],
  ['POST', 'AAE=', '[]byte{0x0, 0x1}'],
  ['PATCH', '', '[]byte{}'],
  ['PATCH', undefined, '[]byte(nil)'],
])('prints after a %s the request %j of a CertificateSigningRequest as %s', async (method, request, printed) => {
  const spec = { request, signerName: 'a.b/c', usages: ['client auth'] };
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const headers = method === 'PATCH' ? { 'content-type': 'application/apply-patch+yaml' } : {};
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'c' },
    spec,
  };
  const url = method === 'PATCH' ? `${path}/c?fieldManager=m` : path;
  const { body } = await start().call(method, url, object, headers);
  expect(body.details.causes[0].message).toBe(`Invalid value: ${printed}: PEM block type must be CERTIFICATE REQUEST`);
});

test.each([
  [
    { type: 'OnDelete', rollingUpdate: {} },
    { maxUnavailable: 0, maxSurge: 0 },
  ],
  [
    { type: 'OnDelete', rollingUpdate: { maxSurge: 1 } },
    { maxUnavailable: 0, maxSurge: 1 },
  ],
  [{ type: 'OnDelete' }, undefined],
  [{ rollingUpdate: {} }, { maxUnavailable: 1, maxSurge: 0 }],
  [{}, { maxUnavailable: 1, maxSurge: 0 }],
])('fills in the rolling update of a DaemonSet with the strategy %j', async (updateStrategy, expected) => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { updateStrategy, selector: { matchLabels: { a: 'b' } }, template };
  const { body } = await start().call('POST', `${APPS}/daemonsets`, { metadata: { name: 'd' }, spec });
  expect(body.spec.updateStrategy.rollingUpdate).toEqual(expected);
});

test.each([
  [`${CORE}/limitranges`, null],
  ['/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', null],
  [`${CORE}/pods`, []],
])('returns the rows of an empty table at %s', async (path, rows) => {
  expect((await start().call('GET', path, undefined, { accept: TABLE })).body.rows).toEqual(rows);
});

test.each([
  [[{ manager: 1 }], 500, /managedFields\[0\]\.manager: expected string, got/],
  [[{ fieldsV1: 'x', time: '1' }], 500, /managedFields\[0\]\.fieldsV1: expected map, got &\{x\}$/],
  [['x'], 500, /managedFields\[0\]: expected map, got/],
  [[{}], 400, /^metadata\.managedFields must be nil$/],
])('rejects an applied configuration with the managedFields %j', async (managedFields, code, message) => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', managedFields } };
  const response = await start().call('PATCH', `${CORE}/configmaps/c?fieldManager=m`, body, APPLY);
  expect([response.status, response.body.message]).toEqual([code, expect.stringMatching(message)]);
});

test.each([
  ['limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['resourceVersionMatch=x', 422, expect.stringMatching(/^ListOptions\.meta\.k8s\.io "" is invalid/)],
  ['watch=1&labelSelector=a%20b', 400, expect.stringMatching(/^unable to parse requirement/)],
  ['fieldSelector=a%3Db', 406, expect.stringMatching(/^only the following media types are accepted/)],
])('reports the options %s of a list before a view that is not available', async (query, code, message) => {
  const accept = 'application/json;as=Unknown;v=v1;g=meta.k8s.io';
  const { status, body } = await start().call('GET', `${CORE}/configmaps?${query}`, undefined, { accept });
  expect([status, body.message]).toEqual([code, message]);
});

test('creates a ValidatingAdmissionPolicy that does not exist by an apply to its status', async () => {
  const { call } = start();
  const [apiVersion, kind] = ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy'];
  const path = `/apis/${apiVersion}/validatingadmissionpolicies`;
  const apply = (document: object) =>
    call('PATCH', `${path}/p/status?fieldManager=m`, { apiVersion, kind, metadata: { name: 'p' }, ...document }, APPLY);
  expect((await apply({ status: {} })).body.message).toMatch(/^ValidatingAdmissionPolicy.* is invalid: \[spec\./);
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] };
  const { status, body } = await apply({ spec, status: { observedGeneration: 3 } });
  expect(status).toBe(201);
  expect(body).toMatchObject({ metadata: { managedFields: [{ subresource: 'status' }] }, status: {} });
  expect((await call('PUT', `${path}/q/status`, { metadata: { name: 'q' }, spec })).status).toBe(404);
});

test('lists the resources of a custom group in all encodings except CBOR', async () => {
  const { cluster, path } = await startWithFoos({ spec: { type: 'object' } });
  const handle = createFetchHandler(cluster, { codecs: [protobuf, cbor] });
  const codeOf = async (url: string, accept: string) =>
    (await handle(new Request(`http://cluster${url}`, { headers: { accept } }))).status;
  const group = path.replace('/namespaces/default/foos/f', '');
  expect(await codeOf(group, 'application/cbor')).toBe(406);
  expect(await codeOf(group, 'application/vnd.kubernetes.protobuf')).toBe(200);
  expect(await codeOf('/apis/apps/v1', 'application/cbor')).toBe(200);
});

async function startWithFoos(properties: object) {
  const { call, cluster } = start({ featureGates: { CBORServingAndStorage: true } });
  const names = { plural: 'foos', singular: 'foo', kind: 'Foo' };
  const schema = { openAPIV3Schema: { type: 'object', properties } };
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema };
  await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'foos.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
  });
  const path = '/apis/example.com/v1/namespaces/default/foos/f';
  const apply = async (document: object) => {
    const whole = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'f' }, ...document };
    const { body } = await call('PATCH', `${path}?fieldManager=m`, whole, APPLY);
    return body;
  };
  return { call, cluster, path, apply };
}

test('raises the generation of a custom resource when fields are applied that are pruned', async () => {
  const { apply } = await startWithFoos({ spec: { type: 'object' }, status: { type: 'object' } });
  const generations: number[] = [];
  for (const document of [{ spec: { a: 1 } }, { spec: { a: 1 } }, { spec: {} }, { status: { a: 1 } }]) {
    const { spec, metadata } = await apply({ spec: {}, ...document });
    expect(spec).toEqual({});
    generations.push(metadata.generation);
  }
  expect(generations).toEqual([1, 2, 2, 2]);
});

test('removes managedFields when a patch of a status has a spec of the wrong type', async () => {
  const spec = { type: 'object', properties: { a: { type: 'string' } } };
  const { call, path, apply } = await startWithFoos({ spec, status: { type: 'object' } });
  expect((await apply({ spec: { a: 'x' } })).metadata.managedFields).toHaveLength(1);
  const { status, body } = await call('PATCH', `${path}/status`, { spec: { a: 1 }, status: {} });
  expect([status, body.spec, body.metadata.managedFields]).toEqual([200, { a: 'x' }, undefined]);
});

test.each([
  ['1.5Gi', '{d: s"1610612736.000", Format: "BinarySI"}'],
  ['0.5', '{i: resource.int64Amount{value: 5, scale: -1}, Format: "DecimalSI"}'],
  ['1000m', '{i: resource.int64Amount{value: 1000, scale: -3}, Format: "DecimalSI"}'],
  ['0.0001', '{i: resource.int64Amount{value: 1, scale: -3}, Format: "DecimalSI"}'],
  ['2Gi', '{i: resource.int64Amount{value: 2147483648}, s: "2Gi", Format: "BinarySI"}'],
])('prints the quantity %s of an immutable field as it was sent', async (storage, printed) => {
  const { call } = start();
  const claim = (amount: string, mode: string) => ({
    metadata: { name: 'c' },
    spec: { accessModes: [mode], resources: { requests: { storage: amount } } },
  });
  await call('POST', `${CORE}/persistentvolumeclaims`, claim('1.5Ti', 'ReadWriteOnce'));
  const path = `${CORE}/persistentvolumeclaims/c`;
  const { body } = await call('PUT', path, claim(storage, 'ReadWriteMany'));
  expect(body.message).toContain(`s"storage": ${printed}`);
  // The stored quantity has its canonical form.
  expect(body.message).toContain('{i: resource.int64Amount{value: 1649267441664}, Format: "BinarySI"}');
});

test('prints requests and size limits of a pod as they were sent', async () => {
  const { call } = start();
  const pod = (cpu: string, sizeLimit: string) => ({
    metadata: { name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '8' }, requests: { cpu } } }],
      volumes: [{ name: 'v', emptyDir: { sizeLimit } }],
    },
  });
  await call('POST', `${CORE}/pods`, pod('1', '1Gi'));
  const { body } = await call('PUT', `${CORE}/pods/p`, pod('0.5', '1.5Mi'));
  expect(body.message).toContain('s"cpu": {i: resource.int64Amount{value: 5, scale: -1}, Format: "DecimalSI"}');
  expect(body.message).toContain('SizeLimit: &resource.Quantity{d: s"1572864.000000000", Format: "BinarySI"}');
});

test('warns about a fractional claim template at the path of the reference server', async () => {
  const { call } = start();
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '500m' } } };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const volumeClaimTemplates = [{ metadata: { name: 'v' }, spec: claim }];
  const spec = { serviceName: 's', selector: { matchLabels: { a: 'b' } }, volumeClaimTemplates, template };
  const created = await call('POST', `${APPS}/statefulsets`, { metadata: { name: 's' }, spec });
  const updated = await call('PATCH', `${APPS}/statefulsets/s`, { metadata: { labels: { a: 'b' } } });
  expect([created.warning, updated.warning]).toEqual([
    expect.stringContaining('spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value'),
    expect.stringContaining('spec.volumeClaimTemplates[0].Spec.resources.requests[storage]: fractional byte value'),
  ]);
});

test('rejects an apply to an untracked object whose list items have no key', async () => {
  const { call } = start();
  await call('POST', `${CORE}/serviceaccounts`, { metadata: { name: 'a' }, secrets: [{}] });
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } };
  const response = await call('PATCH', `${CORE}/serviceaccounts/a?fieldManager=m`, body, APPLY);
  expect([response.status, response.body.message]).toEqual([
    500,
    'failed to create manager for existing fields: failed to convert new object (default/a; /v1, Kind=ServiceAccount) to smd typed: .secrets: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
  ]);
});

test.each([
  ['without a divisor', undefined, 'other'],
  ['in another spelling', '1000m', 'other'],
  ['as it is stored', '1', 'node'],
])('owns the items of a downward API volume whose quantity is sent %s', async (_, divisor, owner) => {
  const { call } = start();
  const pod = (amount: string | undefined) => {
    const resourceFieldRef = { containerName: 'c', resource: 'limits.cpu', divisor: amount };
    const volume = {
      name: 'v',
      projected: { sources: [{ downwardAPI: { items: [{ path: 'a', resourceFieldRef }] } }] },
    };
    return { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], volumes: [volume] } };
  };
  await call('POST', `${CORE}/pods?fieldManager=node`, pod(divisor === undefined ? undefined : '1'));
  // Parts of the live object that a patch keeps were not sent.
  await call('PATCH', `${CORE}/pods/p?fieldManager=label`, { metadata: { labels: { a: 'b' } } });
  const { body } = await call('PUT', `${CORE}/pods/p?fieldManager=other`, pod(divisor));
  const owners = body.metadata.managedFields.filter((entry: object) => JSON.stringify(entry).includes('f:sources'));
  expect(owners).toEqual([expect.objectContaining({ manager: owner })]);
});
