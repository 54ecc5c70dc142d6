/** The LRU map in which an event recorder keeps recent events. */
import { expect, test } from 'vitest';
import { EventCorrelator, RecentMap } from '../../../../src/controllers/runtime/event-correlation.js';
import { liveHeap } from '../../../fixtures/live-heap.js';
import fc from '../../../property/seeded.js';

/** A plain reference implementation: each access moves an entry to the end; the first entry is evicted. */
class PlainRecentMap {
  readonly #most: number;
  #entries: [key: string, value: number][] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): number | undefined {
    const entry = this.#entries.find(([name]) => name === key);
    if (entry !== undefined) this.set(key, entry[1]);
    return entry?.[1];
  }

  set(key: string, value: number): void {
    this.delete(key);
    this.#entries.push([key, value]);
    if (this.#entries.length > this.#most) this.#entries.shift();
  }

  delete(key: string): void {
    this.#entries = this.#entries.filter(([name]) => name !== key);
  }
}

const key = fc.integer({ min: 0, max: 12 }).map((number) => `k${number}`);
const step = fc.oneof(
  fc.record({ type: fc.constant('get' as const), key }),
  fc.record({ type: fc.constant('set' as const), key, value: fc.nat() }),
  fc.record({ type: fc.constant('delete' as const), key }),
);

test('evicts the least recently used entry', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 80 }), (most, steps) => {
      const [map, plain] = [new RecentMap<number>(most), new PlainRecentMap(most)];
      for (const each of steps) {
        if (each.type === 'set') {
          map.set(each.key, each.value);
          plain.set(each.key, each.value);
        } else if (each.type === 'delete') {
          map.delete(each.key);
          plain.delete(each.key);
        } else expect(map.get(each.key)).toBe(plain.get(each.key));
      }
      for (let number = 0; number <= 12; number++) expect(map.get(`k${number}`)).toBe(plain.get(`k${number}`));
    }),
    { numRuns: 2_000 },
  );
});

test('an event recorder does not keep long messages', () => {
  const correlator = new EventCorrelator({ now: () => 0 });
  const about = { source: 's', kind: 'Pod', apiVersion: 'v1', namespace: 'n', uid: '', fieldPath: '', type: 'Normal' };
  const messageOf = (at: number) => `${at} ${'x'.repeat(3e5)}`;
  const before = liveHeap();
  for (let at = 0; at < 8; at++) {
    const { key } = correlator.correlate({ ...about, name: `p${at}`, reason: 'R', message: messageOf(at) }) ?? {
      key: '',
    };
    correlator.written(key, { name: `e${at}`, count: 1 });
  }
  expect(liveHeap() - before).toBeLessThan(1.5e6);
  const known = (name: string, message: string) =>
    correlator.correlate({ ...about, name, reason: 'R', message })?.known;
  expect([known('p7', messageOf(7)), known('p7', messageOf(8))]).toEqual([{ name: 'e7', count: 1 }, undefined]);
});
