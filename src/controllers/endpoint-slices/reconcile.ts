/**
 * What has to be done to the slices of a service, worked out without touching anything.
 */
import type { Node } from '../../kinds/core/v1/node/node.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { IpFamily } from '../../meta/ip.js';
import type { Labels } from '../../meta/labels.js';
import { dnsSubdomainProblems, maskTrailingDash } from '../../meta/names.js';
import { deepEqual } from '../../util/json.js';
import { headlessLabel, managedByLabel, serviceNameLabel } from '../endpoints/names.js';
import { isHeadless, mayBeEndpoint, type StoredService } from '../endpoints/pod-services.js';
import { portsKey } from '../endpoints/port-order.js';
import { controllerReference } from '../runtime/owners.js';
import type { StoredPod } from '../workloads/pod-state.js';
import { placeEndpoints } from './place.js';
import { familiesOf, podEndpoint, podPorts } from './pod-endpoint.js';
import {
  endpointKey,
  endpointsOf,
  portsOf,
  type SliceChanges,
  type SliceEndpoint,
  type SlicePlan,
  type SlicePort,
  type StoredSlice,
} from './slice.js';
import { type TrafficDistribution, withHints } from './traffic-hints.js';

export interface SlicesOf {
  readonly service: StoredService;
  readonly pods: readonly StoredPod[];
  /** The controller's own slices of this service. */
  readonly existing: readonly StoredSlice[];
  readonly nodeNamed: (name: string) => ObjectOf<typeof Node> | undefined;
  readonly maxEndpoints: number;
  readonly distribution: TrafficDistribution;
  readonly dialect: Dialect;
  /** What {@link managedByLabel} holds. */
  readonly manager: string;
}

export interface SliceNeeds extends SliceChanges {
  /** Pods that were left out because their node does not exist, with its name. */
  readonly nowhere: readonly { readonly pod: string; readonly node: string }[];
}

export function sliceNeeds(about: SlicesOf): SliceNeeds {
  const families = familiesOf(about.service);
  const needs: SliceNeeds = { create: [], update: [], remove: [], nowhere: [] };
  const add = ({ create, update, remove }: SliceChanges): void => {
    needs.create.push(...create);
    needs.update.push(...update);
    needs.remove.push(...remove);
  };
  const nowhere: { pod: string; node: string }[] = [];
  for (const family of families) {
    const existing = about.existing.filter(({ addressType }) => addressType === family);
    const { groups, lost } = groupByPorts(about, family);
    for (const pod of lost) if (!nowhere.some((known) => known.pod === pod.pod)) nowhere.push(pod);
    add(recycle(familyNeeds(about, { family, existing, groups }), about.service));
  }
  needs.remove.push(
    ...about.existing.filter(({ addressType }) => addressType === 'FQDN' || !families.includes(addressType)),
  );
  return { ...needs, nowhere };
}

interface Group {
  readonly ports: readonly SlicePort[];
  readonly endpoints: Map<string, SliceEndpoint>;
}

/** Endpoints of pods whose ports are the same share slices. */
function groupByPorts(about: SlicesOf, family: IpFamily) {
  const { service, pods, nodeNamed, dialect } = about;
  const groups = new Map<string, Group>();
  const lost: { pod: string; node: string }[] = [];
  for (const pod of pods) {
    if (!mayBeEndpoint(pod, { evenTerminating: true })) continue;
    const ports = podPorts(pod, service);
    const key = portsKey(ports);
    const group: Group = groups.get(key) ?? { ports, endpoints: new Map() };
    groups.set(key, group);
    const { nodeName = '' } = pod.spec;
    const node = nodeNamed(nodeName);
    if (node === undefined && service.spec.publishNotReadyAddresses !== true) {
      lost.push({ pod: pod.metadata.name, node: nodeName });
      continue;
    }
    const endpoint = podEndpoint(pod, { service, node, family, dialect });
    if (endpoint !== undefined) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return { groups, lost };
}

interface FamilySlices {
  readonly family: IpFamily;
  readonly existing: readonly StoredSlice[];
  readonly groups: ReadonlyMap<string, Group>;
}

function familyNeeds(about: SlicesOf, { family, existing, groups }: FamilySlices): SliceChanges {
  const { service, maxEndpoints, distribution } = about;
  const labels = labelsFor(about);
  const byPorts = new Map<string, StoredSlice[]>();
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  for (const slice of existing) {
    // Left by a service of the same name that is gone: the garbage collector may not have come yet.
    if (!isOwned(slice, service)) {
      changes.remove.push(slice);
      continue;
    }
    const key = portsKey(portsOf(slice));
    const known = byPorts.get(key);
    if (known === undefined) byPorts.set(key, [slice]);
    else known.push(slice);
  }
  for (const [key, { ports, endpoints }] of groups) {
    const placed = placeEndpoints({
      existing: byPorts.get(key) ?? [],
      desired: endpoints,
      maxEndpoints,
      changed: (slice, list) => changedSlice(slice, list, labels),
      isStale: (slice) => !hasLabels(slice, about),
      fresh: () => freshSlice(about, { family, ports, labels }),
    });
    changes.create.push(...placed.create);
    changes.update.push(...placed.update);
    changes.remove.push(...placed.remove);
    byPorts.delete(key);
  }
  for (const slices of byPorts.values()) changes.remove.push(...slices);

  // A service without endpoints has one empty slice, so that it can be told from one that nobody has looked at.
  if (changes.remove.length === existing.length && changes.create.length === 0) {
    const [only] = changes.remove;
    const isThere = changes.remove.length === 1 && only !== undefined && isPlaceholder(only, labels);
    if (isThere) changes.remove.length = 0;
    else changes.create.push(freshSlice(about, { family, ports: [], labels }));
  }
  return hinted(changes, existing, { labels, distribution });
}

interface FreshSlice {
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  readonly labels: Labels;
}

function freshSlice({ service }: SlicesOf, { family, ports, labels }: FreshSlice): SlicePlan {
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

/** What would be made anew takes the place of what would go. */
function recycle({ create, update, remove }: SliceChanges, service: StoredService): SliceChanges {
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

function hinted(
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
  const withThem = (plan: SlicePlan): SlicePlan => ({
    ...plan,
    endpoints: plan.endpoints.map((endpoint) => withHints(endpoint, distribution)),
  });
  return { create: create.map(withThem), update: all.map(withThem), remove };
}

/** The labels of the service, and those by which slices are found. */
function labelsFor({ service, dialect, manager }: SlicesOf): Labels {
  const labels = withoutReserved(service.metadata.labels, dialect);
  if (isHeadless(service)) labels[headlessLabel(dialect)] = '';
  labels[serviceNameLabel(dialect)] = service.metadata.name;
  labels[managedByLabel(dialect)] = manager;
  return labels;
}

/** Whether a slice has its service's labels; the reserved ones are set with the next write only. */
function hasLabels({ metadata }: StoredSlice, { service, dialect }: SlicesOf): boolean {
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

/** What names of slices begin with; no dash where there is no room for one. */
export function slicePrefix(service: string): string {
  const prefix = `${service}-`;
  return dnsSubdomainProblems(maskTrailingDash(prefix)).length === 0 ? prefix : service;
}
