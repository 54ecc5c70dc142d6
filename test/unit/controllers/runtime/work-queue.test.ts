/**
 * The work queue: one reconcile per key at a time, workers, delays and backoff on a given clock.
 */
import { type Clock, errors } from 'orchplane';
import { type Reconcile, type ReconcileResult, WorkQueue, type WorkQueueOptions } from 'orchplane/controllers';
import { fakeClock } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { nextTurn } from '../../../../src/util/clock.js';

function queueOf(reconcile: Reconcile, options: Partial<WorkQueueOptions> = {}) {
  const clock = fakeClock();
  const failures: string[] = [];
  const onError = (error: unknown, key: string) => failures.push(`${key}: ${(error as Error).message}`);
  const queue = new WorkQueue({ name: 'test', clock, reconcile, onError, ...options });
  const rest = async () => {
    for (let turn = 0; turn < 50; turn++) await nextTurn();
  };
  return { clock, queue, failures, rest };
}

/** A promise that the test resolves. */
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('work queue keys', () => {
  test('rejects a key that is not a string', () => {
    const { queue } = queueOf(async () => undefined);
    expect(() => queue.add({ name: 'a' } as never)).toThrow('orchplane: test: a key is a text, not of type object');
    expect(queue.isBusy()).toBe(false);
  });

  test('reconciles keys added together once each, in order of addition', async () => {
    const seen: string[] = [];
    const { queue, rest } = queueOf(async (key) => void seen.push(key));
    queue.open();
    for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
    expect(seen).toEqual([]);
    await rest();
    expect(seen).toEqual(['b', 'a', 'c']);
  });

  test('holds keys until the queue is opened', async () => {
    const seen: string[] = [];
    const { queue, rest } = queueOf(async (key) => void seen.push(key));
    queue.add('a');
    await rest();
    expect(seen).toEqual([]);
    expect(queue.busyWith()).toEqual(['test will reconcile a']);
    queue.open();
    await rest();
    expect(seen).toEqual(['a']);
    expect(queue.isBusy()).toBe(false);
  });

  test('lists keys in progress in the order in which they were started', async () => {
    const { opened, open } = gate();
    const clock = { ...fakeClock(), order: <Item>(due: readonly Item[]) => due.toReversed() };
    const { queue, rest } = queueOf(() => opened, { clock, workers: 2 });
    queue.open();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await rest();
    expect(queue.busyWith()).toEqual(['test is working on c', 'test is working on b', 'test will reconcile a']);
    open();
    await rest();
    expect(queue.isBusy()).toBe(false);
  });

  test('drops a repeat after the reconcile has compared its result, but not later changes', async () => {
    const log: string[] = [];
    const first = gate();
    const { queue, rest } = queueOf(async (key) => {
      log.push(key);
      if (log.length > 1) return;
      expect(queue.dropRepeat(key)).toBe(false);
      queue.add(key);
      expect(queue.dropRepeat(key)).toBe(true);
      await first.opened;
    });
    queue.open();
    queue.add('a');
    await rest();
    queue.dropRepeat('a');
    queue.dropRepeat('b');
    expect(queue.busyWith()).toEqual(['test is working on a']);
    first.open();
    await rest();
    expect(log).toEqual(['a']);
    expect(queue.isBusy()).toBe(false);

    const second = gate();
    log.length = 0;
    const again = queueOf(async (key) => {
      log.push(key);
      if (log.length > 1) return;
      again.queue.add(key);
      again.queue.dropRepeat(key);
      await second.opened;
    });
    again.queue.open();
    again.queue.add('a');
    await again.rest();
    again.queue.add('a');
    second.open();
    await again.rest();
    expect(log).toEqual(['a', 'a']);
  });

  test('reports a pending retry for a failed key until the next attempt', async () => {
    let fails = true;
    const clock = fakeClock();
    const { queue, rest } = queueOf(
      async () => {
        if (fails) throw new Error('not now');
      },
      { clock, backoff: { firstMs: 1_000, longestMs: 1_000 } },
    );
    queue.open();
    queue.addAfter('later', 500);
    queue.add('a');
    await rest();
    expect([queue.hasPendingRetry('a'), queue.hasPendingRetry('later'), queue.hasPendingRetry('b')]).toEqual([
      true,
      false,
      false,
    ]);
    fails = false;
    await clock.advance(1_000);
    expect(queue.hasPendingRetry('a')).toBe(false);
  });

  test('reconciles a key again that changes during its reconcile, never twice at once', async () => {
    const first = gate();
    const log: string[] = [];
    const { queue, rest } = queueOf(
      async (key) => {
        log.push(`begin ${key}`);
        if (log.length === 1) await first.opened;
        log.push(`end ${key}`);
      },
      { workers: 4 },
    );
    queue.open();
    queue.add('a');
    await rest();
    queue.add('a');
    queue.add('a');
    await rest();
    expect(log).toEqual(['begin a']);
    expect(queue.busyWith()).toEqual(['test is working on a']);
    first.open();
    await rest();
    expect(log).toEqual(['begin a', 'end a', 'begin a', 'end a']);
  });

  test.each([
    [1, 1],
    [2, 2],
    [8, 5],
  ])('processes keys with %i workers: %i of five at once', async (workers, expected) => {
    const hold = gate();
    let running = 0;
    let most = 0;
    const { queue, rest } = queueOf(
      async () => {
        most = Math.max(most, ++running);
        await hold.opened;
        running--;
      },
      { workers },
    );
    queue.open();
    for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key);
    await rest();
    expect(most).toBe(expected);
    hold.open();
    await rest();
    expect(running).toBe(0);
    expect(queue.isBusy()).toBe(false);
  });
});

describe('work queue delays', () => {
  test('ends a delay on time when the clock is set back', async () => {
    const timers = fakeClock();
    let backMs = 0;
    const seen: string[] = [];
    const clock: Clock = { now: () => timers.now() - backMs, after: (...timer) => timers.after(...timer) };
    const { queue, rest } = queueOf(async (key) => void seen.push(key), { clock });
    queue.open();
    queue.addAfter('a', 2_000);
    queue.addAfter('b', 3_000);
    backMs = 3_600_000;
    await timers.advance(2_000);
    await rest();
    expect(seen).toEqual(['a']);
    await timers.advance(1_000);
    await rest();
    expect(seen).toEqual(['a', 'b']);
    queue.close();
  });

  test('runs a requeued reconcile at its time and not before', async () => {
    const seen: number[] = [];
    const { clock, queue, rest } = queueOf(async (): Promise<ReconcileResult> => {
      seen.push(clock.now());
      return seen.length < 3 ? { requeueAfterMs: 1_000 } : {};
    });
    const start = clock.now();
    queue.open();
    queue.add('a');
    await rest();
    await clock.advance(999);
    expect(seen).toEqual([start]);
    await clock.advance(1);
    await rest();
    await clock.advance(5_000);
    await rest();
    expect(seen.map((each) => each - start)).toEqual([0, 1_000, 2_000]);
    expect(clock.pending).toBe(0);
  });

  test('keeps the earliest of several delays and cancels a delay', async () => {
    const seen: string[] = [];
    const { clock, queue, rest } = queueOf(async (key) => void seen.push(key));
    queue.open();
    queue.addAfter('a', 3_000);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 2_000);
    queue.addAfter('b', 500);
    queue.cancelDelay('b');
    queue.addAfter('c', 0);
    await rest();
    expect(seen).toEqual(['c']);
    await clock.advance(1_000);
    await rest();
    expect(seen).toEqual(['c', 'a']);
    await clock.advance(10_000);
    await rest();
    expect(seen).toEqual(['c', 'a']);
  });

  test('treats a delay of Infinity as never and rejects NaN', async () => {
    const { clock, queue, failures, rest } = queueOf(async () => ({ requeueAfterMs: Number.NaN }));
    queue.open();
    queue.addAfter('a', Infinity);
    expect(clock.pending).toBe(0);
    expect(() => queue.addAfter('a', Number.NaN)).toThrow(TypeError);
    queue.add('a');
    await rest();
    expect(failures).toEqual(['a: orchplane: test: a cannot wait for NaN ms']);
    // Retries with increasing delays like any other failure.
    await clock.advance(10_000);
    expect(failures.length).toBeLessThan(20);
  });
});

describe('work queue failures', () => {
  test('reports failures, retries with increasing delays, and resets after a success', async () => {
    const seen: number[] = [];
    let fails = true;
    const { clock, queue, failures, rest } = queueOf(
      async () => {
        seen.push(clock.now());
        if (fails) throw new Error('broken');
      },
      { backoff: { firstMs: 100, longestMs: 350 } },
    );
    const start = clock.now();
    queue.open();
    queue.add('a');
    for (let step = 0; step < 190; step++) {
      await rest();
      await clock.advance(5);
    }
    expect(seen.map((each) => each - start)).toEqual([0, 100, 300, 650]);
    expect(failures).toHaveLength(4);
    expect(failures[0]).toBe('a: broken');
    fails = false;
    await clock.advance(350);
    await rest();
    expect(seen).toHaveLength(5);
    expect(clock.pending).toBe(0);
  });

  test('retries a conflict at once and does not report it', async () => {
    let reconciles = 0;
    const { clock, queue, failures, rest } = queueOf(async () => {
      if (++reconciles <= 3) throw errors.conflict({ group: '', resource: 'pods' }, 'a', 'changed');
    });
    queue.open();
    queue.add('a');
    await rest();
    expect(reconciles).toBe(4);
    expect(failures).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('reports repeated conflicts as failures', async () => {
    let reconciles = 0;
    const { queue, failures, rest } = queueOf(async () => {
      reconciles++;
      throw errors.conflict({ group: '', resource: 'pods' }, 'a', 'changed');
    });
    queue.open();
    queue.add('a');
    await rest();
    expect(reconciles).toBe(6);
    expect(failures).toHaveLength(1);
  });
});

describe('end of a work queue', () => {
  test('leaves no timer after close and ignores the result of a running reconcile', async () => {
    const hold = gate();
    const { clock, queue, failures, rest } = queueOf(async () => {
      await hold.opened;
      throw new Error('too late to matter');
    });
    queue.open();
    queue.add('a');
    queue.addAfter('b', 1_000);
    await rest();
    expect(clock.pending).toBe(1);
    queue.close();
    hold.open();
    await rest();
    queue.add('c');
    queue.addAfter('d', 5);
    expect(clock.pending).toBe(0);
    expect(failures).toEqual([]);
    expect(queue.isBusy()).toBe(false);
    expect(queue.busyWith()).toEqual([]);
  });
});

test.each([
  [null, 'null'],
  ['1000', 'a string'],
  [{ seconds: 5 }, 'a object'],
])('reports the invalid delay %o as a failure of its key only', async (requeueAfterMs, described) => {
  const reconciles: string[] = [];
  const { clock, queue, failures } = queueOf(async (key) => {
    reconciles.push(key);
    return key === 'bad' ? { requeueAfterMs: requeueAfterMs as never } : { requeueAfterMs: 100 };
  });
  queue.open();
  queue.add('bad');
  queue.add('good');
  await clock.advance(1_000);
  expect(failures[0]).toBe(`bad: orchplane: test: bad cannot wait for ${described} ms`);
  expect(reconciles.filter((key) => key === 'good').length).toBeGreaterThan(5);
  queue.close();
});

test.each([{ firstMs: 5 }, '1s', { firstMs: Number.NaN, longestMs: 1 }])('rejects the backoff %o', (backoff) => {
  expect(() => queueOf(async () => undefined, { backoff: backoff as never })).toThrow(
    /test: backoff has \w+Ms, a number/,
  );
});
