/**
 * The `resize` address of a pod: what its containers ask for and are limited to, changed while they run.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { Quantity } from '../../../../meta/quantity.js';
import { copyJson, deepEqual, own } from '../../../../util/json.js';
import type { SubresourceStrategy, WriteContext } from '../../../kind.js';
import { mirrorKey } from '../pod-spec/annotations.js';
import type { Container, ResourceRequirements } from '../pod-spec/container.js';
import type { PodSpec } from '../pod-spec/pod-spec.js';
import { diffText } from './diff/index.js';
import { internalSpec } from './diff/internal-spec.js';
import { keepAllBut } from './keep-live.js';
import type { Pod } from './pod.js';
import { qosClassOf } from './qos.js';
import { podProblems } from './validate-pod.js';
import { restore } from './validate-update.js';

export const resizeSubresource: SubresourceStrategy = Object.freeze({
  verbs: ['get', 'update', 'patch'] as const,
  prepareForUpdate,
  validateUpdate,
});

const LISTS = ['containers', 'initContainers'] as const;

/** Only resources and what happens when they change are taken over, container by container. */
function prepareForUpdate(draft: DraftObject, live: ApiObject): void {
  const asked = draft['spec'] as PodSpec;
  const spec = copyJson(live['spec']) as PodSpec;
  for (const list of LISTS) {
    const wanted = new Map((asked[list] ?? []).map((container) => [container.name, container]));
    for (const container of spec[list] ?? []) {
      const next = wanted.get(container.name);
      if (next === undefined) continue;
      container.resources = next.resources;
      restore(container, next, 'resizePolicy');
    }
  }
  keepAllBut(draft, live, spec);
}

function validateUpdate(next: ApiObject, live: ApiObject, context: WriteContext): readonly FieldError[] {
  const [pod, before] = [next as unknown as Pod, live as unknown as Pod];
  if (Object.hasOwn(before.metadata.annotations ?? {}, mirrorKey(context.dialect))) {
    return [forbidden('', 'static pods cannot be resized')];
  }
  if (before.spec.os?.name === 'windows') return [forbidden('', 'windows pods cannot be resized')];
  const problems = podProblems(pod, context, before);
  if (before.spec.resources !== undefined) {
    problems.push(forbidden('spec', 'pods with pod-level resources cannot be resized'));
  }
  const qosClass = before.status.qosClass ?? qosClassOf(before.spec);
  if (qosClass !== qosClassOf(pod.spec)) {
    problems.push(invalid('spec', pod.status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!runsWhereResizable(before)) {
    problems.push(forbidden('spec', 'Pod running on node without support for resize'));
  }
  return [...problems, ...containersProblems(pod.spec, before.spec)];
}

/** A node that can do it reports the resources of what runs. */
function runsWhereResizable({ status }: Pod): boolean {
  const running = (status.containerStatuses ?? []).find(({ state }) => state.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function containersProblems(spec: PodSpec, live: PodSpec): FieldError[] {
  const problems: FieldError[] = [];
  const munged = copyJson(spec) as PodSpec;
  for (const list of LISTS) {
    for (const [index, container] of (munged[list] ?? []).entries()) {
      const before = live[list]?.[index];
      if (before === undefined || (list === 'initContainers' && container.restartPolicy !== 'Always')) continue;
      const path = childPath(keyPath(`spec.${list}`, index), 'resources');
      problems.push(...resizeProblems(path, container, before));
      putBackResizable(container, before);
    }
  }
  if (deepEqual(munged, live)) return problems;
  const difference = diffText('PodSpec', internalSpec(live), internalSpec(munged));
  return [...problems, forbidden('spec', `only cpu and memory resources are mutable\n${difference}`)];
}

const RESIZABLE = ['cpu', 'memory'];

function resizeProblems(path: string, container: Container, before: Container): FieldError[] {
  const [next, live] = [container.resources, before.resources];
  return [
    ...(lacks(next.requests, live.requests)
      ? [forbidden(childPath(path, 'requests'), 'resource requests cannot be removed')]
      : []),
    ...(lacks(next.limits, live.limits)
      ? [forbidden(childPath(path, 'limits'), 'resource limits cannot be removed')]
      : []),
    ...memoryProblems(path, container, live),
  ];
}

type Amounts = Readonly<Record<string, string>> | undefined;

function lacks(next: Amounts, live: Amounts): boolean {
  return RESIZABLE.some((name) => own(live ?? {}, name) !== undefined && own(next ?? {}, name) === undefined);
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
  if (next === undefined) return before === undefined ? undefined : 'removed';
  if (before === undefined) return 'added';
  return Quantity.parse(next).cmp(Quantity.parse(before)) < 0 ? 'decreased' : undefined;
}

function putBackResizable(container: Container, before: Container): void {
  for (const list of ['limits', 'requests'] as const) {
    const [next, live] = [container.resources[list] ?? {}, before.resources[list] ?? {}];
    const kept = Object.entries(next).filter(([name]) => !RESIZABLE.includes(name));
    const restored = Object.entries(live).filter(([name]) => RESIZABLE.includes(name));
    const all = [...kept, ...restored].sort(([left], [right]) => (left < right ? -1 : 1));
    if (all.length === 0) delete container.resources[list];
    else container.resources[list] = Object.fromEntries(all);
  }
  restore(container, before, 'resizePolicy');
}
