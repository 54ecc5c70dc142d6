/** Random events during a Deployment rollout: the bounds hold, and the last spec is reached. */
import { Deployment, ReplicaSet } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import fc from '../../property/seeded.js';
import { DeploymentWorld } from './deployment-fixture.js';
import { selector, template } from './workload-fixture.js';

/** A random pod becomes ready, fails or is deleted; or the Deployment changes. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('run' as const), pod: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('fail' as const, 'delete' as const), pod: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('image' as const), image: fc.constantFrom('i:1', 'i:2', 'i:3') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('scale' as const), replicas: fc.nat(6) }) },
);
const bounds = fc.constantFrom(
  { maxSurge: 1, maxUnavailable: 0 },
  { maxSurge: 0, maxUnavailable: 1 },
  { maxSurge: 2, maxUnavailable: 1 },
  { maxSurge: '25%', maxUnavailable: '25%' },
  { maxSurge: '100%', maxUnavailable: '50%' },
);

test('keeps the rollout bounds at every step and reaches the last spec', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record({ rollingUpdate: bounds, steps: fc.array(step, { maxLength: 10 }) }), async (drawn) => {
      const world = new DeploymentWorld();
      const api = world.cluster.api(Deployment);
      const spec = { replicas: 4, selector, template: template(), strategy: { rollingUpdate: drawn.rollingUpdate } };
      await api.create({ metadata: { name: 'd' }, spec });
      await world.runAll();
      let isRescaled = false;
      for (const next of drawn.steps) {
        const pods = (await world.pods()).filter(({ status }) => status.phase !== 'Failed');
        const name = 'pod' in next ? pods[next.pod % Math.max(1, pods.length)]?.metadata.name : undefined;
        if (next.do === 'image')
          await api.patch('d', { type: 'merge', merge: { spec: { template: template(next.image) } } });
        else if (next.do === 'scale')
          await api.patch('d', { type: 'merge', merge: { spec: { replicas: next.replicas } } });
        else if (name === undefined) continue;
        else if (next.do === 'run') await world.run(name);
        else if (next.do === 'fail') await world.setStatus(name, { phase: 'Failed' });
        else await world.remove(name);
        await world.cluster.settle();
        isRescaled ||= next.do === 'scale';
        if (!isRescaled) expect(await expected(world)).toBeLessThanOrEqual(4 + surge(drawn.rollingUpdate.maxSurge));
      }
      await world.runAll();
      const { spec: last, status } = await api.get('d');
      const image = last.template.spec?.containers[0]?.image;
      const live = (await world.pods()).filter((pod) => pod.status.phase === 'Running');
      expect(live.map((pod) => pod.spec.containers[0]?.image)).toEqual(live.map(() => image));
      expect(live).toHaveLength(last.replicas);
      expect([status.replicas ?? 0, status.updatedReplicas ?? 0, status.availableReplicas ?? 0]).toEqual(
        Array.from({ length: 3 }, () => last.replicas),
      );
      expect(status.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe('NewReplicaSetAvailable');
      expect(world.complaints).toEqual([]);
      await world.close();
    }),
    { numRuns: 10 },
  );
}, 60_000);

function surge(maxSurge: number | string): number {
  return typeof maxSurge === 'number' ? maxSurge : Math.ceil((4 * Number.parseInt(maxSurge, 10)) / 100);
}

async function expected(world: DeploymentWorld): Promise<number> {
  const { items } = await world.cluster.api(ReplicaSet).list();
  return items.reduce((sum, { spec }) => sum + spec.replicas, 0);
}
