/**
 * The addresses of the pods that the kubelet runs. The status of a pod is not a source for them: authors of pods can write it.
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import { keyOf, type SharedInformer } from '../../controllers/runtime/shared-informer.js';
import { isBound, isPodAddress, PodAddresses } from '../../controllers/stages/pod-selection.js';
import { isPodFinished, type StoredPod } from '../../controllers/workloads/pod-state.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { parseIp, printIp } from '../../meta/ip.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { AddressTable } from '../network/types.js';

const NONE: readonly never[] = Object.freeze([]);

export class AssignedAddresses implements AddressTable {
  readonly #pods: SharedInformer<typeof Pod>;
  /** By uid. */
  readonly #addresses = new Map<string, string>();
  /** The keys of pods by address and uid: pods in the network of a node share its address. */
  readonly #keys = new Map<string, Map<string, string>>();
  readonly #free = new PodAddresses((address) => this.#keys.has(address));

  constructor({ informer }: Pick<ControllerContext, 'informer'>) {
    this.#pods = informer(Pod);
  }

  /**
   * Adopts the addresses of pods that ran before this runtime started, for example in the cluster that this one is a fork of.
   * Of an address that several pods claim, it is not known who had it.
   */
  adopt(): void {
    const claimed = new Map<string, StoredPod[]>();
    for (const pod of this.#pods.list()) {
      if (ranBefore(pod)) getOrInsertComputed(claimed, pod.status.podIP ?? '', () => []).push(pod);
    }
    for (const [address, [pod, ...others]] of claimed) {
      if (pod !== undefined && others.length === 0) this.#assign(pod, address);
    }
  }

  /** Assigns an address that no pod has. `address`: that of the node. A pod keeps what it was assigned first. */
  assign(pod: StoredPod, address?: string): string {
    return this.#addresses.get(pod.metadata.uid) ?? this.#assign(pod, address ?? this.#free.take());
  }

  release({ metadata: { uid } }: Pick<StoredPod, 'metadata'>): void {
    const address = this.#addresses.get(uid);
    if (address === undefined) return;
    this.#addresses.delete(uid);
    const keys = this.#keys.get(address);
    keys?.delete(uid);
    if (keys?.size === 0) this.#keys.delete(address);
  }

  of({ metadata }: StoredPod): readonly string[] {
    const address = this.#addresses.get(metadata.uid);
    return address === undefined ? NONE : [address];
  }

  podsAt(address: string): readonly StoredPod[] {
    const pods: StoredPod[] = [];
    for (const [uid, key] of this.#keys.get(address) ?? NONE) {
      const pod = this.#pods.at(key);
      if (pod?.metadata.uid === uid && !isPodFinished(pod)) pods.push(pod);
    }
    return pods;
  }

  #assign(pod: StoredPod, address: string): string {
    const { uid } = pod.metadata;
    this.#addresses.set(uid, address);
    getOrInsertComputed(this.#keys, address, () => new Map<string, string>()).set(uid, keyOf(pod));
    return address;
  }
}

/** Whether the status can be that of a kubelet. The addresses of pods in the host's network are those of nodes. */
function ranBefore(pod: StoredPod): boolean {
  const { podIP = '', startTime, containerStatuses = [] } = pod.status;
  const ip = parseIp(podIP);
  return (
    isBound(pod) &&
    !isPodFinished(pod) &&
    pod.spec.hostNetwork !== true &&
    startTime != null &&
    containerStatuses.some(({ containerID }) => containerID) &&
    ip !== undefined &&
    printIp(ip) === podIP &&
    isPodAddress(podIP)
  );
}
