/**
 * The rejections of all nodes, and the message about them.
 * upstream: pkg/scheduler/framework/types.go FitError
 */
import type { Rejection } from './plugin.js';
import type { NodeInfo } from './snapshot.js';

/** The rejections of nodes by name, with one for all nodes that were not checked. */
export interface NodeStatuses {
  readonly rejections: ReadonlyMap<string, Rejection>;
  readonly others: Rejection | undefined;
  set(nodeName: string, rejection: Rejection): void;
  /** Whether the removal of pods may help on a node. */
  isResolvable(node: NodeInfo): boolean;
}

export function nodeStatuses(others: Rejection | undefined): NodeStatuses {
  const rejections = new Map<string, Rejection>();
  return {
    rejections,
    others,
    set: (nodeName, rejection) => void rejections.set(nodeName, rejection),
    isResolvable: ({ name }) => (rejections.get(name) ?? others)?.isResolvable === true,
  };
}

export interface FitMessageParts {
  readonly nodeCount: number;
  readonly statuses: NodeStatuses;
  /** Replaces the reasons of nodes. */
  readonly podProblem?: string | undefined;
  /** What was tried to make the pod fit. */
  readonly remedy?: string | undefined;
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …` */
export function fitMessage({ nodeCount, statuses, podProblem, remedy }: FitMessageParts): string {
  const reasons = podProblem ?? countReasons(statuses, nodeCount).join(', ');
  const first = `0/${nodeCount} nodes are available:${reasons === '' ? '' : ` ${reasons}.`}`;
  return remedy === undefined ? first : `${first} ${remedy}`;
}

function countReasons({ rejections, others }: NodeStatuses, nodeCount: number): readonly string[] {
  const counts = new Map<string, number>();
  const add = (reason: string, count: number) => counts.set(reason, (counts.get(reason) ?? 0) + count);
  for (const { reasons } of rejections.values()) for (const reason of reasons) add(reason, 1);
  const rest = nodeCount - rejections.size;
  if (rest > 0) for (const reason of others?.reasons ?? []) add(reason, rest);
  return [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
}
