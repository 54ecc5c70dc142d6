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
import { keepAllBut } from './keep-live.js';
import type { Pod } from './pod.js';
import { qosClassOf } from './qos.js';
import { podProblems } from './validate-pod.js';
import { restore } from './validate-update.js';

export const resizeSubresource: SubresourceStrategy = Object.freeze({
  verbs: ['get', 'update', 'patch'] as const,
  tables: false,
  claimable: {
    only: [
      'spec.containers.*.resources',
      'spec.containers.*.resizePolicy',
      'spec.initContainers.*.resources',
      'spec.initContainers.*.resizePolicy',
    ],
  },
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
  const refusal = whyNever(before, context);
  if (refusal !== undefined) return [forbidden('', refusal)];
  const problems = podProblems(pod, context, before);
  const qosClass = before.status.qosClass ?? qosClassOf(before.spec);
  if (qosClass !== qosClassOf(pod.spec)) {
    problems.push(invalid('spec', pod.status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!runsWhereResizable(before)) {
    problems.push(forbidden('spec', 'Pod running on node without support for resize'));
  }
  return [...problems, ...containersProblems(pod.spec, before.spec)];
}

/** Why the pod cannot be resized, whatever is asked. */
function whyNever({ metadata, spec }: Pod, { dialect }: WriteContext): string | undefined {
  const { requests, limits } = spec.resources ?? {};
  if (requests !== undefined || limits !== undefined) return 'pods with pod-level resources cannot be resized';
  if (Object.hasOwn(metadata.annotations ?? {}, mirrorKey(dialect))) return 'static pods cannot be resized';
  return spec.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined;
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
