/**
 * The fields of a NetworkPolicy, in wire order.
 */
import * as z from 'zod';
import { defaultedPointer, int32, intOrString, optional, pointer, enumString } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { labelSelector } from '../../../shared/types.js';

const networkPolicyPortShape = () => ({
  protocol: defaultedPointer(enumString<'TCP' | 'UDP' | 'SCTP'>('v1.Protocol'), 'TCP'),
  port: pointer(intOrString()),
  endPort: pointer(int32()),
});
export interface NetworkPolicyPort extends Output<typeof networkPolicyPortShape> {}
export interface NetworkPolicyPortInput extends Input<typeof networkPolicyPortShape> {}
const networkPolicyPort: Type<NetworkPolicyPort, NetworkPolicyPortInput> = type(
  'NetworkPolicyPort',
  networkPolicyPortShape,
);

const ipBlockShape = () => ({
  cidr: z.string(),
  except: optional(z.array(z.string())),
});
export interface IPBlock extends Output<typeof ipBlockShape> {}
export interface IPBlockInput extends Input<typeof ipBlockShape> {}
const ipBlock: Type<IPBlock, IPBlockInput> = type('IPBlock', ipBlockShape);

const networkPolicyPeerShape = () => ({
  podSelector: pointer(labelSelector()),
  namespaceSelector: pointer(labelSelector()),
  ipBlock: pointer(ipBlock()),
});
export interface NetworkPolicyPeer extends Output<typeof networkPolicyPeerShape> {}
export interface NetworkPolicyPeerInput extends Input<typeof networkPolicyPeerShape> {}
const networkPolicyPeer: Type<NetworkPolicyPeer, NetworkPolicyPeerInput> = type(
  'NetworkPolicyPeer',
  networkPolicyPeerShape,
);

const networkPolicyIngressRuleShape = () => ({
  ports: optional(z.array(networkPolicyPort())),
  from: optional(z.array(networkPolicyPeer())),
});
export interface NetworkPolicyIngressRule extends Output<typeof networkPolicyIngressRuleShape> {}
export interface NetworkPolicyIngressRuleInput extends Input<typeof networkPolicyIngressRuleShape> {}
const networkPolicyIngressRule: Type<NetworkPolicyIngressRule, NetworkPolicyIngressRuleInput> = type(
  'NetworkPolicyIngressRule',
  networkPolicyIngressRuleShape,
);

const networkPolicyEgressRuleShape = () => ({
  ports: optional(z.array(networkPolicyPort())),
  to: optional(z.array(networkPolicyPeer())),
});
export interface NetworkPolicyEgressRule extends Output<typeof networkPolicyEgressRuleShape> {}
export interface NetworkPolicyEgressRuleInput extends Input<typeof networkPolicyEgressRuleShape> {}
const networkPolicyEgressRule: Type<NetworkPolicyEgressRule, NetworkPolicyEgressRuleInput> = type(
  'NetworkPolicyEgressRule',
  networkPolicyEgressRuleShape,
);

const networkPolicySpecShape = () => ({
  podSelector: labelSelector(),
  ingress: optional(z.array(networkPolicyIngressRule())),
  egress: optional(z.array(networkPolicyEgressRule())),
  policyTypes: optional(z.array(enumString<'Ingress' | 'Egress'>('v1.PolicyType'))),
});
export interface NetworkPolicySpec extends Output<typeof networkPolicySpecShape> {}
export interface NetworkPolicySpecInput extends Input<typeof networkPolicySpecShape> {}
export const networkPolicySpec: Type<NetworkPolicySpec, NetworkPolicySpecInput> = type(
  'NetworkPolicySpec',
  networkPolicySpecShape,
);
