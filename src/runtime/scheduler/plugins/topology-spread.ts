/**
 * The PodTopologySpread plugin: the filter for constraints with DoNotSchedule, the score for those with ScheduleAnyway and
 * for the default constraints.
 */
import type { TopologySpreadConstraint } from '../../../kinds/generated/core-v1.js';
import type { Dialect } from '../../../meta/dialect.js';
import {
  type LabelSelector,
  labelSelectorFrom,
  labelSelectorFromObject,
  matchesLabels,
  nothing,
} from '../../../meta/labels.js';
import type { DeepReadonly } from '../../../meta/object.js';
import { own } from '../../../util/json.js';
import {
  type Filter,
  type FilterPlugin,
  MAX_SCORE,
  type Rejection,
  type ScorePlugin,
  type Scorer,
  unresolvable,
  unschedulable,
} from '../plugin.js';
import type { NodeInfo, PodInfo, Snapshot, StoredPod } from '../snapshot.js';
import { allOf, defaultSelector } from './default-selector.js';
import { requiredNodes, untoleratedTaint } from './node-filters.js';

interface Constraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly minDomains: number;
  readonly selector: LabelSelector;
  /** Whether the pods on a node count. */
  readonly includes: (node: NodeInfo) => boolean;
}

type ConstraintSpec = DeepReadonly<TopologySpreadConstraint>;
type Action = ConstraintSpec['whenUnsatisfiable'];

/** The constraints of a pod without any of its own. They apply to pods of a service or of a controller. */
function defaultConstraints({ key, subkey }: Dialect): readonly ConstraintSpec[] {
  return [
    { topologyKey: key('hostname'), whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
    { topologyKey: subkey('topology', 'zone'), whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
  ];
}

function constraintsOf(pod: StoredPod, snapshot: Snapshot, action: Action): readonly Constraint[] {
  const own = pod.spec.topologySpreadConstraints ?? [];
  const specs = own.length > 0 ? own : defaultConstraints(snapshot.dialect);
  const wanted = specs.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action);
  if (wanted.length === 0) return [];
  const shared = own.length > 0 ? undefined : defaultSelector(pod, snapshot.objects);
  if (shared !== undefined && isEmpty(shared)) return [];
  const isRequired = requiredNodes(pod);
  return wanted.map((spec) => ({
    maxSkew: spec.maxSkew,
    topologyKey: spec.topologyKey,
    minDomains: spec.minDomains ?? 1,
    selector: shared ?? selectorOf(spec, pod),
    includes: (node) =>
      ((spec.nodeAffinityPolicy ?? 'Honor') !== 'Honor' || isRequired(node)) &&
      (spec.nodeTaintsPolicy !== 'Honor' || untoleratedTaint(pod, node) === undefined),
  }));
}

function selectorOf({ labelSelector, matchLabelKeys = [] }: ConstraintSpec, { metadata }: StoredPod): LabelSelector {
  const selector = labelSelectorFromObject(labelSelector);
  const labels = matchLabelKeys.flatMap((key) => {
    const value = own(metadata.labels ?? {}, key);
    return value === undefined ? [] : [[key, value]];
  });
  if (labels.length === 0 || selector === nothing) return selector;
  return allOf(labelSelectorFrom(Object.fromEntries(labels)), selector);
}

function isEmpty({ tests }: LabelSelector): boolean {
  return tests.length === 0;
}

function hasAllKeys({ labels }: NodeInfo, constraints: readonly Constraint[]): boolean {
  return constraints.every(({ topologyKey }) => own(labels, topologyKey) !== undefined);
}

/** The pods of a namespace on a node that a selector selects, without terminating ones. */
function countPods({ pods }: NodeInfo, selector: LabelSelector, namespace: string | undefined): number {
  if (isEmpty(selector)) return 0;
  let count = 0;
  for (const { pod } of pods) {
    const { metadata } = pod;
    if (metadata.deletionTimestamp !== undefined || metadata.namespace !== namespace) continue;
    if (matchesLabels(selector, metadata.labels)) count++;
  }
  return count;
}

const MISMATCH = "node(s) didn't match pod topology spread constraints";

export const topologySpread: FilterPlugin = {
  name: 'PodTopologySpread',
  prepare({ pod }, snapshot) {
    const constraints = constraintsOf(pod, snapshot, 'DoNotSchedule');
    return constraints.length === 0 ? undefined : SpreadFilter.create(pod, constraints, snapshot.nodes);
  },
};

/** The lowest count if no node counts. */
const NO_DOMAINS = 2 ** 31 - 1;

class SpreadFilter implements Filter {
  readonly #pod: StoredPod;
  readonly #constraints: readonly Constraint[];
  /** For each constraint, the number of selected pods by topology value. */
  readonly #counts: readonly Map<string, number>[];
  #lowest: number[];

  private constructor(pod: StoredPod, constraints: readonly Constraint[], counts: readonly Map<string, number>[]) {
    this.#pod = pod;
    this.#constraints = constraints;
    this.#counts = counts;
    this.#lowest = counts.map(lowestOf);
  }

  static create(pod: StoredPod, constraints: readonly Constraint[], nodes: readonly NodeInfo[]): SpreadFilter {
    const eligible = nodes.filter((node) => hasAllKeys(node, constraints));
    const counts = constraints.map(({ includes, topologyKey, selector }) => {
      const byValue = new Map<string, number>();
      for (const node of eligible) {
        if (includes(node))
          addTo(byValue, node.labels[topologyKey] ?? '', countPods(node, selector, pod.metadata.namespace));
      }
      return byValue;
    });
    return new SpreadFilter(pod, constraints, counts);
  }

  check({ labels }: NodeInfo): Rejection | undefined {
    for (const [index, { topologyKey, selector, minDomains, maxSkew }] of this.#constraints.entries()) {
      const value = own(labels, topologyKey);
      if (value === undefined) return unresolvable(`${MISMATCH} (missing required label)`);
      const counts = this.#counts[index] ?? new Map<string, number>();
      const lowest = counts.size < minDomains ? 0 : (this.#lowest[index] ?? 0);
      const self = matchesLabels(selector, this.#pod.metadata.labels) ? 1 : 0;
      if ((counts.get(value) ?? 0) + self - lowest > maxSkew) return unschedulable(MISMATCH);
    }
    return undefined;
  }

  update({ pod }: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    const { namespace, labels } = pod.metadata;
    if (namespace !== this.#pod.metadata.namespace || !hasAllKeys(node, this.#constraints)) return;
    for (const [index, { selector, includes, topologyKey }] of this.#constraints.entries()) {
      const counts = this.#counts[index];
      if (counts === undefined || !matchesLabels(selector, labels) || !includes(node)) continue;
      addTo(counts, node.labels[topologyKey] ?? '', sign);
      this.#lowest[index] = lowestOf(counts);
    }
  }

  clone(): SpreadFilter {
    return new SpreadFilter(
      this.#pod,
      this.#constraints,
      this.#counts.map((counts) => new Map(counts)),
    );
  }
}

function addTo(counts: Map<string, number>, value: string, amount: number): void {
  counts.set(value, (counts.get(value) ?? 0) + amount);
}

function lowestOf(counts: ReadonlyMap<string, number>): number {
  return Math.min(NO_DOMAINS, ...counts.values());
}

export const topologySpreadScore: ScorePlugin = {
  name: 'PodTopologySpread',
  weight: 2,
  prepare({ pod }, snapshot, nodes) {
    const constraints = constraintsOf(pod, snapshot, 'ScheduleAnyway');
    return constraints.length === 0 ? undefined : spreadScorer(pod, constraints, snapshot, nodes);
  },
};

function spreadScorer(
  pod: StoredPod,
  constraints: readonly Constraint[],
  { nodes: all, dialect }: Snapshot,
  feasible: readonly NodeInfo[],
): Scorer {
  const hostname = dialect.key('hostname');
  const { namespace } = pod.metadata;
  // With the default constraints, nodes without a zone are still scored by their name.
  const requiresAllKeys = (pod.spec.topologySpreadConstraints ?? []).length > 0;
  const isScored = (node: NodeInfo) => !requiresAllKeys || hasAllKeys(node, constraints);
  const scored = feasible.filter(isScored);
  const parts = constraints.map((constraint) => {
    const { topologyKey, selector, includes } = constraint;
    if (topologyKey === hostname) return { ...constraint, counts: undefined, weight: Math.log(scored.length + 2) };
    const counts = new Map(scored.map(({ labels }) => [own(labels, topologyKey) ?? '', 0]));
    for (const node of all) {
      const value = own(node.labels, topologyKey) ?? '';
      if (counts.has(value) && isScored(node) && includes(node))
        addTo(counts, value, countPods(node, selector, namespace));
    }
    return { ...constraint, counts, weight: Math.log(counts.size + 2) };
  });
  return {
    score(node) {
      if (!isScored(node)) return 0;
      let sum = 0;
      for (const { topologyKey, selector, counts, weight, maxSkew } of parts) {
        const value = own(node.labels, topologyKey);
        if (value === undefined) continue;
        const count = counts === undefined ? countPods(node, selector, namespace) : (counts.get(value) ?? 0);
        sum += count * weight + (maxSkew - 1);
      }
      return Math.round(sum);
    },
    normalize(scores, nodes) {
      const valid = scores.filter((_score, index) => isScored(nodes[index] as NodeInfo));
      const [lowest, highest] = [Math.min(...valid), Math.max(0, ...valid)];
      return scores.map((score, index) => {
        if (!isScored(nodes[index] as NodeInfo)) return 0;
        if (highest === 0) return MAX_SCORE;
        return Math.trunc((MAX_SCORE * (highest + lowest - score)) / highest);
      });
    },
  };
}
