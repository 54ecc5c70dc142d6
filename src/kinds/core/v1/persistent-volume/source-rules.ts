/**
 * Defaulting and validation of PersistentVolume sources. Rules that pod volumes share are in `pod-spec`.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, type FieldError, forbidden, invalid, required } from '../../../../meta/field-error.js';
import { byteLength, dnsLabelProblems, dnsSubdomainProblems } from '../../../../meta/names.js';
import { append } from '../../../../util/arrays.js';
import type {
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  InlineVolumeSpec,
  ISCSIPersistentVolumeSource,
  LocalVolumeSource,
  PersistentVolumeSource,
  SecretReference,
  StorageOSPersistentVolumeSource,
} from '../../../generated/core-v1.js';
import { roundResourceList } from '../../../shared/resources.js';
import { driverNameProblems, hostPathProblems } from '../pod-spec/local-source-rules.js';
import { storageOSNameProblems, storageRules } from '../pod-spec/storage-source-rules.js';
import { lunProblems, noBackstepsProblems, requiredProblems } from '../pod-spec/volume-paths.js';

/** What validation of a source needs besides the source. */
export interface VolumeSourceContext {
  readonly dialect: Dialect;
  /** The name of the volume; empty for inline specs. */
  readonly volumeName: string;
  /** Local volumes require node affinity. */
  readonly hasNodeAffinity: boolean;
}

/** Validates that a spec at `path` has exactly one source, and the source. */
export function volumeSourceProblems(
  path: string,
  spec: PersistentVolumeSource,
  context: VolumeSourceContext,
): FieldError[] {
  const given = SOURCES.filter(({ kind }) => spec[kind] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((source, index) =>
    // The reference server does not reject flexVolume as a second source.
    index === 0 || source.kind === 'flexVolume'
      ? source.problems(path, spec, context)
      : [forbidden(childPath(path, source.spelling), 'may not specify more than 1 volume type')],
  );
}

interface Source {
  readonly kind: keyof PersistentVolumeSource;
  /** The spelling in the error for a second source. */
  readonly spelling: string;
  readonly problems: (at: string, spec: PersistentVolumeSource, context: VolumeSourceContext) => FieldError[];
}

function source<Name extends keyof PersistentVolumeSource>(
  kind: Name,
  problems: (
    path: string,
    source: NonNullable<PersistentVolumeSource[Name]>,
    context: VolumeSourceContext,
  ) => FieldError[],
  { spelling = kind as string, path = kind as string }: { spelling?: string; path?: string } = {},
): Source {
  return {
    kind,
    spelling,
    problems: (at, spec, context) => {
      const given = spec[kind];
      // Never undefined: the caller selects sources that are set.
      if (given === undefined) return [];
      return problems(childPath(at, path), given as NonNullable<PersistentVolumeSource[Name]>, context);
    },
  };
}

/** In the reference server's order. */
const SOURCES: readonly Source[] = [
  source('hostPath', hostPathProblems),
  source('gcePersistentDisk', storageRules.gcePersistentDisk, { path: 'persistentDisk' }),
  source('awsElasticBlockStore', storageRules.awsElasticBlockStore),
  source('glusterfs', glusterfsVolumeProblems),
  source('flocker', storageRules.flocker),
  source('nfs', storageRules.nfs),
  source('rbd', storageRules.rbd),
  source('quobyte', storageRules.quobyte),
  source('cephfs', storageRules.cephfs, { spelling: 'cephFS' }),
  source('iscsi', iscsiVolumeProblems),
  source('cinder', cinderVolumeProblems),
  source('fc', storageRules.fc),
  source('flexVolume', storageRules.flexVolume),
  source('azureFile', azureFileVolumeProblems),
  source('vsphereVolume', storageRules.vsphereVolume),
  source('photonPersistentDisk', storageRules.photonPersistentDisk),
  source('portworxVolume', storageRules.portworxVolume),
  source('azureDisk', storageRules.azureDisk),
  source('scaleIO', storageRules.scaleIO),
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
  const found = storageRules.glusterfs(path, given);
  if (namespace === undefined) return found;
  const problems =
    namespace === ''
      ? ['if the endpointnamespace is set, it must be a valid namespace name']
      : dnsLabelProblems(namespace);
  const at = childPath(path, 'endpointsNamespace');
  return [...found, ...problems.map((problem) => invalid(at, namespace, problem))];
}

/** Target and initiator names, in one of three formats. */
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
  append(found, requiredProblems(path, { iqn }));
  if (iqn !== '') append(found, iscsiNameProblems(childPath(path, 'iqn'), iqn));
  append(found, lunProblems(childPath(path, 'lun'), lun));
  if ((chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined) {
    found.push(required(childPath(path, 'secretRef')));
  }
  if (secretRef !== undefined) append(found, requiredProblems(childPath(path, 'secretRef'), { name: secretRef.name }));
  // The lower-case path is the reference server's.
  if (initiatorName !== undefined) append(found, iscsiNameProblems(childPath(path, 'initiatorname'), initiatorName));
  return found;
}

function iscsiNameProblems(path: string, name: string): FieldError[] {
  return ISCSI_NAME.test(name) ? [] : [invalid(path, name, 'must be valid format')];
}

function cinderVolumeProblems(path: string, { volumeID, secretRef }: CinderPersistentVolumeSource): FieldError[] {
  return [...requiredProblems(path, { volumeID }), ...requiredSecretProblems(childPath(path, 'secretRef'), secretRef)];
}

/** Both fields are required; their syntax is not validated. */
function requiredSecretProblems(path: string, ref: SecretReference | undefined): FieldError[] {
  return ref === undefined ? [] : requiredProblems(path, { name: ref.name, namespace: ref.namespace });
}

function azureFileVolumeProblems(path: string, given: AzureFilePersistentVolumeSource): FieldError[] {
  const found = storageRules.azureFile(path, given);
  return given.secretNamespace === '' ? [...found, required(childPath(path, 'secretNamespace'))] : found;
}

function localVolumeProblems(path: string, { path: target }: LocalVolumeSource): FieldError[] {
  return target === '' ? [required(childPath(path, 'path'))] : noBackstepsProblems(childPath(path, 'path'), target);
}

function storageOSVolumeProblems(path: string, given: StorageOSPersistentVolumeSource): FieldError[] {
  return [
    ...storageOSNameProblems(path, given),
    ...requiredSecretProblems(childPath(path, 'secretRef'), given.secretRef),
  ];
}

/** In the reference server's order. It does not validate `nodeStageSecretRef`. */
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

/** Sets the defaults of a spec or an inline spec in place. Independent defaults are part of the schemas. */
export function volumeSourceDefaults(spec: InlineVolumeSpec | undefined): void {
  if (spec === undefined) return;
  roundResourceList(spec.capacity);
  const { azureFile, scaleIO } = spec;
  // Always on the wire, null if absent; rebuilt to keep the wire order.
  if (azureFile !== undefined) azureFile.secretNamespace ??= null;
  if (scaleIO !== undefined) {
    const { gateway, system, secretRef = null, ...rest } = scaleIO;
    spec.scaleIO = { gateway, system, secretRef, ...rest };
  }
}
