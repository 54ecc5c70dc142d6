/**
 * The reference server's feature gates that the library implements. They control which kinds are served and which
 * fields are kept. A gate has a stage in each release: alpha, beta, GA, then removed; or deprecated.
 * spec: Deprecation rules
 */
import { compareReleases, REFERENCE_RELEASE, type Release } from './lifecycle.js';

/** The stage of a gate in a release. */
export type GateStage = 'Alpha' | 'Beta' | 'GA' | 'Deprecated';

/** The feature gates of a cluster. */
export interface FeatureGates {
  enabled(gate: string): boolean;
  /** All gates of the release. */
  all(): readonly FeatureGate[];
}

/** The state of one gate. */
export interface FeatureGate {
  readonly name: string;
  readonly stage: GateStage;
  readonly enabled: boolean;
}

interface Gate {
  readonly stage: GateStage;
  /** The default: alpha gates are off, GA gates are on, a beta gate may be either. */
  readonly on: boolean;
  /** Settings other than the default are rejected. */
  readonly locked?: boolean;
}

const alpha: Gate = { stage: 'Alpha', on: false };
const beta: Gate = { stage: 'Beta', on: true };
const betaOff: Gate = { stage: 'Beta', on: false };
const ga: Gate = { stage: 'GA', on: true, locked: true };
/** Behaviour that the library cannot disable. */
const alwaysOn: Gate = { stage: 'Beta', on: true, locked: true };
const deprecatedOn: Gate = { stage: 'Deprecated', on: true, locked: true };
const deprecatedOff: Gate = { stage: 'Deprecated', on: false, locked: true };
/** Temporarily restores removed behaviour. */
const deprecatedSwitch: Gate = { stage: 'Deprecated', on: false };

/** The implemented gates, with the stage that each has from a release on. */
const GATES: Readonly<Record<string, Readonly<Record<string, Gate>>>> = {
  APIResponseCompression: { '1.8': alpha, '1.16': beta },
  AuthorizeNodeWithSelectors: { '1.31': alpha, '1.32': beta },
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
  WatchList: { '1.27': alpha, '1.32': beta, '1.33': betaOff },
};

/** Settings by gate; `AllAlpha` and `AllBeta` apply to the gates of that stage that are not listed. */
export type FeatureGateSettings = Readonly<Record<string, boolean>>;

/**
 * The gates of a release with these settings. Throws TypeError for an unknown gate and for a locked one that is
 * changed.
 */
export function featureGates(
  settings: FeatureGateSettings = {},
  options: { readonly release?: Release; readonly warn?: (text: string) => void } = {},
): FeatureGates {
  const gates = gatesOf(options.release ?? REFERENCE_RELEASE);
  for (const [name, on] of Object.entries(settings)) {
    if (name !== 'AllAlpha' && name !== 'AllBeta') checkSetting(name, on, gates, options.warn);
  }
  const all = [...gates].map(([name, gate]) => ({ name, stage: gate.stage, enabled: isOn(name, gate, settings) }));
  const enabled = new Set(all.flatMap((gate) => (gate.enabled ? [gate.name] : [])));
  return Object.freeze({ enabled: (gate: string) => enabled.has(gate), all: () => all });
}

function checkSetting(
  name: string,
  on: boolean,
  gates: ReadonlyMap<string, Gate>,
  warn: ((text: string) => void) | undefined,
): void {
  const gate = gates.get(name);
  if (gate === undefined) {
    const start = name.slice(0, 4).toLowerCase();
    const similar = [...gates.keys()].filter((each) => each.toLowerCase().startsWith(start)).join(', ');
    const hint = similar === '' ? '' : `; similar names: ${similar}`;
    throw new TypeError(`orchplane: unrecognized feature gate: ${name}${hint}`);
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
    // The entries are in release order.
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
