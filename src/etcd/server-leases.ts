/**
 * The addresses of all API servers of a cluster, each in a key with a lease that its server renews. The endpoints of the
 * `kubernetes` Service are made of them.
 * upstream: pkg/controlplane/reconcilers/lease.go
 */
import { parseIpSloppy } from '../meta/ip.js';
import { systemClock, type Undo } from '../util/clock.js';
import { getOrInsertComputed } from '../util/once.js';
import type { EtcdClient } from './client.js';
import type { RequestOp } from './messages.js';

const RENEW_MS = 10_000;
/** When a renewal that has failed is repeated. */
const RETRY_MS = 1_000;
const LIFETIME_SECONDS = 15;
/** How long a server that stops waits until its address is removed. */
const STOP_TIMEOUT_MS = 2_000;

export interface ServerLeasesOptions {
  readonly client: Pick<EtcdClient, 'txn'>;
  /** The prefix of the keys. */
  readonly prefix: string;
  /** The value of a key. `generation` is a number that grows. */
  readonly encode: (address: string, generation: number) => Uint8Array;
  readonly leaseFor: (seconds: number) => Promise<number>;
}

/** An address of this process. */
interface Announced {
  /** The number of listeners that have it, on different ports. */
  listeners: number;
  generation: number;
  stopTimer: Undo;
}

export class ServerLeases {
  readonly #options: ServerLeasesOptions;
  /** The same array until it changes. */
  #addresses: readonly string[] = [];
  readonly #announced = new Map<string, Announced>();
  /** The last request for each address: the next one follows it. */
  readonly #last = new Map<string, Promise<boolean>>();
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
    // Another program wrote it; the Endpoints accept no other addresses.
    if (parseIpSloppy(address) === undefined) return;
    if (change === 'delete') this.#remove(address);
    else if (!this.#addresses.includes(address)) this.#addresses = [...this.#addresses, address];
  }

  /** All keys will be received again. */
  clear(): void {
    this.#addresses = [];
  }

  /** Adds an address until the result is called. */
  announce(address: string): Undo {
    const announced = getOrInsertComputed(this.#announced, address, () => this.#startRenewal(address));
    announced.listeners++;
    let isAnnounced = true;
    return () => {
      if (!isAnnounced || this.#isStopped) return;
      isAnnounced = false;
      announced.listeners--;
      if (announced.listeners === 0) this.#withdraw(address, announced);
    };
  }

  /** Withdraws all addresses. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const [address, announced] of this.#announced) this.#withdraw(address, announced);
    let undo: Undo = () => undefined;
    const timeout = new Promise<void>((resolve) => {
      undo = systemClock.after(STOP_TIMEOUT_MS, resolve);
    });
    await Promise.race([Promise.all(this.#last.values()), timeout]);
    undo();
  }

  #startRenewal(address: string): Announced {
    const announced: Announced = { listeners: 0, generation: 0, stopTimer: () => undefined };
    const renew = async (): Promise<void> => {
      const isRenewed = await this.#send(address, () => this.#putOf(address, ++announced.generation));
      if (this.#announced.get(address) !== announced) return;
      const delayMs = isRenewed ? RENEW_MS : RETRY_MS;
      announced.stopTimer = systemClock.after(delayMs, () => void renew(), { background: true });
    };
    void renew();
    return announced;
  }

  #withdraw(address: string, { stopTimer }: Announced): void {
    stopTimer();
    this.#announced.delete(address);
    this.#remove(address);
    // If it fails, the key exists until its lease expires.
    void this.#send(address, () => ({ requestDeleteRange: { key: this.#keyOf(address) } }));
  }

  #remove(address: string): void {
    if (this.#addresses.includes(address)) this.#addresses = this.#addresses.filter((other) => other !== address);
  }

  #keyOf(address: string): Uint8Array {
    return Buffer.from(this.#options.prefix + address);
  }

  async #putOf(address: string, generation: number): Promise<RequestOp> {
    const { encode, leaseFor } = this.#options;
    const lease = await leaseFor(LIFETIME_SECONDS);
    return { requestPut: { key: this.#keyOf(address), value: encode(address, generation), lease } };
  }

  /** Sends a change after the earlier ones of the same address. Resolves to whether it succeeded. */
  #send(address: string, operation: () => RequestOp | Promise<RequestOp>): Promise<boolean> {
    const send = async (): Promise<boolean> => {
      try {
        await this.#options.client.txn({ compare: [], success: [await operation()], failure: [] });
        return true;
      } catch {
        // Requests of clients report why etcd cannot be used.
        return false;
      }
    };
    const sent = this.#last.get(address)?.then(send) ?? send();
    this.#last.set(address, sent);
    return sent;
  }
}
