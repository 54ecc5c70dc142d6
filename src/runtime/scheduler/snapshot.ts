/**
 * The state of the cluster that one scheduling decision reads: nodes with the pods on them, pods that are nominated to a
 * node, and access to all other objects.
 */
import type { StoredNode } from '../../controllers/workloads/daemon-set/placement.js';
import { isPodFinished, type StoredPod } from '../../controllers/workloads/pod-state.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { Kind, ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { Labels } from '../../meta/labels.js';
import { getOrInsertComputed } from '../../util/once.js';
import { compareText } from '../../util/order.js';
import { type AffinityTerms, affinityTermsOf } from './affinity-terms.js';
import { assumedRequests, podRequests, type ResourceAmounts, readResources } from './resources.js';

export type { StoredNode, StoredPod };

/** A pod with the values that are computed once for it. */
export interface PodInfo {
  readonly pod: StoredPod;
  readonly priority: number;
  readonly requests: ResourceAmounts;
  /** Requests with defaults, for scores. */
  readonly assumed: ResourceAmounts;
  readonly ports: readonly HostPort[];
  readonly terms: AffinityTerms;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const infos = new WeakMap<StoredPod, PodInfo>();

/** Stored objects never change, so the information is kept with the object. */
export function podInfoOf(pod: StoredPod): PodInfo {
  let info = infos.get(pod);
  if (info === undefined) {
    info = {
      pod,
      priority: pod.spec.priority ?? 0,
      requests: podRequests(pod),
      assumed: assumedRequests(pod),
      ports: hostPortsOf(pod),
      terms: affinityTermsOf(pod),
    };
    infos.set(pod, info);
  }
  return info;
}

const ALL_ADDRESSES = '0.0.0.0';

/** The ports on the host of all containers that run as long as the pod. */
function hostPortsOf({ spec }: StoredPod): readonly HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...spec.containers].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostIP = '', protocol = 'TCP', hostPort = 0 }) =>
      hostPort > 0 ? [{ ip: hostIP === '' ? ALL_ADDRESSES : hostIP, protocol, port: hostPort }] : [],
    ),
  );
}

/** A test whether another pod on the node uses one of the ports. A pod may have tens of thousands. */
export function portConflicts(wanted: readonly HostPort[]): (other: HostPort) => boolean {
  const addresses = new Map<string, Set<string>>();
  const keyOf = ({ protocol, port }: HostPort) => `${protocol}/${port}`;
  for (const each of wanted) getOrInsertComputed(addresses, keyOf(each), () => new Set()).add(each.ip);
  return (other) => {
    const used = addresses.get(keyOf(other));
    return used !== undefined && (other.ip === ALL_ADDRESSES || used.has(other.ip) || used.has(ALL_ADDRESSES));
  };
}

/** A node with the pods on it and the sums of their requests. */
export class NodeInfo {
  readonly node: StoredNode;
  readonly name: string;
  readonly labels: Labels;
  readonly allocatable: ResourceAmounts;
  readonly #requested = new Map<string, number>();
  readonly #assumed = new Map<string, number>();
  #pods: PodInfo[] = [];

  constructor(node: StoredNode, pods: readonly PodInfo[] = []) {
    this.node = node;
    this.name = node.metadata.name;
    this.labels = node.metadata.labels ?? {};
    this.allocatable = readResources(node.status.allocatable);
    for (const pod of pods) this.add(pod);
  }

  get pods(): readonly PodInfo[] {
    return this.#pods;
  }

  /** The sum of the requests of the pods. */
  requested(resource: string): number {
    return this.#requested.get(resource) ?? 0;
  }

  /** The sum of the requests with defaults. */
  assumed(resource: string): number {
    return this.#assumed.get(resource) ?? 0;
  }

  add(pod: PodInfo): void {
    this.#pods.push(pod);
    this.#count(pod, 1);
  }

  remove(pod: PodInfo): void {
    this.#pods = this.#pods.filter((each) => each !== pod);
    this.#count(pod, -1);
  }

  clone(): NodeInfo {
    return new NodeInfo(this.node, this.#pods);
  }

  #count({ requests, assumed }: PodInfo, sign: 1 | -1): void {
    for (const [name, amount] of requests) this.#requested.set(name, this.requested(name) + sign * amount);
    for (const [name, amount] of assumed) this.#assumed.set(name, this.assumed(name) + sign * amount);
  }
}

/** Reads objects of any kind. Kinds that the cluster does not serve have no objects. */
export interface ObjectReader {
  get<AnyKind extends Kind>(kind: AnyKind, name: string, namespace?: string): ObjectOf<AnyKind> | undefined;
  list<AnyKind extends Kind>(kind: AnyKind, namespace?: string): readonly ObjectOf<AnyKind>[];
}

export interface ImageState {
  readonly size: number;
  /** The number of nodes that have the image. */
  nodes: number;
}

export interface SnapshotParts {
  readonly nodes: Iterable<NodeInfo>;
  /** Pods without node, of which those with a nominated node count. */
  readonly pending: Iterable<StoredPod>;
  /** The images of the nodes, if they are known. */
  readonly images?: ReadonlyMap<string, ImageState> | undefined;
  readonly objects: ObjectReader;
  readonly dialect: Dialect;
  /** Undefined: those of the release. */
  readonly features: FeatureGates | undefined;
  readonly nowMs: number;
}

export interface Snapshot extends Pick<SnapshotParts, 'objects' | 'dialect' | 'features' | 'nowMs'> {
  /** Sorted by name. */
  readonly nodes: readonly NodeInfo[];
  readonly nodesByName: ReadonlyMap<string, NodeInfo>;
  readonly images: ReadonlyMap<string, ImageState>;
  /** The pods that are nominated to a node, by its name. */
  readonly nominated: ReadonlyMap<string, readonly PodInfo[]>;
}

export function createSnapshot({ nodes, pending, images, ...rest }: SnapshotParts): Snapshot {
  const sorted = [...nodes].sort((left, right) => compareText(left.name, right.name));
  const nominated = new Map<string, PodInfo[]>();
  for (const pod of pending) {
    const { nominatedNodeName = '' } = pod.status;
    if (nominatedNodeName === '') continue;
    getOrInsertComputed(nominated, nominatedNodeName, () => []).push(podInfoOf(pod));
  }
  return {
    ...rest,
    nodes: sorted,
    nodesByName: new Map(sorted.map((node) => [node.name, node])),
    images: images ?? imageStates(sorted),
    nominated,
  };
}

/** Pods that the scheduler considers: finished ones use nothing. */
export function isConsidered(pod: StoredPod): boolean {
  return !isPodFinished(pod);
}

/** The images of all nodes, by name. */
export function imageStates(nodes: Iterable<NodeInfo>): Map<string, ImageState> {
  const states = new Map<string, ImageState>();
  for (const { node } of nodes) {
    const names = new Map(
      (node.status.images ?? []).flatMap(({ names: list = [], sizeBytes = 0 }) =>
        list.map((name) => [name, sizeBytes]),
      ),
    );
    for (const [name, size] of names)
      getOrInsertComputed(states, name, () => ({ size: Number(size), nodes: 0 })).nodes++;
  }
  return states;
}
