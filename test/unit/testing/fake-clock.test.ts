/** The fake clock that tests advance. */
import { fakeClock } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

describe('fakeClock', () => {
  test('starts at the beginning of 2030 or at the given time', () => {
    expect(new Date(fakeClock().now()).toISOString()).toBe('2030-01-01T00:00:00.000Z');
    expect(fakeClock({ now: 5 }).now()).toBe(5);
  });

  test('advances only when advance is called', async () => {
    const clock = fakeClock({ now: 0 });
    await Promise.resolve();
    expect(clock.now()).toBe(0);
    await clock.advance(1_500);
    expect(clock.now()).toBe(1_500);
  });

  test('runs due timers in order, each at its own time', async () => {
    const clock = fakeClock({ now: 0 });
    const ran: string[] = [];
    clock.after(20, () => ran.push(`second at ${clock.now()}`));
    clock.after(10, () => ran.push(`first at ${clock.now()}`));
    clock.after(31, () => ran.push('never'));
    await clock.advance(30);
    expect(ran).toEqual(['first at 10', 'second at 20']);
    expect(clock.now()).toBe(30);
    expect(clock.pending).toBe(1);
  });

  test('runs timers of the same time in creation order', async () => {
    const clock = fakeClock();
    const ran: number[] = [];
    for (const n of [1, 2, 3]) clock.after(10, () => ran.push(n));
    await clock.advance(10);
    expect(ran).toEqual([1, 2, 3]);
  });

  test('runs timers that a timer sets within the same advance', async () => {
    const clock = fakeClock({ now: 0 });
    const ran: number[] = [];
    const again = () => {
      ran.push(clock.now());
      clock.after(10, again);
    };
    clock.after(10, again);
    await clock.advance(35);
    expect(ran).toEqual([10, 20, 30]);
  });

  test('runs timers that promises set within the same advance', async () => {
    const clock = fakeClock({ now: 0 });
    const ran: number[] = [];
    const wait = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
    const loop = async () => {
      for (let round = 0; round < 3; round++) {
        await wait(10);
        ran.push(clock.now());
      }
    };
    const done = loop();
    await clock.advance(30);
    await done;
    expect(ran).toEqual([10, 20, 30]);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, undefined, 5n])(
    'is not advanced by %s',
    async (ms) => {
      const clock = fakeClock({ now: 7 });
      await expect(clock.advance(ms as number)).rejects.toThrow(
        /a clock is advanced by zero or more milliseconds, not by/,
      );
      expect(clock.now()).toBe(7);
    },
  );

  test('does not run a cancelled timer', async () => {
    const clock = fakeClock();
    const ran: string[] = [];
    const undo = clock.after(10, () => ran.push('never'));
    undo();
    undo();
    await clock.advance(10);
    expect(ran).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('runs a timer without delay with the next advance, even of zero', async () => {
    const clock = fakeClock();
    const ran: string[] = [];
    clock.after(0, () => ran.push('now'));
    clock.after(-5, () => ran.push('as soon as any'));
    expect(ran).toEqual([]);
    await clock.advance(0);
    expect(ran).toEqual(['now', 'as soon as any']);
  });
});

test.each([
  { options: { now: '2030-01-01T00:00:00Z' }, message: 'now is a number of milliseconds' },
  { options: { now: new Date(0) }, message: 'now is a number of milliseconds' },
  { options: { now: Number.NaN }, message: 'now is a number of milliseconds' },
  { options: 5, message: 'fakeClock takes options' },
  { options: new Date(0), message: 'fakeClock takes options' },
])('rejects the options $options', ({ options, message }) => {
  expect(() => fakeClock(options as never)).toThrow(message);
});
