/**
 * Validation of a pod's volumes: names, and exactly one source per volume. The sources are validated in the `…-rules.ts`
 * files, and the mounts of containers in `validate-mounts.ts`.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, forbidden, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { byteLength, dnsLabelProblems } from '../../../../meta/names.js';
import { append } from '../../../../util/arrays.js';
import type { FeatureGates } from '../../../feature-gates.js';
import type { Volume } from '../../../generated/core-v1.js';
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
import { storageRules } from './storage-source-rules.js';
import type { VolumeSourceKind } from './validate-mounts.js';

/** What validation of volumes needs besides the volumes. */
export interface VolumeContext {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  /** The name of the pod; absent for templates. */
  readonly podName?: string | undefined;
}

/** Validates the volumes at `path` (`spec.volumes`). Also returns the sources of the valid volumes by name. */
export function volumesProblems(
  path: string,
  volumes: readonly Volume[] | undefined,
  context: VolumeContext,
): { problems: FieldError[]; volumeSources: ReadonlyMap<string, VolumeSourceKind> } {
  const problems: FieldError[] = [];
  const volumeSources = new Map<string, VolumeSourceKind>();
  const created = createdClaims(volumes ?? [], context.podName ?? '');
  for (const [index, volume] of (volumes ?? []).entries()) {
    const at = keyPath(path, index);
    const { source, problems: ofSource } = sourceProblems(at, volume, context);
    const found = [...ofSource, ...nameProblems(childPath(at, 'name'), volume.name, volumeSources)];
    if (found.length === 0 && source !== undefined) volumeSources.set(volume.name, source);
    append(problems, found);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && created.has(claimName)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      problems.push(invalid(childPath(at, 'persistentVolumeClaim.claimName'), claimName, detail));
    }
  }
  return { problems, volumeSources };
}

/** The names of the claims that will be created for the pod's ephemeral volumes. They require the pod's name. */
function createdClaims(volumes: readonly Volume[], podName: string): ReadonlySet<string> {
  if (podName === '') return new Set();
  const ephemeral = volumes.filter((volume) => volume.ephemeral !== undefined);
  return new Set(ephemeral.map(({ name }) => claimNameFor(podName, name)));
}

/** `taken` contains only the names of valid volumes. */
function nameProblems(path: string, name: string, taken: ReadonlyMap<string, unknown>): FieldError[] {
  const found = name === '' ? [required(path)] : dnsLabelProblems(name).map((problem) => invalid(path, name, problem));
  return taken.has(name) ? [...found, duplicate(path, name)] : found;
}

function sourceProblems(
  at: string,
  volume: Volume,
  context: VolumeContext,
): { readonly source: VolumeSourceKind | undefined; readonly problems: FieldError[] } {
  const given = SOURCES.filter(({ kind }) => volume[kind] !== undefined);
  const [first] = given;
  if (first === undefined) return { source: undefined, problems: [required(at, 'must specify a volume type')] };
  const problems = given.flatMap((source) => [
    ...(source === first
      ? source.problems(at, volume, context)
      : [forbidden(childPath(at, source.spelling), 'may not specify more than 1 volume type')]),
    ...(source.kind === 'iscsi' ? portalProblems(at, volume) : []),
  ]);
  return { source: first.kind, problems };
}

/** Also checked if iscsi is not the first source of the volume. */
function portalProblems(at: string, { name, iscsi }: Volume): FieldError[] {
  if (iscsi?.initiatorName === undefined || byteLength(`${name}:${iscsi.targetPortal}`) <= 64) return [];
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(childPath(at, 'name'), name, detail)];
}

interface Source {
  readonly kind: VolumeSourceKind;
  /** The spelling in the error about a second source. */
  readonly spelling: string;
  readonly problems: (at: string, volume: Volume, context: VolumeContext) => FieldError[];
}

/** `spelling` and `path` are given where the reference server's paths differ from the field name. */
function source<Name extends VolumeSourceKind>(
  kind: Name,
  problems: (path: string, source: NonNullable<Volume[Name]>, context: VolumeContext) => FieldError[],
  { spelling = kind as string, path = kind as string }: { spelling?: string; path?: string } = {},
): Source {
  return {
    kind,
    spelling,
    problems: (at, volume, context) => {
      const given = volume[kind];
      // Never undefined: the caller selects sources that are set.
      return given === undefined ? [] : problems(childPath(at, path), given as NonNullable<Volume[Name]>, context);
    },
  };
}

/** In the reference server's order: the first source that is set is the source of the volume. */
const SOURCES: readonly Source[] = [
  source('emptyDir', emptyDirProblems),
  source('hostPath', hostPathProblems),
  source('gitRepo', gitRepoProblems),
  source('gcePersistentDisk', storageRules.gcePersistentDisk, { path: 'persistentDisk' }),
  source('awsElasticBlockStore', storageRules.awsElasticBlockStore),
  source('secret', secretProblems),
  source('nfs', storageRules.nfs),
  source('iscsi', storageRules.iscsi),
  source('glusterfs', storageRules.glusterfs),
  source('flocker', storageRules.flocker),
  source('persistentVolumeClaim', claimProblems),
  source('rbd', storageRules.rbd),
  source('cinder', storageRules.cinder),
  source('cephfs', storageRules.cephfs, { spelling: 'cephFS' }),
  source('quobyte', storageRules.quobyte),
  source('downwardAPI', downwardAPIProblems, { spelling: 'downwarAPI' }),
  source('fc', storageRules.fc),
  source('flexVolume', storageRules.flexVolume),
  source('configMap', configMapProblems),
  source('azureFile', storageRules.azureFile),
  source('vsphereVolume', storageRules.vsphereVolume),
  source('photonPersistentDisk', storageRules.photonPersistentDisk),
  source('portworxVolume', storageRules.portworxVolume),
  source('azureDisk', storageRules.azureDisk),
  source('storageos', storageRules.storageos),
  source('projected', projectedProblems),
  source('scaleIO', storageRules.scaleIO),
  source('csi', csiProblems),
  {
    kind: 'ephemeral',
    spelling: 'ephemeral',
    problems: (at, { name, ephemeral }, context) => [
      ...(ephemeral === undefined ? [] : ephemeralProblems(childPath(at, 'ephemeral'), ephemeral, context)),
      ...claimNameProblems(childPath(at, 'name'), context.podName ?? '', name),
    ],
  },
  source('image', (path, given, { podName }) => imageProblems(path, given, { inPod: podName !== undefined })),
];
