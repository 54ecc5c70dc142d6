/**
 * Feature gates: switches of the reference server that change what is served and which fields are kept.
 */

export type GateStage = 'Alpha' | 'Beta' | 'GA';

/** The gates in force. */
export interface FeatureGates {
  enabled(gate: string): boolean;
}

interface Gate {
  readonly stage: GateStage;
  /** Alpha gates are off and GA gates on; a beta gate may be either. */
  readonly on: boolean;
}

const alpha: Gate = { stage: 'Alpha', on: false };
const beta: Gate = { stage: 'Beta', on: true };
const betaOff: Gate = { stage: 'Beta', on: false };
const ga: Gate = { stage: 'GA', on: true };

/** Those that the library asks about, with the stage they have in the reference release. */
const GATES: Readonly<Record<string, Gate>> = {
  APIResponseCompression: beta,
  CBORServingAndStorage: alpha,
  ClusterTrustBundle: betaOff,
  ClusterTrustBundleProjection: betaOff,
  ContainerStopSignals: alpha,
  CoordinatedLeaderElection: betaOff,
  CrossNamespaceVolumeDataSource: alpha,
  DRAAdminAccess: alpha,
  DRADeviceTaints: alpha,
  DRAPartitionableDevices: alpha,
  DRAPrioritizedList: alpha,
  DRAResourceClaimDeviceStatus: beta,
  DeploymentReplicaSetTerminatingReplicas: alpha,
  DynamicResourceAllocation: betaOff,
  HPAConfigurableTolerance: alpha,
  HPAScaleToZero: alpha,
  ImageVolume: betaOff,
  InPlacePodVerticalScaling: beta,
  JobManagedBy: beta,
  MatchLabelKeysInPodTopologySpread: beta,
  MaxUnavailableStatefulSet: alpha,
  MutableCSINodeAllocatableCount: alpha,
  MutatingAdmissionPolicy: alpha,
  PodLevelResources: alpha,
  PodLifecycleSleepActionAllowZero: beta,
  PodObservedGenerationTracking: alpha,
  PreferSameTrafficDistribution: alpha,
  ProcMountType: beta,
  RecoverVolumeExpansionFailure: beta,
  RecursiveReadOnlyMounts: ga,
  RelaxedDNSSearchValidation: beta,
  RelaxedEnvironmentVariableValidation: beta,
  ResourceHealthStatus: alpha,
  SELinuxChangePolicy: beta,
  ServiceAccountTokenNodeBinding: ga,
  SidecarContainers: ga,
  StatefulSetAutoDeletePVC: ga,
  StorageVersionAPI: alpha,
  StorageVersionMigrator: alpha,
  SupplementalGroupsPolicy: beta,
  UserNamespacesSupport: beta,
  VolumeAttributesClass: betaOff,
};

/** Settings by gate; `AllAlpha` and `AllBeta` stand for every gate of that stage that is not named. */
export type FeatureGateSettings = Readonly<Record<string, boolean>>;

/** Throws TypeError for a gate nobody knows, and for switching off what cannot be. */
export function featureGates(settings: FeatureGateSettings = {}): FeatureGates {
  for (const [name, on] of Object.entries(settings)) {
    if (name === 'AllAlpha' || name === 'AllBeta') continue;
    const gate = Object.hasOwn(GATES, name) ? GATES[name] : undefined;
    if (gate === undefined) {
      const known = ['AllAlpha', 'AllBeta', ...Object.keys(GATES)].join(', ');
      throw new TypeError(`orchplane: unrecognized feature gate: ${name}; there are ${known}`);
    }
    if (gate.stage === 'GA' && !on) {
      throw new TypeError(`orchplane: cannot set feature gate ${name} to false, feature is locked to true`);
    }
  }
  const enabled = new Set(Object.keys(GATES).filter((name) => isOn(name, settings)));
  return Object.freeze({ enabled: (gate: string) => enabled.has(gate) });
}

function isOn(name: string, settings: FeatureGateSettings): boolean {
  const gate = GATES[name];
  if (gate === undefined) return false;
  const all = gate.stage === 'Alpha' ? settings['AllAlpha'] : gate.stage === 'Beta' ? settings['AllBeta'] : undefined;
  return settings[name] ?? all ?? gate.on;
}
