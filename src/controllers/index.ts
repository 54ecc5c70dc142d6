/**
 * Entry point of `orchplane/controllers`: the built-in controllers and the runtime for writing your own.
 */

export { type ApiServicesOptions, apiServices } from './api-services.js';
export { bootstrapSigner } from './bootstrap-tokens/bootstrap-signer.js';
export { type LegacyTokenCleanerOptions, legacyTokenCleaner } from './bootstrap-tokens/legacy-token-cleaner.js';
export { tokenCleaner } from './bootstrap-tokens/token-cleaner.js';
export {
  type CertificateAuthority,
  type CertificateAuthorityOptions,
  type CertificateTemplate,
  createCertificateAuthority,
} from './certificates/authority.js';
export {
  type CertificateSigningOptions,
  certificateApproval,
  certificateCleaning,
  certificateSigning,
} from './certificates/certificate-requests.js';
export { cronJobs } from './cron-job/cron-jobs.js';
export {
  type ControllerDefinition,
  defineController,
  type Failure,
  type Finalizer,
  type ObjectIdentifier,
  type ReconcileContext,
  type WatchContext,
  type WatchSource,
  watching,
} from './define-controller.js';
export { disruptionBudgets } from './disruption-budgets.js';
export { type EndpointSlicesOptions, endpointSlices } from './endpoint-slices/endpoint-slices.js';
export { type EndpointSliceMirroringOptions, endpointSliceMirroring } from './endpoint-slices/mirroring.js';
export { endpoints } from './endpoints/endpoints.js';
export { garbageCollector } from './garbage-collector/garbage-collector.js';
export {
  type HorizontalAutoscalersOptions,
  horizontalAutoscalers,
} from './horizontal-autoscaler/horizontal-autoscalers.js';
export type { MetricQuery, MetricSample, MetricsSource } from './horizontal-autoscaler/metrics.js';
export { type NamespacesOptions, namespaces } from './namespaces/namespaces.js';
export { type NodeLifecycleOptions, nodeLifecycle } from './node-lifecycle/node-lifecycle.js';
export { taintEviction } from './node-lifecycle/taint-eviction.js';
export { type PodCollectorOptions, podCollector } from './pod-collector.js';
export { type ResourceQuotasOptions, resourceQuotas } from './resource-quota.js';
export { clusterRoleAggregation } from './role-aggregation.js';
export { type RootCertificatesOptions, rootCertificates } from './root-certificates.js';
export type { Controller, ControllerContext, QueueOptions } from './runtime/controller.js';
export {
  eventRecorder,
  type Occurrence,
  type SeriesRecorder,
  type SeriesRecorderOptions,
} from './runtime/event-series.js';
export type { EventDetails, EventRecorder, EventType } from './runtime/events.js';
export {
  type Candidate,
  type LeaderCallbacks,
  type LeaderElection,
  type LeaderElectionOptions,
  leaderElection,
} from './runtime/leader-election.js';
export {
  type AnyObject,
  controllerOf,
  controllerReference,
  type HasMetadata,
  isControlledBy,
  type Owner,
} from './runtime/owners.js';
export { controllers, type RunningControllers, type RunOptions, runControllers } from './runtime/run.js';
export { keyOf, type Lookup, type ObjectName, SharedInformer, splitKey } from './runtime/shared-informer.js';
export {
  type Backoff,
  type Reconcile,
  type ReconcileResult,
  WorkQueue,
  type WorkQueueOptions,
} from './runtime/work-queue.js';
export {
  type ServiceAccountsOptions,
  type ServiceAccountTokensOptions,
  serviceAccounts,
  serviceAccountTokens,
} from './service-accounts.js';
export { clusterAddresses, type ServiceRangesOptions, serviceRanges } from './service-ranges.js';
export { debuggedPods } from './stages/debugged-pods.js';
export { type NodeStagesOptions, nodeStages } from './stages/node-stages.js';
export {
  type Completion,
  type CrashLoop,
  completes,
  crashLoop,
  type Evicted,
  evicted,
  type SlowStart,
  slowStart,
} from './stages/pod-ends.js';
export type { PodSelection } from './stages/pod-selection.js';
export {
  gatedPods,
  type ReadyPodsOptions,
  readyPods,
  removedPods,
  scheduledPods,
  startedPods,
} from './stages/ready-pods.js';
export { resizedPods } from './stages/resized-pods.js';
export {
  type Changes,
  type Delay,
  type Stage,
  type StageContext,
  type StageEvent,
  type StageRule,
  type StageSelector,
  stage,
} from './stages/stage.js';
export { type StagesOptions, stages } from './stages/stages.js';
export { type StandardController, type StandardOptions, standardControllers } from './standard.js';
export { storageVersionMigrations } from './storage-version-migrations.js';
export { type EventTtlOptions, eventTtl, nodeTtl, ttlAfterFinished } from './ttl.js';
export { persistentVolumes } from './volumes/persistent-volumes.js';
export { claimProtection, ephemeralVolumes, volumeProtection } from './volumes/pod-claims.js';
export { type VolumeProvisionerOptions, volumeProvisioner } from './volumes/volume-provisioner.js';
export { daemonSets } from './workloads/daemon-set/daemon-sets.js';
export { deployments } from './workloads/deployment/deployments.js';
export { jobs } from './workloads/job/jobs.js';
export { replicaSets, replicationControllers } from './workloads/replica-sets.js';
export { statefulSets } from './workloads/stateful-set/stateful-sets.js';
