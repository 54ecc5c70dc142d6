/**
 * The nodes on which a DaemonSet's pods run, by the scheduler's rules about the node itself: its name, labels and taints.
 * Resources are not considered.
 */
import type { DaemonSet } from '../../../kinds/apps/v1/daemon-set.js';
import type { Node } from '../../../kinds/core/v1/node/node.js';
import type { PodInput } from '../../../kinds/generated/core-v1.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../../kinds/shared/node-selector.js';
import type { Taint } from '../../../kinds/shared/taints.js';
import type { Toleration } from '../../../kinds/shared/tolerations.js';
import type { Dialect } from '../../../meta/dialect.js';
import type { Labels } from '../../../meta/labels.js';
import { getOrInsertComputed } from '../../../util/once.js';
import type { StoredPod } from '../pod-state.js';

export type StoredDaemonSet = ObjectOf<typeof DaemonSet>;
export type StoredNode = ObjectOf<typeof Node>;

export interface Placement {
  /** A pod must run on the node. */
  readonly shouldRun: boolean;
  /** An existing pod may stay: a NoSchedule taint does not evict pods. */
  readonly mayStay: boolean;
}

const NOWHERE: Placement = Object.freeze({ shouldRun: false, mayStay: false });
const ANYTIME: Placement = Object.freeze({ shouldRun: true, mayStay: true });

export function placementOn(node: StoredNode, { spec }: StoredDaemonSet, dialect: Dialect): Placement {
  const { nodeName, nodeSelector, affinity, tolerations, hostNetwork } = spec.template.spec ?? {};
  const { name, labels = NO_LABELS } = node.metadata;
  if (nodeName !== undefined && nodeName !== '' && nodeName !== name) return NOWHERE;
  if (!matchesNodeSelector(nodeSelector, labels)) return NOWHERE;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!matchesTerms(required?.nodeSelectorTerms, name, labels)) return NOWHERE;
  const { taints = [] } = node.spec;
  if (taints.length === 0) return ANYTIME;
  const tolerated = withDaemonTolerations(tolerations ?? [], { hostNetwork, dialect });
  const bad = taints.filter((taint) => !tolerated.some((each) => tolerates(each, taint)));
  const mayStay = !bad.some(({ effect }) => effect === 'NoExecute');
  return { shouldRun: mayStay && !bad.some(({ effect }) => effect === 'NoSchedule'), mayStay };
}

const NO_LABELS: Labels = Object.freeze({});

/** The entries of a long selector would be copied for every node. Objects are immutable, so the result is cached. */
const entriesOfSelectors = new WeakMap<Labels, readonly (readonly [string, string])[]>();

export function matchesNodeSelector(selector: Labels | undefined, labels: Labels): boolean {
  if (selector === undefined) return true;
  const entries = getOrInsertComputed(entriesOfSelectors, selector, (entries) => Object.entries(entries));
  return entries.every(([key, value]) => labels[key] === value);
}

type Terms = readonly NodeSelectorTerm[];

const LONG = 16;

/** The results of long lists of terms: controllers evaluate them for every node and again after each event. */
const matchesOfTerms = new WeakMap<Terms, WeakMap<Labels, Map<string, boolean>>>();

/** Whether a node matches one of the terms of a required node affinity; without affinity all nodes do. */
export function matchesTerms(terms: Terms | undefined, name: string, labels: Labels = NO_LABELS): boolean {
  if (terms === undefined) return true;
  const matches = () => terms.some((term) => matchesTerm(term, name, labels));
  const isLong = terms.length > LONG || terms.some(({ matchExpressions = [] }) => matchExpressions.length > LONG);
  if (!isLong) return matches();
  const byLabels = getOrInsertComputed(matchesOfTerms, terms, () => new WeakMap<Labels, Map<string, boolean>>());
  return getOrInsertComputed(
    getOrInsertComputed(byLabels, labels, () => new Map<string, boolean>()),
    name,
    matches,
  );
}

/** All requirements must hold; an empty term matches nothing. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  name: string,
  labels: Labels,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  for (const requirement of matchExpressions) if (!isMet(requirement, labels)) return false;
  return matchFields.length === 0 || matchFields.every((requirement) => isMet(requirement, { 'metadata.name': name }));
}

function isMet({ key = '', operator, values = [] }: NodeSelectorRequirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return isInteger(value) && isInteger(values[0]) && BigInt(value) > BigInt(values[0]);
    case 'Lt':
      return isInteger(value) && isInteger(values[0]) && BigInt(value) < BigInt(values[0]);
    default:
      return false;
  }
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^-?[0-9]+$/.test(text);
}

export function tolerates({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === 'Equal' || operator === '') && value === (taint.value ?? '');
}

/** The node taints that all DaemonSet pods tolerate. */
const TOLERATED_TAINTS = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
] as const;

export interface DaemonTolerations {
  /** A pod on the host network also tolerates network-unavailable. */
  readonly hostNetwork?: boolean | undefined;
  readonly dialect: Dialect;
}

/** The template's tolerations plus those of all DaemonSet pods. */
export function withDaemonTolerations<T extends Toleration>(
  tolerations: readonly T[],
  { hostNetwork, dialect }: DaemonTolerations,
): (T | DaemonToleration)[] {
  const tolerated = [
    ...TOLERATED_TAINTS,
    ...(hostNetwork === true ? [['network-unavailable', 'NoSchedule'] as const] : []),
  ];
  const all: (T | DaemonToleration)[] = [...tolerations];
  for (const [what, effect] of tolerated) {
    const toleration: DaemonToleration = { key: dialect.subkey('node', what), operator: 'Exists', effect };
    const place = all.findIndex((each) => isSameButSeconds(each, toleration));
    // Replaces a toleration that is limited in time.
    if (place < 0) all.push(toleration);
    else all[place] = toleration;
  }
  return all;
}

interface DaemonToleration {
  key: string;
  operator: 'Exists';
  effect: 'NoExecute' | 'NoSchedule';
}

function isSameButSeconds({ key, operator, effect, value = '' }: Toleration, other: DaemonToleration): boolean {
  return key === other.key && operator === other.operator && effect === other.effect && value === '';
}

type PodAffinity = NonNullable<NonNullable<PodInput['spec']>['affinity']>;

/** The affinity of a pod for this node; it replaces the template's required node affinity. */
export function affinityTo(affinity: PodAffinity | undefined, node: string): PodAffinity {
  const matchFields = [{ key: 'metadata.name', operator: 'In' as const, values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  return { ...affinity, nodeAffinity };
}

/** The node that a pod is bound to or has an affinity to; undefined: none. */
export function targetNode({ spec }: StoredPod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const byName = (required?.nodeSelectorTerms ?? [])
    .flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return byName?.values?.length === 1 ? byName.values[0] : undefined;
}

export function isNodeReady({ status }: StoredNode): boolean {
  return status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}
