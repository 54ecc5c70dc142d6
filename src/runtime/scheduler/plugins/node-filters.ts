/**
 * The plugins that compare a pod with the node itself: NodeUnschedulable, NodeName, TaintToleration, NodeAffinity and
 * NodePorts.
 */
import { matchesTerm, tolerates } from '../../../controllers/workloads/daemon-set/placement.js';
import type { Taint } from '../../../kinds/shared/taints.js';
import { getOrInsertComputed, oncePerKey } from '../../../util/once.js';
import {
  type Filter,
  type FilterPlugin,
  type Rejection,
  type ScorePlugin,
  scaled,
  unresolvable,
  unschedulable,
} from '../plugin.js';
import { type NodeInfo, type PodInfo, portConflicts, type StoredNode, type StoredPod } from '../snapshot.js';

export const nodeUnschedulable: FilterPlugin = {
  name: 'NodeUnschedulable',
  prepare({ pod }, { dialect }) {
    const taint: Taint = { key: dialect.subkey('node', 'unschedulable'), effect: 'NoSchedule' };
    const isTolerated = (pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
    if (isTolerated) return undefined;
    return {
      check: ({ node }) => (node.spec.unschedulable === true ? unresolvable('node(s) were unschedulable') : undefined),
    };
  },
};

export const nodeName: FilterPlugin = {
  name: 'NodeName',
  prepare({ pod }) {
    const { nodeName: wanted = '' } = pod.spec;
    if (wanted === '') return undefined;
    const rejection = unresolvable("node(s) didn't match the requested node name");
    return { check: ({ name }) => (name === wanted ? undefined : rejection) };
  },
};

/** The first taint of a node that keeps a pod away from it. */
export function untoleratedTaint({ spec }: StoredPod, { node }: NodeInfo): Taint | undefined {
  const { tolerations = [] } = spec;
  return node.spec.taints?.find(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

export const taintToleration: FilterPlugin = {
  name: 'TaintToleration',
  prepare: ({ pod }) => ({
    check(node) {
      const taint = untoleratedTaint(pod, node);
      if (taint === undefined) return undefined;
      return unresolvable(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
    },
  }),
};

export const taintScore: ScorePlugin = {
  name: 'TaintToleration',
  weight: 3,
  prepare({ pod }) {
    const tolerations = (pod.spec.tolerations ?? []).filter(
      ({ effect = '' }) => effect === '' || effect === 'PreferNoSchedule',
    );
    return {
      score: ({ node }) =>
        (node.spec.taints ?? []).filter(
          (taint) =>
            taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
        ).length,
      normalize: (scores) => scaled(scores, { isReversed: true }),
    };
  },
};

/** A test of the node selector and the required node affinity of a pod. */
export function requiredNodes({ spec }: StoredPod): (node: NodeInfo) => boolean {
  const selected = Object.entries(spec.nodeSelector ?? {});
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (selected.length === 0 && terms === undefined) return () => true;
  // Plugins ask for the same node several times, and a pod may have tens of thousands of terms.
  const known = new Map<StoredNode, boolean>();
  return ({ node, name, labels }) =>
    getOrInsertComputed(
      known,
      node,
      () =>
        selected.every(([key, value]) => labels[key] === value) &&
        (terms === undefined || terms.some((term) => matchesTerm(term, name, labels))),
    );
}

export const nodeAffinity: FilterPlugin = {
  name: 'NodeAffinity',
  prepare({ pod }): Filter | Rejection | undefined {
    const { nodeSelector, affinity } = pod.spec;
    const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (required === undefined && nodeSelector === undefined) return undefined;
    const nodeNames = namedNodes(required?.nodeSelectorTerms ?? []);
    if (nodeNames?.size === 0) return unresolvable('pod affinity terms conflict');
    const isRequired = requiredNodes(pod);
    const rejection = unresolvable("node(s) didn't match Pod's node affinity/selector");
    return { nodeNames, check: (node) => (isRequired(node) ? undefined : rejection) };
  },
};

type NodeSelectorTerms = readonly Parameters<typeof matchesTerm>[0][];

/** The names of the nodes that the terms can match, if all terms name nodes. */
function namedNodes(terms: NodeSelectorTerms): ReadonlySet<string> | undefined {
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const { matchFields = [] } of terms) {
    const lists = matchFields.flatMap(({ key, operator, values = [] }) =>
      key === 'metadata.name' && operator === 'In' ? [values] : [],
    );
    const [first, ...others] = lists;
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((list) => list.includes(name))) names.add(name);
  }
  return names;
}

export const nodeAffinityScore: ScorePlugin = {
  name: 'NodeAffinity',
  weight: 2,
  prepare({ pod }) {
    const preferred = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
    if (preferred === undefined) return undefined;
    return {
      score: ({ name, labels }) =>
        preferred
          .filter(({ preference }) => matchesTerm(preference, name, labels))
          .reduce((sum, { weight }) => sum + weight, 0),
      normalize: (scores) => scaled(scores),
    };
  },
};

export const nodePorts: FilterPlugin = {
  name: 'NodePorts',
  prepare({ ports: wanted }: PodInfo) {
    if (wanted.length === 0) return undefined;
    const rejection = unschedulable("node(s) didn't have free ports for the requested pod ports");
    const isTaken = portConflicts(wanted);
    // Preemption checks the same pods several times.
    const hasConflict = oncePerKey((pod: PodInfo) => pod.ports.some(isTaken));
    return { check: ({ pods }) => (pods.some(hasConflict) ? rejection : undefined) };
  },
};
