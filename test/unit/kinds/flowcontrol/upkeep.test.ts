/** Maintenance of the suggested and mandatory flow control objects: the server restores them within a minute. */
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

describe('a bootstrap flow control object', () => {
  test.each(['exempt', 'catch-all', 'workload-low', 'global-default'])(
    'recreates %s one minute after its deletion',
    async (name) => {
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
    },
  );

  test('recreates a bootstrap flow control object with its status', async () => {
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

  test('resets a bootstrap flow control object that was changed', async () => {
    const cluster = testCluster();
    const levels = cluster.api(PriorityLevelConfiguration);
    const { spec } = await levels.get('workload-low');
    await levels.edit('workload-low', (draft) => {
      draft.spec = level('x').spec as never;
    });
    await cluster.clock.advance(MINUTE);
    expect((await levels.get('workload-low')).spec).toEqual(spec);
  });

  test('does not reset an optional bootstrap object whose annotation disables it', async () => {
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
    ['it has no annotation and is unchanged', {}, false, 'true', true],
    ['it has no annotation and is changed', {}, true, 'false', false],
    ['its annotation is invalid', { [ANNOTATION]: 'maybe' }, true, 'false', false],
    ['its annotation has another spelling of true', { [ANNOTATION]: 'T' }, true, 'T', true],
  ])('has the expected spec and annotation if %s', async (_, annotations, isChanged, noted, isBack) => {
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

  test('deletes a bootstrap flow control object that is no longer suggested', async () => {
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

  test('does not write a bootstrap flow control object that a user restored first', async () => {
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

  test('leaves no flow control timer when the cluster is closed', async () => {
    const cluster = testCluster();
    await cluster.api(PriorityLevelConfiguration).delete('workload-low');
    const before = cluster.resourceVersion;
    await cluster.close();
    await cluster.clock.advance(2 * MINUTE);
    expect(cluster.resourceVersion).toBe(before);
  });
});
