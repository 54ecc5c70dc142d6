/** Message types of the group `core`, in the notation of `../notation.ts`. */
import type { GroupTypes } from '../notation.js';

export const core: GroupTypes = {
  name: 'core',
  group: '',
  versions: [
    {
      version: 'v1',
      kinds: `
        APIGroup APIGroupList APIResourceList APIVersions Binding ComponentStatus+ ConfigMap+ Endpoints+
        Event+ LimitRange+ List Namespace+ Node+ NodeProxyOptions PersistentVolume+ PersistentVolumeClaim+
        Pod+ PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions
        PodStatusResult PodTemplate+ RangeAllocation ReplicationController+ ResourceQuota+ Secret+
        SerializedReference Service+ ServiceAccount+ ServiceProxyOptions Status
      `,
      types: `
AWSElasticBlockStoreVolumeSource volumeID fsType partition:int32 readOnly:bool
Affinity nodeAffinity*:NodeAffinity podAffinity*:PodAffinity podAntiAffinity*:PodAntiAffinity
AppArmorProfile type localhostProfile*
AttachedVolume name devicePath
AzureDiskVolumeSource diskName diskURI cachingMode* fsType* readOnly*:bool kind*
AzureFilePersistentVolumeSource secretName shareName readOnly:bool secretNamespace*
AzureFileVolumeSource secretName shareName readOnly:bool
Binding metadata:ObjectMeta target:ObjectReference
CSIPersistentVolumeSource driver volumeHandle readOnly:bool fsType volumeAttributes{}
  controllerPublishSecretRef*:SecretReference nodeStageSecretRef*:SecretReference
  nodePublishSecretRef*:SecretReference controllerExpandSecretRef*:SecretReference
  nodeExpandSecretRef*:SecretReference
CSIVolumeSource driver readOnly*:bool fsType* volumeAttributes{} nodePublishSecretRef*:LocalObjectReference
Capabilities add[] drop[]
CephFSPersistentVolumeSource monitors[] path user secretFile secretRef*:SecretReference readOnly:bool
CephFSVolumeSource monitors[] path user secretFile secretRef*:LocalObjectReference readOnly:bool
CinderPersistentVolumeSource volumeID fsType readOnly:bool secretRef*:SecretReference
CinderVolumeSource volumeID fsType readOnly:bool secretRef*:LocalObjectReference
ClientIPConfig timeoutSeconds*:int32
ClusterTrustBundleProjection name* signerName* labelSelector*:LabelSelector path optional*:bool
ComponentCondition type status message error
ComponentStatus metadata:ObjectMeta conditions[]:ComponentCondition
ConfigMap metadata:ObjectMeta data{} binaryData{}:bytes immutable*:bool
ConfigMapEnvSource :LocalObjectReference optional*:bool
ConfigMapKeySelector :LocalObjectReference key optional*:bool
ConfigMapNodeConfigSource namespace name uid resourceVersion kubeletConfigKey
ConfigMapProjection :LocalObjectReference items[]:KeyToPath optional=4*:bool
ConfigMapVolumeSource :LocalObjectReference items[]:KeyToPath defaultMode*:int32 optional*:bool
Container name image command[] args[] workingDir ports[]:ContainerPort env[]:EnvVar resources:ResourceRequirements
  volumeMounts[]:VolumeMount livenessProbe*:Probe readinessProbe*:Probe lifecycle*:Lifecycle terminationMessagePath
  imagePullPolicy securityContext*:SecurityContext stdin:bool stdinOnce:bool tty:bool envFrom[]:EnvFromSource
  terminationMessagePolicy volumeDevices[]:VolumeDevice startupProbe*:Probe resizePolicy[]:ContainerResizePolicy
  restartPolicy*
ContainerImage names[] sizeBytes:int64
ContainerPort name hostPort:int32 containerPort:int32 protocol hostIP
ContainerResizePolicy resourceName restartPolicy
ContainerState waiting*:ContainerStateWaiting running*:ContainerStateRunning terminated*:ContainerStateTerminated
ContainerStateRunning startedAt:Time
ContainerStateTerminated exitCode:int32 signal:int32 reason message startedAt:Time finishedAt:Time containerID
ContainerStateWaiting reason message
ContainerStatus name state:ContainerState lastState:ContainerState ready:bool restartCount:int32 image imageID
  containerID started*:bool allocatedResources{}:Quantity resources*:ResourceRequirements
  volumeMounts[]:VolumeMountStatus user*:ContainerUser allocatedResourcesStatus[]:ResourceStatus stopSignal*
ContainerUser linux*:LinuxContainerUser
DaemonEndpoint Port:int32
DownwardAPIProjection items[]:DownwardAPIVolumeFile
DownwardAPIVolumeFile path fieldRef*:ObjectFieldSelector resourceFieldRef*:ResourceFieldSelector mode*:int32
DownwardAPIVolumeSource items[]:DownwardAPIVolumeFile defaultMode*:int32
EmptyDirVolumeSource medium sizeLimit*:Quantity
EndpointAddress ip targetRef*:ObjectReference hostname nodeName*
EndpointPort name port:int32 protocol appProtocol*
EndpointSubset addresses[]:EndpointAddress notReadyAddresses[]:EndpointAddress ports[]:EndpointPort
Endpoints metadata:ObjectMeta subsets[]:EndpointSubset
EnvFromSource prefix configMapRef*:ConfigMapEnvSource secretRef*:SecretEnvSource
EnvVar name value valueFrom*:EnvVarSource
EnvVarSource fieldRef*:ObjectFieldSelector resourceFieldRef*:ResourceFieldSelector
  configMapKeyRef*:ConfigMapKeySelector secretKeyRef*:SecretKeySelector
EphemeralContainer :EphemeralContainerCommon targetContainerName
EphemeralContainerCommon name image command[] args[] workingDir ports[]:ContainerPort env[]:EnvVar
  resources:ResourceRequirements volumeMounts[]:VolumeMount livenessProbe*:Probe readinessProbe*:Probe
  lifecycle*:Lifecycle terminationMessagePath imagePullPolicy securityContext*:SecurityContext stdin:bool
  stdinOnce:bool tty:bool envFrom[]:EnvFromSource terminationMessagePolicy volumeDevices[]:VolumeDevice
  startupProbe*:Probe resizePolicy[]:ContainerResizePolicy restartPolicy*
EphemeralVolumeSource volumeClaimTemplate*:PersistentVolumeClaimTemplate
Event metadata:ObjectMeta involvedObject:ObjectReference reason message source:EventSource firstTimestamp:Time
  lastTimestamp:Time count:int32 type eventTime:MicroTime series*:EventSeries action related*:ObjectReference
  reportingComponent reportingInstance
EventSeries count:int32 lastObservedTime:MicroTime
EventSource component host
ExecAction command[]
FCVolumeSource targetWWNs[] lun*:int32 fsType readOnly:bool wwids[]
FlexPersistentVolumeSource driver fsType secretRef*:SecretReference readOnly:bool options{}
FlexVolumeSource driver fsType secretRef*:LocalObjectReference readOnly:bool options{}
FlockerVolumeSource datasetName datasetUUID
GCEPersistentDiskVolumeSource pdName fsType partition:int32 readOnly:bool
GRPCAction port:int32 service*
GitRepoVolumeSource repository revision directory
GlusterfsPersistentVolumeSource endpoints path readOnly:bool endpointsNamespace*
GlusterfsVolumeSource endpoints path readOnly:bool
HTTPGetAction path port:IntOrString host scheme httpHeaders[]:HTTPHeader
HTTPHeader name value
HostAlias ip hostnames[]
HostIP ip
HostPathVolumeSource path type*
ISCSIPersistentVolumeSource targetPortal iqn lun:int32 iscsiInterface fsType readOnly:bool portals[]
  chapAuthDiscovery:bool secretRef=10*:SecretReference chapAuthSession:bool initiatorName*
ISCSIVolumeSource targetPortal iqn lun:int32 iscsiInterface fsType readOnly:bool portals[] chapAuthDiscovery:bool
  secretRef=10*:LocalObjectReference chapAuthSession:bool initiatorName*
ImageVolumeSource reference pullPolicy
KeyToPath key path mode*:int32
Lifecycle postStart*:LifecycleHandler preStop*:LifecycleHandler stopSignal*
LifecycleHandler exec*:ExecAction httpGet*:HTTPGetAction tcpSocket*:TCPSocketAction sleep*:SleepAction
LimitRange metadata:ObjectMeta spec:LimitRangeSpec
LimitRangeItem type max{}:Quantity min{}:Quantity default{}:Quantity defaultRequest{}:Quantity
  maxLimitRequestRatio{}:Quantity
LimitRangeSpec limits[]:LimitRangeItem
LinuxContainerUser uid:int64 gid:int64 supplementalGroups[]:int64
List metadata:ListMeta items[]:RawExtension
LoadBalancerIngress ip hostname ipMode* ports[]:PortStatus
LoadBalancerStatus ingress[]:LoadBalancerIngress
LocalObjectReference name
LocalVolumeSource path fsType*
ModifyVolumeStatus targetVolumeAttributesClassName status
NFSVolumeSource server path readOnly:bool
Namespace metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus
NamespaceCondition type status lastTransitionTime=4:Time reason message
NamespaceSpec finalizers[]
NamespaceStatus phase conditions[]:NamespaceCondition
Node metadata:ObjectMeta spec:NodeSpec status:NodeStatus
NodeAddress type address
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution*:NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution[]:PreferredSchedulingTerm
NodeCondition type status lastHeartbeatTime:Time lastTransitionTime:Time reason message
NodeConfigSource configMap=2*:ConfigMapNodeConfigSource
NodeConfigStatus assigned*:NodeConfigSource active*:NodeConfigSource lastKnownGood*:NodeConfigSource error
NodeDaemonEndpoints kubeletEndpoint:DaemonEndpoint
NodeFeatures supplementalGroupsPolicy*:bool
NodeProxyOptions path
NodeRuntimeHandler name features*:NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts*:bool userNamespaces*:bool
NodeSelector nodeSelectorTerms[]:NodeSelectorTerm
NodeSelectorRequirement key operator values[]
NodeSelectorTerm matchExpressions[]:NodeSelectorRequirement matchFields[]:NodeSelectorRequirement
NodeSpec podCIDR externalID providerID unschedulable:bool taints[]:Taint configSource*:NodeConfigSource podCIDRs[]
NodeStatus capacity{}:Quantity allocatable{}:Quantity phase conditions[]:NodeCondition addresses[]:NodeAddress
  daemonEndpoints:NodeDaemonEndpoints nodeInfo:NodeSystemInfo images[]:ContainerImage volumesInUse[]
  volumesAttached[]:AttachedVolume config*:NodeConfigStatus runtimeHandlers[]:NodeRuntimeHandler
  features*:NodeFeatures
NodeSwapStatus capacity*:int64
NodeSystemInfo machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion kubeletVersion
  kubeProxyVersion operatingSystem architecture swap*:NodeSwapStatus
ObjectFieldSelector apiVersion fieldPath
ObjectReference kind namespace name uid apiVersion resourceVersion fieldPath
PersistentVolume metadata:ObjectMeta spec:PersistentVolumeSpec status:PersistentVolumeStatus
PersistentVolumeClaim metadata:ObjectMeta spec:PersistentVolumeClaimSpec status:PersistentVolumeClaimStatus
PersistentVolumeClaimCondition type status lastProbeTime:Time lastTransitionTime:Time reason message
PersistentVolumeClaimSpec accessModes[] resources:VolumeResourceRequirements volumeName selector*:LabelSelector
  storageClassName* volumeMode* dataSource*:TypedLocalObjectReference dataSourceRef*:TypedObjectReference
  volumeAttributesClassName*
PersistentVolumeClaimStatus phase accessModes[] capacity{}:Quantity conditions[]:PersistentVolumeClaimCondition
  allocatedResources{}:Quantity allocatedResourceStatuses=7{} currentVolumeAttributesClassName*
  modifyVolumeStatus*:ModifyVolumeStatus
PersistentVolumeClaimTemplate metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName readOnly:bool
PersistentVolumeSource gcePersistentDisk*:GCEPersistentDiskVolumeSource
  awsElasticBlockStore*:AWSElasticBlockStoreVolumeSource hostPath*:HostPathVolumeSource
  glusterfs*:GlusterfsPersistentVolumeSource nfs*:NFSVolumeSource rbd*:RBDPersistentVolumeSource
  iscsi*:ISCSIPersistentVolumeSource cinder*:CinderPersistentVolumeSource cephfs*:CephFSPersistentVolumeSource
  fc*:FCVolumeSource flocker*:FlockerVolumeSource flexVolume*:FlexPersistentVolumeSource
  azureFile*:AzureFilePersistentVolumeSource vsphereVolume*:VsphereVirtualDiskVolumeSource
  quobyte*:QuobyteVolumeSource azureDisk*:AzureDiskVolumeSource
  photonPersistentDisk*:PhotonPersistentDiskVolumeSource portworxVolume*:PortworxVolumeSource
  scaleIO*:ScaleIOPersistentVolumeSource local*:LocalVolumeSource storageos*:StorageOSPersistentVolumeSource
  csi*:CSIPersistentVolumeSource
PersistentVolumeSpec capacity{}:Quantity :PersistentVolumeSource accessModes[] claimRef*:ObjectReference
  persistentVolumeReclaimPolicy storageClassName mountOptions[] volumeMode* nodeAffinity*:VolumeNodeAffinity
  volumeAttributesClassName*
PersistentVolumeStatus phase message reason lastPhaseTransitionTime*:Time
PhotonPersistentDiskVolumeSource pdID fsType
Pod metadata:ObjectMeta spec:PodSpec status:PodStatus
PodAffinity requiredDuringSchedulingIgnoredDuringExecution[]:PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution[]:WeightedPodAffinityTerm
PodAffinityTerm labelSelector*:LabelSelector namespaces[] topologyKey namespaceSelector*:LabelSelector
  matchLabelKeys[] mismatchLabelKeys[]
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution[]:PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution[]:WeightedPodAffinityTerm
PodAttachOptions stdin:bool stdout:bool stderr:bool tty:bool container
PodCondition type status lastProbeTime:Time lastTransitionTime:Time reason message observedGeneration:int64
PodDNSConfig nameservers[] searches[] options[]:PodDNSConfigOption
PodDNSConfigOption name value*
PodExecOptions stdin:bool stdout:bool stderr:bool tty:bool container command[]
PodIP ip
PodLogOptions container follow:bool previous:bool sinceSeconds*:int64 sinceTime*:Time timestamps:bool
  tailLines*:int64 limitBytes*:int64 insecureSkipTLSVerifyBackend:bool stream*
PodOS name
PodPortForwardOptions ports[]:int32
PodProxyOptions path
PodReadinessGate conditionType
PodResourceClaim name resourceClaimName=3* resourceClaimTemplateName*
PodResourceClaimStatus name resourceClaimName*
PodSchedulingGate name
PodSecurityContext seLinuxOptions*:SELinuxOptions runAsUser*:int64 runAsNonRoot*:bool supplementalGroups[]:int64
  fsGroup*:int64 runAsGroup*:int64 sysctls[]:Sysctl windowsOptions*:WindowsSecurityContextOptions
  fsGroupChangePolicy* seccompProfile*:SeccompProfile appArmorProfile*:AppArmorProfile supplementalGroupsPolicy*
  seLinuxChangePolicy*
PodSpec volumes[]:Volume containers[]:Container restartPolicy terminationGracePeriodSeconds*:int64
  activeDeadlineSeconds*:int64 dnsPolicy nodeSelector{} serviceAccountName serviceAccount nodeName hostNetwork:bool
  hostPID:bool hostIPC:bool securityContext*:PodSecurityContext imagePullSecrets[]:LocalObjectReference hostname
  subdomain affinity*:Affinity schedulerName initContainers[]:Container automountServiceAccountToken*:bool
  tolerations[]:Toleration hostAliases[]:HostAlias priorityClassName priority*:int32 dnsConfig*:PodDNSConfig
  shareProcessNamespace*:bool readinessGates[]:PodReadinessGate runtimeClassName* enableServiceLinks*:bool
  preemptionPolicy* overhead{}:Quantity topologySpreadConstraints[]:TopologySpreadConstraint
  ephemeralContainers[]:EphemeralContainer setHostnameAsFQDN*:bool os*:PodOS hostUsers*:bool
  schedulingGates[]:PodSchedulingGate resourceClaims[]:PodResourceClaim resources*:ResourceRequirements
PodStatus phase conditions[]:PodCondition message reason hostIP podIP startTime*:Time
  containerStatuses[]:ContainerStatus qosClass initContainerStatuses[]:ContainerStatus nominatedNodeName
  podIPs[]:PodIP ephemeralContainerStatuses[]:ContainerStatus resize resourceClaimStatuses[]:PodResourceClaimStatus
  hostIPs[]:HostIP observedGeneration:int64
PodStatusResult metadata:ObjectMeta status:PodStatus
PodTemplate metadata:ObjectMeta template:PodTemplateSpec
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
PortStatus port:int32 protocol error*
PortworxVolumeSource volumeID fsType readOnly:bool
PreferredSchedulingTerm weight:int32 preference:NodeSelectorTerm
Probe :ProbeHandler initialDelaySeconds:int32 timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32
  failureThreshold:int32 terminationGracePeriodSeconds*:int64
ProbeHandler exec*:ExecAction httpGet*:HTTPGetAction tcpSocket*:TCPSocketAction grpc*:GRPCAction
ProjectedVolumeSource sources[]:VolumeProjection defaultMode*:int32
QuobyteVolumeSource registry volume readOnly:bool user group tenant
RBDPersistentVolumeSource monitors[] image fsType pool user keyring secretRef*:SecretReference readOnly:bool
RBDVolumeSource monitors[] image fsType pool user keyring secretRef*:LocalObjectReference readOnly:bool
RangeAllocation metadata:ObjectMeta range data:bytes
ReplicationController metadata:ObjectMeta spec:ReplicationControllerSpec status:ReplicationControllerStatus
ReplicationControllerCondition type status lastTransitionTime:Time reason message
ReplicationControllerSpec replicas*:int32 selector{} template*:PodTemplateSpec minReadySeconds:int32
ReplicationControllerStatus replicas:int32 fullyLabeledReplicas:int32 observedGeneration:int64 readyReplicas:int32
  availableReplicas:int32 conditions[]:ReplicationControllerCondition
ResourceClaim name request
ResourceFieldSelector containerName resource divisor:Quantity
ResourceHealth resourceID health
ResourceQuota metadata:ObjectMeta spec:ResourceQuotaSpec status:ResourceQuotaStatus
ResourceQuotaSpec hard{}:Quantity scopes[] scopeSelector*:ScopeSelector
ResourceQuotaStatus hard{}:Quantity used{}:Quantity
ResourceRequirements limits{}:Quantity requests{}:Quantity claims[]:ResourceClaim
ResourceStatus name resources[]:ResourceHealth
SELinuxOptions user role type level
ScaleIOPersistentVolumeSource gateway system secretRef*:SecretReference sslEnabled:bool protectionDomain storagePool
  storageMode volumeName fsType readOnly:bool
ScaleIOVolumeSource gateway system secretRef*:LocalObjectReference sslEnabled:bool protectionDomain storagePool
  storageMode volumeName fsType readOnly:bool
ScopeSelector matchExpressions[]:ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement scopeName operator values[]
SeccompProfile type localhostProfile*
Secret metadata:ObjectMeta data{}:bytes type stringData{} immutable*:bool
SecretEnvSource :LocalObjectReference optional*:bool
SecretKeySelector :LocalObjectReference key optional*:bool
SecretProjection :LocalObjectReference items[]:KeyToPath optional=4*:bool
SecretReference name namespace
SecretVolumeSource secretName items[]:KeyToPath defaultMode*:int32 optional*:bool
SecurityContext capabilities*:Capabilities privileged*:bool seLinuxOptions*:SELinuxOptions runAsUser*:int64
  runAsNonRoot*:bool readOnlyRootFilesystem*:bool allowPrivilegeEscalation*:bool runAsGroup*:int64 procMount*
  windowsOptions*:WindowsSecurityContextOptions seccompProfile*:SeccompProfile appArmorProfile*:AppArmorProfile
SerializedReference reference:ObjectReference
Service metadata:ObjectMeta spec:ServiceSpec status:ServiceStatus
ServiceAccount metadata:ObjectMeta secrets[]:ObjectReference imagePullSecrets[]:LocalObjectReference
  automountServiceAccountToken*:bool
ServiceAccountTokenProjection audience expirationSeconds*:int64 path
ServicePort name protocol port:int32 targetPort:IntOrString nodePort:int32 appProtocol*
ServiceProxyOptions path
ServiceSpec ports[]:ServicePort selector{} clusterIP type externalIPs[] sessionAffinity=7 loadBalancerIP
  loadBalancerSourceRanges[] externalName externalTrafficPolicy healthCheckNodePort:int32
  publishNotReadyAddresses:bool sessionAffinityConfig*:SessionAffinityConfig ipFamilyPolicy=17* clusterIPs[]
  ipFamilies[] allocateLoadBalancerNodePorts*:bool loadBalancerClass* internalTrafficPolicy* trafficDistribution*
ServiceStatus loadBalancer:LoadBalancerStatus conditions[]:Condition
SessionAffinityConfig clientIP*:ClientIPConfig
SleepAction seconds:int64
StorageOSPersistentVolumeSource volumeName volumeNamespace fsType readOnly:bool secretRef*:ObjectReference
StorageOSVolumeSource volumeName volumeNamespace fsType readOnly:bool secretRef*:LocalObjectReference
Sysctl name value
TCPSocketAction port:IntOrString host
Taint key value effect timeAdded*:Time
Toleration key operator value effect tolerationSeconds*:int64
TopologySelectorLabelRequirement key values[]
TopologySelectorTerm matchLabelExpressions[]:TopologySelectorLabelRequirement
TopologySpreadConstraint maxSkew:int32 topologyKey whenUnsatisfiable labelSelector*:LabelSelector minDomains*:int32
  nodeAffinityPolicy* nodeTaintsPolicy* matchLabelKeys[]
TypedLocalObjectReference apiGroup* kind name
TypedObjectReference apiGroup* kind name namespace*
Volume name :VolumeSource
VolumeDevice name devicePath
VolumeMount name readOnly:bool mountPath subPath mountPropagation* subPathExpr recursiveReadOnly*
VolumeMountStatus name mountPath readOnly:bool recursiveReadOnly*
VolumeNodeAffinity required*:NodeSelector
VolumeProjection secret*:SecretProjection downwardAPI*:DownwardAPIProjection configMap*:ConfigMapProjection
  serviceAccountToken*:ServiceAccountTokenProjection clusterTrustBundle*:ClusterTrustBundleProjection
VolumeResourceRequirements limits{}:Quantity requests{}:Quantity
VolumeSource hostPath*:HostPathVolumeSource emptyDir*:EmptyDirVolumeSource
  gcePersistentDisk*:GCEPersistentDiskVolumeSource awsElasticBlockStore*:AWSElasticBlockStoreVolumeSource
  gitRepo*:GitRepoVolumeSource secret*:SecretVolumeSource nfs*:NFSVolumeSource iscsi*:ISCSIVolumeSource
  glusterfs*:GlusterfsVolumeSource persistentVolumeClaim*:PersistentVolumeClaimVolumeSource rbd*:RBDVolumeSource
  flexVolume*:FlexVolumeSource cinder*:CinderVolumeSource cephfs*:CephFSVolumeSource flocker*:FlockerVolumeSource
  downwardAPI*:DownwardAPIVolumeSource fc*:FCVolumeSource azureFile*:AzureFileVolumeSource
  configMap*:ConfigMapVolumeSource vsphereVolume*:VsphereVirtualDiskVolumeSource quobyte*:QuobyteVolumeSource
  azureDisk*:AzureDiskVolumeSource photonPersistentDisk*:PhotonPersistentDiskVolumeSource
  portworxVolume*:PortworxVolumeSource scaleIO*:ScaleIOVolumeSource projected*:ProjectedVolumeSource
  storageos*:StorageOSVolumeSource csi*:CSIVolumeSource ephemeral*:EphemeralVolumeSource image*:ImageVolumeSource
VsphereVirtualDiskVolumeSource volumePath fsType storagePolicyName storagePolicyID
WeightedPodAffinityTerm weight:int32 podAffinityTerm:PodAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName* gmsaCredentialSpec* runAsUserName* hostProcess*:bool
      `,
    },
  ],
};
