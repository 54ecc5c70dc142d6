/** The parts of flow control, compared with recorded results of the reference implementation; see `reference-results.ts`. */
import { describe, expect, test } from 'vitest';
import { Counts } from '../../../src/flowcontrol/counts.js';
import { Demand, RetryAfter } from '../../../src/flowcontrol/level.js';
import { allocateSeats, boundsOf, type Claim } from '../../../src/flowcontrol/limits.js';
import { Entry, QueueSet } from '../../../src/flowcontrol/queue-set.js';
import { deal, flowHash } from '../../../src/flowcontrol/shuffle-shard.js';
import { estimateWork, maxSeatsOf } from '../../../src/flowcontrol/work.js';
import type { RequestOptions } from '../../../src/protocol/request.js';
import { fakeClock } from '../../../src/testing/fake-clock.js';
import fc from '../../property/seeded.js';
import { referenceResults } from './reference-results.js';

describe('shuffle sharding', () => {
  test('deals the same hands as the reference implementation', () => {
    for (const [schema, distinguisher, queues, hand] of referenceResults.hands) {
      expect({ schema, queues, hand: deal(flowHash(schema, distinguisher), queues, hand.length) }).toEqual({
        schema,
        queues,
        hand,
      });
    }
  });

  test('deals distinct cards of the deck', () => {
    const sizes = fc
      .integer({ min: 1, max: 10 })
      .chain((hand) => fc.tuple(fc.integer({ min: hand, max: 64 }), fc.constant(hand)));
    fc.assert(
      fc.property(sizes, fc.string(), ([queues, size], user) => {
        const hand = deal(flowHash('s', user), queues, size);
        expect(new Set(hand).size).toBe(size);
        for (const card of hand) expect(card >= 0 && card < queues).toBe(true);
      }),
    );
  });

  test('uses all queues evenly', () => {
    const uses = new Array<number>(16).fill(0);
    for (let user = 0; user < 4000; user++)
      for (const card of deal(flowHash('s', `u${user}`), 16, 4)) uses[card] = (uses[card] ?? 0) + 1;
    // A thousand each; five standard deviations are 137.
    for (const count of uses) expect(Math.abs(count - 1000)).toBeLessThan(137);
  });
});

describe('seat allocation', () => {
  test.each(referenceResults.limits)('allocates %i seats like the reference implementation', (total, levels) => {
    const rows = levels.map((level) => {
      const [exempt, shares, lendable, borrowing, hand, high, smoothed, current, nominal, lower, upper, max, after] =
        level;
      const bounds = boundsOf(
        {
          nominalConcurrencyShares: shares ?? 0,
          lendablePercent: lendable ?? 0,
          ...(borrowing === null || borrowing === undefined ? {} : { borrowingLimitPercent: borrowing }),
        },
        total,
        levels.reduce((sum, other) => sum + (other[1] ?? 0), 0),
      );
      expect(bounds).toEqual({ nominal, lower, upper });
      // The reference implementation applies the common limit in another function.
      if (hand) expect(maxSeatsOf(bounds.nominal, hand)).toBe(Math.min(10, max ?? 0));
      const claim: Claim = {
        ...bounds,
        isExempt: exempt === 1,
        highWatermark: high ?? 0,
        smoothed: smoothed ?? 0,
        current: current ?? 0,
      };
      return { claim, after };
    });
    expect(allocateSeats(rows.map(({ claim }) => claim))).toEqual(rows.map(({ after }) => after));
  });

  test('allocates seats within bounds, and all of them if no level is exempt', () => {
    const level = fc.record({
      shares: fc.integer({ min: 1, max: 100 }),
      lendable: fc.integer({ min: 0, max: 100 }),
      high: fc.integer({ min: 0, max: 300 }),
      smoothed: fc.double({ min: 0, max: 300, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(level, { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 1, max: 1000 }),
        (levels, total) => {
          const shares = levels.reduce((sum, one) => sum + one.shares, 0);
          const claims = levels.map((one) => ({
            ...boundsOf({ nominalConcurrencyShares: one.shares, lendablePercent: one.lendable }, total, shares),
            isExempt: false,
            highWatermark: one.high,
            smoothed: one.smoothed,
            current: 1,
          }));
          const seats = allocateSeats(claims);
          claims.forEach(({ lower, upper }, index) => {
            expect(seats[index]).toBeGreaterThanOrEqual(lower);
            expect(seats[index]).toBeLessThanOrEqual(upper);
          });
          const nominal = claims.reduce((sum, claim) => sum + claim.nominal, 0);
          // Rounding changes each level by half a seat at most.
          expect(Math.abs(seats.reduce((sum, one) => sum + one, 0) - nominal)).toBeLessThanOrEqual(claims.length / 2);
        },
      ),
    );
  });
});

test.each(referenceResults.demand)('smooths the demand %$ like the reference implementation', (...steps) => {
  const demand = new Demand(0);
  for (const [at, what, high, smoothed] of steps) {
    if (what === 'end') {
      demand.endPeriod(at);
      expect(demand.highWatermark).toBe(high);
      expect(demand.smoothed).toBeCloseTo(smoothed, 6);
    } else {
      demand.set(what, at);
    }
  }
  expect(steps.length).toBeGreaterThan(20);
});

test.each(referenceResults.dropped)(
  'computes Retry-After for the rejections %$ like the reference implementation',
  (...drops) => {
    const retryAfter = new RetryAfter();
    const seconds = drops.map(([second]) => retryAfter.drop(second * 1000 + 7));
    expect(seconds).toEqual(drops.map(([, after]) => after));
  },
);

test('estimates the seats of a request like the reference implementation', () => {
  for (const row of referenceResults.work) {
    const [verb, name, resource, subresource, query, objects, watchers, maxSeats, seats, finalSeats, linger] = row;
    const { limit, sendInitialEvents, ...texts } = query;
    const options: RequestOptions = {
      ...texts,
      ...(limit === undefined ? {} : { limit: Number(limit) }),
      ...(sendInitialEvents === undefined ? {} : { sendInitialEvents: sendInitialEvents === 'true' }),
    };
    const place = { group: '', version: 'v1', resource, subresource, namespace: '', name };
    const work = estimateWork(
      { user: { user: 'u' }, attributes: { type: 'resource', verb, ...place }, options },
      {
        maxSeats: maxSeats === 0 ? 10 : Math.min(10, maxSeats),
        objects: () => (objects < 0 ? undefined : objects),
        watchers: () => watchers,
      },
    );
    // The recording has whole microseconds.
    const found = [work.seats, work.finalSeats, Math.floor(work.lingerMs * 1000 + 1e-6)];
    expect({ row, found }).toEqual({ row, found: [seats, finalSeats, linger] });
  }
});

describe('a priority level', () => {
  test.each(referenceResults.trace)(
    'dispatches like the reference implementation with %i queues, hands of %i, queue length %i and %i seats',
    async (queues, handSize, length, limit, steps) => {
      const clock = fakeClock();
      const set = new QueueSet(clock, () => undefined);
      const queuing = { type: 'queue', queues, handSize, queueLengthLimit: length } as const;
      set.configure(queuing, limit, clock.now());
      const entries: Entry[] = [];
      const counts = new Counts('p', 'fs');
      let dispatched: number[] = [];
      for (const [index, [operation, args, expected]] of steps.entries()) {
        dispatched = [];
        const [first = 0, seats = 1, finalSeats = 0, lingerMs = 0] = args;
        let outcome = '';
        if (operation === 't') await clock.advance(first);
        else if (operation === 'l') set.configure(queuing, first, clock.now());
        else if (operation === 's') {
          const entry = new Entry(counts, `u${first}`, { seats, finalSeats, lingerMs });
          const id = entries.length;
          entry.onDispatch = () => dispatched.push(id);
          entries.push(entry);
          outcome = set.enter(entry, clock.now());
        } else {
          const entry = entries[first];
          if (entry === undefined) throw new Error(`no request ${first}`);
          if (operation === 'f') set.finish(entry, clock.now());
          else set.cancel(entry, clock.now());
        }
        expect({ index, dispatched: outcome === 'queue-full' ? 'rejected' : dispatched }).toEqual({
          index,
          dispatched: expected,
        });
      }
      expect(counts.inQueue).toBe(entries.filter(({ state }) => state === 'waiting').length);
      expect(counts.executing).toBe(entries.filter(({ state }) => state === 'executing').length);
    },
  );
});
