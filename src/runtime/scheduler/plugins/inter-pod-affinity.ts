/**
 * The InterPodAffinity plugin: pod affinity and anti-affinity of the pod to place, and of the pods that run, towards it.
 */
import { Namespace } from '../../../kinds/core/v1/namespace.js';
import type { Labels } from '../../../meta/labels.js';
import { own } from '../../../util/json.js';
import { getOrInsertComputed, once } from '../../../util/once.js';
import { type AffinityTerm, allSelect, costOf, selectsPod, withNamespaces } from '../affinity-terms.js';
import {
  type Filter,
  type FilterPlugin,
  MAX_SCORE,
  type Rejection,
  SchedulingError,
  type ScorePlugin,
  unresolvable,
  unschedulable,
} from '../plugin.js';
import type { NodeInfo, PodInfo, Snapshot, StoredPod } from '../snapshot.js';

const AFFINITY = unresolvable("node(s) didn't match pod affinity rules");
const ANTI_AFFINITY = unschedulable("node(s) didn't match pod anti-affinity rules");
const EXISTING = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");

/** Sums by topology key and value. */
class TopologyCounts {
  readonly #counts: Map<string, number>;

  constructor(counts: ReadonlyMap<string, number> = new Map()) {
    this.#counts = new Map(counts);
  }

  get size(): number {
    return this.#counts.size;
  }

  at(key: string, value: string): number {
    return this.#counts.get(`${key}=${value}`) ?? 0;
  }

  /** Does nothing if the node has no such label. Sums of 0 are removed. */
  add({ labels }: NodeInfo, key: string, amount: number): void {
    const value = own(labels, key);
    if (value === undefined) return;
    const sum = this.at(key, value) + amount;
    if (sum === 0) this.#counts.delete(`${key}=${value}`);
    else this.#counts.set(`${key}=${value}`, sum);
  }

  clone(): TopologyCounts {
    return new TopologyCounts(this.#counts);
  }
}

interface Incoming {
  readonly pod: StoredPod;
  readonly namespaceLabels: Labels | undefined;
  readonly required: readonly AffinityTerm[];
  readonly requiredKeys: readonly string[];
  readonly requiredAnti: readonly AffinityTerm[];
}

function namespaceLabels({ metadata }: StoredPod, { objects }: Snapshot): Labels | undefined {
  return objects.get(Namespace, metadata.namespace ?? '')?.metadata.labels;
}

/** The cost of all terms of a pod, evaluated for all pods and namespaces: about a second. */
const MAX_COST = 2_500_000;
/** The cost of the terms of one pod for one other, with any number of pods. */
const MIN_COST_OF_POD = 100;

/** What the terms of one pod may cost for each of the pods that run. */
function costLimit({ nodes, objects }: Snapshot): number {
  const pods = nodes.reduce((sum, node) => sum + node.pods.length, 0);
  const count = Math.max(1, pods, objects.list(Namespace).length);
  return Math.max(MIN_COST_OF_POD, Math.trunc(MAX_COST / count));
}

/** The first terms, as far as the limit allows. */
function firstOf(terms: readonly AffinityTerm[], limit: () => number): readonly AffinityTerm[] {
  // Most pods have none.
  if (terms.length === 0) return terms;
  let left = limit();
  const end = terms.findIndex((term) => {
    left -= costOf(term);
    return left < 0;
  });
  return end === -1 ? terms : terms.slice(0, end);
}

export const interPodAffinity: FilterPlugin = {
  name: 'InterPodAffinity',
  prepare({ pod, terms }, snapshot) {
    const own = [...terms.required, ...terms.requiredAnti];
    if (firstOf(own, () => costLimit(snapshot)).length < own.length) {
      throw new SchedulingError('the pod affinity terms exceed the cost limit');
    }
    const resolve = (list: readonly AffinityTerm[]) => list.map((term) => withNamespaces(term, snapshot.objects));
    const incoming = {
      pod,
      namespaceLabels: namespaceLabels(pod, snapshot),
      required: resolve(terms.required),
      requiredKeys: [...new Set(terms.required.map(({ topologyKey }) => topologyKey))],
      requiredAnti: resolve(terms.requiredAnti),
    };
    const filter = new AffinityFilter(incoming);
    const hasTerms = own.length > 0;
    for (const node of snapshot.nodes) {
      for (const each of node.pods) if (hasTerms || each.terms.requiredAnti.length > 0) filter.update(each, node, 1);
    }
    return hasTerms || filter.hasExisting ? filter : undefined;
  },
};

/** What is known of each relation between the pod to place and the pods that run. */
interface Relations<Value> {
  /** Pods that run whose anti-affinity terms select the pod. */
  readonly existing: Value;
  /** Pods that run and that all affinity terms of the pod select. */
  readonly affinity: Value;
  /** Pods that run and that an anti-affinity term of the pod selects. */
  readonly antiAffinity: Value;
}

type AffinityCounts = Relations<TopologyCounts>;
/** The topology keys of the terms by which a pod that runs is related. */
type TopologyKeys = Relations<Iterable<string>>;

const NO_KEYS: readonly string[] = [];

class AffinityFilter implements Filter {
  readonly #incoming: Incoming;
  readonly #counts: AffinityCounts;
  /** Shared by copies: preemption adds and removes each pod several times, and a pod may have tens of thousands of terms. */
  readonly #keysOf: Map<PodInfo, TopologyKeys>;

  constructor(
    incoming: Incoming,
    { counts, keysOf }: { counts?: AffinityCounts; keysOf?: Map<PodInfo, TopologyKeys> } = {},
  ) {
    this.#incoming = incoming;
    this.#keysOf = keysOf ?? new Map();
    this.#counts = counts ?? {
      existing: new TopologyCounts(),
      affinity: new TopologyCounts(),
      antiAffinity: new TopologyCounts(),
    };
  }

  get hasExisting(): boolean {
    return this.#counts.existing.size > 0;
  }

  check(node: NodeInfo): Rejection | undefined {
    if (!this.#meetsAffinity(node)) return AFFINITY;
    const { existing, antiAffinity } = this.#counts;
    if (hasPods(antiAffinity, node)) return ANTI_AFFINITY;
    return hasPods(existing, node) ? EXISTING : undefined;
  }

  #meetsAffinity({ labels }: NodeInfo): boolean {
    const { required, requiredKeys: keys, pod } = this.#incoming;
    const { affinity } = this.#counts;
    if (keys.some((key) => own(labels, key) === undefined)) return false;
    if (keys.every((key) => affinity.at(key, own(labels, key) ?? '') > 0)) return true;
    // The first pod of a group whose pods have an affinity to each other.
    return affinity.size === 0 && allSelect(required, pod);
  }

  update(pod: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    const keys = getOrInsertComputed(this.#keysOf, pod, () => this.#relate(pod));
    for (const relation of ['existing', 'affinity', 'antiAffinity'] as const) {
      for (const key of keys[relation]) this.#counts[relation].add(node, key, sign);
    }
  }

  #relate({ pod, terms }: PodInfo): TopologyKeys {
    const { required, requiredKeys, requiredAnti, pod: incoming, namespaceLabels: labels } = this.#incoming;
    return {
      existing: keysOfSelecting(terms.requiredAnti, incoming, labels),
      affinity: allSelect(required, pod) ? requiredKeys : NO_KEYS,
      antiAffinity: keysOfSelecting(requiredAnti, pod),
    };
  }

  clone(): AffinityFilter {
    const { existing, affinity, antiAffinity } = this.#counts;
    const counts = { existing: existing.clone(), affinity: affinity.clone(), antiAffinity: antiAffinity.clone() };
    return new AffinityFilter(this.#incoming, { counts, keysOf: this.#keysOf });
  }
}

/** The topology keys of the terms that select a pod. */
function keysOfSelecting(terms: readonly AffinityTerm[], pod: StoredPod, namespaceLabels?: Labels): Iterable<string> {
  if (terms.length === 0) return NO_KEYS;
  const keys = new Set<string>();
  for (const term of terms) {
    if (!keys.has(term.topologyKey) && selectsPod(term, pod, namespaceLabels)) keys.add(term.topologyKey);
  }
  return keys;
}

/** Whether there are pods in a topology of the node. */
function hasPods(counts: TopologyCounts, { labels }: NodeInfo): boolean {
  return counts.size > 0 && Object.entries(labels).some(([key, value]) => counts.at(key, value) > 0);
}

export const interPodAffinityScore: ScorePlugin = {
  name: 'InterPodAffinity',
  weight: 2,
  prepare({ pod, terms }, snapshot) {
    // They are preferences: those above the limit do not count.
    const limit = once(() => costLimit(snapshot));
    const resolve = (list: readonly AffinityTerm[]) =>
      firstOf(list, limit).map((term) => withNamespaces(term, snapshot.objects));
    const [preferred, preferredAnti] = [resolve(terms.preferred), resolve(terms.preferredAnti)];
    const labels = namespaceLabels(pod, snapshot);
    // Scores by topology key, then by value. A score of 0 counts as present.
    const sums = new Map<string, Map<string, number>>();
    for (const node of snapshot.nodes) {
      const add = (list: readonly AffinityTerm[], selected: StoredPod, sign: 1 | -1, namespace?: Labels) => {
        for (const term of list) {
          const { topologyKey, weight } = term;
          const value = own(node.labels, topologyKey);
          if (value === undefined || !selectsPod(term, selected, namespace)) continue;
          const values = getOrInsertComputed(sums, topologyKey, () => new Map<string, number>());
          values.set(value, (values.get(value) ?? 0) + sign * weight);
        }
      };
      for (const each of node.pods) {
        add(preferred, each.pod, 1);
        add(preferredAnti, each.pod, -1);
        // Required terms have the weight 1 here.
        add(firstOf(each.terms.required, limit), pod, 1, labels);
        add(firstOf(each.terms.preferred, limit), pod, 1, labels);
        add(firstOf(each.terms.preferredAnti, limit), pod, -1, labels);
      }
    }
    if (sums.size === 0) return undefined;
    return {
      score(node) {
        let sum = 0;
        for (const [key, values] of sums) {
          const value = own(node.labels, key);
          if (value !== undefined) sum += values.get(value) ?? 0;
        }
        return sum;
      },
      normalize(scores) {
        const lowest = Math.min(...scores);
        const range = Math.max(...scores) - lowest;
        return scores.map((score) => (range > 0 ? Math.trunc(MAX_SCORE * ((score - lowest) / range)) : 0));
      },
    };
  },
};
