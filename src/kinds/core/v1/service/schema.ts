/**
 * Schemas of the Service kind, with fields in wire order.
 */
import * as z from 'zod';
import {
  always,
  atomic,
  defaulted,
  enumString,
  int32,
  intOrString,
  mapList,
  optional,
  pointer,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { condition } from '../../../shared/types.js';

const servicePortShape = () => ({
  name: optional(z.string()),
  protocol: defaulted(enumString<'TCP' | 'UDP' | 'SCTP'>('v1.Protocol'), 'TCP'),
  appProtocol: pointer(z.string()),
  port: int32(),
  targetPort: pointer(intOrString()),
  nodePort: optional(int32()),
});
export interface ServicePort extends Output<typeof servicePortShape> {}
export interface ServicePortInput extends Input<typeof servicePortShape> {}
const servicePort: Type<ServicePort, ServicePortInput> = type('ServicePort', servicePortShape);

const clientIPConfigShape = () => ({ timeoutSeconds: pointer(int32()) });
export interface ClientIPConfig extends Output<typeof clientIPConfigShape> {}
export interface ClientIPConfigInput extends Input<typeof clientIPConfigShape> {}
const clientIPConfig: Type<ClientIPConfig, ClientIPConfigInput> = type('ClientIPConfig', clientIPConfigShape);

const sessionAffinityConfigShape = () => ({ clientIP: pointer(clientIPConfig()) });
export interface SessionAffinityConfig extends Output<typeof sessionAffinityConfigShape> {}
export interface SessionAffinityConfigInput extends Input<typeof sessionAffinityConfigShape> {}
const sessionAffinityConfig: Type<SessionAffinityConfig, SessionAffinityConfigInput> = type(
  'SessionAffinityConfig',
  sessionAffinityConfigShape,
);

const serviceSpecShape = () => ({
  ports: optional(mapList(servicePort(), ['port', 'protocol'])),
  selector: optional(atomic(z.record(z.string(), z.string()))),
  clusterIP: optional(z.string()),
  clusterIPs: optional(z.array(z.string())),
  type: defaulted(
    enumString<'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'>('v1.ServiceType'),
    'ClusterIP',
  ),
  externalIPs: optional(z.array(z.string())),
  sessionAffinity: defaulted(enumString<'ClientIP' | 'None'>('v1.ServiceAffinity'), 'None'),
  loadBalancerIP: optional(z.string()),
  loadBalancerSourceRanges: optional(z.array(z.string())),
  externalName: optional(z.string()),
  externalTrafficPolicy: optional(enumString<'Cluster' | 'Local'>('v1.ServiceExternalTrafficPolicy')),
  healthCheckNodePort: optional(int32()),
  publishNotReadyAddresses: optional(z.boolean()),
  sessionAffinityConfig: pointer(sessionAffinityConfig()),
  ipFamilies: optional(z.array(enumString<'IPv4' | 'IPv6'>('v1.IPFamily'))),
  ipFamilyPolicy: pointer(enumString<'SingleStack' | 'PreferDualStack' | 'RequireDualStack'>('v1.IPFamilyPolicy')),
  allocateLoadBalancerNodePorts: pointer(z.boolean()),
  loadBalancerClass: pointer(z.string()),
  internalTrafficPolicy: pointer(enumString<'Cluster' | 'Local'>('v1.ServiceInternalTrafficPolicy')),
  trafficDistribution: pointer(z.string()),
});
export interface ServiceSpec extends Output<typeof serviceSpecShape> {}
export interface ServiceSpecInput extends Input<typeof serviceSpecShape> {}
export const serviceSpec: Type<ServiceSpec, ServiceSpecInput> = type('ServiceSpec', serviceSpecShape);

const portStatusShape = () => ({
  port: int32(),
  protocol: enumString<'TCP' | 'UDP' | 'SCTP'>('v1.Protocol'),
  error: pointer(z.string()),
});
export interface PortStatus extends Output<typeof portStatusShape> {}
export interface PortStatusInput extends Input<typeof portStatusShape> {}
const portStatus: Type<PortStatus, PortStatusInput> = type('PortStatus', portStatusShape);

const loadBalancerIngressShape = () => ({
  ip: optional(z.string()),
  hostname: optional(z.string()),
  ipMode: pointer(enumString<'VIP' | 'Proxy'>('v1.LoadBalancerIPMode')),
  ports: optional(z.array(portStatus())),
});
export interface LoadBalancerIngress extends Output<typeof loadBalancerIngressShape> {}
export interface LoadBalancerIngressInput extends Input<typeof loadBalancerIngressShape> {}
const loadBalancerIngress: Type<LoadBalancerIngress, LoadBalancerIngressInput> = type(
  'LoadBalancerIngress',
  loadBalancerIngressShape,
);

const loadBalancerStatusShape = () => ({ ingress: optional(z.array(loadBalancerIngress())) });
export interface LoadBalancerStatus extends Output<typeof loadBalancerStatusShape> {}
export interface LoadBalancerStatusInput extends Input<typeof loadBalancerStatusShape> {}
const loadBalancerStatus: Type<LoadBalancerStatus, LoadBalancerStatusInput> = type(
  'LoadBalancerStatus',
  loadBalancerStatusShape,
);

const serviceStatusShape = () => ({
  loadBalancer: always(loadBalancerStatus()),
  conditions: optional(mapList(condition(), 'type')),
});
export interface ServiceStatus extends Output<typeof serviceStatusShape> {}
export interface ServiceStatusInput extends Input<typeof serviceStatusShape> {}
export const serviceStatus: Type<ServiceStatus, ServiceStatusInput> = type('ServiceStatus', serviceStatusShape);
