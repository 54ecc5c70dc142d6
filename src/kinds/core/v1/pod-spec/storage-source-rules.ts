/**
 * Validation of volume sources on network storage and cloud disks. Persistent volumes use the same rules for sources of
 * the same type. Each function takes the path of the source.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, type FieldError, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { byteLength, dnsLabelProblems } from '../../../../meta/names.js';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CephFSVolumeSource,
  CinderVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GlusterfsVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from '../../../generated/core-v1.js';
import { lunProblems, partitionProblems, requiredProblems } from './volume-paths.js';

export function gcePersistentDiskProblems(path: string, source: GCEPersistentDiskVolumeSource): FieldError[] {
  const { pdName, partition } = source;
  return [...requiredProblems(path, { pdName }), ...partitionProblems(childPath(path, 'partition'), partition)];
}

export function awsElasticBlockStoreProblems(path: string, source: AWSElasticBlockStoreVolumeSource): FieldError[] {
  const { volumeID, partition } = source;
  return [...requiredProblems(path, { volumeID }), ...partitionProblems(childPath(path, 'partition'), partition)];
}

export function nfsProblems(path: string, { server, path: exported }: NFSVolumeSource): FieldError[] {
  const found = requiredProblems(path, { server, path: exported });
  if (!exported.startsWith('/')) found.push(invalid(childPath(path, 'path'), exported, 'must be an absolute path'));
  return found;
}

/** The formats of target and initiator names by prefix. As in the reference server, the first one is not anchored at the start. */
const ISCSI_NAME_FORMATS: readonly (readonly [prefix: string, format: RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$| \t\n\f\r]+$/],
  ['eui', /^eui.[0-9a-zA-Z]{16}$/],
  ['naa', /^naa.[0-9a-zA-Z]{32}$/],
];

export function iscsiProblems(path: string, source: ISCSIVolumeSource): FieldError[] {
  const { targetPortal, iqn, lun, initiatorName } = source;
  const found = requiredProblems(path, { targetPortal, iqn });
  if (iqn !== '') found.push(...iscsiNameProblems(childPath(path, 'iqn'), iqn));
  found.push(...lunProblems(childPath(path, 'lun'), lun));
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && source.secretRef === undefined) {
    found.push(required(childPath(path, 'secretRef')));
  }
  // The lower-case path is the reference server's.
  if (initiatorName !== undefined) found.push(...iscsiNameProblems(childPath(path, 'initiatorname'), initiatorName));
  return found;
}

function iscsiNameProblems(path: string, name: string): FieldError[] {
  const format = ISCSI_NAME_FORMATS.find(([prefix]) => name.startsWith(prefix))?.[1];
  if (format === undefined) return [invalid(path, name, 'must be valid format starting with iqn, eui, or naa')];
  return format.test(name) ? [] : [invalid(path, name, 'must be valid format')];
}

export function fcProblems(path: string, source: FCVolumeSource): FieldError[] {
  const { targetWWNs = [], wwids = [], lun } = source;
  const at = childPath(path, 'targetWWNs');
  const found: FieldError[] = [];
  if (targetWWNs.length === 0 && wwids.length === 0) {
    found.push(required(at, 'must specify either targetWWNs or wwids, but not both'));
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    found.push(invalid(at, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
  }
  if (targetWWNs.length === 0) return found;
  const lunPath = childPath(path, 'lun');
  if (lun === undefined) found.push(required(lunPath, 'lun is required if targetWWNs is specified'));
  else found.push(...lunProblems(lunPath, lun));
  return found;
}

export function glusterfsProblems(path: string, source: GlusterfsVolumeSource): FieldError[] {
  return requiredProblems(path, { endpoints: source.endpoints, path: source.path });
}

export function flockerProblems(path: string, source: FlockerVolumeSource): FieldError[] {
  const { datasetName = '', datasetUUID = '' } = source;
  const found: FieldError[] = [];
  if (datasetName === '' && datasetUUID === '') {
    found.push(required(path, 'one of datasetName and datasetUUID is required'));
  }
  if (datasetName !== '' && datasetUUID !== '') {
    found.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  }
  if (datasetName.includes('/')) {
    found.push(invalid(childPath(path, 'datasetName'), datasetName, "must not contain '/'"));
  }
  return found;
}

export function rbdProblems(path: string, { monitors, image }: RBDVolumeSource): FieldError[] {
  return [...monitorsProblems(path, monitors), ...requiredProblems(path, { image })];
}

export function cephFSProblems(path: string, { monitors }: CephFSVolumeSource): FieldError[] {
  return monitorsProblems(path, monitors);
}

/** An absent list is null. */
function monitorsProblems(path: string, monitors: readonly string[] | null): FieldError[] {
  return monitors === null || monitors.length === 0 ? [required(childPath(path, 'monitors'))] : [];
}

export function cinderProblems(path: string, { volumeID, secretRef }: CinderVolumeSource): FieldError[] {
  return [...requiredProblems(path, { volumeID }), ...secretNameProblems(path, secretRef)];
}

function secretNameProblems(path: string, ref: { readonly name?: string | undefined } | undefined): FieldError[] {
  return ref === undefined ? [] : requiredProblems(childPath(path, 'secretRef'), { name: ref.name });
}

const MAX_TENANT = 64;

export function quobyteProblems(path: string, source: QuobyteVolumeSource): FieldError[] {
  const { registry, volume, tenant = '' } = source;
  const at = childPath(path, 'registry');
  const detail = 'must be a host:port pair or multiple pairs separated by commas';
  const found: FieldError[] = [];
  if (registry === '') found.push(required(at, detail));
  else if (byteLength(tenant) > MAX_TENANT) {
    // The reference server reports a tenant that is too long as a missing value.
    found.push(required(childPath(path, 'tenant'), 'must be a UUID and may not exceed a length of 64 characters'));
  } else {
    const bad = registry.split(',').filter((pair) => !isHostPort(pair));
    found.push(...bad.map(() => invalid(at, registry, detail)));
  }
  return [...found, ...requiredProblems(path, { volume })];
}

/** True for `host:port` or `[host]:port`. Either part may be empty. */
function isHostPort(pair: string): boolean {
  return /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair);
}

export function flexVolumeProblems(path: string, source: FlexVolumeSource, dialect: Dialect): FieldError[] {
  const { driver, options = {} } = source;
  // The domains of the service's keys and of its API groups. In one dialect they are equal.
  const domains = [dialect.key('').slice(0, -1), dialect.systemKey('').slice(0, -1)];
  const reserved = Object.keys(options)
    .sort()
    .filter((key) => domains.some((domain) => domainOf(key).endsWith(`.${domain}`)));
  const detail = `${domains.join(' and ')} namespaces are reserved`;
  return [
    ...requiredProblems(path, { driver }),
    ...reserved.map((key) => invalid(keyPath(childPath(path, 'options'), key), key, detail)),
  ];
}

/** The part before the first slash, with a leading dot, so that a suffix comparison matches whole domain labels. */
function domainOf(key: string): string {
  const slash = key.indexOf('/');
  return `.${slash < 0 ? key : key.slice(0, slash)}`.toLowerCase();
}

export function azureFileProblems(path: string, { secretName, shareName }: AzureFileVolumeSource): FieldError[] {
  return requiredProblems(path, { secretName, shareName });
}

const CACHING_MODES: readonly string[] = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS: readonly string[] = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function azureDiskProblems(path: string, source: AzureDiskVolumeSource): FieldError[] {
  const { diskName, diskURI, cachingMode, kind } = source;
  const found = requiredProblems(path, { diskName, diskURI });
  if (!CACHING_MODES.includes(cachingMode)) {
    found.push(notSupported(childPath(path, 'cachingMode'), cachingMode, CACHING_MODES));
  }
  if (!DISK_KINDS.includes(kind)) found.push(notSupported(childPath(path, 'kind'), kind, DISK_KINDS));
  const [prefix, format] = kind === 'Managed' ? ['/subscriptions/', MANAGED_URI] : ['https://', BLOB_URI];
  if (!diskURI.startsWith(prefix)) found.push(notSupported(childPath(path, 'diskURI'), diskURI, [format]));
  return found;
}

export function vsphereVolumeProblems(path: string, { volumePath }: VsphereVirtualDiskVolumeSource): FieldError[] {
  return requiredProblems(path, { volumePath });
}

export function photonPersistentDiskProblems(path: string, { pdID }: PhotonPersistentDiskVolumeSource): FieldError[] {
  return requiredProblems(path, { pdID });
}

export function portworxVolumeProblems(path: string, { volumeID }: PortworxVolumeSource): FieldError[] {
  return requiredProblems(path, { volumeID });
}

export function scaleIOProblems(path: string, source: ScaleIOVolumeSource): FieldError[] {
  const { gateway, system, volumeName } = source;
  return requiredProblems(path, { gateway, system, volumeName });
}

export function storageOSProblems(path: string, source: StorageOSVolumeSource): FieldError[] {
  const { volumeName = '', volumeNamespace = '', secretRef } = source;
  const labelProblems = (field: string, value: string) =>
    value === '' ? [] : dnsLabelProblems(value).map((problem) => invalid(childPath(path, field), value, problem));
  return [
    ...requiredProblems(path, { volumeName }),
    ...labelProblems('volumeName', volumeName),
    ...labelProblems('volumeNamespace', volumeNamespace),
    ...secretNameProblems(path, secretRef),
  ];
}
