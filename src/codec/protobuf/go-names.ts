/**
 * Names of fields as the reference server's decoder says them: `uid` is `UID`. Only its complaints about wire types
 * name fields.
 */

/** Beginnings that are written in capitals. */
const INITIALS = new RegExp(
  `^(${[
    'api|aws|ca|cel|cidr|csi|dns|fc|fs|gce|gid|gmsa|grpc|http|id|ip|iqn|iscsi|json|nfs|os|pd(?!ID)|qos|rbd|se|ssl|tcp',
    'tls|ttl|tty|uid|url|wwid',
  ].join('|')})(?=[A-Z]|s?$)`,
);

/** Fields that have another name altogether; with the type's name in front where others of the name are regular. */
const OTHERS: ReadonlyMap<string, string> = new Map(
  [
    'cephfs=CephFS storageos=StorageOS diskURI=DataDiskURI externalID=DoNotUseExternalID',
    'chapAuthDiscovery=DiscoveryCHAPAuth chapAuthSession=SessionCHAPAuth lastState=LastTerminationState',
    'reportingComponent=ReportingController int=IntValue bool=BoolValue string=StringValue $schema=Schema $ref=Ref',
    'AdmissionResponse.status=Result SubjectAccessReviewSpec.group=Groups PodSpec.serviceAccount=DeprecatedServiceAccount',
    'GlusterfsPersistentVolumeSource.endpoints=EndpointsName GlusterfsVolumeSource.endpoints=EndpointsName',
    'RBDPersistentVolumeSource.monitors=CephMonitors RBDVolumeSource.monitors=CephMonitors',
    'RBDPersistentVolumeSource.image=RBDImage RBDVolumeSource.image=RBDImage',
    'RBDPersistentVolumeSource.pool=RBDPool RBDVolumeSource.pool=RBDPool',
    'RBDPersistentVolumeSource.user=RadosUser RBDVolumeSource.user=RadosUser',
    'DeviceAttribute.version=VersionValue APIResourceList.resources=APIResources StatusCause.reason=Type',
    'Quantity.string=String_',
  ]
    .join(' ')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
);

interface NamedField {
  readonly name: string;
  readonly type: string;
  readonly message: { readonly name: string };
}

/** The name of a field; `holder` is the message it belongs to. */
export function goFieldName(holder: string, field: NamedField): string {
  const { name } = field;
  // What stands among the fields of others, or describes the whole object, goes by the name of its type.
  if (name === '' || (name === 'metadata' && field.type === 'message')) return field.message.name;
  return OTHERS.get(`${holder}.${name}`) ?? OTHERS.get(name) ?? regularName(name);
}

function regularName(name: string): string {
  // A schema extension leaves out whose it is: `x-…-list-type` is `XListType`.
  const words = name.split('-');
  const parts = words.length > 1 ? words.filter((_word, index) => index !== 1) : words;
  return parts.map(capitalized).join('');
}

function capitalized(word: string): string {
  const text = word.replace(INITIALS, (initials) => initials.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}
