/**
 * The internal Go types of pod specs and volumes (`pkg/apis/core/types.go`), whose field names and order differ from the
 * wire format. Each line is a struct. A field is written `GoName[=wireName]:type`, and a type is the name of a struct or
 * a basic type, with the prefix `[]` for slices and `*` for pointers. `@` marks a struct that is inlined on the wire.
 * Named string types print as strings, so they are listed as `string`.
 */
import { GO_STRUCTS } from '../../../../generated/go-structs.js';

export type GoType =
  | { readonly kind: 'struct'; readonly name: string; readonly fields: readonly GoField[] }
  | { readonly kind: 'pointer'; readonly of: GoType }
  | { readonly kind: 'slice'; readonly name: string; readonly of: GoType }
  | { readonly kind: 'map'; readonly name: string; readonly of: GoType; readonly namedKeys: boolean }
  | { readonly kind: 'quantity'; readonly name: string; readonly decimals: number }
  | { readonly kind: 'string' | 'int' | 'bool'; readonly name: string };

export interface GoField {
  readonly name: string;
  /** The name on the wire; empty for an inlined struct. */
  readonly wire: string;
  readonly type: GoType;
}

/** Structs that differ from v1; the others are generated. */
const STRUCTS: Readonly<Record<string, string>> = {
  PodSpec:
    'Volumes:[]Volume InitContainers:[]Container Containers:[]Container EphemeralContainers:[]EphemeralContainer RestartPolicy:string TerminationGracePeriodSeconds:*int64 ActiveDeadlineSeconds:*int64 DNSPolicy:string NodeSelector:labels ServiceAccountName:string AutomountServiceAccountToken:*bool NodeName:string SecurityContext:*PodSecurityContext ImagePullSecrets:[]LocalObjectReference Hostname:string Subdomain:string SetHostnameAsFQDN:*bool Affinity:*Affinity SchedulerName:string Tolerations:[]Toleration HostAliases:[]HostAlias PriorityClassName:string Priority:*int32 PreemptionPolicy:*PreemptionPolicy DNSConfig:*PodDNSConfig ReadinessGates:[]PodReadinessGate RuntimeClassName:*string Overhead:ResourceList EnableServiceLinks:*bool TopologySpreadConstraints:[]TopologySpreadConstraint OS:*PodOS SchedulingGates:[]PodSchedulingGate ResourceClaims:[]PodResourceClaim Resources:*ResourceRequirements',
  PodSecurityContext:
    'HostNetwork:bool HostPID:bool HostIPC:bool ShareProcessNamespace:*bool HostUsers:*bool SELinuxOptions:*SELinuxOptions WindowsOptions:*WindowsSecurityContextOptions RunAsUser:*int64 RunAsGroup:*int64 RunAsNonRoot:*bool SupplementalGroups:[]int64 SupplementalGroupsPolicy:*string FSGroup:*int64 FSGroupChangePolicy:*string Sysctls:[]Sysctl SeccompProfile:*SeccompProfile AppArmorProfile:*AppArmorProfile SELinuxChangePolicy:*string',
  VolumeSource:
    'HostPath:*HostPathVolumeSource EmptyDir:*EmptyDirVolumeSource GCEPersistentDisk:*GCEPersistentDiskVolumeSource AWSElasticBlockStore:*AWSElasticBlockStoreVolumeSource GitRepo:*GitRepoVolumeSource Secret:*SecretVolumeSource NFS:*NFSVolumeSource ISCSI:*ISCSIVolumeSource Glusterfs:*GlusterfsVolumeSource PersistentVolumeClaim:*PersistentVolumeClaimVolumeSource RBD:*RBDVolumeSource Quobyte:*QuobyteVolumeSource FlexVolume:*FlexVolumeSource Cinder:*CinderVolumeSource CephFS=cephfs:*CephFSVolumeSource Flocker:*FlockerVolumeSource DownwardAPI:*DownwardAPIVolumeSource FC:*FCVolumeSource AzureFile:*AzureFileVolumeSource ConfigMap:*ConfigMapVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource Projected:*ProjectedVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOVolumeSource StorageOS=storageos:*StorageOSVolumeSource CSI:*CSIVolumeSource Ephemeral:*EphemeralVolumeSource Image:*ImageVolumeSource',
  ServiceAccountTokenProjection: 'Audience:string ExpirationSeconds:int64 Path:string',
  'v1.ObjectMeta':
    'Name:string GenerateName:string Namespace:string SelfLink:string UID:string ResourceVersion:string Generation:int64 CreationTimestamp:v1.Time DeletionTimestamp:*v1.Time DeletionGracePeriodSeconds:*int64 Labels:labels Annotations:labels OwnerReferences:[]v1.OwnerReference Finalizers:[]string ManagedFields:[]v1.ManagedFieldsEntry',
  // Their values are not printed: metadata with one of them is not valid.
  'v1.Time': 'Time:string',
  'v1.FieldsV1': 'Raw:string',
  'v1.OwnerReference': 'APIVersion:string Kind:string Name:string UID:string Controller:*bool BlockOwnerDeletion:*bool',
  'v1.ManagedFieldsEntry':
    'Manager:string Operation:string APIVersion:string Time:*v1.Time FieldsType:string FieldsV1:*v1.FieldsV1 Subresource:string',
  PersistentVolumeSource:
    'GCEPersistentDisk:*GCEPersistentDiskVolumeSource AWSElasticBlockStore:*AWSElasticBlockStoreVolumeSource HostPath:*HostPathVolumeSource Glusterfs:*GlusterfsPersistentVolumeSource NFS:*NFSVolumeSource RBD:*RBDPersistentVolumeSource Quobyte:*QuobyteVolumeSource ISCSI:*ISCSIPersistentVolumeSource FlexVolume:*FlexPersistentVolumeSource Cinder:*CinderPersistentVolumeSource CephFS=cephfs:*CephFSPersistentVolumeSource FC:*FCVolumeSource Flocker:*FlockerVolumeSource AzureFile:*AzureFilePersistentVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOPersistentVolumeSource Local:*LocalVolumeSource StorageOS=storageos:*StorageOSPersistentVolumeSource CSI:*CSIPersistentVolumeSource',
  // The Type field tells numbers (0) from strings (1).
  IntOrString: 'Type:int64 IntVal:int32 StrVal:string',
};

/** Named string types whose names are printed in the types of slices and pointers. */
const NAMED_STRINGS: readonly string[] = [
  'Capability',
  'ContainerRestartPolicy',
  'MountPropagationMode',
  'NodeInclusionPolicy',
  'PersistentVolumeAccessMode',
  'PreemptionPolicy',
  'RecursiveReadOnlyMode',
];

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
      return quantityType(9);
    case 'labels':
      return { kind: 'map', name: 'map[string]string', of: goType('string'), namedKeys: false };
    case 'ResourceList':
      return { kind: 'map', name: 'core.ResourceList', of: quantityType(3), namedKeys: true };
    default:
      return NAMED_STRINGS.includes(text) ? { kind: 'string', name: `core.${text}` } : structType(text);
  }
}

/** Quantities are rounded to billionths, and those of a resource list to thousandths. */
function quantityType(decimals: number): GoType {
  return { kind: 'quantity', name: 'resource.Quantity', decimals };
}

function structType(name: string): GoType {
  const fields = STRUCTS[name] ?? GO_STRUCTS[name];
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
