/**
 * The contract of scheduling plugins. A filter plugin is prepared for one pod and then checks nodes; a score plugin rates
 * the nodes that passed all filters.
 */
import type { NodeInfo, PodInfo, Snapshot } from './snapshot.js';

/** Why a pod cannot run on a node. */
export interface Rejection {
  readonly reasons: readonly string[];
  /** False: the removal of pods from the node does not help. */
  readonly isResolvable: boolean;
}

/** A rejection that the removal of other pods may resolve. */
export function unschedulable(...reasons: readonly string[]): Rejection {
  return { reasons, isResolvable: true };
}

/** A rejection that remains if other pods are removed. */
export function unresolvable(...reasons: readonly string[]): Rejection {
  return { reasons, isResolvable: false };
}

/** An error that is not a property of nodes. The pod is tried again later. */
export class SchedulingError extends Error {
  override readonly name = 'SchedulingError';
}

/** A filter plugin, prepared for one pod. */
export interface Filter {
  check(node: NodeInfo): Rejection | undefined;
  /** Adds a pod to the node or removes it, if the filter has more state than the node itself. */
  update?(pod: PodInfo, node: NodeInfo, sign: 1 | -1): void;
  /** A copy for changes by `update`. Required with it. */
  clone?(): Filter;
  /** The only nodes that can pass; undefined: all. */
  readonly nodeNames?: ReadonlySet<string> | undefined;
}

export interface FilterPlugin {
  readonly name: string;
  /** The filter for a pod; undefined: every node passes. A rejection holds for all nodes. */
  prepare(pod: PodInfo, snapshot: Snapshot): Filter | Rejection | undefined;
}

export const MAX_SCORE = 100;

/** A score plugin, prepared for one pod and the nodes that passed the filters. */
export interface Scorer {
  score(node: NodeInfo): number;
  /** Maps all scores to the range from 0 to {@link MAX_SCORE}, in the order of the nodes. */
  normalize?(scores: readonly number[], nodes: readonly NodeInfo[]): readonly number[];
}

export interface ScorePlugin {
  readonly name: string;
  readonly weight: number;
  /** The scorer for a pod; undefined: the plugin does not apply. */
  prepare(pod: PodInfo, snapshot: Snapshot, nodes: readonly NodeInfo[]): Scorer | undefined;
}

/** Scales scores to the range, the highest to its end. `isReversed`: the highest to its beginning. */
export function scaled(scores: readonly number[], { isReversed = false } = {}): readonly number[] {
  const highest = Math.max(0, ...scores);
  if (highest === 0) return isReversed ? scores.map(() => MAX_SCORE) : scores;
  return scores.map((score) => {
    const share = Math.trunc((MAX_SCORE * score) / highest);
    return isReversed ? MAX_SCORE - share : share;
  });
}
