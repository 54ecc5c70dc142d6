/** Aggregated API versions, which another server serves. */
import type { User } from 'orchplane';
import { apiServices, controllers } from 'orchplane/controllers';
import { type Aggregation, createFetchHandler } from 'orchplane/http';
import { APIService, ClusterRole, ClusterRoleBinding, Service } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';

const NAME = 'v1.metrics.example.com';
const BASE = 'http://c.local';
const ALL_GROUPS = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList';
const RESOURCES = [
  { name: 'nodes', singularName: 'node', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
  { name: 'nodes/status', singularName: '', namespaced: false, kind: '', verbs: ['get'] },
];

const TOKENS = {
  root: { user: 'root', groups: ['system:masters'] },
  alice: { user: 'alice', uid: '7', groups: ['dev', 'ops'], extra: { 'example.com/Scope%': ['a', 'b'] } },
};

interface Servers {
  readonly cluster: ReturnType<typeof testCluster>;
  /** As root, unless the headers say otherwise. */
  fetchFront(path: string, init?: RequestInit): Promise<Response>;
}

async function startServers(
  aggregate: Aggregation | undefined,
  options: { service?: boolean; group?: string; flowControl?: { totalSeats: number }; other?: User } = {},
): Promise<Servers> {
  const { service = true, group = 'metrics.example.com', flowControl = false, other = TOKENS.alice } = options;
  const cluster = testCluster();
  if (service) {
    await cluster.api(Service).create({
      metadata: { name: 'metrics' },
      spec: { type: 'ExternalName', externalName: 'metrics.example.com' },
    });
  }
  // A backend may replace a version that the cluster serves itself.
  if (group === 'apps') await cluster.api(APIService).delete('v1.apps');
  await cluster.api(APIService).create({
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { namespace: 'default', name: 'metrics' },
    },
  });
  const handler = createFetchHandler(cluster, { aggregate, tokens: { ...TOKENS, other }, flowControl });
  return {
    cluster,
    fetchFront: (path, init = {}) => {
      const headers = { authorization: 'Bearer root', ...(init.headers as Record<string, string> | undefined) };
      return handler(new Request(`${BASE}${path}`, { ...init, headers }));
    },
  };
}

async function allowAlice(cluster: Servers['cluster'], verb: string): Promise<void> {
  const rules = [{ apiGroups: ['metrics.example.com'], resources: ['nodes'], verbs: [verb] }];
  await cluster.api(ClusterRole).create({ metadata: { name: 'm' }, rules });
  await cluster.api(ClusterRoleBinding).create({
    metadata: { name: 'm' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'm' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'alice' }],
  });
}

afterEach(() => vi.unstubAllGlobals());

describe('a request for an aggregated API', () => {
  test('proxies a request without the headers that are for this server only', async () => {
    let seen: Request | undefined;
    const { fetchFront } = await startServers({
      [NAME]: (request) => {
        seen = request;
        return Response.json({ kind: 'NodeMetrics' }, { status: 201, headers: { 'x-own': 'yes' } });
      },
    });
    const response = await fetchFront('/apis/metrics.example.com/v1/nodes/a%20b?pretty=1&x=%2F', {
      method: 'POST',
      body: '{"a":1}',
      headers: {
        'content-type': 'application/json',
        'x-remote-user': 'forged',
        'x-remote-extra-y': 'forged',
        'sec-websocket-protocol': 'v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
        accept: 'a/b',
        expect: '100-continue',
      },
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ kind: 'NodeMetrics' });
    expect(response.headers.get('x-own')).toBe('yes');
    expect(seen?.method).toBe('POST');
    expect(seen?.url).toBe('https://metrics.default.svc/apis/metrics.example.com/v1/nodes/a%20b?pretty=1&x=%2F');
    expect(await seen?.text()).toBe('{"a":1}');
    const header = (name: string) => seen?.headers.get(name);
    expect(header('authorization')).toBeNull();
    expect(header('sec-websocket-protocol')).toBeNull();
    expect(header('x-remote-user')).toBe('root');
    expect(header('x-remote-extra-y')).toBeNull();
    expect(header('accept')).toBe('a/b');
    expect(header('expect')).toBeNull();
    expect(header('x-forwarded-host')).toBe('c.local');
    expect(header('x-forwarded-uri')).toBe('/apis/metrics.example.com/v1/nodes/a%20b');
    expect(header('audit-id')).toBe(response.headers.get('audit-id'));
  });

  test.each(['rené', 'renÃ©', 'Łukasz', '名前'])('sends the user %s as the bytes of UTF-8', async (user) => {
    let seen = new Headers();
    const { fetchFront } = await startServers({
      [NAME]: ({ headers }) => {
        seen = headers;
        return new Response();
      },
    });
    const bytes = Buffer.from(user).toString('latin1');
    const named = new Headers({ 'impersonate-uid': bytes, 'impersonate-user': bytes, 'impersonate-extra-a': bytes });
    for (const group of ['system:masters', bytes]) named.append('impersonate-group', group);
    const response = await fetchFront('/apis/metrics.example.com/v1/nodes', { headers: Object.fromEntries(named) });
    expect(response.status).toBe(200);
    expect(seen.get('x-remote-user')).toBe(bytes);
    expect(seen.get('x-remote-uid')).toBe(bytes);
    expect(seen.get('x-remote-group')?.split(', ')).toContain(bytes);
    expect(seen.get('x-remote-extra-a')).toBe(bytes);
  });

  test.each<User>([
    { user: ' ' },
    { user: 'root ' },
    { user: 'a', uid: ' 0' },
    { user: 'a', groups: ['system:masters '] },
    { user: 'a', groups: ['half \ud800'] },
    // The headers of a Request join the groups.
    { user: 'a', groups: ['x, system:masters'] },
    { user: 'a', extra: { scopes: ['x, y'] } },
  ])('sends no headers that name another user than %j', async (user) => {
    const names: string[] = [];
    const backend = ({ url }: Request) => {
      names.push(url);
      return new Response();
    };
    const other = { ...user, groups: [...(user.groups ?? []), 'system:masters'] };
    const { fetchFront } = await startServers({ [NAME]: backend }, { other });
    const headers = { authorization: 'Bearer other' };
    const response = await fetchFront('/apis/metrics.example.com/v1/nodes', { headers });
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 400,
      text: expect.stringContaining('no header X-Remote-'),
    });
    expect(names).toEqual([]);
  });

  test.each(['http://10.0.0.7', 'https://10.0.0.7'])(
    'sends no joined groups to %s that name other ones',
    async (address) => {
      const seen: string[] = [];
      vi.stubGlobal('fetch', async (url: string) => {
        seen.push(url);
        return new Response();
      });
      for (const [group, status] of [
        ['x, system:masters', 400],
        ['x,y', 200],
      ] as const) {
        const other = { user: 'a', groups: [group, 'system:masters'] };
        const { fetchFront } = await startServers({ [NAME]: address }, { other });
        const headers = { authorization: 'Bearer other' };
        expect((await fetchFront('/apis/metrics.example.com/v1/nodes', { headers })).status).toBe(status);
      }
      expect(seen).toEqual([`${address}/apis/metrics.example.com/v1/nodes`]);
    },
  );

  test('sends the complete identity of the user to the backend', async () => {
    const seen: Headers[] = [];
    const { fetchFront, cluster } = await startServers({
      [NAME]: ({ headers }) => {
        seen.push(headers);
        return new Response();
      },
    });
    await allowAlice(cluster, 'list');
    const path = '/apis/metrics.example.com/v1/nodes';
    expect((await fetchFront(path, { headers: { authorization: 'Bearer alice' } })).status).toBe(200);
    expect((await fetchFront(path, { headers: { 'impersonate-user': 'alice' } })).status).toBe(200);
    const identities = seen.map((headers) => [...headers].filter(([name]) => /^(x-remote|impersonate)/.test(name)));
    expect(identities).toEqual([
      [
        ['x-remote-extra-example.com%2f%53cope%25', 'a, b'],
        ['x-remote-group', 'dev, ops, system:authenticated'],
        ['x-remote-uid', '7'],
        ['x-remote-user', 'alice'],
      ],
      [
        ['x-remote-group', 'system:authenticated'],
        ['x-remote-user', 'alice'],
      ],
    ]);
  });

  test('answers a request whose backend does not respond, after its time limit', async () => {
    const signals: AbortSignal[] = [];
    const { fetchFront, cluster } = await startServers({
      [NAME]: ({ signal }) => {
        signals.push(signal);
        return new Promise<Response>(() => undefined);
      },
    });
    const path = '/apis/metrics.example.com/v1/nodes';
    const [asked, silent] = [fetchFront(`${path}?timeout=3s`), fetchFront(path)];
    let watched: Response | undefined;
    void fetchFront(`${path}?watch=1`).then((response) => {
      watched = response;
    });
    const notWatched = fetchFront(`${path}?watch=1`, { method: 'POST', body: '{}' });
    await cluster.clock.advance(3_000);
    expect((await asked).status).toBe(504);
    await cluster.clock.advance(57_000);
    expect(await (await silent).json()).toMatchObject({ reason: 'Timeout', code: 504 });
    expect((await notWatched).status).toBe(504);
    expect(watched).toBeUndefined();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false, true]);
  });

  test('keeps no seats for watches of a backend that does not respond', async () => {
    let watches = 0;
    const hang = () => {
      watches++;
      return new Promise<Response>(() => undefined);
    };
    const { fetchFront, cluster } = await startServers({ [NAME]: hang }, { flowControl: { totalSeats: 50 } });
    await allowAlice(cluster, 'watch');
    const headers = { authorization: 'Bearer alice' };
    for (let count = 0; count < 20; count++) {
      void fetchFront('/apis/metrics.example.com/v1/nodes?watch=1', { headers });
      await cluster.clock.advance(0);
    }
    expect(watches).toBe(20);
    expect((await fetchFront('/version', { headers })).status).toBe(200);
  });

  test('rejects an unauthorized request without contacting the backend', async () => {
    let calls = 0;
    const { fetchFront } = await startServers({
      [NAME]: () => {
        calls++;
        return new Response();
      },
    });
    const response = await fetchFront('/apis/metrics.example.com/v1/nodes', {
      headers: { authorization: 'Bearer alice' },
    });
    expect(response.status).toBe(403);
    expect(calls).toBe(0);
  });

  test('returns a response while the backend still streams it', async () => {
    let more: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        more = controller;
      },
    });
    const { fetchFront } = await startServers({ [NAME]: () => new Response(body) });
    const response = await fetchFront('/apis/metrics.example.com/v1/nodes?watch=1');
    const reader = response.body?.getReader();
    more?.enqueue(new TextEncoder().encode('one'));
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('one');
    more?.close();
    expect((await reader?.read())?.done).toBe(true);
  });

  test('prefers an available backend over a version that this server serves itself', async () => {
    const { fetchFront } = await startServers(() => () => new Response('elsewhere'), { group: 'own.example.com' });
    expect(await (await fetchFront('/apis/own.example.com/v1')).text()).toBe('elsewhere');
    expect((await fetchFront('/apis/own.example.com/v2')).status).toBe(404);
    expect((await fetchFront('/apis/apps/v1')).status).toBe(200);
  });

  test('drops encodings that fetch has decoded', async () => {
    const seen: [string, RequestInit][] = [];
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      seen.push([url, init]);
      return new Response('text', { headers: { 'content-encoding': 'gzip' } });
    });
    const { fetchFront } = await startServers({ [NAME]: 'https://10.0.0.7:6443/' });
    const response = await fetchFront('/apis/metrics.example.com/v1/nodes');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(seen[0]?.[0]).toBe('https://10.0.0.7:6443/apis/metrics.example.com/v1/nodes');
    expect(seen[0]?.[1].redirect).toBe('manual');
  });
});

test('a redirect of a backend is not passed on, because clients would follow it with their credentials', async () => {
  const { fetchFront } = await startServers({
    [NAME]: ({ url }) => {
      const location = new URL(url).searchParams.get('to') ?? '';
      return new Response('text', { status: 307, headers: location === '' ? {} : { location } });
    },
  });
  const path = '/apis/metrics.example.com/v1/nodes';
  for (const to of ['https://attacker.example.com', '/x', '//attacker.example.com']) {
    const response = await fetchFront(`${path}?to=${encodeURIComponent(to)}`);
    expect([response.status, response.headers.get('location')]).toEqual([502, null]);
    expect(await response.text()).toBe('the backend attempted to redirect this request, which is not permitted');
  }
  expect((await fetchFront(path)).status).toBe(307);
});

describe('an unreachable backend', () => {
  test('responds with 503 while the APIService of a backend is unavailable', async () => {
    const { fetchFront } = await startServers({ [NAME]: () => new Response() }, { service: false });
    for (const path of ['/apis/metrics.example.com/v1', '/apis/metrics.example.com/v1/nodes']) {
      const response = await fetchFront(path);
      expect([response.status, await response.text()]).toEqual([503, 'service unavailable\n']);
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    }
  });

  test('reports the reason of a failed connection to a backend', async () => {
    const { fetchFront } = await startServers({
      [NAME]: () => {
        throw new Error('connection refused');
      },
    });
    const response = await fetchFront('/apis/metrics.example.com/v1/nodes');
    expect([response.status, await response.text()]).toEqual([
      503,
      'error trying to reach service: connection refused\n',
    ]);
  });
});

test('responds with 503 if the handler of an aggregated API returns no response', async () => {
  const { fetchFront } = await startServers({ [NAME]: (() => ({ ok: true })) as never });
  const response = await fetchFront('/apis/metrics.example.com/v1/nodes');
  expect([response.status, await response.text()]).toEqual([
    503,
    `error trying to reach service: the handler of ${NAME} returned no Response\n`,
  ]);
});

describe('discovery of aggregated APIs', () => {
  const legacy = (request: Request) => {
    if (new URL(request.url).pathname === '/apis') return new Response('no', { status: 404 });
    return Response.json({ kind: 'APIResourceList', groupVersion: 'metrics.example.com/v1', resources: RESOURCES });
  };
  const remoteIn = async (response: Response) => {
    const { items } = (await response.json()) as { items: { metadata: { name: string }; versions: unknown[] }[] };
    return items
      .map(({ metadata, versions }) => ({ name: metadata.name, versions }))
      .find(({ name }) => name === 'metrics.example.com');
  };

  test('lists an aggregated group at the position of its priority', async () => {
    const { fetchFront } = await startServers({ [NAME]: legacy });
    const { groups } = (await (await fetchFront('/apis')).json()) as { groups: { name: string }[] };
    expect(groups[0]?.name).toBe('apiregistration.orch.io');
    expect(groups.at(-1)).toEqual({
      name: 'metrics.example.com',
      versions: [{ groupVersion: 'metrics.example.com/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'metrics.example.com/v1', version: 'v1' },
    });
    expect(await (await fetchFront('/apis/metrics.example.com')).json()).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      ...groups.at(-1),
    });
  });

  test('includes the resources of a backend without aggregated discovery', async () => {
    const { fetchFront } = await startServers({ [NAME]: legacy });
    const response = await fetchFront('/apis', { headers: { accept: ALL_GROUPS } });
    const etag = response.headers.get('etag') ?? '';
    expect(await remoteIn(response)).toEqual({
      name: 'metrics.example.com',
      versions: [
        {
          version: 'v1',
          resources: [
            {
              resource: 'nodes',
              responseKind: { group: '', version: '', kind: 'NodeMetrics' },
              scope: 'Cluster',
              singularResource: 'node',
              verbs: ['get', 'list'],
              subresources: [
                { subresource: 'status', responseKind: { group: '', version: '', kind: '' }, verbs: ['get'] },
              ],
            },
          ],
          freshness: 'Current',
        },
      ],
    });
    const again = await fetchFront('/apis', { headers: { accept: ALL_GROUPS, 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });

  test('includes the resources of a backend with aggregated discovery, which may be another cluster', async () => {
    const backend = testCluster({ dialect: 'orch' });
    const inner = createFetchHandler(backend);
    const { fetchFront } = await startServers(() => inner, { group: 'apps' });
    const { items } = (await (await fetchFront('/apis', { headers: { accept: ALL_GROUPS } })).json()) as {
      items: { metadata: { name: string }; versions: { resources: unknown[]; freshness: string }[] }[];
    };
    const apps = items.find(({ metadata }) => metadata.name === 'apps');
    expect(apps?.versions[0]?.freshness).toBe('Current');
    expect(apps?.versions[0]?.resources.length).toBe(5);
  });

  test('marks a version as stale when its backend cannot be reached', async () => {
    const { fetchFront } = await startServers({ [NAME]: legacy }, { service: false });
    expect(await remoteIn(await fetchFront('/apis', { headers: { accept: ALL_GROUPS } }))).toEqual({
      name: 'metrics.example.com',
      versions: [{ version: 'v1', freshness: 'Stale' }],
    });
  });

  test.each([
    ['of another type', '[{"resource":"nodes","verbs":"get"}]'],
    ['that are no objects', '[null,5]'],
    ['in deep lists', `[{"resource":"nodes","verbs":${'['.repeat(50_000)}${']'.repeat(50_000)}}]`],
    ['in large number', `[${'{"verbs":[]},'.repeat(50_000)}{"verbs":[]}]`],
  ])('marks a version as stale whose backend lists resources %s', async (_, resources) => {
    const items = `[{"metadata":{"name":"metrics.example.com"},"versions":[{"version":"v1","resources":${resources}}]}]`;
    const aggregated = `{"kind":"APIGroupDiscoveryList","items":${items}}`;
    const { fetchFront } = await startServers({
      [NAME]: () => new Response(aggregated, { headers: { 'content-type': ALL_GROUPS } }),
    });
    expect(await remoteIn(await fetchFront('/apis', { headers: { accept: ALL_GROUPS } }))).toMatchObject({
      versions: [{ version: 'v1', freshness: 'Stale' }],
    });
  });

  test('omits unknown fields of resources and keeps those that clients know', async () => {
    const kind = { group: '', version: 'v1', kind: 'NodeMetrics' };
    const subresource = { subresource: 'top', responseKind: kind, acceptedTypes: [kind], verbs: ['get'] };
    const names = { singularResource: 'node', verbs: ['get'], shortNames: ['no'], categories: ['all'] };
    const known = { resource: 'nodes', responseKind: kind, scope: 'Cluster', ...names, subresources: [subresource] };
    const versions = [
      { version: 'v1', resources: [Object.fromEntries([...Object.entries(known), ['more', [[]]]].reverse())] },
    ];
    const document = { items: [{ metadata: { name: 'metrics.example.com' }, versions }] };
    const { fetchFront } = await startServers({
      [NAME]: () => new Response(JSON.stringify(document), { headers: { 'content-type': ALL_GROUPS } }),
    });
    const found = await remoteIn(await fetchFront('/apis', { headers: { accept: ALL_GROUPS } }));
    expect(found).toEqual({
      name: 'metrics.example.com',
      versions: [{ version: 'v1', resources: [known], freshness: 'Current' }],
    });
    expect(JSON.stringify(found)).toContain(JSON.stringify(known));
  });

  test('queries the discovery of a backend at most once a minute and times out', async () => {
    let calls = 0;
    let hangs = false;
    const { fetchFront, cluster } = await startServers({
      [NAME]: (request) => {
        calls++;
        return hangs ? new Promise<Response>(() => undefined) : legacy(request);
      },
    });
    const accept = { headers: { accept: ALL_GROUPS } };
    await fetchFront('/apis', accept);
    await fetchFront('/apis', accept);
    expect(calls).toBe(2);
    await cluster.clock.advance(60_000);
    hangs = true;
    const late = fetchFront('/apis', accept);
    await Promise.resolve();
    for (let n = 0; n < 10; n++) await cluster.clock.advance(1000);
    expect(await remoteIn(await late)).toMatchObject({ versions: [{ freshness: 'Stale' }] });
  });
});

test('a controller and a handler can share the aggregation option', async () => {
  const aggregate = { [NAME]: () => Response.json({ resources: [] }) };
  const cluster = testCluster({ controllers: controllers([apiServices({ aggregate })]) });
  const handler = createFetchHandler(cluster, { aggregate });
  expect((await handler(new Request(`${BASE}/apis/metrics.example.com`))).status).toBe(404);
});

test.each([[7], [{ x: 'nowhere' }], [{ x: 1 }]])('createHandler rejects %o as the aggregate option', (aggregate) => {
  expect(() => createFetchHandler(testCluster(), { aggregate: aggregate as never })).toThrow('aggregate');
});
