/**
 * Removes fields of a pod spec whose feature gate is disabled, unless the live object already uses the field.
 */
import type { FeatureGates } from '../../../feature-gates.js';
import type { Container, EphemeralContainer, PodSpec } from '../../../generated/core-v1.js';
import { allContainers } from './defaults.js';

/** Changes the spec of a pod or a template in place. `live` is absent for new objects. */
export function dropDisabledPodFields(spec: PodSpec, live: PodSpec | undefined, features: FeatureGates): void {
  dropDisabledVolumes(spec, live, features);
  for (const [gate, { isUsed, drop }] of Object.entries(GATED_FIELDS)) {
    if (!features.enabled(gate) && isUsed(spec) && !(live !== undefined && isUsed(live))) drop(spec);
  }
}

interface GatedField {
  readonly isUsed: (spec: PodSpec) => boolean;
  readonly drop: (spec: PodSpec) => void;
}

type AnyContainer = Container | EphemeralContainer;

/** A field of containers. */
function containerField(
  isUsed: (container: AnyContainer) => boolean,
  drop: (container: AnyContainer) => void,
): GatedField {
  return {
    isUsed: (spec) => allContainers(spec).some(isUsed),
    drop: (spec) => {
      for (const container of allContainers(spec)) drop(container);
    },
  };
}

const GATED_FIELDS: Readonly<Record<string, GatedField>> = {
  ContainerStopSignals: containerField(
    ({ lifecycle }) => lifecycle?.stopSignal !== undefined,
    (container) => {
      const { lifecycle } = container;
      if (lifecycle?.stopSignal === undefined) return;
      delete lifecycle.stopSignal;
      if (lifecycle.postStart === undefined && lifecycle.preStop === undefined) delete container.lifecycle;
    },
  ),
  DynamicResourceAllocation: {
    isUsed: ({ resourceClaims = [] }) => resourceClaims.length > 0,
    drop: (spec) => {
      delete spec.resourceClaims;
      for (const { resources } of allContainers(spec)) delete resources.claims;
    },
  },
  InPlacePodVerticalScaling: containerField(
    ({ resizePolicy = [] }) => resizePolicy.length > 0,
    (container) => {
      delete container.resizePolicy;
    },
  ),
  MatchLabelKeysInPodTopologySpread: {
    isUsed: ({ topologySpreadConstraints = [] }) =>
      topologySpreadConstraints.some((one) => one.matchLabelKeys !== undefined),
    drop: ({ topologySpreadConstraints = [] }) => {
      for (const constraint of topologySpreadConstraints) delete constraint.matchLabelKeys;
    },
  },
  PodLevelResources: {
    isUsed: ({ resources }) => resources !== undefined,
    drop: (spec) => {
      delete spec.resources;
    },
  },
  ProcMountType: containerField(
    ({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default',
    ({ securityContext }) => {
      if (securityContext?.procMount !== undefined) securityContext.procMount = 'Default';
    },
  ),
  SELinuxChangePolicy: {
    isUsed: ({ securityContext }) => securityContext.seLinuxChangePolicy !== undefined,
    drop: ({ securityContext }) => {
      delete securityContext.seLinuxChangePolicy;
    },
  },
  SupplementalGroupsPolicy: {
    isUsed: ({ securityContext }) => securityContext.supplementalGroupsPolicy !== undefined,
    drop: ({ securityContext }) => {
      delete securityContext.supplementalGroupsPolicy;
    },
  },
  UserNamespacesSupport: {
    isUsed: ({ hostUsers }) => hostUsers !== undefined,
    drop: (spec) => {
      delete spec.hostUsers;
    },
  },
};

/** The part of {@link dropDisabledPodFields} for volumes. */
export function dropDisabledVolumes(spec: PodSpec, live: PodSpec | undefined, features: FeatureGates): void {
  if (!features.enabled('ImageVolume') && !hasImages(live)) dropImages(spec);
  if (!features.enabled('ClusterTrustBundleProjection') && !hasTrustBundles(live)) dropTrustBundles(spec);
}

function hasImages(spec: PodSpec | undefined): boolean {
  return (spec?.volumes ?? []).some(({ image }) => image !== undefined);
}

/** Removes image volumes and their mounts. A list that becomes empty is deleted. */
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

/** Empties the projection sources but keeps them in the list. */
function dropTrustBundles(spec: PodSpec): void {
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) delete source.clusterTrustBundle;
  }
}
