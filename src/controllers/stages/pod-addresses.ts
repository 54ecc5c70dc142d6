/**
 * Addresses for pods: no two pods of a cluster have the same.
 */
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Lookup } from '../runtime/shared-informer.js';
import type { StoredPod } from '../workloads/pod-state.js';
import type { StageContext } from './stage.js';

/** 10.244.0.0/16, the first and the last address of which are nobody's. */
const ADDRESSES = 2 ** 16 - 2;

export class PodAddresses {
  readonly #inUse: Lookup<StoredPod>;
  #last = 0;

  constructor({ informer }: Pick<StageContext, 'informer'>) {
    this.#inUse = informer(Pod).index('podIP', ({ status }) => (status.podIP === undefined ? [] : [status.podIP]));
  }

  /** One that no pod has. It is the caller's from now on. */
  take(): string {
    for (let tries = 0; tries < ADDRESSES; tries++) {
      this.#last = (this.#last % ADDRESSES) + 1;
      const address = `10.244.${this.#last >> 8}.${this.#last & 255}`;
      if (this.#inUse(address).length === 0) return address;
    }
    throw new RangeError(`orchplane: all ${ADDRESSES} addresses of pods are taken`);
  }
}
