/**
 * Zones of nodes: their state of disruption, and the queues that limit the rate at which NoExecute taints are added.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { StoredNode } from '../workloads/daemon-set/placement.js';

export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** The rates and limits by which zones are judged. */
export interface ZoneLimits {
  /** Nodes per second that are tainted in a healthy zone. */
  readonly evictionRate: number;
  /** Nodes per second that are tainted in a large zone with a partial disruption. */
  readonly secondaryEvictionRate: number;
  /** Zones with more nodes are large. In others no node is tainted during a partial disruption. */
  readonly largeClusterThreshold: number;
  /** The fraction of nodes that are not ready from which on a zone is disrupted. */
  readonly unhealthyZoneThreshold: number;
}

/** Fewer nodes that are not ready never disrupt a zone partially. */
const MIN_DISRUPTED_NODES = 3;

/** Groups nodes by region and zone; empty for nodes without these labels. */
export function zoneOf({ metadata: { labels = {} } }: StoredNode, dialect: Dialect): string {
  const label = (name: string) =>
    labels[dialect.subkey('failure-domain.beta', name)] ?? labels[dialect.subkey('topology', name)] ?? '';
  const zone = label('zone');
  const region = label('region');
  return zone === '' && region === '' ? '' : `${region}:\0:${zone}`;
}

/** The state of a zone with these numbers of nodes. */
export function zoneState(
  ready: number,
  notReady: number,
  { unhealthyZoneThreshold }: ZoneLimits,
): Exclude<ZoneState, 'Initial'> {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  const isDisrupted = notReady >= MIN_DISRUPTED_NODES && notReady / (notReady + ready) >= unhealthyZoneThreshold;
  return isDisrupted ? 'PartialDisruption' : 'Normal';
}

/** The nodes per second that are tainted in a zone. */
export function rateIn(state: ZoneState, nodes: number, limits: ZoneLimits): number {
  if (state !== 'PartialDisruption') return limits.evictionRate;
  return nodes > limits.largeClusterThreshold ? limits.secondaryEvictionRate : 0;
}

/** A token bucket that holds one token. A rate of 0 never gives one. */
export class TokenBucket {
  readonly rate: number;
  #tokens = 1;
  #at: number;

  constructor(rate: number, nowMs: number) {
    this.rate = rate;
    this.#at = nowMs;
    if (rate <= 0) this.#tokens = 0;
  }

  take(nowMs: number): boolean {
    if (this.msUntilToken(nowMs) > 0) return false;
    this.#tokens = Math.max(0, this.#tokens - 1);
    return true;
  }

  /** `Infinity`: never. */
  msUntilToken(nowMs: number): number {
    if (this.rate <= 0) return Infinity;
    this.#tokens = Math.min(1, this.#tokens + (Math.max(0, nowMs - this.#at) * this.rate) / 1_000);
    this.#at = nowMs;
    // Rounded up to full milliseconds; the margin absorbs rounding errors of the sum.
    return this.#tokens >= 1 - 1e-9 ? 0 : Math.ceil(((1 - this.#tokens) * 1_000) / this.rate - 1e-6);
  }
}

/** The nodes of a zone that wait for their NoExecute taint, in order of arrival. */
export class TaintQueue {
  #limiter: TokenBucket;
  #waiting: string[] = [];
  /** Nodes that wait or were tainted. They are not added again until they are removed. */
  readonly #known = new Set<string>();

  constructor(rate: number, nowMs: number) {
    this.#limiter = new TokenBucket(rate, nowMs);
  }

  add(node: string): void {
    if (this.#known.has(node)) return;
    this.#known.add(node);
    this.#waiting.push(node);
  }

  remove(node: string): void {
    if (this.#known.delete(node)) this.#waiting = this.#waiting.filter((each) => each !== node);
  }

  /** Changes the rate. A queue that waits for a token continues to wait. */
  setRate(rate: number, nowMs: number): void {
    if (this.#limiter.rate === rate) return;
    const limiter = new TokenBucket(rate, nowMs);
    if (rate > 0 && !this.#limiter.take(nowMs)) limiter.take(nowMs);
    this.#limiter = limiter;
  }

  /** Calls `taint` for each node that the rate permits. Returns the time until the next one; `Infinity`: none. */
  async taintNodes(clock: { now(): number }, taint: (node: string) => Promise<void>): Promise<number> {
    for (;;) {
      const [node] = this.#waiting;
      if (node === undefined) return Infinity;
      const waitMs = this.#limiter.msUntilToken(clock.now());
      if (waitMs > 0) return waitMs;
      this.#limiter.take(clock.now());
      // Stays in the queue if it fails.
      await taint(node);
      this.#waiting = this.#waiting.filter((each) => each !== node);
    }
  }
}
