/**
 * The Eviction kind: deletes a pod if its disruption budget allows it. spec: What the service does
 */

import { errors, failure } from '../../../../meta/errors.js';
import { invalid } from '../../../../meta/field-error.js';
import { selectsLabels } from '../../../../meta/labels.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { type Status, SUCCESS } from '../../../../meta/status.js';
import { setOwn } from '../../../../util/json.js';
import { chain, type MaybePromise } from '../../../../util/maybe-promise.js';
import { sortedRecord } from '../../../../util/order.js';
import { defineBuiltIn } from '../../../define-kind.js';
import {
  type EvictionDeleteOptions,
  type EvictionKind,
  type EvictionObject,
  evictionBase,
} from '../../../generated/core-v1.js';
import type { StrategyContext } from '../../../kind.js';
import type { PodDisruptionBudget } from '../../../policy/v1/pod-disruption-budget.js';
import { checkDeleteOptions } from '../../../shared/deletion-options.js';
import { failedPrecondition } from '../../../shared/storage-conflict.js';
import { isReady, setCondition } from './conditions.js';
import type { Pod } from './pod.js';

export interface Eviction extends EvictionObject {}

/** Only created at `pods/eviction`: it has no collection. */
export const Eviction: EvictionKind<Eviction> = defineBuiltIn({
  ...evictionBase,
  apiVersion: 'policy/v1',
  verbs: ['create'],
});

const PODS = { group: '', resource: 'pods' };
const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' };

/** Checks the disruption budget, charges it and deletes the pod. */
export function evictPod(body: Eviction, context: StrategyContext): MaybePromise<Status> {
  const { metadata, deleteOptions: options = {} } = body;
  const name = context.request.name ?? '';
  if (metadata.name !== name) throw errors.badRequest('name in URL does not match name in Eviction object');
  rejectIgnoreReadError(name, options);
  const dryRun = checkedDryRun(options, context);
  const live = context.objects.get({ ...PODS, namespace: context.namespace, name });
  if (live === undefined) throw errors.notFound(PODS, name);
  const pod = live as ApiObject & Pod;
  if (!isUnprotected(pod)) {
    const budget = budgetOf(pod, context);
    if (budget !== undefined && !isUnhealthyEvictionAllowed(pod, budget))
      chargeBudget(pod, budget, { context, dryRun });
  }
  return chain(deletePod(name, options, { context, dryRun }), () => SUCCESS);
}

/** The option to delete unreadable objects is invalid for evictions. */
function rejectIgnoreReadError(
  name: string,
  { ignoreStoreReadErrorWithClusterBreakingPotential: ignoreReadError }: EvictionDeleteOptions,
) {
  if (ignoreReadError !== true) return;
  const detail = 'can not be set for pod eviction, try after removing the option';
  const path = 'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential';
  throw errors.invalid({ group: 'policy', kind: 'Eviction' }, name, [invalid(path, true, detail)]);
}

/** Dry run can be set in the request and in the delete options, which must agree. */
function checkedDryRun({ dryRun: inBody = [] }: EvictionDeleteOptions, { request, dryRun }: StrategyContext): boolean {
  const inRequest = request.options.dryRun ?? [];
  if (inBody.length > 0 && inRequest.length > 0 && inBody.join() !== inRequest.join()) {
    const list = (all: readonly string[]) => `[${all.join(' ')}]`;
    throw errors.plain(`Non-matching dry-run options in request and content: ${list(inRequest)} and ${list(inBody)}`);
  }
  // Any value counts as a dry run.
  return dryRun || inBody.length > 0;
}

/** Budgets do not protect pods that are pending, terminated or being deleted. */
function isUnprotected({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(status.phase ?? '');
}

function budgetOf(pod: Pod, { objects, namespace }: StrategyContext): PodDisruptionBudget | undefined {
  const all = objects.list(BUDGETS, namespace) as readonly (ApiObject & PodDisruptionBudget)[];
  // A budget without a selector matches no pod; one with an empty selector matches all pods.
  const matching = all.filter(({ spec }) => selectsLabels(spec.selector, pod.metadata.labels));
  if (matching.length < 2) return matching[0];
  throw errors.plain(
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  );
}

/** True if the pod is not ready and the budget's policy allows its eviction without a charge. */
function isUnhealthyEvictionAllowed(pod: Pod, { spec, status }: PodDisruptionBudget): boolean {
  if (isReady(pod.status)) return false;
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  return status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
}

const MAX_DISRUPTED = 2000;
const RETRY_SECONDS = 10;

/** Decrements `disruptionsAllowed` of the budget. Throws if no disruption is allowed. */
function chargeBudget(
  pod: Pod,
  budget: PodDisruptionBudget,
  { context, dryRun }: { readonly context: StrategyContext; readonly dryRun: boolean },
): void {
  const { metadata, status } = budget;
  const name = metadata.name ?? '';
  const forbidden = (why: string) => errors.forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);
  }
  if (status.disruptionsAllowed < 0) throw forbidden('pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED) {
    throw forbidden('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (status.disruptionsAllowed === 0) throw tooManyRequests(insufficientPodsMessage(budget));
  if (dryRun) return;
  context.objects.changeStatus({ ...BUDGETS, namespace: context.namespace, name }, (draft) => {
    const { status: charged } = draft as DraftObject & PodDisruptionBudget;
    charged.disruptionsAllowed -= 1;
    if (charged.disruptionsAllowed === 0) setInsufficientPods(charged, context.now);
    const disrupted = { ...charged.disruptedPods };
    setOwn(disrupted, pod.metadata.name ?? '', context.now);
    charged.disruptedPods = sortedRecord(Object.entries(disrupted));
  });
}

function insufficientPodsMessage({ metadata, status }: PodDisruptionBudget): string {
  const { desiredHealthy, currentHealthy } = status;
  return `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
}

function tooManyRequests(cause: string, retryAfterSeconds = 0): Error {
  return failure({
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
    },
  });
}

function setInsufficientPods(status: PodDisruptionBudget['status'], now: string): void {
  const { conditions = [], observedGeneration } = status;
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False' as const,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
    reason: 'InsufficientPods',
    // Clears the previous message.
    message: '',
  };
  status.conditions =
    before === undefined ? [...conditions, condition] : conditions.map((one) => (one === before ? condition : one));
}

/**
 * Sets the DisruptionTarget condition and deletes the pod. As in the reference server, the options are validated after
 * the condition is set.
 */
function deletePod(
  name: string,
  options: EvictionDeleteOptions,
  { context, dryRun }: { readonly context: StrategyContext; readonly dryRun: boolean },
): MaybePromise<void> {
  const address = { ...PODS, namespace: context.namespace, name };
  const live = context.objects.get(address);
  const { uid } = options.preconditions ?? {};
  const isSamePod = failedPrecondition(options.preconditions ?? {}, live?.metadata) === undefined;
  if (isSamePod && !dryRun) {
    context.objects.changeParts(address, (draft) => setDisruptionTarget(draft as DraftObject & Pod, context));
  }
  const { dryRun: _dryRun, ...deletion } = checkDeleteOptions(options, context.dialect);
  // The precondition fails: the delete reports the conflict.
  if (!isSamePod) return context.objects.delete(address, deletion);
  if (dryRun) return undefined;
  // The resourceVersion is not a precondition any more: setting the condition changed it.
  return context.objects.delete(address, { ...deletion, preconditions: uid === undefined ? {} : { uid } });
}

function setDisruptionTarget(pod: Pod, { now }: StrategyContext): void {
  setCondition(pod.status, {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
}
