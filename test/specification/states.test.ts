/** docs/specification.md, T: states and enumerations. */
import { createCluster } from 'orchplane';
import { describe, expect, test } from 'vitest';
import { CRDS, configMap, MAPS, open, WIDGETS } from './http.js';

describe('states', () => {
  test('T1.1: the status of a condition is True, False or Unknown', async () => {
    const { post, send } = open();
    await post(CRDS, WIDGETS);
    const { body } = await send('GET', `${CRDS}/widgets.example.com`);
    const { conditions } = body['status'] as { conditions: { status: string }[] };
    expect(conditions.length).toBeGreaterThan(0);
    for (const { status } of conditions) expect(['True', 'False', 'Unknown']).toContain(status);
  });

  test('T1.2: watch events are ADDED, MODIFIED and BOOKMARK', async () => {
    const { clock, map, patch, watch } = open();
    const { next } = await watch(`${MAPS}?watch=1&resourceVersion=0&allowWatchBookmarks=true`);
    await map('a');
    await patch('merge', `${MAPS}/a`, { data: { k: 'v' } });
    expect([(await next())?.type, (await next())?.type]).toEqual(['ADDED', 'MODIFIED']);
    const bookmark = next();
    await new Promise((resolve) => setTimeout(resolve));
    await clock.advance(120_000);
    expect((await bookmark)?.type).toBe('BOOKMARK');
  });

  test('T1.3: the operation of a managed fields entry is Apply or Update', async () => {
    const { map, patch } = open();
    await map('a', { data: { k: 'v' } });
    const { body } = await patch('apply', `${MAPS}/a?fieldManager=m`, configMap('a', { data: { l: 'v' } }));
    expect(body.metadata.managedFields.map((entry) => entry['operation'])).toEqual(['Apply', 'Update']);
  });

  test('T1.4: alpha and beta versions contain their maturity in their names', async () => {
    const { body } = await open({ runtimeConfig: 'api/all=true' }).send('GET', '/apis');
    const groups = body['groups'] as { versions: { version: string }[] }[];
    const versions = groups.flatMap((group) => group.versions.map(({ version }) => version));
    for (const version of versions) expect(version).toMatch(/^v\d+((alpha|beta)\d+)?$/);
    expect(versions.filter((version) => version.includes('alpha')).length).toBeGreaterThan(0);
    expect(versions.filter((version) => version.includes('beta')).length).toBeGreaterThan(0);
  });

  test('T1.5: a gate is off in alpha, can be set in beta, has no effect when GA and is unknown when removed', async () => {
    const cbor = (options: object) => open(options).send('GET', MAPS, { headers: { accept: 'application/cbor' } });
    expect((await cbor({})).code).toBe(406);
    expect((await cbor({ featureGates: { CBORServingAndStorage: true } })).code).toBe(200);
    const warnings: string[] = [];
    const set = (featureGates: Record<string, boolean>) =>
      createCluster({ featureGates, onWarning: (text) => void warnings.push(text) });
    set({ ProcMountType: false });
    expect(warnings).toEqual([]);
    set({ SidecarContainers: true });
    expect(warnings).toHaveLength(1);
    expect(() => set({ SidecarContainers: false })).toThrow('locked');
    expect(() => set({ ServerSideApply: true })).toThrow('unrecognized feature gate');
  });

  test('T1.6: a namespace is Active, then Terminating', async () => {
    const { post, send } = open();
    const created = await post('/api/v1/namespaces', { metadata: { name: 'n' } });
    expect(created.body['status']).toEqual({ phase: 'Active' });
    await send('DELETE', '/api/v1/namespaces/n');
    expect((await send('GET', '/api/v1/namespaces/n')).body['status']).toMatchObject({ phase: 'Terminating' });
  });

  test('T1.7: the concurrency policy of a cron job is Allow, Forbid or Replace', async () => {
    const { post } = open();
    const create = (name: string, concurrencyPolicy: string) => {
      const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
      const spec = { schedule: '* * * * *', concurrencyPolicy, jobTemplate: { spec: { template } } };
      return post('/apis/batch/v1/namespaces/default/cronjobs', { metadata: { name }, spec });
    };
    for (const policy of ['Allow', 'Forbid', 'Replace'])
      expect((await create(policy.toLowerCase(), policy)).code).toBe(201);
    expect((await create('x', 'Queue')).code).toBe(422);
  });
});
