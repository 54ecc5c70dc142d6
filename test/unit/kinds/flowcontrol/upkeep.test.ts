/** Flows and levels that every cluster has come back, a minute after they are gone or have become others. */
import { FlowSchema, PriorityLevelConfiguration } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const ANNOTATION = 'apf.orch.io/autoupdate-spec';
const MINUTE = 60_000;

const level = (name: string) => ({
  metadata: { name },
  spec: {
    type: 'Limited' as const,
    limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' as const } },
  },
});

describe('a flow or level of a new cluster', () => {
  test.each(['exempt', 'catch-all', 'workload-low', 'global-default'])('%s comes back a minute after', async (name) => {
    const cluster = testCluster();
    const levels = cluster.api(PriorityLevelConfiguration);
    const { spec, metadata } = await levels.get(name);
    await levels.delete(name);
    await cluster.clock.advance(MINUTE - 1);
    expect(await levels.find(name)).toBeUndefined();
    await cluster.clock.advance(1);
    const back = await levels.get(name);
    expect(back.spec).toEqual(spec);
    expect(back.metadata.annotations).toEqual({ [ANNOTATION]: 'true' });
    expect(back.metadata.managedFields).toEqual(
      metadata.managedFields?.map((entry) => ({ ...entry, time: back.metadata.creationTimestamp })),
    );
  });

  test('flows come back with what is noted about them', async () => {
    const cluster = testCluster();
    const flows = cluster.api(FlowSchema);
    const { spec, status } = await flows.get('service-accounts');
    await flows.delete('service-accounts');
    await cluster.clock.advance(MINUTE);
    const back = await flows.get('service-accounts');
    expect(back.spec).toEqual(spec);
    expect(back.status.conditions?.[0]).toMatchObject({
      ...status.conditions?.[0],
      lastTransitionTime: expect.any(String),
    });
  });

  test('is put right when it is another', async () => {
    const cluster = testCluster();
    const levels = cluster.api(PriorityLevelConfiguration);
    const { spec } = await levels.get('workload-low');
    await levels.edit('workload-low', (draft) => {
      draft.spec = level('x').spec as never;
    });
    await cluster.clock.advance(MINUTE);
    expect((await levels.get('workload-low')).spec).toEqual(spec);
  });

  test('is left alone when the user says so, and only if it may be', async () => {
    const cluster = testCluster();
    const levels = cluster.api(PriorityLevelConfiguration);
    await levels.edit('workload-low', (draft) => {
      draft.metadata.annotations = { [ANNOTATION]: 'false' };
      draft.spec = level('x').spec as never;
    });
    await levels.edit('exempt', (draft) => {
      draft.metadata.annotations = { [ANNOTATION]: 'false', other: 'x' };
    });
    await cluster.clock.advance(MINUTE);
    expect((await levels.get('workload-low')).spec).toMatchObject({ limited: { nominalConcurrencyShares: 1 } });
    expect((await levels.get('exempt')).metadata.annotations).toEqual({ [ANNOTATION]: 'true', other: 'x' });
  });

  test.each([
    ['nothing is said and nothing was changed', {}, false, 'true', true],
    ['nothing is said and it was changed', {}, true, 'false', false],
    ['what is said makes no sense', { [ANNOTATION]: 'maybe' }, true, 'false', false],
    ['it is said in another way', { [ANNOTATION]: 'T' }, true, 'T', true],
  ])('when %s', async (_, annotations, isChanged, noted, isBack) => {
    const cluster = testCluster();
    const levels = cluster.api(PriorityLevelConfiguration);
    const { spec } = await levels.get('workload-low');
    await levels.edit('workload-low', (draft) => {
      draft.metadata.annotations = annotations;
      if (isChanged) draft.spec = level('x').spec as never;
    });
    await cluster.clock.advance(MINUTE);
    const now = await levels.get('workload-low');
    expect(now.metadata.annotations?.[ANNOTATION]).toBe(noted);
    expect(JSON.stringify(now.spec) === JSON.stringify(spec)).toBe(isBack);
  });

  test('one that is no longer suggested goes', async () => {
    const cluster = testCluster();
    const levels = cluster.api(PriorityLevelConfiguration);
    for (const [name, value] of [
      ['former', 'true'],
      ['mine', 'false'],
    ] as const) {
      const { spec } = level(name);
      await levels.create({ metadata: { name, annotations: { [ANNOTATION]: value } }, spec });
    }
    await levels.create(level('plain'));
    await cluster.clock.advance(MINUTE);
    expect(await levels.find('former')).toBeUndefined();
    expect(await levels.find('mine')).toBeDefined();
    expect(await levels.find('plain')).toBeDefined();
  });

  test('what is right again by itself is not touched', async () => {
    const cluster = testCluster();
    const levels = cluster.api(PriorityLevelConfiguration);
    const { spec } = await levels.get('workload-low');
    await levels.edit('workload-low', (draft) => {
      draft.spec = level('x').spec as never;
    });
    await levels.edit('workload-low', (draft) => {
      draft.spec = spec as never;
    });
    const { metadata } = await levels.get('workload-low');
    await cluster.clock.advance(2 * MINUTE);
    expect((await levels.get('workload-low')).metadata).toEqual(metadata);
  });

  test('a cluster that is closed leaves no timer behind', async () => {
    const cluster = testCluster();
    await cluster.api(PriorityLevelConfiguration).delete('workload-low');
    const before = cluster.resourceVersion;
    await cluster.close();
    await cluster.clock.advance(2 * MINUTE);
    expect(cluster.resourceVersion).toBe(before);
  });
});
