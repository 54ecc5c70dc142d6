/**
 * The order in which pods are scheduled: by priority, then by the time at which they were added. Pods that did not fit
 * anywhere wait for a change that may help them, and then come after pods that did not fail yet.
 * upstream: pkg/scheduler/backend/queue/scheduling_queue.go
 */
import type { Backoff } from '../../controllers/runtime/work-queue.js';
import { Heap } from '../../util/heap.js';

interface QueuedPod {
  readonly key: string;
  readonly uid: string;
  priority: number;
  /** The number of failed attempts. */
  attempts: number;
  /** `running`: it is being scheduled. `waiting`: for a change. */
  state: 'active' | 'backoff' | 'running' | 'waiting';
  /** The plugins that rejected it; empty: any change may help. */
  plugins: ReadonlySet<string>;
  /** The end of the backoff after the last failure. */
  retryMs: number;
  /** A change that may help happened while it was being scheduled: the plugins that it concerns. */
  readonly missed: Set<string>;
}

/** An entry of a heap. It is stale if the pod is no longer in that state. */
interface HeapEntry {
  readonly pod: QueuedPod;
  readonly attempts: number;
}

export class PodQueue {
  readonly #backoff: Backoff;
  readonly #pods = new Map<string, QueuedPod>();
  #active = new Heap<HeapEntry>(({ pod }) => -pod.priority);
  #retries = new Heap<HeapEntry>(({ pod }) => pod.retryMs);

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  /** Adds a new pod. A pod that was added already keeps its state. */
  add(key: string, { uid, priority }: { readonly uid: string; readonly priority: number }): void {
    if (this.#pods.get(key)?.uid === uid) return;
    const pod: QueuedPod = {
      key,
      uid,
      priority,
      attempts: 0,
      state: 'active',
      plugins: new Set(),
      retryMs: 0,
      missed: new Set(),
    };
    this.#pods.set(key, pod);
    this.#active.push({ pod, attempts: 0 });
  }

  delete(key: string): void {
    this.#pods.delete(key);
  }

  /** The next pod to schedule. It stays in the queue until it is deleted or has failed. */
  next(): string | undefined {
    const entry = this.#take(this.#active, 'active') ?? this.#take(this.#retries, 'backoff');
    if (entry === undefined) return undefined;
    entry.state = 'running';
    entry.missed.clear();
    return entry.key;
  }

  /**
   * The pod did not fit. It waits for a change that concerns one of the plugins. Returns true if there was one already
   * while it was being scheduled.
   */
  failed(key: string, plugins: ReadonlySet<string>, nowMs: number): boolean {
    const pod = this.#pods.get(key);
    if (pod === undefined) return false;
    this.#countFailure(pod, nowMs);
    pod.state = 'waiting';
    pod.plugins = plugins;
    return helps(pod.missed, pod) && this.#retry(pod);
  }

  /** The attempt ended with an error. Returns the delay after which `retry` must be called. */
  erred(key: string, nowMs: number): number {
    const pod = this.#pods.get(key);
    if (pod === undefined) return 0;
    this.#countFailure(pod, nowMs);
    pod.state = 'waiting';
    pod.plugins = new Set();
    return pod.retryMs - nowMs;
  }

  /** Queues a pod that waits, after a change of the pod itself or after an error. Returns whether it waited. */
  retry(key: string): boolean {
    const pod = this.#pods.get(key);
    if (pod?.state === 'running') pod.missed.add(ANY_PLUGIN);
    return pod?.state === 'waiting' && this.#retry(pod);
  }

  /** Queues all waiting pods that a change may help. Returns whether there are any. */
  changed(plugins: ReadonlySet<string>): boolean {
    let hasRetries = false;
    for (const pod of this.#pods.values()) {
      if (pod.state === 'running') for (const plugin of plugins) pod.missed.add(plugin);
      if (pod.state !== 'waiting' || !helps(plugins, pod)) continue;
      hasRetries = this.#retry(pod) || hasRetries;
    }
    return hasRetries;
  }

  #countFailure(pod: QueuedPod, nowMs: number): void {
    const { firstMs, longestMs } = this.#backoff;
    pod.retryMs = nowMs + Math.min(firstMs * 2 ** pod.attempts, longestMs);
    pod.attempts++;
  }

  #retry(pod: QueuedPod): true {
    pod.state = 'backoff';
    this.#retries.push({ pod, attempts: pod.attempts });
    return true;
  }

  #take(heap: Heap<HeapEntry>, state: QueuedPod['state']): QueuedPod | undefined {
    for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
      const { pod, attempts } = entry;
      if (this.#pods.get(pod.key) === pod && pod.state === state && pod.attempts === attempts) return pod;
    }
    return undefined;
  }
}

/** Stands for all plugins in `missed`. */
const ANY_PLUGIN = '';

function helps(changed: ReadonlySet<string>, { plugins }: QueuedPod): boolean {
  if (changed.size === 0) return false;
  return plugins.size === 0 || changed.has(ANY_PLUGIN) || [...plugins].some((plugin) => changed.has(plugin));
}
