/**
 * Simulates the heartbeat of kubelets: each node has a Lease in kube-node-lease that is renewed, so that the node lifecycle
 * controller does not take the node for lost.
 */
import { Lease } from '../../kinds/coordination/v1/lease.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { formatMicroTime, timeToMs } from '../../text/time/time.js';
import type { Clock } from '../../util/clock.js';
import { watching } from '../define-controller.js';
import { NODE_LEASES, type StoredLease } from '../node-lifecycle/node-health.js';
import { ignoreAlreadyExists } from '../runtime/expected-errors.js';
import type { StoredNode } from '../workloads/daemon-set/placement.js';
import { isTerminating, type StoredPod } from '../workloads/pod-state.js';
import { KUBELET } from './pod-selection.js';
import { type Stage, type StageContext, stage } from './stage.js';

/** The annotation of a node whose kubelet does not run. */
const KUBELET_ANNOTATION = 'orchplane/kubelet';
const STOPPED = 'stopped';

/** The duration of a kubelet's Lease. */
const LEASE_SECONDS = 40;
/**
 * The duration on a clock that a test controls. With the usual one, a simulated week would take 60,000 renewals per node.
 * The node lifecycle controller waits for the end of a Lease that is longer than its grace period.
 */
const CONTROLLED_LEASE_SECONDS = 86_400;
/** A Lease is renewed after this fraction of its duration. */
const RENEWED_AFTER = 0.25;

/** Whether the annotation `orchplane/kubelet: stopped` says that nothing runs on the node. */
export function isKubeletStopped(node: StoredNode | undefined): boolean {
  return node?.metadata.annotations?.[KUBELET_ANNOTATION] === STOPPED;
}

/** Whether the pod is on such a node: it does not start, and is not removed when it is deleted. */
export function isOnStoppedNode({ spec }: StoredPod, { serves, informer }: StageContext): boolean {
  return spec.nodeName !== undefined && serves(Node) && isKubeletStopped(informer(Node).get(spec.nodeName));
}

/** Queues the pods of a node that wait for its kubelet. */
export function nodesAffect(isWaiting: (pod: StoredPod) => boolean) {
  return watching(Node, ({ metadata }, { informer }) =>
    informer(Pod)
      .index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []))(metadata.name)
      .filter(isWaiting),
  );
}

/** Queues the pods of a node that wait for its kubelet to start or to end. */
export const nodesAffectWaitingPods = nodesAffect(
  (pod) => isTerminating(pod) || (pod.status.phase ?? 'Pending') === 'Pending',
);

function leaseSeconds({ clock }: { readonly clock: Clock }): number {
  return clock.join === undefined ? LEASE_SECONDS : CONTROLLED_LEASE_SECONDS;
}

const created = stage({
  name: 'leased',
  kind: Node,
  optional: true,
  fieldManager: KUBELET,
  watches: [watching(Lease, ({ metadata }) => (metadata.namespace === NODE_LEASES ? [metadata.name] : []))],
  when: (node, { serves, informer }) =>
    serves(Lease) &&
    !isKubeletStopped(node) &&
    node.metadata.deletionTimestamp === undefined &&
    informer(Lease).get(node.metadata.name, NODE_LEASES) === undefined,
  run: async ({ metadata: { name, uid } }, context) => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    const write = context.client.api(Lease, NODE_LEASES).create({
      metadata: { name, ownerReferences },
      spec: {
        holderIdentity: name,
        leaseDurationSeconds: leaseSeconds(context),
        renewTime: formatMicroTime(context.clock.now()),
      },
    });
    await ignoreAlreadyExists(write);
  },
});

const nodesAffectTheirLease = watching(Node, ({ metadata }) => [{ namespace: NODE_LEASES, name: metadata.name }]);

const renewed = stage({
  name: 'renewed',
  kind: Lease,
  optional: true,
  fieldManager: KUBELET,
  watches: [nodesAffectTheirLease],
  when: (lease, context) => {
    const node = nodeOf(lease, context);
    return node !== undefined && !isKubeletStopped(node);
  },
  after: ({ spec: { renewTime, leaseDurationSeconds = 0 } }, { clock }) =>
    renewTime ? timeToMs(renewTime) + leaseDurationSeconds * 1_000 * RENEWED_AFTER - clock.now() : 0,
  set: (_lease, context) => ({
    spec: { renewTime: formatMicroTime(context.clock.now()), leaseDurationSeconds: leaseSeconds(context) },
  }),
});

/** The last heartbeat of a kubelet that stops. Without it, a Lease of a day would hide the failure. */
const shortened = stage({
  name: 'shortened',
  kind: Lease,
  optional: true,
  fieldManager: KUBELET,
  when: (lease, context) =>
    isKubeletStopped(nodeOf(lease, context)) && (lease.spec.leaseDurationSeconds ?? 0) > LEASE_SECONDS,
  set: (_lease, { clock }) => ({
    spec: { renewTime: formatMicroTime(clock.now()), leaseDurationSeconds: LEASE_SECONDS },
  }),
});

/** Stages that create and renew the Leases of nodes. */
export const leaseStages: readonly Stage[] = Object.freeze([created, shortened, renewed]);

function nodeOf({ metadata }: StoredLease, { informer, serves }: StageContext): StoredNode | undefined {
  return metadata.namespace === NODE_LEASES && serves(Node) ? informer(Node).get(metadata.name) : undefined;
}
