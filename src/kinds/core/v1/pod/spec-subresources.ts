/**
 * The `resize` address of a pod: what its containers ask for and are limited to, changed while they run.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../../../meta/object.js';
import { Quantity } from '../../../../meta/quantity.js';
import { copyJson, deepEqual, own } from '../../../../util/json.js';
import type { WriteContext } from '../../../kind.js';
import { keepLive } from '../../../shared/strategies.js';
import type { SubresourceStrategy } from '../../../subresource.js';
import { EMPTY_PATH, mirrorKey } from '../pod-spec/annotations.js';
import type { Container, ResourceRequirements } from '../pod-spec/container.js';
import { dropDisabledPodFields } from '../pod-spec/gates.js';
import type { PodSpec } from '../pod-spec/pod-spec.js';
import type { Pod } from './pod.js';
import { qosClassOf } from './qos.js';
import { podProblems, restore } from './validate.js';

export const resizeSubresource: SubresourceStrategy = Object.freeze({
  // Who writes here owns what was sent, even if it is not taken over.
  verbs: ['get', 'update', 'patch'] as const,
  tables: false,
  prepare: prepareForUpdate,
  validate: validateUpdate,
});

const LISTS = ['containers', 'initContainers'] as const;

/**
 * Only resources and what happens when they change are taken over, container by container. With more or fewer containers
 * all is left as it was sent, and with others in their places those lists are: the rules will refuse them.
 */
function prepareForUpdate(draft: DraftObject, live: ApiObject, { features }: WriteContext): void {
  const [asked, before] = [draft['spec'] as PodSpec, live['spec'] as PodSpec];
  if (LISTS.every((list) => (asked[list] ?? []).length === (before[list] ?? []).length)) {
    const spec = copyJson(before) as PodSpec;
    for (const list of LISTS) {
      const wanted = asked[list] ?? [];
      if (!sameNames(wanted, before[list] ?? [])) spec[list] = wanted;
      else for (const [index, container] of (spec[list] ?? []).entries()) takeResources(container, wanted[index]);
    }
    keepLiveExceptSpec(draft, live, spec);
  }
  dropDisabledPodFields(draft['spec'] as PodSpec, before, features);
}

function sameNames(wanted: readonly Container[], live: readonly Container[]): boolean {
  return wanted.every(({ name }, index) => live[index]?.name === name);
}

function takeResources(container: Container, wanted: Container | undefined): void {
  if (wanted === undefined) return;
  container.resources = wanted.resources;
  restore(container, wanted, 'resizePolicy');
}

function validateUpdate(next: ApiObject, live: ApiObject, context: WriteContext): readonly FieldError[] {
  const [pod, before] = [next as unknown as Pod, live as unknown as Pod];
  const refusal = whyNever(pod, before, context);
  if (refusal !== undefined) return [forbidden(EMPTY_PATH, refusal)];
  const problems = podProblems(pod, context, before);
  const qosClass = before.status.qosClass ?? qosClassOf(before.spec, context.features);
  if (qosClass !== qosClassOf(pod.spec, context.features)) {
    problems.push(invalid('spec', pod.status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!runsWhereResizable(before)) {
    problems.push(forbidden('spec', 'Pod running on node without support for resize'));
  }
  const misplaced = LISTS.flatMap((list) => orderProblems(list, pod.spec[list] ?? [], before.spec[list] ?? []));
  return [...problems, ...(misplaced.length > 0 ? misplaced : containersProblems(pod.spec, before.spec))];
}

/** Containers are compared place by place: with others there, nothing more can be said. */
function orderProblems(list: string, next: readonly Container[], live: readonly Container[]): FieldError[] {
  const path = `spec.${list}`;
  if (next.length !== live.length) return [forbidden(path, `${list} may not be added or removed on resize`)];
  return live.flatMap(({ name }, index) => {
    if (next[index]?.name === name) return [];
    const at = childPath(keyPath(path, index), 'name');
    return [forbidden(at, `${list} may not be renamed or reordered on resize`)];
  });
}

/** Why the pod cannot be resized, whatever is asked. */
function whyNever(next: Pod, { metadata, spec }: Pod, { dialect }: WriteContext): string | undefined {
  if (sharesResources(next.spec) || sharesResources(spec)) return 'pods with pod-level resources cannot be resized';
  if (Object.hasOwn(metadata.annotations ?? {}, mirrorKey(dialect))) return 'static pods cannot be resized';
  return spec.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined;
}

function sharesResources({ resources: { requests = {}, limits = {} } = {} }: PodSpec): boolean {
  return Object.keys(requests).length + Object.keys(limits).length > 0;
}

/** A node that can do it reports the resources of what runs. */
function runsWhereResizable({ status }: Pod): boolean {
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
  /** Runs before the others. */
  readonly first: boolean;
}

function pairs(spec: PodSpec, live: PodSpec, list: (typeof LISTS)[number]): Pair[] {
  return (live[list] ?? []).flatMap((before, index) => {
    const next = spec[list]?.[index];
    if (next === undefined) return [];
    return [{ path: keyPath(`spec.${list}`, index), next, before, first: list === 'initContainers' }];
  });
}

function otherChangeProblems({ next, before, first }: Pair): FieldError[] {
  const ends = first && before.restartPolicy !== 'Always';
  if (deepEqual(ends ? next : withLiveAmounts(next, before), before)) return [];
  if (ends) return [forbidden('spec', 'resources for non-sidecar init containers are immutable')];
  const whose = first ? ' for sidecar containers' : '';
  return [forbidden('spec', `only cpu and memory resources${whose} are mutable`)];
}

const RESIZABLE = ['cpu', 'memory'];

function resizeProblems(path: string, next: Container, live: ResourceRequirements): FieldError[] {
  return [
    ...(lacks(next.resources.requests, live.requests)
      ? [forbidden(childPath(path, 'requests'), 'resource requests cannot be removed')]
      : []),
    ...(lacks(next.resources.limits, live.limits)
      ? [forbidden(childPath(path, 'limits'), 'resource limits cannot be removed')]
      : []),
    ...memoryProblems(path, next, live),
  ];
}

type Amounts = Readonly<Record<string, string>> | undefined;

function lacks(next: Amounts, live: Amounts): boolean {
  return Object.keys(live ?? {}).some((name) => own(next ?? {}, name) === undefined);
}

/** Memory cannot be taken from what runs, unless it may be started anew. */
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
  // Without a limit there was as much as the node has.
  if (before === undefined) return 'added';
  return Quantity.parse(next).cmp(Quantity.parse(before)) < 0 ? 'decreased' : undefined;
}

/**
 * The container with the amounts it had of what can be resized. A list that was not there is not looked at. Claims are left
 * out, as in the reference: a container that has some is never taken for the one it was.
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

/** Changes the draft into the live object with this spec. What the client claims to have seen stays for the check. */
export function keepLiveExceptSpec(draft: DraftObject, live: ApiObject, spec: PodSpec): void {
  keepLive(draft, live, ['status']);
  draft['spec'] = spec;
  const from = live.metadata as unknown as DraftMeta;
  const to = draft.metadata as Record<string, unknown>;
  for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const) {
    if (from[field] === undefined) delete to[field];
    else to[field] = from[field];
  }
}
