/**
 * Whether a pod spec references Secrets or ConfigMaps. Indirect references do not count.
 */
import { allContainers } from '../../kinds/core/v1/pod-spec/defaults.js';
import type { PodSpec, Volume } from '../../kinds/generated/core-v1.js';
import type { DeepReadonly } from '../../meta/object.js';

export function referencesSecret(spec: PodSpec): boolean {
  return secretNames(spec).some(Boolean);
}

/** The names of the Secrets that the spec references. */
export function secretNames(spec: DeepReadonly<PodSpec>): (string | undefined)[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  return [
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...[...initContainers, ...containers, ...ephemeralContainers].flatMap(({ env, envFrom }) => [
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
  return [
    ...allContainers(spec).flatMap(({ env, envFrom }) => [
      ...(envFrom ?? []).map(({ configMapRef }) => configMapRef?.name),
      ...(env ?? []).map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(({ projected, configMap }) =>
      projected ? (projected.sources ?? []).map((source) => source.configMap?.name) : [configMap?.name],
    ),
  ].some(Boolean);
}
