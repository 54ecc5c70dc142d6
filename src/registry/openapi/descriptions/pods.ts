/**
 * OpenAPI descriptions of pods and the types inside them. `../definitions.ts` explains the notation and parses it.
 */
export const podDescriptions = `
Pod Containers that run together on one node.
 spec The containers to run and their settings.
 status The observed state, as the node reports it.
PodTemplate A stored template of pods.
 template The pods that it describes.
PodTemplateSpec The pods that a controller makes.
 metadata Labels and annotations of the pods.
 spec What is to run in them.
Binding Puts a pod on a node.
 target The node.
PodSpec What is to run in a pod, where and under which conditions.
 volumes Volumes that containers may mount.
 initContainers Containers that run one after another, each to its end, before the others start.
 containers The containers of the pod. They cannot be added or removed later.
 ephemeralContainers Containers that were added to a running pod for debugging.
 restartPolicy Which containers are started again after they end: Always, OnFailure or Never.
 terminationGracePeriodSeconds Time between the signal to end and the kill; 30 seconds unless said otherwise.
 activeDeadlineSeconds How long the pod may be active before it is failed.
 dnsPolicy How names are resolved: ClusterFirst, ClusterFirstWithHostNet, Default or None.
 nodeSelector Labels that a node must have.
 serviceAccountName The service account of the pod.
 serviceAccount Deprecated; the same as serviceAccountName.
 automountServiceAccountToken Whether a token of the account is mounted.
 nodeName The node that the pod runs on; usually set by a scheduler.
 hostNetwork The pod shares the network of its node.
 hostPID The pod shares the processes of its node.
 hostIPC The pod shares the memory segments and queues of its node.
 hostUsers False gives the pod users of its own.
 shareProcessNamespace The containers see each other's processes.
 securityContext Users, groups and rights for all containers.
 imagePullSecrets Secrets with credentials for registries.
 hostname The host name; the name of the pod unless said otherwise.
 subdomain Makes the full host name one below this subdomain.
 setHostnameAsFQDN The full name is the host name.
 affinity Rules about nodes and other pods.
 schedulerName The scheduler that chooses the node.
 tolerations Taints of nodes that the pod tolerates.
 hostAliases Further entries of the hosts file.
 priorityClassName The class that gives the pod its priority.
 priority The priority; higher goes first. Taken from the class.
 preemptionPolicy Whether this pod may preempt others: PreemptLowerPriority or Never.
 dnsConfig Settings of name resolution, beside those of the policy.
 readinessGates Further conditions that must be true for the pod to be ready.
 runtimeClassName The runtime that runs the pod.
 enableServiceLinks Whether containers get environment variables for services.
 overhead What the runtime itself needs; from the runtime class.
 topologySpreadConstraints How pods are to be spread over zones, nodes and the like.
 os The operating system that the pod is for.
 schedulingGates While there are any, no node is chosen.
 resourceClaims Claims to devices that containers may use.
 resources What the pod as a whole may use.
PodStatus The observed state of a pod.
 phase The phase of the pod: Pending, Running, Succeeded, Failed or Unknown.
 message Why the pod is in this state, for people.
 reason Why, in one word.
 nominatedNodeName The node on which room is being made for the pod.
 hostIP The address of the node.
 hostIPs The addresses of the node.
 podIP The address of the pod.
 podIPs The addresses of the pod, at most one of each family.
 startTime When the node accepted the pod.
 initContainerStatuses The state of the init containers.
 containerStatuses The state of the containers.
 ephemeralContainerStatuses The state of the ephemeral containers.
 qosClass The quality of service when the node runs short of resources: Guaranteed, Burstable or BestEffort.
 resize The progress of a change of resources.
 resourceClaimStatuses The claims that were made for the pod.
EphemeralContainer A container that is added to a running pod for debugging.
 targetContainerName The container whose processes it can see.
Container A container of a pod.
Container,EphemeralContainer
 name The name, a DNS label that is unique in the pod.
 image The image to run.
 command What to run in place of the image's entrypoint.
 args Arguments, in place of those of the image.
 workingDir The directory to start in.
 ports Ports that the container listens on.
 envFrom Where whole sets of environment variables come from.
 env Environment variables.
 resources What the container asks for and what it may use at most.
 resizePolicy Whether the container restarts when its resources change.
 restartPolicy Only for init containers: Always makes it run beside the others.
 volumeMounts Volumes to mount into the file system.
 volumeDevices Volumes to use as block devices.
 livenessProbe A check; when it fails, the container is restarted.
 readinessProbe A check; while it fails, no traffic is sent to the pod.
 startupProbe A check that must succeed before the other probes begin.
 lifecycle Actions after the start and before the end.
 terminationMessagePath The file with the termination message of the container.
 terminationMessagePolicy Where the termination message comes from: File or FallbackToLogsOnError.
 imagePullPolicy When to pull the image: Always, IfNotPresent or Never.
 securityContext Users and rights of this container.
 stdin Keeps the standard input open.
 stdinOnce Closes it after the first client is gone.
 tty Gives the container a terminal.
ContainerPort A port of a container.
 name A name by which services may refer to the port.
 hostPort The port of the node through which it can be reached.
 containerPort The port in the container.
 protocol TCP, UDP or SCTP.
 hostIP The address of the node to bind to.
ContainerResizePolicy What a change of a resource means for a container.
 resourceName The resource.
 restartPolicy NotRequired or RestartContainer.
EnvFromSource A set of environment variables.
 prefix Put in front of every name.
 configMapRef The ConfigMap that holds them.
 secretRef The Secret that holds them.
EnvVar An environment variable.
 name The name.
 value The value; $(NAME) refers to another variable.
 valueFrom Where the value comes from.
EnvVarSource Where the value of a variable comes from. Exactly one is set.
 fieldRef A field of the pod.
 resourceFieldRef A resource of a container.
 configMapKeyRef A key of a ConfigMap.
 secretKeyRef A key of a Secret.
ConfigMapEnvSource,SecretEnvSource An object whose entries become variables.
ConfigMapKeySelector,SecretKeySelector A key of an object.
 key The key.
 optional Whether the object or the key may be absent.
ObjectFieldSelector A field of an object.
 apiVersion The version in which the path is meant.
 fieldPath The path of the field.
ResourceFieldSelector A resource of a container.
 containerName The container.
 resource The resource, such as limits.cpu.
 divisor The unit of the result.
ResourceRequirements What is asked for and what may be used.
 limits The most that may be used.
 requests The least that must be there; the limits unless said otherwise.
 claims Claims of the pod that are used.
ResourceClaim A claim that a container uses.
 name The name among the claims of the pod.
 request One request of the claim; all of them when empty.
Probe A check of a container.
 initialDelaySeconds How long after the start the first check comes.
 timeoutSeconds How long a check may take.
 periodSeconds How often to check.
 successThreshold Successes in a row until a failed check counts as good again.
 failureThreshold Failures in a row until the check counts as failed.
 terminationGracePeriodSeconds Time to end after a failed check, in place of the pod's own.
Probe,LifecycleHandler
 exec Runs a command in the container.
 httpGet Sends an HTTP request.
 tcpSocket Opens a connection.
 grpc Asks a gRPC health service.
 sleep Waits for a while.
LifecycleHandler An action in the lifecycle of a container.
Lifecycle Actions at the start and at the end of a container.
 postStart Right after the start.
 preStop Before the signal to end.
 stopSignal The signal that asks the container to end.
ExecAction A command.
 command The command and its arguments, without a shell.
HTTPGetAction An HTTP request.
 path The path.
 port The port, by number or by name.
 host The host; the pod unless said otherwise.
 scheme HTTP or HTTPS.
 httpHeaders Headers to send.
HTTPHeader A header.
 name Its name.
 value Its value.
TCPSocketAction A connection.
 port The port, by number or by name.
 host The host; the pod unless said otherwise.
GRPCAction A call of a gRPC health service.
 port The port.
 service The service to ask about.
SleepAction A pause.
 seconds Its length.
SecurityContext Users and rights of a container. It wins over that of the pod.
 capabilities Capabilities to add and to drop.
 privileged Runs with the rights of root on the node.
 procMount How /proc is mounted: Default or Unmasked.
 readOnlyRootFilesystem The root file system cannot be written to.
 allowPrivilegeEscalation Whether a process may gain more rights than its parent.
PodSecurityContext Users, groups and rights of a whole pod.
 fsGroup A group that owns the files of volumes.
 fsGroupChangePolicy When ownership is changed: Always or OnRootMismatch.
 supplementalGroups Further groups of the first process.
 supplementalGroupsPolicy How these join the groups of the image: Merge or Strict.
 seLinuxChangePolicy How volumes get their SELinux label: MountOption or Recursive.
 sysctls Kernel parameters.
SecurityContext,PodSecurityContext
 seLinuxOptions The SELinux context.
 windowsOptions Settings for Windows.
 runAsUser The user that processes run as.
 runAsGroup The group that processes run as.
 runAsNonRoot Refuses to run as root.
 seccompProfile The seccomp profile.
 appArmorProfile The AppArmor profile.
Capabilities Capabilities of processes.
 add Those to add.
 drop Those to take away.
SeccompProfile,AppArmorProfile A profile that restricts processes.
 type RuntimeDefault, Unconfined or Localhost.
 localhostProfile The profile on the node, for Localhost.
SELinuxOptions An SELinux context.
 user The user part.
 role The role part.
 type The type part.
 level The level part.
WindowsSecurityContextOptions Settings of containers on Windows.
 gmsaCredentialSpecName The name of a credential specification.
 gmsaCredentialSpec The credential specification itself.
 runAsUserName The user that processes run as.
 hostProcess Runs as a process of the host.
Sysctl A kernel parameter.
 name Its name.
 value Its value.
Affinity Rules about where a pod goes.
 nodeAffinity Rules about nodes.
 podAffinity Pods to be near to.
 podAntiAffinity Pods to stay away from.
NodeAffinity,PodAffinity,PodAntiAffinity Rules that must hold, and rules that should.
 requiredDuringSchedulingIgnoredDuringExecution What must hold when a node is chosen.
 preferredDuringSchedulingIgnoredDuringExecution What counts in favour of a node, with weights.
PreferredSchedulingTerm,WeightedPodAffinityTerm A preference.
 weight How much it counts, from 1 to 100.
 preference The nodes.
 podAffinityTerm The pods.
PodAffinityTerm Pods, and what being near to them means.
 labelSelector Selects the pods.
 namespaces The namespaces in which to look.
 namespaceSelector Selects namespaces in which to look.
 topologyKey The node label whose value makes two nodes one place.
 matchLabelKeys Labels of the new pod that the others must share.
 mismatchLabelKeys Labels of the new pod that the others must not share.
TopologySpreadConstraint How evenly pods are spread.
 maxSkew How far two places may differ.
 topologyKey The node label whose values are the places.
 whenUnsatisfiable DoNotSchedule, or ScheduleAnyway.
 labelSelector Selects the pods that are counted.
 minDomains How many places there must be.
 nodeAffinityPolicy Whether only nodes that fit the affinity count: Honor or Ignore.
 nodeTaintsPolicy Whether only nodes without hindering taints count: Honor or Ignore.
 matchLabelKeys Labels of the new pod that counted pods must share.
NodeSelector Selects nodes; one of the terms must match.
 nodeSelectorTerms The terms.
NodeSelectorTerm All of its requirements must hold.
 matchExpressions Requirements on labels.
 matchFields Requirements on fields.
NodeSelectorRequirement A requirement on a label or a field of a node.
 key The label or the field.
 operator In, NotIn, Exists, DoesNotExist, Gt or Lt.
 values What to compare with.
Toleration Taints that a pod tolerates.
 key The key of the taint; empty for all keys.
 operator Equal or Exists.
 value The value of the taint, for Equal.
 effect The effect of the taint; empty for all effects.
 tolerationSeconds How long a NoExecute taint is tolerated.
HostAlias An entry of the hosts file.
 ip The address.
 hostnames The names.
PodDNSConfig Settings of name resolution.
 nameservers Addresses of name servers.
 searches Domains to search in.
 options Options of the resolver.
PodDNSConfigOption An option of the resolver.
 name Its name.
 value Its value.
PodOS An operating system.
 name linux or windows.
PodReadinessGate A condition that readiness depends on.
 conditionType The type of the condition.
PodSchedulingGate Something to wait for before a node is chosen.
 name Its name.
PodResourceClaim A claim to devices.
 name How containers refer to it.
 resourceClaimName A claim that exists.
 resourceClaimTemplateName A template from which a claim is made for the pod.
PodResourceClaimStatus The claim made for a pod.
 name The name among the claims of the pod.
 resourceClaimName The name of the claim.
PodIP,HostIP An address.
 ip The address.
ContainerStatus The state of a container.
 name The name of the container.
 state What it is doing now.
 lastState What it did before its last restart.
 ready Whether it passes its readiness check.
 restartCount How often it was restarted.
 image The image that runs.
 imageID The exact image.
 containerID The container, as the runtime names it.
 started Whether it has passed its startup check.
 allocatedResources What the node has set aside.
 resources What is in force.
 volumeMounts Its mounts.
 user The user that it runs as.
 allocatedResourcesStatus The health of its devices.
 stopSignal The signal that asks it to end.
ContainerUser,LinuxContainerUser The user that a container runs as.
 linux The user on Linux.
 uid The user.
 gid The group.
 supplementalGroups Further groups.
ResourceStatus,ResourceHealth The health of devices.
 resources The single devices.
 resourceID The device.
 health Healthy, Unhealthy or Unknown.
PodCondition A statement about the state of a pod.
ContainerState One of three states.
 waiting It has yet to start.
 running It is running.
 terminated It has ended.
ContainerStateWaiting,ContainerStateRunning,ContainerStateTerminated A state of a container.
 reason Why, in one word.
 message Why, for people.
 startedAt When it started.
 finishedAt When it ended.
 exitCode How it ended; 0 is good.
 signal The signal that ended it.
 containerID The container, as the runtime names it.
`;
