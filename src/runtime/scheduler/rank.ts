/**
 * Decides where a pod can run: runs the filter plugins on all nodes and the score plugins on the nodes that pass. Pure: it
 * reads a snapshot and writes nothing.
 * upstream: pkg/scheduler/schedule_one.go schedulePod
 */

import { messageOf } from '../../util/message-of.js';
import { compareText } from '../../util/order.js';
import { type NodeStatuses, nodeStatuses } from './fit-message.js';
import {
  type Filter,
  type FilterPlugin,
  type Rejection,
  SchedulingError,
  type ScorePlugin,
  unresolvable,
} from './plugin.js';
import { dynamicResources } from './plugins/dynamic-resources.js';
import { interPodAffinity, interPodAffinityScore } from './plugins/inter-pod-affinity.js';
import {
  nodeAffinity,
  nodeAffinityScore,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  taintScore,
  taintToleration,
} from './plugins/node-filters.js';
import { balancedAllocation, imageLocality, leastAllocated, nodeResourcesFit } from './plugins/node-resources.js';
import { topologySpread, topologySpreadScore } from './plugins/topology-spread.js';
import { volumeBinding } from './plugins/volume-binding.js';
import { volumeLimits } from './plugins/volume-limits.js';
import { volumeRestrictions } from './plugins/volume-restrictions.js';
import { volumeZone } from './plugins/volume-zone.js';
import type { NodeInfo, PodInfo, Snapshot } from './snapshot.js';

/** In the order of execution: the first rejection of a node counts. */
const FILTERS: readonly FilterPlugin[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  volumeLimits,
  volumeBinding,
  volumeZone,
  topologySpread,
  interPodAffinity,
  dynamicResources,
];

const SCORES: readonly ScorePlugin[] = [
  taintScore,
  nodeAffinityScore,
  leastAllocated,
  topologySpreadScore,
  interPodAffinityScore,
  balancedAllocation,
  imageLocality,
];

/** A node on which the pod can run. */
export interface RankedNode {
  readonly name: string;
  /** The sum of the weighted scores. */
  readonly score: number;
  /** The weighted score of each plugin that applies. */
  readonly scores: Readonly<Record<string, number>>;
}

/** No node passed the filters. */
export interface Failure {
  readonly statuses: NodeStatuses;
  /** Set if a plugin rejected the pod before it looked at nodes. */
  readonly podProblem: string | undefined;
  /** The plugins that rejected nodes or the pod. */
  readonly plugins: ReadonlySet<string>;
  /** For the dry runs of preemption. */
  readonly filters: PreparedFilters;
}

export type Ranking = { readonly nodes: readonly RankedNode[] } | { readonly failure: Failure };

/**
 * The nodes on which a pod can run, the best first; nodes with equal scores by name. Throws a {@link SchedulingError} if a
 * plugin cannot decide.
 */
export function rank(pod: PodInfo, snapshot: Snapshot): Ranking {
  const prepared = prepareFilters(pod, snapshot);
  if ('rejection' in prepared) return { failure: rejected(prepared.rejection, prepared.plugin) };
  const { filters, nodeNames, namedBy } = prepared;
  const plugins = new Set(namedBy);
  // Preemption has made room on this node.
  const nominated = snapshot.nodesByName.get(pod.pod.status.nominatedNodeName ?? '');
  const obstacle = nominated === undefined ? undefined : filters.check(nominated);
  if (nominated !== undefined && obstacle === undefined) return { nodes: score(pod, snapshot, [nominated]) };
  if (obstacle !== undefined) plugins.add(obstacle.plugin);
  const statuses = nodeStatuses(
    nodeNames === undefined
      ? undefined
      : unresolvable(`node(s) didn't satisfy plugin(s) [${[...plugins].sort().join(' ')}]`),
  );
  if (nominated !== undefined && obstacle !== undefined) statuses.set(nominated.name, obstacle.rejection);
  const candidates = snapshot.nodes.filter(({ name }) => nodeNames?.has(name) ?? true);
  const feasible = candidates.filter((node) => {
    const found = filters.check(node);
    if (found === undefined) return true;
    statuses.set(node.name, found.rejection);
    plugins.add(found.plugin);
    return false;
  });
  if (feasible.length > 0) return { nodes: score(pod, snapshot, feasible) };
  return { failure: { statuses, podProblem: undefined, plugins, filters } };
}

function rejected(rejection: Rejection, plugin: string): Failure {
  return {
    statuses: nodeStatuses(rejection),
    podProblem: rejection.reasons.join(', '),
    plugins: new Set([plugin]),
    filters: new PreparedFilters([], new Map(), undefined),
  };
}

interface Prepared {
  readonly filters: PreparedFilters;
  /** The nodes that plugins restrict the pod to; undefined: all. */
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly namedBy: readonly string[];
}

function prepareFilters(pod: PodInfo, snapshot: Snapshot): Prepared | { rejection: Rejection; plugin: string } {
  const filters: NamedFilter[] = [];
  let nodeNames: ReadonlySet<string> | undefined;
  const namedBy: string[] = [];
  for (const { name, prepare } of FILTERS) {
    const filter = withContext(`running PreFilter plugin "${name}"`, () => prepare(pod, snapshot));
    if (filter === undefined) continue;
    if ('reasons' in filter) return { rejection: filter, plugin: name };
    filters.push({ name, filter });
    const { nodeNames: only } = filter;
    if (only === undefined) continue;
    namedBy.push(name);
    nodeNames = nodeNames === undefined ? only : new Set([...nodeNames].filter((each) => only.has(each)));
  }
  return { filters: new PreparedFilters(filters, snapshot.nominated, pod), nodeNames, namedBy };
}

function withContext<Result>(context: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof SchedulingError)) throw error;
    throw new SchedulingError(`${context}: ${messageOf(error)}`);
  }
}

interface NamedFilter {
  readonly name: string;
  readonly filter: Filter;
}

/** The filters of a pod that apply, with the pods that are nominated to nodes. */
export class PreparedFilters {
  readonly #filters: readonly NamedFilter[];
  readonly #nominated: Snapshot['nominated'];
  readonly #pod: PodInfo | undefined;

  constructor(filters: readonly NamedFilter[], nominated: Snapshot['nominated'], pod: PodInfo | undefined) {
    this.#filters = filters;
    this.#nominated = nominated;
    this.#pod = pod;
  }

  /** A copy for `update`. */
  clone(): PreparedFilters {
    const filters = this.#filters.map(({ name, filter }) => ({ name, filter: filter.clone?.() ?? filter }));
    return new PreparedFilters(filters, this.#nominated, this.#pod);
  }

  /** Adds a pod to a node or removes it. */
  update(pod: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    if (sign === 1) node.add(pod);
    else node.remove(pod);
    for (const { filter } of this.#filters) filter.update?.(pod, node, sign);
  }

  /**
   * The first rejection of a node. The pod must fit with the pods of the same or a higher priority that are nominated to
   * the node, and without them, because they may get another node.
   */
  check(node: NodeInfo): { readonly plugin: string; readonly rejection: Rejection } | undefined {
    const nominated = (this.#nominated.get(node.name) ?? []).filter(
      ({ pod, priority }) => priority >= (this.#pod?.priority ?? 0) && pod.metadata.uid !== this.#pod?.pod.metadata.uid,
    );
    if (nominated.length > 0) {
      const [filters, copy] = [this.clone(), node.clone()];
      for (const pod of nominated) filters.update(pod, copy, 1);
      const found = filters.#firstRejection(copy);
      if (found !== undefined) return found;
    }
    return this.#firstRejection(node);
  }

  #firstRejection(node: NodeInfo): { readonly plugin: string; readonly rejection: Rejection } | undefined {
    for (const { name, filter } of this.#filters) {
      const rejection = withContext(`running "${name}" filter plugin`, () => filter.check(node));
      if (rejection !== undefined) return { plugin: name, rejection };
    }
    return undefined;
  }
}

function score(pod: PodInfo, snapshot: Snapshot, nodes: readonly NodeInfo[]): RankedNode[] {
  // A single node needs no score.
  const parts = nodes.length === 1 ? [] : SCORES.flatMap((plugin) => weightedScores(plugin, pod, snapshot, nodes));
  const ranked = nodes.map(({ name }, index) => {
    const scores = Object.fromEntries(parts.map((part) => [part.name, part.scores[index] ?? 0]));
    return { name, scores, score: Object.values(scores).reduce((sum, each) => sum + each, 0) };
  });
  return ranked.sort((left, right) => right.score - left.score || compareText(left.name, right.name));
}

function weightedScores(
  { name, weight, prepare }: ScorePlugin,
  pod: PodInfo,
  snapshot: Snapshot,
  nodes: readonly NodeInfo[],
): { readonly name: string; readonly scores: readonly number[] } | readonly [] {
  const scorer = prepare(pod, snapshot, nodes);
  if (scorer === undefined) return [];
  const raw = nodes.map((node) => scorer.score(node));
  const normalized = scorer.normalize?.(raw, nodes) ?? raw;
  return { name, scores: normalized.map((each) => each * weight) };
}
