/**
 * The quota evaluator of Pods: their number and, until they terminate, their requests and limits.
 */

import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import { qosClassOf } from '../../kinds/core/v1/pod/qos.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type {
  ContainerStatus,
  PodAffinity,
  PodAffinityTerm,
  ScopedResourceSelectorRequirement,
} from '../../kinds/generated/core-v1.js';
import { isExtendedResource, isHugePages, isNativeResource } from '../../kinds/shared/resources.js';
import type { ApiObject } from '../../meta/object.js';
import type { Quantity } from '../../meta/quantity.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import { getOrInsertComputed, once } from '../../util/once.js';
import {
  type Amounts,
  addAmounts,
  isPodLevelResource,
  type PodAmountsOptions,
  podAmounts,
  readAmounts,
  resizableAmounts,
} from '../plugins/pod-amounts.js';
import { countName, type Evaluator, type EvaluatorContext, ONE, scopeSelects } from './evaluator.js';

const COUNT = countName({ group: '', resource: 'pods' });
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'] as const;
const REQUESTS = 'requests.';
const LIMITS = 'limits.';

const NAMES: ReadonlySet<string> = new Set([
  COUNT,
  'pods',
  ...COMPUTE.flatMap((name) => [name, `${REQUESTS}${name}`, `${LIMITS}${name}`]),
]);

/** Resources that every container must specify if a quota limits them. */
const REQUIRED_RESOURCES: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `${REQUESTS}${name}`, `${LIMITS}${name}`]),
);

export const podEvaluator: Evaluator = {
  matchingResources: (quotaNames, context) =>
    quotaNames.flatMap((name) => Array<string>(timesMeasured(name, context)).fill(name)),
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    if (operation === 'CREATE') return true;
    // A changed deadline moves the pod to another scope; other usage is fixed at creation.
    return object !== undefined && oldObject !== undefined && hasDeadline(object) !== hasDeadline(oldObject);
  },
  releasesUsage(before, after, context) {
    if (hasDeadline(before) !== hasDeadline(after)) return true;
    // The container statuses tell when a resize has been carried out.
    if (context.features.enabled('InPlacePodVerticalScaling') && isResized(podOf(before), podOf(after))) return true;
    return !isOver(podOf(before), context) && isOver(podOf(after), context);
  },
  usageOf(object, context) {
    // A terminated pod still counts as a stored object.
    if (isOver(podOf(object), context)) return new Map([[COUNT, ONE]]);
    const { requests, limits } = cached(podResources, podOf(object), context);
    return new Map([[COUNT, ONE], ...usageFrom(requests, limits, context)]);
  },
  missingConstraints,
  isInScope,
};

function podOf(object: ApiObject): Pod {
  return object as unknown as Pod;
}

/**
 * A name that is both a huge page size and an extended resource counts twice, as in the reference server.
 * upstream: pkg/quota/v1/evaluator/core/pods.go podEvaluator.MatchingResources
 */
function timesMeasured(name: string, context: EvaluatorContext): number {
  if (NAMES.has(name)) return 1;
  const isPages = isHugePages(name) || (name.startsWith(REQUESTS) && isHugePages(name.slice(REQUESTS.length)));
  const isDevice = name.startsWith(REQUESTS) && !isNativeResource(name, context);
  return Number(isPages) + Number(isDevice);
}

/** By quota resource names: `cpu` and `requests.cpu` mean the same. */
function usageFrom(requests: Amounts, limits: Amounts, context: EvaluatorContext): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([['pods', ONE]]);
  for (const [name, amount] of requests) {
    const isShort = isCompute(name) || isHugePages(name);
    if (isShort) usage.set(name, amount);
    if (isShort || isExtendedResource(name, context)) usage.set(`${REQUESTS}${name}`, amount);
  }
  for (const [name, amount] of limits) if (isCompute(name)) usage.set(`${LIMITS}${name}`, amount);
  return usage;
}

function isCompute(name: string): boolean {
  return (COMPUTE as readonly string[]).includes(name);
}

/** Terminated, or past its deletion deadline: a pod on a lost node must not block its replacement. */
function isOver({ metadata, status }: Pod, { clock }: EvaluatorContext): boolean {
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return clock.now() > timeToMs(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

/** Whether the status of an existing container reports other resources. */
function isResized({ status: before }: Pod, { status: after }: Pod): boolean {
  const haveChanged = (was: readonly ContainerStatus[] = [], is: readonly ContainerStatus[] = []) => {
    // Of several with one name, the first counts.
    const byName = new Map(is.toReversed().map((status) => [status.name, status]));
    return was.some(({ name, resources }) => {
      const now = byName.get(name);
      return now !== undefined && !deepEqual(now.resources, resources);
    });
  };
  return (
    haveChanged(before.containerStatuses, after.containerStatuses) ||
    haveChanged(before.initContainerStatuses, after.initContainerStatuses)
  );
}

function missingConstraints(
  object: ApiObject,
  context: EvaluatorContext,
): (names: readonly string[]) => string | undefined {
  const pod = podOf(object);
  const lacking = once(() =>
    context.features.enabled('PodLevelResources') && hasPodLevelResources(pod.spec)
      ? new Map<string, string>()
      : lackingContainers(pod, context),
  );
  return (names) => {
    const wanted = [...new Set(names.filter((name) => REQUIRED_RESOURCES.has(name)))].sort();
    const missing = wanted.flatMap((resource) => {
      const containers = lacking().get(resource);
      return containers === undefined ? [] : [`${resource} for: ${containers}`];
    });
    return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
  };
}

/** By required resource: the names of the containers that do not specify it. */
function lackingContainers(
  { spec: { containers = [], initContainers = [] } }: Pod,
  context: EvaluatorContext,
): ReadonlyMap<string, string> {
  const lacking = new Map<string, Set<string>>();
  for (const { name, resources } of [...containers, ...initContainers]) {
    const given = usageFrom(readAmounts(resources.requests), readAmounts(resources.limits), context);
    for (const resource of REQUIRED_RESOURCES) {
      if (!given.has(resource)) getOrInsertComputed(lacking, resource, () => new Set()).add(name);
    }
  }
  return new Map([...lacking].map(([resource, names]) => [resource, [...names].sort().join(',')]));
}

/** Whether the pod specifies pod-level resources. */
function hasPodLevelResources({ resources }: Pod['spec']): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).some(isPodLevelResource);
}

function isInScope(
  requirement: ScopedResourceSelectorRequirement,
  object: ApiObject,
  context: EvaluatorContext,
): boolean {
  const { spec } = podOf(object);
  switch (requirement.scopeName) {
    case 'Terminating':
      return hasDeadline(object);
    case 'NotTerminating':
      return !hasDeadline(object);
    case 'BestEffort':
      return isBestEffort(podOf(object), context);
    case 'NotBestEffort':
      return !isBestEffort(podOf(object), context);
    case 'PriorityClass':
      return scopeSelects(requirement, spec.priorityClassName ? [spec.priorityClassName] : []);
    case 'CrossNamespacePodAffinity':
      return cached(hasCrossNamespaceTerms, podOf(object), context);
    default:
      return false;
  }
}

type Fact<Value> = (pod: Pod, context: EvaluatorContext) => Value;

/** What was computed about pods, by function and pod; it depends on the features only. */
const facts = new WeakMap<Fact<unknown>, WeakMap<Pod, { readonly features: FeatureGates; readonly value: unknown }>>();

/** A pod may have forty thousand containers, and is compared with each quota of its namespace. */
function cached<Value>(fact: Fact<Value>, pod: Pod, context: EvaluatorContext): Value {
  if (!Object.isFrozen(pod)) return fact(pod, context);
  const byPod = getOrInsertComputed(facts, fact, () => new WeakMap());
  const known = byPod.get(pod);
  if (known?.features === context.features) return known.value as Value;
  const value = fact(pod, context);
  byPod.set(pod, { features: context.features, value });
  return value;
}

/** Pods with a deadline are in the scope Terminating. */
function hasDeadline(object: ApiObject): boolean {
  const { activeDeadlineSeconds } = podOf(object).spec;
  return activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0;
}

function isBestEffort({ spec, status }: Pod, { features }: EvaluatorContext): boolean {
  if (status.qosClass) return status.qosClass === 'BestEffort';
  return qosClassOf(spec, features) === 'BestEffort';
}

function hasCrossNamespaceTerms({ spec: { affinity } }: Pod): boolean {
  return hasCrossNamespaceTerm(affinity?.podAffinity) || hasCrossNamespaceTerm(affinity?.podAntiAffinity);
}

/** Whether an affinity term refers to other namespaces. */
function hasCrossNamespaceTerm(affinity: PodAffinity | undefined): boolean {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required = [],
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = affinity ?? {};
  const terms: readonly PodAffinityTerm[] = [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)];
  return terms.some(
    ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
  );
}

interface PodResources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function podResources(pod: Pod, { features }: EvaluatorContext): PodResources {
  const { spec } = pod;
  const options: PodAmountsOptions = {
    ...(features.enabled('InPlacePodVerticalScaling') ? { amountsOf: resizableAmounts(pod) } : {}),
    isPodLevel: features.enabled('PodLevelResources') ? isPodLevelResource : () => false,
  };
  const [requests, limits] = [podAmounts(spec, 'requests', options), podAmounts(spec, 'limits', options)];
  const overhead = readAmounts(spec.overhead);
  addAmounts(requests, overhead);
  for (const [name, amount] of overhead) {
    const limit = limits.get(name);
    // No limit means no limit for the overhead.
    if (limit !== undefined && !limit.isZero()) limits.set(name, limit.add(amount));
  }
  return { requests, limits };
}
