/** The addresses of servers in etcd, with a client that is not connected. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EtcdError } from '../../../src/etcd/etcd-error.js';
import type { TxnRequest, TxnResponse } from '../../../src/etcd/messages.js';
import { ServerLeases } from '../../../src/etcd/server-leases.js';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** `answer` is called for each transaction; by default it succeeds. */
function createLeases(answer: () => Promise<void> = () => Promise.resolve()) {
  const sent: string[] = [];
  const response: TxnResponse = { header: { revision: 1 }, succeeded: true, responses: [] };
  const leases = new ServerLeases({
    client: {
      async txn({ success: [operation] }: TxnRequest) {
        const { requestPut, requestDeleteRange } = operation ?? {};
        const key = new TextDecoder().decode(requestPut?.key ?? requestDeleteRange?.key);
        sent.push(`${requestPut === undefined ? 'delete' : 'put'} ${key}`);
        await answer();
        return response;
      },
    },
    prefix: '/leases/',
    encode: () => new Uint8Array(),
    leaseFor: () => Promise.resolve(7),
  });
  return { leases, sent };
}

test('renews an address every ten seconds', async () => {
  const { leases, sent } = createLeases();
  leases.announce('10.0.0.1');
  await vi.advanceTimersByTimeAsync(25_000);
  expect(sent).toEqual(['put /leases/10.0.0.1', 'put /leases/10.0.0.1', 'put /leases/10.0.0.1']);
  await leases.stop();
});

test.each([new EtcdError('not available', { isUnavailable: true }), new Error('a fault')])(
  'repeats a renewal that has failed with %s after a second',
  async (failure) => {
    const failures = [failure, failure];
    const { leases, sent } = createLeases(() => {
      const next = failures.shift();
      return next === undefined ? Promise.resolve() : Promise.reject(next);
    });
    leases.announce('10.0.0.1');
    await vi.advanceTimersByTimeAsync(2_500);
    expect(sent).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(sent).toHaveLength(3);
    await leases.stop();
  },
);

test('an address of two listeners stays until both have closed', async () => {
  const { leases, sent } = createLeases();
  const [first, second] = [leases.announce('10.0.0.1'), leases.announce('10.0.0.1')];
  await vi.advanceTimersByTimeAsync(100);
  first();
  first();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toEqual(['put /leases/10.0.0.1', 'put /leases/10.0.0.1']);
  second();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent.slice(2)).toEqual(['delete /leases/10.0.0.1']);
});

test('the requests for an address follow each other', async () => {
  let finish = (): void => undefined;
  const { leases, sent } = createLeases(
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  const finishOne = async () => {
    finish();
    await vi.advanceTimersByTimeAsync(0);
  };
  leases.announce('10.0.0.1')();
  const withdraw = leases.announce('10.0.0.1');
  await vi.advanceTimersByTimeAsync(100);
  expect(sent).toEqual(['put /leases/10.0.0.1']);
  await finishOne();
  expect(sent).toEqual(['put /leases/10.0.0.1', 'delete /leases/10.0.0.1']);
  await finishOne();
  withdraw();
  await finishOne();
  expect(sent.map((text) => text.split(' ')[0])).toEqual(['put', 'delete', 'put', 'delete']);
  await finishOne();
});

test('waits for the removal of all addresses when it stops, but not longer than two seconds', async () => {
  const { leases, sent } = createLeases(() => new Promise(() => undefined));
  leases.announce('10.0.0.1');
  await vi.advanceTimersByTimeAsync(100);
  const stopped = leases.stop();
  await vi.advanceTimersByTimeAsync(2_000);
  await stopped;
  expect(sent).toEqual(['put /leases/10.0.0.1']);
});

test('knows the addresses of all servers, and ignores other keys', () => {
  const { leases } = createLeases();
  for (const key of ['/leases/10.0.0.1', '/leases/fd00::1', '/leases/nonsense', '/other/10.0.0.2']) {
    leases.receive(Buffer.from(key), 'put');
  }
  expect(leases.addresses).toEqual(['10.0.0.1', 'fd00::1']);
  leases.receive(Buffer.from('/leases/10.0.0.1'), 'delete');
  expect(leases.addresses).toEqual(['fd00::1']);
  leases.clear();
  expect(leases.addresses).toEqual([]);
});
