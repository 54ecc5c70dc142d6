/** The health check of etcd, and the time that a client needs for it. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { EtcdClient } from '../../../src/etcd/client.js';
import { EtcdHealth } from '../../../src/etcd/health.js';
import type { RangeResponse } from '../../../src/etcd/messages.js';

afterEach(() => {
  vi.useRealTimers();
});

test('checks share a request as long as it is pending, and its result for a second', async () => {
  vi.useFakeTimers();
  const answers: ((response: RangeResponse) => void)[] = [];
  const range = () => new Promise<RangeResponse>((resolve) => answers.push(resolve));
  const health = new EtcdHealth({ range }, new Uint8Array());
  const first = health.check();
  await vi.advanceTimersByTimeAsync(1_500);
  const second = health.check();
  expect(answers).toHaveLength(1);
  answers[0]?.({ header: { revision: 1 }, kvs: [], more: false, count: 0 });
  expect(await Promise.all([first, second])).toEqual([undefined, undefined]);
  void health.check();
  expect(answers).toHaveLength(2);
});

test('authentication is part of the time limit of a request', async () => {
  // It accepts connections and does not respond.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = new EtcdClient({
    endpoints: [`http://127.0.0.1:${port}`],
    auth: { username: 'u', password: 'p' },
  });
  const began = performance.now();
  await expect(client.range({ key: Buffer.from('k') }, 300)).rejects.toThrow('context deadline exceeded');
  expect(performance.now() - began).toBeLessThan(3_000);
  client.close();
  server.close();
});
