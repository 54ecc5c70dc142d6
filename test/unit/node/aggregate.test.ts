/** One cluster as the aggregated API of another, over sockets: bodies, streams and identities. */

import { APIService, ConfigMap, Service } from 'orchplane/kinds';
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
