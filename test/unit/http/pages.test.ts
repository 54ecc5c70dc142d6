/** The non-resource pages of the server. */
import { createCluster } from 'orchplane';
import { cbor } from 'orchplane/codec/cbor';
import { createFetchHandler } from 'orchplane/http';
import { describe, expect, test } from 'vitest';

const tokens = {
  'admin-token': { user: 'admin', groups: ['system:masters'] },
  'carol-token': { user: 'carol' },
};

function server(options: { tokens?: typeof tokens } = {}) {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const handle = createFetchHandler(cluster, options);
  const call = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    handle(new Request(`http://cluster.local:8080${path}`, { method, headers }));
  return { cluster, call };
}

describe('discovery', () => {
  const { call } = server();

  test.each([
    ['/api', { kind: 'APIVersions', serverAddressByClientCIDRs: [{ serverAddress: 'cluster.local:8080' }] }],
    ['/api/', { kind: 'APIVersions' }],
    ['/apis', { kind: 'APIGroupList' }],
    ['/apis/apps', { kind: 'APIGroup', name: 'apps' }],
    ['/apis/apps/v1', { kind: 'APIResourceList', groupVersion: 'apps/v1' }],
    ['/api/v1', { kind: 'APIResourceList', groupVersion: 'v1' }],
  ])('%s returns the expected document', async (path, document) => {
    const response = await call(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject(document);
  });

  test('only paths outside the router accept any method', async () => {
    for (const path of ['/api', '/api/v1', '/apis/apps/v1', '/version']) {
      const response = await call(path, {}, 'POST');
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'GET']);
    }
    for (const path of ['/apis', '/apis/apps', '/healthz', '/']) {
      expect([path, (await call(path, {}, 'POST')).status]).toEqual([path, 200]);
    }
  });

  test('an unknown version gets a Status in built-in groups and plain text elsewhere', async () => {
    expect(await (await call('/apis/apps/v9')).json()).toMatchObject({ kind: 'Status', reason: 'NotFound' });
    expect(await (await call('/apis/nope.example.com')).text()).toBe('404 page not found\n');
    expect(await (await call('/apis/nope.example.com/v1')).text()).toBe('404 page not found\n');
  });

  test('an unsupported Accept header is rejected', async () => {
    expect(await (await call('/api', { accept: 'text/html' })).json()).toMatchObject({ code: 406 });
    expect(await (await call('/version', { accept: 'text/plain' })).json()).toMatchObject({
      message: '406: Not Acceptable\n\nAvailable representations: application/json',
    });
  });

  describe('aggregated discovery', () => {
    const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

    test('sends an ETag with aggregated discovery, and 304 for a matching one', async () => {
      const response = await call('/apis', { accept: `${AGGREGATED},application/json` });
      expect(response.headers.get('content-type')).toBe(AGGREGATED);
      expect(response.headers.get('vary')).toBe('Accept');
      expect(response.headers.get('cache-control')).toBe('public');
      expect(await response.json()).toMatchObject({ kind: 'APIGroupDiscoveryList' });
      const etag = response.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[0-9A-F]+"$/);
      const again = await call('/apis', { accept: AGGREGATED, 'if-none-match': etag });
      expect([again.status, await again.text()]).toEqual([304, '']);
    });

    test('returns the plain discovery document for an unknown aggregated version, or fails', async () => {
      const old = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';
      expect(await (await call('/apis', { accept: `${old},application/json` })).json()).toMatchObject({
        kind: 'APIGroupList',
      });
      expect((await call('/apis', { accept: old })).status).toBe(406);
    });

    test('returns plain discovery when an earlier plain clause of the Accept header matches', async () => {
      expect(await (await call('/api', { accept: `application/json,${AGGREGATED};q=0.5` })).json()).toMatchObject({
        kind: 'APIVersions',
      });
    });
  });
});

describe('OpenAPI', () => {
  const cborHandler = createFetchHandler(
    createCluster({ dialect: 'kubernetes', featureGates: { CBORServingAndStorage: true } }),
    { codecs: [cbor] },
  );

  test('serves OpenAPI documents by index with ETags, and redirects an outdated hash', async () => {
    const { call } = server();
    const { paths } = await (await call('/openapi/v3')).json();
    const address: string = paths['apis/apps/v1'].serverRelativeURL;
    const page = await call(address);
    expect(page.headers.get('cache-control')).toBe('public, immutable');
    expect((await page.json()).components.schemas).toHaveProperty(['io.k8s.api.apps.v1.Deployment']);
    const etag = page.headers.get('etag') ?? '';
    expect((await call(address, { 'if-none-match': etag })).status).toBe(304);
    const moved = await call('/openapi/v3/apis/apps/v1?hash=old');
    expect([moved.status, moved.headers.get('location')]).toEqual([301, address]);
    expect((await call('/openapi/v3/apis/nope')).status).toBe(404);
    expect((await call('/openapi/v2', { accept: 'text/html' })).status).toBe(406);
  });

  test('serves OpenAPI under another hash with CBOR media types when CBOR is enabled', async () => {
    const textAt = async (path: string) => (await cborHandler(new Request(`http://cluster.local${path}`))).text();
    expect(await textAt('/openapi/v3/apis/apps/v1')).toContain('application/cbor-seq');
    expect(await textAt('/openapi/v2')).toContain('application/apply-patch+cbor');
    const { call } = server();
    expect(await (await call('/openapi/v3/apis/apps/v1')).text()).not.toContain('application/cbor');
    expect(await textAt('/openapi/v3')).not.toBe(await (await call('/openapi/v3')).text());
  });
});

describe('health checks', () => {
  test.each(['/healthz', '/livez', '/readyz', '/healthz/ping', '/readyz/informer-sync'])(
    '%s responds ok',
    async (path) => {
      const response = await server().call(path);
      expect([response.status, await response.text()]).toEqual([200, 'ok']);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  test('lists every health check when it is verbose', async () => {
    const { call } = server();
    expect(await (await call('/livez?verbose')).text()).toBe('[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n');
    expect(await (await call('/healthz?verbose&exclude=log&exclude=nope')).text()).toBe(
      '[+]ping ok\n[+]log excluded: ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nhealthz check passed\n',
    );
    expect((await call('/healthz/nope')).status).toBe(404);
    expect((await call('/healthz/constructor')).status).toBe(404);
  });

  test('a closed cluster is live but not ready', async () => {
    const { cluster, call } = server();
    await cluster.close();
    expect((await call('/livez')).status).toBe(200);
    const response = await call('/readyz');
    expect([response.status, await response.text()]).toEqual([
      500,
      '[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n',
    ]);
    expect(await (await call('/readyz/shutdown')).text()).toBe('internal server error: process is shutting down\n');
  });
});

describe('the version page', () => {
  test('returns the version as indented JSON', async () => {
    const text = await (await server().call('/version')).text();
    expect(text.startsWith('{\n  "major": "1",\n  "minor": "33",')).toBe(true);
    expect(Object.values(JSON.parse(text)).every((value) => typeof value === 'string')).toBe(true);
  });
});

describe('the path index', () => {
  test('lists every group and version in the path index', async () => {
    const { paths } = await (await server().call('/')).json();
    expect(paths).toEqual([...paths].sort());
    expect(paths).toEqual(expect.arrayContaining(['/api/v1', '/apis/apps', '/apis/apps/v1', '/healthz', '/version']));
  });
});

describe('the metrics page', () => {
  test('counts responses on the metrics page', async () => {
    const { call } = server();
    await call('/api/v1/namespaces/default/configmaps');
    await call('/api/v1/namespaces/default/configmaps');
    await call('/api/v1/namespaces/default/configmaps/none');
    const text = await (await call('/metrics')).text();
    expect(text).toContain(
      'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 2\n',
    );
    expect(text).toContain(
      'code="404",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource"',
    );
  });

  test('counts open watches on the metrics page', async () => {
    const { call } = server();
    const watch = await call('/api/v1/configmaps?watch=1');
    const open = /^apiserver_longrunning_requests\{.*verb="WATCH".*\} (\d+)$/m;
    expect(open.exec(await (await call('/metrics')).text())?.[1]).toBe('1');
    await watch.body?.cancel();
    expect(open.exec(await (await call('/metrics')).text())?.[1]).toBe('0');
  });

  test('counts unknown methods under one label on the metrics page', async () => {
    const { call } = server();
    await call('/nope', {}, 'BOGUS');
    expect(await (await call('/metrics')).text()).toContain('verb="other"');
  });
});

describe('authorization of pages', () => {
  const { call } = server({ tokens });
  const carol = { authorization: 'Bearer carol-token' };

  test.each([
    ['/version', {}, 200],
    ['/healthz', {}, 200],
    ['/apis/policy', {}, 403],
    ['/metrics', {}, 403],
    ['/api', carol, 200],
    ['/apis/policy', carol, 200],
    ['/', carol, 403],
    ['/nope', carol, 403],
    ['/metrics', carol, 403],
    ['/metrics', { authorization: 'Bearer admin-token' }, 200],
    ['/nope', { authorization: 'Bearer admin-token' }, 404],
  ])('%s with %j gets %i', async (path, headers, code) => {
    expect((await call(path, headers as Record<string, string>)).status).toBe(code);
  });

  test('a response with 403 carries the nosniff header', async () => {
    const sniff = async (path: string, headers: Record<string, string> = {}) =>
      (await call(path, headers)).headers.get('x-content-type-options');
    expect(await sniff('/api/v1/pods')).toBe('nosniff');
    expect(await sniff('/apis/nope.example.com/v1/things')).toBe('nosniff');
    expect(await sniff('/metrics', carol)).toBe('nosniff');
    expect(await sniff('/api/v1/namespaces/none', carol)).toBe('nosniff');
    expect(await sniff('/api/v1/namespaces/none', { authorization: 'Bearer admin-token' })).toBeNull();
  });

  test('a response with 403 names the path', async () => {
    expect(await (await call('/metrics', carol)).json()).toMatchObject({
      message: 'forbidden: User "carol" cannot get path "/metrics"',
      reason: 'Forbidden',
      details: {},
    });
  });
});
