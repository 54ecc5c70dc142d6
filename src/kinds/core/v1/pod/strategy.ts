/**
 * The strategy of pods: defaulting, preparation, validation on create, deletion, and the synchronization of AppArmor
 * fields and annotations.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import { type FieldError, forbidden } from '../../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { deepEqual, own, setOwn } from '../../../../util/json.js';
import { sortedRecord } from '../../../../util/order.js';
import type { AppArmorProfile, PodAffinityTerm, PodStatus } from '../../../generated/core-v1.js';
import type { HookContext, Strategy, StrategyDefinition } from '../../../kind.js';
import { withLabelKeys } from '../../../shared/node-selector.js';
import { roundResourceList } from '../../../shared/resources.js';
import { keepLive, podNameWarnings, specGeneration } from '../../../shared/strategies.js';
import { appArmorPrefix, profileMatchProblems } from '../pod-spec/annotations.js';
import { allContainers, podOnlyDefaults, podSpecDefaults } from '../pod-spec/defaults.js';
import { dropDisabledPodFields } from '../pod-spec/gates.js';
import { appArmorProblems } from '../pod-spec/validate-security.js';
import { appArmorWarning, podSpecWarnings } from '../pod-spec/warnings.js';
import { setCondition } from './conditions.js';
import type { Pod } from './pod.js';
import { qosClassOf } from './qos.js';
import { podProblems, podUpdateProblems } from './validate.js';

/** Warnings by draft pod. They are collected during synchronization, because afterwards fields and annotations agree. */
const appArmorWarnings = new WeakMap<object, readonly string[]>();

const podSelectableFields: Strategy<Pod>['read']['selectableFields'] = {
  'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
  // The old name of spec.nodeName.
  'spec.host': ({ spec }) => spec.nodeName ?? '',
  'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
  'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
  'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
  'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork === true),
  'status.phase': ({ status }) => status.phase ?? '',
  'status.podIP': ({ status }) => status.podIP ?? '',
  // Supported as a label, but always empty in the reference server.
  'status.podIPs': () => '',
  'status.nominatedNodeName': ({ status }) => status.nominatedNodeName ?? '',
};

export const podStrategy: StrategyDefinition<Pod> = {
  write: { ownableFields: { except: ['status'] }, generation: specGeneration, warnings: podWarnings },
  delete: { returnDeletedObject: true, gracePeriod },
  decode: { defaults },
  create: { prepare: prepareForCreate, validate, warnings: appArmorSyncWarnings },
  update: { prepare: prepareForUpdate, validate: podUpdateProblems },
  read: { selectableFields: podSelectableFields, unknownFieldLabel: (field) => `field label not supported: ${field}` },
};

function defaults(draft: Pod): void {
  const { spec, status } = draft;
  // In a status update the spec is frozen: it comes from storage and has its defaults.
  if (!Object.isFrozen(spec)) {
    podSpecDefaults(spec);
    podOnlyDefaults(spec);
  }
  if (status === undefined) return;
  alignIps(status);
  roundStatusResources(status);
}

/** Rounds the quantities in container statuses. */
function roundStatusResources({
  initContainerStatuses,
  containerStatuses,
  ephemeralContainerStatuses,
}: PodStatus): void {
  for (const list of [initContainerStatuses, containerStatuses, ephemeralContainerStatuses]) {
    for (const { allocatedResources, resources } of list ?? []) {
      roundResourceList(allocatedResources);
      roundResourceList(resources?.limits);
      roundResourceList(resources?.requests);
    }
  }
}

/** Keeps `podIP` equal to the first of `podIPs`. If they differ, `podIP` wins. */
function alignIps(status: PodStatus): void {
  const { podIP, podIPs = [] } = status;
  const first = podIPs[0]?.ip;
  if (podIP === undefined) {
    if (first !== undefined) status.podIP = first;
  } else if (first !== podIP) status.podIPs = [{ ip: podIP }];
}

function prepareForCreate(pod: Pod, { dialect, features, now }: HookContext): void {
  // The class that the client sends is trusted.
  const sent = pod.status.qosClass || undefined;
  pod.status = { phase: 'Pending', qosClass: sent ?? qosClassOf(pod.spec, features) };
  dropDisabledPodFields(pod.spec, undefined, features);
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    setCondition(pod.status, {
      type: 'PodScheduled',
      status: 'False',
      lastTransitionTime: now,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    });
  }
  resolveLabelKeys(pod);
  syncAppArmor(pod, dialect);
}

/** Converts `matchLabelKeys` of affinity terms to expressions on create, because labels may change later. */
function resolveLabelKeys(pod: Pod): void {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const labels = pod.metadata.labels ?? {};
  const resolve = (term: PodAffinityTerm) => withLabelKeys(term, labels) as PodAffinityTerm;
  for (const affinity of [podAffinity, podAntiAffinity]) {
    if (affinity === undefined) continue;
    const {
      requiredDuringSchedulingIgnoredDuringExecution: terms,
      preferredDuringSchedulingIgnoredDuringExecution: weighted,
    } = affinity;
    if (terms !== undefined) affinity.requiredDuringSchedulingIgnoredDuringExecution = terms.map(resolve);
    for (const preference of weighted ?? []) preference.podAffinityTerm = resolve(preference.podAffinityTerm);
  }
}

function prepareForUpdate(draft: DraftObject & Pod, live: ApiObject & Pod, { features }: HookContext): void {
  keepLive(draft, live, ['status']);
  dropDisabledPodFields(draft.spec, live.spec, features);
}

function validate(pod: Pod, context: HookContext): readonly FieldError[] {
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

/** Pods that are not scheduled or have terminated are deleted without grace period. */
function gracePeriod(live: Pod, requested: number | undefined): number {
  const { spec, status } = live;
  if (spec.nodeName === undefined || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds;
  return seconds < 0 ? 1 : seconds;
}

function podWarnings(object: Pod, live: Pod | undefined, { dialect }: HookContext): string[] {
  if (live !== undefined) return [];
  const { spec, metadata } = object;
  return [
    ...podNameWarnings(object, live, "the Pod's hostname"),
    ...podSpecWarnings('', spec, { annotations: metadata.annotations ?? {}, dialect }),
  ];
}

/** The warnings of {@link syncAppArmor} about this pod. */
function appArmorSyncWarnings(pod: object): readonly string[] {
  return appArmorWarnings.get(pod) ?? [];
}

/**
 * Sets AppArmor fields from annotations and annotations from fields, so that old and new clients see the same profile.
 * Changes the pod in place.
 */
function syncAppArmor(pod: Pod, dialect: Dialect): void {
  if (pod.spec.os?.name === 'windows') return;
  const warnings: string[] = [];
  const ofPod = pod.spec.securityContext.appArmorProfile;
  for (const container of allContainers(pod.spec)) {
    const key = `${appArmorPrefix(dialect)}${container.name}`;
    const annotation = own(pod.metadata.annotations ?? {}, key);
    const profile = container.securityContext?.appArmorProfile;
    if (annotation === undefined) {
      const text = annotationFor(profile ?? ofPod);
      if (text !== '') annotate(pod, key, text);
    } else if (profile === undefined) {
      const derived = profileFor(annotation);
      if (deepEqual(derived, ofPod) && derived !== undefined) continue;
      warnings.push(appArmorWarning('metadata.annotations', key));
      if (derived === undefined) continue;
      container.securityContext = { ...container.securityContext, appArmorProfile: derived };
    }
  }
  appArmorWarnings.set(pod, warnings);
}

function annotate(pod: Pod, key: string, text: string): void {
  const annotations = { ...pod.metadata.annotations };
  setOwn(annotations, key, text);
  const sorted = sortedRecord(Object.entries(annotations));
  (pod.metadata as { annotations?: Record<string, string> }).annotations = sorted;
}

function annotationFor(profile: AppArmorProfile | undefined): string {
  switch (profile?.type) {
    case 'Unconfined':
      return 'unconfined';
    case 'RuntimeDefault':
      return 'runtime/default';
    case 'Localhost':
      return profile.localhostProfile === undefined ? '' : `localhost/${profile.localhostProfile}`;
    default:
      return '';
  }
}

function profileFor(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith('localhost/')) return undefined;
  const derived: AppArmorProfile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) };
  return appArmorProblems('', derived).length === 0 ? derived : undefined;
}
