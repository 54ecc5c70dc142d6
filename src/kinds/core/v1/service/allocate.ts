/**
 * Allocates IP families, cluster IPs and node ports for a Service before validation.
 *
 * The draft is completed here, and the allocation becomes final when the Service is stored. If admission plugins are
 * asynchronous, another write may take an address or port in between, so `commit` checks again.
 */
import { errors } from '../../../../meta/errors.js';
import { type FieldError, invalid } from '../../../../meta/field-error.js';
import type { GroupResource } from '../../../../meta/gvk.js';
import type { IpFamily } from '../../../../meta/ip.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { StorageError } from '../../../../storage/types.js';
import type { ServiceSpec } from '../../../generated/core-v1.js';
import type { Allocation, StrategyContext } from '../../../kind.js';
import { DEFAULT_SETTINGS } from '../../../shared/cluster-settings.js';
import { addressesOf, type ClusterIPAllocator, clusterIPAllocator } from './cluster-ips.js';
import { initFamilies, sameItems } from './families.js';
import { isHeadless, needsClusterIP, needsHealthCheck, needsNodePorts, nodePortsOf } from './needs.js';
import { allocateNodePorts, NodePortAllocator } from './node-ports.js';

/** For `strategy.write.allocate`. Throws a 422 StatusError if a requested address or port is not available. */
export function allocateService(
  draft: DraftObject,
  liveObject: ApiObject | undefined,
  context: StrategyContext,
): Allocation | undefined {
  const spec = draft['spec'] as ServiceSpec;
  const live = liveObject?.['spec'] as ServiceSpec | undefined;
  const { name, generateName } = draft.metadata;
  const rejectIfInvalid = rejecter(name);
  if (live === undefined) completeNew(spec);
  else completeChanged(spec, live);
  const { serviceFamilies } = context.settings ?? DEFAULT_SETTINGS;
  rejectIfInvalid(initFamilies(spec, live, serviceFamilies));
  const addresses = allocateAddresses(spec, live, { context, rejectIfInvalid, owner: name || generateName || '' });
  const ports = new NodePortAllocator(context);
  rejectIfInvalid(allocateNodePorts(spec, live, ports));
  return {
    commit(stored) {
      const allocator = clusterIPAllocator(context);
      // Check everything before anything is allocated.
      recheck({ addresses, ports, allocator }, stored);
      for (const { address } of addresses.allocated) allocator.allocate(address, stored.metadata);
      for (const address of addresses.released) allocator.release(address);
    },
  };
}

const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };

type RejectIfInvalid = (problems: readonly FieldError[]) => void;

function rejecter(name = ''): RejectIfInvalid {
  return (problems) => {
    if (problems.length > 0) throw errors.invalid({ group: '', kind: 'Service' }, name, problems);
  };
}

/** Releases the addresses of a deleted Service, and deletes its Endpoints, so that a new Service of the name does not reuse them. */
export function releaseService(deleted: ApiObject, context: StrategyContext): void {
  const { namespace = '', name } = deleted.metadata;
  const endpoints = { ...ENDPOINTS, namespace, name };
  if (context.objects.get(endpoints) !== undefined) void context.objects.delete(endpoints, { preconditions: {} });
  const addresses = addressesOf(deleted['spec'] as ServiceSpec);
  if (addresses.length === 0) return;
  const allocator = clusterIPAllocator(context);
  for (const address of addresses) allocator.release(address);
}

/** Sets `clusterIPs` from `clusterIP`, for clients that know only the singular field. */
function completeNew(spec: ServiceSpec): void {
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
}

/** Keeps allocated values that the client omitted. */
function completeChanged(spec: ServiceSpec, live: ServiceSpec): void {
  if (needsClusterIP(spec) && needsClusterIP(live)) {
    if (!spec.clusterIP && live.clusterIP) spec.clusterIP = live.clusterIP;
    if (!spec.clusterIPs?.length && spec.clusterIP === live.clusterIP) adoptAddresses(spec, live);
  }
  if (needsNodePorts(spec) && needsNodePorts(live)) adoptNodePorts(spec, live);
  if (needsHealthCheck(spec) && needsHealthCheck(live) && !spec.healthCheckNodePort && live.healthCheckNodePort) {
    spec.healthCheckNodePort = live.healthCheckNodePort;
  }
  followSingular(spec, live);
}

function adoptAddresses(spec: ServiceSpec, { clusterIPs: addresses }: ServiceSpec): void {
  if (addresses !== undefined) spec.clusterIPs = [...addresses];
}

/** Keeps node ports by port name, unless another port of the new spec uses the number. */
function adoptNodePorts(spec: ServiceSpec, live: ServiceSpec): void {
  const now = new Set(nodePortsOf(spec));
  const byName = new Map((live.ports ?? []).map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const before = byName.get(port.name ?? '') ?? 0;
    if (!port.nodePort && before !== 0 && !now.has(before)) port.nodePort = before;
  }
}

/** If only `clusterIP` changed, the client does not know `clusterIPs`, and the list follows. */
function followSingular(spec: ServiceSpec, live: ServiceSpec): void {
  if (!spec.clusterIPs?.length) adoptAddresses(spec, live);
  const now = spec.clusterIP ?? '';
  if (now === (live.clusterIP ?? '') || !sameItems(spec.clusterIPs, live.clusterIPs)) return;
  if (now === '') delete spec.clusterIPs;
  else spec.clusterIPs = [now];
}

interface AllocatedAddress {
  readonly address: string;
  /** True if the client requested the address, false if it was chosen by the allocator. */
  readonly isRequested: boolean;
}

interface Addresses {
  readonly allocated: readonly AllocatedAddress[];
  readonly released: readonly string[];
}

const NOTHING: Addresses = { allocated: [], released: [] };

function allocateAddresses(spec: ServiceSpec, live: ServiceSpec | undefined, use: AllocationUse): Addresses {
  if (live !== undefined && live.type !== 'ExternalName') {
    // The first address stays until the type changes to ExternalName.
    if (spec.type === 'ExternalName') return { allocated: [], released: addressesOf(live) };
    return isHeadless(live) || isHeadless(spec) ? NOTHING : changeSecondary(spec, live, use);
  }
  if (spec.type === 'ExternalName' || isHeadless(spec)) return NOTHING;
  const allocate = addressChooser(spec, use);
  const allocated = (spec.ipFamilies ?? []).map((family, index) => allocate(family, spec.clusterIPs?.[index] ?? ''));
  spec.clusterIPs = allocated.map(({ address }) => address);
  const [first] = spec.clusterIPs;
  if (first !== undefined) spec.clusterIP = first;
  return { allocated, released: [] };
}

/** A Service that becomes dual-stack gets a second address; one that becomes single-stack loses it. */
function changeSecondary(spec: ServiceSpec, live: ServiceSpec, use: AllocationUse): Addresses {
  const [before, after] = [live.ipFamilies ?? [], spec.ipFamilies ?? []];
  const [, family] = after;
  if (before.length === 1 && family !== undefined) {
    const [first = '', requested = ''] = spec.clusterIPs ?? [];
    const second = addressChooser(spec, use)(family, requested);
    spec.clusterIPs = [first, second.address];
    return { allocated: [second], released: [] };
  }
  const [, secondary] = addressesOf(live);
  const isReleased = before.length === 2 && after.length === 1 && secondary !== undefined;
  return isReleased ? { allocated: [], released: [secondary] } : NOTHING;
}

interface AllocationUse {
  readonly context: StrategyContext;
  /** The name of the Service, or its prefix. */
  readonly owner: string;
  readonly rejectIfInvalid: RejectIfInvalid;
}

/** Returns a function that checks a requested address or chooses a free one. */
function addressChooser(spec: ServiceSpec, { context, rejectIfInvalid, owner }: AllocationUse) {
  const allocator = clusterIPAllocator(context);
  return (family: IpFamily, address: string): AllocatedAddress => {
    if (address !== '') {
      rejectIfInvalid(allocationProblems(spec, address, allocator.refusal(address, owner)));
      return { address, isRequested: true };
    }
    const next = allocator.findFree(family);
    if (next === undefined) throw errors.internal('failed to allocate a serviceIP: range is full');
    return { address: next, isRequested: false };
  };
}

function allocationProblems(spec: ServiceSpec, address: string, refusal: string | undefined): FieldError[] {
  if (refusal === undefined) return [];
  return [invalid('spec.clusterIPs', spec.clusterIPs ?? [], `failed to allocate IP ${address}: ${refusal}`)];
}

/**
 * Checks the allocation again before the commit. A requested address or port that is taken by now is an error; for one
 * that the allocator chose, the write restarts and chooses another.
 */
function recheck(
  {
    addresses,
    ports,
    allocator,
  }: { readonly addresses: Addresses; readonly ports: NodePortAllocator; readonly allocator: ClusterIPAllocator },
  stored: ApiObject,
): void {
  const rejectIfInvalid = rejecter(stored.metadata.name);
  const spec = stored['spec'] as ServiceSpec;
  let isStale = false;
  for (const { address, isRequested } of addresses.allocated) {
    const refusal = allocator.refusal(address, stored.metadata.name);
    if (isRequested) rejectIfInvalid(allocationProblems(spec, address, refusal));
    else isStale ||= refusal !== undefined;
  }
  const conflicts = ports.conflicts();
  rejectIfInvalid(conflicts.requested);
  if (isStale || conflicts.hasChosen) throw new StorageError('stale');
}
