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
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes, AccessDecision, AccessReader } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { Registry } from '../registry/registry.js';
import type { ReusableParts } from '../schema/reuse.js';
import type { Store } from '../storage/store.js';
import { formatTime } from '../text/time/time.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import type { BookmarkTicker } from './bookmark-ticker.js';
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
  readonly view: ClusterView;
  /** False when no plugin can make a write of the kind asynchronous or write itself: then no other write comes between. */
  readonly pluginsMayBeAsynchronous: (served: ServedKind) => boolean;
  readonly access: AccessReader;
  /** Decides about a request, and notifies the access listeners. */
  readonly authorize: (user: User, attributes: AccessAttributes) => AccessDecision;
  /** Called with every decision about a request. */
  readonly accessListeners: Set<AccessListener>;
  readonly authentication: ClusterAuthentication;
  /** How long a list's later pages stay readable. spec: Chunked lists */
  readonly continueTokenMs: number;
  /** Open watches; they end with the cluster. */
  readonly watches: Set<RunningWatch>;
  readonly bookmarks: BookmarkTicker;
  /** Cache of {@link hookContext}. */
  readonly hookContextCache: HookContextCache;
  /** Parts of stored objects that are reused without decoding when a client sends them back. */
  readonly reusableParts: ReusableParts;
}

export type AccessListener = (user: User, attributes: AccessAttributes, decision: AccessDecision) => void;

/** The group of the option kinds (`ListOptions`, …) in Status messages, and the version of continue tokens. */
export function metaGroup(dialect: Dialect): string {
  return dialect.group(serviceGroup('meta'));
}

/** The WriteContext of the current second; all writes within a second share it. */
export function hookContext(context: ServerContext): HookContext {
  const second = Math.floor(context.clock.now() / 1000);
  const last = context.hookContextCache;
  if (last.second === second && last.context !== undefined) return last.context;
  last.second = second;
  last.context = Object.freeze({
    dialect: context.dialect,
    features: context.features,
    now: formatTime(second * 1000),
  });
  return last.context;
}

/** Cached, because formatting a time costs more than most steps of a write. */
export interface HookContextCache {
  second: number;
  context: HookContext | undefined;
}
