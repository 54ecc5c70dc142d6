import { describe, expect, test } from 'vitest';
import { WatchPace } from '../../../src/node/watch-pace.js';

/** A pace that records its pauses instead of waiting. */
function recordedPace(): { readonly pauses: number[]; write(writes: number): Promise<unknown> } {
  const pauses: number[] = [];
  const pace = new WatchPace(async (ms) => {
    pauses.push(ms);
  });
  return { pauses, write: (writes) => Promise.all(Array.from({ length: writes }, () => pace.next())) };
}

describe('the pace of watches', () => {
  test('lets a few watches continue in the next turn', async () => {
    const { pauses, write } = recordedPace();
    await write(16);
    expect(pauses).toEqual([]);
  });

  test('pauses once for all writes of a turn, in proportion to their number, up to 10 ms', async () => {
    const { pauses, write } = recordedPace();
    await write(60);
    await write(5_000);
    expect(pauses).toEqual([6, 10]);
  });

  test('forgets the writes of earlier turns', async () => {
    const { pauses, write } = recordedPace();
    await write(12);
    await write(12);
    expect(pauses).toEqual([]);
  });
});
