/**
 * The Go structs of a pod template in the reference server, for the hashed printout: it contains the names and order of
 * fields and the type names.
 *
 * A line is a struct and its fields: `FSType=fsType:*string` is the field FSType, `fsType` in JSON, a pointer to a string.
 * The Go name is omitted if it is the JSON name with a capital letter, the type if it is string. `+VolumeSource` is an
 * embedded struct.
 */
export const POD_TEMPLATE_TYPES = `
AWSElasticBlockStoreVolumeSource volumeID FSType=fsType partition:int32 readOnly:bool
Affinity nodeAffinity:*NodeAffinity podAffinity:*PodAffinity podAntiAffinity:*PodAntiAffinity
AppArmorProfile type:AppArmorProfileType localhostProfile:*string
AzureDiskVolumeSource diskName DataDiskURI=diskURI cachingMode:*AzureDataDiskCachingMode FSType=fsType:*string
  readOnly:*bool kind:*AzureDataDiskKind
AzureFileVolumeSource secretName shareName readOnly:bool
CSIVolumeSource driver readOnly:*bool FSType=fsType:*string volumeAttributes:map[string]string
  nodePublishSecretRef:*LocalObjectReference
Capabilities add:[]Capability drop:[]Capability
CephFSVolumeSource monitors:[]string path user secretFile secretRef:*LocalObjectReference readOnly:bool
CinderVolumeSource volumeID FSType=fsType readOnly:bool secretRef:*LocalObjectReference
ClusterTrustBundleProjection name:*string signerName:*string labelSelector:*LabelSelector optional:*bool path
ConfigMapEnvSource +LocalObjectReference optional:*bool
ConfigMapKeySelector +LocalObjectReference key optional:*bool
ConfigMapProjection +LocalObjectReference items:[]KeyToPath optional:*bool
ConfigMapVolumeSource +LocalObjectReference items:[]KeyToPath defaultMode:*int32 optional:*bool
Container name image command:[]string args:[]string workingDir ports:[]ContainerPort envFrom:[]EnvFromSource
  env:[]EnvVar resources:ResourceRequirements resizePolicy:[]ContainerResizePolicy
  restartPolicy:*ContainerRestartPolicy volumeMounts:[]VolumeMount volumeDevices:[]VolumeDevice livenessProbe:*Probe
  readinessProbe:*Probe startupProbe:*Probe lifecycle:*Lifecycle terminationMessagePath
  terminationMessagePolicy:TerminationMessagePolicy imagePullPolicy:PullPolicy securityContext:*SecurityContext
  stdin:bool stdinOnce:bool TTY=tty:bool
ContainerPort name hostPort:int32 containerPort:int32 protocol:Protocol hostIP
ContainerResizePolicy resourceName:ResourceName restartPolicy:ResourceResizeRestartPolicy
DownwardAPIProjection items:[]DownwardAPIVolumeFile
DownwardAPIVolumeFile path fieldRef:*ObjectFieldSelector resourceFieldRef:*ResourceFieldSelector mode:*int32
DownwardAPIVolumeSource items:[]DownwardAPIVolumeFile defaultMode:*int32
EmptyDirVolumeSource medium:StorageMedium sizeLimit:*resource.Quantity
EnvFromSource prefix configMapRef:*ConfigMapEnvSource secretRef:*SecretEnvSource
EnvVar name value valueFrom:*EnvVarSource
EnvVarSource fieldRef:*ObjectFieldSelector resourceFieldRef:*ResourceFieldSelector
  configMapKeyRef:*ConfigMapKeySelector secretKeyRef:*SecretKeySelector
EphemeralContainer +EphemeralContainerCommon targetContainerName
EphemeralContainerCommon name image command:[]string args:[]string workingDir ports:[]ContainerPort
  envFrom:[]EnvFromSource env:[]EnvVar resources:ResourceRequirements resizePolicy:[]ContainerResizePolicy
  restartPolicy:*ContainerRestartPolicy volumeMounts:[]VolumeMount volumeDevices:[]VolumeDevice livenessProbe:*Probe
  readinessProbe:*Probe startupProbe:*Probe lifecycle:*Lifecycle terminationMessagePath
  terminationMessagePolicy:TerminationMessagePolicy imagePullPolicy:PullPolicy securityContext:*SecurityContext
  stdin:bool stdinOnce:bool TTY=tty:bool
EphemeralVolumeSource volumeClaimTemplate:*PersistentVolumeClaimTemplate
ExecAction command:[]string
FCVolumeSource targetWWNs:[]string lun:*int32 FSType=fsType readOnly:bool WWIDs=wwids:[]string
FlexVolumeSource driver FSType=fsType secretRef:*LocalObjectReference readOnly:bool options:map[string]string
FlockerVolumeSource datasetName datasetUUID
GCEPersistentDiskVolumeSource PDName=pdName FSType=fsType partition:int32 readOnly:bool
GRPCAction port:int32 service:*string
GitRepoVolumeSource repository revision directory
GlusterfsVolumeSource EndpointsName=endpoints path readOnly:bool
HTTPGetAction path port:intstr.IntOrString host scheme:URIScheme HTTPHeaders=httpHeaders:[]HTTPHeader
HTTPHeader name value
HostAlias IP=ip hostnames:[]string
HostPathVolumeSource path type:*HostPathType
ISCSIVolumeSource targetPortal IQN=iqn lun:int32 ISCSIInterface=iscsiInterface FSType=fsType readOnly:bool
  portals:[]string DiscoveryCHAPAuth=chapAuthDiscovery:bool SessionCHAPAuth=chapAuthSession:bool
  secretRef:*LocalObjectReference initiatorName:*string
ImageVolumeSource reference pullPolicy:PullPolicy
KeyToPath key path mode:*int32
LabelSelector matchLabels:map[string]string matchExpressions:[]LabelSelectorRequirement
LabelSelectorRequirement key operator:LabelSelectorOperator values:[]string
Lifecycle postStart:*LifecycleHandler preStop:*LifecycleHandler stopSignal:*Signal
LifecycleHandler exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction
  sleep:*SleepAction
LocalObjectReference name
NFSVolumeSource server path readOnly:bool
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:*NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm
NodeSelector nodeSelectorTerms:[]NodeSelectorTerm
NodeSelectorRequirement key operator:NodeSelectorOperator values:[]string
NodeSelectorTerm matchExpressions:[]NodeSelectorRequirement matchFields:[]NodeSelectorRequirement
ObjectFieldSelector APIVersion=apiVersion fieldPath
ObjectMeta name generateName namespace selfLink UID=uid:types.UID resourceVersion generation:int64
  creationTimestamp:Time deletionTimestamp:*Time deletionGracePeriodSeconds:*int64 labels:map[string]string
  annotations:map[string]string ownerReferences:[]OwnerReference finalizers:[]string
  managedFields:[]ManagedFieldsEntry
OwnerReference APIVersion=apiVersion kind name UID=uid:types.UID controller:*bool blockOwnerDeletion:*bool
PersistentVolumeClaimSpec accessModes:[]PersistentVolumeAccessMode selector:*LabelSelector
  resources:VolumeResourceRequirements volumeName storageClassName:*string volumeMode:*PersistentVolumeMode
  dataSource:*TypedLocalObjectReference dataSourceRef:*TypedObjectReference volumeAttributesClassName:*string
PersistentVolumeClaimTemplate ObjectMeta=metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName readOnly:bool
PhotonPersistentDiskVolumeSource pdID FSType=fsType
PodAffinity requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm
PodAffinityTerm labelSelector:*LabelSelector namespaces:[]string topologyKey namespaceSelector:*LabelSelector
  matchLabelKeys:[]string mismatchLabelKeys:[]string
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm
PodDNSConfig nameservers:[]string searches:[]string options:[]PodDNSConfigOption
PodDNSConfigOption name value:*string
PodOS name:OSName
PodReadinessGate conditionType:PodConditionType
PodResourceClaim name resourceClaimName:*string resourceClaimTemplateName:*string
PodSchedulingGate name
PodSecurityContext SELinuxOptions=seLinuxOptions:*SELinuxOptions windowsOptions:*WindowsSecurityContextOptions
  runAsUser:*int64 runAsGroup:*int64 runAsNonRoot:*bool supplementalGroups:[]int64
  supplementalGroupsPolicy:*SupplementalGroupsPolicy FSGroup=fsGroup:*int64 sysctls:[]Sysctl
  FSGroupChangePolicy=fsGroupChangePolicy:*PodFSGroupChangePolicy seccompProfile:*SeccompProfile
  appArmorProfile:*AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy:*PodSELinuxChangePolicy
PodSpec volumes:[]Volume initContainers:[]Container containers:[]Container ephemeralContainers:[]EphemeralContainer
  restartPolicy:RestartPolicy terminationGracePeriodSeconds:*int64 activeDeadlineSeconds:*int64
  DNSPolicy=dnsPolicy:DNSPolicy nodeSelector:map[string]string serviceAccountName
  DeprecatedServiceAccount=serviceAccount automountServiceAccountToken:*bool nodeName hostNetwork:bool hostPID:bool
  hostIPC:bool shareProcessNamespace:*bool securityContext:*PodSecurityContext
  imagePullSecrets:[]LocalObjectReference hostname subdomain affinity:*Affinity schedulerName
  tolerations:[]Toleration hostAliases:[]HostAlias priorityClassName priority:*int32
  DNSConfig=dnsConfig:*PodDNSConfig readinessGates:[]PodReadinessGate runtimeClassName:*string
  enableServiceLinks:*bool preemptionPolicy:*PreemptionPolicy overhead:ResourceList
  topologySpreadConstraints:[]TopologySpreadConstraint setHostnameAsFQDN:*bool OS=os:*PodOS hostUsers:*bool
  schedulingGates:[]PodSchedulingGate resourceClaims:[]PodResourceClaim resources:*ResourceRequirements
PodTemplateSpec ObjectMeta=metadata:ObjectMeta spec:PodSpec
PortworxVolumeSource volumeID FSType=fsType readOnly:bool
PreferredSchedulingTerm weight:int32 preference:NodeSelectorTerm
Probe +ProbeHandler initialDelaySeconds:int32 timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32
  failureThreshold:int32 terminationGracePeriodSeconds:*int64
ProbeHandler exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction
  GRPC=grpc:*GRPCAction
ProjectedVolumeSource sources:[]VolumeProjection defaultMode:*int32
QuobyteVolumeSource registry volume readOnly:bool user group tenant
RBDVolumeSource CephMonitors=monitors:[]string RBDImage=image FSType=fsType RBDPool=pool RadosUser=user keyring
  secretRef:*LocalObjectReference readOnly:bool
ResourceClaim name request
ResourceFieldSelector containerName resource divisor:resource.Quantity
ResourceRequirements limits:ResourceList requests:ResourceList claims:[]ResourceClaim
SELinuxOptions user role type level
ScaleIOVolumeSource gateway system secretRef:*LocalObjectReference SSLEnabled=sslEnabled:bool protectionDomain
  storagePool storageMode volumeName FSType=fsType readOnly:bool
SeccompProfile type:SeccompProfileType localhostProfile:*string
SecretEnvSource +LocalObjectReference optional:*bool
SecretKeySelector +LocalObjectReference key optional:*bool
SecretProjection +LocalObjectReference items:[]KeyToPath optional:*bool
SecretVolumeSource secretName items:[]KeyToPath defaultMode:*int32 optional:*bool
SecurityContext capabilities:*Capabilities privileged:*bool SELinuxOptions=seLinuxOptions:*SELinuxOptions
  windowsOptions:*WindowsSecurityContextOptions runAsUser:*int64 runAsGroup:*int64 runAsNonRoot:*bool
  readOnlyRootFilesystem:*bool allowPrivilegeEscalation:*bool procMount:*ProcMountType
  seccompProfile:*SeccompProfile appArmorProfile:*AppArmorProfile
ServiceAccountTokenProjection audience expirationSeconds:*int64 path
SleepAction seconds:int64
StorageOSVolumeSource volumeName volumeNamespace FSType=fsType readOnly:bool secretRef:*LocalObjectReference
Sysctl name value
TCPSocketAction port:intstr.IntOrString host
Toleration key operator:TolerationOperator value effect:TaintEffect tolerationSeconds:*int64
TopologySpreadConstraint maxSkew:int32 topologyKey whenUnsatisfiable:UnsatisfiableConstraintAction
  labelSelector:*LabelSelector minDomains:*int32 nodeAffinityPolicy:*NodeInclusionPolicy
  nodeTaintsPolicy:*NodeInclusionPolicy matchLabelKeys:[]string
TypedLocalObjectReference APIGroup=apiGroup:*string kind name
TypedObjectReference APIGroup=apiGroup:*string kind name namespace:*string
Volume name +VolumeSource
VolumeDevice name devicePath
VolumeMount name readOnly:bool recursiveReadOnly:*RecursiveReadOnlyMode mountPath subPath
  mountPropagation:*MountPropagationMode subPathExpr
VolumeProjection secret:*SecretProjection downwardAPI:*DownwardAPIProjection configMap:*ConfigMapProjection
  serviceAccountToken:*ServiceAccountTokenProjection clusterTrustBundle:*ClusterTrustBundleProjection
VolumeResourceRequirements limits:ResourceList requests:ResourceList
VolumeSource hostPath:*HostPathVolumeSource emptyDir:*EmptyDirVolumeSource
  GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource
  AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource gitRepo:*GitRepoVolumeSource
  secret:*SecretVolumeSource NFS=nfs:*NFSVolumeSource ISCSI=iscsi:*ISCSIVolumeSource
  glusterfs:*GlusterfsVolumeSource persistentVolumeClaim:*PersistentVolumeClaimVolumeSource RBD=rbd:*RBDVolumeSource
  flexVolume:*FlexVolumeSource cinder:*CinderVolumeSource CephFS=cephfs:*CephFSVolumeSource
  flocker:*FlockerVolumeSource downwardAPI:*DownwardAPIVolumeSource FC=fc:*FCVolumeSource
  azureFile:*AzureFileVolumeSource configMap:*ConfigMapVolumeSource vsphereVolume:*VsphereVirtualDiskVolumeSource
  quobyte:*QuobyteVolumeSource azureDisk:*AzureDiskVolumeSource
  photonPersistentDisk:*PhotonPersistentDiskVolumeSource projected:*ProjectedVolumeSource
  portworxVolume:*PortworxVolumeSource scaleIO:*ScaleIOVolumeSource StorageOS=storageos:*StorageOSVolumeSource
  CSI=csi:*CSIVolumeSource ephemeral:*EphemeralVolumeSource image:*ImageVolumeSource
VsphereVirtualDiskVolumeSource volumePath FSType=fsType storagePolicyName storagePolicyID
WeightedPodAffinityTerm weight:int32 podAffinityTerm:PodAffinityTerm
WindowsSecurityContextOptions GMSACredentialSpecName=gmsaCredentialSpecName:*string
  GMSACredentialSpec=gmsaCredentialSpec:*string runAsUserName:*string hostProcess:*bool
`;
