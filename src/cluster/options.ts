/**
 * How a cluster is to be: the options of `createCluster`.
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
import type { StorageSettings } from '../storage/memory-storage.js';
import type { ClusterState } from '../storage/state.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';

export interface ClusterOptions {
  /**
   * The kinds it serves, whatever their level; Namespace is always among them. Unless said otherwise: all built-in ones
   * that are stable or switched on by `runtimeConfig`.
   */
  readonly kinds?: readonly Kind[] | undefined;
  /** Which versions are on beyond the stable ones: `'api/all=true'`, `'resource.orch.io/v1beta1=true'`, … */
  readonly runtimeConfig?: RuntimeConfig | undefined;
  /** Feature gates by name; `AllAlpha` and `AllBeta` stand for many. */
  readonly featureGates?: FeatureGateSettings | undefined;
  /** The release of the reference server that it plays, from 1.22 on: which versions and gates there are. */
  readonly release?: Release | undefined;
  /** Told what is better not relied on: gates that will go, what `strict` finds. Absent: the console is. */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** The spelling of the service's own names; `orch` unless said otherwise. */
  readonly dialect?: DialectName | undefined;
  /** How much it remembers; see `memoryStorage`. */
  readonly storage?: StorageSettings | undefined;
  /**
   * What it starts with: objects exactly as they were stored, without events, and the version to go on from. Definitions
   * among them are served at once; default namespaces and what kinds bring along is added where it is absent. Objects of
   * kinds that are not served are refused with a TypeError that names them. See `captureCluster` of orchplane/testing.
   */
  readonly from?: ClusterState | undefined;
  /**
   * Where it lives beyond this process: `fileJournal(path)` of orchplane/node, `await indexedDbJournal(name)` of
   * orchplane/indexed-db. A cluster made with a journal that holds one is that cluster; `from` counts for a new one only.
   * Answers wait until what they tell of is durable. Forks have none. None unless said otherwise.
   */
  readonly journal?: Journal | undefined;
  /** Plugins in order; `defaultAdmission` unless said otherwise. */
  readonly admission?: readonly AdmissionPlugin[] | undefined;
  /** Who may do what: `rbac()` unless said otherwise. Members of system:masters may do everything. */
  readonly authorizer?: AuthorizerFactory | undefined;
  /** How those who ask over a wire are known, and how tokens of service accounts are made. */
  readonly authentication?: AuthenticationOptions | undefined;
  /**
   * Expressions of admission policies are checked against the types of what they match, and the findings stand in the
   * status of the policies. A controller of the reference server does that; off unless said otherwise.
   */
  readonly policyStatus?: boolean | undefined;
  /** Writes requests down; see `auditLog`. */
  readonly audit?: AuditLog | undefined;
  /**
   * What the library does not model fails with a StatusError of code 501 that points to docs/fidelity.md, instead of being
   * answered as well as may be. What a server accepts, but somebody who is not here would have to act on, is told to
   * `onWarning`, once. Off unless said otherwise.
   */
  readonly strict?: boolean | undefined;
  /** The machine's clock unless said otherwise. */
  readonly clock?: Clock | undefined;
  /** Random unless said otherwise. */
  readonly ids?: Ids | undefined;
  /**
   * Conversions between versions of custom kinds by functions of this process, by the name of the definition
   * (`widgets.example.com`); they take the place of its webhook, or of the strategy None.
   */
  readonly conversions?: Readonly<Record<string, ConvertObject>> | undefined;
  /** How webhooks are called; `fetch` unless said otherwise. */
  readonly webhooks?: Webhooks | undefined;
  /** What runs beside it on its own client: see `controllers()` of orchplane/controllers. None unless said otherwise. */
  readonly controllers?: ControllerStarter | undefined;
  /** Defaults of the cluster as a client: namespace, field manager, … */
  readonly client?: ClientDefaults | undefined;
}

/** What a fork may have of its own; everything else is taken from its parent. */
export type ForkOptions = Pick<ClusterOptions, 'clock' | 'ids' | 'client'>;

/** How a cluster reaches what is outside. */
export function externalCallsOf({ conversions = {}, webhooks }: ClusterOptions, ids: Ids): ExternalCalls {
  return { conversions, webhooks, uid: () => ids.uid() };
}

/** What strict mode has to know of a cluster. */
export function strictSettingOf(options: ClusterOptions): StrictSetting {
  return {
    hasControllers: options.controllers !== undefined,
    hasWebhooks: options.webhooks !== undefined,
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
