/**
 * The Events that kube-scheduler and kubelet record about a pod, with the reasons, messages and sources of the reference.
 * upstream: pkg/scheduler/schedule_one.go, pkg/kubelet/kuberuntime/kuberuntime_container.go, pkg/kubelet/images/image_manager.go
 */
import { formatDuration } from '../../text/time/duration.js';
import { hexDigitsFromText } from '../../util/ids.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { StoredPod } from '../workloads/pod-state.js';
import type { StageEvent } from './stage.js';

type Container = Pick<StoredPod['spec']['containers'][number], 'name' | 'image' | 'imagePullPolicy'>;

const SCHEDULER = 'default-scheduler';
const KUBELET_COMPONENT = 'kubelet';
/** The API limits the message of an Event with an action to this length. */
const MAX_NOTE = 1024;

export function scheduledEvent({ metadata }: StoredPod, nodeName: string): StageEvent {
  const message = `Successfully assigned ${metadata.namespace}/${metadata.name} to ${nodeName}`;
  return { type: 'Normal', reason: 'Scheduled', message, component: SCHEDULER, action: 'Binding' };
}

export function failedSchedulingEvent(message: string): StageEvent {
  const note = message.length <= MAX_NOTE ? message : `${message.slice(0, MAX_NOTE - 4)} ...`;
  return {
    type: 'Warning',
    reason: 'FailedScheduling',
    message: note,
    component: SCHEDULER,
    action: 'Scheduling',
  };
}

/** An Event of the pod's kubelet about the pod. */
export function kubeletEvent(
  { spec }: StoredPod,
  event: Pick<StageEvent, 'type' | 'reason' | 'message' | 'fieldPath'>,
): StageEvent {
  return { ...event, component: KUBELET_COMPONENT, host: spec.nodeName };
}

/** How the image of a container reaches the node. */
export interface ImagePull {
  /** The pull took this time. Absent: the image is present, unless the pull policy is Always, and the pull takes no time. */
  readonly tookMs?: number | undefined;
}

/** The Events of all containers that start with the pod: init containers first, then the others. */
export function startEvents(pod: StoredPod, pull: ImagePull = {}): readonly StageEvent[] {
  const { containers, initContainers = [] } = pod.spec;
  return [...initContainers, ...containers].flatMap((container) => containerStartEvents(pod, container, pull));
}

/** Pulled, Created and Started of one container. */
export function containerStartEvents(
  pod: StoredPod,
  container: Container,
  pull: ImagePull = {},
): readonly StageEvent[] {
  const { name } = container;
  return [
    ...pullEvents(pod, container, pull),
    containerEvent(pod, name, { reason: 'Created', message: `Created container: ${name}` }),
    containerEvent(pod, name, { reason: 'Started', message: `Started container ${name}` }),
  ];
}

/** The Events of pulls that have begun and take some time. */
export function pullingEvents(pod: StoredPod): readonly StageEvent[] {
  const { containers, initContainers = [] } = pod.spec;
  return [...initContainers, ...containers].map(({ name, image }) =>
    containerEvent(pod, name, { reason: 'Pulling', message: `Pulling image "${image}"` }),
  );
}

/** The Events of containers that are stopped: those that run. */
export function killingEvents(pod: StoredPod): readonly StageEvent[] {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status;
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses]
    .filter(({ state }) => state.running !== undefined)
    .map(({ name }) => containerEvent(pod, name, { reason: 'Killing', message: `Stopping container ${name}` }));
}

/** A Normal Event about a container, unless another type is given. */
export function containerEvent(
  pod: StoredPod,
  container: string,
  { type = 'Normal', ...event }: Pick<StageEvent, 'reason' | 'message'> & Partial<Pick<StageEvent, 'type'>>,
): StageEvent {
  const list = getOrInsertComputed(listsOf, pod.spec, listsByName).get(container) ?? 'containers';
  return kubeletEvent(pod, { type, ...event, fieldPath: `spec.${list}{${container}}` });
}

/** By name of the container: the list that contains it. A pod may have ten thousand containers. */
const listsOf = new WeakMap<StoredPod['spec'], ReadonlyMap<string, string>>();

function listsByName({
  initContainers = [],
  ephemeralContainers = [],
}: StoredPod['spec']): ReadonlyMap<string, string> {
  return new Map([
    ...ephemeralContainers.map(({ name }) => [name, 'ephemeralContainers'] as const),
    ...initContainers.map(({ name }) => [name, 'initContainers'] as const),
  ]);
}

function pullEvents(pod: StoredPod, container: Container, { tookMs }: ImagePull): readonly StageEvent[] {
  const { name, image = '', imagePullPolicy } = container;
  if (tookMs !== undefined) return [pulledEvent(pod, container, tookMs)];
  if (imagePullPolicy === 'Always') {
    const message = `Pulling image "${image}"`;
    return [containerEvent(pod, name, { reason: 'Pulling', message }), pulledEvent(pod, container, 0)];
  }
  const message = `Container image "${image}" already present on machine`;
  return [containerEvent(pod, name, { reason: 'Pulled', message })];
}

function pulledEvent(pod: StoredPod, { name, image = '' }: Container, tookMs: number): StageEvent {
  const time = formatDuration(BigInt(Math.max(0, Math.round(tookMs))) * 1_000_000n);
  const message = `Successfully pulled image "${image}" in ${time} (${time} including waiting). Image size: ${imageSize(image)} bytes.`;
  return containerEvent(pod, name, { reason: 'Pulled', message });
}

/** A size between 16 and 272 MB that depends only on the name. */
function imageSize(image: string): number {
  return 16_000_000 + (Number.parseInt(hexDigitsFromText(image).slice(0, 7), 16) % 256_000_000);
}
