/**
 * Delays the ends of pods that their node does not keep: an eviction because of a taint, or a rejection. Their owner replaces them
 * at once, perhaps on the same node.
 */
import { controllerOf, type HasMetadata } from './owners.js';

interface OwnerEnd {
  /** The time of the last or the next end of its pods. */
  readonly atMs: number;
  readonly delayMs: number;
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 5 * 60_000;
/** An owner is forgotten after this time without ends. */
const EXPIRY_MS = 2 * MAX_DELAY_MS;

/** The first pod of an owner is ended at once, the others at times with growing distances. */
export class OwnerBackoff {
  /** By namespace and uid: pods of another namespace may refer to the uid. */
  readonly #owners = new Map<string, OwnerEnd>();

  /** The remaining delay of a pod's end; none without an owner. The delay of those after it is twice as long. */
  waitMs(pod: HasMetadata, nowMs: number): number {
    const controller = controllerOf(pod);
    if (controller === undefined) return 0;
    const owner = `${pod.metadata.namespace}/${controller.uid}`;
    this.#forgetOld(nowMs);
    const last = this.#owners.get(owner);
    if (last !== undefined && last.atMs > nowMs) return last.atMs - nowMs;
    const waitMs = last?.delayMs ?? 0;
    const delayMs = last === undefined ? FIRST_DELAY_MS : Math.min(2 * last.delayMs, MAX_DELAY_MS);
    // Inserted again, so that the oldest owners are first.
    this.#owners.delete(owner);
    this.#owners.set(owner, { atMs: nowMs + waitMs, delayMs });
    return waitMs;
  }

  #forgetOld(nowMs: number): void {
    for (const [owner, { atMs }] of this.#owners) {
      if (nowMs - atMs < EXPIRY_MS) return;
      this.#owners.delete(owner);
    }
  }
}
