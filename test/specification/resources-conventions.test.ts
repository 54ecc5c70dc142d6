/** docs/specification.md, R0: what all objects and lists have in common. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, openService, pathOf } from './service.js';

describe('conventions', () => {
  test('R0.1: objects and lists have apiVersion, kind and metadata, and a list has items', async () => {
    const service = openService();
    await service.create('ConfigMap', { data: { k: 'v' } });
    expect((await service.get('ConfigMap', 'a')).body).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
    });
    const { body } = await service.list('ConfigMap');
    expect(body).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMapList', metadata: {} });
    expect(body.items).toHaveLength(1);
    expect(await fieldsOf(service, 'ConfigMap', 'ConfigMapList')).toEqual({
      apiVersion: 'string',
      kind: 'string',
      metadata: 'ListMeta',
      items: '[]ConfigMap unmarked!',
    });
  });

  test('R0.2: resourceVersion is a string that changes with the stored object', async () => {
    const service = openService();
    const created = await service.create('ConfigMap', {});
    const { resourceVersion } = created.body.metadata;
    expect(resourceVersion).toEqual(expect.any(String));
    expect((await service.get('ConfigMap', 'a')).body.metadata.resourceVersion).toBe(resourceVersion);
    const changed = await service.merge('ConfigMap', 'a', { data: { k: 'v' } });
    expect(changed.body.metadata.resourceVersion).not.toBe(resourceVersion);
  });

  test.each(['ConfigMap', 'ComponentStatus', 'Role', 'CSINode'] as const)(
    'R0.3: a list of %s objects has a resourceVersion',
    async (kind) => {
      const { body } = await openService().list(kind);
      expect(body.metadata.resourceVersion).toMatch(/^[0-9]+$/);
    },
  );

  test('R0.4: a chunked list has a continue token and the number of remaining items', async () => {
    const service = openService();
    for (const name of ['a', 'b', 'c']) await service.create('ConfigMap', { metadata: { name } });
    const first = await service.list('ConfigMap', '?limit=2');
    expect(first.body.items).toHaveLength(2);
    expect(first.body.metadata).toMatchObject({ continue: expect.any(String), remainingItemCount: 1 });
    const rest = await service.list('ConfigMap', `?limit=2&continue=${first.body.metadata.continue}`);
    expect(rest.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['c']);
    expect(rest.body.metadata.continue ?? '').toBe('');
  });

  test('R0.5: managedFields record which manager owns which fields', async () => {
    const service = openService();
    const { body } = await service.apply('ConfigMap', 'a', { data: { k: 'v' } }, 'm');
    expect(body.metadata.managedFields).toEqual([
      expect.objectContaining({ manager: 'm', operation: 'Apply', fieldsV1: { 'f:data': { 'f:k': {} } } }),
    ]);
  });

  test('R0.6: names are given or generated, and labels and annotations are kept', async () => {
    const service = openService();
    const metadata = { labels: { l: '1' }, annotations: { a: '2' } };
    expect((await service.create('ConfigMap', { metadata })).body.metadata).toMatchObject({ name: 'a', ...metadata });
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'b-' } };
    expect((await service.send('POST', pathOf('ConfigMap'), body)).body.metadata.name).toMatch(/^b-.+/);
  });

  test('R0.7: apply replaces an atomic list, merges a set and merges a map list by its key', async () => {
    const service = openService();
    const role = (verb: string) => ({ rules: [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }] });
    await service.apply('Role', 'a', role('get'), 'one');
    expect((await service.apply('Role', 'a', role('list'), 'two')).code).toBe(409);
    const finalizers = (name: string) => ({ metadata: { finalizers: [`example.com/${name}`] } });
    await service.apply('ConfigMap', 'a', finalizers('one'), 'one');
    const set = await service.apply('ConfigMap', 'a', finalizers('two'), 'two');
    expect(set.body.metadata.finalizers).toEqual(['example.com/one', 'example.com/two']);
    const drivers = (name: string) => ({ spec: { drivers: [{ name, nodeID: 'n' }] } });
    await service.apply('CSINode', 'a', drivers('one'), 'one');
    const map = await service.apply('CSINode', 'a', drivers('two'), 'two');
    expect(map.body.spec.drivers.map(({ name }: { name: string }) => name).sort()).toEqual(['one', 'two']);
  });

  test('R0.8: quantities, times, micro times, raw extensions and references have their forms', async () => {
    const service = openService();
    const quota = await service.create('ResourceQuota', { spec: { hard: { cpu: '1000m' } } });
    expect(quota.body.spec.hard).toEqual({ cpu: '1' });
    expect(quota.body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const data = { any: [{ thing: null }] };
    expect((await service.create('ControllerRevision', { revision: 1, data })).body.data).toEqual(data);
    const event = await service.create('Event', {
      metadata: { namespace: 'default' },
      eventTime: '2024-01-02T03:04:05.678901Z',
      action: 'a',
      reason: 'r',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      type: 'Normal',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
    });
    expect(event.body).toMatchObject({
      eventTime: '2024-01-02T03:04:05.678901Z',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
    });
  });
});
