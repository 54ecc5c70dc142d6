/**
 * Validates the pod security labels of namespaces, and warns about existing pods that violate a stricter level.
 */

import type { PodSpec } from '../../kinds/generated/core-v1.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { deepEqual } from '../../util/json.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { evaluatePod, printReasons } from './evaluate.js';
import {
  isStricter,
  type LevelVersion,
  MODES,
  type ParsedPolicy,
  type PodSecuritySettings,
  type Policy,
  podSecurityKey,
  policyOf,
  printLevel,
} from './policy.js';
import { type PodLike, type ReviewedPod, toReviewedPod } from './review.js';

/**
 * The number of pods that are checked.
 * upstream: pod-security-admission/admission/admission.go defaultNamespaceMaxPodsToCheck
 */
const MAX_PODS = 3000;

export function validateNamespace(request: AdmissionRequest, view: ClusterView, settings: PodSecuritySettings): void {
  const { object, oldObject, served } = request;
  if (request.subresource !== '' || object === undefined) return;
  const read = (of: ApiObject): ParsedPolicy => policyOf(of.metadata.labels ?? {}, settings.defaults, view.dialect);
  const next = read(object);
  const live = oldObject === undefined ? undefined : read(oldObject);
  // Existing errors may stay.
  if (next.errors.length > 0 && !deepEqual(next.errors, live?.errors)) {
    throw errors.invalid(served.groupKind, request.sentName, next.errors);
  }
  if (live !== undefined && !isTightened(next.policy.enforce, live.policy.enforce)) return;
  if (settings.namespaces.has(object.metadata.name)) warnOfExemption(request, next.policy, { view, settings });
  else if (live !== undefined) warnOfPods(request, next.policy.enforce, { view, settings });
}

function isTightened(next: LevelVersion, live: LevelVersion): boolean {
  if (next.level === 'privileged') return false;
  // Levels of different versions are not comparable.
  return next.version !== live.version || isStricter(next.level, live.level);
}

interface PluginContext {
  readonly view: ClusterView;
  readonly settings: PodSecuritySettings;
}

function warnOfPods(request: AdmissionRequest, enforce: LevelVersion, { view, settings }: PluginContext): void {
  const namespace = request.object?.metadata.name ?? '';
  const pods = view.list({ group: '', resource: 'pods' }, namespace).filter((pod) => {
    const { runtimeClassName } = pod['spec'] as PodSpec;
    return runtimeClassName === undefined || !settings.runtimeClasses.has(runtimeClassName);
  });
  const review = (pod: ApiObject) => toReviewedPod(pod as unknown as PodLike, view);
  append(request.warnings, warningsAboutPods(pods, { namespace, enforce, review }));
}

/** Warns about labels without effect: the namespace is exempt. */
function warnOfExemption(request: AdmissionRequest, policy: Policy, { view, settings }: PluginContext): void {
  const { defaults } = settings;
  if (MODES.every((mode) => isEquivalent(policy[mode], defaults[mode]))) return;
  if (MODES.every((mode) => policy[mode].level === 'privileged')) return;
  const { name, labels = {} } = request.object?.metadata ?? { name: '' };
  const isLabelled = (key: string): boolean => Object.hasOwn(labels, podSecurityKey(key, view.dialect));
  const ignored = MODES.filter((mode) => policy[mode].level !== 'privileged')
    .filter((mode) => isLabelled(mode) || isLabelled(`${mode}-version`))
    .map((mode) => `${mode}=${printLevel(policy[mode])}`);
  request.warnings.push(
    `namespace ${quote(name)} is exempt from Pod Security, and the policy (${ignored.join(', ')}) will be ignored`,
  );
}

function isEquivalent(left: LevelVersion, right: LevelVersion): boolean {
  if (left.level !== right.level) return false;
  return left.level === 'privileged' || left.version === right.version;
}

/** The warnings about pods, which are sorted by name. */
function warningsAboutPods(
  pods: readonly ApiObject[],
  context: {
    readonly namespace: string;
    readonly enforce: LevelVersion;
    readonly review: (pod: ApiObject) => ReviewedPod;
  },
): string[] {
  const { namespace, enforce, review } = context;
  const found = new Map<string, string[]>();
  for (const pod of prioritize(pods).slice(0, MAX_PODS)) {
    const reasons = printReasons(evaluatePod(enforce, review(pod)));
    if (reasons !== '') found.set(reasons, [...(found.get(reasons) ?? []), pod.metadata.name]);
  }
  const warnings: string[] = [];
  if (pods.length > MAX_PODS) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${MAX_PODS} of ${pods.length} existing pods`,
    );
  }
  if (found.size === 0) return warnings;
  const level = quote(printLevel(enforce));
  warnings.push(`existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level ${level}`);
  return [...warnings, ...[...found].map(([reasons, names]) => `${describePods(names)}: ${reasons}`).sort()];
}

/** Pods of one controller are alike: the first pod of each controller is checked before further ones. */
function prioritize(pods: readonly ApiObject[]): readonly ApiObject[] {
  if (pods.length <= MAX_PODS) return pods;
  const seen = new Set<string>();
  const repeated: ApiObject[] = [];
  const first = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    if (owner === undefined) return true;
    if (!seen.has(owner)) return seen.add(owner);
    repeated.push(pod);
    return false;
  });
  return [...first, ...repeated];
}

/** `a`, `a (and 1 other pod)`, `a (and 2 other pods)`: names the first pod. */
function describePods(names: readonly string[]): string {
  const [first = ''] = [...names].sort();
  if (names.length === 1) return first;
  return `${first} (and ${names.length - 1} other ${names.length === 2 ? 'pod' : 'pods'})`;
}
