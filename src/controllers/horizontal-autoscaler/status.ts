/**
 * A draft of an autoscaler's status.
 */
import type { HorizontalPodAutoscaler } from '../../kinds/autoscaling/v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { deepEqual } from '../../util/json.js';
import type { Status as StoredMetric } from './evaluate.js';

export type StoredAutoscaler = ObjectOf<typeof HorizontalPodAutoscaler>;
type StoredStatus = StoredAutoscaler['status'];
type StoredCondition = NonNullable<StoredStatus['conditions']>[number];

export type ConditionType = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';

/** Collects the changes of a status. */
export class StatusDraft {
  readonly #before: StoredStatus;
  readonly #now: string;
  readonly #conditions: StoredCondition[];
  #rest: Omit<StoredStatus, 'conditions'>;

  constructor({ status }: StoredAutoscaler, now: string) {
    const { conditions = [], ...rest } = status;
    this.#before = status;
    this.#now = now;
    this.#conditions = [...conditions];
    this.#rest = rest;
  }

  /** Sets a condition. Conditions keep their order; lastTransitionTime changes with the status only. */
  condition(type: ConditionType, isTrue: boolean, { reason, message }: { reason: string; message: string }): void {
    const at = this.#conditions.findIndex((condition) => condition.type === type);
    const before = this.#conditions[at];
    const status = isTrue ? 'True' : 'False';
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : this.#now;
    const condition: StoredCondition = {
      type,
      status,
      ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
      reason,
      message,
    };
    if (at < 0) this.#conditions.push(condition);
    else this.#conditions[at] = condition;
  }

  /** Sets all fields except conditions. Without `desired` the desired replicas stay unchanged. */
  counts(counts: {
    readonly current: number;
    readonly desired?: number;
    readonly metrics: readonly StoredMetric[];
    readonly isRescaled?: boolean;
  }): void {
    const { lastScaleTime, desiredReplicas } = this.#before;
    const scaled = counts.isRescaled === true ? this.#now : lastScaleTime;
    this.#rest = {
      ...(scaled === undefined ? {} : { lastScaleTime: scaled }),
      ...(counts.current === 0 ? {} : { currentReplicas: counts.current }),
      desiredReplicas: counts.desired ?? desiredReplicas,
      currentMetrics: counts.metrics.length === 0 ? null : counts.metrics,
    };
  }

  /** The new status; undefined if nothing has changed. */
  changed(): StoredStatus | undefined {
    const status = {
      ...this.#rest,
      ...(this.#conditions.length === 0 ? {} : { conditions: this.#conditions }),
    };
    return deepEqual(status, this.#before) ? undefined : status;
  }
}
