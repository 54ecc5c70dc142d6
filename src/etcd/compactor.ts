/**
 * Compacts etcd every five minutes, to the revision of five minutes before. Only one server of a cluster compacts in each
 * interval: all of them write the same key, on the condition that no other server has written it since.
 * upstream: apiserver/pkg/storage/etcd3/compact.go
 */
import { systemClock } from '../util/clock.js';
import type { EtcdClient } from './client.js';
import { COMPACT_REVISION_KEY } from './layout.js';
import { toNumber } from './messages.js';

const INTERVAL_MS = 5 * 60_000;

/** How often the key was written, and the revision to compact to in the next turn; 0: none is known. */
export interface CompactionState {
  readonly turns: number;
  readonly revision: number;
}

export const NO_COMPACTION: CompactionState = { turns: 0, revision: 0 };

/** Starts to compact. Returns a function that ends it. */
export function startCompaction(client: EtcdClient, intervalMs = INTERVAL_MS): () => void {
  let state = NO_COMPACTION;
  let stop: () => void;
  const turn = async (): Promise<void> => {
    try {
      state = await compactOnce(client, state);
    } catch {
      // etcd is not available, or has sent an odd answer: the next turn tries again. Requests of clients report why.
    }
    schedule();
  };
  const schedule = (): void => {
    stop = systemClock.after(intervalMs, () => void turn(), { background: true });
  };
  schedule();
  return () => stop();
}

export async function compactOnce(client: EtcdClient, { turns, revision }: CompactionState): Promise<CompactionState> {
  const key = Buffer.from(COMPACT_REVISION_KEY);
  const { succeeded, header, responses } = await client.txn({
    compare: [{ result: 0, target: 0, key, version: turns }],
    success: [{ requestPut: { key, value: Buffer.from(String(revision)) } }],
    failure: [{ requestRange: { key } }],
  });
  const next = toNumber(header.revision);
  // Another server had this turn.
  if (!succeeded) return { turns: toNumber(responses[0]?.responseRange?.kvs[0]?.version ?? 0), revision: next };
  if (revision > 0) await client.compact(revision);
  return { turns: turns + 1, revision: next };
}
