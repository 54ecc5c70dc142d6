/**
 * The context that every part of the server receives: the cluster's store, registry, clock and plugins. Nothing is
 * global, so clusters in one process are independent.
 */
import type { ClusterView } from '../admission/types.js';
import type { ClusterAuthentication } from '../auth/cluster-authentication.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { HookContext } from '../kinds/kind.js';
import type { Release } from '../kinds/lifecycle.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ClusterSettings } from '../kinds/shared/cluster-settings.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes, AccessDecision, ClusterAuthorizer } from '../protocol/access.js';
import type { RuntimeSlot } from '../protocol/connection.js';
import type { User } from '../protocol/request.js';
import type { Registry } from '../registry/registry.js';
import type { ReusableParts } from '../schema/reuse.js';
import type { Store } from '../storage/store.js';
import { formatTime } from '../text/time/time.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import type { BookmarkTicker } from './bookmark-ticker.js';
import type { DialectNameCheck } from './dialect-names.js';
import type { Plugins } from './plugins.js';
import type { RunningWatch } from './watch-stream.js';

export interface ServerContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  /** The Kubernetes release whose behaviour the server has. */
  readonly release: Release;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly admission: Plugins;
  readonly clusterView: ClusterView;
  /**
   * Whether the chain contains a plugin about which nothing is known: a user's plugin without `mayBeAsynchronous`, or a plugin
   * whose `mayBeAsynchronous` is true for the kind. Such a plugin may return a promise, write objects itself, change any part
   * of the draft, managedFields included, and keep references to what it sees. If false, no other write comes between the
   * steps of a write, and built-in plugins change the draft only as they declare.
   */
  readonly hasUntrustedPlugins: (served: ServedKind) => boolean;
  readonly access: ClusterAuthorizer;
  /**
   * Decides about a request, and notifies the access listeners. `source` is that of the request; a further check of the same
   * request has none.
   */
  readonly authorize: (user: User, attributes: AccessAttributes, source?: string) => AccessDecision;
  /** Called with every decision about a request. */
  readonly accessListeners: Set<AccessObserver>;
  readonly authentication: ClusterAuthentication;
  /** How long a list's later pages stay readable. spec: Chunked lists */
  readonly continueTokenMs: number;
  /** The maximum size of a stored object. */
  readonly maxObjectBytes: number;
  /** Open watches; they end with the cluster. */
  readonly watches: Set<RunningWatch>;
  readonly bookmarks: BookmarkTicker;
  /** Reports what clients do not see: see the option `onWarning`. */
  readonly warn: (warning: string) => void;
  readonly settings: ClusterSettings;
  readonly dialectNames: DialectNameCheck;
  /** What runs the pods of the cluster. */
  readonly runtimeSlot: RuntimeSlot;
  /** Cache of {@link hookContext}. */
  readonly hookContextCache: HookContextCache;
  /** Parts of stored objects that are reused without decoding when a client sends them back. */
  readonly reusableParts: ReusableParts;
}

/**
 * Called with a decision about a request. `source` is where the request comes from: `local`, `http`, the name of a
 * controller, or `controllers` for the informers that all controllers share.
 */
export type AccessListener = (
  user: User,
  attributes: AccessAttributes,
  decision: AccessDecision,
  source: string,
) => void;

export interface AccessListenerOptions {
  /** Whether a request that was refused is executed nevertheless. Absent: never. */
  readonly allows?: ((user: User, attributes: AccessAttributes, source: string) => boolean) | undefined;
}

/** A listener with its options. */
export interface AccessObserver extends AccessListenerOptions {
  readonly listener: AccessListener;
}

/** The group of the option kinds (`ListOptions`, …) in Status messages, and the version of continue tokens. */
export function metaGroup(dialect: Dialect): string {
  return dialect.group(serviceGroup('meta'));
}

/** The HookContext of the current second; all writes within a second share it. */
export function hookContext(context: ServerContext): HookContext {
  const second = Math.floor(context.clock.now() / 1000);
  const last = context.hookContextCache;
  if (last.second === second && last.context !== undefined) return last.context;
  last.second = second;
  last.context = Object.freeze({
    dialect: context.dialect,
    features: context.features,
    now: formatTime(second * 1000),
    settings: context.settings,
  });
  return last.context;
}

/** Cached, because formatting a time costs more than most steps of a write. */
export interface HookContextCache {
  second: number;
  context: HookContext | undefined;
}
