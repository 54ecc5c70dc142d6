/**
 * What every part of the server is given: the cluster's store, names, clock and plugins. Nothing here is global, so
 * two clusters in one process never meet.
 */
import type { ClusterView } from '../admission/types.js';
import type { ClusterAuthentication } from '../auth/cluster-authentication.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { WriteContext } from '../kinds/kind.js';
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
import type { RunningWatch } from './event-stream.js';
import type { Plugins } from './plugins.js';

export interface ServerContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  /** The release that the server plays. */
  readonly release: Release;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly admission: Plugins;
  readonly view: ClusterView;
  /** False when no plugin can make a write of the kind wait or come back in: then no write is ever tried twice. */
  readonly pluginsMayWait: (served: ServedKind) => boolean;
  /** Who may do what. */
  readonly access: AccessReader;
  /** The same for the requests themselves: whoever keeps a record of what is asked for learns of it. */
  readonly authorize: (user: User, attributes: AccessAttributes) => AccessDecision;
  /** Told about every question that a request asks, and the answer. */
  readonly accessListeners: Set<AccessListener>;
  readonly authentication: ClusterAuthentication;
  /** How long a list's later pages stay readable. spec: Chunked lists */
  readonly continueTokenMs: number;
  /** Running watches, to be ended with the cluster. */
  readonly watches: Set<RunningWatch>;
  readonly bookmarks: BookmarkTicker;
  /** The moment of the last write; see {@link writeContext}. */
  readonly lastMoment: LastMoment;
  /** What it has stored, and takes as it is when it comes again. */
  readonly known: ReusableParts;
}

export type AccessListener = (user: User, attributes: AccessAttributes, decision: AccessDecision) => void;

/** The group of the option kinds (`ListOptions`, …) in Status messages, and the version of continue tokens. */
export function metaGroup(dialect: Dialect): string {
  return dialect.group(serviceGroup('meta'));
}

/** A strategy's view of the moment; all writes of one second share one. */
export function writeContext(context: ServerContext): WriteContext {
  const second = Math.floor(context.clock.now() / 1000);
  const last = context.lastMoment;
  if (last.second === second && last.moment !== undefined) return last.moment;
  last.second = second;
  last.moment = Object.freeze({
    dialect: context.dialect,
    features: context.features,
    now: formatTime(second * 1000),
  });
  return last.moment;
}

/** Kept, because printing a time costs more than most steps of a write. */
export interface LastMoment {
  second: number;
  moment: WriteContext | undefined;
}
