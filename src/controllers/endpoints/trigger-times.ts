/**
 * When what led to a change of endpoints happened: the annotation from which proxies tell how long a change took to
 * reach them. It is the earliest of the changes since the last look.
 */
import { formatTime, timeToMs } from '../../text/time/time.js';
import { podCondition, type StoredPod } from '../workloads/pod-state.js';
import type { StoredService } from './pod-services.js';

interface Seen {
  readonly service: number;
  readonly pods: ReadonlyMap<string, number>;
}

export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();

  /** Notes the state of a service and says what the annotation should hold; undefined: it goes. */
  next(key: string, service: StoredService, pods: readonly StoredPod[]): string | undefined {
    const before = this.#seen.get(key);
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
    this.#seen.set(key, { service: created, pods: times });
    if (before === undefined) return formatTime(created);
    return earliest === Infinity ? undefined : formatTime(earliest);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}
