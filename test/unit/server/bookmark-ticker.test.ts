/** The timer that all bookmarks share: when it ticks, and when it is stopped. */
import { expect, test } from 'vitest';
import { BookmarkTicker } from '../../../src/server/bookmark-ticker.js';
import { fakeClock } from '../../../src/testing/index.js';

/** A ticker with a function that simulates writes. */
function tickerOf() {
  const clock = fakeClock({ now: 0 });
  const wakers = new Set<() => void>();
  const written = {
    revision: 1,
    onRevision(wake: () => void) {
      wakers.add(wake);
      return () => void wakers.delete(wake);
    },
  };
  const write = () => {
    written.revision++;
    for (const wake of [...wakers]) {
      wakers.delete(wake);
      wake();
    }
  };
  const times: number[] = [];
  const ticker = new BookmarkTicker(clock, written);
  const minutes = () => times.splice(0).map((ms) => ms / 60_000);
  return { clock, ticker, write, times, minutes };
}

test('ticks once after a write, at multiples of the interval', async () => {
  const { clock, ticker, write, times, minutes } = tickerOf();
  ticker.add(() => times.push(clock.now()) > 0);
  await clock.advance(600_000);
  expect(minutes()).toEqual([1]);
  expect(clock.pending).toBe(0);
  await clock.advance(10_000);
  write();
  write();
  expect(clock.pending).toBe(1);
  await clock.advance(600_000);
  expect(minutes()).toEqual([11]);
  expect(clock.pending).toBe(0);
});

test('ticks for a write at the time of a tick, and one interval later after an idle period', async () => {
  const { clock, ticker, write, times, minutes } = tickerOf();
  clock.after(120_000, write);
  clock.after(300_000, write);
  ticker.add(() => times.push(clock.now()) > 0);
  await clock.advance(600_000);
  expect(minutes()).toEqual([1, 2, 6]);
});

test('repeats a tick that a watch could not take', async () => {
  const { clock, ticker, times, minutes } = tickerOf();
  ticker.add(() => times.push(clock.now()) >= 3);
  await clock.advance(600_000);
  expect(minutes()).toEqual([1, 2, 3]);
});

test('ticks for a watch that is added during a tick', async () => {
  const { clock, ticker, times, minutes } = tickerOf();
  let isAdded = false;
  ticker.add(() => {
    if (!isAdded) ticker.add(() => times.push(clock.now()) > 0);
    isAdded = true;
    return true;
  });
  await clock.advance(600_000);
  expect(minutes()).toEqual([2]);
});

test('continues to tick after a watch throws', async () => {
  const { clock, ticker, times, minutes } = tickerOf();
  let failures = 0;
  ticker.add(() => {
    if (failures++ === 0) throw new Error('not now');
    return times.push(clock.now()) > 0;
  });
  await expect(clock.advance(60_000)).rejects.toThrow('not now');
  await clock.advance(600_000);
  expect(minutes()).toEqual([2]);
});

test('leaves no timer when the last watch is removed, even during a tick', async () => {
  const { clock, ticker, write } = tickerOf();
  const leave = ticker.add(() => {
    leave();
    return true;
  });
  await clock.advance(60_000);
  expect(clock.pending).toBe(0);
  write();
  expect(clock.pending).toBe(0);
});
