import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { controllers, standardControllers } from '../../../src/controllers/index.js';
import { createFetchHandler } from '../../../src/http/index.js';
import { httpTransport } from '../../../src/http/transport/http-transport.js';
import { Job } from '../../../src/kinds/index.js';
import { eventually, testCluster } from '../../../src/testing/index.js';

test('advances the clock of the cluster until a remote client sees the result', async () => {
  await using cluster = testCluster({ controllers: controllers(standardControllers()) });
  const handler = createFetchHandler(cluster);
  const transport = httpTransport({
    baseUrl: 'http://cluster.test',
    fetch: (request) => handler(new Request(request)),
  });
  const remote = createClient({ transport });
  await remote.api(Job).create({
    metadata: { name: 'late' },
    spec: {
      activeDeadlineSeconds: 30,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } },
    },
  });
  const before = cluster.clock.now();
  const failed = await eventually(
    async () => {
      const { status } = await remote.api(Job).get('late');
      return status?.conditions?.some(({ type }) => type === 'Failed') === true && status;
    },
    { cluster, advanceMs: 10_000 },
  );
  expect(failed.conditions?.find(({ type }) => type === 'Failed')?.reason).toBe('DeadlineExceeded');
  expect(cluster.clock.now() - before).toBeGreaterThanOrEqual(30_000);
});

test('returns the first result that is not false, without a cluster', async () => {
  let count = 0;
  const wait = eventually(
    () => {
      count++;
      if (count === 1) throw new Error('not yet');
      return count > 2 && `after ${count}`;
    },
    { intervalMs: 1 },
  );
  expect(await wait).toBe('after 3');
});

test('rejects with the last error', async () => {
  const options = { timeoutMs: 30, intervalMs: 10 };
  await expect(eventually(() => Promise.reject(new Error('no such pod')), options)).rejects.toThrow(
    /^orchplane: eventually: no such pod \(\d+ attempts? in 30 ms\)$/,
  );
  await expect(eventually(() => false, options)).rejects.toThrow('the function returned false');
  await expect(eventually(() => new Promise(() => undefined), options)).rejects.toThrow('the function did not return');
});

test.each([[{ timeout: 1 }], [{ timeoutMs: Number.NaN }], [{ advanceMs: -1 }]])('refuses %o', async (options) => {
  await expect(eventually(() => true, options as object)).rejects.toThrow(TypeError);
});
