/**
 * The addresses of all API servers of a cluster, each in a key with a lease that its server renews. The endpoints of the
 * `kubernetes` Service are made of them.
 * upstream: pkg/controlplane/reconcilers/lease.go
 */
import { systemClock, type Undo } from '../util/clock.js';
import type { EtcdClient } from './client.js';
import { EtcdError } from './etcd-error.js';
import type { RequestOp } from './messages.js';

const RENEW_MS = 10_000;
const LIFETIME_SECONDS = 15;
/** How long a server that stops waits until its address is removed. */
const STOP_TIMEOUT_MS = 2_000;

export interface ServerLeasesOptions {
  readonly client: Pick<EtcdClient, 'txn'>;
  /** What the keys start with. */
  readonly prefix: string;
  /** The value of a key. `generation` is a number that grows. */
  readonly encode: (address: string, generation: number) => Uint8Array;
  readonly leaseFor: (seconds: number) => Promise<number>;
}

export class ServerLeases {
  readonly #options: ServerLeasesOptions;
  /** The same array until it changes. */
  #addresses: readonly string[] = [];
  readonly #announced = new Set<Undo>();
  #removals: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(options: ServerLeasesOptions) {
    this.#options = options;
  }

  /** Of all servers, as far as the feed has received them. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** Receives a change of a key, and ignores other keys. */
  receive(key: Uint8Array, change: 'put' | 'delete'): void {
    const text = Buffer.from(key).toString();
    const { prefix } = this.#options;
    if (!text.startsWith(prefix)) return;
    const address = text.slice(prefix.length);
    if (change === 'delete') this.#remove(address);
    else if (!this.#addresses.includes(address)) this.#addresses = [...this.#addresses, address];
  }

  /** All keys will be received again. */
  clear(): void {
    this.#addresses = [];
  }

  /** Adds an address until the result is called. */
  announce(address: string): Undo {
    let generation = 0;
    let stopTimer: Undo = () => undefined;
    let last: Promise<void> = Promise.resolve();
    const renew = (): void => {
      last = this.#put(address, ++generation);
      stopTimer = systemClock.after(RENEW_MS, renew, { background: true });
    };
    renew();
    const withdraw = (): void => {
      if (!this.#announced.delete(withdraw) || this.#isStopped) return;
      stopTimer();
      this.#remove(address);
      const removal = last.then(() => this.#send({ requestDeleteRange: { key: this.#keyOf(address) } }));
      this.#removals = Promise.all([this.#removals, removal]);
    };
    this.#announced.add(withdraw);
    return withdraw;
  }

  /** Withdraws all addresses. */
  async stop(): Promise<void> {
    for (const withdraw of [...this.#announced]) withdraw();
    this.#isStopped = true;
    let undo: Undo = () => undefined;
    const timeout = new Promise<void>((resolve) => {
      undo = systemClock.after(STOP_TIMEOUT_MS, resolve);
    });
    await Promise.race([this.#removals, timeout]);
    undo();
  }

  #remove(address: string): void {
    if (this.#addresses.includes(address)) this.#addresses = this.#addresses.filter((other) => other !== address);
  }

  #keyOf(address: string): Uint8Array {
    return Buffer.from(this.#options.prefix + address);
  }

  async #put(address: string, generation: number): Promise<void> {
    const { encode, leaseFor } = this.#options;
    await this.#send(async () => ({
      requestPut: {
        key: this.#keyOf(address),
        value: encode(address, generation),
        lease: await leaseFor(LIFETIME_SECONDS),
      },
    }));
  }

  async #send(operation: RequestOp | (() => Promise<RequestOp>)): Promise<void> {
    try {
      const success = [typeof operation === 'function' ? await operation() : operation];
      await this.#options.client.txn({ compare: [], success, failure: [] });
    } catch (error) {
      // etcd is not available; the next turn tries again, or the lease expires.
      if (!(error instanceof EtcdError)) throw error;
    }
  }
}
