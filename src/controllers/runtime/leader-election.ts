/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Leader election with a Lease, by the rules of client-go. The holder renews the Lease. Other candidates measure with their
 * own clock how long the Lease has not changed, and take it over when that exceeds the lease duration. Clocks need not
 * agree; they only have to run at the same rate. All waiting happens in a work queue on the host's clock.
 */

import { type Client, createClient } from '../../client/client.js';
import type { Host } from '../../client/host.js';
import { Lease } from '../../kinds/coordination/v1/lease.js';
import type { LeaseSpecInput } from '../../kinds/generated/coordination-v1.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { StatusError } from '../../meta/errors.js';
import { formatMicroTime } from '../../text/time/time.js';
import { onAbort } from '../../util/abort.js';
import { Activities } from '../../util/activity.js';
import type { Undo } from '../../util/clock.js';
import { randomIds } from '../../util/ids.js';
import { withoutUndefined } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { CoreEventRecorder } from './events.js';
import { RequestTracker } from './request-tracker.js';
import { type ReconcileResult, WorkQueue } from './work-queue.js';

export interface LeaderElectionOptions {
  /** The name of the Lease. */
  readonly name: string;
  /** The namespace of the Lease; `kube-system` unless given. */
  readonly namespace?: string | undefined;
  /** The identity of this candidate. It must be unique. Absent: a new one for each campaign. */
  readonly identity?: string | undefined;
  /** How long other candidates wait before they take over the Lease; whole seconds, 15 s unless given. */
  readonly leaseDurationMs?: number | undefined;
  /** How long the leader tries to renew before it stops leading; 10 s unless given. */
  readonly renewDeadlineMs?: number | undefined;
  /** The time between attempts; 2 s unless given. Candidates that do not lead wait up to 2.2 times as long (jitter). */
  readonly retryPeriodMs?: number | undefined;
  /** Whether a leader that is closed releases the Lease, so that others need not wait; true unless given. */
  readonly releaseOnClose?: boolean | undefined;
  /** Whether changes of the leader are recorded as Events; false unless given. */
  readonly events?: boolean | undefined;
}

const DEFAULTS = {
  name: '',
  namespace: 'kube-system',
  identity: undefined,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  releaseOnClose: true,
  events: false,
} as const satisfies Required<LeaderElectionOptions>;

/** Callbacks of a candidate. They must not throw. */
export interface LeaderCallbacks {
  readonly onStartedLeading?: (() => void) | undefined;
  /** Called only after the candidate has led. Work that needs a single leader must end within this call. */
  readonly onStoppedLeading?: (() => void) | undefined;
  /** Called with the identity of each new leader, this candidate included. */
  readonly onNewLeader?: ((identity: string) => void) | undefined;
  /** Receives errors of failed attempts, which are retried. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A leader election, for `runControllers` or for direct use. */
export interface LeaderElection {
  readonly name: string;
  readonly namespace: string;
  /** Campaigns until the candidate is closed, also after it has lost a term. */
  campaign(host: Host, callbacks?: LeaderCallbacks): Candidate;
}

export interface Candidate extends AsyncDisposable {
  readonly identity: string;
  readonly isLeader: boolean;
  /** The last observed leader; empty: none. */
  readonly leader: string;
  /** Stops leading at once and releases the Lease. Resolves when the Lease is released. */
  close(): Promise<void>;
}

/** The maximum jitter as a fraction of the retry period. */
const JITTER = 1.2;
const TRY = 'lease';
const DEADLINE = 'deadline';

/**
 * Creates a leader election with a Lease. Throws TypeError for inconsistent durations.
 *
 * @example
 * const election = leaderElection({ name: 'greeter', identity: 'a' });
 * await using candidate = election.campaign(cluster, { onStartedLeading: () => console.log('leading') });
 */
export function leaderElection(options: LeaderElectionOptions): LeaderElection {
  refuseUnknownOptions('leaderElection', options, Object.keys(DEFAULTS));
  const settings: Settings = { ...DEFAULTS, ...withoutUndefined(options) };
  checkSettings(settings);
  const { name, namespace } = settings;
  return { name, namespace, campaign: (host, callbacks = {}) => new Campaign(host, settings, callbacks) };
}

type Settings = {
  readonly [Key in keyof LeaderElectionOptions]-?: Key extends 'identity'
    ? string | undefined
    : Exclude<LeaderElectionOptions[Key], undefined>;
};

function checkSettings({ name, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs }: Settings): void {
  const refuse = (why: string): never => {
    throw new TypeError(`orchplane: leaderElection: ${why}`);
  };
  if (name === '') refuse('a lease needs a name');
  if (identity === '') refuse('an identity is not empty');
  if (!(leaseDurationMs >= 1_000)) refuse('leaseDurationMs is at least 1000: leases count in seconds');
  if (!(leaseDurationMs > renewDeadlineMs)) refuse('leaseDurationMs must be greater than renewDeadlineMs');
  if (!(retryPeriodMs > 0)) refuse('retryPeriodMs must be greater than zero');
  if (!(renewDeadlineMs > JITTER * retryPeriodMs))
    refuse(`renewDeadlineMs must be more than ${JITTER} × retryPeriodMs`);
}

type StoredLease = ObjectOf<typeof Lease>;

/** The Lease as last observed, and the local time of the observation. */
interface Observed {
  readonly lease: StoredLease;
  readonly sinceMs: number;
}

/** One candidate: acquires, renews and releases the Lease. */
class Campaign implements Candidate {
  readonly identity: string;
  readonly #host: Host;
  readonly #settings: Settings;
  readonly #callbacks: LeaderCallbacks;
  readonly #client: Client;
  readonly #queue: WorkQueue;
  readonly #events: CoreEventRecorder;
  readonly #undos: Undo[] = [];
  #observed: Observed | undefined;
  #reported = '';
  #isLeading = false;
  /** The time until which the leader may renew: its last success plus the deadline. */
  #deadlineMs = 0;
  /** Aborts the requests of an ended term. */
  #term = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(host: Host, settings: Settings, callbacks: LeaderCallbacks) {
    this.#host = host;
    this.#settings = settings;
    this.#callbacks = callbacks;
    const ids = host.ids ?? randomIds;
    this.identity = settings.identity ?? `orchplane_${ids.uid()}`;
    const traffic = new RequestTracker();
    this.#client = createClient({ transport: traffic.wrap(host) });
    const report = (error: unknown) => callbacks.onError?.(error);
    this.#events = new CoreEventRecorder({
      client: this.#client,
      clock: host.clock,
      ids,
      component: settings.name,
      report,
    });
    this.#queue = new WorkQueue({
      name: `the election of ${settings.name}`,
      clock: host.clock,
      // A second worker, so that an attempt that hangs does not block the deadline.
      workers: 2,
      reconcile: (key) => (key === DEADLINE ? this.#onDeadline() : this.#attempt()),
      onError: report,
    });
    const activities = host.activities ?? new Activities();
    const leave = host.clock.join?.(() => traffic.untilIdle(activities, host.clock));
    if (leave !== undefined) this.#undos.push(leave);
    this.#undos.push(
      activities.add(this.#queue),
      activities.add(this.#events),
      () => this.#queue.close(),
      onAbort(host.closing, () => void this.close()),
    );
    this.#queue.add(TRY);
    this.#queue.open();
  }

  get isLeader(): boolean {
    return this.#isLeading;
  }

  get leader(): string {
    return this.#observed?.lease.spec.holderIdentity ?? '';
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    for (const undo of this.#undos.splice(0)) undo();
    const isReachable = this.#host.closing?.aborted !== true;
    const mayRelease = this.#isLeading && this.#settings.releaseOnClose && isReachable;
    if (!isReachable) this.#events.close();
    this.#stopLeading();
    if (!mayRelease) return;
    try {
      await this.#release();
    } catch (error) {
      // Another candidate holds the Lease, or the server is unreachable: then the Lease expires.
      this.#callbacks.onError?.(error);
    }
  }

  async #attempt(): Promise<ReconcileResult> {
    const { retryPeriodMs } = this.#settings;
    const { signal } = this.#term;
    const startedMs = this.#host.clock.now();
    const isWon = await this.#acquireOrRenew(signal);
    // The answer belongs to a term that has ended meanwhile.
    if (this.#closing !== undefined || signal.aborted) return { requeueAfterMs: retryPeriodMs };
    if (isWon) {
      this.#deadlineMs = startedMs + this.#termMs;
      this.#queue.cancelDelay(DEADLINE);
      this.#queue.addAfter(DEADLINE, this.#deadlineMs - this.#host.clock.now());
      this.#startLeading();
    }
    this.#reportLeader();
    if (this.#isLeading) return { requeueAfterMs: retryPeriodMs };
    const random = (this.#host.ids ?? randomIds).random();
    return { requeueAfterMs: retryPeriodMs * (1 + random * JITTER) };
  }

  async #onDeadline(): Promise<ReconcileResult | undefined> {
    if (!this.#isLeading) return undefined;
    const leftMs = this.#deadlineMs - this.#host.clock.now();
    // More than a term means that the clock was set back.
    if (leftMs > 0 && leftMs <= this.#termMs) return { requeueAfterMs: leftMs };
    this.#stopLeading();
    return undefined;
  }

  /** Never longer than the lease duration that other candidates wait for. */
  get #termMs(): number {
    const { retryPeriodMs, renewDeadlineMs, leaseDurationMs } = this.#settings;
    return Math.min(retryPeriodMs + renewDeadlineMs, Math.floor(leaseDurationMs / 1_000) * 1_000);
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#tryOnce(signal);
    } catch (error) {
      // The end of a term aborts the request; that is not a failure.
      if (!signal.aborted) this.#callbacks.onError?.(error);
      return false;
    }
  }

  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const leases = this.#client.api(Lease, this.#settings.namespace);
    const { name, namespace } = this.#settings;
    const nowMs = this.#host.clock.now();
    const now = formatMicroTime(nowMs);
    // After the clock was set back, the lease duration counts again from now.
    if (this.#observed !== undefined && this.#observed.sinceMs > nowMs) this.#observe(this.#observed.lease);
    // 1. The leader assumes that the Lease has not changed since its last renewal.
    const held = this.#observed;
    if (held !== undefined && this.#isHeldByUs(held.lease) && this.#isValid(held)) {
      try {
        const spec = this.#specOf(now, held.lease);
        this.#observe(await leases.update({ ...held.lease, spec }, { signal }));
        return true;
      } catch (error) {
        // It has changed; continue with a read.
        if (!StatusError.is(error, 'Conflict') && !StatusError.is(error, 'NotFound')) throw error;
      }
    }
    // 2. Read the current Lease.
    const found = await leases.find(name, { signal });
    if (found === undefined) {
      this.#observe(await leases.create({ metadata: { name, namespace }, spec: this.#specOf(now) }, { signal }));
      return true;
    }
    // 3. The lease duration counts from the first observation of the current record.
    if (this.#observed === undefined || recordOf(this.#observed.lease) !== recordOf(found)) this.#observe(found);
    const observed: Observed = { lease: found, sinceMs: this.#observed?.sinceMs ?? this.#host.clock.now() };
    if ((found.spec.holderIdentity ?? '') !== '' && !this.#isHeldByUs(found) && this.#isValid(observed)) return false;
    // 4. This candidate holds the Lease, or it has no holder, or the holder is late.
    this.#observe(await leases.update({ ...found, spec: this.#specOf(now, found) }, { signal }));
    return true;
  }

  #observe(lease: StoredLease): void {
    this.#observed = { lease, sinceMs: this.#host.clock.now() };
  }

  #isHeldByUs({ spec }: StoredLease): boolean {
    return spec.holderIdentity === this.identity;
  }

  #isValid({ lease, sinceMs }: Observed): boolean {
    return sinceMs + (lease.spec.leaseDurationSeconds ?? 0) * 1_000 > this.#host.clock.now();
  }

  /** The Lease spec of this candidate: a new term, or a renewal of the current one. */
  #specOf(now: string, before?: StoredLease): LeaseSpecInput {
    const isRenewal = before !== undefined && this.#isHeldByUs(before);
    const transitions = before?.spec.leaseTransitions ?? 0;
    return {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.floor(this.#settings.leaseDurationMs / 1_000),
      acquireTime: isRenewal ? (before.spec.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: before === undefined || isRenewal ? transitions : transitions + 1,
    };
  }

  #startLeading(): void {
    if (this.#isLeading) return;
    this.#isLeading = true;
    this.#recordEvent('became leader');
    this.#callbacks.onStartedLeading?.();
  }

  #stopLeading(): void {
    this.#term.abort();
    this.#term = new AbortController();
    this.#queue.cancelDelay(DEADLINE);
    if (!this.#isLeading) return;
    this.#isLeading = false;
    this.#recordEvent('stopped leading');
    this.#callbacks.onStoppedLeading?.();
  }

  #reportLeader(): void {
    if (this.leader === this.#reported) return;
    this.#reported = this.leader;
    if (this.leader !== '') this.#callbacks.onNewLeader?.(this.leader);
  }

  /** Writes an empty holder and a lease duration of one second. */
  async #release(): Promise<void> {
    const lease = this.#observed?.lease;
    if (lease === undefined || !this.#isHeldByUs(lease)) return;
    const now = formatMicroTime(this.#host.clock.now());
    const leaseTransitions = lease.spec.leaseTransitions ?? 0;
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
    this.#observe(await this.#client.api(Lease, this.#settings.namespace).update({ ...lease, spec }));
  }

  #recordEvent(what: string): void {
    if (!this.#settings.events || this.#observed === undefined) return;
    const { apiVersion, kind, metadata } = this.#observed.lease;
    this.#events.record({ apiVersion, kind, metadata }, 'Normal', 'LeaderElection', `${this.identity} ${what}`);
  }
}

/** A string for comparing two observations of a Lease. */
function recordOf({ spec }: StoredLease): string {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec;
  return JSON.stringify([holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions]);
}
