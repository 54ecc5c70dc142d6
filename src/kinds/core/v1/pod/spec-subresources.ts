/**
 * The subresources of a pod that change one part of its spec: `resize` changes container resources,
 * `ephemeralcontainers` adds ephemeral containers. All other fields keep their live values.
 */
import { childPath, type FieldError, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { Quantity } from '../../../../meta/quantity.js';
import { quote } from '../../../../text/go/go-text.js';
import { copyJson, deepEqual, own } from '../../../../util/json.js';
import type { Container, PodSpec, ResourceRequirements } from '../../../generated/core-v1.js';
import type { HookContext, MetadataErrors } from '../../../kind.js';
import { keepLive, keepMetadata } from '../../../shared/strategies.js';
import type { SubresourceStrategy } from '../../../subresource.js';
import { EMPTY_PATH, mirrorKey } from '../pod-spec/annotations.js';
import { dropDisabledPodFields } from '../pod-spec/gates.js';
import { diffText } from './diff/diff.js';
import type { Pod } from './pod.js';
import { qosClassOf } from './qos.js';
import { annotationsUpdateProblems, podProblems, restore } from './validate.js';

export const ephemeralContainersSubresource: SubresourceStrategy<Pod> = Object.freeze({
  verbs: ['get', 'update', 'patch'] as const,
  tables: false,
  prepare: prepareEphemeralContainers,
  validate: validateEphemeralContainers,
});

/** A field manager owns all fields that it sends here, even those that are reset to their live values. */
export const resizeSubresource: SubresourceStrategy<Pod> = Object.freeze({
  verbs: ['get', 'update', 'patch'] as const,
  tables: false,
  prepare: prepareResize,
  validate: validateResize,
});

function prepareEphemeralContainers(draft: DraftObject, live: ApiObject, { features }: HookContext): void {
  const requested = draft['spec'] as PodSpec;
  const spec = copyJson(live['spec']) as PodSpec;
  restore(spec, requested, 'ephemeralContainers');
  keepLiveExceptSpec(draft, live, spec);
  dropDisabledPodFields(spec, live['spec'] as PodSpec, features);
}

function validateEphemeralContainers(
  pod: Pod,
  before: Pod,
  context: HookContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  if (Object.hasOwn(before.metadata.annotations ?? {}, mirrorKey(context.dialect))) {
    return [forbidden(EMPTY_PATH, 'static pods do not support ephemeral containers')];
  }
  const path = 'spec.ephemeralContainers';
  const now = new Map((pod.spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  const changes = (before.spec.ephemeralContainers ?? []).flatMap((container) => {
    const next = now.get(container.name);
    const which = `existing ephemeral containers ${quote(container.name)} may not be`;
    if (next === undefined) return [forbidden(path, `${which} removed\n`)];
    if (deepEqual(next, container)) return [];
    return [forbidden(path, `${which} changed\n${diffText('EphemeralContainer', container, next)}`)];
  });
  return [
    ...metadata.forCreate(),
    ...podProblems(pod, context, before),
    ...annotationsUpdateProblems(pod, before, context),
    ...changes,
  ];
}

const LISTS = ['containers', 'initContainers'] as const;

/**
 * Takes only `resources` and `resizePolicy` of each container from the request. If the number of containers differs, the
 * draft stays as sent, and a list with other names or another order stays as sent: validation rejects both.
 */
function prepareResize(draft: DraftObject, live: ApiObject, { features }: HookContext): void {
  const [requested, before] = [draft['spec'] as PodSpec, live['spec'] as PodSpec];
  if (LISTS.every((list) => (requested[list] ?? []).length === (before[list] ?? []).length)) {
    const spec = copyJson(before) as PodSpec;
    for (const list of LISTS) {
      const wanted = requested[list] ?? [];
      if (!hasSameNames(wanted, before[list] ?? [])) spec[list] = wanted;
      else for (const [index, container] of (spec[list] ?? []).entries()) takeResources(container, wanted[index]);
    }
    keepLiveExceptSpec(draft, live, spec);
  }
  dropDisabledPodFields(draft['spec'] as PodSpec, before, features);
}

function hasSameNames(wanted: readonly Container[], live: readonly Container[]): boolean {
  return wanted.every(({ name }, index) => live[index]?.name === name);
}

function takeResources(container: Container, wanted: Container | undefined): void {
  if (wanted === undefined) return;
  container.resources = wanted.resources;
  restore(container, wanted, 'resizePolicy');
}

function validateResize(pod: Pod, before: Pod, context: HookContext, metadata: MetadataErrors): readonly FieldError[] {
  const unsupported = unsupportedResizeReason(pod, before, context);
  if (unsupported !== undefined) return [forbidden(EMPTY_PATH, unsupported)];
  const problems = [...metadata.forCreate(), ...podProblems(pod, context, before)];
  const qosClass = before.status.qosClass ?? qosClassOf(before.spec, context.features);
  if (qosClass !== qosClassOf(pod.spec, context.features)) {
    problems.push(invalid('spec', pod.status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!isResizeSupportedByNode(before)) {
    problems.push(forbidden('spec', 'Pod running on node without support for resize'));
  }
  const misplaced = LISTS.flatMap((list) => orderProblems(list, pod.spec[list] ?? [], before.spec[list] ?? []));
  return [...problems, ...(misplaced.length > 0 ? misplaced : containersProblems(pod.spec, before.spec))];
}

/** Containers are compared by position, so their names and order must not change. */
function orderProblems(list: string, next: readonly Container[], live: readonly Container[]): FieldError[] {
  const path = `spec.${list}`;
  if (next.length !== live.length) return [forbidden(path, `${list} may not be added or removed on resize`)];
  return live.flatMap(({ name }, index) => {
    if (next[index]?.name === name) return [];
    const at = childPath(keyPath(path, index), 'name');
    return [forbidden(at, `${list} may not be renamed or reordered on resize`)];
  });
}

/** Why the pod does not support any resize; undefined if it does. */
function unsupportedResizeReason(next: Pod, { metadata, spec }: Pod, { dialect }: HookContext): string | undefined {
  if (hasPodLevelResources(next.spec) || hasPodLevelResources(spec))
    return 'pods with pod-level resources cannot be resized';
  if (Object.hasOwn(metadata.annotations ?? {}, mirrorKey(dialect))) return 'static pods cannot be resized';
  return spec.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined;
}

function hasPodLevelResources({ resources: { requests = {}, limits = {} } = {} }: PodSpec): boolean {
  return Object.keys(requests).length + Object.keys(limits).length > 0;
}

/** Nodes that support resize report the resources of running containers. */
function isResizeSupportedByNode({ status }: Pod): boolean {
  const running = (status.containerStatuses ?? []).find(({ state }) => state.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function containersProblems(spec: PodSpec, live: PodSpec): FieldError[] {
  const lists = { initContainers: pairs(spec, live, 'initContainers'), containers: pairs(spec, live, 'containers') };
  return [
    ...[...lists.initContainers.filter(({ before }) => before.restartPolicy === 'Always'), ...lists.containers].flatMap(
      ({ path, next, before }) => resizeProblems(childPath(path, 'resources'), next, before.resources),
    ),
    ...[...lists.containers, ...lists.initContainers].flatMap(otherChangeProblems),
  ];
}

interface Pair {
  readonly path: string;
  readonly next: Container;
  readonly before: Container;
  readonly isInit: boolean;
}

function pairs(spec: PodSpec, live: PodSpec, list: (typeof LISTS)[number]): Pair[] {
  return (live[list] ?? []).flatMap((before, index) => {
    const next = spec[list]?.[index];
    if (next === undefined) return [];
    return [{ path: keyPath(`spec.${list}`, index), next, before, isInit: list === 'initContainers' }];
  });
}

/** Rejects changes of anything but cpu and memory, and all changes of init containers that are no sidecars. */
function otherChangeProblems({ next, before, isInit }: Pair): FieldError[] {
  const isRunOnce = isInit && before.restartPolicy !== 'Always';
  if (deepEqual(isRunOnce ? next : withLiveAmounts(next, before), before)) return [];
  if (isRunOnce) return [forbidden('spec', 'resources for non-sidecar init containers are immutable')];
  const whose = isInit ? ' for sidecar containers' : '';
  return [forbidden('spec', `only cpu and memory resources${whose} are mutable`)];
}

const RESIZABLE = ['cpu', 'memory'];

function resizeProblems(path: string, next: Container, live: ResourceRequirements): FieldError[] {
  return [
    ...(removesAny(next.resources.requests, live.requests)
      ? [forbidden(childPath(path, 'requests'), 'resource requests cannot be removed')]
      : []),
    ...(removesAny(next.resources.limits, live.limits)
      ? [forbidden(childPath(path, 'limits'), 'resource limits cannot be removed')]
      : []),
    ...memoryProblems(path, next, live),
  ];
}

type Amounts = Readonly<Record<string, string>> | undefined;

function removesAny(next: Amounts, live: Amounts): boolean {
  return Object.keys(live ?? {}).some((name) => own(next ?? {}, name) === undefined);
}

/** The memory limit of a running container can only increase, unless its resize policy allows a restart. */
function memoryProblems(path: string, container: Container, live: ResourceRequirements): FieldError[] {
  const policy = (container.resizePolicy ?? []).find(({ resourceName }) => resourceName === 'memory');
  if (policy !== undefined && policy.restartPolicy === 'RestartContainer') return [];
  const [next, before] = [own(container.resources.limits ?? {}, 'memory'), own(live.limits ?? {}, 'memory')];
  const change = memoryChange(next, before);
  if (change === undefined) return [];
  const at = keyPath(childPath(path, 'limits'), 'memory');
  return [forbidden(at, `memory limits cannot be ${change} unless resizePolicy is RestartContainer`)];
}

function memoryChange(next: string | undefined, before: string | undefined): string | undefined {
  if (next === undefined) return undefined;
  // A new limit is lower than no limit.
  if (before === undefined) return 'added';
  return Quantity.parse(next).cmp(Quantity.parse(before)) < 0 ? 'decreased' : undefined;
}

/**
 * The container with its live quantities of cpu and memory. Lists that the live container lacks are dropped. Claims are
 * dropped as in the reference server, so a container with claims always counts as changed.
 */
function withLiveAmounts(container: Container, before: Container): Container {
  const resources: ResourceRequirements = {};
  for (const list of ['limits', 'requests'] as const) {
    const live = before.resources[list];
    if (live === undefined) continue;
    const kept = Object.entries(container.resources[list] ?? {}).filter(([name]) => !RESIZABLE.includes(name));
    const restored = Object.entries(live).filter(([name]) => RESIZABLE.includes(name));
    resources[list] = Object.fromEntries([...kept, ...restored]);
  }
  return { ...container, resources };
}

/** Resets the draft to the live object with the given spec. The resourceVersion of the request stays for the conflict check. */
function keepLiveExceptSpec(draft: DraftObject, live: ApiObject, spec: PodSpec): void {
  keepLive(draft, live, ['status']);
  draft['spec'] = spec;
  keepMetadata(draft, live, 'kept');
}
