/**
 * Pods: their number and what they ask for and are limited to, as long as they may still run.
 */

import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import { qosClassOf } from '../../kinds/core/v1/pod/qos.js';
import type { ContainerStatus } from '../../kinds/core/v1/pod/status.js';
import type { PodAffinity, PodAffinityTerm } from '../../kinds/core/v1/pod-spec/affinity.js';
import type { Container } from '../../kinds/core/v1/pod-spec/container.js';
import type { ScopedResourceSelectorRequirement } from '../../kinds/core/v1/resource-quota.js';
import { isExtendedResource, isHugePages, isNativeResource } from '../../kinds/shared/resources.js';
import type { ApiObject } from '../../meta/object.js';
import type { Quantity } from '../../meta/quantity.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import {
  type AmountField,
  type Amounts,
  addAmounts,
  isSidecar,
  type PodAmountsOptions,
  podAmounts,
  raiseAmounts,
  readAmounts,
} from '../plugins/pod-amounts.js';
import type { Evaluator, Terms } from './evaluator.js';
import { countName, ONE, selects } from './evaluator.js';

const COUNT = countName({ group: '', resource: 'pods' });
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'] as const;
const REQUESTS = 'requests.';
const LIMITS = 'limits.';

const NAMES: ReadonlySet<string> = new Set([
  COUNT,
  'pods',
  ...COMPUTE.flatMap((name) => [name, `${REQUESTS}${name}`, `${LIMITS}${name}`]),
]);

/** What every container must state once a quota is on it. */
const TO_BE_SAID: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `${REQUESTS}${name}`, `${LIMITS}${name}`]),
);

export const podEvaluator: Evaluator = {
  measured: (inQuota, terms) => inQuota.flatMap((name) => Array<string>(timesMeasured(name, terms)).fill(name)),
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    if (operation === 'CREATE') return true;
    // From one scope into another; what else is used is fixed when a pod is made.
    return object !== undefined && oldObject !== undefined && hasDeadline(object) !== hasDeadline(oldObject);
  },
  givesBack(before, after, terms) {
    if (hasDeadline(before) !== hasDeadline(after)) return true;
    // Nobody says when a spec has become true but who runs the pod.
    if (terms.features.enabled('InPlacePodVerticalScaling') && isResized(podOf(before), podOf(after))) return true;
    return !isOver(podOf(before), terms) && isOver(podOf(after), terms);
  },
  usageOf(object, terms) {
    // What is stored counts, whatever has become of it.
    if (isOver(podOf(object), terms)) return new Map([[COUNT, ONE]]);
    const { requests, limits } = podNeeds(podOf(object), terms);
    return new Map([[COUNT, ONE], ...usageFrom(requests, limits, terms)]);
  },
  unsaid,
  isInScope,
};

function podOf(object: ApiObject): Pod {
  return object as unknown as Pod;
}

/** A name that looks like huge pages and like somebody's device is taken for both. */
function timesMeasured(name: string, terms: Terms): number {
  if (NAMES.has(name)) return 1;
  const isPages = isHugePages(name) || (name.startsWith(REQUESTS) && isHugePages(name.slice(REQUESTS.length)));
  const isDevice = name.startsWith(REQUESTS) && !isNativeResource(name, terms);
  return Number(isPages) + Number(isDevice);
}

/** Under the names of quotas: `cpu` and `requests.cpu` are the same. */
function usageFrom(requests: Amounts, limits: Amounts, terms: Terms): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([['pods', ONE]]);
  for (const [name, amount] of requests) {
    const isShort = isCompute(name) || isHugePages(name);
    if (isShort) usage.set(name, amount);
    if (isShort || isExtendedResource(name, terms)) usage.set(`${REQUESTS}${name}`, amount);
  }
  for (const [name, amount] of limits) if (isCompute(name)) usage.set(`${LIMITS}${name}`, amount);
  return usage;
}

function isCompute(name: string): boolean {
  return (COMPUTE as readonly string[]).includes(name);
}

/** It has run to its end, or should be gone: who waits for a lost node should not be kept from starting others. */
function isOver({ metadata, status }: Pod, { clock }: Terms): boolean {
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return clock.now() > timeToMs(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

/** A container that was there before is said to have other resources. */
function isResized({ status: before }: Pod, { status: after }: Pod): boolean {
  const haveChanged = (was: readonly ContainerStatus[] = [], is: readonly ContainerStatus[] = []) =>
    was.some(({ name, resources }) => {
      const now = is.find((other) => other.name === name);
      return now !== undefined && !deepEqual(now.resources, resources);
    });
  return (
    haveChanged(before.containerStatuses, after.containerStatuses) ||
    haveChanged(before.initContainerStatuses, after.initContainerStatuses)
  );
}

function unsaid(names: readonly string[], object: ApiObject, terms: Terms): string | undefined {
  const { spec } = podOf(object);
  if (terms.features.enabled('PodLevelResources') && saysForAll(spec)) return undefined;
  const wanted = [...new Set(names.filter((name) => TO_BE_SAID.has(name)))].sort();
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name, resources }) => ({
    name,
    said: usageFrom(readAmounts(resources.requests), readAmounts(resources.limits), terms),
  }));
  const missing = wanted.flatMap((resource) => {
    const silent = containers.filter(({ said }) => !said.has(resource)).map(({ name }) => name);
    return silent.length === 0 ? [] : [`${resource} for: ${[...new Set(silent)].sort().join(',')}`];
  });
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}

/** The pod says something for all its containers together. */
function saysForAll({ resources }: Pod['spec']): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).some(isPodLevel);
}

function isInScope(requirement: ScopedResourceSelectorRequirement, object: ApiObject, terms: Terms): boolean {
  const { spec } = podOf(object);
  switch (requirement.scopeName) {
    case 'Terminating':
      return hasDeadline(object);
    case 'NotTerminating':
      return !hasDeadline(object);
    case 'BestEffort':
      return isBestEffort(podOf(object), terms);
    case 'NotBestEffort':
      return !isBestEffort(podOf(object), terms);
    case 'PriorityClass':
      return selects(requirement, spec.priorityClassName ? [spec.priorityClassName] : []);
    case 'CrossNamespacePodAffinity':
      return looksElsewhere(spec.affinity?.podAffinity) || looksElsewhere(spec.affinity?.podAntiAffinity);
    default:
      return false;
  }
}

/** Such pods end by themselves. */
function hasDeadline(object: ApiObject): boolean {
  const { activeDeadlineSeconds } = podOf(object).spec;
  return activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0;
}

function isBestEffort({ spec, status }: Pod, { features }: Terms): boolean {
  if (status.qosClass) return status.qosClass === 'BestEffort';
  return qosClassOf(spec, features) === 'BestEffort';
}

/** Pods of other namespaces matter for where this one may run. */
function looksElsewhere(affinity: PodAffinity | undefined): boolean {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required = [],
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = affinity ?? {};
  const terms: readonly PodAffinityTerm[] = [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)];
  return terms.some(
    ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
  );
}

interface PodNeeds {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function podNeeds(pod: Pod, { features }: Terms): PodNeeds {
  const { spec } = pod;
  const options: PodAmountsOptions = {
    ...(features.enabled('InPlacePodVerticalScaling') ? { amountsOf: amountsByNow(pod) } : {}),
    isPodLevel: features.enabled('PodLevelResources') ? isPodLevel : () => false,
  };
  const [requests, limits] = [podAmounts(spec, 'requests', options), podAmounts(spec, 'limits', options)];
  const overhead = readAmounts(spec.overhead);
  addAmounts(requests, overhead);
  for (const [name, amount] of overhead) {
    const limit = limits.get(name);
    // Without a limit the overhead has none either.
    if (limit !== undefined && !limit.isZero()) limits.set(name, limit.add(amount));
  }
  return { requests, limits };
}

/** Which resources a pod may state for all its containers together. */
function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

/**
 * A container that runs may be resized: until that has happened, it counts with the greater of what it has and what it
 * is to have. What will never happen does not count.
 */
function amountsByNow({ spec, status }: Pod): (container: Container, field: AmountField) => Amounts {
  const statuses = new Map(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].map((each) => [each.name, each]),
  );
  const pending = status.conditions?.find(({ type }) => type === 'PodResizePending');
  const isInfeasible = pending?.reason === 'Infeasible';
  // Init containers that end are never resized.
  const fixed = new Set((spec.initContainers ?? []).filter((container) => !isSidecar(container)));
  return (container, field) => {
    const wanted = readAmounts(container.resources[field]);
    const has = fixed.has(container) ? undefined : statuses.get(container.name);
    if (has?.resources === undefined) return wanted;
    const amounts = new Map(isInfeasible ? [] : wanted);
    for (const list of listsIn(has, field)) raiseAmounts(amounts, readAmounts(list));
    return amounts;
  };
}

function listsIn({ resources, allocatedResources }: ContainerStatus, field: AmountField) {
  return field === 'limits' ? [resources?.limits] : [resources?.requests, allocatedResources];
}
