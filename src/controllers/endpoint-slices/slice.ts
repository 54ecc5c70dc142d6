/**
 * Slice endpoints: conversion from pods, comparison, and topology hints (with `trafficDistribution: PreferClose`, each ready
 * endpoint has a hint for its own zone).
 */

import type { Node } from '../../kinds/core/v1/node/node.js';
import type { EndpointSlice, EndpointSliceInput } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { Endpoint, EndpointHints, EndpointSlicePort } from '../../kinds/generated/discovery-v1.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { type IpFamily, parseIpSloppy } from '../../meta/ip.js';
import type { DeepReadonly } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import { hostnameWithin, podAddresses, portNumber, type StoredService } from '../endpoints/pod-services.js';
import { sortSlicePorts } from '../endpoints/subsets.js';
import { isPodReady, isTerminating, type StoredPod } from '../workloads/pod-state.js';

export type StoredSlice = ObjectOf<typeof EndpointSlice>;
export type SliceInput = DeepReadonly<EndpointSliceInput>;
export type SliceEndpoint = DeepReadonly<Endpoint>;
export type SlicePort = DeepReadonly<EndpointSlicePort>;
export type SliceMetadata = SliceInput['metadata'];

/** The wanted state of a slice. */
export interface SlicePlan {
  /** Absent: a new slice. */
  readonly name?: string;
  readonly metadata: SliceMetadata;
  readonly addressType: StoredSlice['addressType'];
  readonly endpoints: SliceEndpoint[];
  readonly ports: readonly SlicePort[];
}

/** The planned writes to the slices of a Service. */
export interface SliceChanges {
  readonly create: SlicePlan[];
  readonly update: SlicePlan[];
  readonly remove: StoredSlice[];
}

export function endpointsOf(slice: StoredSlice): readonly SliceEndpoint[] {
  return slice.endpoints ?? [];
}

export function portsOf(slice: StoredSlice): readonly SlicePort[] {
  return slice.ports ?? [];
}

/** The identity of an endpoint; all other fields may change in place. */
export function endpointKey({ addresses, hostname = '', targetRef }: SliceEndpoint): string {
  const ips = addresses.length > 1 ? [...addresses].sort().join(' ') : addresses[0];
  return `${ips}\n${hostname}\n${targetRef?.namespace ?? ''}\n${targetRef?.name ?? ''}`;
}

/** Whether two endpoints with the same key are equal, ignoring hints. */
export function isSameEndpoint(a: SliceEndpoint, b: SliceEndpoint): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions.ready === b.conditions.ready &&
    a.conditions.serving === b.conditions.serving &&
    a.conditions.terminating === b.conditions.terminating &&
    isSameTarget(a.targetRef, b.targetRef)
  );
}

/** Compares references without resourceVersion. */
function isSameTarget(a: SliceEndpoint['targetRef'], b: SliceEndpoint['targetRef']): boolean {
  if (a?.uid !== b?.uid || a?.name !== b?.name) return false;
  return deepEqual({ ...a, resourceVersion: '' }, { ...b, resourceVersion: '' });
}

/** The request body. Empty lists are omitted, as the reference server's encoding does. */
export function bodyOf(plan: SlicePlan): SliceInput {
  const { metadata, addressType, endpoints, ports } = plan;
  return {
    metadata: plan.name === undefined ? metadata : { ...metadata, name: plan.name },
    addressType,
    ...(endpoints.length === 0 ? {} : { endpoints }),
    ...(ports.length === 0 ? {} : { ports }),
  } as SliceInput;
}

interface PodEndpointInput {
  readonly service: StoredService;
  readonly node: ObjectOf<typeof Node> | undefined;
  readonly family: IpFamily;
  readonly dialect: Dialect;
}

/** The endpoint of a pod; undefined if it has no address of that family. */
export function podEndpoint(pod: StoredPod, input: PodEndpointInput): SliceEndpoint | undefined {
  const { service, node, family, dialect } = input;
  const addresses = podAddresses(pod).flatMap((address) => (address.family === family ? [address.text] : []));
  if (addresses.length === 0) return undefined;
  const serving = isPodReady(pod);
  const terminating = isTerminating(pod);
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const { name, namespace = '', uid } = pod.metadata;
  const { nodeName = '' } = pod.spec;
  const zone = node?.metadata.labels?.[dialect.subkey('topology', 'zone')] ?? '';
  const hostname = hostnameWithin(pod, service);
  return {
    addresses: addresses.sort(),
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone === '' ? {} : { zone }),
  };
}

/** The Service ports that the pod has. */
export function podPorts(pod: StoredPod, { spec }: StoredService): SlicePort[] {
  const ports = (spec.ports ?? []).flatMap((servicePort) => {
    const port = portNumber(pod, servicePort);
    if (port === undefined) return [];
    const { name = '', protocol, appProtocol } = servicePort;
    return [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
  return sortSlicePorts(ports);
}

/** The address families for which a Service has slices. */
export function familiesOf({ spec }: StoredService): readonly IpFamily[] {
  const { ipFamilies = [], clusterIP = '' } = spec;
  if (ipFamilies.length > 0) return [...new Set(ipFamilies)];
  // For Services stored before ipFamilies existed.
  if (clusterIP === '' || clusterIP === 'None') return ['IPv4', 'IPv6'];
  return [parseIpSloppy(clusterIP)?.family ?? 'IPv4'];
}

export type TrafficDistribution = 'none' | 'zone' | 'node';

/** Interprets a Service's `trafficDistribution`. */
export function distributionOf(
  trafficDistribution: string | undefined,
  isEnabled: (gate: string) => boolean,
): TrafficDistribution {
  if (trafficDistribution === 'PreferClose') return 'zone';
  if (!isEnabled('PreferSameTrafficDistribution')) return 'none';
  if (trafficDistribution === 'PreferSameZone') return 'zone';
  return trafficDistribution === 'PreferSameNode' ? 'node' : 'none';
}

/** The endpoint with the right hints; the same object if nothing changes. */
export function withHints(endpoint: SliceEndpoint, distribution: TrafficDistribution): SliceEndpoint {
  const { hints, ...plain } = endpoint;
  if (distribution === 'none') return hints === undefined ? endpoint : plain;
  // An endpoint that is not ready gets no traffic; its hints stay unchanged.
  if (endpoint.conditions.ready !== true) return endpoint;
  const wanted = hintsFor(endpoint, distribution);
  if (deepEqual(hints, wanted)) return endpoint;
  return wanted === undefined ? plain : { ...plain, hints: wanted };
}

function hintsFor(
  { zone, nodeName }: SliceEndpoint,
  distribution: TrafficDistribution,
): DeepReadonly<EndpointHints> | undefined {
  const hints = {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(nodeName === undefined || distribution !== 'node' ? {} : { forNodes: [{ name: nodeName }] }),
  };
  return Object.keys(hints).length === 0 ? undefined : hints;
}
