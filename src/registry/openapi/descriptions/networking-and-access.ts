/**
 * OpenAPI descriptions of the groups for networking, authentication, authorization and flow control, by package.
 * `../definitions.ts` explains the notation and parses it.
 */
export const networkingAndAccessDescriptions: Readonly<Record<string, string>> = {
  authentication: `
TokenReview Asks for the user of a token.
TokenReviewSpec The token.
 token The token.
 audiences The audiences that it must have.
TokenReviewStatus The answer.
 authenticated Whether the token is valid.
 user The user.
 error Why it could not be checked.
 audiences The audiences that the token and the request share.
TokenRequest Asks for a token of an account.
TokenRequestSpec The token that is wanted.
 audiences The audiences of the token.
 expirationSeconds How long it should last.
 boundObjectRef An object whose deletion invalidates the token.
TokenRequestStatus The token.
 token The token.
 expirationTimestamp When it ends.
BoundObjectReference An object that a token depends on.
 kind Pod, Secret or Node.
 apiVersion The group and version of its kind.
 name The name of the object.
 uid Its uid.
SelfSubjectReview Asks for the user of the caller.
SelfSubjectReviewStatus The answer.
 userInfo The user.
UserInfo A user.
 username The name.
 uid Identifies the user among all with this name.
 groups The groups.
 extra Whatever else is known.
`,
  authorization: `
SubjectAccessReview Asks whether a user may perform an action.
SelfSubjectAccessReview Asks whether the caller may perform an action.
LocalSubjectAccessReview Asks whether a user may perform an action in one namespace.
SelfSubjectRulesReview Asks what the caller may do in a namespace.
SelfSubjectRulesReviewSpec The question.
 namespace The namespace.
SubjectAccessReviewSpec,SelfSubjectAccessReviewSpec The question: about a resource, or about a path.
 resourceAttributes What is to be done to which resource.
 nonResourceAttributes What is to be done to which path.
 user The user.
 groups The groups of the user.
 extra Whatever else is known of the user.
 uid The uid of the user.
SubjectAccessReviewStatus The answer.
 allowed Whether it is allowed.
 denied Whether it is explicitly denied.
 reason Why.
 evaluationError An error during the evaluation.
SubjectRulesReviewStatus The answer.
 resourceRules Rights on resources.
 nonResourceRules Rights on paths.
 incomplete Whether there may be more.
 evaluationError An error during the evaluation.
ResourceAttributes A request for a resource.
 namespace The namespace; empty for none or all.
 group The group; * is all.
 version The version; * is all.
 resource The resource; * is all.
 subresource The subresource.
 name The name of the object; empty is all.
 fieldSelector What a list is narrowed to, by fields.
 labelSelector What a list is narrowed to, by labels.
NonResourceAttributes A request for a path.
 path The path.
FieldSelectorAttributes,LabelSelectorAttributes A selector.
 rawSelector The selector as text.
 requirements The selector in parts.
ResourceRule Verbs on resources.
 apiGroups The groups of the resources.
 resources The resources.
 resourceNames The names of the objects; empty is all.
NonResourceRule Verbs on paths.
 nonResourceURLs The paths.
*
 verb What is to be done.
 verbs What may be done.
`,
  certificates: `
ClusterTrustBundle Root certificates that others may trust.
ClusterTrustBundleSpec The certificates and their signer.
 signerName The signer; the name of the object starts with it then.
 trustBundle The certificates in PEM: authorities only, each of them once.
CertificateSigningRequest Asks a signer for a certificate.
CertificateSigningRequestSpec The request and its requester.
 request The request in PEM.
 signerName The signer.
 expirationSeconds How long the certificate should last.
 usages What the certificate is for.
 username,uid,groups,extra The requester. Set by the server.
CertificateSigningRequestStatus The state of the request.
 certificate The certificate in PEM.
CertificateSigningRequestCondition Approved, Denied or Failed.
`,
  discovery: `
EndpointSlice A part of the addresses behind a service.
 addressType IPv4, IPv6 or FQDN.
 endpoints The addresses.
 ports The ports that all of them have.
Endpoint One thing behind a service.
 addresses Its addresses.
 conditions Its state.
 hostname The host name.
 targetRef The object behind it, usually a pod.
 deprecatedTopology Kept for an older version.
 nodeName The node on which it is.
 zone The zone in which it is.
 hints Which clients should use it.
EndpointConditions The state of an endpoint.
 ready It takes traffic.
 serving It could take traffic, even if it is ending.
 terminating It is ending.
EndpointHints Which clients should use an endpoint.
 forZones Clients in these zones.
 forNodes Clients on these nodes.
EndpointPort A port.
 name The name, unique in the slice.
 protocol TCP, UDP or SCTP.
 port The number.
 appProtocol The application protocol of the port.
ForZone,ForNode A zone or a node.
 name Its name.
`,
  flowcontrol: `
FlowSchema Sorts requests into flows.
FlowSchemaSpec Which requests match, and their priority level.
 priorityLevelConfiguration The priority level of the requests.
 matchingPrecedence From 1 to 10000; of all that match, the smallest is taken.
 distinguisherMethod How flows are distinguished; absent: all requests are one flow.
 rules Which requests; one rule is enough, none match nothing.
FlowSchemaStatus The state of the schema.
FlowSchemaCondition A statement about the schema.
FlowDistinguisherMethod How flows are distinguished.
 type ByUser or ByNamespace.
PriorityLevelConfigurationReference A level by its name.
PolicyRulesWithSubjects Requests by subject and by resource or path.
 subjects The users, groups and accounts; one of them is enough.
 resourceRules Requests for resources.
 nonResourceRules Requests for other paths.
Subject A user, a group or an account.
 kind User, Group or ServiceAccount: which field is set.
 user A user.
 group A group.
 serviceAccount An account.
UserSubject,GroupSubject A user or a group.
 name The name; * is all.
ServiceAccountSubject An account.
 namespace Its namespace.
 name Its name; * is all of the namespace.
ResourcePolicyRule Requests for resources.
 verbs The verbs; * alone is all.
 apiGroups The groups; * alone is all.
 resources The resources, in lower case; * alone is all.
 clusterScope Requests without a namespace match.
 namespaces The namespaces; * is any, but not none.
NonResourcePolicyRule Requests for other paths.
 verbs The verbs; * alone is all.
 nonResourceURLs The paths; * alone, or as the whole last part, is all.
PriorityLevelConfiguration A level of requests and how many of them are served at a time.
PriorityLevelConfigurationSpec How the level works.
 type Exempt or Limited.
 limited The bounds of a limited level.
 exempt The settings of an exempt level.
PriorityLevelConfigurationStatus The state of the level.
PriorityLevelConfigurationCondition A statement about the level.
LimitedPriorityLevelConfiguration,ExemptPriorityLevelConfiguration Bounds of a level.
 nominalConcurrencyShares Its share of all that is served at a time.
 lendablePercent How much of it others may borrow.
 borrowingLimitPercent How much it may borrow.
 limitResponse How excess requests are handled.
LimitResponse How excess requests are handled.
 type Queue or Reject.
 queuing How they wait.
QueuingConfiguration How requests wait.
 queues The number of queues.
 handSize How many queues a flow may use.
 queueLengthLimit How many requests a queue holds.
*
 name The name.
`,
  networking: `
Ingress Brings requests from outside to services, by host and path.
IngressSpec The rules.
 ingressClassName The class, which names the controller.
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
IngressClass A class of Ingress controllers.
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
 except Ranges that are excluded.
IPAddress An address that is taken. Its name is the address in its canonical form.
IPAddressSpec The owner of the address.
 parentRef The object that owns it.
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
`,
  rbac: `
Role Rights in one namespace, to be given by a binding.
ClusterRole Rights in the whole cluster, or in whatever namespace they are given.
 aggregationRule Makes up the rules from those of other roles.
Role,ClusterRole
 rules The rights. They add up.
PolicyRule Verbs on resources, or on paths that are no resources; never on both.
 verbs What may be done; * is everything.
 apiGroups Groups of the resources; the empty text is the core group, * is all groups.
 resources The resources; * is all of them.
 resourceNames Names of the objects; empty means all.
 nonResourceURLs Paths; * may be the last part. For roles of the whole cluster only.
RoleBinding Gives a role to subjects in one namespace.
ClusterRoleBinding Gives a role to subjects in the whole cluster.
RoleBinding,ClusterRoleBinding
 subjects The users, groups and accounts that get the role.
 roleRef The role. It cannot be changed.
RoleRef A reference to a role.
 kind Role or ClusterRole.
Subject A user, a group or an account.
 kind User, Group or ServiceAccount.
 namespace The namespace of an account.
AggregationRule Which roles make up another one.
 clusterRoleSelectors Select the roles; one of them is enough.
*
 apiGroup The group of its kind.
 name The name.
`,
};
