/** Invariants for any arrival of requests: no starvation, no seat given twice, no request lost. */
import { describe, expect, test } from 'vitest';
import { FlowRejection } from '../../../src/flowcontrol/flow-control.js';
import type { FlowTicket } from '../../../src/flowcontrol/types.js';
import fc from '../../property/seeded.js';
import { atOnce, flowOf, flowServer, queued, requestDigest } from './server.js';

/** A level that neither lends nor borrows; the other levels have 245 shares. */
const server = (seats: number, queuing = {}, count?: () => number) =>
  flowServer(
    { flows: { mine: flowOf('*', 'mine') }, levels: { mine: queued(seats, queuing) } },
    { totalSeats: 245 + seats, ...(count === undefined ? {} : { count }) },
  );

describe('two flows on one level', () => {
  /**
   * Four seats. Each user keeps `requests` requests open, which take `takesMs` each. Returns how many are answered in
   * two seconds.
   */
  async function compete(users: Readonly<Record<string, { requests: number; takesMs: number }>>) {
    const { flow, clock } = server(4);
    const answered: Record<string, number> = {};
    let longestWaitMs: Record<string, number> = {};
    const until = clock.now() + 2000;
    const client = async (user: string, takesMs: number): Promise<void> => {
      while (clock.now() < until) {
        const arrivedAt = clock.now();
        const ticket = await flow.admit({ ...requestDigest(user), timeoutMs: 200_000 });
        longestWaitMs = { ...longestWaitMs, [user]: Math.max(longestWaitMs[user] ?? 0, clock.now() - arrivedAt) };
        await new Promise<void>((resolve) => clock.after(takesMs, resolve));
        if (clock.now() <= until) answered[user] = (answered[user] ?? 0) + 1;
        ticket.done();
      }
    };
    const clients = Object.entries(users).flatMap(([user, { requests, takesMs }]) =>
      Array.from({ length: requests }, () => client(user, takesMs)),
    );
    await clock.advance(6000);
    await Promise.all(clients);
    return { answered, longestWaitMs };
  }

  test('gives two flows with equal demand the same share of a level', async () => {
    const { answered } = await compete({ a: { requests: 8, takesMs: 20 }, b: { requests: 8, takesMs: 20 } });
    // 4 seats × 2000 ms ÷ 20 ms.
    expect((answered['a'] ?? 0) + (answered['b'] ?? 0)).toBe(400);
    expect(Math.abs((answered['a'] ?? 0) - (answered['b'] ?? 0))).toBeLessThan(40);
  });

  test('does not slow down a small flow when another flow floods the level', async () => {
    const { answered, longestWaitMs } = await compete({
      flood: { requests: 100, takesMs: 20 },
      small: { requests: 1, takesMs: 20 },
    });
    // A seat is free every 5 ms on average, and the small flow is always next.
    expect(longestWaitMs['small']).toBeLessThanOrEqual(40);
    expect(answered['small']).toBeGreaterThanOrEqual(2000 / 60);
    expect(longestWaitMs['flood']).toBeGreaterThan(300);
  });

  test('gives a flow of long requests fewer requests but not more seat time', async () => {
    const { answered } = await compete({ long: { requests: 20, takesMs: 100 }, short: { requests: 20, takesMs: 10 } });
    const [long, short] = [(answered['long'] ?? 0) * 100, (answered['short'] ?? 0) * 10];
    expect(long / short).toBeGreaterThan(0.6);
    expect(long / short).toBeLessThan(1.67);
  });
});

test('never delays exempt requests', async () => {
  const { flow, clock } = server(4);
  const settled = Array.from({ length: 200 }, () =>
    Promise.resolve(flow.admit(requestDigest('u'))).catch((error: FlowRejection) => error.reason),
  );
  for (let one = 0; one < 100; one++) {
    // The exempt schema precedes the schema of all users.
    const ticket = atOnce(flow.admit(requestDigest('root', {}, ['system:masters'])));
    expect(Object.values(ticket.headers)).toContain('FlowSchema exempt');
  }
  await clock.advance(15_000);
  const reasons = await Promise.all(settled);
  expect(reasons.filter((reason) => reason === 'time-out')).toHaveLength(200 - 4);
});

type Step =
  | { readonly type: 'ask'; readonly user: number; readonly objects: number }
  | { readonly type: 'finish' | 'leave'; readonly which: number }
  | { readonly type: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('ask' as const),
      user: fc.integer({ min: 0, max: 5 }),
      objects: fc.constantFrom(0, 0, 150, 350, 5000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('finish' as const), which: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('leave' as const), which: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 7, 4000) }) },
);

interface Client {
  readonly signal: AbortController;
  outcome: 'waits' | 'executes' | 'finished' | 'rejected' | 'left';
  ticket?: FlowTicket;
}

test('respects the seat limit and answers every request exactly once', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 30, maxLength: 80, size: 'max' }),
      fc.constantFrom({ handSize: 4 }, { queues: 2, handSize: 1, queueLengthLimit: 2 }),
      async (steps, queuing) => {
        let objects = 0;
        // One request may take two of eight seats.
        const { flow, clock } = server(8, queuing, () => objects);
        const clients: Client[] = [];
        const withOutcome = (outcome: Client['outcome']) => clients.filter((client) => client.outcome === outcome);
        const settle = (client: Client, from: Client['outcome'], to: Client['outcome']) => {
          expect(client.outcome).toBe(from);
          client.outcome = to;
          seen.add(to);
        };
        const sendRequest = (user: number) => {
          const client: Client = { signal: new AbortController(), outcome: 'waits' };
          clients.push(client);
          const refuse = (error: unknown) => {
            if (client.outcome === 'left') return;
            expect(error).toBeInstanceOf(FlowRejection);
            settle(client, 'waits', 'rejected');
          };
          const digest = requestDigest(`u${user}`, { verb: 'list', name: '' });
          try {
            // Synchronously if possible, so that the check below sees it.
            const admitted = flow.admit(digest, client.signal.signal);
            const begin = (ticket: FlowTicket) => {
              settle(client, 'waits', 'executes');
              client.ticket = ticket;
            };
            if (admitted instanceof Promise) admitted.then(begin, refuse);
            else begin(admitted);
          } catch (error) {
            refuse(error);
          }
        };
        const check = () => {
          const [counts] = flow.metrics.flows();
          const { inQueue = 0, executing = 0, executingSeats = 0 } = counts ?? {};
          expect(executingSeats).toBeLessThanOrEqual(8);
          if (executingSeats > executing) seen.add('wide');
          expect(inQueue).toBe(withOutcome('waits').length);
          expect(executing).toBe(withOutcome('executes').length);
          // No request waits while all seats are free.
          if (executing === 0) expect(inQueue).toBe(0);
        };
        for (const one of steps) {
          if (one.type === 'ask') {
            objects = one.objects;
            sendRequest(one.user);
          } else if (one.type === 'wait') {
            await clock.advance(one.ms);
          } else if (one.type === 'finish') {
            const executing = withOutcome('executes');
            const client = executing[one.which % executing.length];
            if (client !== undefined) {
              settle(client, 'executes', 'finished');
              client.ticket?.done();
            }
          } else {
            const waiting = withOutcome('waits');
            const client = waiting[one.which % waiting.length];
            if (client !== undefined) {
              settle(client, 'waits', 'left');
              client.signal.abort();
            }
          }
          await clock.advance(0);
          check();
        }
        while (withOutcome('executes').length > 0) {
          for (const client of withOutcome('executes')) {
            settle(client, 'executes', 'finished');
            client.ticket?.done();
          }
          await clock.advance(0);
        }
        expect(withOutcome('waits')).toEqual([]);
        const [counts] = flow.metrics.flows();
        expect(counts?.executingSeats ?? 0).toBe(0);
        expect(counts?.dispatched ?? 0).toBe(withOutcome('finished').length);
        const rejected = Object.values(counts?.rejected ?? {}).reduce((sum, count) => sum + count, 0);
        expect(rejected).toBe(withOutcome('rejected').length + withOutcome('left').length);
        // No timer remains.
        await clock.advance(10_000);
        expect(clock.pending).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
  expect([...seen].sort()).toEqual(['executes', 'finished', 'left', 'rejected', 'wide']);
});
