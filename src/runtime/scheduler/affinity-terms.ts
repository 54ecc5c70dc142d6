/**
 * The terms of pod affinity and anti-affinity, compiled.
 * upstream: pkg/scheduler/framework/types.go AffinityTerm
 */
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import { Namespace } from '../../kinds/core/v1/namespace.js';
import type { PodAffinityTerm, WeightedPodAffinityTerm } from '../../kinds/generated/core-v1.js';
import { type LabelSelector, type Labels, labelSelectorFromObject, matchesLabels, nothing } from '../../meta/labels.js';
import type { DeepReadonly } from '../../meta/object.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { ObjectReader } from './snapshot.js';

export interface AffinityTerm {
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: LabelSelector;
  /** The sum of the equal terms, each of which is 1 if required. */
  weight: number;
}

/** All terms of a pod. Equal ones are one term. */
export interface AffinityTerms {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly AffinityTerm[];
  readonly preferredAnti: readonly AffinityTerm[];
}

const NONE: readonly AffinityTerm[] = Object.freeze([]);
const NO_TERMS: AffinityTerms = Object.freeze({
  required: NONE,
  requiredAnti: NONE,
  preferred: NONE,
  preferredAnti: NONE,
});

export function affinityTermsOf(pod: StoredPod): AffinityTerms {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  if (podAffinity === undefined && podAntiAffinity === undefined) return NO_TERMS;
  const compile = (terms: readonly WeightedTerm[] = []) => compileTerms(pod, terms);
  const required = (terms: readonly DeepReadonly<PodAffinityTerm>[] = []) =>
    compile(terms.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm })));
  return {
    required: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAnti: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: compile(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAnti: compile(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  };
}

type WeightedTerm = DeepReadonly<WeightedPodAffinityTerm>;

function compileTerms(pod: StoredPod, terms: readonly WeightedTerm[]): readonly AffinityTerm[] {
  const compiled = new Map<string, AffinityTerm>();
  for (const { weight, podAffinityTerm } of terms) {
    const term = getOrInsertComputed(compiled, JSON.stringify(podAffinityTerm), () =>
      compileTerm(pod, podAffinityTerm),
    );
    term.weight += weight;
  }
  return [...compiled.values()];
}

function compileTerm({ metadata }: StoredPod, term: DeepReadonly<PodAffinityTerm>): AffinityTerm {
  const { topologyKey, labelSelector, namespaces = [], namespaceSelector } = term;
  const isOwn = namespaces.length === 0 && namespaceSelector === undefined;
  return {
    topologyKey,
    weight: 0,
    selector: labelSelectorFromObject(labelSelector),
    namespaces: new Set(isOwn ? [metadata.namespace ?? ''] : namespaces),
    namespaceSelector: labelSelectorFromObject(namespaceSelector),
  };
}

/** The term with the names of all namespaces that it selects, so that it can be matched without their labels. */
export function withNamespaces(term: AffinityTerm, objects: ObjectReader): AffinityTerm {
  const { namespaceSelector, namespaces } = term;
  // The empty selector selects all namespaces; it stays.
  if (namespaceSelector.tests.length === 0) return term;
  const selected = objects
    .list(Namespace)
    .filter(({ metadata }) => matchesLabels(namespaceSelector, metadata.labels))
    .map(({ metadata }) => metadata.name);
  return { ...term, namespaces: new Set([...namespaces, ...selected]), namespaceSelector: nothing };
}

/** How long it takes to evaluate a term for a pod, in units of about 0.2 microseconds; at most. */
export function costOf({ selector, namespaceSelector }: AffinityTerm): number {
  return 1 + selector.tests.length + namespaceSelector.tests.length;
}

/** Whether a term selects a pod. `namespaceLabels` are those of the pod's namespace. */
export function selectsPod(term: AffinityTerm, { metadata }: StoredPod, namespaceLabels?: Labels): boolean {
  if (!term.namespaces.has(metadata.namespace ?? '') && !matchesLabels(term.namespaceSelector, namespaceLabels)) {
    return false;
  }
  return matchesLabels(term.selector, metadata.labels);
}

/** Whether all terms select a pod; false without terms. */
export function allSelect(terms: readonly AffinityTerm[], pod: StoredPod): boolean {
  return terms.length > 0 && terms.every((term) => selectsPod(term, pod));
}
