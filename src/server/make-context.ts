/**
 * Builds the ServerContext, which every part of the server receives.
 */
import type { AdmissionPlugin, ClusterView } from '../admission/types.js';
import { type AuthorizerContext, type AuthorizerFactory, createClusterAuthorizer } from '../auth/authorizer.js';
import {
  type AccountTokensFactory,
  type AuthenticationOptions,
  createAuthentication,
} from '../auth/cluster-authentication.js';
import type { ExternalCalls } from '../kinds/reconciler.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { User } from '../protocol/request.js';
import type { StorageSettings } from '../storage/memory-storage.js';
import { getOrInsertComputed } from '../util/once.js';
import { BookmarkTicker } from './bookmark-ticker.js';
import { clusterView, lastChangeOf } from './cluster-view.js';
import type { AccessObserver, ServerContext } from './context.js';
import { type Plugins, pluginsOf } from './plugins.js';
import { keyIndex, objectReader } from './strategy-context.js';

export interface ContextParts
  extends Pick<
    ServerContext,
    | 'store'
    | 'registry'
    | 'features'
    | 'dialect'
    | 'dialectNames'
    | 'clock'
    | 'ids'
    | 'release'
    | 'reusableParts'
    | 'settings'
  > {
  readonly admission: readonly AdmissionPlugin[];
  readonly storage: StorageSettings;
  readonly authorizer: AuthorizerFactory;
  readonly authentication: AuthenticationOptions;
  readonly accountTokens: AccountTokensFactory | undefined;
  /** How conversions and webhooks are called. */
  readonly external: ExternalCalls;
  /** Receives warnings about stored objects. */
  readonly warn: (warning: string) => void;
}

export function makeContext(parts: ContextParts): ServerContext {
  const { store, registry, features, dialect, clock, ids, release } = parts;
  const objects = objectReader(store, registry);
  const setting: AuthorizerContext = {
    dialect,
    features,
    objects,
    index: (resource, keysOf) => keyIndex(resource, keysOf, { store, registry }),
    lastChange: lastChangeOf(store, dialect),
    warn: parts.warn,
  };
  const access = createClusterAuthorizer(parts.authorizer, setting);
  const listeners = new Set<AccessObserver>();
  const authorize = observedAuthorizer(access, listeners);
  const admission = pluginsOf(parts.admission, store, dialect);
  const base = { store, registry, features, dialect, clock, ids, access, authorize };
  // Without a spread: V8 gives each spread result its own hidden class.
  const context: ServerContext = {
    store,
    registry,
    features,
    dialect,
    clock,
    ids,
    access,
    authorize,
    admission,
    release,
    clusterView: clusterView(base, parts.external, () => context),
    hasUntrustedPlugins: createUntrustedPluginTest(admission, () => context.clusterView),
    accessListeners: listeners,
    authentication: createAuthentication(parts.authentication, { ...setting, clock, ids }, parts.accountTokens),
    continueTokenMs: parts.storage.continueTokenMs,
    maxObjectBytes: parts.storage.maxObjectBytes ?? Number.POSITIVE_INFINITY,
    watches: new Set(),
    bookmarks: new BookmarkTicker(clock, store),
    warn: parts.warn,
    runtimeSlot: parts.external.runtimeSlot,
    hookContextCache: { second: Number.NaN, context: undefined },
    reusableParts: parts.reusableParts,
    settings: parts.settings,
    dialectNames: parts.dialectNames,
  };
  return context;
}

/** Notifies listeners of decisions, and lets them allow what the authorizer refuses. */
function observedAuthorizer(
  access: ServerContext['access'],
  listeners: ReadonlySet<AccessObserver>,
): ServerContext['authorize'] {
  /** The sources of users, for further checks during a request. */
  const sources = new WeakMap<User, string>();
  return (user, attributes, source) => {
    const decision = access.decide(user, attributes);
    if (listeners.size === 0) return decision;
    if (source !== undefined) sources.set(user, source);
    const from = source ?? sources.get(user) ?? 'local';
    let { allowed } = decision;
    for (const { listener, allows } of listeners) {
      listener(user, attributes, decision, from);
      allowed ||= allows?.(user, attributes, from) === true;
    }
    return allowed === decision.allowed ? decision : { allowed, reason: 'allowed by a listener of the cluster' };
  };
}

/** The untrusted plugins of a chain; see {@link ServerContext.hasUntrustedPlugins}. */
interface UntrustedPlugins {
  /** There is a plugin of a user that does not declare when it is asynchronous. */
  readonly always: boolean;
  /** `mayBeAsynchronous` of the plugins that declare it. */
  readonly sometimes: readonly NonNullable<AdmissionPlugin['mayBeAsynchronous']>[];
}

const NO_UNTRUSTED_PLUGINS: UntrustedPlugins = Object.freeze({ always: false, sometimes: Object.freeze([]) });

/** Computed once per chain of plugins, which forks share. */
const untrustedByChain = new WeakMap<readonly AdmissionPlugin[], UntrustedPlugins>();

function untrustedPluginsOf(admission: readonly AdmissionPlugin[]): UntrustedPlugins {
  const always = admission.some(
    ({ mayBeAsynchronous, isBuiltIn }) => mayBeAsynchronous === undefined && isBuiltIn !== true,
  );
  const sometimes = admission.flatMap(({ mayBeAsynchronous }) =>
    mayBeAsynchronous === undefined ? [] : [mayBeAsynchronous],
  );
  return { always, sometimes };
}

/** Plugins of users may be asynchronous or write themselves; built-in plugins declare when they are. */
function createUntrustedPluginTest(admission: Plugins, view: () => ClusterView): (served: ServedKind) => boolean {
  let known: readonly AdmissionPlugin[] | undefined;
  let untrusted: UntrustedPlugins = NO_UNTRUSTED_PLUGINS;
  return (served) => {
    const active = admission.active();
    if (active !== known) {
      known = active;
      untrusted = getOrInsertComputed(untrustedByChain, active, untrustedPluginsOf);
    }
    if (untrusted.always) return true;
    for (const mayBeAsynchronous of untrusted.sometimes) if (mayBeAsynchronous(served, view())) return true;
    return false;
  };
}
