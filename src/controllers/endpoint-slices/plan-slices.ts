/**
 * Plans the slices of a Service with few writes: endpoints stay in their slice, slices that change anyway are filled up, and only
 * then other slices are changed or created. Pure functions.
 */
import type { Node } from '../../kinds/core/v1/node/node.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { IpFamily } from '../../meta/ip.js';
import type { Labels } from '../../meta/labels.js';
import { dnsSubdomainProblems, maskTrailingDash } from '../../meta/names.js';
import { deepEqual } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import {
  headlessLabel,
  isHeadless,
  managedByLabel,
  mayBeEndpoint,
  PortResolver,
  type ResolvedPort,
  type StoredService,
  serviceNameLabel,
} from '../endpoints/pod-services.js';
import { portsKey, sortSlicePorts } from '../endpoints/subsets.js';
import { controllerReference } from '../runtime/owners.js';
import type { StoredPod } from '../workloads/pod-state.js';
import {
  endpointKey,
  endpointsOf,
  familiesOf,
  isSameEndpoint,
  podEndpoint,
  portsOf,
  type SliceChanges,
  type SliceEndpoint,
  type SlicePlan,
  type SlicePort,
  type StoredSlice,
  type TrafficDistribution,
  withHints,
} from './slice.js';
import type { HintableSlices, HintedSlices } from './topology-hints.js';

export interface SlicesInput {
  readonly service: StoredService;
  readonly pods: readonly StoredPod[];
  /** The controller's slices of this Service. */
  readonly existing: readonly StoredSlice[];
  readonly nodeNamed: (name: string) => ObjectOf<typeof Node> | undefined;
  readonly maxEndpoints: number;
  readonly distribution: TrafficDistribution;
  /** Adds topology-aware hints instead of those of `distribution`. */
  readonly addHints?:
    | ((family: IpFamily, slices: HintableSlices) => Pick<HintedSlices, 'create' | 'update'>)
    | undefined;
  readonly dialect: Dialect;
  /** The value of {@link managedByLabel}. */
  readonly manager: string;
}

export interface SlicesPlan extends SliceChanges {
  /** Pods that are omitted because their node does not exist. */
  readonly podsWithoutNode: readonly { readonly pod: string; readonly node: string }[];
  /** Describes pods that are omitted because the Service has too many ports; undefined: none. */
  readonly omission: string | undefined;
}

export function planSlices(input: SlicesInput): SlicesPlan {
  const families = familiesOf(input.service);
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  const podsWithoutNode: { pod: string; node: string }[] = [];
  const resolver = new PortResolver(input.service);
  const groupKeys = new Map<readonly ResolvedPort[], GroupKey>();
  for (const family of families) {
    const existing = input.existing.filter(({ addressType }) => addressType === family);
    const { groups, withoutNode } = groupByPorts(input, { family, resolver, groupKeys });
    for (const pod of withoutNode) {
      if (!podsWithoutNode.some((known) => known.pod === pod.pod)) podsWithoutNode.push(pod);
    }
    const ofFamily = reuseRemoved(planFamily(input, { family, existing, groups }), input.service);
    changes.create.push(...ofFamily.create);
    changes.update.push(...ofFamily.update);
    changes.remove.push(...ofFamily.remove);
  }
  changes.remove.push(
    ...input.existing.filter(({ addressType }) => addressType === 'FQDN' || !families.includes(addressType)),
  );
  return { ...changes, podsWithoutNode, omission: resolver.omission };
}

interface Group {
  readonly ports: readonly SlicePort[];
  readonly endpoints: Map<string, SliceEndpoint>;
}

/** The sorted ports of a group, and their {@link portsKey}. */
interface GroupKey {
  readonly ports: readonly SlicePort[];
  readonly key: string;
}

interface Grouping {
  readonly family: IpFamily;
  readonly resolver: PortResolver;
  readonly groupKeys: Map<readonly ResolvedPort[], GroupKey>;
}

/** Groups endpoints by the ports of their pods; a group shares slices. */
function groupByPorts(input: SlicesInput, { family, resolver, groupKeys }: Grouping) {
  const { service, pods, nodeNamed, dialect } = input;
  const groups = new Map<string, Group>();
  const withoutNode: { pod: string; node: string }[] = [];
  for (const pod of pods) {
    if (!mayBeEndpoint(pod, { includeTerminating: true })) continue;
    const resolved = resolver.portsIn(pod);
    if (resolved === undefined) continue;
    const { ports, key } = getOrInsertComputed(groupKeys, resolved, () => ({
      ports: sortSlicePorts(resolved),
      key: portsKey(resolved),
    }));
    const group: Group = getOrInsertComputed(groups, key, () => ({ ports, endpoints: new Map() }));
    const { nodeName = '' } = pod.spec;
    const node = nodeNamed(nodeName);
    if (node === undefined && service.spec.publishNotReadyAddresses !== true) {
      withoutNode.push({ pod: pod.metadata.name, node: nodeName });
      continue;
    }
    const endpoint = podEndpoint(pod, { service, node, family, dialect });
    if (endpoint !== undefined) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return { groups, withoutNode };
}

interface FamilySlices {
  readonly family: IpFamily;
  readonly existing: readonly StoredSlice[];
  readonly groups: ReadonlyMap<string, Group>;
}

function planFamily(input: SlicesInput, { family, existing, groups }: FamilySlices): SliceChanges {
  const { service, maxEndpoints, distribution } = input;
  const labels = labelsFor(input);
  const byPorts = new Map<string, StoredSlice[]>();
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  for (const slice of existing) {
    // Left by a deleted Service of the same name; the garbage collector has not deleted it yet.
    if (!isOwned(slice, service)) {
      changes.remove.push(slice);
      continue;
    }
    const key = portsKey(portsOf(slice));
    getOrInsertComputed(byPorts, key, () => []).push(slice);
  }
  for (const [key, { ports, endpoints }] of groups) {
    const placed = placeEndpoints({
      existing: byPorts.get(key) ?? [],
      desired: endpoints,
      maxEndpoints,
      changed: (slice, list) => changedSlice(slice, list, labels),
      isStale: (slice) => !hasLabels(slice, input),
      fresh: () => freshSlice(input, { family, ports, labels }),
    });
    changes.create.push(...placed.create);
    changes.update.push(...placed.update);
    changes.remove.push(...placed.remove);
    byPorts.delete(key);
  }
  for (const slices of byPorts.values()) changes.remove.push(...slices);

  // A Service without endpoints has one empty slice, which distinguishes it from one that was not reconciled.
  if (changes.remove.length === existing.length && changes.create.length === 0) {
    const [only] = changes.remove;
    const exists = changes.remove.length === 1 && only !== undefined && isPlaceholder(only, labels);
    if (exists) changes.remove.length = 0;
    else changes.create.push(freshSlice(input, { family, ports: [], labels }));
  }
  if (input.addHints === undefined) return withHintsInAll(changes, existing, { labels, distribution });
  const { create, update, remove } = changes;
  const touched = new Set([...update.map(({ name }) => name), ...remove.map(({ metadata }) => metadata.name)]);
  const hinted = input.addHints(family, {
    create,
    update,
    unchanged: existing.filter(({ metadata }) => !touched.has(metadata.name)),
    changed: (slice, endpoints) => changedSlice(slice, endpoints, labels),
  });
  return { create: [...hinted.create], update: [...hinted.update], remove };
}

interface FreshSlice {
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  readonly labels: Labels;
}

function freshSlice({ service }: SlicesInput, { family, ports, labels }: FreshSlice): SlicePlan {
  const { name, namespace = '' } = service.metadata;
  return {
    metadata: { generateName: slicePrefix(name), namespace, labels, ownerReferences: [controllerReference(service)] },
    addressType: family,
    endpoints: [],
    ports,
  };
}

function changedSlice(slice: StoredSlice, endpoints: readonly SliceEndpoint[], labels: Labels): SlicePlan {
  const { addressType, metadata } = slice;
  return {
    name: metadata.name,
    metadata: { ...metadata, labels },
    addressType,
    endpoints: [...endpoints],
    ports: portsOf(slice),
  };
}

/** Reuses slices to be removed for new ones. */
function reuseRemoved({ create, update, remove }: SliceChanges, service: StoredService): SliceChanges {
  const fresh = [...create];
  const updated = [...update];
  const removed: StoredSlice[] = [];
  for (const slice of remove) {
    const plan = isOwned(slice, service) ? fresh.pop() : undefined;
    if (plan === undefined) removed.push(slice);
    else updated.push({ ...plan, name: slice.metadata.name });
  }
  return { create: fresh, update: updated, remove: removed };
}

function withHintsInAll(
  { create, update, remove }: SliceChanges,
  existing: readonly StoredSlice[],
  { labels, distribution }: { readonly labels: Labels; readonly distribution: TrafficDistribution },
): SliceChanges {
  const touched = new Set([...update.map(({ name }) => name), ...remove.map(({ metadata }) => metadata.name)]);
  const rehinted = existing.filter(
    (slice) =>
      !touched.has(slice.metadata.name) &&
      endpointsOf(slice).some((endpoint) => withHints(endpoint, distribution) !== endpoint),
  );
  const all = [...update, ...rehinted.map((slice) => changedSlice(slice, endpointsOf(slice), labels))];
  const addHints = (plan: SlicePlan): SlicePlan => ({
    ...plan,
    endpoints: plan.endpoints.map((endpoint) => withHints(endpoint, distribution)),
  });
  return { create: create.map(addHints), update: all.map(addHints), remove };
}

/** The labels of a slice: those of the Service and the reserved ones. */
function labelsFor({ service, dialect, manager }: SlicesInput): Labels {
  const labels = withoutReserved(service.metadata.labels, dialect);
  if (isHeadless(service)) labels[headlessLabel(dialect)] = '';
  labels[serviceNameLabel(dialect)] = service.metadata.name;
  labels[managedByLabel(dialect)] = manager;
  return labels;
}

/** Whether a slice has the Service's labels. A difference in reserved labels alone does not cause a write. */
function hasLabels({ metadata }: StoredSlice, { service, dialect }: SlicesInput): boolean {
  return deepEqual(withoutReserved(metadata.labels, dialect), withoutReserved(service.metadata.labels, dialect));
}

function withoutReserved(labels: Labels | undefined, dialect: Dialect): Record<string, string> {
  const rest = { ...labels };
  for (const key of [serviceNameLabel(dialect), managedByLabel(dialect), headlessLabel(dialect)]) delete rest[key];
  return rest;
}

function isPlaceholder(slice: StoredSlice, labels: Labels): boolean {
  return (
    endpointsOf(slice).length === 0 && portsOf(slice).length === 0 && deepEqual(slice.metadata.labels ?? {}, labels)
  );
}

function isOwned({ metadata }: StoredSlice, service: StoredService): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
  );
}

/** The prefix of generated slice names; without a dash if it does not fit. */
export function slicePrefix(service: string): string {
  const prefix = `${service}-`;
  return dnsSubdomainProblems(maskTrailingDash(prefix)).length === 0 ? prefix : service;
}

interface Placement {
  readonly existing: readonly StoredSlice[];
  /** By {@link endpointKey}. Endpoints are removed as they are placed. */
  readonly desired: Map<string, SliceEndpoint>;
  readonly maxEndpoints: number;
  /** The plan of an existing slice with other endpoints. */
  readonly changed: (slice: StoredSlice, endpoints: readonly SliceEndpoint[]) => SlicePlan;
  /** Whether a slice must be written even if its endpoints are unchanged. */
  readonly isStale: (slice: StoredSlice) => boolean;
  /** The plan of a new slice without endpoints. */
  readonly fresh: () => SlicePlan;
}

function placeEndpoints(placement: Placement): SliceChanges {
  const { desired, maxEndpoints } = placement;
  const { update, remove, unchanged } = keepInPlace(placement);

  // Fullest first, so that few slices are needed.
  for (const plan of [...update].sort((a, b) => b.endpoints.length - a.endpoints.length)) fill(plan, placement);

  const create: SlicePlan[] = [];
  while (desired.size > 0) {
    const host = desired.size < maxEndpoints ? bestFit(unchanged, desired.size, maxEndpoints) : undefined;
    if (host === undefined) {
      const plan = placement.fresh();
      fill(plan, placement);
      create.push(plan);
    } else {
      unchanged.delete(host);
      const plan = placement.changed(host, endpointsOf(host));
      fill(plan, placement);
      update.push(plan);
    }
  }
  return { create, update, remove };
}

interface Kept {
  readonly update: SlicePlan[];
  readonly remove: StoredSlice[];
  readonly unchanged: Set<StoredSlice>;
}

function keepInPlace({ existing, desired, changed, isStale }: Placement): Kept {
  const kept: Kept = { update: [], remove: [], unchanged: new Set() };
  for (const slice of existing) {
    const before = endpointsOf(slice);
    const endpoints: SliceEndpoint[] = [];
    let isUpdated = false;
    for (const endpoint of before) {
      const key = endpointKey(endpoint);
      const wanted = desired.get(key);
      if (wanted === undefined) continue;
      endpoints.push(wanted);
      if (!isSameEndpoint(wanted, endpoint)) isUpdated = true;
      desired.delete(key);
    }
    const isShorter = endpoints.length < before.length;
    if (isShorter && endpoints.length === 0) kept.remove.push(slice);
    else if (isUpdated || isShorter) kept.update.push(changed(slice, endpoints));
    else if (isStale(slice)) kept.update.push(changed(slice, before));
    else kept.unchanged.add(slice);
  }
  return kept;
}

function fill(plan: SlicePlan, { desired, maxEndpoints }: Placement): void {
  for (const [key, endpoint] of desired) {
    if (plan.endpoints.length >= maxEndpoints) return;
    desired.delete(key);
    plan.endpoints.push(endpoint);
  }
}

/** The slice that is closest to full after adding `count` endpoints. */
function bestFit(slices: Iterable<StoredSlice>, count: number, maxEndpoints: number): StoredSlice | undefined {
  let best: StoredSlice | undefined;
  let bestLeft = maxEndpoints;
  for (const slice of slices) {
    const left = maxEndpoints - (count + endpointsOf(slice).length);
    if (left >= 0 && left < bestLeft) [best, bestLeft] = [slice, left];
  }
  return best;
}
