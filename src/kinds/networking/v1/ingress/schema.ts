/**
 * The fields of an Ingress, in wire order.
 */
import * as z from 'zod';
import { always, int32, optional, pointer, enumString } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { requiredPointer } from '../../../shared/required-pointer.js';
import { typedLocalObjectReference } from '../../../shared/types.js';

const serviceBackendPortShape = () => ({
  name: optional(z.string()),
  number: optional(int32()),
});
export interface ServiceBackendPort extends Output<typeof serviceBackendPortShape> {}
export interface ServiceBackendPortInput extends Input<typeof serviceBackendPortShape> {}
const serviceBackendPort: Type<ServiceBackendPort, ServiceBackendPortInput> = type(
  'ServiceBackendPort',
  serviceBackendPortShape,
  { atomic: true },
);

const ingressServiceBackendShape = () => ({
  name: z.string(),
  port: always(serviceBackendPort()),
});
export interface IngressServiceBackend extends Output<typeof ingressServiceBackendShape> {}
export interface IngressServiceBackendInput extends Input<typeof ingressServiceBackendShape> {}
const ingressServiceBackend: Type<IngressServiceBackend, IngressServiceBackendInput> = type(
  'IngressServiceBackend',
  ingressServiceBackendShape,
);

const ingressBackendShape = () => ({
  service: pointer(ingressServiceBackend()),
  resource: pointer(typedLocalObjectReference()),
});
export interface IngressBackend extends Output<typeof ingressBackendShape> {}
export interface IngressBackendInput extends Input<typeof ingressBackendShape> {}
const ingressBackend: Type<IngressBackend, IngressBackendInput> = type('IngressBackend', ingressBackendShape);

const ingressTLSShape = () => ({
  hosts: optional(z.array(z.string())),
  secretName: optional(z.string()),
});
export interface IngressTLS extends Output<typeof ingressTLSShape> {}
export interface IngressTLSInput extends Input<typeof ingressTLSShape> {}
const ingressTLS: Type<IngressTLS, IngressTLSInput> = type('IngressTLS', ingressTLSShape);

const httpIngressPathShape = () => ({
  path: optional(z.string()),
  pathType: requiredPointer(enumString<'Exact' | 'Prefix' | 'ImplementationSpecific'>('v1.PathType')),
  backend: ingressBackend(),
});
export interface HTTPIngressPath extends Output<typeof httpIngressPathShape> {}
export interface HTTPIngressPathInput extends Input<typeof httpIngressPathShape> {}
const httpIngressPath: Type<HTTPIngressPath, HTTPIngressPathInput> = type('HTTPIngressPath', httpIngressPathShape);

const httpIngressRuleValueShape = () => ({
  paths: z.array(httpIngressPath()),
});
export interface HTTPIngressRuleValue extends Output<typeof httpIngressRuleValueShape> {}
export interface HTTPIngressRuleValueInput extends Input<typeof httpIngressRuleValueShape> {}
const httpIngressRuleValue: Type<HTTPIngressRuleValue, HTTPIngressRuleValueInput> = type(
  'HTTPIngressRuleValue',
  httpIngressRuleValueShape,
);

const ingressRuleShape = () => ({
  host: optional(z.string()),
  http: pointer(httpIngressRuleValue()),
});
export interface IngressRule extends Output<typeof ingressRuleShape> {}
export interface IngressRuleInput extends Input<typeof ingressRuleShape> {}
const ingressRule: Type<IngressRule, IngressRuleInput> = type('IngressRule', ingressRuleShape);

const ingressSpecShape = () => ({
  ingressClassName: pointer(z.string()),
  defaultBackend: pointer(ingressBackend()),
  tls: optional(z.array(ingressTLS())),
  rules: optional(z.array(ingressRule())),
});
export interface IngressSpec extends Output<typeof ingressSpecShape> {}
export interface IngressSpecInput extends Input<typeof ingressSpecShape> {}
export const ingressSpec: Type<IngressSpec, IngressSpecInput> = type('IngressSpec', ingressSpecShape);

const ingressPortStatusShape = () => ({
  port: int32(),
  protocol: enumString<'TCP' | 'UDP' | 'SCTP'>('v1.Protocol'),
  error: pointer(z.string()),
});
export interface IngressPortStatus extends Output<typeof ingressPortStatusShape> {}
export interface IngressPortStatusInput extends Input<typeof ingressPortStatusShape> {}
const ingressPortStatus: Type<IngressPortStatus, IngressPortStatusInput> = type(
  'IngressPortStatus',
  ingressPortStatusShape,
);

const ingressLoadBalancerIngressShape = () => ({
  ip: optional(z.string()),
  hostname: optional(z.string()),
  ports: optional(z.array(ingressPortStatus())),
});
export interface IngressLoadBalancerIngress extends Output<typeof ingressLoadBalancerIngressShape> {}
export interface IngressLoadBalancerIngressInput extends Input<typeof ingressLoadBalancerIngressShape> {}
const ingressLoadBalancerIngress: Type<IngressLoadBalancerIngress, IngressLoadBalancerIngressInput> = type(
  'IngressLoadBalancerIngress',
  ingressLoadBalancerIngressShape,
);

const ingressLoadBalancerStatusShape = () => ({
  ingress: optional(z.array(ingressLoadBalancerIngress())),
});
export interface IngressLoadBalancerStatus extends Output<typeof ingressLoadBalancerStatusShape> {}
export interface IngressLoadBalancerStatusInput extends Input<typeof ingressLoadBalancerStatusShape> {}
const ingressLoadBalancerStatus: Type<IngressLoadBalancerStatus, IngressLoadBalancerStatusInput> = type(
  'IngressLoadBalancerStatus',
  ingressLoadBalancerStatusShape,
);

const ingressStatusShape = () => ({
  loadBalancer: always(ingressLoadBalancerStatus()),
});
export interface IngressStatus extends Output<typeof ingressStatusShape> {}
export interface IngressStatusInput extends Input<typeof ingressStatusShape> {}
export const ingressStatus: Type<IngressStatus, IngressStatusInput> = type('IngressStatus', ingressStatusShape);
