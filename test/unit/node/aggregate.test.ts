/** One cluster as the aggregated API of another, over sockets: bodies, streams and identities. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { APIService, ConfigMap, Role, RoleBinding, Service } from 'orchplane/kinds';
import { serve } from 'orchplane/node';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

test('an aggregated version is served by another server, including writes and watches', async () => {
  const backend = testCluster();
  const users: (string | null)[] = [];
  await using inner = await serve(backend, {
    // The proxying server has authenticated the user and sends the identity.
    authenticate: ({ headers, url }) => {
      // Not the health checks of an HTTP thread.
      if (!url.includes('/api/')) return undefined;
      users.push(headers.get('x-remote-user'));
      return { user: headers.get('x-remote-user') ?? '', groups: (headers.get('x-remote-group') ?? '').split(', ') };
    },
  });
  const front = testCluster();
  await front.api(Service).create({
    metadata: { name: 'inner' },
    spec: { type: 'ExternalName', externalName: 'inner.example.com' },
  });
  await front.api(APIService).edit('v1.', (draft) => {
    draft.spec.service = { namespace: 'default', name: 'inner', port: 443 };
  });
  await using outer = await serve(front, {
    aggregate: { 'v1.': inner.url },
    tokens: { t: { user: 'ann', groups: ['system:masters'] } },
  });
  const path = '/api/v1/namespaces/default/configmaps';
  const abort = new AbortController();
  const headers = { 'content-type': 'application/json', authorization: 'Bearer t' };
  const watch = await fetch(`${outer.url}${path}?watch=1`, { signal: abort.signal, headers });
  const reader = watch.body?.getReader();
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } });
  const created = await fetch(`${outer.url}${path}`, { method: 'POST', body, headers });
  expect(created.status).toBe(201);
  expect((await backend.api(ConfigMap).get('a')).data).toEqual({ k: 'v' });
  expect(await front.api(ConfigMap).find('a')).toBeUndefined();
  let seen = '';
  while (!seen.includes('"name":"a"')) seen += new TextDecoder().decode((await reader?.read())?.value);
  expect(seen).toContain('"type":"ADDED"');
  abort.abort();
  const missing = await fetch(`${outer.url}${path}/b`, { headers });
  expect([missing.status, ((await missing.json()) as { reason: string }).reason]).toEqual([404, 'NotFound']);
  expect(new Set(users)).toEqual(new Set(['ann']));
});

test('an aggregated version gets no other path than the one that was authorized', async () => {
  const cluster = testCluster();
  await cluster.api(Service).create({
    metadata: { name: 'things' },
    spec: { type: 'ExternalName', externalName: 'things.example.com' },
  });
  const service = { namespace: 'default', name: 'things' };
  await cluster.api(APIService).create({
    metadata: { name: 'v1.example.com' },
    spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service },
  });
  const rules = [{ apiGroups: ['example.com'], resources: ['*'], verbs: ['*'] }];
  await cluster.api(Role, 'default').create({ metadata: { name: 'own' }, rules });
  await cluster.api(RoleBinding, 'default').create({
    metadata: { name: 'own' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'own' },
    subjects: [{ kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.orch.io' }],
  });
  const seen: string[] = [];
  const backend = (request: Request): Response => {
    seen.push(new URL(request.url).pathname);
    return Response.json({});
  };
  await using server = await serve(cluster, {
    tls: false,
    aggregate: { 'v1.example.com': backend },
    tokens: { t: { user: 'ann' } },
  });
  // Unlike fetch, it sends the path unchanged.
  const statusOf = async (path: string): Promise<number | undefined> => {
    const outgoing = get(server.url, { path, headers: { authorization: 'Bearer t' }, agent: false });
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  const base = '/apis/example.com/v1/namespaces/default/things';
  for (const name of ['a', 'a%20b', 'a..b', '%C3%A4', 'a%7Cb', 'a|b'])
    expect(await statusOf(`${base}/${name}`)).toBe(200);
  expect(seen.length).toBe(6);
  for (const up of ['..', '%2e%2e', '.%2E']) expect(await statusOf(`${base}/${up}/${up}/other/things`)).toBe(400);
  expect(await statusOf(`${base}\\..\\..\\other\\things`)).toBe(400);
  expect(await statusOf(`${base}/./a`)).toBe(400);
  // For backends that decode a path before they resolve it.
  for (const up of ['..%2f..', 'a%2f..%2f..%2f..', '..%5c..'])
    expect(await statusOf(`${base}/${up}%2fother%2fthings`)).toBe(400);
  expect(await statusOf(`${base}/a%2f..`)).toBe(400);
  expect(seen.length).toBe(6);
});
