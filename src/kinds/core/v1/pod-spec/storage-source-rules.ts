/**
 * Validation of volume sources on network storage and cloud disks. Persistent volumes use the same rules for sources of
 * the same type.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, type FieldError, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { byteLength, dnsLabelProblems } from '../../../../meta/names.js';
import { append } from '../../../../util/arrays.js';
import type {
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  ISCSIVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
  Volume,
} from '../../../generated/core-v1.js';
import { valueErrors } from '../../../shared/field-rules.js';
import { lunProblems, partitionProblems, requiredProblems } from './volume-paths.js';

/** The rules by field. Each function takes the path of the source. */
export const storageRules = {
  gcePersistentDisk: (path, { pdName, partition }) => [
    ...requiredProblems(path, { pdName }),
    ...partitionProblems(childPath(path, 'partition'), partition),
  ],
  awsElasticBlockStore: (path, { volumeID, partition }) => [
    ...requiredProblems(path, { volumeID }),
    ...partitionProblems(childPath(path, 'partition'), partition),
  ],
  nfs: (path, { server, path: exported }) => {
    const found = requiredProblems(path, { server, path: exported });
    if (!exported.startsWith('/')) found.push(invalid(childPath(path, 'path'), exported, 'must be an absolute path'));
    return found;
  },
  iscsi: iscsiProblems,
  fc: fcProblems,
  glusterfs: (path, { endpoints, path: target }) => requiredProblems(path, { endpoints, path: target }),
  flocker: flockerProblems,
  rbd: (path, { monitors, image }) => [...monitorsProblems(path, monitors), ...requiredProblems(path, { image })],
  cephfs: (path, { monitors }) => monitorsProblems(path, monitors),
  cinder: (path, { volumeID, secretRef }) => [
    ...requiredProblems(path, { volumeID }),
    ...secretNameProblems(path, secretRef),
  ],
  quobyte: quobyteProblems,
  flexVolume: flexVolumeProblems,
  azureFile: (path, { secretName, shareName }) => requiredProblems(path, { secretName, shareName }),
  azureDisk: azureDiskProblems,
  vsphereVolume: (path, { volumePath }) => requiredProblems(path, { volumePath }),
  photonPersistentDisk: (path, { pdID }) => requiredProblems(path, { pdID }),
  portworxVolume: (path, { volumeID }) => requiredProblems(path, { volumeID }),
  scaleIO: (path, { gateway, system, volumeName }) => requiredProblems(path, { gateway, system, volumeName }),
  storageos: (path, source) => [...storageOSNameProblems(path, source), ...secretNameProblems(path, source.secretRef)],
} satisfies {
  readonly [Kind in keyof Volume]?: (
    path: string,
    source: NonNullable<Volume[Kind]>,
    context: { readonly dialect: Dialect },
  ) => FieldError[];
};

/** The formats of target and initiator names by prefix. As in the reference server, the first one is not anchored at the start. */
const ISCSI_NAME_FORMATS: readonly (readonly [prefix: string, format: RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$| \t\n\f\r]+$/],
  ['eui', /^eui.[0-9a-zA-Z]{16}$/],
  ['naa', /^naa.[0-9a-zA-Z]{32}$/],
];

function iscsiProblems(path: string, source: ISCSIVolumeSource): FieldError[] {
  const { targetPortal, iqn, lun, initiatorName } = source;
  const found = requiredProblems(path, { targetPortal, iqn });
  if (iqn !== '') append(found, iscsiNameProblems(childPath(path, 'iqn'), iqn));
  append(found, lunProblems(childPath(path, 'lun'), lun));
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && source.secretRef === undefined) {
    found.push(required(childPath(path, 'secretRef')));
  }
  // The lower-case path is the reference server's.
  if (initiatorName !== undefined) append(found, iscsiNameProblems(childPath(path, 'initiatorname'), initiatorName));
  return found;
}

function iscsiNameProblems(path: string, name: string): FieldError[] {
  const format = ISCSI_NAME_FORMATS.find(([prefix]) => name.startsWith(prefix))?.[1];
  if (format === undefined) return [invalid(path, name, 'must be valid format starting with iqn, eui, or naa')];
  return format.test(name) ? [] : [invalid(path, name, 'must be valid format')];
}

function fcProblems(path: string, source: FCVolumeSource): FieldError[] {
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
  else append(found, lunProblems(lunPath, lun));
  return found;
}

function flockerProblems(path: string, source: FlockerVolumeSource): FieldError[] {
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

/** An absent list is null. */
function monitorsProblems(path: string, monitors: readonly string[] | null): FieldError[] {
  return monitors === null || monitors.length === 0 ? [required(childPath(path, 'monitors'))] : [];
}

function secretNameProblems(path: string, ref: { readonly name?: string | undefined } | undefined): FieldError[] {
  return ref === undefined ? [] : requiredProblems(childPath(path, 'secretRef'), { name: ref.name });
}

const MAX_TENANT = 64;

function quobyteProblems(path: string, source: QuobyteVolumeSource): FieldError[] {
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
    append(
      found,
      bad.map(() => invalid(at, registry, detail)),
    );
  }
  return [...found, ...requiredProblems(path, { volume })];
}

/** True for `host:port` or `[host]:port`. Either part may be empty. */
function isHostPort(pair: string): boolean {
  return /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair);
}

function flexVolumeProblems(
  path: string,
  source: FlexVolumeSource,
  { dialect }: { readonly dialect: Dialect },
): FieldError[] {
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

const CACHING_MODES: readonly string[] = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS: readonly string[] = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function azureDiskProblems(path: string, source: AzureDiskVolumeSource): FieldError[] {
  const { diskName, diskURI, cachingMode, kind } = source;
  const found = requiredProblems(path, { diskName, diskURI });
  append(found, valueErrors(childPath(path, 'cachingMode'), cachingMode, CACHING_MODES));
  append(found, valueErrors(childPath(path, 'kind'), kind, DISK_KINDS));
  const [prefix, format] = kind === 'Managed' ? ['/subscriptions/', MANAGED_URI] : ['https://', BLOB_URI];
  if (!diskURI.startsWith(prefix)) found.push(notSupported(childPath(path, 'diskURI'), diskURI, [format]));
  return found;
}

/** Validates the names of a StorageOS volume. */
export function storageOSNameProblems(
  path: string,
  { volumeName = '', volumeNamespace = '' }: Pick<StorageOSVolumeSource, 'volumeName' | 'volumeNamespace'>,
): FieldError[] {
  const labelProblems = (field: string, value: string) =>
    value === '' ? [] : dnsLabelProblems(value).map((problem) => invalid(childPath(path, field), value, problem));
  return [
    ...requiredProblems(path, { volumeName }),
    ...labelProblems('volumeName', volumeName),
    ...labelProblems('volumeNamespace', volumeNamespace),
  ];
}
