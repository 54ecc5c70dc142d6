/**
 * The rules of the volumes of a pod. This file finds the source of each volume; what a source must look like stands
 * in the files of its family, and what containers may do with volumes in `validate-mounts.ts`.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, forbidden, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { byteLength, dnsLabelProblems } from '../../../../meta/names.js';
import type { FeatureGates } from '../../../feature-gates.js';
import {
  claimNameFor,
  claimNameProblems,
  claimProblems,
  csiProblems,
  emptyDirProblems,
  ephemeralProblems,
  gitRepoProblems,
  hostPathProblems,
  imageProblems,
} from './local-source-rules.js';
import { configMapProblems, downwardAPIProblems, projectedProblems, secretProblems } from './projection-rules.js';
import {
  awsElasticBlockStoreProblems,
  azureDiskProblems,
  azureFileProblems,
  cephFSProblems,
  cinderProblems,
  fcProblems,
  flexVolumeProblems,
  flockerProblems,
  gcePersistentDiskProblems,
  glusterfsProblems,
  iscsiProblems,
  nfsProblems,
  photonPersistentDiskProblems,
  portworxVolumeProblems,
  quobyteProblems,
  rbdProblems,
  scaleIOProblems,
  storageOSProblems,
  vsphereVolumeProblems,
} from './storage-source-rules.js';
import type { VolumeSourceKind } from './validate-mounts.js';
import type { Volume } from './volume.js';

export { tokenVolumesProblems } from './projection-rules.js';
export {
  type MountContext as MountRules,
  type VolumeSourceKind,
  volumeDevicesProblems,
  volumeMountsProblems,
} from './validate-mounts.js';

/** What the rules of volumes need to know beside the volumes. */
export interface VolumeContext {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  /** The name of the pod; absent in a template, whose pods are still to be named. */
  readonly podName?: string | undefined;
}

/** The problems at `path` (`spec.volumes`), and the sources of those volumes that have none, by name. */
export function volumesProblems(
  path: string,
  volumes: readonly Volume[] | undefined,
  about: VolumeContext,
): { problems: FieldError[]; known: ReadonlyMap<string, VolumeSourceKind> } {
  const problems: FieldError[] = [];
  const known = new Map<string, VolumeSourceKind>();
  const created = createdClaims(volumes ?? [], about.podName ?? '');
  for (const [index, volume] of (volumes ?? []).entries()) {
    const at = keyPath(path, index);
    const { source, problems: ofSource } = sourceProblems(at, volume, about);
    const found = [...ofSource, ...nameProblems(childPath(at, 'name'), volume.name, known)];
    if (found.length === 0 && source !== undefined) known.set(volume.name, source);
    problems.push(...found);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && created.has(claimName)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      problems.push(invalid(childPath(at, 'persistentVolumeClaim.claimName'), claimName, detail));
    }
  }
  return { problems, known };
}

/** The claims that will be made for the pod's ephemeral volumes; nobody knows them before the pod has a name. */
function createdClaims(volumes: readonly Volume[], podName: string): ReadonlySet<string> {
  if (podName === '') return new Set();
  const ephemeral = volumes.filter((volume) => volume.ephemeral !== undefined);
  return new Set(ephemeral.map(({ name }) => claimNameFor(podName, name)));
}

/** Only names of volumes without problems are taken. */
function nameProblems(path: string, name: string, taken: ReadonlyMap<string, unknown>): FieldError[] {
  const found = name === '' ? [required(path)] : dnsLabelProblems(name).map((problem) => invalid(path, name, problem));
  return taken.has(name) ? [...found, duplicate(path, name)] : found;
}

function sourceProblems(
  at: string,
  volume: Volume,
  about: VolumeContext,
): { readonly source: VolumeSourceKind | undefined; readonly problems: FieldError[] } {
  const given = SOURCES.filter(({ kind }) => volume[kind] !== undefined);
  const [first] = given;
  if (first === undefined) return { source: undefined, problems: [required(at, 'must specify a volume type')] };
  const problems = given.flatMap((source) => [
    ...(source === first
      ? source.problems(at, volume, about)
      : [forbidden(childPath(at, source.spelling), 'may not specify more than 1 volume type')]),
    ...(source.kind === 'iscsi' ? portalProblems(at, volume) : []),
  ]);
  return { source: first.kind, problems };
}

/** Holds for every volume that has such a source, also where it is one too many. */
function portalProblems(at: string, { name, iscsi }: Volume): FieldError[] {
  if (iscsi?.initiatorName === undefined || byteLength(`${name}:${iscsi.targetPortal}`) <= 64) return [];
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(childPath(at, 'name'), name, detail)];
}

interface Source {
  readonly kind: VolumeSourceKind;
  /** How the source is called where it is one too many. */
  readonly spelling: string;
  readonly problems: (at: string, volume: Volume, about: VolumeContext) => FieldError[];
}

/** Two sources are spelt differently in messages, and one in the paths of what is wrong inside it. */
function source<Name extends VolumeSourceKind>(
  kind: Name,
  problems: (path: string, source: NonNullable<Volume[Name]>, about: VolumeContext) => FieldError[],
  { spelling = kind as string, path = kind as string }: { spelling?: string; path?: string } = {},
): Source {
  return {
    kind,
    spelling,
    problems: (at, volume, about) => {
      const given = volume[kind];
      // A condition only to the compiler: whoever calls this has seen the source.
      return given === undefined ? [] : problems(childPath(at, path), given as NonNullable<Volume[Name]>, about);
    },
  };
}

/** In the order in which they are looked for: of several the first is the one the volume has. */
const SOURCES: readonly Source[] = [
  source('emptyDir', emptyDirProblems),
  source('hostPath', hostPathProblems),
  source('gitRepo', gitRepoProblems),
  source('gcePersistentDisk', gcePersistentDiskProblems, { path: 'persistentDisk' }),
  source('awsElasticBlockStore', awsElasticBlockStoreProblems),
  source('secret', secretProblems),
  source('nfs', nfsProblems),
  source('iscsi', iscsiProblems),
  source('glusterfs', glusterfsProblems),
  source('flocker', flockerProblems),
  source('persistentVolumeClaim', claimProblems),
  source('rbd', rbdProblems),
  source('cinder', cinderProblems),
  source('cephfs', cephFSProblems, { spelling: 'cephFS' }),
  source('quobyte', quobyteProblems),
  source('downwardAPI', downwardAPIProblems, { spelling: 'downwarAPI' }),
  source('fc', fcProblems),
  source('flexVolume', (path, given, { dialect }) => flexVolumeProblems(path, given, dialect)),
  source('configMap', configMapProblems),
  source('azureFile', azureFileProblems),
  source('vsphereVolume', vsphereVolumeProblems),
  source('photonPersistentDisk', photonPersistentDiskProblems),
  source('portworxVolume', portworxVolumeProblems),
  source('azureDisk', azureDiskProblems),
  source('storageos', storageOSProblems),
  source('projected', projectedProblems),
  source('scaleIO', scaleIOProblems),
  source('csi', csiProblems),
  {
    kind: 'ephemeral',
    spelling: 'ephemeral',
    problems: (at, { name, ephemeral }, about) => [
      ...(ephemeral === undefined ? [] : ephemeralProblems(childPath(at, 'ephemeral'), ephemeral, about)),
      ...claimNameProblems(childPath(at, 'name'), about.podName ?? '', name),
    ],
  },
  source('image', (path, given, { podName }) => imageProblems(path, given, { inPod: podName !== undefined })),
];
