/**
 * Simulates the in-place resize of pods: kubelet allocates the changed resources of a running container and restarts it if
 * its resize policy asks for that. No node runs out of resources, so a resize never waits.
 */
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ContainerStatusInput } from '../../kinds/generated/core-v1.js';
import { copyJson, deepEqual } from '../../util/json.js';
import type { StoredPod } from '../workloads/pod-state.js';
import { isOnStoppedNode, nodesAffect } from './node-leases.js';
import { containerEvent, containerStartEvents } from './pod-events.js';
import { allocatedTo, containerStatus, terminated } from './pod-parts.js';
import { KUBELET, livePods, type PodSelection, selection } from './pod-selection.js';
import { type Stage, type StageEvent, stage } from './stage.js';

type Container = StoredPod['spec']['containers'][number];
type StoredStatus = NonNullable<StoredPod['status']['containerStatuses']>[number];

/** Containers are killed by SIGKILL. */
const KILLED = 137;

/** Updates the resources in the status of running containers whose spec was resized. */
export function resizedPods(options: PodSelection = {}): Stage {
  const isLive = livePods(selection(options));
  return stage({
    name: 'resized',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    when: (pod, context) =>
      pod.status.phase === 'Running' && isLive(pod) && resizesOf(pod).length > 0 && !isOnStoppedNode(pod, context),
    watches: [nodesAffect((pod) => resizesOf(pod).length > 0)],
    set: (pod, { now }) => {
      const { containerStatuses = [], initContainerStatuses } = pod.status;
      const resized = (status: StoredStatus) => statusAfterResize(pod, status, now());
      return {
        status: {
          containerStatuses: containerStatuses.map(resized),
          ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: initContainerStatuses.map(resized) }),
        },
      };
    },
    event: (pod) =>
      resizesOf(pod)
        .filter(needsRestart)
        .flatMap(({ container }) => restartEvents(pod, container)),
  });
}

interface Resize {
  readonly container: Container;
  readonly status: StoredStatus;
}

/** The running containers whose status has other resources than their spec. Servers without resize store none there. */
function resizesOf({ spec, status }: StoredPod): readonly Resize[] {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  return [...containerStatuses, ...initContainerStatuses].flatMap((each) => {
    const container = containers.find(({ name }) => name === each.name);
    if (container === undefined || each.state.running === undefined || each.resources === undefined) return [];
    return isReported(container, each) ? [] : [{ container, status: each }];
  });
}

function isReported(container: Container, { resources }: StoredStatus): boolean {
  return deepEqual(allocatedTo(container).resources, {
    ...(resources?.limits === undefined ? {} : { limits: resources.limits }),
    ...(resources?.requests === undefined ? {} : { requests: resources.requests }),
  });
}

/** Whether a resource changes for which the container's policy is RestartContainer. */
function needsRestart({ container, status }: Resize): boolean {
  return (container.resizePolicy ?? []).some(({ resourceName, restartPolicy }) => {
    if (restartPolicy !== 'RestartContainer') return false;
    return (['limits', 'requests'] as const).some(
      (list) => container.resources?.[list]?.[resourceName] !== status.resources?.[list]?.[resourceName],
    );
  });
}

function statusAfterResize(pod: StoredPod, status: StoredStatus, now: string): ContainerStatusInput {
  const before = copyJson(status) as ContainerStatusInput;
  const resize = resizesOf(pod).find(({ container }) => container.name === status.name);
  if (resize === undefined) return before;
  const { container } = resize;
  if (!needsRestart(resize)) {
    const { allocatedResources: _before, ...rest } = before;
    return { ...rest, ...allocatedTo(container) };
  }
  const restarted = containerStatus(pod, container, {
    state: { running: { startedAt: now } },
    isReady: true,
    restarts: status.restartCount + 1,
  });
  const { terminated: ended } = terminated(KILLED, status.state.running?.startedAt ?? now, now);
  const lastState = ended === undefined ? {} : { terminated: { ...ended, containerID: status.containerID ?? '' } };
  return { ...restarted, lastState };
}

function restartEvents(pod: StoredPod, container: Container): readonly StageEvent[] {
  const message = `Container ${container.name} resize requires restart`;
  return [containerEvent(pod, container.name, { reason: 'Killing', message }), ...containerStartEvents(pod, container)];
}
