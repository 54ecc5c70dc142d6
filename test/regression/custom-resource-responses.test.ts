/** Responses of CRDs and custom resources that once differed from the reference server and that no recording covers. */
import { describe, expect, test } from 'vitest';
import { METADATA, start, TABLE } from './over-http.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/x.io/v1/namespaces/default/widgets';

const openAPIV3Schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer' }, replicas: { type: 'integer' } } },
    status: { type: 'object', properties: { replicas: { type: 'integer' } } },
  },
};
const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };

function definition(spec: object = {}, metadata: object = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.x.io', ...metadata },
    spec: {
      group: 'x.io',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [version],
      ...spec,
    },
  };
}

describe('discovery of custom resources', () => {
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  };

  test('lists status before scale for every method', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition({ versions: [{ ...version, subresources }] }));
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, body } = await call(method, '/apis/x.io/v1', method === 'POST' ? {} : undefined);
      expect(status).toBe(200);
      expect(body.resources.map(({ name }: { name: string }) => name)).toEqual([
        'widgets',
        'widgets/status',
        'widgets/scale',
      ]);
    }
    expect((await call('POST', '/apis/apps/v1', {})).status).toBe(405);
  });

  test('lists the response kinds in aggregated discovery', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition({ versions: [{ ...version, subresources }] }));
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = (await call('GET', '/apis', undefined, { accept })).body;
    const own = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'x.io');
    const widget = { group: 'x.io', version: 'v1', kind: 'Widget' };
    expect(own.versions[0].resources[0]).toMatchObject({
      responseKind: widget,
      subresources: [
        { subresource: 'status', responseKind: widget },
        { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
      ],
    });
  });

  test('returns the name and age columns in a table of a scale', async () => {
    const { call, rows } = start();
    await call('POST', DEFINITIONS, definition({ versions: [{ ...version, subresources }] }));
    const body = { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { replicas: 2 } };
    await call('POST', WIDGETS, body);
    const { columns, cells } = await rows(`${WIDGETS}/a/scale`);
    expect(columns).toMatchObject([
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Desired', type: 'integer' },
      { name: 'Available', type: 'integer' },
      { name: 'Age', type: 'date', format: '' },
    ]);
    expect(cells[0].slice(0, 3)).toEqual(['a', 2, 0]);
  });

  test('omits the storage version hash when the storage version is not served', async () => {
    const { call } = start();
    const stored = { ...version, name: 'v2', served: false };
    await call('POST', DEFINITIONS, definition({ versions: [{ ...version, storage: false }, stored] }));
    expect((await call('GET', '/apis/x.io/v1')).body.resources[0]).not.toHaveProperty('storageVersionHash');
    const { body } = await call('PATCH', `${DEFINITIONS}/widgets.x.io`, {
      spec: { versions: [version, { ...stored, storage: false }] },
    });
    expect(body.status.storedVersions).toEqual(['v2', 'v1']);
    expect((await call('GET', '/apis/x.io/v1')).body.resources[0]).toHaveProperty('storageVersionHash');
  });
});

describe('CustomResourceDefinition', () => {
  test('accepts finalizers without a domain', async () => {
    const { call } = start();
    const { status, body } = await call('POST', DEFINITIONS, definition({}, { finalizers: ['nope'] }));
    expect([status, body.metadata.finalizers]).toEqual([201, ['nope']]);
    const lease = { metadata: { name: 'l', finalizers: ['nope'] } };
    expect((await call('POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', lease)).status).toBe(201);
    const map = { metadata: { name: 'm', finalizers: ['nope'] } };
    expect((await call('POST', '/api/v1/namespaces/default/configmaps', map)).status).toBe(422);
  });

  test('validates the name before the labels', async () => {
    const { body } = await start().call('POST', DEFINITIONS, definition({}, { name: 'a.x.io', labels: { a: 'b c' } }));
    expect(body.details.causes.map(({ field, message }: Record<string, string>) => [field, message])).toEqual([
      ['metadata.name', 'Invalid value: "a.x.io": must be spec.names.plural+"."+spec.group'],
      ['metadata.labels', expect.stringContaining('a valid label must')],
    ]);
  });

  const webhook = (caBundle?: string) => ({
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a', caBundle } },
    },
  });

  test('does not establish a CRD with an invalid CA bundle', async () => {
    const { call } = start();
    expect((await call('POST', DEFINITIONS, definition(webhook('aGVsbG8=')))).status).toBe(201);
    const { body } = await call('GET', `${DEFINITIONS}/widgets.x.io`);
    expect(body.status.conditions).toMatchObject([
      { type: 'NamesAccepted', status: 'True' },
      {
        type: 'Established',
        status: 'False',
        reason: 'InvalidCABundle',
        message: 'The conversion webhook CABundle is invalid',
      },
    ]);
    expect((await call('GET', '/apis/x.io/v1')).status).toBe(404);
    await call('PATCH', `${DEFINITIONS}/widgets.x.io`, { spec: webhook() });
    await call('PATCH', `${DEFINITIONS}/widgets.x.io`, {
      spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } },
    });
    expect((await call('GET', '/apis/x.io/v1')).status).toBe(200);
  });

  test.each([
    ['hello', 'unable to parse bytes as PEM block'],
    ['-----BEGIN NOTE-----\nAQI=\n-----END NOTE-----\n', 'no valid certificate authority data seen'],
    ['-----BEGIN NOTE-----\nAQI=\n-----END NOTE-----\nx', 'unable to parse bytes as PEM block'],
    [
      '-----BEGIN CERTIFICATE-----\nAQI=\n-----END CERTIFICATE-----\n',
      'failed to parse certificate: x509: malformed certificate',
    ],
  ])('rejects an invalid CA bundle for an established CRD: %j', async (text, why) => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition());
    const { status, body } = await call('PATCH', `${DEFINITIONS}/widgets.x.io`, { spec: webhook(btoa(text)) });
    expect(status).toBe(422);
    expect(body.details.causes).toEqual([
      {
        reason: 'FieldValueInvalid',
        message: expect.stringMatching(
          new RegExp(`^Invalid value: \\[\\]byte\\{0x.*\\}: unable to load root certificates: ${why}$`),
        ),
        field: 'spec.conversion.webhookClientConfig.caBundle',
      },
    ]);
  });

  test('rejects a name that the CRD already uses', async () => {
    const { call } = start();
    const names = { plural: 'widgets', kind: 'Widget', singular: 'widget', shortNames: ['wd'] };
    await call('POST', DEFINITIONS, definition({ names }));
    const change = (more: object) =>
      call('PATCH', `${DEFINITIONS}/widgets.x.io`, { spec: { names: more } }).then(
        async () => (await call('GET', `${DEFINITIONS}/widgets.x.io`)).body.status,
      );
    expect(await change({ singular: 'wd' })).toMatchObject({
      acceptedNames: { singular: 'widget', shortNames: ['wd'] },
      conditions: [
        { type: 'NamesAccepted', status: 'False', reason: 'SingularConflict', message: '"wd" is already in use' },
        { type: 'Established', status: 'True' },
      ],
    });
    expect(await change({ singular: 'widget', shortNames: ['widget', 'b'] })).toMatchObject({
      acceptedNames: { shortNames: ['wd'] },
      conditions: [{ reason: 'ShortNamesConflict', message: '"widget" is already in use' }, {}],
    });
    expect(await change({ shortNames: ['b'] })).toMatchObject({
      acceptedNames: { shortNames: ['b'] },
      conditions: [{ reason: 'NoConflicts' }, {}],
    });
  });

  test('stops serving a CRD without conditions and keeps its stored versions', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition());
    expect((await call('GET', WIDGETS)).status).toBe(200);
    const { body } = await call('PATCH', `${DEFINITIONS}/widgets.x.io/status`, {
      status: { conditions: [], storedVersions: [] },
    });
    expect(body.status.storedVersions).toEqual(['v1']);
    expect((await call('GET', WIDGETS)).status).toBe(404);
    expect((await call('GET', '/apis/x.io/v1')).status).toBe(404);
  });

  test.each([
    [
      { enum: 'x' },
      'cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.enum of type []v1.JSON',
    ],
    [{ 'x-kubernetes-validations': {} }, 'x-kubernetes-validations of type v1.ValidationRules'],
    [{ definitions: [] }, 'definitions of type v1.JSONSchemaDefinitions'],
    [{ dependencies: [] }, 'dependencies of type v1.JSONSchemaDependencies'],
    [
      { dependencies: { a: ['x', 5] } },
      'cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.dependencies of type string',
    ],
  ])('names the Go type of a schema keyword in the error: %j', async (keyword, why) => {
    const schema = { openAPIV3Schema: { type: 'object', ...keyword } };
    const { status, body } = await start().call(
      'POST',
      DEFINITIONS,
      definition({ versions: [{ ...version, schema }] }),
    );
    expect([status, body.message]).toEqual([400, expect.stringContaining(why)]);
  });

  test('rejects empty dependencies', async () => {
    const schema = { openAPIV3Schema: { type: 'object', dependencies: {} } };
    const { body } = await start().call('POST', DEFINITIONS, definition({ versions: [{ ...version, schema }] }));
    expect(body.message).toContain('openAPIV3Schema.dependencies: Forbidden: dependencies is not supported');
  });

  test('drops an empty conversion webhook', async () => {
    const conversion = { strategy: 'None', webhook: { conversionReviewVersions: [] } };
    const { body } = await start().call('POST', DEFINITIONS, definition({ conversion }));
    expect(body.spec.conversion).toEqual({ strategy: 'None' });
  });
});

describe('types unknown to a delegated server', () => {
  const DEFINED = 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55';
  const AGGREGATED = 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28';
  const COMMON = 'pkg/api/legacyscheme/scheme.go:30';
  const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
  const MAPS = '/api/v1/namespaces/default/configmaps';

  test.each([
    [DEFINITIONS, 'v1', 'ConfigMap', DEFINED],
    [DEFINITIONS, 'apiextensions.k8s.io/v2', 'CustomResourceDefinition', DEFINED],
    [SERVICES, 'v1', 'ConfigMap', AGGREGATED],
    [SERVICES, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', AGGREGATED],
    [MAPS, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', COMMON],
    [MAPS, 'apiregistration.k8s.io/v1', 'APIService', COMMON],
  ])('rejects a POST to %s of %s %s', async (path, apiVersion, kind, scheme) => {
    const { status, body } = await start().call('POST', path, { apiVersion, kind, metadata: { name: 'a' } });
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining(`: no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`),
    ]);
  });

  test('recognizes common types and removed versions', async () => {
    const { call } = start();
    const status = await call('POST', DEFINITIONS, { apiVersion: 'v1', kind: 'Status' });
    expect(status.body.message).toContain('converting (v1.Status) to (apiextensions.CustomResourceDefinition)');
    const old = await call('POST', DEFINITIONS, { ...definition(), apiVersion: 'apiextensions.k8s.io/v1beta1' });
    expect(old.body.message).toBe(
      'the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version (apiextensions.k8s.io/v1)',
    );
  });

  test('rejects a patch of a CRD to an unknown type', async () => {
    const { call } = start();
    await call('POST', DEFINITIONS, definition());
    const { body } = await call('PATCH', `${DEFINITIONS}/widgets.x.io`, { apiVersion: 'v1', kind: 'ConfigMap' });
    expect(body.message).toContain(`: no kind "ConfigMap" is registered for version "v1" in scheme "${DEFINED}"`);
  });
});

describe('custom resources', () => {
  const widget = {
    apiVersion: 'x.io/v1',
    kind: 'Widget',
    metadata: { name: 'a', labels: { z: '1', a: '2' } },
    spec: { size: 1 },
  };

  async function withWidget() {
    const started = start({ featureGates: { WatchList: true } });
    await started.call('POST', DEFINITIONS, definition());
    await started.call('POST', WIDGETS, widget);
    return started;
  }

  test.each([
    ['null', 'application/json', 'null'],
    ['{ "kind": "" }', 'application/json', '{ "kind": "" }'],
    ['# hi\n', 'application/yaml', '# hi\n'],
    ['', 'application/yaml', ''],
  ])('rejects the document %j without a kind', async (text, type, shown) => {
    const { call } = await withWidget();
    const { status, body } = await call('POST', WIDGETS, text, { 'content-type': type });
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining(`: Object 'Kind' is missing in '${shown}' (`),
    ]);
  });

  test('rejects an apiVersion with three parts', async () => {
    const { call } = await withWidget();
    const created = await call('POST', WIDGETS, { ...widget, apiVersion: 'a/b/c' });
    expect(created.body.message).toContain('(must be of type Widget): unexpected GroupVersion string: a/b/c (');
    const patched = await call('PATCH', `${WIDGETS}/a`, { apiVersion: 'a/b/c' });
    expect(patched.body.message).toMatch(/^ "" is invalid: patch: .*: unexpected GroupVersion string: a\/b\/c$/);
  });

  test('prints the version of the core group without a slash', async () => {
    const { call } = await withWidget();
    const { body } = await call('PATCH', `${WIDGETS}/a`, { apiVersion: '/v1' });
    expect(body.message).toBe('Widget "a" is invalid: apiVersion: Invalid value: "v1": must be x.io/v1');
  });

  test('prints the document with sorted keys when a patch removes the kind', async () => {
    const { call } = await withWidget();
    const { status, body } = await call('PATCH', `${WIDGETS}/a`, { kind: null });
    expect(status).toBe(422);
    expect(body.message).toMatch(
      /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":\\"x.io\/v1\\",\\"metadata\\":\{\\"creationTimestamp\\"/,
    );
    expect(body.message).toContain('\\"managedFields\\":[{\\"apiVersion\\":\\"x.io/v1\\",\\"fieldsType\\":');
    expect(body.message).toContain(
      `: Object 'Kind' is missing in '{"apiVersion":"x.io/v1","metadata":{"creationTimestamp":`,
    );
    expect(body.details.causes).toMatchObject([{ field: 'patch' }]);
    const versionless = await call('PATCH', `${WIDGETS}/a`, { apiVersion: null });
    expect([versionless.status, versionless.body.message]).toEqual([
      500,
      "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
    ]);
  });

  test('reports unknown fields of metadata, schema and embedded resources in order', async () => {
    const { call } = start();
    const inner = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: { type: 'string' } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { inner } } };
    await call('POST', DEFINITIONS, definition({ versions: [{ ...version, schema }] }));
    const metadata = { name: 'b', odd: 1 };
    const body = { apiVersion: 'x.io/v1', kind: 'Widget', metadata, zoo: 1, inner: { ...widget, metadata }, ant: 1 };
    const { body: response } = await call('POST', `${WIDGETS}?fieldValidation=Strict`, body);
    expect(response.message.match(/unknown field "[^"]*"/g)).toEqual([
      'unknown field "metadata.odd"',
      'unknown field "ant"',
      'unknown field "inner.spec"',
      'unknown field "zoo"',
      'unknown field "inner.metadata.odd"',
    ]);
  });

  test('reports metadata of the wrong type in a patched object', async () => {
    const { call } = await withWidget();
    const { body } = await call('PATCH', `${WIDGETS}/a`, { metadata: { labels: { a: 1 } } });
    expect(body.message).toMatch(
      /: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string$/,
    );
  });

  const LISTED = `${WIDGETS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`;

  async function lastEvent(response: Response) {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes('BOOKMARK')) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`no bookmark: ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
    return JSON.parse(text.trim().split('\n').at(-1) ?? '').object;
  }

  test('sends a bookmark with an empty list as the blueprint', async () => {
    const { send } = await withWidget();
    const { metadata, ...rest } = await lastEvent(await send('GET', LISTED));
    expect(rest).toEqual({ apiVersion: 'x.io/v1', kind: 'Widget' });
    expect(Object.keys(metadata)).toEqual(['annotations', 'resourceVersion']);
    expect(atob(metadata.annotations['kubernetes.io/initial-events-list-blueprint'])).toBe(
      '{"apiVersion":"x.io/v1","items":[],"kind":"WidgetList"}\n',
    );
  });

  test('sends a metadata bookmark with a metadata list and rejects tables', async () => {
    const { send } = await withWidget();
    const { kind, metadata } = await lastEvent(await send('GET', LISTED, undefined, { accept: METADATA }));
    expect([kind, metadata.creationTimestamp]).toEqual(['PartialObjectMetadata', null]);
    expect(atob(metadata.annotations['kubernetes.io/initial-events-list-blueprint'])).toBe(
      '{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":null}\n',
    );
    expect((await send('GET', LISTED, undefined, { accept: TABLE })).status).toBe(406);
  });
});

test('an apply to the status with pruned fields of the spec changes nothing', async () => {
  const { call } = start();
  const limits = { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } };
  const spec = { type: 'object', properties: { limits } };
  const schema = { openAPIV3Schema: { ...openAPIV3Schema, properties: { ...openAPIV3Schema.properties, spec } } };
  await call('POST', DEFINITIONS, definition({ versions: [{ ...version, schema, subresources: { status: {} } }] }));
  const widget = { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' } };
  const created = await call('POST', WIDGETS, widget);
  const apply = (path: string) =>
    call(
      'PATCH',
      `${WIDGETS}/${path}?fieldManager=m`,
      { ...widget, spec: { limits: { request: { cpu: '1' } } } },
      { 'content-type': 'application/apply-patch+yaml' },
    );
  const { status, body } = await apply('a/status');
  expect([status, body.metadata.resourceVersion]).toEqual([200, created.body.metadata.resourceVersion]);
});
