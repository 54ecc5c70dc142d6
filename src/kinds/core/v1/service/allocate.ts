/**
 * What a Service is given before it is judged: families, cluster addresses, ports on the nodes. spec: Service
 *
 * The draft is completed here; what was given becomes final when the Service is stored. Until then somebody else may
 * have come by it, where a plugin had to be waited for: the last look decides.
 */
import { errors } from '../../../../meta/errors.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { invalid } from '../../../../meta/field-error.js';
import type { GroupResource } from '../../../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { StorageError } from '../../../../storage/types.js';
import type { Allocation, StrategyContext } from '../../../kind.js';
import { addressesOf, type ClusterIPAllocator, clusterIPAllocator } from './cluster-ips.js';
import { initFamilies, sameItems } from './families.js';
import { isHeadless, needsClusterIP, needsHealthCheck, needsNodePorts, nodePortsOf } from './needs.js';
import { allocateNodePorts, NodePortAllocator } from './node-ports.js';
import type { ServiceSpec } from './schema.js';

export function allocateService(
  draft: DraftObject,
  liveObject: ApiObject | undefined,
  context: StrategyContext,
): Allocation | undefined {
  const spec = draft['spec'] as ServiceSpec;
  const live = liveObject?.['spec'] as ServiceSpec | undefined;
  const refuse = refuserOf(draft.metadata.name);
  if (live === undefined) completeNew(spec);
  else completeChanged(spec, live);
  refuse(initFamilies(spec, live));
  const addresses = allocateAddresses(spec, live, { context, refuse });
  const ports = new NodePortAllocator(context);
  refuse(allocateNodePorts(spec, live, ports));
  return {
    commit(stored) {
      const pool = clusterIPAllocator(context);
      // Nothing is taken before everything is known to be free.
      checkAgain({ addresses, ports, pool }, stored);
      for (const { address } of addresses.taken) pool.allocate(address, stored.metadata);
      for (const address of addresses.released) pool.release(address);
    },
  };
}

const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };

type Refuse = (problems: readonly FieldError[]) => void;

function refuserOf(name = ''): Refuse {
  return (problems) => {
    if (problems.length > 0) throw errors.invalid({ group: '', kind: 'Service' }, name, problems);
  };
}

/** Endpoints of its name go with it, so that no Service to come is led to them. */
export function releaseService(gone: ApiObject, context: StrategyContext): void {
  const { namespace = '', name } = gone.metadata;
  const endpoints = { ...ENDPOINTS, namespace, name };
  if (context.objects.get(endpoints) !== undefined) void context.objects.delete(endpoints, { preconditions: {} });
  const addresses = addressesOf(gone['spec'] as ServiceSpec);
  if (addresses.length === 0) return;
  const pool = clusterIPAllocator(context);
  for (const address of addresses) pool.release(address);
}

/** The list follows the one address that older clients know. */
function completeNew(spec: ServiceSpec): void {
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
}

/** What was allocated and left out by the client is what it was. */
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

/** By the name of the port, unless another port has come to use the number. */
function adoptNodePorts(spec: ServiceSpec, live: ServiceSpec): void {
  const now = new Set(nodePortsOf(spec));
  const byName = new Map((live.ports ?? []).map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const before = byName.get(port.name ?? '') ?? 0;
    if (!port.nodePort && before !== 0 && !now.has(before)) port.nodePort = before;
  }
}

/** A client that does not know the list means it when it changes the one address. */
function followSingular(spec: ServiceSpec, live: ServiceSpec): void {
  if (!spec.clusterIPs?.length) adoptAddresses(spec, live);
  const now = spec.clusterIP ?? '';
  if (now === (live.clusterIP ?? '') || !sameItems(spec.clusterIPs, live.clusterIPs)) return;
  if (now === '') delete spec.clusterIPs;
  else spec.clusterIPs = [now];
}

interface GivenAddress {
  readonly address: string;
  /** By the client; otherwise it was picked, and another would do. */
  readonly named: boolean;
}

interface Addresses {
  readonly taken: readonly GivenAddress[];
  readonly released: readonly string[];
}

const NOTHING: Addresses = { taken: [], released: [] };

function allocateAddresses(
  spec: ServiceSpec,
  live: ServiceSpec | undefined,
  about: { readonly context: StrategyContext; readonly refuse: Refuse },
): Addresses {
  if (live !== undefined && live.type !== 'ExternalName') {
    // Addresses of a service that has them stay what they are, until it needs none.
    return spec.type === 'ExternalName' ? { taken: [], released: addressesOf(live) } : NOTHING;
  }
  if (spec.type === 'ExternalName' || isHeadless(spec)) return NOTHING;
  const pool = clusterIPAllocator(about.context);
  const wanted = (spec.ipFamilies ?? []).map((_, index) => spec.clusterIPs?.[index] ?? '');
  const taken = wanted.map((address): GivenAddress => {
    if (address !== '') {
      about.refuse(refusalOf(spec, address, pool.refusal(address)));
      return { address, named: true };
    }
    const next = pool.findFree();
    if (next === undefined) throw errors.internal('failed to allocate a serviceIP: range is full');
    return { address: next, named: false };
  });
  spec.clusterIPs = taken.map(({ address }) => address);
  const [first] = spec.clusterIPs;
  if (first !== undefined) spec.clusterIP = first;
  return { taken, released: [] };
}

function refusalOf(spec: ServiceSpec, address: string, refusal: string | undefined): FieldError[] {
  if (refusal === undefined) return [];
  return [invalid('spec.clusterIPs', spec.clusterIPs ?? [], `failed to allocate IP ${address}: ${refusal}`)];
}

/**
 * The last look. What the client named and somebody else has by now is refused; where it was picked, the write begins
 * again and picks another.
 */
function checkAgain(
  {
    addresses,
    ports,
    pool,
  }: { readonly addresses: Addresses; readonly ports: NodePortAllocator; readonly pool: ClusterIPAllocator },
  stored: ApiObject,
): void {
  const refuse = refuserOf(stored.metadata.name);
  const spec = stored['spec'] as ServiceSpec;
  let picksAreGone = false;
  for (const { address, named } of addresses.taken) {
    const refusal = pool.refusal(address);
    if (named) refuse(refusalOf(spec, address, refusal));
    else picksAreGone ||= refusal !== undefined;
  }
  const lost = ports.conflicts();
  refuse(lost.named);
  if (picksAreGone || lost.picked) throw new StorageError('stale');
}
