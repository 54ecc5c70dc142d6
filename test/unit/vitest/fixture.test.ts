/** The vitest fixture and matchers, used like in a user's test. */
import { ConfigMap, Namespace, Pod } from 'orchplane/kinds';
import { failing, InterleavingError, recordRequests, type TestCluster } from 'orchplane/testing';
import { clusterTest, test as fresh } from 'orchplane/vitest';
import { afterAll, describe, expect, test as plain } from 'vitest';
import { copier, original } from '../testing/faults/clients.js';

describe('test fixture', () => {
  const seen: TestCluster[] = [];

  for (const round of [1, 2, 3]) {
    fresh(`gives each test its own cluster (${round})`, async ({ cluster }) => {
      seen.push(cluster);
      cluster.use(failing({ verb: 'delete' }));
      expect((await cluster.api(ConfigMap).list()).items).toEqual([]);
      const { metadata } = await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
      expect(metadata.name).toBe('a-bbbbb');
      expect(metadata.creationTimestamp).toBe('2030-01-01T00:00:00Z');
      await cluster.clock.advance(60_000);
    });
  }

  plain('closes the cluster after each test', async () => {
    expect(new Set(seen).size).toBe(3);
    for (const cluster of seen)
      await expect(cluster.api(ConfigMap).list()).rejects.toBeStatusError('ServiceUnavailable');
  });
});

describe('clusterTest', () => {
  let seeded = 0;
  const test = clusterTest({
    controllers: [copier],
    options: { kinds: [ConfigMap, Namespace, Pod] },
    seed: async (cluster) => {
      seeded++;
      await cluster.api(ConfigMap).create(original);
    },
  });
  test('starts after the controllers have reconciled the seeded objects', async ({ cluster }) => {
    using log = recordRequests(cluster);
    await cluster.settle();
    expect(log.requests()).toEqual([]);
  });

  afterAll(() => {
    expect(seeded).toBe(1);
  });

  test('starts from the seeded objects with running controllers', async ({ cluster }) => {
    expect(await cluster.api(ConfigMap).get('a-copy')).toBeOwnedBy(await cluster.api(ConfigMap).get('a'));
    await cluster.api(ConfigMap).deleteCollection();
  });

  test('starts each test from the same seeded objects', async ({ cluster }) => {
    using log = recordRequests(cluster, { verb: 'write' });
    await cluster.api(ConfigMap).edit('a', (draft) => {
      draft.data = { size: 'l' };
    });
    await cluster.settle();
    expect(await cluster.api(ConfigMap).get('a-copy')).toMatchManifest('data: { size: l }');
    expect(log).toHaveRequested({ verb: 'update', source: 'copier' }, 1);
    expect(log).not.toHaveNoOpWrites();
    expect(log).toMatchTrace(`
      update configmaps default/a by local → 200
      update configmaps default/a-copy by copier → 200
    `);
    expect(log).toMatchTrace();
  });

  test.seeds(5)('runs a test with several seeds', async ({ cluster, log }) => {
    await cluster.api(ConfigMap).delete('a-copy');
    await cluster.settle();
    expect(await cluster.api(ConfigMap).find('a-copy')).toBeDefined();
    expect(log).toHaveRequested({ verb: 'create' }, 1);
  });

  test.seeds({ seeds: 4, conflicts: 0.5, cuts: 0.5 })(
    'runs a test with conflicts and broken streams',
    async ({ cluster }) => {
      await cluster.api(ConfigMap).edit('a', (draft) => {
        draft.data = { size: 's' };
      });
      await cluster.clock.advance(60_000);
      expect(await cluster.api(ConfigMap).get('a-copy')).toMatchManifest({ data: { size: 's' } });
    },
  );

  plain('rejects unknown options of clusterTest', () => {
    expect(() => clusterTest({ controller: [] } as object)).toThrow('clusterTest has no option "controller"');
    expect(new InterleavingError([{ seed: 3, error: 'no', trace: '' }], 9).message).toContain('seed 3: no');
  });
});

describe('vitest matchers', () => {
  plain('prints the reason of a failed matcher', () => {
    const pod = { kind: 'Pod', metadata: { name: 'web' }, status: { phase: 'Pending' } };
    expect(pod).not.toBeReady();
    expect(pod).not.toHaveCondition('Ready');
    expect(() => expect(pod).toBeReady()).toThrow('Pod web is not ready:\n  its phase is "Pending"');
  });
});
