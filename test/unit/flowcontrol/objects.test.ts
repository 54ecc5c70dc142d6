/** The objects that the server maintains: bootstrap objects and the Dangling condition of schemas. */
import { mergePatch } from 'orchplane';
import { FlowSchema, type FlowSchemaInput, PriorityLevelConfiguration } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { flowSchemaReconciler } from '../../../src/kinds/flowcontrol/v1/flow-schema/flow-schema.js';
import type { ReconcilerHost } from '../../../src/kinds/reconciler.js';
import type { ApiObject, DraftObject } from '../../../src/meta/object.js';

const kinds = [FlowSchema, PriorityLevelConfiguration];
const annotation = 'apf.kubernetes.io/autoupdate-spec';

describe('bootstrap objects', () => {
  test('creates the same bootstrap objects as the reference server', async () => {
    const cluster = testCluster();
    const schemas = await cluster.api(FlowSchema).list();
    const rows = schemas.items.map(({ metadata, spec }) => [
      metadata.name,
      spec.priorityLevelConfiguration.name,
      spec.matchingPrecedence,
      spec.distinguisherMethod?.type,
    ]);
    expect(rows).toEqual([
      ['catch-all', 'catch-all', 10_000, 'ByUser'],
      ['endpoint-controller', 'workload-high', 150, 'ByUser'],
      ['exempt', 'exempt', 1, undefined],
      ['global-default', 'global-default', 9900, 'ByUser'],
      ['kube-controller-manager', 'workload-high', 800, 'ByNamespace'],
      ['kube-scheduler', 'workload-high', 800, 'ByNamespace'],
      ['kube-system-service-accounts', 'workload-high', 900, 'ByNamespace'],
      ['probes', 'exempt', 2, undefined],
      ['service-accounts', 'workload-low', 9000, 'ByUser'],
      ['system-leader-election', 'leader-election', 100, 'ByUser'],
      ['system-node-high', 'node-high', 400, 'ByUser'],
      ['system-nodes', 'system', 500, 'ByUser'],
      ['workload-leader-election', 'leader-election', 200, 'ByUser'],
    ]);
    const levels = await cluster.api(PriorityLevelConfiguration).list();
    expect(levels.items.map(({ metadata }) => metadata.name)).toEqual([
      'catch-all',
      'exempt',
      'global-default',
      'leader-election',
      'node-high',
      'system',
      'workload-high',
      'workload-low',
    ]);
  });

  test.each(['orch', 'kubernetes'] as const)('names groups of bootstrap objects in the dialect %s', async (dialect) => {
    const { spec } = await testCluster({ dialect }).api(FlowSchema).get('system-leader-election');
    const group = dialect === 'orch' ? 'coordination.orch.io' : 'coordination.k8s.io';
    expect(spec.rules?.[0]?.resourceRules?.[0]?.apiGroups).toEqual([group]);
  });

  test('creates valid bootstrap objects that the server owns', async () => {
    const cluster = testCluster({ dialect: 'kubernetes' });
    for (const kind of kinds) {
      const api = cluster.api(kind as typeof FlowSchema);
      for (const { metadata, spec } of (await api.list()).items) {
        const { name, annotations, generation, managedFields } = metadata;
        expect({ name, annotations, generation }).toEqual({
          name,
          annotations: { [annotation]: 'true' },
          generation: 1,
        });
        await api.delete(name);
        const again = await api.create(
          { metadata: { name, annotations: { [annotation]: 'true' } }, spec } as unknown as FlowSchemaInput,
          { fieldManager: 'api-priority-and-fairness-config-producer-v1' },
        );
        expect(again.spec).toEqual(spec);
        const made = managedFields?.filter(({ operation }) => operation === 'Update');
        expect(again.metadata.managedFields).toEqual(made);
      }
    }
  });
});

describe('a FlowSchema', () => {
  const create = (level: string) => ({
    metadata: { name: 'f' },
    spec: { priorityLevelConfiguration: { name: level } },
  });
  const level = {
    metadata: { name: 'p' },
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  } as const;
  const about = 'This FlowSchema references the PriorityLevelConfiguration object named "p"';
  const found = { type: 'Dangling', status: 'False', reason: 'Found', message: `${about} and it exists` };
  const missing = {
    type: 'Dangling',
    status: 'True',
    reason: 'NotFound',
    message: `${about} but there is no such object`,
  };

  test('reports in a condition whether the level of a FlowSchema exists, right after the write', async () => {
    const cluster = testCluster();
    const { clock } = cluster;
    const [schemas, levels] = [cluster.api(FlowSchema), cluster.api(PriorityLevelConfiguration)];
    const conditions = async () => (await schemas.get('f')).status.conditions;
    expect((await schemas.create(create('p'))).status).toEqual({});
    expect(await conditions()).toEqual([{ ...missing, lastTransitionTime: '2030-01-01T00:00:00Z' }]);
    await clock.advance(5000);
    await levels.create(level);
    expect(await conditions()).toEqual([{ ...found, lastTransitionTime: '2030-01-01T00:00:05Z' }]);
    await clock.advance(5000);
    // A condition that is already set is not written again.
    const before = cluster.resourceVersion;
    await schemas.patch('f', mergePatch({ metadata: { labels: { a: 'b' } } }));
    expect(Number(cluster.resourceVersion)).toBe(Number(before) + 1);
    expect(await conditions()).toEqual([{ ...found, lastTransitionTime: '2030-01-01T00:00:05Z' }]);
    await levels.delete('p');
    expect(await conditions()).toMatchObject([missing]);
  });

  test('sends the new condition of a FlowSchema as a second event', async () => {
    const cluster = testCluster();
    const watch = cluster.api(FlowSchema).watch({ resourceVersion: cluster.resourceVersion });
    await cluster.api(FlowSchema).create(create('exempt'));
    expect((await watch.next()).value).toMatchObject({ type: 'ADDED', object: { status: {} } });
    expect((await watch.next()).value).toMatchObject({
      type: 'MODIFIED',
      object: { status: { conditions: [{ type: 'Dangling', status: 'False' }] } },
    });
    watch.close();
  });

  test('keeps other conditions of a FlowSchema and overrides a wrong Dangling condition', async () => {
    const schemas = testCluster().api(FlowSchema);
    await schemas.create(create('p'));
    const [mine, dangling] = [
      { type: 'Mine', status: 'True' },
      { type: 'Dangling', status: 'Unknown' },
    ] as const;
    await schemas.status.patch('f', mergePatch({ status: { conditions: [mine, dangling] } }));
    const { conditions = [] } = (await schemas.get('f')).status;
    expect(conditions).toHaveLength(2);
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Mine', status: 'True' }));
    expect(conditions).toContainEqual(expect.objectContaining(missing));
  });

  test('updates a FlowSchema under its own field manager, and only on changes', () => {
    const schema = { metadata: { name: 'f' }, spec: { priorityLevelConfiguration: { name: 'p' } }, status: {} };
    const written: unknown[] = [];
    let version = 1;
    const attendant = flowSchemaReconciler({
      objects: { list: () => [], get: () => undefined },
      each: (_resource, visit) => visit(schema as unknown as ApiObject),
      lastChange: () => version,
      now: () => '2030-01-01T00:00:00Z',
      writeStatus: (object, change, appliedBy) => {
        const draft = { metadata: { name: 'f' } } as DraftObject;
        change(draft);
        Object.assign(object, { status: draft['status'] });
        written.push([draft, appliedBy]);
        return true;
      },
    } as Partial<ReconcilerHost> as ReconcilerHost);
    for (const next of [1, 1, 2]) {
      version = next;
      attendant.reconcile();
    }
    const condition = { ...missing, lastTransitionTime: '2030-01-01T00:00:00Z' };
    expect(written).toEqual([
      [
        { metadata: { name: 'f' }, status: { conditions: [condition] } },
        'api-priority-and-fairness-config-consumer-v1',
      ],
    ]);
  });
});
