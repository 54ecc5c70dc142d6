/**
 * When nodes were last heard of, by their status and their Lease, and the conditions of nodes that do not respond.
 */
import type { Lease } from '../../kinds/coordination/v1/lease.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { timeToMs } from '../../text/time/time.js';
import type { StoredNode } from '../workloads/daemon-set/placement.js';

export type StoredLease = ObjectOf<typeof Lease>;
export type NodeCondition = NonNullable<StoredNode['status']['conditions']>[number];

/** The namespace of the Leases that kubelets renew. */
export const NODE_LEASES = 'kube-node-lease';

export interface GracePeriods {
  /** How long a node that has reported its status may be silent, in milliseconds. */
  readonly gracePeriodMs: number;
  /** The same for a node that never reported, from its creation on. */
  readonly startupGracePeriodMs: number;
}

/** When the nodes are examined. Times are rounded up to the next examination. */
export interface Ticks {
  /** The first examination at or after the time. */
  atOrAfter(ms: number): number;
}

/** The state of a node after an examination. */
export interface Examined {
  /** The Ready condition as it was found; a node that never reported is Unknown. */
  readonly observedReady: 'True' | 'False' | 'Unknown';
  /** When the node counts as lost unless it reports. */
  readonly deadlineMs: number;
  /** The node must be examined again at the next tick. */
  readonly again: boolean;
}

interface Health {
  /** When the node was last heard of. */
  heardMs: number;
  /** The Ready condition at the last examination. */
  ready: NodeCondition | undefined;
  /** The renewal of the Lease that was last considered. */
  renewTime: string | undefined;
  /**
   * A status without a newer Lease makes the reference forget the Lease, so that the next examination takes it for a new one.
   * upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth
   */
  hasForgottenLease: boolean;
}

/** Records when nodes were last heard of. */
export class NodeHealths {
  readonly #periods: GracePeriods;
  readonly #ticks: Ticks;
  readonly #healths = new Map<string, Health>();
  /** When a renewal would first have been seen by an examination, by node. */
  readonly #renewedMs = new Map<string, number>();

  constructor(periods: GracePeriods, ticks: Ticks) {
    this.#periods = periods;
    this.#ticks = ticks;
  }

  /** Whether the node was examined, and is not ready. */
  isKnownUnready(node: string): boolean {
    const status = this.#healths.get(node)?.ready?.status;
    return status !== undefined && status !== 'True';
  }

  forget(node: string): void {
    this.#healths.delete(node);
    this.#renewedMs.delete(node);
  }

  /** A Lease was created or renewed. */
  renewed(node: string, nowMs: number): void {
    this.#renewedMs.set(node, this.#ticks.atOrAfter(nowMs));
  }

  /** Counts the time from now on, for a node that was examined. */
  restart(node: string, nowMs: number): void {
    const health = this.#healths.get(node);
    if (health !== undefined) health.heardMs = nowMs;
  }

  /** Records what the node and its Lease say. */
  examine(node: StoredNode, lease: StoredLease | undefined, nowMs: number): Examined {
    const { name, creationTimestamp } = node.metadata;
    const ready = conditionOf(node, 'Ready');
    let health = this.#healths.get(name);
    let isNew = false;
    if (health === undefined) {
      const heardMs = ready === undefined ? timeToMs(creationTimestamp) : nowMs;
      health = { heardMs, ready, renewTime: undefined, hasForgottenLease: false };
      this.#healths.set(name, health);
      isNew = true;
    } else if (
      (health.ready === undefined) !== (ready === undefined) ||
      health.ready?.lastHeartbeatTime !== ready?.lastHeartbeatTime
    ) {
      health.heardMs = nowMs;
      health.hasForgottenLease = health.renewTime !== undefined;
      isNew = true;
    }
    health.ready = ready;
    let again = false;
    if (lease !== undefined) {
      const renewTime = lease.spec.renewTime ?? '';
      if (health.renewTime === undefined || health.renewTime < renewTime) {
        health.renewTime = renewTime;
        health.hasForgottenLease = false;
        health.heardMs = Math.max(health.heardMs, Math.min(nowMs, this.#renewedMs.get(name) ?? nowMs));
      } else if (health.hasForgottenLease) {
        if (isNew) again = true;
        else {
          health.hasForgottenLease = false;
          health.heardMs = nowMs;
        }
      }
    }
    const { gracePeriodMs, startupGracePeriodMs } = this.#periods;
    const graceMs = ready === undefined ? startupGracePeriodMs : gracePeriodMs;
    const leaseMs = (lease?.spec.leaseDurationSeconds ?? 0) * 1_000;
    const observedReady = ready === undefined ? 'Unknown' : (ready.status as Examined['observedReady']);
    return { observedReady, deadlineMs: health.heardMs + Math.max(graceMs, leaseMs), again };
  }

  /** Records the conditions that were written for a node that does not respond. */
  lost(node: string, ready: NodeCondition | undefined): void {
    const health = this.#healths.get(node);
    if (health !== undefined) health.ready = ready;
  }
}

export function conditionOf({ status }: StoredNode, type: string): NodeCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

/** The conditions that only kubelet reports. NetworkUnavailable belongs to the control plane. */
const KUBELET_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

const STOPPED_POSTING = 'NodeStatusUnknown';
const NEVER_POSTED = 'NodeStatusNeverUpdated';
/** The reasons of conditions that {@link lostConditions} writes. */
export const LOST_REASONS: readonly string[] = Object.freeze([STOPPED_POSTING, NEVER_POSTED]);

/**
 * The conditions of a node that does not respond; undefined if its Ready condition says so already, in which case the
 * others are not updated either.
 */
export function lostConditions(node: StoredNode, now: string): readonly NodeCondition[] | undefined {
  if (conditionOf(node, 'Ready')?.status === 'Unknown') return undefined;
  const unknown = { status: 'Unknown', lastTransitionTime: now } as const;
  const present = (node.status.conditions ?? []).map((condition) =>
    condition.status !== 'Unknown' && KUBELET_CONDITIONS.some((type) => type === condition.type)
      ? {
          ...condition,
          ...unknown,
          reason: STOPPED_POSTING,
          message: 'Kubelet stopped posting node status.',
        }
      : condition,
  );
  const missing = KUBELET_CONDITIONS.filter((type) => conditionOf(node, type) === undefined).map((type) => ({
    type,
    ...unknown,
    reason: NEVER_POSTED,
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime: node.metadata.creationTimestamp,
  }));
  return [...present, ...missing];
}
