/**
 * Fields of a pod's spec behind feature gates: with the gate off they are taken out of what a client sends, unless
 * the object had them before.
 */
import type { FeatureGates } from '../../../feature-gates.js';
import type { Container, EphemeralContainer } from './container.js';
import { allContainers } from './defaults.js';
import type { PodSpec } from './pod-spec.js';

/** Changes the spec of a pod or of a template. `live` is the one before, absent for new objects. */
export function dropDisabledPodFields(spec: PodSpec, live: PodSpec | undefined, features: FeatureGates): void {
  dropDisabledVolumes(spec, live, features);
  for (const [gate, { used, drop }] of Object.entries(GATED)) {
    if (!features.enabled(gate) && used(spec) && !(live !== undefined && used(live))) drop(spec);
  }
}

interface Gated {
  readonly used: (spec: PodSpec) => boolean;
  readonly drop: (spec: PodSpec) => void;
}

type AnyContainer = Container | EphemeralContainer;

function ofContainers(used: (container: AnyContainer) => boolean, drop: (container: AnyContainer) => void): Gated {
  return {
    used: (spec) => allContainers(spec).some(used),
    drop: (spec) => {
      for (const container of allContainers(spec)) drop(container);
    },
  };
}

const GATED: Readonly<Record<string, Gated>> = {
  ContainerStopSignals: ofContainers(
    ({ lifecycle }) => lifecycle?.stopSignal !== undefined,
    (container) => {
      const { lifecycle } = container;
      if (lifecycle?.stopSignal === undefined) return;
      delete lifecycle.stopSignal;
      if (lifecycle.postStart === undefined && lifecycle.preStop === undefined) delete container.lifecycle;
    },
  ),
  DynamicResourceAllocation: {
    used: ({ resourceClaims = [] }) => resourceClaims.length > 0,
    drop: (spec) => {
      delete spec.resourceClaims;
      for (const { resources } of allContainers(spec)) delete resources.claims;
    },
  },
  InPlacePodVerticalScaling: ofContainers(
    ({ resizePolicy = [] }) => resizePolicy.length > 0,
    (container) => {
      delete container.resizePolicy;
    },
  ),
  MatchLabelKeysInPodTopologySpread: {
    used: ({ topologySpreadConstraints = [] }) =>
      topologySpreadConstraints.some((one) => one.matchLabelKeys !== undefined),
    drop: ({ topologySpreadConstraints = [] }) => {
      for (const constraint of topologySpreadConstraints) delete constraint.matchLabelKeys;
    },
  },
  PodLevelResources: {
    used: ({ resources }) => resources !== undefined,
    drop: (spec) => {
      delete spec.resources;
    },
  },
  ProcMountType: ofContainers(
    ({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default',
    ({ securityContext }) => {
      if (securityContext?.procMount !== undefined) securityContext.procMount = 'Default';
    },
  ),
  SELinuxChangePolicy: {
    used: ({ securityContext }) => securityContext.seLinuxChangePolicy !== undefined,
    drop: ({ securityContext }) => {
      delete securityContext.seLinuxChangePolicy;
    },
  },
  SupplementalGroupsPolicy: {
    used: ({ securityContext }) => securityContext.supplementalGroupsPolicy !== undefined,
    drop: ({ securityContext }) => {
      delete securityContext.supplementalGroupsPolicy;
    },
  },
  UserNamespacesSupport: {
    used: ({ hostUsers }) => hostUsers !== undefined,
    drop: (spec) => {
      delete spec.hostUsers;
    },
  },
};

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
