import { performance } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { WatchPace } from '../../../src/node/watch-pace.js';

async function pauseOf(pace: WatchPace, writes: number): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: writes }, () => pace.next()));
  return performance.now() - start;
}

/** The shortest of several pauses, because the machine may be busy. */
async function shortestPause(pace: WatchPace, writes: number): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round++) shortest = Math.min(shortest, await pauseOf(pace, writes));
  return shortest;
}

describe('the pace of watches', () => {
  test('continues a few watches in the next turn', async () => {
    expect(await shortestPause(new WatchPace(), 16)).toBeLessThan(1);
  });

  test('pauses in proportion to the writes of a turn, up to 10 ms', async () => {
    const pace = new WatchPace();
    expect(await pauseOf(pace, 60)).toBeGreaterThanOrEqual(5);
    const longest = await shortestPause(pace, 5_000);
    expect(longest).toBeGreaterThanOrEqual(9);
    expect(longest).toBeLessThan(40);
  });

  test('forgets the writes of earlier turns', async () => {
    const pace = new WatchPace();
    await pauseOf(pace, 60);
    expect(await shortestPause(pace, 1)).toBeLessThan(1);
  });
});
