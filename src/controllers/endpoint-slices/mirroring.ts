/**
 * The controller that mirrors manually written Endpoints, of Services without a selector, into EndpointSlices.
 */
import { Endpoints } from '../../kinds/core/v1/endpoints.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { type IpFamily, parseIpSloppy, printIp } from '../../meta/ip.js';
import type { Labels } from '../../meta/labels.js';
import { deepEqual, withoutUndefined } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import {
  leaderAnnotation,
  managedByLabel,
  manager,
  serviceNameLabel,
  triggerTimeAnnotation,
} from '../endpoints/pod-services.js';
import {
  type Address,
  omittedPortsText,
  portsKey,
  repackSubsets,
  type Subset,
  sortSlicePorts,
} from '../endpoints/subsets.js';
import type { Controller } from '../runtime/controller.js';
import { controllerReference } from '../runtime/owners.js';
import { slicePrefix } from './plan-slices.js';
import {
  endpointKey,
  endpointsOf,
  isSameEndpoint,
  OwnSlices,
  portsOf,
  type SliceChanges,
  type SliceEndpoint,
  type SlicePlan,
  type SlicePort,
  type StoredSlice,
  writeSlices,
} from './slice.js';

export interface EndpointSliceMirroringOptions {
  /** The maximum number of mirrored addresses per subset; 1000 unless given. */
  readonly maxEndpointsPerSubset?: number | undefined;
}

const MANAGER = 'endpointslicemirroring-controller';
const MAX_PER_SUBSET = 1000;
const BACKOFF = { firstMs: 1000, longestMs: 100_000 };

/**
 * Mirrors Endpoints of services without a selector into EndpointSlices.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([endpointSliceMirroring()]) });
 */
export function endpointSliceMirroring(options: EndpointSliceMirroringOptions = {}): Controller {
  const { maxEndpointsPerSubset = MAX_PER_SUBSET } = options;
  if (!Number.isInteger(maxEndpointsPerSubset) || maxEndpointsPerSubset < 1 || maxEndpointsPerSubset > MAX_PER_SUBSET) {
    throw new TypeError(`orchplane: maxEndpointsPerSubset must be a whole number from 1 to ${MAX_PER_SUBSET}`);
  }
  return {
    name: 'endpointslice-mirroring-controller',
    account: 'endpointslicemirroring-controller',
    component: 'endpoint-slice-mirroring-controller',
    needs: [Service, Endpoints, EndpointSlice],
    start(context) {
      const { client, dialect, events } = context;
      const services = context.informer(Service);
      const all = context.informer(Endpoints);
      const own = manager(dialect, MANAGER);
      const slices = new OwnSlices(context.informer(EndpointSlice), { dialect, manager: own });
      const isMirrorable = ({ metadata }: StoredEndpoints): boolean =>
        metadata.labels?.[dialect.subkey('endpointslice', 'skip-mirror')] !== 'true' &&
        metadata.annotations?.[leaderAnnotation(dialect)] === undefined;

      const queue = context.queue(
        async (key) => {
          const endpoints = all.at(key);
          const service = services.at(key);
          const existing = slices.of(key);
          const isWanted =
            endpoints !== undefined &&
            isMirrorable(endpoints) &&
            service !== undefined &&
            service.spec.selector === undefined;
          if (!isWanted) {
            const [slice] = existing;
            const owner = endpoints ?? slice;
            if (owner === undefined) return;
            const changes = { create: [], update: [], remove: [...existing] };
            await writeSlices({ client, key, slices, owner, changes });
            return;
          }
          const maxEndpoints = maxEndpointsPerSubset;
          const plan = planMirror({ endpoints, existing, maxEndpoints, dialect, manager: own });
          for (const { reason, text } of omissions(plan, maxEndpoints))
            events.record(endpoints, 'Warning', reason, text);
          await writeSlices({ client, key, slices, owner: endpoints, changes: plan.changes });
        },
        { workers: 5, backoff: BACKOFF },
      );
      slices.onChange((key) => queue.add(key));

      services.onKey((key, event) => {
        const lacksSelector = event.object.spec.selector === undefined;
        const isWanted =
          event.type === 'MODIFIED' ? lacksSelector !== (event.previous.spec.selector === undefined) : lacksSelector;
        if (isWanted) queue.add(key);
      });
      all.onKey((key, event) => {
        if (isMirrorable(event.object) || (event.type === 'MODIFIED' && isMirrorable(event.previous))) queue.add(key);
      });
    },
  };
}

/** Describes addresses that are not mirrored, for events. */
function omissions({ invalid, skipped, omittedPorts }: MirrorPlan, max: number): { reason: string; text: string }[] {
  const found: { reason: string; text: string }[] = [];
  if (invalid > 0) {
    const text = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
    found.push({ reason: 'InvalidIPAddress', text });
  }
  if (skipped > invalid) {
    const text =
      `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ` +
      `${skipped} addresses were skipped`;
    found.push({ reason: 'TooManyAddressesToMirror', text });
  }
  const text = omittedPortsText(omittedPorts);
  if (text !== undefined) found.push({ reason: 'TooManyPorts', text });
  return found;
}

type StoredEndpoints = ObjectOf<typeof Endpoints>;

interface MirrorInput {
  readonly endpoints: StoredEndpoints;
  readonly existing: readonly StoredSlice[];
  readonly maxEndpoints: number;
  readonly dialect: Dialect;
  /** The value of the managed-by label. */
  readonly manager: string;
}

interface MirrorPlan {
  readonly changes: SliceChanges;
  /** The number of invalid addresses. */
  readonly invalid: number;
  /** The number of skipped addresses, including invalid ones. */
  readonly skipped: number;
  /** See {@link repackSubsets}. */
  readonly omittedPorts: number;
}

function planMirror(input: MirrorInput): MirrorPlan {
  const { endpoints, existing, maxEndpoints } = input;
  const groups = new Map<string, Group>();
  let invalid = 0;
  let skipped = 0;
  const { subsets, omittedPorts } = repackSubsets(endpoints.subsets ?? []);
  for (const subset of subsets) {
    const { wrong, left } = addSubset(groups, subset, maxEndpoints);
    invalid += wrong;
    skipped += left;
  }
  const byGroup = new Map<string, StoredSlice[]>();
  for (const slice of existing) {
    const key = groupKey(slice.addressType, portsOf(slice));
    getOrInsertComputed(byGroup, key, () => []).push(slice);
  }
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  for (const [key, group] of groups) {
    mirrorGroup(input, { group, slices: byGroup.get(key) ?? [], changes });
    byGroup.delete(key);
  }
  for (const slices of byGroup.values()) changes.remove.push(...slices);
  return { changes: reuseRemoved(changes), invalid, skipped, omittedPorts };
}

interface Group {
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  readonly endpoints: Map<string, SliceEndpoint>;
}

function groupKey(addressType: string, ports: readonly SlicePort[]): string {
  return `${addressType}\n${portsKey(ports)}`;
}

function addSubset(groups: Map<string, Group>, subset: Subset, maxEndpoints: number) {
  const { addresses = [], notReadyAddresses = [] } = subset;
  const ports = sortSlicePorts(
    (subset.ports ?? []).map(({ name = '', protocol, port, appProtocol }) => ({
      name,
      protocol,
      port,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    })),
  );
  const groupFor = (family: IpFamily): Group =>
    getOrInsertComputed(groups, groupKey(family, ports), () => ({ family, ports, endpoints: new Map() }));
  const byFamily = new Map<IpFamily, Group>();
  let added = 0;
  let wrong = 0;
  const add = (address: Address, isReady: boolean): void => {
    if (added >= maxEndpoints) return;
    const ip = parseIpSloppy(address.ip);
    if (ip === undefined) {
      wrong++;
      return;
    }
    const endpoint = mirroredEndpoint(address, printIp(ip), isReady);
    getOrInsertComputed(byFamily, ip.family, groupFor).endpoints.set(endpointKey(endpoint), endpoint);
    added++;
  };
  for (const address of addresses) add(address, true);
  for (const address of notReadyAddresses) add(address, false);
  return { wrong, left: addresses.length + notReadyAddresses.length - added };
}

function mirroredEndpoint(address: Address, ip: string, ready: boolean): SliceEndpoint {
  const { hostname = '', nodeName, targetRef } = address;
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === '' ? {} : { hostname }),
    ...withoutUndefined({ targetRef, nodeName }),
  };
}

interface GroupMirror {
  readonly group: Group;
  readonly slices: readonly StoredSlice[];
  readonly changes: SliceChanges;
}

/** One slice per group; additional ones are removed. */
function mirrorGroup(input: MirrorInput, { group, slices, changes }: GroupMirror): void {
  const [first, ...others] = slices;
  changes.remove.push(...others);
  if (first !== undefined && isMirrored(input, first, group)) return;
  const plan = slicePlan(input, group);
  if (first === undefined) changes.create.push(plan);
  else {
    const { generateName: _prefix, ...metadata } = plan.metadata;
    changes.update.push({ ...plan, name: first.metadata.name, metadata });
  }
}

function isMirrored({ endpoints, dialect }: MirrorInput, slice: StoredSlice, group: Group): boolean {
  const { labels, annotations, ownerReferences = [] } = slice.metadata;
  const { name, uid } = endpoints.metadata;
  const now = endpointsOf(slice);
  const isOfEarlierEndpoints = ownerReferences.some(
    (owner) => owner.kind === 'Endpoints' && owner.name === name && owner.uid !== uid,
  );
  return (
    now.length === group.endpoints.size &&
    now.every((endpoint) => {
      const wanted = group.endpoints.get(endpointKey(endpoint));
      return wanted !== undefined && isSameEndpoint(wanted, endpoint);
    }) &&
    deepEqual(without(labels, [managedByLabel(dialect), serviceNameLabel(dialect)]), endpoints.metadata.labels ?? {}) &&
    deepEqual(annotations ?? {}, mirroredAnnotations(endpoints, dialect)) &&
    !isOfEarlierEndpoints
  );
}

function slicePlan({ endpoints, dialect, manager }: MirrorInput, group: Group): SlicePlan {
  const { name, namespace = '' } = endpoints.metadata;
  const annotations = mirroredAnnotations(endpoints, dialect);
  return {
    metadata: {
      generateName: slicePrefix(name),
      namespace,
      labels: {
        ...endpoints.metadata.labels,
        [serviceNameLabel(dialect)]: name,
        [managedByLabel(dialect)]: manager,
      },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [controllerReference(endpoints)],
    },
    addressType: group.family,
    endpoints: [...group.endpoints.values()],
    ports: group.ports,
  };
}

function mirroredAnnotations({ metadata }: StoredEndpoints, dialect: Dialect): Labels {
  const lastApplied = dialect.subkey('kubectl', 'last-applied-configuration');
  return without(metadata.annotations, [triggerTimeAnnotation(dialect), lastApplied]);
}

function without(labels: Labels | undefined, keys: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !keys.includes(key)));
}

/** Reuses slices to be removed for new ones of the same address family. */
function reuseRemoved({ create, update, remove }: SliceChanges): SliceChanges {
  const left = new Set(remove);
  const byFamily = new Map<string, StoredSlice[]>();
  for (const slice of remove) getOrInsertComputed(byFamily, slice.addressType, () => []).push(slice);
  const fresh: SlicePlan[] = [];
  const updated = [...update];
  for (const plan of create) {
    const slice = byFamily.get(plan.addressType)?.shift();
    if (slice === undefined) fresh.push(plan);
    else {
      left.delete(slice);
      updated.push({ ...plan, name: slice.metadata.name });
    }
  }
  return { create: fresh, update: updated, remove: [...left] };
}
