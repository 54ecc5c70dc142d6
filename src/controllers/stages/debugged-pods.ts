/**
 * Simulates ephemeral containers, which `kubectl debug` adds to a running pod: kubelet starts them beside the others. They do
 * not affect the readiness of the pod and are never restarted.
 */
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ContainerStatusInput } from '../../kinds/generated/core-v1.js';
import { copyJson } from '../../util/json.js';
import type { StoredPod } from '../workloads/pod-state.js';
import { isOnStoppedNode, nodesAffect } from './node-leases.js';
import { containerStartEvents } from './pod-events.js';
import { containerStatus } from './pod-parts.js';
import { KUBELET, livePods, type PodSelection, selection } from './pod-selection.js';
import { type Stage, stage } from './stage.js';

/** Starts the ephemeral containers of running pods. */
export function debuggedPods(options: PodSelection = {}): Stage {
  const isLive = livePods(selection(options));
  return stage({
    name: 'debugged',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    when: (pod, context) =>
      pod.status.phase === 'Running' &&
      isLive(pod) &&
      waitingContainers(pod).length > 0 &&
      !isOnStoppedNode(pod, context),
    watches: [nodesAffect((pod) => waitingContainers(pod).length > 0)],
    set: (pod, { now }) => {
      const { ephemeralContainerStatuses: before = [] } = pod.status;
      const state = { running: { startedAt: now() } };
      const started = waitingContainers(pod).map((container) => {
        // No probe applies to an ephemeral container, so kubelet does not report it as ready or started.
        const { started: _probed, ...status } = containerStatus(pod, container, { state, isReady: false, restarts: 0 });
        return status;
      });
      return {
        status: {
          ephemeralContainerStatuses: [...before.map((each) => copyJson(each) as ContainerStatusInput), ...started],
        },
      };
    },
    event: (pod) => waitingContainers(pod).flatMap((container) => containerStartEvents(pod, container)),
  });
}

/** The ephemeral containers without a status. */
function waitingContainers({ spec, status }: StoredPod) {
  const { ephemeralContainerStatuses: known = [] } = status;
  return (spec.ephemeralContainers ?? []).filter(({ name }) => !known.some((each) => each.name === name));
}
