/**
 * The rules of where a persistent volume's content lies. Those that hold for the volumes of pods as well are theirs.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, required } from '../../../../meta/field-error.js';
import { byteLength, dnsLabelProblems, dnsSubdomainProblems } from '../../../../meta/names.js';
import { roundResourceList } from '../../../shared/round-resource-list.js';
import type { SecretReference } from '../../../shared/types.js';
import { driverNameProblems, hostPathProblems } from '../pod-spec/local-source-rules.js';
import {
  awsElasticBlockStoreProblems,
  azureDiskProblems,
  cephFSProblems,
  fcProblems,
  flexVolumeProblems,
  flockerProblems,
  gcePersistentDiskProblems,
  glusterfsProblems,
  nfsProblems,
  photonPersistentDiskProblems,
  portworxVolumeProblems,
  quobyteProblems,
  rbdProblems,
  vsphereVolumeProblems,
} from '../pod-spec/storage-source-rules.js';
import { lunProblems, noBackstepsProblems, requiredProblems } from '../pod-spec/volume-paths.js';
import type {
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  LocalVolumeSource,
  ScaleIOPersistentVolumeSource,
  StorageOSPersistentVolumeSource,
} from './sources.js';
import type { InlineVolumeSpec, PersistentVolumeSource } from './spec.js';

/** What the rules of sources need to know beside them. */
export interface VolumeSourceContext {
  readonly dialect: Dialect;
  /** The name of the volume; empty for one that is held inline. */
  readonly volumeName: string;
  /** A local volume is somewhere, so it must say where. */
  readonly hasNodeAffinity: boolean;
}

/** The rules of all sources in a spec at `path`: there must be one, and only one. */
export function volumeSourceProblems(
  path: string,
  spec: PersistentVolumeSource,
  about: VolumeSourceContext,
): FieldError[] {
  const given = SOURCES.filter(({ kind }) => spec[kind] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((source, index) =>
    // One source is never counted as one too many.
    index === 0 || source.kind === 'flexVolume'
      ? source.problems(path, spec, about)
      : [forbidden(childPath(path, source.spelling), 'may not specify more than 1 volume type')],
  );
}

interface Source {
  readonly kind: keyof PersistentVolumeSource;
  /** How the source is called where it is one too many. */
  readonly spelling: string;
  readonly problems: (at: string, spec: PersistentVolumeSource, about: VolumeSourceContext) => FieldError[];
}

function source<Name extends keyof PersistentVolumeSource>(
  kind: Name,
  problems: (
    path: string,
    source: NonNullable<PersistentVolumeSource[Name]>,
    about: VolumeSourceContext,
  ) => FieldError[],
  { spelling = kind as string, path = kind as string }: { spelling?: string; path?: string } = {},
): Source {
  return {
    kind,
    spelling,
    problems: (at, spec, about) => {
      const given = spec[kind];
      // A condition only to the compiler: whoever calls this has seen the source.
      if (given === undefined) return [];
      return problems(childPath(at, path), given as NonNullable<PersistentVolumeSource[Name]>, about);
    },
  };
}

/** In the order in which they are looked for. */
const SOURCES: readonly Source[] = [
  source('hostPath', hostPathProblems),
  source('gcePersistentDisk', gcePersistentDiskProblems, { path: 'persistentDisk' }),
  source('awsElasticBlockStore', awsElasticBlockStoreProblems),
  source('glusterfs', glusterfsVolumeProblems),
  source('flocker', flockerProblems),
  source('nfs', nfsProblems),
  source('rbd', rbdProblems),
  source('quobyte', quobyteProblems),
  source('cephfs', cephFSProblems, { spelling: 'cephFS' }),
  source('iscsi', iscsiVolumeProblems),
  source('cinder', cinderVolumeProblems),
  source('fc', fcProblems),
  source('flexVolume', (path, given, { dialect }) => flexVolumeProblems(path, given, dialect)),
  source('azureFile', azureFileVolumeProblems),
  source('vsphereVolume', vsphereVolumeProblems),
  source('photonPersistentDisk', photonPersistentDiskProblems),
  source('portworxVolume', portworxVolumeProblems),
  source('azureDisk', azureDiskProblems),
  source('scaleIO', scaleIOVolumeProblems),
  {
    kind: 'local',
    spelling: 'local',
    problems: (at, { local }, { hasNodeAffinity }) => [
      ...(local === undefined ? [] : localVolumeProblems(childPath(at, 'local'), local)),
      ...(hasNodeAffinity ? [] : [required(childPath(at, 'nodeAffinity'), 'Local volume requires node affinity')]),
    ],
  },
  source('storageos', storageOSVolumeProblems),
  source('csi', csiVolumeProblems),
];

function glusterfsVolumeProblems(path: string, given: GlusterfsPersistentVolumeSource): FieldError[] {
  const { endpointsNamespace: namespace } = given;
  const found = glusterfsProblems(path, given);
  if (namespace === undefined) return found;
  const problems =
    namespace === ''
      ? ['if the endpointnamespace is set, it must be a valid namespace name']
      : dnsLabelProblems(namespace);
  const at = childPath(path, 'endpointsNamespace');
  return [...found, ...problems.map((problem) => invalid(at, namespace, problem))];
}

/** Names of targets and initiators, in one of three forms. */
const ISCSI_NAME = /^(?:iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$| \t\n\f\r]+|eui.[0-9a-zA-Z]{16}|naa.[0-9a-zA-Z]{32})$/;
const MAX_PORTAL_NAME = 64;

function iscsiVolumeProblems(
  path: string,
  given: ISCSIPersistentVolumeSource,
  { volumeName }: VolumeSourceContext,
): FieldError[] {
  const { targetPortal, iqn, lun, initiatorName, secretRef, chapAuthDiscovery, chapAuthSession } = given;
  const found = requiredProblems(path, { targetPortal });
  if (initiatorName !== undefined && byteLength(`${volumeName}:${targetPortal}`) > MAX_PORTAL_NAME) {
    const detail =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    found.push(invalid(childPath(path, 'targetportal'), targetPortal, detail));
  }
  found.push(...requiredProblems(path, { iqn }));
  if (iqn !== '') found.push(...iscsiNameProblems(childPath(path, 'iqn'), iqn));
  found.push(...lunProblems(childPath(path, 'lun'), lun));
  if ((chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined) {
    found.push(required(childPath(path, 'secretRef')));
  }
  if (secretRef !== undefined) found.push(...requiredProblems(childPath(path, 'secretRef'), { name: secretRef.name }));
  // The path is spelt like this.
  if (initiatorName !== undefined) found.push(...iscsiNameProblems(childPath(path, 'initiatorname'), initiatorName));
  return found;
}

function iscsiNameProblems(path: string, name: string): FieldError[] {
  return ISCSI_NAME.test(name) ? [] : [invalid(path, name, 'must be valid format')];
}

function cinderVolumeProblems(path: string, { volumeID, secretRef }: CinderPersistentVolumeSource): FieldError[] {
  return [...requiredProblems(path, { volumeID }), ...secretGivenProblems(childPath(path, 'secretRef'), secretRef)];
}

/** Both names must be there; whether they are names is not looked at. */
function secretGivenProblems(path: string, ref: SecretReference | undefined): FieldError[] {
  return ref === undefined ? [] : requiredProblems(path, { name: ref.name, namespace: ref.namespace });
}

function azureFileVolumeProblems(path: string, given: AzureFilePersistentVolumeSource): FieldError[] {
  const { secretName, shareName, secretNamespace } = given;
  const found = requiredProblems(path, { secretName, shareName });
  return secretNamespace === '' ? [...found, required(childPath(path, 'secretNamespace'))] : found;
}

function scaleIOVolumeProblems(path: string, given: ScaleIOPersistentVolumeSource): FieldError[] {
  const { gateway, system, volumeName } = given;
  return requiredProblems(path, { gateway, system, volumeName });
}

function localVolumeProblems(path: string, { path: target }: LocalVolumeSource): FieldError[] {
  return target === '' ? [required(childPath(path, 'path'))] : noBackstepsProblems(childPath(path, 'path'), target);
}

function storageOSVolumeProblems(path: string, given: StorageOSPersistentVolumeSource): FieldError[] {
  const { volumeName = '', volumeNamespace = '', secretRef } = given;
  const labelProblems = (field: string, value: string) =>
    value === '' ? [] : dnsLabelProblems(value).map((problem) => invalid(childPath(path, field), value, problem));
  return [
    ...requiredProblems(path, { volumeName }),
    ...labelProblems('volumeName', volumeName),
    ...labelProblems('volumeNamespace', volumeNamespace),
    ...secretGivenProblems(childPath(path, 'secretRef'), secretRef),
  ];
}

/** In the order of their checks; one reference is not checked at all. */
const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

function csiVolumeProblems(path: string, given: CSIPersistentVolumeSource): FieldError[] {
  return [
    ...driverNameProblems(childPath(path, 'driver'), given.driver),
    ...requiredProblems(path, { volumeHandle: given.volumeHandle }),
    ...CSI_SECRETS.flatMap((field) => secretProblems(childPath(path, field), given[field])),
  ];
}

function secretProblems(path: string, ref: SecretReference | undefined): FieldError[] {
  if (ref === undefined) return [];
  const { name = '', namespace = '' } = ref;
  const ofNames = [
    ['name', name, dnsSubdomainProblems],
    ['namespace', namespace, dnsLabelProblems],
  ] as const;
  return ofNames.flatMap(([field, value, problems]) => {
    const at = childPath(path, field);
    return value === '' ? [required(at)] : problems(value).map((problem) => invalid(at, value, problem));
  });
}

/** For volumes, and for those that an attachment holds inline. Further defaults of sources stand in their schemas. */
export function volumeSourceDefaults(spec: InlineVolumeSpec | undefined): void {
  if (spec === undefined) return;
  roundResourceList(spec.capacity);
  const { azureFile, scaleIO } = spec;
  // These two are on the wire always, as null if need be, and in their places.
  if (azureFile !== undefined) azureFile.secretNamespace ??= null;
  if (scaleIO !== undefined) {
    const { gateway, system, secretRef = null, ...rest } = scaleIO;
    spec.scaleIO = { gateway, system, secretRef, ...rest };
  }
}
