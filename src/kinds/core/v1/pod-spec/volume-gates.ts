/**
 * Volumes behind feature gates: with the gate off they are taken out of what a client sends, unless the object had
 * such volumes before.
 */
import type { FeatureGates } from '../../../feature-gates.js';
import type { PodSpec } from './pod-spec.js';

/** Changes the spec of a pod or of a template. `live` is the one before, absent for new objects. */
export function dropDisabledVolumes(spec: PodSpec, live: PodSpec | undefined, features: FeatureGates): void {
  if (!features.enabled('ImageVolume') && !hasImages(live)) dropImages(spec);
  if (!features.enabled('ClusterTrustBundleProjection') && !hasTrustBundles(live)) dropTrustBundles(spec);
}

function hasImages(spec: PodSpec | undefined): boolean {
  return (spec?.volumes ?? []).some(({ image }) => image !== undefined);
}

/** The volumes go, and with them what mounts them. A list that becomes empty is not on the wire. */
function dropImages(spec: PodSpec): void {
  const { volumes = [] } = spec;
  const kept = volumes.filter(({ image }) => image === undefined);
  if (kept.length === volumes.length) return;
  const dropped = new Set(volumes.filter(({ image }) => image !== undefined).map(({ name }) => name));
  if (kept.length > 0) spec.volumes = kept;
  else delete spec.volumes;
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  for (const container of containers) {
    const mounts = (container.volumeMounts ?? []).filter(({ name }) => !dropped.has(name));
    if (mounts.length > 0) container.volumeMounts = mounts;
    else delete container.volumeMounts;
  }
}

function hasTrustBundles(spec: PodSpec | undefined): boolean {
  return (spec?.volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined),
  );
}

/** The source stays, and shows nothing. */
function dropTrustBundles(spec: PodSpec): void {
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) delete source.clusterTrustBundle;
  }
}
