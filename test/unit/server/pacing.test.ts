/** Realistic pacing of deletions: a served cluster takes as long as the reference server between the steps. */
import { describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { createFetchHandler } from '../../../src/http/handler.js';

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PODS = '/api/v1/namespaces/default/pods';
const POD = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'web' }] } };

function connect(pacing: boolean) {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const handler = createFetchHandler(cluster, { pacing });
  return async (method: string, path: string, body?: unknown) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    const response = await handler(new Request(`http://cluster.local${path}`, { ...init, headers }));
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
}

describe('pacing', () => {
  test('lets a pod be read as terminating before a delete without grace period removes it', async () => {
    const send = connect(true);
    await send('POST', PODS, POD);
    const deleted = send('DELETE', `${PODS}/web`);
    let seen = await send('GET', `${PODS}/web`);
    while (seen.status === 200 && !('deletionTimestamp' in (seen.body?.['metadata'] ?? {})))
      seen = await send('GET', `${PODS}/web`);
    expect(seen).toMatchObject({ status: 200, body: { metadata: { deletionGracePeriodSeconds: 0 } } });
    expect(await deleted).toMatchObject({ status: 200 });
    expect(await send('GET', `${PODS}/web`)).toMatchObject({ status: 404 });
  });

  test('succeeds for both of two deletes of one pod', async () => {
    const send = connect(true);
    await send('POST', PODS, POD);
    const both = await Promise.all([send('DELETE', `${PODS}/web`), send('DELETE', `${PODS}/web`)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('does not remove a pod of the same name that was created during the pause', async () => {
    const send = connect(true);
    await send('POST', PODS, POD);
    const first = send('DELETE', `${PODS}/web`);
    await send('DELETE', `${PODS}/web?gracePeriodSeconds=0`);
    const created = await send('POST', PODS, POD);
    await first;
    expect(await send('GET', `${PODS}/web`)).toMatchObject({
      status: 200,
      body: { metadata: created.body['metadata'] },
    });
  });

  test('shows a deleted CRD as terminating for 20 ms, and its objects as deleted at once', async () => {
    const send = connect(true);
    await send('POST', CRDS, CRD);
    await send('POST', '/apis/example.com/v1/namespaces/default/widgets', {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
    });
    const start = performance.now();
    await send('DELETE', `${CRDS}/widgets.example.com`);
    const during = await send('GET', `${CRDS}/widgets.example.com`);
    expect(during.body).toMatchObject({
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Terminating', status: 'True' })]),
      },
    });
    expect((await send('GET', '/apis/example.com/v1/widgets')).body).toMatchObject({ items: [] });
    // Other writes do not end the pause.
    await send('POST', PODS, POD);
    expect(await send('GET', `${CRDS}/widgets.example.com`)).toMatchObject({ status: 200 });
    await expect.poll(async () => (await send('GET', `${CRDS}/widgets.example.com`)).status, { interval: 2 }).toBe(404);
    expect(performance.now() - start).toBeGreaterThan(18);
    // A CRD of the same name starts anew.
    expect(await send('POST', CRDS, CRD)).toMatchObject({ status: 201 });
  });

  test('is off by default: deleted pods and CRDs are gone when the response arrives', async () => {
    const send = connect(false);
    await send('POST', PODS, POD);
    await send('POST', CRDS, CRD);
    expect(await send('DELETE', `${PODS}/web`)).toMatchObject({ status: 200 });
    expect(await send('GET', `${PODS}/web`)).toMatchObject({ status: 404 });
    await send('DELETE', `${CRDS}/widgets.example.com`);
    expect(await send('GET', `${CRDS}/widgets.example.com`)).toMatchObject({ status: 404 });
  });
});
