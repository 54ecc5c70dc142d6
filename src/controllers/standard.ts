/**
 * The set of controllers that a complete cluster runs (kube-controller-manager's), each with its default options.
 */

import { refuseUnknownOptions } from '../util/options.js';
import { type ApiServicesOptions, apiServices } from './api-services.js';
import { bootstrapSigner } from './bootstrap-tokens/bootstrap-signer.js';
import { type LegacyTokenCleanerOptions, legacyTokenCleaner } from './bootstrap-tokens/legacy-token-cleaner.js';
import { tokenCleaner } from './bootstrap-tokens/token-cleaner.js';
import {
  type CertificateSigningOptions,
  certificateApproval,
  certificateCleaning,
  certificateSigning,
} from './certificates/certificate-requests.js';
import { cronJobs } from './cron-job/cron-jobs.js';
import { disruptionBudgets } from './disruption-budgets.js';
import { endpointSlices } from './endpoint-slices/endpoint-slices.js';
import { endpointSliceMirroring } from './endpoint-slices/mirroring.js';
import { endpoints } from './endpoints/endpoints.js';
import { garbageCollector } from './garbage-collector/garbage-collector.js';
import {
  type HorizontalAutoscalersOptions,
  horizontalAutoscalers,
} from './horizontal-autoscaler/horizontal-autoscalers.js';
import { type NamespacesOptions, namespaces } from './namespaces/namespaces.js';
import { type NodeLifecycleOptions, nodeLifecycle } from './node-lifecycle/node-lifecycle.js';
import { taintEviction } from './node-lifecycle/taint-eviction.js';
import { type PodCollectorOptions, podCollector } from './pod-collector.js';
import { resourceQuotas } from './resource-quota.js';
import { clusterRoleAggregation } from './role-aggregation.js';
import { rootCertificates } from './root-certificates.js';
import type { Controller } from './runtime/controller.js';
import { serviceAccounts, serviceAccountTokens } from './service-accounts.js';
import { clusterAddresses, type ServiceRangesOptions, serviceRanges } from './service-ranges.js';
import { storageVersionMigrations } from './storage-version-migrations.js';
import { type EventTtlOptions, eventTtl, nodeTtl, ttlAfterFinished } from './ttl.js';
import { persistentVolumes } from './volumes/persistent-volumes.js';
import { claimProtection, ephemeralVolumes, volumeProtection } from './volumes/pod-claims.js';
import { volumeProvisioner } from './volumes/volume-provisioner.js';
import { daemonSets } from './workloads/daemon-set/daemon-sets.js';
import { deployments } from './workloads/deployment/deployments.js';
import { jobs } from './workloads/job/jobs.js';
import { replicaSets, replicationControllers } from './workloads/replica-sets.js';
import { statefulSets } from './workloads/stateful-set/stateful-sets.js';

/** Options of individual controllers. */
interface OwnOptions {
  /** The metrics source and the timing of horizontal pod autoscalers. */
  readonly autoscaling?: HorizontalAutoscalersOptions | undefined;
  readonly serviceRanges?: ServiceRangesOptions | undefined;
  /** The lifetime of Events. */
  readonly events?: EventTtlOptions | undefined;
  /** When unused service account tokens in Secrets are deleted. */
  readonly legacyTokenCleaner?: LegacyTokenCleanerOptions | undefined;
  readonly namespaces?: NamespacesOptions | undefined;
  /** The grace periods of nodes and the rates of evictions. */
  readonly nodeLifecycle?: NodeLifecycleOptions | undefined;
  readonly podCollector?: PodCollectorOptions | undefined;
  /** The CA bundle that pods use to verify the server, as PEM text; see `rootCertificates`. */
  readonly certificate?: string | undefined;
  readonly certificateSigning?: CertificateSigningOptions | undefined;
  /** Provisioners of storage classes that are simulated here; none unless given. See `volumeProvisioner`. */
  readonly provisioners?: readonly string[] | undefined;
  /** The backends of aggregated API versions. */
  readonly apiServices?: ApiServicesOptions | undefined;
}

/** Constructors by controller name, in start order. */
const STANDARD = {
  'endpoints-controller': () => endpoints(),
  'endpointslice-controller': () => endpointSlices(),
  'endpointslice-mirroring-controller': () => endpointSliceMirroring(),
  'horizontal-pod-autoscaler-controller': ({ autoscaling }) => horizontalAutoscalers(autoscaling),
  'service-cidr-controller': ({ serviceRanges: own }) => serviceRanges(own),
  'ipallocator-repair-controller': () => clusterAddresses(),
  'event-ttl': ({ events }) => eventTtl(events),
  'garbage-collector-controller': () => garbageCollector(),
  'namespace-controller': ({ namespaces: own }) => namespaces(own),
  'serviceaccount-controller': () => serviceAccounts(),
  'serviceaccount-token-controller': ({ certificate }) => serviceAccountTokens({ certificate }),
  'legacy-serviceaccount-token-cleaner-controller': ({ legacyTokenCleaner: own }) => legacyTokenCleaner(own),
  'bootstrap-signer-controller': () => bootstrapSigner(),
  'token-cleaner-controller': () => tokenCleaner(),
  'root-ca-certificate-publisher-controller': ({ certificate }) => rootCertificates({ certificate }),
  'resourcequota-controller': () => resourceQuotas(),
  'clusterrole-aggregation-controller': () => clusterRoleAggregation(),
  'deployment-controller': () => deployments(),
  'replicaset-controller': () => replicaSets(),
  'replicationcontroller-controller': () => replicationControllers(),
  'statefulset-controller': () => statefulSets(),
  'daemonset-controller': () => daemonSets(),
  'job-controller': () => jobs(),
  'cronjob-controller': () => cronJobs(),
  'ttl-after-finished-controller': () => ttlAfterFinished(),
  'persistentvolume-binder-controller': () => persistentVolumes(),
  'persistentvolumeclaim-protection-controller': () => claimProtection(),
  'persistentvolume-protection-controller': () => volumeProtection(),
  'ephemeral-volume-controller': () => ephemeralVolumes(),
  'volume-provisioner': ({ provisioners = [] }) => volumeProvisioner({ provisioners }),
  'pod-garbage-collector-controller': ({ podCollector: own }) => podCollector(own),
  'node-lifecycle-controller': ({ nodeLifecycle: own }) => nodeLifecycle(own),
  'taint-eviction-controller': () => taintEviction(),
  'ttl-controller': () => nodeTtl(),
  'disruption-controller': () => disruptionBudgets(),
  'certificatesigningrequest-signing-controller': ({ certificateSigning: own }) => certificateSigning(own),
  'certificatesigningrequest-approving-controller': () => certificateApproval(),
  'certificatesigningrequest-cleaner-controller': () => certificateCleaning(),
  'apiservice-availability-controller': ({ apiServices: own }) => apiServices(own),
  'storage-version-migrator-controller': () => storageVersionMigrations(),
} as const satisfies Readonly<Record<string, (options: OwnOptions) => Controller>>;

/** The name of a controller of the standard set. */
export type StandardController = keyof typeof STANDARD;

/** Options of {@link standardControllers}. */
export interface StandardOptions extends OwnOptions {
  /** Controllers to leave out. */
  readonly without?: readonly StandardController[] | undefined;
}

const OPTIONS = [
  'without',
  'autoscaling',
  'serviceRanges',
  'events',
  'legacyTokenCleaner',
  'namespaces',
  'nodeLifecycle',
  'podCollector',
  'certificate',
  'certificateSigning',
  'provisioners',
  'apiServices',
] as const satisfies readonly (keyof StandardOptions)[];

/**
 * Returns all standard controllers. Each one starts only if the cluster serves the kinds it needs.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers(standardControllers()) });
 */
export function standardControllers(options: StandardOptions = {}): readonly Controller[] {
  refuseUnknownOptions('standardControllers', options, OPTIONS);
  const unwanted: ReadonlySet<string> = new Set(options.without);
  // JavaScript callers have no compiler that checks the names.
  const unknown = [...unwanted].filter((name) => !Object.hasOwn(STANDARD, name));
  if (unknown.length > 0) {
    const names = Object.keys(STANDARD).join(', ');
    throw new TypeError(`orchplane: no controller is named ${unknown.join(', ')}; there are ${names}`);
  }
  return Object.entries(STANDARD)
    .filter(([name]) => !unwanted.has(name))
    .map(([, make]) => {
      const controller = make(options);
      return { ...controller, optional: true, start: (context) => controller.start(context) };
    });
}
