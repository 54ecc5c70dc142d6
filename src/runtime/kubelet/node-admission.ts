/**
 * Decides whether a node admits a pod that was assigned to it.
 * upstream: pkg/kubelet/lifecycle/predicate.go
 */

import { matchesTerm, type StoredNode } from '../../controllers/workloads/daemon-set/placement.js';
import { isPodFinished, type StoredPod } from '../../controllers/workloads/pod-state.js';
import { Quantity } from '../../meta/quantity.js';

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'] as const;

export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** Why the node rejects the pod; undefined: it admits it. `onNode` are the pods that are assigned to the node. */
export function rejectionOf(pod: StoredPod, node: StoredNode, onNode: readonly StoredPod[]): Rejection | undefined {
  const { allocatable } = node.status;
  if (allocatable === undefined) return undefined;
  const others = onNode.filter(
    (each) => each.metadata.uid !== pod.metadata.uid && !isPodFinished(each) && isOlder(each, pod),
  );
  const lacking = (resource: string, requested: bigint, used: bigint, capacity: bigint) => ({
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  });
  const pods = Quantity.parse(allocatable['pods'] ?? '110').value();
  if (BigInt(others.length) + 1n > pods) return lacking('pods', 1n, BigInt(others.length), pods);
  const wanted = new Set(hostPortsOf(pod));
  if (wanted.size > 0 && others.some((each) => hostPortsOf(each).some((port) => wanted.has(port)))) {
    return unmet('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  }
  if (!matchesNode(pod, node)) return unmet('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  for (const resource of COMPUTE) {
    const requested = requestOf(pod, resource);
    const capacity = amount(resource, allocatable[resource] ?? '0');
    const used = others.reduce((sum, each) => sum + requestOf(each, resource), 0n);
    if (requested > 0n && used + requested > capacity) return lacking(resource, requested, used, capacity);
  }
  return undefined;
}

function unmet(reason: string, why: string) {
  return { reason, message: `Predicate ${reason} failed: ${why}` };
}

/** `protocol/port` of the ports that the pod uses on its node. */
function hostPortsOf({ spec }: StoredPod): readonly string[] {
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, protocol = 'TCP', hostIP = '' }) =>
      hostPort === 0 ? [] : [`${protocol}/${hostIP}/${hostPort}`],
    ),
  );
}

function matchesNode({ spec }: StoredPod, { metadata }: StoredNode): boolean {
  const { labels = {}, name } = metadata;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return (
    Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value) &&
    (terms === undefined || terms.some((term) => matchesTerm(term, name, labels)))
  );
}

/** Pods that were admitted before. */
function isOlder(other: StoredPod, { metadata }: StoredPod): boolean {
  return other.status.startTime != null || Number(other.metadata.resourceVersion) < Number(metadata.resourceVersion);
}

/** The request of a pod: the sum of its containers and sidecars, or that of its largest init container. */
function requestOf({ spec }: StoredPod, resource: string): bigint {
  const of = ({ resources }: { readonly resources?: { readonly requests?: Readonly<Record<string, string>> } }) =>
    amount(resource, resources?.requests?.[resource] ?? '0');
  let sidecars = 0n;
  let largestInit = 0n;
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') sidecars += of(container);
    else largestInit = max(largestInit, sidecars + of(container));
  }
  const running = spec.containers.reduce((sum, container) => sum + of(container), sidecars);
  return max(running, largestInit) + amount(resource, spec.overhead?.[resource] ?? '0');
}

function amount(resource: string, text: string): bigint {
  const quantity = Quantity.parse(text);
  return resource === 'cpu' ? quantity.milliValue() : quantity.value();
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
