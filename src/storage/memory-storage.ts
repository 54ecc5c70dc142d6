/**
 * `memoryStorage`: storage in memory, whose options are limits of its history. spec: Limits
 */
import { MAX_STORED_BYTES } from '../util/json-bytes.js';
import type { LogBounds } from './event-log.js';

const FIVE_MINUTES_MS = 5 * 60_000;
const MEBIBYTE = 1024 * 1024;

export interface MemoryStorageOptions {
  /** Events per resource for watches and reads at older revisions; default: 10,000. */
  readonly history?: number;
  /** The maximum age of these events; default: five minutes. */
  readonly historyMs?: number;
  /**
   * Events per resource, of any age, for `cluster.history` and `cluster.at`. Watches and reads at a revision do not
   * reach them, as on a real server. Default: the same events as `history`.
   */
  readonly keepHistory?: number;
  /**
   * About how many bytes of memory old events may keep in use, over all resources; default: 128 MiB. Beyond it, the oldest
   * are dropped whatever the other limits say, and watches and pages that need them are Expired.
   */
  readonly historyBytes?: number;
  /** How long continue tokens are valid; default: five minutes. */
  readonly continueMs?: number;
  /** The maximum size of an object in bytes; default: 1.5 MiB, as etcd has it. */
  readonly maxObjectBytes?: number;
}

/** The option `storage` of `createCluster`. */
export interface StorageSettings extends LogBounds {
  readonly continueTokenMs: number;
  /** Absent: storage outside of the process has a limit of its own. */
  readonly maxObjectBytes?: number;
}

/** Storage outside of the process, such as `etcdStorage` of orchplane/etcd. */
export interface SharedStorage extends StorageSettings {
  /** For `createCluster`, whose types its argument and its result have. */
  readonly open: (host: never) => unknown;
}

/**
 * Storage in memory with a bounded history.
 *
 * @example
 * createCluster({ storage: memoryStorage({ history: 1_000 }) })
 */
export function memoryStorage(options: MemoryStorageOptions = {}): StorageSettings {
  const { history = 10_000, historyMs = FIVE_MINUTES_MS, continueMs = FIVE_MINUTES_MS, keepHistory } = options;
  const { historyBytes = 128 * MEBIBYTE, maxObjectBytes = MAX_STORED_BYTES } = options;
  return {
    maxEvents: atLeast(1, history, 'history'),
    maxAgeMs: atLeast(0, historyMs, 'historyMs'),
    maxBytes: atLeast(0, historyBytes, 'historyBytes'),
    continueTokenMs: atLeast(0, continueMs, 'continueMs'),
    maxObjectBytes: atLeast(0, maxObjectBytes, 'maxObjectBytes'),
    ...(keepHistory === undefined ? {} : { keepEvents: atLeast(0, keepHistory, 'keepHistory') }),
  };
}

function atLeast(minimum: number, value: number, name: string): number {
  if (value >= minimum) return value;
  throw new RangeError(`orchplane: memoryStorage: ${name} must be at least ${minimum}, got ${value}`);
}
