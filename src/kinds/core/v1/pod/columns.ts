/**
 * Table columns of pods: ready containers, the reason for the current state, restarts.
 */
import { timeToMs } from '../../../../text/time/time.js';
import { own } from '../../../../util/json.js';
import type { CellContext, Column, RowCondition } from '../../../columns.js';
import type { ContainerState, ContainerStatus } from '../../../generated/core-v1.js';
import { ageColumn, NONE, nameColumn, since, textColumn } from '../../../shared/common-columns.js';
import { findCondition } from './conditions.js';
import type { Pod } from './pod.js';

const wide = (name: string, description: string, cell: (pod: Pod) => string | undefined): Column<Pod> => ({
  ...textColumn<Pod>(name, description, (object) => cell(object) || NONE),
  priority: 1,
});

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  textColumn('Ready', 'The number of ready containers and of all containers.', (object) => {
    const { ready, total } = summaryOf(object);
    return `${ready}/${total}`;
  }),
  textColumn(
    'Status',
    'The phase of the pod, or the reason why it is not running.',
    (object) => summaryOf(object).reason,
  ),
  textColumn('Restarts', 'The number of container restarts and the time since the last.', (object, context) =>
    restartsText(summaryOf(object), context),
  ),
  ageColumn,
  wide('IP', 'The address of the pod.', ({ status }) => status.podIP),
  wide('Node', 'The node that the pod is assigned to.', ({ spec }) => spec.nodeName),
  wide('Nominated Node', 'The node on which pods are preempted for it.', ({ status }) => status.nominatedNodeName),
  wide(
    'Readiness Gates',
    'The number of satisfied readiness gates and of all gates.',
    ({ spec: { readinessGates = [] }, status }) => {
      if (readinessGates.length === 0) return undefined;
      // Of several conditions with one type, the first counts.
      const states = new Map((status.conditions ?? []).toReversed().map((one) => [one.type, one.status]));
      const met = readinessGates.filter(({ conditionType }) => states.get(conditionType) === 'True');
      return `${met.length}/${readinessGates.length}`;
    },
  ),
];

const COMPLETED = { type: 'Completed', status: 'True' } as const;
const ROW_CONDITIONS: Readonly<Record<string, readonly RowCondition[]>> = {
  Succeeded: [{ ...COMPLETED, reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  Failed: [{ ...COMPLETED, reason: 'Failed', message: 'The pod failed.' }],
};

/** The row condition of terminated pods, by which clients can hide them. */
export function podRowConditions(object: Pod): readonly RowCondition[] {
  return own(ROW_CONDITIONS, object.status?.phase ?? '') ?? [];
}

interface Summary {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  lastRestart: string | undefined;
}

function restartsText({ restarts, lastRestart }: Summary, context: CellContext): string {
  return restarts === 0 || lastRestart === undefined
    ? String(restarts)
    : `${restarts} (${since(lastRestart, context)} ago)`;
}

function summaryOf(pod: Pod): Summary {
  const { spec, status, metadata } = pod;
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const summary: Summary = {
    ready: 0,
    total: (spec.containers ?? []).length + sidecars.size,
    reason: status.reason ?? status.phase ?? '',
    restarts: 0,
    lastRestart: undefined,
  };
  if (findCondition(status, 'PodScheduled')?.reason === 'SchedulingGated') summary.reason = 'SchedulingGated';
  const sidecarRestarts = { restarts: 0, lastRestart: undefined as string | undefined };
  const initializing = countInit(pod, sidecars, { summary, sidecarRestarts });
  if (!initializing || findCondition(status, 'Initialized')?.status === 'True') {
    Object.assign(summary, sidecarRestarts);
    countContainers(pod, summary);
  }
  if (metadata.deletionTimestamp === undefined) return summary;
  if (status.reason === 'NodeLost') summary.reason = 'Unknown';
  else if (status.phase !== 'Failed' && status.phase !== 'Succeeded') summary.reason = 'Terminating';
  return summary;
}

function isSidecar({ restartPolicy }: { readonly restartPolicy?: string }): boolean {
  return restartPolicy === 'Always';
}

type Restarts = Pick<Summary, 'restarts' | 'lastRestart'>;

function countRestarts(count: Restarts, { restartCount, lastState }: ContainerStatus): void {
  count.restarts += restartCount;
  const finished = lastState.terminated?.finishedAt;
  if (!finished) return;
  if (count.lastRestart === undefined || timeToMs(finished) > timeToMs(count.lastRestart)) count.lastRestart = finished;
}

/** Counts init containers. Returns true if one has not completed, and sets the reason to its state. */
function countInit(
  { spec, status }: Pod,
  sidecars: ReadonlySet<string>,
  { summary, sidecarRestarts }: { readonly summary: Summary; readonly sidecarRestarts: Restarts },
): boolean {
  const total = (spec.initContainers ?? []).length;
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    const { name, state, started, ready } = container;
    countRestarts(summary, container);
    if (sidecars.has(name)) countRestarts(sidecarRestarts, container);
    if (state.terminated?.exitCode === 0) continue;
    if (sidecars.has(name) && started === true) {
      if (ready) summary.ready += 1;
      continue;
    }
    summary.reason = `Init:${initReason(state) ?? `${index}/${total}`}`;
    return true;
  }
  return false;
}

function initReason({ terminated, waiting }: ContainerState): string | undefined {
  if (terminated !== undefined) return terminated.reason ?? exitText(terminated);
  return waiting?.reason === 'PodInitializing' ? undefined : waiting?.reason;
}

function exitText({ signal = 0, exitCode }: NonNullable<ContainerState['terminated']>): string {
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

/** Counts containers from last to first, so that the reason of the first one wins. */
function countContainers({ status }: Pod, summary: Summary): void {
  let running = false;
  for (const container of [...(status.containerStatuses ?? [])].reverse()) {
    const { state, ready } = container;
    countRestarts(summary, container);
    if (state.waiting?.reason !== undefined) summary.reason = state.waiting.reason;
    else if (state.terminated !== undefined) summary.reason = state.terminated.reason ?? exitText(state.terminated);
    else if (ready && state.running !== undefined) {
      running = true;
      summary.ready += 1;
    }
  }
  if (summary.reason !== 'Completed' || !running) return;
  summary.reason = findCondition(status, 'Ready')?.status === 'True' ? 'Running' : 'NotReady';
}
