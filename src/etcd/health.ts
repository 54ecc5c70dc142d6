/**
 * The health checks `etcd` and `etcd-readiness`: a read through the quorum, with a time limit.
 * upstream: apiserver/pkg/storage/storagebackend/factory/etcd3.go newETCD3Check
 */
import { systemClock } from '../util/clock.js';
import { messageOf } from '../util/message-of.js';
import type { EtcdClient } from './client.js';
import { isConnectionFailure } from './etcd-error.js';

const TIMEOUT_MS = 2_000;
/** For this time checks get the last result. */
const INTERVAL_MS = TIMEOUT_MS / 2;
/** When a check asks again after it did not reach etcd. */
const RECONNECT_MS = 100;

export class EtcdHealth {
  readonly #client: Pick<EtcdClient, 'range'>;
  readonly #key: Uint8Array;
  #last: Promise<string | undefined> | undefined;
  #askedAt = 0;
  #isPending = false;

  /** `key` is a key that does not exist. */
  constructor(client: Pick<EtcdClient, 'range'>, key: Uint8Array) {
    this.#client = client;
    this.#key = key;
  }

  /** Resolves to the problem, if any. Concurrent checks share a request. */
  check(): Promise<string | undefined> {
    const now = systemClock.now();
    if (this.#last === undefined || (!this.#isPending && now - this.#askedAt >= INTERVAL_MS)) {
      this.#askedAt = now;
      this.#isPending = true;
      this.#last = this.#ask().finally(() => {
        this.#isPending = false;
      });
    }
    return this.#last;
  }

  async #ask(): Promise<string | undefined> {
    const until = systemClock.now() + TIMEOUT_MS;
    for (;;) {
      try {
        await this.#client.range({ key: this.#key }, until - systemClock.now());
        return undefined;
      } catch (error) {
        if (!isConnectionFailure(error)) return `error getting data from etcd: ${messageOf(error)}`;
        if (systemClock.now() + RECONNECT_MS > until) return 'error getting data from etcd: context deadline exceeded';
      }
      await new Promise<void>((resolve) => systemClock.after(RECONNECT_MS, resolve));
    }
  }
}
