/**
 * The internal Go types of pod specs and volumes (`pkg/apis/core/types.go`), whose field names and order differ from the
 * wire format. Each line is a struct. A field is written `GoName[=wireName]:type`, and a type is the name of a struct or
 * a basic type, with the prefix `[]` for slices and `*` for pointers. `@` marks a struct that is inlined on the wire.
 * Named string types print as strings, so they are listed as `string`.
 */

export type GoType =
  | { readonly kind: 'struct'; readonly name: string; readonly fields: readonly GoField[] }
  | { readonly kind: 'pointer'; readonly of: GoType }
  | { readonly kind: 'slice'; readonly name: string; readonly of: GoType }
  | { readonly kind: 'map'; readonly name: string; readonly of: GoType; readonly namedKeys: boolean }
  | { readonly kind: 'string' | 'int' | 'bool' | 'quantity'; readonly name: string };

export interface GoField {
  readonly name: string;
  /** The name on the wire; empty for an inlined struct. */
  readonly wire: string;
  readonly type: GoType;
}

const STRUCTS: Readonly<Record<string, string>> = {
  PodSpec:
    'Volumes:[]Volume InitContainers:[]Container Containers:[]Container EphemeralContainers:[]EphemeralContainer RestartPolicy:string TerminationGracePeriodSeconds:*int64 ActiveDeadlineSeconds:*int64 DNSPolicy:string NodeSelector:labels ServiceAccountName:string AutomountServiceAccountToken:*bool NodeName:string SecurityContext:*PodSecurityContext ImagePullSecrets:[]LocalObjectReference Hostname:string Subdomain:string SetHostnameAsFQDN:*bool Affinity:*Affinity SchedulerName:string Tolerations:[]Toleration HostAliases:[]HostAlias PriorityClassName:string Priority:*int32 PreemptionPolicy:*string DNSConfig:*PodDNSConfig ReadinessGates:[]PodReadinessGate RuntimeClassName:*string Overhead:ResourceList EnableServiceLinks:*bool TopologySpreadConstraints:[]TopologySpreadConstraint OS:*PodOS SchedulingGates:[]PodSchedulingGate ResourceClaims:[]PodResourceClaim Resources:*ResourceRequirements',
  Container:
    'Name:string Image:string Command:[]string Args:[]string WorkingDir:string Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:*string VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath:string TerminationMessagePolicy:string ImagePullPolicy:string SecurityContext:*SecurityContext Stdin:bool StdinOnce:bool TTY:bool',
  EphemeralContainerCommon:
    'Name:string Image:string Command:[]string Args:[]string WorkingDir:string Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:*string VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath:string TerminationMessagePolicy:string ImagePullPolicy:string SecurityContext:*SecurityContext Stdin:bool StdinOnce:bool TTY:bool',
  EphemeralContainer: 'EphemeralContainerCommon:@EphemeralContainerCommon TargetContainerName:string',
  ContainerPort: 'Name:string HostPort:int32 ContainerPort:int32 Protocol:string HostIP:string',
  EnvVar: 'Name:string Value:string ValueFrom:*EnvVarSource',
  EnvVarSource:
    'FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector ConfigMapKeyRef:*ConfigMapKeySelector SecretKeyRef:*SecretKeySelector',
  ObjectFieldSelector: 'APIVersion:string FieldPath:string',
  ResourceFieldSelector: 'ContainerName:string Resource:string Divisor:Quantity',
  ConfigMapKeySelector: 'LocalObjectReference:@LocalObjectReference Key:string Optional:*bool',
  SecretKeySelector: 'LocalObjectReference:@LocalObjectReference Key:string Optional:*bool',
  LocalObjectReference: 'Name:string',
  EnvFromSource: 'Prefix:string ConfigMapRef:*ConfigMapEnvSource SecretRef:*SecretEnvSource',
  ConfigMapEnvSource: 'LocalObjectReference:@LocalObjectReference Optional:*bool',
  SecretEnvSource: 'LocalObjectReference:@LocalObjectReference Optional:*bool',
  ResourceRequirements: 'Limits:ResourceList Requests:ResourceList Claims:[]ResourceClaim',
  ResourceClaim: 'Name:string Request:string',
  ContainerResizePolicy: 'ResourceName:resource RestartPolicy:string',
  VolumeMount:
    'Name:string ReadOnly:bool RecursiveReadOnly:*string MountPath:string SubPath:string MountPropagation:*string SubPathExpr:string',
  VolumeDevice: 'Name:string DevicePath:string',
  Probe:
    'ProbeHandler:@ProbeHandler InitialDelaySeconds:int32 TimeoutSeconds:int32 PeriodSeconds:int32 SuccessThreshold:int32 FailureThreshold:int32 TerminationGracePeriodSeconds:*int64',
  ProbeHandler: 'Exec:*ExecAction HTTPGet:*HTTPGetAction TCPSocket:*TCPSocketAction GRPC:*GRPCAction',
  LifecycleHandler: 'Exec:*ExecAction HTTPGet:*HTTPGetAction TCPSocket:*TCPSocketAction Sleep:*SleepAction',
  Lifecycle: 'PostStart:*LifecycleHandler PreStop:*LifecycleHandler StopSignal:*string',
  ExecAction: 'Command:[]string',
  HTTPGetAction: 'Path:string Port:IntOrString Host:string Scheme:string HTTPHeaders:[]HTTPHeader',
  HTTPHeader: 'Name:string Value:string',
  TCPSocketAction: 'Port:IntOrString Host:string',
  GRPCAction: 'Port:int32 Service:*string',
  SleepAction: 'Seconds:int64',
  SecurityContext:
    'Capabilities:*Capabilities Privileged:*bool SELinuxOptions:*SELinuxOptions WindowsOptions:*WindowsSecurityContextOptions RunAsUser:*int64 RunAsGroup:*int64 RunAsNonRoot:*bool ReadOnlyRootFilesystem:*bool AllowPrivilegeEscalation:*bool ProcMount:*string SeccompProfile:*SeccompProfile AppArmorProfile:*AppArmorProfile',
  Capabilities: 'Add:[]Capability Drop:[]Capability',
  SELinuxOptions: 'User:string Role:string Type:string Level:string',
  WindowsSecurityContextOptions:
    'GMSACredentialSpecName:*string GMSACredentialSpec:*string RunAsUserName:*string HostProcess:*bool',
  SeccompProfile: 'Type:string LocalhostProfile:*string',
  AppArmorProfile: 'Type:string LocalhostProfile:*string',
  PodSecurityContext:
    'HostNetwork:bool HostPID:bool HostIPC:bool ShareProcessNamespace:*bool HostUsers:*bool SELinuxOptions:*SELinuxOptions WindowsOptions:*WindowsSecurityContextOptions RunAsUser:*int64 RunAsGroup:*int64 RunAsNonRoot:*bool SupplementalGroups:[]int64 SupplementalGroupsPolicy:*string FSGroup:*int64 FSGroupChangePolicy:*string Sysctls:[]Sysctl SeccompProfile:*SeccompProfile AppArmorProfile:*AppArmorProfile SELinuxChangePolicy:*string',
  Sysctl: 'Name:string Value:string',
  Affinity: 'NodeAffinity:*NodeAffinity PodAffinity:*PodAffinity PodAntiAffinity:*PodAntiAffinity',
  NodeAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:*NodeSelector PreferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm',
  NodeSelector: 'NodeSelectorTerms:[]NodeSelectorTerm',
  NodeSelectorTerm: 'MatchExpressions:[]NodeSelectorRequirement MatchFields:[]NodeSelectorRequirement',
  NodeSelectorRequirement: 'Key:string Operator:string Values:[]string',
  PreferredSchedulingTerm: 'Weight:int32 Preference:NodeSelectorTerm',
  PodAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm',
  PodAntiAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm',
  PodAffinityTerm:
    'LabelSelector:*v1.LabelSelector Namespaces:[]string TopologyKey:string NamespaceSelector:*v1.LabelSelector MatchLabelKeys:[]string MismatchLabelKeys:[]string',
  WeightedPodAffinityTerm: 'Weight:int32 PodAffinityTerm:PodAffinityTerm',
  'v1.LabelSelector': 'MatchLabels:labels MatchExpressions:[]v1.LabelSelectorRequirement',
  'v1.LabelSelectorRequirement': 'Key:string Operator:string Values:[]string',
  Toleration: 'Key:string Operator:string Value:string Effect:string TolerationSeconds:*int64',
  HostAlias: 'IP:string Hostnames:[]string',
  PodDNSConfig: 'Nameservers:[]string Searches:[]string Options:[]PodDNSConfigOption',
  PodDNSConfigOption: 'Name:string Value:*string',
  PodReadinessGate: 'ConditionType:string',
  PodOS: 'Name:string',
  PodSchedulingGate: 'Name:string',
  PodResourceClaim: 'Name:string ResourceClaimName:*string ResourceClaimTemplateName:*string',
  TopologySpreadConstraint:
    'MaxSkew:int32 TopologyKey:string WhenUnsatisfiable:string LabelSelector:*v1.LabelSelector MinDomains:*int32 NodeAffinityPolicy:*string NodeTaintsPolicy:*string MatchLabelKeys:[]string',
  Volume: 'Name:string VolumeSource:@VolumeSource',
  VolumeSource:
    'HostPath:*HostPathVolumeSource EmptyDir:*EmptyDirVolumeSource GCEPersistentDisk:*GCEPersistentDiskVolumeSource AWSElasticBlockStore:*AWSElasticBlockStoreVolumeSource GitRepo:*GitRepoVolumeSource Secret:*SecretVolumeSource NFS:*NFSVolumeSource ISCSI:*ISCSIVolumeSource Glusterfs:*GlusterfsVolumeSource PersistentVolumeClaim:*PersistentVolumeClaimVolumeSource RBD:*RBDVolumeSource Quobyte:*QuobyteVolumeSource FlexVolume:*FlexVolumeSource Cinder:*CinderVolumeSource CephFS=cephfs:*CephFSVolumeSource Flocker:*FlockerVolumeSource DownwardAPI:*DownwardAPIVolumeSource FC:*FCVolumeSource AzureFile:*AzureFileVolumeSource ConfigMap:*ConfigMapVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource Projected:*ProjectedVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOVolumeSource StorageOS=storageos:*StorageOSVolumeSource CSI:*CSIVolumeSource Ephemeral:*EphemeralVolumeSource Image:*ImageVolumeSource',
  HostPathVolumeSource: 'Path:string Type:*string',
  EmptyDirVolumeSource: 'Medium:string SizeLimit:*Quantity',
  GCEPersistentDiskVolumeSource: 'PDName:string FSType:string Partition:int32 ReadOnly:bool',
  AWSElasticBlockStoreVolumeSource: 'VolumeID:string FSType:string Partition:int32 ReadOnly:bool',
  GitRepoVolumeSource: 'Repository:string Revision:string Directory:string',
  SecretVolumeSource: 'SecretName:string Items:[]KeyToPath DefaultMode:*int32 Optional:*bool',
  KeyToPath: 'Key:string Path:string Mode:*int32',
  NFSVolumeSource: 'Server:string Path:string ReadOnly:bool',
  ISCSIVolumeSource:
    'TargetPortal:string IQN:string Lun:int32 ISCSIInterface:string FSType:string ReadOnly:bool Portals:[]string DiscoveryCHAPAuth=chapAuthDiscovery:bool SessionCHAPAuth=chapAuthSession:bool SecretRef:*LocalObjectReference InitiatorName:*string',
  GlusterfsVolumeSource: 'EndpointsName=endpoints:string Path:string ReadOnly:bool',
  PersistentVolumeClaimVolumeSource: 'ClaimName:string ReadOnly:bool',
  RBDVolumeSource:
    'CephMonitors=monitors:[]string RBDImage=image:string FSType:string RBDPool=pool:string RadosUser=user:string Keyring:string SecretRef:*LocalObjectReference ReadOnly:bool',
  QuobyteVolumeSource: 'Registry:string Volume:string ReadOnly:bool User:string Group:string Tenant:string',
  FlexVolumeSource: 'Driver:string FSType:string SecretRef:*LocalObjectReference ReadOnly:bool Options:labels',
  CinderVolumeSource: 'VolumeID:string FSType:string ReadOnly:bool SecretRef:*LocalObjectReference',
  CephFSVolumeSource:
    'Monitors:[]string Path:string User:string SecretFile:string SecretRef:*LocalObjectReference ReadOnly:bool',
  FlockerVolumeSource: 'DatasetName:string DatasetUUID:string',
  DownwardAPIVolumeSource: 'Items:[]DownwardAPIVolumeFile DefaultMode:*int32',
  DownwardAPIVolumeFile:
    'Path:string FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector Mode:*int32',
  FCVolumeSource: 'TargetWWNs:[]string Lun:*int32 FSType:string ReadOnly:bool WWIDs=wwids:[]string',
  AzureFileVolumeSource: 'SecretName:string ShareName:string ReadOnly:bool',
  ConfigMapVolumeSource:
    'LocalObjectReference:@LocalObjectReference Items:[]KeyToPath DefaultMode:*int32 Optional:*bool',
  VsphereVirtualDiskVolumeSource: 'VolumePath:string FSType:string StoragePolicyName:string StoragePolicyID:string',
  AzureDiskVolumeSource:
    'DiskName:string DataDiskURI=diskURI:string CachingMode:*string FSType:*string ReadOnly:*bool Kind:*string',
  PhotonPersistentDiskVolumeSource: 'PdID:string FSType:string',
  ProjectedVolumeSource: 'Sources:[]VolumeProjection DefaultMode:*int32',
  VolumeProjection:
    'Secret:*SecretProjection DownwardAPI:*DownwardAPIProjection ConfigMap:*ConfigMapProjection ServiceAccountToken:*ServiceAccountTokenProjection ClusterTrustBundle:*ClusterTrustBundleProjection',
  SecretProjection: 'LocalObjectReference:@LocalObjectReference Items:[]KeyToPath Optional:*bool',
  DownwardAPIProjection: 'Items:[]DownwardAPIVolumeFile',
  ConfigMapProjection: 'LocalObjectReference:@LocalObjectReference Items:[]KeyToPath Optional:*bool',
  ServiceAccountTokenProjection: 'Audience:string ExpirationSeconds:int64 Path:string',
  ClusterTrustBundleProjection:
    'Name:*string SignerName:*string LabelSelector:*v1.LabelSelector Optional:*bool Path:string',
  PortworxVolumeSource: 'VolumeID:string FSType:string ReadOnly:bool',
  ScaleIOVolumeSource:
    'Gateway:string System:string SecretRef:*LocalObjectReference SSLEnabled:bool ProtectionDomain:string StoragePool:string StorageMode:string VolumeName:string FSType:string ReadOnly:bool',
  StorageOSVolumeSource:
    'VolumeName:string VolumeNamespace:string FSType:string ReadOnly:bool SecretRef:*LocalObjectReference',
  CSIVolumeSource:
    'Driver:string ReadOnly:*bool FSType:*string VolumeAttributes:labels NodePublishSecretRef:*LocalObjectReference',
  EphemeralVolumeSource: 'VolumeClaimTemplate:*PersistentVolumeClaimTemplate',
  PersistentVolumeClaimTemplate: 'ObjectMeta=metadata:v1.ObjectMeta Spec:PersistentVolumeClaimSpec',
  'v1.ObjectMeta': 'Name:string GenerateName:string Namespace:string Labels:labels Annotations:labels',
  PersistentVolumeClaimSpec:
    'AccessModes:[]PersistentVolumeAccessMode Selector:*v1.LabelSelector Resources:VolumeResourceRequirements VolumeName:string StorageClassName:*string VolumeMode:*string DataSource:*TypedLocalObjectReference DataSourceRef:*TypedObjectReference VolumeAttributesClassName:*string',
  VolumeResourceRequirements: 'Limits:ResourceList Requests:ResourceList',
  TypedLocalObjectReference: 'APIGroup:*string Kind:string Name:string',
  TypedObjectReference: 'APIGroup:*string Kind:string Name:string Namespace:*string',
  ImageVolumeSource: 'Reference:string PullPolicy:string',
  PersistentVolumeSource:
    'GCEPersistentDisk:*GCEPersistentDiskVolumeSource AWSElasticBlockStore:*AWSElasticBlockStoreVolumeSource HostPath:*HostPathVolumeSource Glusterfs:*GlusterfsPersistentVolumeSource NFS:*NFSVolumeSource RBD:*RBDPersistentVolumeSource Quobyte:*QuobyteVolumeSource ISCSI:*ISCSIPersistentVolumeSource FlexVolume:*FlexPersistentVolumeSource Cinder:*CinderPersistentVolumeSource CephFS=cephfs:*CephFSPersistentVolumeSource FC:*FCVolumeSource Flocker:*FlockerVolumeSource AzureFile:*AzureFilePersistentVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOPersistentVolumeSource Local:*LocalVolumeSource StorageOS=storageos:*StorageOSPersistentVolumeSource CSI:*CSIPersistentVolumeSource',
  GlusterfsPersistentVolumeSource:
    'EndpointsName=endpoints:string Path:string ReadOnly:bool EndpointsNamespace:*string',
  RBDPersistentVolumeSource:
    'CephMonitors=monitors:[]string RBDImage=image:string FSType:string RBDPool=pool:string RadosUser=user:string Keyring:string SecretRef:*SecretReference ReadOnly:bool',
  ISCSIPersistentVolumeSource:
    'TargetPortal:string IQN:string Lun:int32 ISCSIInterface:string FSType:string ReadOnly:bool Portals:[]string DiscoveryCHAPAuth=chapAuthDiscovery:bool SessionCHAPAuth=chapAuthSession:bool SecretRef:*SecretReference InitiatorName:*string',
  FlexPersistentVolumeSource: 'Driver:string FSType:string SecretRef:*SecretReference ReadOnly:bool Options:labels',
  CinderPersistentVolumeSource: 'VolumeID:string FSType:string ReadOnly:bool SecretRef:*SecretReference',
  CephFSPersistentVolumeSource:
    'Monitors:[]string Path:string User:string SecretFile:string SecretRef:*SecretReference ReadOnly:bool',
  AzureFilePersistentVolumeSource: 'SecretName:string ShareName:string ReadOnly:bool SecretNamespace:*string',
  ScaleIOPersistentVolumeSource:
    'Gateway:string System:string SecretRef:*SecretReference SSLEnabled:bool ProtectionDomain:string StoragePool:string StorageMode:string VolumeName:string FSType:string ReadOnly:bool',
  LocalVolumeSource: 'Path:string FSType:*string',
  StorageOSPersistentVolumeSource:
    'VolumeName:string VolumeNamespace:string FSType:string ReadOnly:bool SecretRef:*ObjectReference',
  CSIPersistentVolumeSource:
    'Driver:string VolumeHandle:string ReadOnly:bool FSType:string VolumeAttributes:labels ControllerPublishSecretRef:*SecretReference NodeStageSecretRef:*SecretReference NodePublishSecretRef:*SecretReference ControllerExpandSecretRef:*SecretReference NodeExpandSecretRef:*SecretReference',
  SecretReference: 'Name:string Namespace:string',
  ObjectReference:
    'Kind:string Namespace:string Name:string UID:string APIVersion:string ResourceVersion:string FieldPath:string',
  // The Type field tells numbers (0) from strings (1).
  IntOrString: 'Type:int64 IntVal:int32 StrVal:string',
};

/** Named string types whose names are printed in the types of slices. */
const NAMED_STRINGS: readonly string[] = ['Capability', 'PersistentVolumeAccessMode'];

const typeCache = new Map<string, GoType>();

/** The type with this name, such as `PodSpec` or `[]Volume`. */
export function goType(text: string): GoType {
  const cached = typeCache.get(text);
  if (cached !== undefined) return cached;
  const type = makeType(text);
  typeCache.set(text, type);
  return type;
}

function makeType(text: string): GoType {
  if (text.startsWith('*')) return { kind: 'pointer', of: goType(text.slice(1)) };
  if (text.startsWith('[]'))
    return { kind: 'slice', name: `[]${qualifiedName(text.slice(2))}`, of: goType(text.slice(2)) };
  switch (text) {
    case 'string':
    case 'bool':
      return { kind: text, name: text };
    case 'int32':
    case 'int64':
      return { kind: 'int', name: text };
    case 'resource':
      return { kind: 'string', name: 'core.ResourceName' };
    case 'Quantity':
      return { kind: 'quantity', name: 'resource.Quantity' };
    case 'labels':
      return { kind: 'map', name: 'map[string]string', of: goType('string'), namedKeys: false };
    case 'ResourceList':
      return { kind: 'map', name: 'core.ResourceList', of: goType('Quantity'), namedKeys: true };
    default:
      return NAMED_STRINGS.includes(text) ? { kind: 'string', name: `core.${text}` } : structType(text);
  }
}

function structType(name: string): GoType {
  const fields = STRUCTS[name];
  if (fields === undefined) throw new Error(`orchplane: the Go type ${name} is not defined (this is a bug)`);
  return { kind: 'struct', name: qualifiedName(name), fields: fields.split(' ').map(fieldFrom) };
}

function qualifiedName(name: string): string {
  if (name === 'IntOrString') return 'intstr.IntOrString';
  return /^[A-Z]/.test(name) ? `core.${name}` : name;
}

function fieldFrom(text: string): GoField {
  const colon = text.indexOf(':');
  const [name = '', wire] = text.slice(0, colon).split('=');
  const type = text.slice(colon + 1);
  if (type.startsWith('@')) return { name, wire: '', type: goType(type.slice(1)) };
  return { name, wire: wire ?? wireName(name), type: goType(type) };
}

/** Converts a Go name to a wire name: `DNSPolicy` → `dnsPolicy`, `TTY` → `tty`, `HostIP` → `hostIP`. */
function wireName(name: string): string {
  const capitals = /^[A-Z]+/.exec(name)?.[0].length ?? 0;
  const lowered = capitals > 1 && capitals < name.length ? capitals - 1 : capitals;
  return name.slice(0, lowered).toLowerCase() + name.slice(lowered);
}
