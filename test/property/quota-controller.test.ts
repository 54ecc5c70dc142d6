/**
 * After any changes a settled quota reports the actual usage: incremental counting equals a full recount.
 */
import { StatusError } from 'orchplane';
import { controllers, resourceQuotas } from 'orchplane/controllers';
import { ConfigMap, Pod, ResourceQuota, Service } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test, vi } from 'vitest';
import { featureGates } from '../../src/kinds/feature-gates.js';
import { orchDialect } from '../../src/meta/dialect.js';
import type { ApiObject } from '../../src/meta/object.js';
import { Quantity } from '../../src/meta/quantity.js';
import { recalculate } from '../fixtures/recalculate-quota.js';
import fc from './seeded.js';

vi.setConfig({ testTimeout: 120_000 });

const QUOTAS = [
  { name: 'all', spec: { hard: { pods: '9', 'requests.cpu': '4', configmaps: '6', 'count/services': '5' } } },
  { name: 'nodeports', spec: { hard: { services: '9', 'services.nodeports': '4', 'count/pods': '50' } } },
  { name: 'ending', spec: { hard: { pods: '5', 'limits.memory': '9Gi' }, scopes: ['Terminating' as const] } },
];

type Step =
  | { readonly type: 'pod'; readonly name: string; readonly cpu: number }
  | { readonly type: 'map' | 'unmap' | 'over' | 'deadline' | 'drop' | 'unserve'; readonly name: string }
  | { readonly type: 'service'; readonly name: string; readonly open: boolean }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'quota'; readonly cpu: number };

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('pod' as const), name, cpu: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ type: fc.constantFrom('map', 'unmap', 'over', 'deadline', 'drop', 'unserve'), name }),
  fc.record({ type: fc.constant('service' as const), name, open: fc.boolean() }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 40_000, 200_000) }),
  fc.record({ type: fc.constant('quota' as const), cpu: fc.integer({ min: 1, max: 9 }) }),
);

async function act(cluster: TestCluster, done: Step): Promise<unknown> {
  switch (done.type) {
    case 'pod': {
      const resources = { requests: { cpu: `${done.cpu}00m` }, limits: { cpu: '1', memory: `${done.cpu}Mi` } };
      const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i', resources }] };
      return cluster.api(Pod).create({ metadata: { name: done.name }, spec } as never);
    }
    case 'over':
      return cluster.api(Pod).status.edit(done.name, (draft) => {
        draft.status.phase = 'Succeeded';
      });
    case 'deadline':
      return cluster.api(Pod).edit(done.name, (draft) => {
        draft.spec.activeDeadlineSeconds = 50;
      });
    case 'drop':
      return cluster.api(Pod).delete(done.name);
    case 'map':
      return cluster.api(ConfigMap).create({ metadata: { name: done.name } });
    case 'unmap':
      return cluster.api(ConfigMap).delete(done.name);
    case 'unserve':
      return cluster.api(Service).delete(done.name);
    case 'service': {
      const type = done.open ? 'NodePort' : 'ClusterIP';
      return cluster
        .api(Service)
        .apply({ metadata: { name: done.name }, spec: { type, ports: [{ port: 80 }] } }, { fieldManager: 'm' });
    }
    case 'wait':
      return cluster.clock.advance(done.ms);
    case 'quota':
      return cluster.api(ResourceQuota).edit('all', (draft) => {
        draft.spec.hard = { ...draft.spec.hard, 'requests.cpu': String(done.cpu) };
      });
  }
}

test('reports the actual usage in the quota status', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const errors: unknown[] = [];
      const cluster = testCluster({
        controllers: controllers([resourceQuotas()], { onError: (error) => void errors.push(error) }),
      });
      for (const { name, spec } of QUOTAS) await cluster.api(ResourceQuota).create({ metadata: { name }, spec });
      for (const done of steps) {
        await act(cluster, done).catch((error: unknown) => {
          if (!StatusError.is(error)) throw error;
        });
      }
      // Pods past their grace period no longer count; a recount shows it.
      await cluster.clock.advance(400_000);
      await cluster.settle();
      const objects = async (kind: typeof Pod | typeof ConfigMap | typeof Service) => ({
        resource: { group: '', resource: kind.names.plural },
        objects: (await cluster.api(kind as typeof Pod).list()).items as unknown as ApiObject[],
      });
      const counted = [await objects(Pod), await objects(ConfigMap), await objects(Service)];
      const terms = { dialect: orchDialect, features: featureGates(), clock: cluster.clock };
      for (const quota of (await cluster.api(ResourceQuota).list()).items) {
        const expected = recalculate(quota as never, counted, terms);
        const amounts = (list: Readonly<Record<string, string>> = {}) =>
          Object.entries(list).map(([key, text]) => [key, String(Quantity.parse(text).milliValue())]);
        expect(amounts(quota.status.used)).toEqual(amounts(expected.used));
        expect(quota.status.hard).toEqual(expected.hard);
      }
      expect(errors).toEqual([]);
      await cluster.close();
    }),
    { numRuns: 60 },
  );
});
