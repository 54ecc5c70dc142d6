/** What the types of this package are for; see `meta.ts` for the notation. */
export const networkingDescriptions = `
Ingress Brings requests from outside to services, by host and path.
IngressSpec The rules.
 ingressClassName The class: who looks after it.
 defaultBackend Where requests go that no rule matches.
 tls Hosts with certificates.
 rules Which requests go where.
IngressTLS Hosts and their certificate.
 hosts The hosts.
 secretName The Secret with the certificate.
IngressRule What happens with requests for a host.
 host The host; empty is every host.
 http The paths.
HTTPIngressRuleValue Paths of a host.
 paths The paths.
HTTPIngressPath A path and what is behind it.
 path The path.
 pathType Exact, Prefix or ImplementationSpecific.
 backend Where requests go.
IngressBackend Where requests go: a service or something else.
 service The service.
 resource Another object.
IngressServiceBackend A port of a service.
 port The port.
ServiceBackendPort A port by name or number.
 number The number.
IngressStatus Where requests come in.
 loadBalancer The load balancer.
IngressLoadBalancerStatus The state of a load balancer.
 ingress Where it takes traffic.
IngressLoadBalancerIngress A place where traffic comes in.
 ip The address.
 hostname The host name.
 ports The ports.
IngressPortStatus A port of a load balancer.
 error What is wrong with it.
IngressClass Who looks after an Ingress.
IngressClassSpec The controller and its parameters.
 controller The controller.
 parameters An object with its parameters.
IngressClassParametersReference An object with parameters.
 apiGroup The group of its kind.
 kind Its kind.
 scope Cluster or Namespace.
 namespace Its namespace.
NetworkPolicy Which traffic pods may have.
NetworkPolicySpec The pods and their traffic.
 podSelector Selects the pods; empty selects all.
 ingress Traffic that may come in.
 egress Traffic that may go out.
 policyTypes Which directions are restricted: Ingress, Egress.
NetworkPolicyIngressRule,NetworkPolicyEgressRule Traffic that is allowed.
 ports On which ports; empty is all.
 from From where; empty is everywhere.
 to To where; empty is everywhere.
NetworkPolicyPort Ports.
 port The port, by number or by name; absent is all.
 endPort The last port of a range.
NetworkPolicyPeer The other side.
 podSelector Selects pods.
 namespaceSelector Selects namespaces.
 ipBlock Addresses.
IPBlock A range of addresses.
 cidr The range.
 except Ranges that are not meant.
IPAddress An address that is taken. Its name is the address in its canonical form.
IPAddressSpec Who has the address.
 parentRef The object that has it.
ParentReference A reference to an object.
 group The group of the object; empty for the core group.
 resource Its resource.
 namespace Its namespace.
ServiceCIDR Ranges from which services get their addresses.
ServiceCIDRSpec The ranges.
 cidrs The ranges, at most one of each family.
ServiceCIDRStatus The state of the ranges.
*
 name The name.
 port The number.
 protocol TCP, UDP or SCTP.
`;
