/**
 * How much the cluster remembers. spec: Limits
 */
import type { LogBounds } from './event-log.js';

const FIVE_MINUTES_MS = 5 * 60_000;

export interface MemoryStorageOptions {
  /** Events kept per resource for watches and reads of the past; 10,000 unless said otherwise. */
  readonly history?: number;
  /** No event is kept longer than this; five minutes unless said otherwise. */
  readonly historyMs?: number;
  /**
   * Events kept per resource, however old, for `cluster.history` and `cluster.at`. Watches and reads at a version do not
   * reach them: they see what a server would have. No more than `history` unless said otherwise.
   */
  readonly keepHistory?: number;
  /** How long the later pages of a list can be asked for; five minutes unless said otherwise. */
  readonly continueMs?: number;
}

/** Passed to `createCluster`. */
export interface StorageSettings extends LogBounds {
  readonly continueTokenMs: number;
}

/**
 * Everything in memory, with a bounded past.
 *
 * @example
 * createCluster({ storage: memoryStorage({ history: 1_000 }) })
 */
export function memoryStorage(options: MemoryStorageOptions = {}): StorageSettings {
  const { history = 10_000, historyMs = FIVE_MINUTES_MS, continueMs = FIVE_MINUTES_MS, keepHistory } = options;
  return {
    maxEvents: atLeast(1, history, 'history'),
    maxAgeMs: atLeast(0, historyMs, 'historyMs'),
    continueTokenMs: atLeast(0, continueMs, 'continueMs'),
    ...(keepHistory === undefined ? {} : { keepEvents: atLeast(0, keepHistory, 'keepHistory') }),
  };
}

function atLeast(minimum: number, value: number, name: string): number {
  if (value >= minimum) return value;
  throw new RangeError(`orchplane: memoryStorage: ${name} must be at least ${minimum}, got ${value}`);
}
