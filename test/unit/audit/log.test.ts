/**
 * The audit log as its readers see it: a reader receives everything after its creation, and slow readers delay nothing.
 */
import { describe, expect, test } from 'vitest';
import type { AuditEvent } from '../../../src/audit/event.js';
import { type AuditLog, type AuditLogOptions, auditLog, Feed } from '../../../src/audit/log.js';
import { orchDialect } from '../../../src/meta/dialect.js';
import fc from '../../property/seeded.js';

const policy = { rules: [{ level: 'Metadata' as const }], omitStages: ['RequestReceived' as const] };
const context = { dialect: orchDialect, now: () => 0 };
const attributes = { type: 'path' as const, verb: 'get', path: '/' };

function recordRequests(audit: AuditLog, ...ids: string[]): void {
  for (const id of ids) {
    const record = audit.begin({ attributes, auditId: () => id, requestURI: () => '/' }, context);
    record?.complete({ code: 200 });
  }
}

const ids = (events: readonly AuditEvent[]): string[] => events.map(({ auditID }) => auditID);

async function take(reader: AsyncIterator<AuditEvent, undefined>, count: number): Promise<string[]> {
  const taken: string[] = [];
  for (let i = 0; i < count; i++) {
    const { value } = await reader.next();
    taken.push(value?.auditID ?? 'end');
  }
  return taken;
}

describe('audit log readers', () => {
  test('delivers every later event to each reader', async () => {
    const audit = auditLog({ policy });
    recordRequests(audit, 'a');
    const first = audit.read();
    recordRequests(audit, 'b');
    const second = audit[Symbol.asyncIterator]();
    recordRequests(audit, 'c');
    expect(await take(first, 2)).toEqual(['b', 'c']);
    expect(await take(second, 1)).toEqual(['c']);
    expect(ids(audit.events)).toEqual(['a', 'b', 'c']);
  });

  test('delivers events to a reader as they arrive, in the order of its calls', async () => {
    const audit = auditLog({ policy });
    const reader = audit.read();
    const waiting = [reader.next(), reader.next()];
    recordRequests(audit, 'a', 'b');
    expect((await Promise.all(waiting)).map(({ value }) => value?.auditID)).toEqual(['a', 'b']);
  });

  test('drops the oldest events of a slow reader and reports how many', async () => {
    const lost: number[] = [];
    const audit = auditLog({ policy, limit: 3, onLost: (count) => lost.push(count) });
    const slow = audit.read();
    const quick = audit.read();
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      recordRequests(audit, id);
      expect(await take(quick, 1)).toEqual([id]);
    }
    expect(await take(slow, 3)).toEqual(['c', 'd', 'e']);
    expect([slow.lost, quick.lost, lost]).toEqual([2, 0, [2]]);
    expect(ids(audit.events)).toEqual(['c', 'd', 'e']);
  });

  test('calls the loss callback of a reader', async () => {
    const lost: number[] = [];
    const audit = auditLog({ policy, limit: 1 });
    const reader = audit.read({ onLost: (count) => lost.push(count) });
    recordRequests(audit, 'a', 'b');
    await take(reader, 1);
    recordRequests(audit, 'c', 'd', 'e');
    await take(reader, 1);
    expect(lost).toEqual([1, 2]);
  });

  test('delivers the remaining events after close', async () => {
    const audit = auditLog({ policy });
    const reader = audit.read();
    const idle = audit.read().next();
    recordRequests(audit, 'a');
    await idle;
    const waiting = audit.read().next();
    await audit.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const seen: string[] = [];
    for await (const event of reader) seen.push(event.auditID);
    expect(seen).toEqual(['a']);
    recordRequests(audit, 'late');
    expect(ids(audit.events)).toEqual(['a']);
  });

  test('stops a reader on break and when the signal aborts', async () => {
    const audit = auditLog({ policy });
    const reader = audit.read();
    recordRequests(audit, 'a', 'b');
    for await (const _event of reader) break;
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    const controller = new AbortController();
    const waiting = audit.read({ signal: controller.signal }).next();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await audit.read({ signal: controller.signal }).next()).toEqual({ done: true, value: undefined });
  });

  test('ends readers when the audit log is disposed', async () => {
    let reader: AsyncIterator<AuditEvent, undefined> | undefined;
    {
      await using audit = auditLog({ policy });
      reader = audit.read();
    }
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });
});

describe('an audit log', () => {
  test('evaluates nothing of a request that is not recorded', () => {
    const audit = auditLog({ policy: { rules: [{ level: 'None' }] } });
    const never = (): never => {
      throw new Error('evaluated');
    };
    const request = { attributes, auditId: never, requestURI: never, sourceIPs: never };
    expect(audit.begin(request, { dialect: orchDialect, now: never })).toBeUndefined();
    expect(audit.counts.levels).toEqual({ None: 1, Metadata: 0, Request: 0, RequestResponse: 0 });
  });

  test('counts events by level', () => {
    const audit = auditLog({ policy, limit: 1 });
    recordRequests(audit, 'a', 'b', 'c');
    expect(audit.counts).toEqual({
      events: 3,
      levels: { None: 0, Metadata: 3, Request: 0, RequestResponse: 0 },
      errors: {},
    });
  });

  test.each([
    [{ policy, limit: 0 }, 'orchplane: auditLog: limit must be a positive integer, not 0'],
    [{ policy, limit: 1.5 }, 'orchplane: auditLog: limit must be a positive integer, not 1.5'],
    [{ policy, size: 3 }, 'orchplane: auditLog has no option "size"; it has policy, limit, onEvent, onLost, errors'],
    [{}, 'orchplane: audit policy: a policy must be an object with rules'],
  ])('rejects the audit log options %j', (options, message) => {
    expect(() => auditLog(options as AuditLogOptions)).toThrow(new TypeError(message));
  });
});

test('delivers to every reader all events that the reader has not lost', async () => {
  type Step = { readonly reader: number } | 'add';
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 2, arbitrary: fc.constant('add' as const) },
    { weight: 1, arbitrary: fc.record({ reader: fc.nat(2) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), async (limit, steps) => {
      const feed = new Feed<number>({ items: limit, bytes: 1_000 });
      const readers = [feed.read(), feed.read(), feed.read()];
      // The next event of each reader if none were dropped.
      const expected = [0, 0, 0];
      const lost = [0, 0, 0];
      let added = 0;
      for (const each of steps) {
        if (each === 'add') {
          feed.add(added++);
          continue;
        }
        const { reader } = each;
        const next = Math.max(expected[reader] ?? 0, added - limit);
        if (next >= added) continue;
        lost[reader] = (lost[reader] ?? 0) + next - (expected[reader] ?? 0);
        expect(await readers[reader]?.next()).toEqual({ done: false, value: next });
        expected[reader] = next + 1;
      }
      expect(readers.map((reader) => reader.lost)).toEqual(lost);
      expect(feed.items()).toEqual(Array.from({ length: added }, (_, index) => index).slice(-limit));
    }),
    { numRuns: 300 },
  );
});

test('calls onEvent with each event, in order', () => {
  const seen: string[] = [];
  const audit = auditLog({ policy, limit: 1, onEvent: ({ auditID }) => seen.push(auditID) });
  recordRequests(audit, 'a', 'b', 'c');
  expect(seen).toEqual(['a', 'b', 'c']);
});

test('drops the oldest items of a feed beyond its memory limit, but never the newest', async () => {
  const feed = new Feed<string>({ items: 10, bytes: 1_000 });
  const reader = feed.read();
  const item = (name: string, length: number): string => name.padEnd(length);
  feed.add(item('a', 200));
  feed.add(item('b', 200));
  expect(feed.items().map((text) => text.trim())).toEqual(['a', 'b']);
  feed.add(item('c', 200));
  expect(feed.items().map((text) => text.trim())).toEqual(['b', 'c']);
  feed.add(item('d', 2_000));
  expect(feed.items().map((text) => text.trim())).toEqual(['d']);
  feed.add(item('e', 100));
  expect(feed.items().map((text) => text.trim())).toEqual(['e']);
  expect((await reader.next()).value?.trim()).toBe('e');
  expect(reader.lost).toBe(4);
});
