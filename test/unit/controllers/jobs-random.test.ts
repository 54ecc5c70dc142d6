/** Random events on the pods of a Job: each pod is counted once, and no finalizer remains. */
import { Job, Pod } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import fc from '../../property/seeded.js';
import { JobWorld } from './job-fixture.js';

type Step =
  | { readonly do: 'succeed' | 'fail' | 'delete'; readonly which: number }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'parallelism'; readonly count: number }
  | { readonly do: 'suspend' | 'resume' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom('succeed', 'fail', 'delete'), which: fc.nat(5) }),
    fc.record({ do: fc.constant('wait' as const), seconds: fc.nat(1_000) }),
    fc.record({ do: fc.constant('parallelism' as const), count: fc.nat(5) }),
    fc.record({ do: fc.constantFrom('suspend', 'resume') }),
  ),
  { maxLength: 25 },
);

async function isOver(world: JobWorld): Promise<boolean> {
  return (await world.conditions()).some((condition) => /^(Complete|Failed)=True/.test(condition));
}

/** Runs a step; returns how it counts if it ends a pod. */
async function take(world: JobWorld, step: Step): Promise<'succeeded' | 'failed' | undefined> {
  const change = (spec: object) =>
    world.cluster
      .api(Job)
      .patch('j', { type: 'merge', merge: { spec } as never })
      .then(() => undefined);
  switch (step.do) {
    case 'wait':
      await world.advance(step.seconds);
      return undefined;
    case 'parallelism':
      return change({ parallelism: step.count });
    case 'suspend':
      return change({ suspend: true });
    case 'resume':
      return change({ suspend: false });
    default: {
      const pod = (await world.active())[step.which];
      if (pod === undefined) return undefined;
      const { name } = pod.metadata;
      if (step.do === 'delete') await world.cluster.api(Pod).delete(name);
      else await world.setStatus(name, { phase: step.do === 'succeed' ? 'Succeeded' : 'Failed' });
      return step.do === 'succeed' ? 'succeeded' : 'failed';
    }
  }
}

test.each(['NonIndexed', 'Indexed'] as const)(
  'counts every pod of an %s Job once',
  { timeout: 60_000 },
  async (completionMode) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 4 }),
        steps,
        async (completions, parallelism, all) => {
          const world = new JobWorld();
          await world.make({ completionMode, completions, parallelism, backoffLimit: 100 });
          const ended = { succeeded: 0, failed: 0 };
          for (const step of all) {
            if (await isOver(world)) break;
            const how = await take(world, step);
            if (how !== undefined) ended[how]++;
            const { succeeded = 0, failed = 0 } = await world.status();
            expect({ succeeded, failed }).toEqual(ended);
            const { spec } = await world.job();
            const active = await world.active();
            expect(active.length).toBeLessThanOrEqual(spec.suspend === true ? 0 : (spec.parallelism ?? 0));
            for (const pod of active) expect(pod.metadata.finalizers).toHaveLength(1);
          }
          const go = { suspend: false, parallelism: 3 };
          await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: go } });
          for (let round = 0; round < 20 && !(await isOver(world)); round++) {
            await world.end('Succeeded');
            await world.advance(600);
          }
          expect(await world.conditions()).toContain('Complete=True CompletionsReached');
          expect((await world.status()).succeeded).toBe(completions);
          expect((await world.pods()).filter(({ metadata }) => metadata.finalizers !== undefined)).toEqual([]);
          expect(await world.active()).toEqual([]);
          expect(world.complaints).toEqual([]);
          await world.close();
        },
      ),
      { numRuns: 15 },
    );
  },
);
