/** Job controller without indexes: number of pods, counting of finished pods, and the end of a Job. */
import { Job, Pod } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exited, FINALIZER, JobWorld, template } from './job-fixture.js';

let world: JobWorld;
beforeEach(() => {
  world = new JobWorld();
});
afterEach(() => world.close());

describe('pods of a Job', () => {
  test('runs one pod to completion by default', async () => {
    await world.make();
    const [pod, ...others] = await world.pods();
    expect(others).toEqual([]);
    const { uid } = (await world.job()).metadata;
    expect(pod?.metadata).toMatchObject({
      generateName: 'j-',
      finalizers: [FINALIZER],
      labels: {
        app: 'x',
        'batch.orch.io/controller-uid': uid,
        'batch.orch.io/job-name': 'j',
        'controller-uid': uid,
        'job-name': 'j',
      },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid, controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(await world.status()).toEqual({
      startTime: '2030-01-01T00:00:00Z',
      active: 1,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    expect(await world.events()).toEqual([`SuccessfulCreate: Created pod: ${pod?.metadata.name}`]);
  });

  test('adds its finalizer once when the template already contains it', async () => {
    await world.make({ template: { ...template(), metadata: { finalizers: [FINALIZER, 'example.com/mine'] } } });
    expect((await world.pods())[0]?.metadata.finalizers).toEqual([FINALIZER, 'example.com/mine']);
  });

  test.each([
    { parallelism: 2, completions: 3, active: [2, 2, 1, 0] },
    { parallelism: 5, completions: 2, active: [2, 1, 0] },
    { parallelism: 1, completions: 2, active: [1, 1, 0] },
    { parallelism: 0, completions: 2, active: [0] },
    { parallelism: 1, completions: 0, active: [0] },
  ])(
    'runs $active pods with parallelism $parallelism and completions $completions',
    async ({ parallelism, completions, active }) => {
      await world.make({ parallelism, completions });
      const seen: number[] = [];
      for (let done = 0; done < active.length; done++) {
        const pods = await world.active();
        seen.push(pods.length);
        if (pods[0] !== undefined) await world.setStatus(pods[0].metadata.name, { phase: 'Succeeded' });
      }
      expect(seen).toEqual(active);
    },
  );

  test('starts no more pods after the first success without completions', async () => {
    await world.make({ parallelism: 3 });
    const [first, second, third] = await world.pods();
    await world.setStatus(first?.metadata.name ?? '', { phase: 'Succeeded' });
    expect(await world.status()).toMatchObject({ active: 2, succeeded: 1 });
    await world.setStatus(second?.metadata.name ?? '', { phase: 'Failed' });
    expect(await world.active()).toHaveLength(1);
    expect(await world.conditions()).toEqual([]);
    await world.setStatus(third?.metadata.name ?? '', { phase: 'Succeeded' });
    expect(await world.conditions()).toEqual([
      'SuccessCriteriaMet=True CompletionsReached',
      'Complete=True CompletionsReached',
    ]);
  });

  test('deletes the least advanced pods when parallelism decreases and counts no failures', async () => {
    await world.make({ parallelism: 3, completions: 5 });
    const [running] = await world.pods();
    await world.setStatus(running?.metadata.name ?? '', { phase: 'Running' });
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { parallelism: 1 } } });
    expect((await world.pods()).map(({ metadata }) => metadata.name)).toEqual([running?.metadata.name]);
    expect(await world.status()).toMatchObject({ active: 1, terminating: 0 });
    expect((await world.status()).failed).toBeUndefined();
    expect((await world.events()).filter((event) => event.startsWith('SuccessfulDelete'))).toHaveLength(2);
  });

  test('counts ready pods', async () => {
    await world.make({ parallelism: 2, completions: 2 });
    const [pod] = await world.pods();
    await world.setStatus(pod?.metadata.name ?? '', {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    expect(await world.status()).toMatchObject({ active: 2, ready: 1 });
  });

  test('creates five hundred pods at once and the rest with the next reconcile', async () => {
    await world.make({ parallelism: 700, completions: 700 });
    expect(await world.pods()).toHaveLength(700);
    expect(await world.status()).toMatchObject({ active: 700 });
  });
});

describe('counting of finished pods', () => {
  test('counts finished pods once, removes their finalizer and keeps them', async () => {
    await world.make({ parallelism: 2, completions: 2 });
    await world.end('Succeeded');
    expect(await world.status()).toEqual({
      startTime: '2030-01-01T00:00:00Z',
      completionTime: '2030-01-01T00:00:00Z',
      succeeded: 2,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      conditions: ['SuccessCriteriaMet', 'Complete'].map((type) => ({
        type,
        status: 'True',
        lastProbeTime: '2030-01-01T00:00:00Z',
        lastTransitionTime: '2030-01-01T00:00:00Z',
        reason: 'CompletionsReached',
        message: 'Reached expected number of succeeded pods',
      })),
    });
    const pods = await world.pods();
    expect(pods.map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined]);
    expect(await world.events()).toContain('Completed: Job completed');
    expect(await world.events('Warning')).toEqual([]);
  });

  test('lists a pod in the status before its finalizer is removed and counts it afterwards', async () => {
    await world.make();
    const [pod] = await world.pods();
    const watch = world.cluster.api(Job).watch();
    await world.setStatus(pod?.metadata.name ?? '', { phase: 'Succeeded' });
    const seen: unknown[] = [];
    for await (const event of watch) {
      if (event.type !== 'MODIFIED') continue;
      const { uncountedTerminatedPods, succeeded, conditions = [] } = event.object.status;
      seen.push([uncountedTerminatedPods?.succeeded, succeeded, conditions.map(({ type }) => type)]);
      if (conditions.length === 2) break;
    }
    expect(seen).toEqual([
      [[pod?.metadata.uid], undefined, ['SuccessCriteriaMet']],
      [undefined, 1, ['SuccessCriteriaMet', 'Complete']],
    ]);
  });

  test('counts a listed pod that lost its finalizer with the next reconcile', async () => {
    await world.make({ completions: 3 });
    const [pod] = await world.pods();
    const job = await world.job();
    await world.cluster.api(Job).status.update('j', {
      ...job,
      status: { ...job.status, uncountedTerminatedPods: { succeeded: ['gone-1'], failed: ['gone-2'] } },
    });
    expect(await world.status()).toMatchObject({ succeeded: 1, failed: 1, active: 1 });
    expect((await world.status()).uncountedTerminatedPods).toEqual({});
    expect(pod).toBeDefined();
  });

  test('counts a tracked pod that is deleted as failed', async () => {
    await world.make();
    const [pod] = await world.pods();
    await world.cluster.api(Pod).delete(pod?.metadata.name ?? '', { gracePeriodSeconds: 0 });
    expect(await world.status()).toMatchObject({ failed: 1 });
    expect(await world.pods()).toEqual([]);
    await world.advance(10);
    expect(await world.status()).toMatchObject({ failed: 1, active: 1 });
  });

  test('records an event for more successes than completions', async () => {
    await world.make();
    const job = await world.job();
    await world.cluster.api(Job).status.update('j', { ...job, status: { ...job.status, succeeded: 2 } });
    expect(await world.conditions()).toContain('Complete=True CompletionsReached');
    expect(await world.events('Warning')).toEqual([
      'TooManySucceededPods: Too many succeeded pods running after completion count reached',
    ]);
  });

  test('counts hundreds of pods that finish together in batches', async () => {
    await world.make({ parallelism: 600, completions: 600 });
    await Promise.all(
      (await world.pods()).map(({ metadata }) =>
        world.cluster
          .api(Pod)
          .status.patch(metadata.name, { type: 'merge', merge: { status: { phase: 'Succeeded' } } }),
      ),
    );
    expect(await world.status()).toMatchObject({ succeeded: 600, uncountedTerminatedPods: {} });
    expect(await world.conditions()).toContain('Complete=True CompletionsReached');
    expect((await world.pods()).filter(({ metadata }) => metadata.finalizers !== undefined)).toEqual([]);
  });
});

describe('failures of a Job', () => {
  test('replaces failed pods after 10 s, 20 s and at most 10 min', async () => {
    await world.make({ backoffLimit: 100 });
    const waits: number[] = [];
    for (let failure = 0; failure < 9; failure++) {
      const now = new Date(world.cluster.clock.now()).toISOString();
      const [pod] = await world.active();
      await world.setStatus(pod?.metadata.name ?? '', { phase: 'Failed', ...exited(1, { finishedAt: now }) });
      let seconds = 0;
      while ((await world.active()).length === 0) {
        await world.advance(5);
        seconds += 5;
      }
      waits.push(seconds);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
  });

  test('resets the backoff after a success', async () => {
    await world.make({ completions: 5, backoffLimit: 10 });
    for (const phase of ['Failed', 'Failed', 'Succeeded', 'Failed']) {
      const [pod] = await world.active();
      const finishedAt = new Date(world.cluster.clock.now()).toISOString();
      await world.setStatus(pod?.metadata.name ?? '', { phase, ...exited(Number(phase === 'Failed'), { finishedAt }) });
      await world.advance(phase === 'Succeeded' ? 0 : 20);
    }
    expect(await world.active()).toHaveLength(1);
    expect(await world.status()).toMatchObject({ failed: 3, succeeded: 1 });
  });

  test('fails the Job beyond the backoff limit and deletes its pods', async () => {
    await world.make({ backoffLimit: 1, parallelism: 2, completions: 2 });
    await world.end('Failed');
    expect(await world.conditions()).toEqual([
      'FailureTarget=True BackoffLimitExceeded',
      'Failed=True BackoffLimitExceeded',
    ]);
    const { conditions, failed, completionTime } = await world.status();
    expect(conditions?.[1]?.message).toBe('Job has reached the specified backoff limit');
    expect([failed, completionTime]).toEqual([2, undefined]);
    expect(await world.events('Warning')).toEqual([
      'BackoffLimitExceeded: Job has reached the specified backoff limit',
    ]);
  });

  test('counts the active pods of a failed Job as failures', async () => {
    await world.make({ backoffLimit: 0, parallelism: 3, completions: 3 });
    const [pod] = await world.pods();
    await world.setStatus(pod?.metadata.name ?? '', { phase: 'Failed' });
    expect((await world.pods()).map(({ metadata }) => metadata.name)).toEqual([pod?.metadata.name]);
    expect(await world.status()).toMatchObject({ failed: 3, terminating: 0 });
    expect(await world.conditions()).toContain('Failed=True BackoffLimitExceeded');
  });

  test.each([
    { backoffLimit: 0, restarts: 1, fails: true },
    { backoffLimit: 2, restarts: 1, fails: false },
    { backoffLimit: 2, restarts: 2, fails: true },
  ])('evaluates $restarts restarts in place with a backoff limit of $backoffLimit as failed: $fails', async (given) => {
    await world.make({ backoffLimit: given.backoffLimit, template: template({ restartPolicy: 'OnFailure' }) });
    const [pod] = await world.pods();
    const container = { name: 'c', image: 'i:1', imageID: '', ready: true, restartCount: given.restarts };
    await world.setStatus(pod?.metadata.name ?? '', { phase: 'Running', containerStatuses: [container] });
    expect((await world.conditions()).includes('Failed=True BackoffLimitExceeded')).toBe(given.fails);
  });

  test('fails a Job after its active deadline', async () => {
    await world.make({ activeDeadlineSeconds: 90 });
    await world.advance(89);
    expect(await world.conditions()).toEqual([]);
    await world.advance(1);
    expect(await world.conditions()).toEqual(['FailureTarget=True DeadlineExceeded', 'Failed=True DeadlineExceeded']);
    expect((await world.status()).conditions?.[0]?.message).toBe('Job was active longer than specified deadline');
    expect(await world.pods()).toEqual([]);
  });

  test('applies a shortened deadline at once', async () => {
    await world.make({ activeDeadlineSeconds: 900 });
    await world.advance(60);
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { activeDeadlineSeconds: 30 } } });
    expect(await world.conditions()).toContain('Failed=True DeadlineExceeded');
  });

  test('finishes a Job only after its last pod has ended', async () => {
    await world.make({ activeDeadlineSeconds: 10 });
    const [pod] = await world.pods();
    await world.cluster.api(Pod).patch(pod?.metadata.name ?? '', {
      type: 'merge',
      merge: { metadata: { finalizers: [FINALIZER, 'example.com/slow'] } },
    });
    await world.advance(10);
    expect(await world.conditions()).toEqual(['FailureTarget=True DeadlineExceeded']);
    expect(await world.status()).toMatchObject({ terminating: 1, failed: 1 });
    await world.cluster.api(Pod).patch(pod?.metadata.name ?? '', {
      type: 'merge',
      merge: { metadata: { finalizers: null } },
    });
    expect(await world.conditions()).toEqual(['FailureTarget=True DeadlineExceeded', 'Failed=True DeadlineExceeded']);
    expect(await world.status()).toMatchObject({ terminating: 0, failed: 1 });
  });

  test('replaces a pod while it terminates with TerminatingOrFailed and afterwards with Failed', async () => {
    for (const podReplacementPolicy of ['TerminatingOrFailed', 'Failed'] as const) {
      const name = podReplacementPolicy.toLowerCase();
      await world.make({ podReplacementPolicy }, { name });
      const pod = (await world.pods()).find(({ metadata }) => metadata.name.startsWith(`${name}-`));
      const podName = pod?.metadata.name ?? '';
      await world.cluster.api(Pod).patch(podName, {
        type: 'merge',
        merge: { metadata: { finalizers: [FINALIZER, 'example.com/slow'] } },
      });
      await world.cluster.api(Pod).delete(podName);
      await world.advance(60);
      const { active = 0, terminating } = await world.status(name);
      expect([podReplacementPolicy, active, terminating]).toEqual([
        podReplacementPolicy,
        podReplacementPolicy === 'Failed' ? 0 : 1,
        1,
      ]);
    }
  });
});

describe('suspended Job', () => {
  test('starts no pods and sets no start time until the Job is resumed', async () => {
    await world.make({ suspend: true, parallelism: 2, completions: 2 });
    expect(await world.pods()).toEqual([]);
    expect(await world.conditions()).toEqual(['Suspended=True JobSuspended']);
    expect((await world.status()).startTime).toBeUndefined();
    await world.advance(60);
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { suspend: false } } });
    expect(await world.conditions()).toEqual(['Suspended=False JobResumed']);
    expect(await world.status()).toMatchObject({ startTime: '2030-01-01T00:01:00Z', active: 2 });
    expect((await world.events()).filter((event) => !event.includes('pod'))).toEqual([
      'Suspended: Job suspended',
      'Resumed: Job resumed',
    ]);
  });

  test('deletes all pods of a suspended Job and counts no failures', async () => {
    await world.make({ parallelism: 2, completions: 4 });
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { suspend: true } } });
    expect(await world.pods()).toEqual([]);
    expect(await world.status()).toMatchObject({ ready: 0, terminating: 0 });
    expect((await world.status()).failed).toBeUndefined();
    expect((await world.status()).active).toBeUndefined();
  });

  test('restarts the start time and the deadline after a suspension', async () => {
    await world.make({ activeDeadlineSeconds: 100 });
    await world.advance(20);
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { suspend: true } } });
    expect((await world.status()).startTime).toBe('2030-01-01T00:00:00Z');
    await world.advance(30);
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { suspend: false } } });
    expect(await world.status()).toMatchObject({ startTime: '2030-01-01T00:00:50Z', active: 1 });
    await world.advance(99);
    expect(await world.conditions()).toEqual(['Suspended=False JobResumed']);
    await world.advance(1);
    expect(await world.conditions()).toContain('Failed=True DeadlineExceeded');
    expect(world.complaints).toEqual([]);
  });

  test('does not advance the deadline while a Job is suspended', async () => {
    await world.make({ suspend: true, activeDeadlineSeconds: 30 });
    await world.advance(120);
    expect(await world.conditions()).toEqual(['Suspended=True JobSuspended']);
    await world.cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { suspend: false } } });
    await world.advance(29);
    expect(await world.conditions()).toEqual(['Suspended=False JobResumed']);
    await world.advance(1);
    expect(await world.conditions()).toContain('Failed=True DeadlineExceeded');
  });
});
