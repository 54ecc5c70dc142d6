/** What the other kinds of the core group are for; see `meta.ts` for the notation. */
export const coreDescriptions = `
ConfigMap Settings for programs, by key.
 data Texts by key. Keys are of letters, digits, '-', '_' and '.'.
 binaryData Bytes by key, in base64; no key stands in data too.
Secret Values that not everybody may see, by key.
 data Values by key, in base64.
 stringData Values as plain text, to write only: they go to data and win there.
 type What the values are for, so that programs can handle them.
ConfigMap,Secret
 immutable True: only metadata can still be changed.
Namespace A scope for names.
NamespaceSpec What is wanted of a namespace.
 finalizers Who must be done with the namespace before it can disappear.
NamespaceStatus The state of a namespace.
 phase Active or Terminating.
NamespaceCondition A statement about the state of a namespace.
ComponentStatus The health of a part of the control plane. Deprecated.
 conditions Statements about the health of the part.
ComponentCondition The health of a part of the control plane.
 error A code or text of what is wrong.
 type Always Healthy.
LimitRange Limits for single objects of a namespace.
LimitRangeSpec The limits.
 limits One entry for each type of object.
LimitRangeItem Limits for one type of object, by resource.
 type What they apply to: Pod, Container or PersistentVolumeClaim.
 max The most that may be asked for.
 min The least that may be asked for.
 default Limits for those who give none.
 defaultRequest Requests for those who give none.
 maxLimitRequestRatio How many times its request a limit may be; both must be given then.
ResourceQuota Limits for all objects of a namespace together.
ResourceQuotaSpec What is limited.
 hard The most, by resource.
 scopes Only objects that match all of these count.
 scopeSelector Only objects that match this count.
ResourceQuotaStatus The limits in force and what is used.
 hard The most, by resource.
 used What is used, by resource.
ScopeSelector Selects what a quota counts; everything must hold.
 matchExpressions Requirements on scopes.
ScopedResourceSelectorRequirement A requirement on a scope.
 scopeName The scope.
 operator In, NotIn, Exists or DoesNotExist.
 values The values for In and NotIn; empty otherwise.
Endpoints The addresses behind a service. Deprecated; see EndpointSlice.
 subsets Sets of addresses that share their ports.
EndpointSubset Every address together with every port.
 addresses Addresses that are ready for traffic.
 notReadyAddresses Addresses that are not ready yet, or not any more.
 ports The ports.
EndpointAddress An address.
 ip The address; neither loopback nor link-local.
 hostname The host name.
 nodeName The node on which it is.
 targetRef The object behind it, usually a pod.
EndpointPort,ServicePort A port.
 name The name, a DNS label; needed when there are several ports.
 port The number.
 protocol TCP, UDP or SCTP.
 appProtocol What is spoken on the port.
 targetPort The port of the pods, by number or by name.
 nodePort The port of every node.
Event Something that happened, kept for a while. Informational only.
 involvedObject What it is about.
 reason Why, in one word.
 message What happened, for people.
 source Who reports it.
 firstTimestamp When it was first seen.
 lastTimestamp When it was last seen.
 count How often it was seen.
 type Normal or Warning.
 eventTime When it was first seen, exactly.
 series How often it was seen, when more than once.
 action What was done, or failed.
 related Another object that is involved.
 reportingComponent The controller that reports it.
 reportingInstance Which instance of it.
EventSeries A number of equal events.
 count How many there were.
 lastObservedTime When the last one was seen.
EventSource Who reports an event.
 component The program.
 host The node that it runs on.
Service A name and an address for a set of pods.
ServiceSpec How a service is reached and what is behind it.
 ports The ports of the service.
 selector Labels of the pods behind it; absent: somebody else looks after the endpoints.
 clusterIP The address in the cluster; None for no address of its own.
 clusterIPs The addresses in the cluster, at most one of each family.
 type ClusterIP, NodePort, LoadBalancer or ExternalName.
 externalIPs Further addresses at which nodes accept traffic.
 sessionAffinity ClientIP keeps a client with one pod; or None.
 sessionAffinityConfig For how long.
 loadBalancerIP Deprecated; the address that a load balancer should have.
 loadBalancerSourceRanges Clients that a load balancer lets through.
 loadBalancerClass Which load balancer is meant.
 externalName The host name that the service stands for.
 externalTrafficPolicy Where traffic from outside may go: Cluster or Local.
 internalTrafficPolicy Where traffic from inside may go: Cluster or Local.
 healthCheckNodePort The port of nodes that tells whether there are local endpoints.
 publishNotReadyAddresses Pods that are not ready are shown too.
 ipFamilies The families of its addresses: IPv4, IPv6.
 ipFamilyPolicy SingleStack, PreferDualStack or RequireDualStack.
 allocateLoadBalancerNodePorts Whether a load balancer gets ports of nodes.
 trafficDistribution Which endpoints are preferred.
ServiceStatus The state of a service.
 loadBalancer The state of its load balancer.
SessionAffinityConfig How clients are kept with their pods.
 clientIP By the address of the client.
ClientIPConfig Clients told apart by their address.
 timeoutSeconds How long a client is remembered.
LoadBalancerStatus The state of a load balancer.
 ingress Where it takes traffic.
LoadBalancerIngress A place where traffic comes in.
 ip The address.
 ipMode How the address works: VIP or Proxy.
 hostname The host name.
 ports The ports.
PortStatus A port of a load balancer.
 port The number.
 protocol TCP, UDP or SCTP.
 error What is wrong with it.
ServiceAccount An identity for what runs in pods.
 secrets Secrets that its pods may use.
 imagePullSecrets Secrets with credentials for registries.
 automountServiceAccountToken Whether pods get a token.
Node A machine that runs pods.
NodeSpec What is wanted of a node.
 podCIDR The range of addresses for its pods.
 podCIDRs The ranges of addresses for its pods, at most one of each family.
 providerID The machine, as its provider names it.
 unschedulable No new pods come here.
 taints What keeps pods away that do not tolerate it.
 configSource,externalID Not used any more.
NodeStatus The state of a node.
 capacity What the machine has.
 allocatable What is left for pods.
 phase Not used any more.
 addresses How the machine is reached.
 daemonEndpoints Ports of the node's own programs.
 nodeInfo Identities and versions of the machine.
 images Images that are on the machine.
 volumesInUse Volumes that are mounted.
 volumesAttached Volumes that are attached.
 config Not used any more.
 runtimeHandlers The runtimes and what they can do.
 features What the node can do.
NodeAddress An address of a node.
 type Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.
 address The address.
NodeSystemInfo Identities and versions of a machine.
 machineID The identity of the installation.
 systemUUID The identity of the machine.
 bootID The identity of the present boot.
 kernelVersion The kernel.
 osImage The system.
 containerRuntimeVersion The runtime.
 kubeletVersion The agent of the node.
 kubeProxyVersion Not used any more.
 operatingSystem The kind of system: linux or windows.
 architecture The processor.
 swap The swap space.
NodeSwapStatus The swap space of a machine.
 capacity Its size in bytes.
NodeCondition A statement about the state of a node.
NodeDaemonEndpoints Ports of the node's own programs.
 kubeletEndpoint That of the agent.
DaemonEndpoint A port of a program.
 Port The number.
NodeFeatures What a node can do.
 supplementalGroupsPolicy It knows policies of supplemental groups.
NodeRuntimeHandler A runtime of a node.
 features What it can do.
NodeRuntimeHandlerFeatures What a runtime can do.
 recursiveReadOnlyMounts Mounts that are read-only all the way down.
 userNamespaces Users of a pod's own.
NodeConfigSource,NodeConfigStatus,ConfigMapNodeConfigSource Not used any more.
Taint Keeps pods away that do not tolerate it.
 key The key.
 value The value.
 effect NoSchedule, PreferNoSchedule or NoExecute.
 timeAdded When a NoExecute taint was added.
ContainerImage An image on a node.
 names Its names.
 sizeBytes Its size.
AttachedVolume A volume that is attached to a node.
 name The volume.
 devicePath Where it appears.
ReplicationController Keeps a number of equal pods running. Deployments do it better.
ReplicationControllerSpec How many pods, and which.
 replicas How many.
 minReadySeconds How long a pod must be ready to count as available.
 selector Labels of its pods.
 template The pods to make.
ReplicationControllerCondition A statement about the pods.
ReplicationControllerStatus The state of its pods.
 replicas How many there are.
 fullyLabeledReplicas How many have the labels of the template.
 readyReplicas How many are ready.
 availableReplicas How many are available.
ObjectReference A reference to an object.
 kind The kind of the object.
 namespace Its namespace.
 name Its name.
 uid Its uid.
 apiVersion The group and version of its kind.
 resourceVersion The version that is meant.
 fieldPath The part of the object that is meant.
LocalObjectReference A reference to an object of the same namespace.
SecretReference A reference to a Secret.
 namespace The namespace of the Secret.
TypedLocalObjectReference,TypedObjectReference A reference to an object of some kind.
 apiGroup The group of its kind; empty for the core group.
 kind The kind of the object.
 name Its name.
 namespace Its namespace.
*
 name The name of the object.
`;
