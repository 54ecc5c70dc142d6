/**
 * How pods depart from the ordinary: what a new one gets, what it is judged by, how it goes.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { forbidden } from '../../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import type { Strategy, WriteContext } from '../../../kind.js';
import { withLabelKeys } from '../../../shared/node-selector.js';
import { podNameWarnings } from '../../../shared/pod-name-warnings.js';
import { roundAmounts } from '../../../shared/round-amounts.js';
import { keepLive, specGeneration } from '../../../shared/strategies.js';
import type { PodAffinityTerm } from '../pod-spec/affinity.js';
import { podOnlyDefaults, podSpecDefaults } from '../pod-spec/defaults.js';
import { dropDisabledPodFields } from '../pod-spec/gates.js';
import type { PodSpec } from '../pod-spec/pod-spec.js';
import { profileMatchProblems } from '../pod-spec/profile-match.js';
import { podSpecWarnings } from '../pod-spec/warnings.js';
import { appArmorSyncWarnings, syncAppArmor } from './app-armor.js';
import { conditionSet } from './conditions.js';
import type { Pod } from './pod.js';
import { qosClassOf } from './qos.js';
import type { PodStatus } from './status.js';
import { podProblems } from './validate-pod.js';
import { podUpdateProblems } from './validate-update.js';

const of = (read: (pod: Pod) => string | undefined) => (object: ApiObject) => read(object as unknown as Pod) ?? '';

const podSelectableFields: Strategy['selectableFields'] = {
  'spec.nodeName': of(({ spec }) => spec.nodeName),
  // An old name of the same.
  'spec.host': of(({ spec }) => spec.nodeName),
  'spec.restartPolicy': of(({ spec }) => spec.restartPolicy),
  'spec.schedulerName': of(({ spec }) => spec.schedulerName),
  'spec.serviceAccountName': of(({ spec }) => spec.serviceAccountName),
  'spec.hostNetwork': of(({ spec }) => String(spec.hostNetwork === true)),
  'status.phase': of(({ status }) => status.phase),
  'status.podIP': of(({ status }) => status.podIP),
  // Known, but never filled in: only the empty text selects anything.
  'status.podIPs': () => '',
  'status.nominatedNodeName': of(({ status }) => status.nominatedNodeName),
};

export const podStrategy: Partial<Strategy> = {
  claimable: { except: ['status'] },
  deleteReturnsObject: true,
  generation: specGeneration,
  defaults,
  prepareForCreate,
  prepareForUpdate,
  validate,
  validateUpdate: podUpdateProblems,
  preparationWarnings: appArmorSyncWarnings,
  warnings: podWarnings,
  selectableFields: podSelectableFields,
  unknownFieldLabel: (field) => `field label not supported: ${field}`,
  gracePeriod,
};

function defaults(draft: DraftObject): void {
  const { spec, status } = draft as unknown as Pod;
  // Beside a status that is written stands the spec from the store, which has them.
  if (!Object.isFrozen(spec)) {
    podSpecDefaults(spec);
    podOnlyDefaults(spec);
  }
  if (status === undefined) return;
  alignIps(status);
  roundReported(status);
}

/** Amounts have no parts finer than a thousandth, reported ones included. */
function roundReported({ initContainerStatuses, containerStatuses, ephemeralContainerStatuses }: PodStatus): void {
  for (const list of [initContainerStatuses, containerStatuses, ephemeralContainerStatuses]) {
    for (const { allocatedResources, resources } of list ?? []) {
      roundAmounts(allocatedResources);
      roundAmounts(resources?.limits);
      roundAmounts(resources?.requests);
    }
  }
}

/** The first of several addresses stands alone as well, and that one counts when they differ. */
function alignIps(status: PodStatus): void {
  const { podIP, podIPs = [] } = status;
  const first = podIPs[0]?.ip;
  if (podIP === undefined) {
    if (first !== undefined) status.podIP = first;
  } else if (first !== podIP) status.podIPs = [{ ip: podIP }];
}

function prepareForCreate(draft: DraftObject, { dialect, features, now }: WriteContext): void {
  const pod = draft as unknown as Pod;
  pod.status = { phase: 'Pending', qosClass: qosClassOf(pod.spec, features) };
  dropDisabledPodFields(pod.spec, undefined, features);
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    conditionSet(pod.status, {
      type: 'PodScheduled',
      status: 'False',
      lastTransitionTime: now,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    });
  }
  fixAffinity(pod);
  syncAppArmor(pod, dialect);
}

/** Terms that speak of the pod's own labels are written out, because labels may change later. */
function fixAffinity(pod: Pod): void {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const labels = pod.metadata.labels ?? {};
  const fix = (term: PodAffinityTerm) => withLabelKeys(term, labels) as PodAffinityTerm;
  for (const affinity of [podAffinity, podAntiAffinity]) {
    if (affinity === undefined) continue;
    const {
      requiredDuringSchedulingIgnoredDuringExecution: terms,
      preferredDuringSchedulingIgnoredDuringExecution: weighted,
    } = affinity;
    if (terms !== undefined) affinity.requiredDuringSchedulingIgnoredDuringExecution = terms.map(fix);
    for (const preference of weighted ?? []) preference.podAffinityTerm = fix(preference.podAffinityTerm);
  }
}

function prepareForUpdate(draft: DraftObject, live: ApiObject, { features }: WriteContext): void {
  keepLive(draft, live, ['status']);
  dropDisabledPodFields(draft['spec'] as PodSpec, live['spec'] as PodSpec, features);
}

function validate(object: ApiObject, context: WriteContext): readonly FieldError[] {
  const pod = object as unknown as Pod;
  const { schedulingGates = [], ephemeralContainers = [], nodeName } = pod.spec;
  return [
    ...podProblems(pod, context),
    ...(ephemeralContainers.length > 0 ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')] : []),
    ...(schedulingGates.length > 0 && nodeName !== undefined
      ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
    ...profileMatchProblems('spec', pod.spec, {
      annotations: pod.metadata.annotations,
      dialect: context.dialect,
    }),
  ];
}

/** A pod that runs nowhere, or no more, goes at once. */
function gracePeriod(live: ApiObject, asked: number | undefined): number {
  const { spec, status } = live as unknown as Pod;
  if (spec.nodeName === undefined || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
  const seconds = asked ?? spec.terminationGracePeriodSeconds;
  return seconds < 0 ? 1 : seconds;
}

function podWarnings(object: ApiObject, live: ApiObject | undefined, { dialect }: WriteContext): string[] {
  if (live !== undefined) return [];
  const { spec, metadata } = object as unknown as Pod;
  return [
    ...podNameWarnings(object, live, "the Pod's hostname"),
    ...podSpecWarnings('', spec, { annotations: metadata.annotations ?? {}, dialect }),
  ];
}
