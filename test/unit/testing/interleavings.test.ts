/** Runs of one test with many event orders. */
import { controllers, defineController } from 'orchplane/controllers';
import { ConfigMap, Namespace, Secret } from 'orchplane/kinds';
import { fakeClock, freshFork, InterleavingError, interleavings, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { copier, original, withCopier } from './faults/clients.js';

/** Copies the size of a ConfigMap and fails when its informer has the marker Secret already: depends on the event order. */
const hasty = defineController({
  name: 'hasty',
  kind: ConfigMap,
  labels: { copy: 'yes' },
  reads: [Secret],
  async reconcile({ metadata, data }, { client, informer }) {
    // Wrongly assumes that events of different kinds arrive in write order.
    if (informer(Secret).get('marker', 'default') !== undefined) throw new Error('the marker came before the work');
    await client
      .api(ConfigMap)
      .apply({ metadata: { name: `${metadata.name}-done` }, data: { size: data?.['size'] ?? '' } });
  },
});

async function withHasty() {
  const errors: unknown[] = [];
  const cluster = testCluster({
    kinds: [ConfigMap, Namespace, Secret],
    controllers: controllers([hasty], { onError: (error) => void errors.push(error) }),
  });
  await cluster.settle();
  return { cluster, errors };
}

describe('interleavings', () => {
  test('passes when the test passes in every order', async () => {
    const { cluster } = await withCopier();
    const seen: number[] = [];
    await interleavings(
      cluster,
      async (fork, { seed, log }) => {
        seen.push(seed);
        await fork.api(ConfigMap).create(original);
        await fork.clock.advance(60_000);
        expect(await fork.api(ConfigMap).find('a-copy')).toBeDefined();
        expect(log.noOpWrites()).toEqual([]);
      },
      { seeds: 8, conflicts: 0.3, cuts: 0.3 },
    );
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
    await cluster.close();
  });

  test('reports the seed, the trace and the command of a failing order', async () => {
    const { cluster, errors } = await withHasty();
    const run = async (fork: typeof cluster) => {
      errors.length = 0;
      await fork.api(ConfigMap).create(original);
      await fork.api(Secret).create({ metadata: { name: 'marker' } });
      await fork.settle();
      if (errors.length > 0) throw new Error('hasty was confused', { cause: errors[0] });
    };
    const error = await interleavings(cluster, run, { seeds: 30 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(InterleavingError);
    const { seed, message, failures, cause } = error as InterleavingError;
    expect(cause).toMatchObject({ message: 'hasty was confused' });
    expect(message).toMatch(/^\d of \d+ seeds failed: /);
    expect(message).toContain(`seed ${seed}: Error: hasty was confused\nrun it alone with { seed: ${seed} }`);
    expect(message).toContain('  create configmaps default/a by local → 201');
    // Each run with the seed gives the same trace.
    for (let round = 0; round < 2; round++) {
      const again = await interleavings(cluster, run, { seed }).catch((caught: unknown) => caught);
      expect((again as InterleavingError).failures).toMatchObject([{ seed, trace: failures[0]?.trace }]);
    }
    await cluster.close();
  });

  test('stops after three failed seeds', async () => {
    const fail = () => {
      throw new Error('never');
    };
    const error = await interleavings(testCluster(), fail, { seeds: 10 }).catch((caught: unknown) => caught);
    expect((error as InterleavingError).failures).toHaveLength(3);
    expect((error as InterleavingError).message).toMatch(/^3 of 3 seeds failed: .*; stopped after 3 failures/);
  });

  test('accepts a function that creates the cluster for a seed', async () => {
    const seeds: number[] = [];
    await interleavings(
      ({ seed }) => testCluster({ seed, kinds: [ConfigMap], controllers: controllers([copier]) }),
      async (cluster, { seed }) => {
        seeds.push(seed);
        await cluster.settle();
      },
      { seeds: [4, 7] },
    );
    expect(seeds).toEqual([4, 7]);
  });

  test('rejects invalid options of interleavings', async () => {
    await expect(interleavings(testCluster(), () => undefined, { seeds: 0 })).rejects.toThrow(
      'seeds is a whole number',
    );
    await expect(interleavings(testCluster(), () => undefined, { seads: 1 } as object)).rejects.toThrow(
      'interleavings has no option "seads"',
    );
  });
});

describe('freshFork', () => {
  test('continues time and ids of its parent independently of other forks', async () => {
    const cluster = testCluster();
    await cluster.clock.advance(5_000);
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    const run = async () => {
      const fork = freshFork(cluster);
      await fork.clock.advance(1_000);
      const { metadata } = await fork.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
      return [metadata.name, metadata.uid, metadata.creationTimestamp];
    };
    const first = await run();
    expect(first[0]).toBe('a-bbbbc');
    expect(first[2]).toBe('2030-01-01T00:00:06Z');
    expect(await run()).toEqual(first);
    expect(cluster.clock.now()).toBe(fakeClock().now() + 5_000);
  });
});

describe('fake clock with a seed', () => {
  test('shuffles timers of the same time and keeps the order of others', async () => {
    const run = async (seed: number) => {
      const clock = fakeClock({ seed });
      const order: string[] = [];
      for (const name of ['a', 'b', 'c', 'd']) clock.after(100, () => void order.push(name));
      clock.after(50, () => void order.push('early'));
      clock.after(150, () => void order.push('late'));
      await clock.advance(200);
      expect(clock.pending).toBe(0);
      return order.join(' ');
    };
    const runs = await Promise.all([1, 2, 3, 4, 5, 6].map(run));
    for (const each of runs) expect(each).toMatch(/^early (\w \w \w \w) late$/);
    expect(new Set(runs).size).toBeGreaterThan(1);
    expect(await run(3)).toBe(runs[2]);
  });
});
