/** Message types of the group `networking`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const networking: GroupTypes = {
  name: 'networking',
  group: serviceGroup('networking'),
  versions: [
    {
      version: 'v1',
      kinds: 'IPAddress+ Ingress+ IngressClass+ NetworkPolicy+ ServiceCIDR+',
      types: `
HTTPIngressPath path backend:IngressBackend pathType*
HTTPIngressRuleValue paths[]:HTTPIngressPath
IPAddress metadata:ObjectMeta spec:IPAddressSpec
IPAddressSpec parentRef*:ParentReference
IPBlock cidr except[]
Ingress metadata:ObjectMeta spec:IngressSpec status:IngressStatus
IngressBackend resource=3*:TypedLocalObjectReference service*:IngressServiceBackend
IngressClass metadata:ObjectMeta spec:IngressClassSpec
IngressClassParametersReference apiGroup* kind name scope* namespace*
IngressClassSpec controller parameters*:IngressClassParametersReference
IngressLoadBalancerIngress ip hostname ports=4[]:IngressPortStatus
IngressLoadBalancerStatus ingress[]:IngressLoadBalancerIngress
IngressPortStatus port:int32 protocol error*
IngressRule host :IngressRuleValue
IngressRuleValue http*:HTTPIngressRuleValue
IngressServiceBackend name port:ServiceBackendPort
IngressSpec defaultBackend*:IngressBackend tls[]:IngressTLS rules[]:IngressRule ingressClassName*
IngressStatus loadBalancer:IngressLoadBalancerStatus
IngressTLS hosts[] secretName
NetworkPolicy metadata:ObjectMeta spec:NetworkPolicySpec
NetworkPolicyEgressRule ports[]:NetworkPolicyPort to[]:NetworkPolicyPeer
NetworkPolicyIngressRule ports[]:NetworkPolicyPort from[]:NetworkPolicyPeer
NetworkPolicyPeer podSelector*:LabelSelector namespaceSelector*:LabelSelector ipBlock*:IPBlock
NetworkPolicyPort protocol* port*:IntOrString endPort*:int32
NetworkPolicySpec podSelector:LabelSelector ingress[]:NetworkPolicyIngressRule egress[]:NetworkPolicyEgressRule
  policyTypes[]
ParentReference group resource namespace name
ServiceBackendPort name number:int32
ServiceCIDR metadata:ObjectMeta spec:ServiceCIDRSpec status:ServiceCIDRStatus
ServiceCIDRSpec cidrs[]
ServiceCIDRStatus conditions[]:Condition
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'IPAddress+ Ingress+ IngressClass+ ServiceCIDR+',
      types: `
IngressBackend serviceName servicePort:IntOrString resource*:TypedLocalObjectReference
IngressSpec backend*:IngressBackend tls[]:IngressTLS rules[]:IngressRule ingressClassName*
      `,
    },
    {
      version: 'v1alpha1',
      like: 'v1',
      kinds: 'IPAddress+ ServiceCIDR+',
      types: ``,
    },
  ],
};
