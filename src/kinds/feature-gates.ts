/**
 * Feature gates: switches of the reference server that change what is served and which fields are kept. A gate has a
 * stage in each release: first alpha, then beta, then stable, and at last it is gone; or it is there to switch off what
 * went away. spec: Deprecation rules
 */
import { compareReleases, REFERENCE_RELEASE, type Release } from './lifecycle.js';

export type GateStage = 'Alpha' | 'Beta' | 'GA' | 'Deprecated';

/** The gates in force. */
export interface FeatureGates {
  enabled(gate: string): boolean;
  /** All that the release knows. */
  all(): readonly FeatureGate[];
}

export interface FeatureGate {
  readonly name: string;
  readonly stage: GateStage;
  readonly enabled: boolean;
}

interface Gate {
  readonly stage: GateStage;
  /** Alpha gates are off and GA gates on; a beta gate may be either. */
  readonly on: boolean;
  /** It has no effect: nothing but what it is anyway can be asked for. */
  readonly locked?: boolean;
}

const alpha: Gate = { stage: 'Alpha', on: false };
const beta: Gate = { stage: 'Beta', on: true };
const betaOff: Gate = { stage: 'Beta', on: false };
const ga: Gate = { stage: 'GA', on: true, locked: true };
/** What the library does in any case, whatever the stage is there. */
const alwaysOn: Gate = { stage: 'Beta', on: true, locked: true };
const deprecatedOn: Gate = { stage: 'Deprecated', on: true, locked: true };
const deprecatedOff: Gate = { stage: 'Deprecated', on: false, locked: true };
/** Brings back for a while what went away. */
const deprecatedSwitch: Gate = { stage: 'Deprecated', on: false };

/** Those that the library knows, with the stage that each has from a release on. */
const GATES: Readonly<Record<string, Readonly<Record<string, Gate>>>> = {
  APIResponseCompression: { '1.8': alpha, '1.16': beta },
  CBORServingAndStorage: { '1.32': alpha },
  ClusterTrustBundle: { '1.27': alpha, '1.33': betaOff },
  ClusterTrustBundleProjection: { '1.29': alpha, '1.33': betaOff },
  ContainerStopSignals: { '1.33': alpha },
  CoordinatedLeaderElection: { '1.31': alpha, '1.33': betaOff },
  CrossNamespaceVolumeDataSource: { '1.26': alpha },
  DeclarativeValidationTakeover: { '1.33': betaOff },
  DRAAdminAccess: { '1.32': alpha },
  DRADeviceTaints: { '1.33': alpha },
  DRAPartitionableDevices: { '1.33': alpha },
  DRAPrioritizedList: { '1.33': alpha },
  DRAResourceClaimDeviceStatus: { '1.32': alpha, '1.33': beta },
  DeploymentReplicaSetTerminatingReplicas: { '1.33': alpha },
  DynamicResourceAllocation: { '1.26': alpha, '1.32': betaOff },
  HPAConfigurableTolerance: { '1.33': alpha },
  HPAScaleToZero: { '1.16': alpha },
  ImageVolume: { '1.31': alpha, '1.33': betaOff },
  InPlacePodVerticalScaling: { '1.27': alpha, '1.33': beta },
  JobManagedBy: { '1.30': alpha, '1.32': beta },
  MatchLabelKeysInPodTopologySpread: { '1.25': alpha, '1.27': beta },
  MaxUnavailableStatefulSet: { '1.24': alpha },
  MutableCSINodeAllocatableCount: { '1.33': alpha },
  MutatingAdmissionPolicy: { '1.32': alpha },
  PodLevelResources: { '1.32': alpha },
  PodLifecycleSleepActionAllowZero: { '1.32': alpha, '1.33': beta },
  PodLogsQuerySplitStreams: { '1.32': alpha },
  PodObservedGenerationTracking: { '1.33': alpha },
  PodTopologyLabelsAdmission: { '1.33': alpha },
  PreferSameTrafficDistribution: { '1.33': alpha },
  ProcMountType: { '1.12': alpha, '1.31': betaOff, '1.33': beta },
  RecoverVolumeExpansionFailure: { '1.23': alpha, '1.32': beta },
  RecursiveReadOnlyMounts: { '1.30': alpha, '1.31': beta, '1.33': ga },
  RelaxedDNSSearchValidation: { '1.32': alpha, '1.33': beta },
  RelaxedEnvironmentVariableValidation: { '1.30': alpha, '1.32': beta },
  ResourceHealthStatus: { '1.31': alpha },
  SELinuxChangePolicy: { '1.32': alpha, '1.33': beta },
  ServiceAccountNodeAudienceRestriction: { '1.32': betaOff, '1.33': beta },
  ServiceAccountTokenNodeBinding: { '1.29': alpha, '1.31': beta, '1.33': ga },
  SidecarContainers: { '1.28': alpha, '1.29': beta, '1.33': ga },
  StatefulSetAutoDeletePVC: { '1.23': alpha, '1.27': beta, '1.32': ga },
  StorageVersionAPI: { '1.20': alpha },
  StorageVersionMigrator: { '1.30': alpha },
  SupplementalGroupsPolicy: { '1.31': alpha, '1.33': beta },
  UserNamespacesPodSecurityStandards: { '1.29': alpha },
  UserNamespacesSupport: { '1.25': alpha, '1.30': betaOff, '1.33': beta },
  VolumeAttributesClass: { '1.29': alpha, '1.31': betaOff },
  AggregatedDiscoveryRemoveBetaType: { '1.33': deprecatedOn },
  AllowInsecureKubeletCertificateSigningRequests: { '1.31': deprecatedSwitch },
  AllowServiceLBStatusOnNonLB: { '1.29': deprecatedOff },
  StorageNamespaceIndex: { '1.30': alwaysOn, '1.33': deprecatedOn },
  WatchList: { '1.27': alwaysOn },
};

/** Settings by gate; `AllAlpha` and `AllBeta` stand for every gate of that stage that is not named. */
export type FeatureGateSettings = Readonly<Record<string, boolean>>;

/** Throws TypeError for a gate that the release does not know, and for a setting that could have no effect. */
export function featureGates(
  settings: FeatureGateSettings = {},
  about: { readonly release?: Release; readonly warn?: (text: string) => void } = {},
): FeatureGates {
  const known = gatesOf(about.release ?? REFERENCE_RELEASE);
  for (const [name, on] of Object.entries(settings)) {
    if (name !== 'AllAlpha' && name !== 'AllBeta') checkSetting(name, on, { gate: known.get(name), known, ...about });
  }
  const all = [...known].map(([name, gate]) => ({ name, stage: gate.stage, enabled: isOn(name, gate, settings) }));
  const enabled = new Set(all.flatMap((gate) => (gate.enabled ? [gate.name] : [])));
  return Object.freeze({ enabled: (gate: string) => enabled.has(gate), all: () => all });
}

function checkSetting(
  name: string,
  on: boolean,
  about: {
    readonly gate: Gate | undefined;
    readonly known: ReadonlyMap<string, Gate>;
    readonly warn?: (text: string) => void;
  },
): void {
  const { gate, known, warn } = about;
  if (gate === undefined) {
    const names = ['AllAlpha', 'AllBeta', ...known.keys()].join(', ');
    throw new TypeError(`orchplane: unrecognized feature gate: ${name}; there are ${names}`);
  }
  if (gate.locked === true && on !== gate.on) {
    throw new TypeError(`orchplane: cannot set feature gate ${name} to ${on}, feature is locked to ${gate.on}`);
  }
  if (gate.stage !== 'GA' && gate.stage !== 'Deprecated') return;
  const what = gate.stage === 'GA' ? 'GA' : 'deprecated';
  warn?.(`Setting ${what} feature gate ${name}=${on}. It will be removed in a future release.`);
}

function gatesOf(release: Release): ReadonlyMap<string, Gate> {
  const gates = new Map<string, Gate>();
  for (const [name, stages] of Object.entries(GATES)) {
    let present: Gate | undefined;
    // In the order of the releases.
    for (const [since, gate] of Object.entries(stages)) if (compareReleases(since, release) <= 0) present = gate;
    if (present !== undefined) gates.set(name, present);
  }
  return gates;
}

function isOn(name: string, gate: Gate, settings: FeatureGateSettings): boolean {
  const { stage, on, locked } = gate;
  if (locked === true) return on;
  const all = stage === 'Alpha' ? settings['AllAlpha'] : stage === 'Beta' ? settings['AllBeta'] : undefined;
  return settings[name] ?? all ?? on;
}
