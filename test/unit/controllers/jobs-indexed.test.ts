/** Indexed Jobs: pod names, limits per index, pod failure policies and success policies. */
import { Job, Pod } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exited, JobWorld, template } from './job-fixture.js';

const INDEX = 'batch.orch.io/job-completion-index';
const FAILURES = 'batch.orch.io/job-index-failure-count';
const IGNORED = 'batch.orch.io/job-index-ignored-failure-count';

let world: JobWorld;
beforeEach(() => {
  world = new JobWorld();
});
afterEach(() => world.close());

const indexed = (completions: number, more: object = {}) =>
  world.make({ completionMode: 'Indexed', completions, parallelism: completions, ...more });
const activeIndexes = async () => (await world.active()).map(({ metadata }) => Number(metadata.annotations?.[INDEX]));
/** Ends the pod of an index now, as a kubelet reports it. */
const endNow = async (index: number, exitCode: number) => {
  const pod = (await world.active()).find(({ metadata }) => metadata.annotations?.[INDEX] === String(index));
  const finishedAt = new Date(world.cluster.clock.now()).toISOString();
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
  await world.setStatus(pod?.metadata.name ?? '', { phase, ...exited(exitCode, { finishedAt }) });
};

describe('pods of an indexed Job', () => {
  test('sets the index as annotation, label, host name, part of the name and variable', async () => {
    const containers = [
      { name: 'c', image: 'i:1' },
      { name: 'own', image: 'i:1', env: [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }] },
    ];
    const initContainers = [{ name: 'before', image: 'i:1' }];
    await indexed(2, { template: template({ containers, initContainers }) });
    const [first, second] = await world.pods();
    expect([first?.metadata.generateName, second?.metadata.generateName]).toEqual(['j-0-', 'j-1-']);
    expect(second?.metadata.annotations).toEqual({ [INDEX]: '1' });
    expect(second?.metadata.labels).toMatchObject({ app: 'x', [INDEX]: '1' });
    expect(second?.spec.hostname).toBe('j-1');
    const variable = {
      name: 'JOB_COMPLETION_INDEX',
      valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX}']` } },
    };
    expect(second?.spec.initContainers?.[0]?.env).toEqual([variable]);
    expect(second?.spec.containers.map(({ env }) => env)).toEqual([
      [variable],
      [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }],
    ]);
  });

  test('keeps the index in pod names of a Job with a long name', async () => {
    const name = 'x'.repeat(61);
    await world.make({ completionMode: 'Indexed', completions: 1 }, { name });
    expect((await world.pods())[0]?.metadata.generateName).toBe(`${'x'.repeat(55)}-0-`);
  });

  test('creates pods for the lowest missing indexes first', async () => {
    await indexed(5, { parallelism: 2 });
    expect(await activeIndexes()).toEqual([0, 1]);
    await world.end('Succeeded', { index: 1 });
    expect(await activeIndexes()).toEqual([0, 2]);
    await world.end('Succeeded', { index: 2 });
    expect(await world.status()).toMatchObject({ succeeded: 2, completedIndexes: '1,2', active: 2 });
    await world.end('Succeeded', { index: 3 });
    expect((await world.status()).completedIndexes).toBe('1-3');
  });

  test('completes an indexed Job when every index is complete', async () => {
    await indexed(3);
    await world.end('Succeeded');
    expect(await world.status()).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
    expect(await world.conditions()).toEqual([
      'SuccessCriteriaMet=True CompletionsReached',
      'Complete=True CompletionsReached',
    ]);
  });

  test('deletes the less advanced of two pods with the same index', async () => {
    await indexed(2);
    const [first] = await world.pods();
    await world.setStatus(first?.metadata.name ?? '', { phase: 'Running' });
    const { metadata, spec } = first ?? {};
    await world.cluster.api(Pod).create({
      metadata: {
        name: 'twin',
        annotations: metadata?.annotations ?? {},
        labels: metadata?.labels ?? {},
        ownerReferences: metadata?.ownerReferences ?? [],
        finalizers: metadata?.finalizers ?? [],
      },
      spec: spec as never,
    });
    expect(await activeIndexes()).toEqual([0, 1]);
    expect((await world.active()).map(({ metadata }) => metadata.name)).toContain(metadata?.name);
  });

  test('deletes pods of higher indexes when completions and parallelism decrease', async () => {
    await indexed(3);
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { completions: 1, parallelism: 1 } } });
    expect(await activeIndexes()).toEqual([0]);
  });
});

describe('backoff limit per index', () => {
  test('retries a failed index with its own failure count', async () => {
    await indexed(2, { backoffLimitPerIndex: 1 });
    expect((await world.pods()).map(({ metadata }) => metadata.annotations?.[FAILURES])).toEqual(['0', '0']);
    await endNow(0, 1);
    expect(await activeIndexes()).toEqual([1]);
    await world.advance(9);
    expect(await activeIndexes()).toEqual([1]);
    await world.advance(1);
    expect((await world.active()).map(({ metadata }) => metadata.annotations?.[FAILURES])).toEqual(['1', '0']);
    expect(await world.status()).toMatchObject({ failed: 1, failedIndexes: '' });
  });

  test('keeps the finalizer of a failed pod until its replacement exists', async () => {
    await indexed(1, { backoffLimitPerIndex: 2 });
    await endNow(0, 1);
    expect((await world.pods())[0]?.metadata.finalizers).toHaveLength(1);
    await world.advance(10);
    const failed = (await world.pods()).find(({ status }) => status.phase === 'Failed');
    expect(failed?.metadata.finalizers).toBeUndefined();
  });

  test('fails the Job when every index has ended and one has failed', async () => {
    await indexed(2, { backoffLimitPerIndex: 0 });
    await endNow(0, 1);
    expect(await world.conditions()).toEqual([]);
    expect(await world.status()).toMatchObject({ failedIndexes: '0', failed: 1 });
    await endNow(1, 0);
    expect(await world.conditions()).toEqual(['FailureTarget=True FailedIndexes', 'Failed=True FailedIndexes']);
    expect((await world.status()).conditions?.[1]?.message).toBe('Job has failed indexes');
    expect(await world.status()).toMatchObject({ failedIndexes: '0', completedIndexes: '1', succeeded: 1, failed: 1 });
  });

  test('fails the Job when too many indexes fail', async () => {
    await indexed(4, { backoffLimitPerIndex: 0, maxFailedIndexes: 1 });
    await endNow(0, 1);
    expect(await activeIndexes()).toEqual([1, 2, 3]);
    await endNow(2, 1);
    expect(await activeIndexes()).toEqual([]);
    expect(await world.conditions()).toEqual([
      'FailureTarget=True MaxFailedIndexesExceeded',
      'Failed=True MaxFailedIndexesExceeded',
    ]);
    expect((await world.status()).conditions?.[0]?.message).toBe(
      'Job has exceeded the specified maximal number of failed indexes',
    );
  });

  test('increases the retry delay with the failures of an index', async () => {
    await indexed(1, { backoffLimitPerIndex: 5 });
    const waits: number[] = [];
    for (let failure = 0; failure < 4; failure++) {
      await endNow(0, 1);
      let seconds = 0;
      for (; (await world.active()).length === 0; seconds += 5) await world.advance(5);
      waits.push(seconds);
    }
    expect(waits).toEqual([10, 20, 40, 80]);
  });
});

describe('pod failure policy', () => {
  const rules = (...list: readonly object[]) => ({ podFailurePolicy: { rules: list as never } });

  test('fails the Job with FailJob and names the rule', async () => {
    await world.make({
      parallelism: 2,
      completions: 2,
      ...rules(
        { action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } },
        { action: 'FailJob', onExitCodes: { containerName: 'c', operator: 'NotIn', values: [1, 2] } },
      ),
    });
    const [pod] = await world.pods();
    await world.setStatus(pod?.metadata.name ?? '', { phase: 'Failed', ...exited(42) });
    const message = `Container c for pod default/${pod?.metadata.name} failed with exit code 42 matching FailJob rule at index 1`;
    expect((await world.status()).conditions?.map((it) => [it.type, it.reason, it.message])).toEqual([
      ['FailureTarget', 'PodFailurePolicy', message],
      ['Failed', 'PodFailurePolicy', message],
    ]);
    expect(await world.events('Warning')).toEqual([`PodFailurePolicy: ${message}`]);
  });

  test('matches a rule on a pod condition', async () => {
    await world.make(rules({ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget' }] }));
    const [pod] = await world.pods();
    const conditions = [{ type: 'DisruptionTarget', status: 'True' }];
    await world.setStatus(pod?.metadata.name ?? '', { phase: 'Failed', conditions });
    expect((await world.status()).conditions?.[1]?.message).toBe(
      `Pod default/${pod?.metadata.name} has condition DisruptionTarget matching FailJob rule at index 0`,
    );
  });

  test('ignores failures with Ignore and counts them with Count or without a matching rule', async () => {
    await world.make({
      backoffLimit: 2,
      ...rules(
        { action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } },
        { action: 'Count', onExitCodes: { operator: 'In', values: [2] } },
      ),
    });
    const failed: (number | undefined)[] = [];
    for (const exitCode of [1, 1, 2, 3]) {
      await world.end('Failed', { exitCode });
      failed.push((await world.status()).failed);
      await world.advance(600);
    }
    expect(failed).toEqual([undefined, undefined, 1, 2]);
    expect(await world.conditions()).toEqual([]);
  });

  test('gives up an index with FailIndex and counts ignored failures separately', async () => {
    await indexed(2, {
      backoffLimitPerIndex: 3,
      ...rules(
        { action: 'FailIndex', onExitCodes: { operator: 'In', values: [7] } },
        { action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } },
      ),
    });
    await endNow(0, 7);
    expect(await world.status()).toMatchObject({ failedIndexes: '0' });
    await endNow(1, 1);
    await world.advance(10);
    const [pod] = await world.active();
    expect(pod?.metadata.annotations).toMatchObject({ [FAILURES]: '0', [IGNORED]: '1' });
  });

  test('applies no rule to a terminating pod before it has failed', async () => {
    await world.make(rules({ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget' }] }));
    const [pod] = await world.pods();
    const name = pod?.metadata.name ?? '';
    await world.setStatus(name, { conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
    await world.cluster.api(Pod).delete(name);
    expect(await world.conditions()).toEqual([]);
    expect(await world.status()).toMatchObject({ terminating: 1 });
    await world.setStatus(name, { phase: 'Failed' });
    expect(await world.conditions()).toContain('Failed=True PodFailurePolicy');
  });
});

describe('success policy', () => {
  test.each([
    { rules: [{ succeededIndexes: '1' }], done: [1], met: 0 },
    { rules: [{ succeededCount: 2 }], done: [0, 3], met: 0 },
    { rules: [{ succeededIndexes: '2-3' }, { succeededIndexes: '0-1', succeededCount: 1 }], done: [1], met: 1 },
    { rules: [{ succeededIndexes: '0,2' }], done: [0, 1], met: undefined },
    { rules: [{ succeededCount: 3 }], done: [0, 1], met: undefined },
  ])('meets rule $met of $rules after $done', async ({ rules, done, met }) => {
    await indexed(4, { successPolicy: { rules } });
    for (const index of done) await world.end('Succeeded', { index });
    const { conditions = [] } = await world.status();
    const message = `Matched rules at index ${met}`;
    expect(conditions.map((it) => [it.type, it.reason, it.message])).toEqual(
      met === undefined
        ? []
        : [
            ['SuccessCriteriaMet', 'SuccessPolicy', message],
            ['Complete', 'SuccessPolicy', message],
          ],
    );
    expect(await activeIndexes()).toHaveLength(met === undefined ? 4 - done.length : 0);
  });

  test('does not count pods stopped after a success as failures', async () => {
    await indexed(3, { successPolicy: { rules: [{ succeededCount: 1 }] } });
    await world.end('Succeeded', { index: 2 });
    expect((await world.status()).failed).toBeUndefined();
    expect(await world.status()).toMatchObject({ succeeded: 1, completedIndexes: '2', terminating: 0 });
    expect(await world.events()).toContain('Completed: Job completed');
  });
});
