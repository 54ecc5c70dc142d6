/**
 * The trigger time annotation of Endpoints and EndpointSlices.
 */
import { formatTime, timeToMs } from '../../text/time/time.js';
import { podCondition, type StoredPod } from '../workloads/pod-state.js';
import type { StoredService } from './pod-services.js';

interface ObservedTimes {
  readonly service: number;
  readonly pods: ReadonlyMap<string, number>;
}

/**
 * Computes the trigger time annotation, from which proxies measure the propagation delay: the time of the earliest change since
 * the last reconcile.
 */
export class TriggerTimes {
  readonly #observed = new Map<string, ObservedTimes>();

  /** Records the state of a Service and returns the annotation's value; undefined: the annotation is removed. */
  next(key: string, service: StoredService, pods: readonly StoredPod[]): string | undefined {
    const before = this.#observed.get(key);
    const created = timeToMs(service.metadata.creationTimestamp);
    const times = new Map<string, number>();
    let earliest = before !== undefined && created > before.service ? created : Infinity;
    for (const pod of pods) {
      const since = podCondition(pod, 'Ready')?.lastTransitionTime;
      if (since === undefined || since === null) continue;
      const time = timeToMs(since);
      times.set(pod.metadata.name, time);
      if (time > (before?.pods.get(pod.metadata.name) ?? -Infinity)) earliest = Math.min(earliest, time);
    }
    this.#observed.set(key, { service: created, pods: times });
    if (before === undefined) return formatTime(created);
    return earliest === Infinity ? undefined : formatTime(earliest);
  }

  forget(key: string): void {
    this.#observed.delete(key);
  }
}
