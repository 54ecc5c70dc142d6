/**
 * OpenAPI descriptions of the types that all groups share (`meta`) and of the core group, except pods and volumes.
 * `../definitions.ts` explains the notation and parses it.
 */
export const coreDescriptions = `
ConfigMap Settings for programs, by key.
 data Texts by key. Keys are of letters, digits, '-', '_' and '.'.
 binaryData Bytes by key, in base64; a key is not also in data.
Secret Confidential values, by key.
 data Values by key, in base64.
 stringData Values as plain text, to write only: they go to data and win there.
 type What the values are for, so that programs can handle them.
ConfigMap,Secret
 immutable True: only metadata can still be changed.
Namespace A scope for names.
NamespaceSpec The desired state of a namespace.
 finalizers Components that must finish their cleanup before the namespace is deleted.
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
 default Limits for containers that specify none.
 defaultRequest Requests for containers that specify none.
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
 appProtocol The application protocol of the port.
 targetPort The port of the pods, by number or by name.
 nodePort The port of every node.
Event Something that happened, kept for a while. Informational only.
 involvedObject What it is about.
 reason Why, in one word.
 message What happened, for people.
 source The component that reports it.
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
EventSource The component that reports an event.
 component The program.
 host The node that it runs on.
Service A name and an address for a set of pods.
ServiceSpec How a service is reached and what is behind it.
 ports The ports of the service.
 selector Labels of the pods behind it; absent: the endpoints are managed elsewhere.
 clusterIP The address in the cluster; None for no address of its own.
 clusterIPs The addresses in the cluster, at most one of each family.
 type ClusterIP, NodePort, LoadBalancer or ExternalName.
 externalIPs Further addresses at which nodes accept traffic.
 sessionAffinity ClientIP keeps a client with one pod; or None.
 sessionAffinityConfig For how long.
 loadBalancerIP Deprecated; the address that a load balancer should have.
 loadBalancerSourceRanges Clients that a load balancer lets through.
 loadBalancerClass Which load balancer is meant.
 externalName The host name that the service is an alias for.
 externalTrafficPolicy Where traffic from outside may go: Cluster or Local.
 internalTrafficPolicy Where traffic from inside may go: Cluster or Local.
 healthCheckNodePort The node port that reports whether there are local endpoints.
 publishNotReadyAddresses Pods that are not ready are included.
 ipFamilies The families of its addresses: IPv4, IPv6.
 ipFamilyPolicy SingleStack, PreferDualStack or RequireDualStack.
 allocateLoadBalancerNodePorts Whether a load balancer gets ports of nodes.
 trafficDistribution Which endpoints are preferred.
ServiceStatus The state of a service.
 loadBalancer The state of its load balancer.
SessionAffinityConfig How clients are kept with their pods.
 clientIP By the address of the client.
ClientIPConfig Clients identified by their address.
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
ServiceAccount An identity for processes in pods.
 secrets Secrets that its pods may use.
 imagePullSecrets Secrets with credentials for registries.
 automountServiceAccountToken Whether pods get a token.
Node A machine that runs pods.
NodeSpec The desired state of a node.
 podCIDR The range of addresses for its pods.
 podCIDRs The ranges of addresses for its pods, at most one of each family.
 providerID The machine, as its provider names it.
 unschedulable No new pods are scheduled here.
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
ReplicationController Keeps a number of equal pods running. Deployments are recommended instead.
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

export const metaDescriptions = `
ObjectMeta The metadata that every object has.
 name The name, unique among objects of the kind in its namespace. It cannot be changed.
 generateName A prefix from which the server makes a unique name when name is empty.
 namespace The namespace in which the name is unique; empty for objects of the whole cluster.
 selfLink Not set any more.
 uid Identifies the object among all that ever had its name. Set by the server.
 resourceVersion Changes with every write; a write that states it fails if the object has changed since.
 generation Counts the changes of the desired state. Set by the server.
 creationTimestamp CreationTimestamp is a timestamp of the object's creation. Set by the server.
 deletionTimestamp When the object was, or is going to be, deleted. Set by the server.
 deletionGracePeriodSeconds How long the object may take to end after its deletion.
 labels Short values to select and to group objects by.
 annotations Values of any form for tools and people; nothing is selected by them.
 ownerReferences Objects on which this one depends: it is deleted when the last of them is deleted.
 finalizers Components that must finish their cleanup before the object is deleted.
 managedFields Which manager set which fields, kept for apply.
OwnerReference An object that owns the one with this reference, in the same namespace or of the whole cluster.
 apiVersion The group and version of the owner.
 kind The kind of the owner.
 name The name of the owner.
 uid The uid of the owner.
 controller True for the one owner that manages the object.
 blockOwnerDeletion True if a deletion of the owner in the foreground waits for this object.
ManagedFieldsEntry The fields that one manager set in one way.
 manager The name of the manager.
 operation How it set them: Apply or Update.
 apiVersion The version in which the fields are written.
 time When the manager last changed what it owns.
 fieldsType The format of the fields: FieldsV1.
 fieldsV1 The set of fields.
 subresource The subresource through which they were set; empty for the object itself.
FieldsV1 A set of fields: names, list items and keys as nested objects.
ListMeta The metadata that every list has.
 selfLink Not set any more.
 resourceVersion The version of the whole list; a watch can start from it.
 continue Given when there is more: a token for the next part.
 remainingItemCount How many objects come after this part, as far as is known.
List
 metadata Standard list metadata: the version of the list and the token of its next part.
Condition A statement about the state of an object.
 observedGeneration The generation of the object that the statement is about.
LabelSelector Selects objects by their labels. Everything asked for must hold; an empty selector selects all objects.
 matchLabels Labels that must have exactly these values.
 matchExpressions Requirements on labels.
LabelSelectorRequirement A requirement on one label.
 key The name of the label.
 operator In, NotIn, Exists or DoesNotExist.
 values The values for In and NotIn; empty otherwise.
FieldSelectorRequirement A requirement on one field.
 key The field.
 operator In, NotIn, Exists or DoesNotExist.
 values The values for In and NotIn; empty otherwise.
Time A point in time as RFC 3339 has it, in whole seconds.
MicroTime A point in time as RFC 3339 has it, with microseconds.
Quantity An amount: a number with an optional unit, such as 500m, 1.5 or 2Gi.
IntOrString A number or a text, often a percentage or the name of a port.
RawExtension A document of any kind, kept as it is.
Patch Changes to an object, in the format that the content type names.
DeleteOptions How an object is to be deleted.
 gracePeriodSeconds Seconds until the object is deleted; 0 deletes at once.
 preconditions What must hold of the object for the deletion to happen.
 orphanDependents Deprecated; use propagationPolicy. Keeps dependents.
 propagationPolicy How dependents are handled: Orphan, Background or Foreground.
 dryRun With the value All nothing is deleted.
 ignoreStoreReadErrorWithClusterBreakingPotential Deletes an object even if it cannot be read. Unsafe.
Preconditions What must hold of an object for an operation to happen.
 uid It must have this uid.
 resourceVersion It must have this version.
Status The result of a call that does not return an object.
 status Success or Failure.
 message What happened, for people.
 reason A machine-readable reason.
 details More about the reason.
 code The HTTP code of the answer.
 metadata The metadata of lists; usually empty.
StatusDetails More about the outcome of a call.
 name The name of the object that it is about.
 group The group of its kind.
 kind Its kind or resource.
 uid Its uid.
 causes The single problems that led to a failure.
 retryAfterSeconds When a repeated call may work.
StatusCause One problem of several.
 reason What kind of problem it is, for programs.
 message What the problem is, for people.
 field The field with the problem, as a path.
WatchEvent One change in a watch.
 type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
 object The object after the change, or a Status.
APIVersions The versions of the core group.
 versions The names of the versions.
 serverAddressByClientCIDRs Where clients find the server, by their own address.
APIGroup A group and its versions.
 name The name of the group.
 versions The versions in which it is served.
 preferredVersion The version that clients should choose.
 serverAddressByClientCIDRs Where clients find the server, by their own address.
APIGroupList All groups.
 groups The groups.
APIResourceList The resources of one group and version.
 groupVersion The group and version.
 resources The resources.
APIResource A resource: how it is addressed and what can be done with it.
 name The plural name, as in paths.
 singularName The singular name.
 namespaced True if its objects are namespaced.
 group The group of its kind, where that is another than the list's.
 version The version of its kind, where that is another than the list's.
 kind The kind of its objects.
 verbs What can be done with it.
 shortNames Names to type.
 categories Groups of resources that it belongs to, such as all.
 storageVersionHash Changes when objects are stored in another version.
GroupVersionForDiscovery A version of a group.
 groupVersion The group and version as objects name them.
 version The version alone.
ServerAddressByClientCIDR Where some clients find the server.
 clientCIDR The addresses of these clients.
 serverAddress The address of the server.
Info The version of the server.
 major,minor A part of the version number.
 gitVersion The whole version.
 gitCommit,gitTreeState The source that it was built from.
 buildDate,goVersion,compiler When and with what it was built.
 emulationMajor,emulationMinor A part of the version that it behaves as.
 minCompatibilityMajor,minCompatibilityMinor A part of the oldest version that it works with.
 platform The system that the server runs on.
*Condition
 type What the statement is about.
 status Whether it holds: True, False or Unknown.
 reason A machine-readable reason.
 message Why, for people.
 lastTransitionTime When the status last changed.
 lastUpdateTime When the statement was last made.
 lastProbeTime When this was last probed.
 lastHeartbeatTime When this was last confirmed.
 observedGeneration The generation of the object that the statement is about.
*
 apiVersion APIVersion defines the group and version in which the object is written.
 kind Kind is the type of the object, in CamelCase.
 metadata Standard object's metadata: its name, namespace, labels and annotations.
 spec The desired state.
 status The observed state, as controllers report it.
 conditions Statements about the present state.
 observedGeneration The generation that the status is about.
`;
