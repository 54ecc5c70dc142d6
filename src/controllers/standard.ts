/**
 * The controllers of a whole cluster, each with its ordinary options.
 */

import { refuseUnknownOptions } from '../util/options.js';
import { type ApiServicesOptions, apiServices } from './api-services/api-services.js';
import { certificateApproval } from './certificates/certificate-approval.js';
import { certificateCleaning } from './certificates/certificate-cleaning.js';
import { type CertificateSigningOptions, certificateSigning } from './certificates/certificate-signing.js';
import { cronJobs } from './cron-job/cron-jobs.js';
import { disruptionBudgets } from './disruption/disruption-budgets.js';
import { endpointSlices } from './endpoint-slices/endpoint-slices.js';
import { endpointSliceMirroring } from './endpoint-slices/mirroring.js';
import { endpoints } from './endpoints/endpoints.js';
import { type EventTtlOptions, eventTtl } from './event-ttl.js';
import { garbageCollector } from './garbage-collector/garbage-collector.js';
import {
  type HorizontalAutoscalersOptions,
  horizontalAutoscalers,
} from './horizontal-autoscaler/horizontal-autoscalers.js';
import { type NamespacesOptions, namespaces } from './namespaces/namespaces.js';
import { nodeTtl } from './node-ttl.js';
import { type PodCollectorOptions, podCollector } from './pod-collector.js';
import { resourceQuotas } from './resource-quota/resource-quotas.js';
import { clusterRoleAggregation } from './role-aggregation.js';
import { rootCertificates } from './root-certificates.js';
import type { Controller } from './runtime/controller.js';
import { serviceAccountTokens } from './service-account-tokens.js';
import { serviceAccounts } from './service-accounts.js';
import { clusterAddresses } from './service-ranges/cluster-addresses.js';
import { type ServiceRangesOptions, serviceRanges } from './service-ranges/service-ranges.js';
import { storageVersionMigrations } from './storage-version-migrations.js';
import { ttlAfterFinished } from './ttl-after-finished.js';
import { claimProtection } from './volumes/claim-protection.js';
import { ephemeralVolumes } from './volumes/ephemeral-volumes.js';
import { persistentVolumes } from './volumes/persistent-volumes.js';
import { volumeProtection } from './volumes/volume-protection.js';
import { volumeProvisioner } from './volumes/volume-provisioner.js';
import { daemonSets } from './workloads/daemon-set/daemon-sets.js';
import { deployments } from './workloads/deployment/deployments.js';
import { jobs } from './workloads/job/jobs.js';
import { replicaSets, replicationControllers } from './workloads/replica-set/replica-sets.js';
import { statefulSets } from './workloads/stateful-set/stateful-sets.js';

/** What the standard set may leave out or do differently. */
export interface StandardOptions {
  /** Names of controllers that are not wanted. */
  readonly without?: readonly string[] | undefined;
  /** Where autoscalers find numbers, and how they go about it. */
  readonly autoscaling?: HorizontalAutoscalersOptions | undefined;
  readonly serviceRanges?: ServiceRangesOptions | undefined;
  /** How long Events stay. */
  readonly events?: EventTtlOptions | undefined;
  readonly namespaces?: NamespacesOptions | undefined;
  readonly podCollector?: PodCollectorOptions | undefined;
  /** What pods know the server by, as PEM text; see `rootCertificates`. */
  readonly certificate?: string | undefined;
  readonly certificateSigning?: CertificateSigningOptions | undefined;
  /** Provisioners of storage classes that are played here; none unless given. See `volumeProvisioner`. */
  readonly provisioners?: readonly string[] | undefined;
  /** Who answers for versions that the server does not serve itself. */
  readonly apiServices?: ApiServicesOptions | undefined;
}

const OPTIONS = [
  'without',
  'autoscaling',
  'serviceRanges',
  'events',
  'namespaces',
  'podCollector',
  'certificate',
  'certificateSigning',
  'provisioners',
  'apiServices',
] as const satisfies readonly (keyof StandardOptions)[];

/**
 * Every controller there is, as far as the cluster serves what it needs.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers(standardControllers()) });
 */
export function standardControllers(options: StandardOptions = {}): readonly Controller[] {
  refuseUnknownOptions('standardControllers', options, OPTIONS);
  const { without = [], autoscaling, serviceRanges: ranges, events, certificate, provisioners = [] } = options;
  const all: readonly Controller[] = [
    endpoints(),
    endpointSlices(),
    endpointSliceMirroring(),
    horizontalAutoscalers(autoscaling),
    serviceRanges(ranges),
    clusterAddresses(),
    eventTtl(events),
    garbageCollector(),
    namespaces(options.namespaces),
    serviceAccounts(),
    serviceAccountTokens({ certificate }),
    rootCertificates({ certificate }),
    resourceQuotas(),
    clusterRoleAggregation(),
    deployments(),
    replicaSets(),
    replicationControllers(),
    statefulSets(),
    daemonSets(),
    jobs(),
    cronJobs(),
    ttlAfterFinished(),
    persistentVolumes(),
    claimProtection(),
    volumeProtection(),
    ephemeralVolumes(),
    volumeProvisioner({ provisioners }),
    podCollector(options.podCollector),
    nodeTtl(),
    disruptionBudgets(),
    certificateSigning(options.certificateSigning),
    certificateApproval(),
    certificateCleaning(),
    apiServices(options.apiServices),
    storageVersionMigrations(),
  ];
  const unknown = without.filter((name) => !all.some((controller) => controller.name === name));
  if (unknown.length > 0) {
    const names = all.map(({ name }) => name).join(', ');
    throw new TypeError(`orchplane: no controller is named ${unknown.join(', ')}; there are ${names}`);
  }
  return all
    .filter(({ name }) => !without.includes(name))
    .map((controller) => ({ ...controller, optional: true, start: (context) => controller.start(context) }));
}
