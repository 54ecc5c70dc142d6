/**
 * The options of `createCluster`.
 */
import type { AdmissionPlugin } from '../admission/types.js';
import type { AuditLog } from '../audit/log.js';
import type { AuthorizerFactory } from '../auth/authorizer.js';
import type { AuthenticationOptions } from '../auth/cluster-authentication.js';
import type { ControllerStarter } from '../client/host.js';
import type { ClientDefaults } from '../client/options.js';
import type { FeatureGateSettings } from '../kinds/feature-gates.js';
import type { Kind } from '../kinds/kind.js';
import type { Release } from '../kinds/lifecycle.js';
import type { ConvertObject, ExternalCalls, Webhooks } from '../kinds/reconciler.js';
import type { DialectName } from '../meta/dialect.js';
import type { RuntimeConfig } from '../registry/availability.js';
import type { StrictSetting } from '../server/strict-rules.js';
import type { Journal } from '../storage/journal/types.js';
import type { SharedStorage, StorageSettings } from '../storage/memory-storage.js';
import type { ClusterState } from '../storage/state.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import { canConnectToAddresses } from '../webhook/connection.js';

export interface ClusterOptions {
  /**
   * The served kinds, whatever their stability; Namespace is always included. Default: all built-in kinds that are stable
   * or enabled by `runtimeConfig`.
   */
  readonly kinds?: readonly Kind[] | undefined;
  /** Enables versions beyond the stable ones: `'api/all=true'`, `'resource.orch.io/v1beta1=true'`, … */
  readonly runtimeConfig?: RuntimeConfig | undefined;
  /** Feature gates by name, including `AllAlpha` and `AllBeta`. */
  readonly featureGates?: FeatureGateSettings | undefined;
  /** The Kubernetes release, from 1.22 on: it determines the versions and feature gates. */
  readonly release?: Release | undefined;
  /**
   * Receives warnings about deprecated gates, stored objects that cannot be updated, failed watches, and from `strict`. Default: the
   * console.
   */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** The names of groups, labels and annotations; default: `orch`. */
  readonly dialect?: DialectName | undefined;
  /** Where objects are: `memoryStorage` with other limits, or `etcdStorage` of orchplane/etcd. */
  readonly storage?: StorageSettings | SharedStorage | undefined;
  /**
   * The initial state: objects exactly as they were stored, without events, and the resourceVersion to continue from. CRDs in
   * it are served at once; absent default namespaces and initial objects are added. Objects of kinds that are not served
   * cause a TypeError that names them. See `captureCluster` of orchplane/testing.
   */
  readonly from?: ClusterState | undefined;
  /**
   * Makes writes durable: `fileJournal(path)` of orchplane/node, `await indexedDbJournal(name)` of orchplane/indexed-db. A
   * journal that contains a cluster restores it; `from` applies to a new one only. Responses wait until what they show is
   * durable. Forks have no journal. Default: none.
   */
  readonly journal?: Journal | undefined;
  /** Admission plugins in order; default: `defaultAdmission`. */
  readonly admission?: readonly AdmissionPlugin[] | undefined;
  /**
   * The ranges of cluster IPs for Services: an IPv4 CIDR, an IPv6 CIDR, or one of each. The first family is the default.
   * Default: 10.0.0.0/16.
   */
  readonly serviceCidrs?: readonly string[] | undefined;
  /** False: pods with privileged containers are rejected. Default: true. */
  readonly allowPrivileged?: boolean | undefined;
  /** Default: `rbac()`. Members of system:masters may do everything. */
  readonly authorizer?: AuthorizerFactory | undefined;
  /** Authentication of remote clients, and the issuing of service account tokens. */
  readonly authentication?: AuthenticationOptions | undefined;
  /**
   * Type-checks the expressions of admission policies and writes the result to their status, as a controller of the
   * reference server does. Default: off.
   */
  readonly policyStatus?: boolean | undefined;
  /** Records requests; see `auditLog`. */
  readonly audit?: AuditLog | undefined;
  /**
   * Requests that depend on behaviour which the library does not model fail with a StatusError of code 501 that refers to
   * docs/fidelity.md. Requests that need a component which does not run here cause one call of `onWarning`. Default: off.
   */
  readonly strict?: boolean | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Default: random. */
  readonly ids?: Ids | undefined;
  /**
   * Functions that convert between versions of custom resources, by the name of the CRD (`widgets.example.com`). They
   * replace its conversion webhook, or the strategy None.
   */
  readonly conversions?: Readonly<Record<string, ConvertObject>> | undefined;
  /** How webhooks are called; default: as their client configurations say. */
  readonly webhooks?: Webhooks | undefined;
  /** Controllers to run; see `controllers()` of orchplane/controllers. Default: none. */
  readonly controllers?: ControllerStarter | undefined;
  /** Client defaults of the cluster: namespace, field manager, … */
  readonly client?: ClientDefaults | undefined;
}

/** Options that a fork may change. */
export type ForkOptions = Pick<ClusterOptions, 'clock' | 'ids' | 'client'>;

/** The conversion functions and webhook callers of a cluster. */
export function externalCallsOf({ conversions = {}, webhooks }: ClusterOptions, ids: Ids): ExternalCalls {
  return { conversions, webhooks, runtimeSlot: { runtime: undefined }, uid: () => ids.uid() };
}

/** The options that strict mode depends on. */
export function strictSettingOf(options: ClusterOptions): StrictSetting {
  return {
    hasControllers: options.controllers !== undefined,
    hasWebhooks: options.webhooks !== undefined || canConnectToAddresses(),
    converted: new Set(Object.keys(options.conversions ?? {})),
    hasPolicyStatus: options.policyStatus === true,
  };
}

export const CLUSTER_OPTIONS = [
  'kinds',
  'runtimeConfig',
  'featureGates',
  'release',
  'onWarning',
  'dialect',
  'storage',
  'from',
  'journal',
  'admission',
  'serviceCidrs',
  'allowPrivileged',
  'authorizer',
  'authentication',
  'audit',
  'policyStatus',
  'strict',
  'clock',
  'ids',
  'conversions',
  'webhooks',
  'controllers',
  'client',
] as const satisfies readonly (keyof ClusterOptions)[];
