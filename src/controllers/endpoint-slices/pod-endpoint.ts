/**
 * Converts pods to slice endpoints.
 */
import type { Node } from '../../kinds/core/v1/node/node.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { type IpFamily, parseIpSloppy } from '../../meta/ip.js';
import { hostnameWithin, podAddresses, portNumber, type StoredService } from '../endpoints/pod-services.js';
import { sortSlicePorts } from '../endpoints/port-order.js';
import { isPodReady, isTerminating, type StoredPod } from '../workloads/pod-state.js';
import type { SliceEndpoint, SlicePort } from './slice.js';

export interface PodEndpointInput {
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
