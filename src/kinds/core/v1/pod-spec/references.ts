/**
 * The Secrets and ConfigMaps that a pod spec references. Indirect references do not count.
 */
import type { DeepReadonly } from '../../../../meta/object.js';
import type { PodSpec, Volume } from '../../../generated/core-v1.js';

export function referencesSecret(spec: PodSpec): boolean {
  return secretNames(spec).some(Boolean);
}

/** The names of the Secrets that the spec references. An empty name is no reference. */
export function secretNames(spec: DeepReadonly<PodSpec>): (string | undefined)[] {
  return [
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(({ env, envFrom }) => [
      ...(envFrom ?? []).map(({ secretRef }) => secretRef?.name),
      ...(env ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(secretsOf),
  ];
}

/** Of several sources in one volume, the first in this order counts. */
function secretsOf(volume: DeepReadonly<Volume>): (string | undefined)[] {
  const { azureFile, cephfs, cinder, flexVolume, projected, rbd, secret, scaleIO, iscsi, storageos, csi } = volume;
  if (azureFile) return [azureFile.secretName];
  for (const source of [cephfs, cinder, flexVolume]) if (source) return [source.secretRef?.name];
  if (projected) return (projected.sources ?? []).map((source) => source.secret?.name);
  if (rbd) return [rbd.secretRef?.name];
  if (secret) return [secret.secretName];
  for (const source of [scaleIO, iscsi, storageos]) if (source) return [source.secretRef?.name];
  return [csi?.nodePublishSecretRef?.name];
}

export function referencesConfigMap(spec: PodSpec): boolean {
  return configMapNames(spec).some(Boolean);
}

/** The names of the ConfigMaps that the spec references. An empty name is no reference. */
export function configMapNames(spec: DeepReadonly<PodSpec>): (string | undefined)[] {
  return [
    ...containersOf(spec).flatMap(({ env, envFrom }) => [
      ...(envFrom ?? []).map(({ configMapRef }) => configMapRef?.name),
      ...(env ?? []).map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(({ projected, configMap }) =>
      projected ? (projected.sources ?? []).map((source) => source.configMap?.name) : [configMap?.name],
    ),
  ];
}

function containersOf({ initContainers = [], containers = [], ephemeralContainers = [] }: DeepReadonly<PodSpec>) {
  return [...initContainers, ...containers, ...ephemeralContainers];
}
