/** The compaction of etcd's history. */
import { expect, test } from 'vitest';
import type { EtcdClient } from '../../../src/etcd/client.js';
import { startCompaction } from '../../../src/etcd/compactor.js';

test('continues after answers that etcd never sends', async () => {
  let turns = 0;
  const client = {
    // An empty message: decoding leaves absent messages null.
    txn: async () => {
      turns++;
      return { header: null, succeeded: true, responses: [] };
    },
    compact: async () => undefined,
  } as unknown as EtcdClient;
  const stop = startCompaction(client, 1);
  await expect.poll(() => turns).toBeGreaterThan(2);
  stop();
});
