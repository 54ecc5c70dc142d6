/**
 * One write on its way through the pipeline: its request, kind, user and options, and the warnings for the client.
 */

import { ADMINISTRATOR } from '../auth/identity.js';
import type { HookContext } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { SubresourceStrategy } from '../kinds/subresource.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { ApiRequest, User } from '../protocol/request.js';
import { append } from '../util/arrays.js';
import { hookContext, type ServerContext } from './context.js';
import { WarningList } from './warning-list.js';

export interface WriteOperation {
  /** The store, registry, clock and plugins of the cluster. */
  readonly server: ServerContext;
  readonly request: ApiRequest;
  readonly served: ServedKind;
  readonly dryRun: boolean;
  readonly user: User;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** Time, dialect and feature gates, for the hooks of the kind's strategy. */
  readonly hookContext: HookContext;
  /** In order, without duplicates, up to a limit. */
  readonly warnings: string[];
  /** Functions of plugins that run with the commit: quota charges. */
  readonly commitEffects: (() => void)[];
  /** The DeleteOptions, as plugins see them. */
  readonly deleteOptions: Readonly<Record<string, unknown>> | undefined;
  /** Part of a deletecollection: mutating plugins see the request for the collection only. */
  readonly isCollectionDelete: boolean;
  /** Top-level fields of a custom resource that an apply has pruned. */
  prunedParts: readonly string[];
  /** The apply of a custom resource leaves empty fields in its metadata, which are stored and never shown. */
  hasEmptyMetadata: boolean;
  /** The group and kind in the errors of the validation, as they were before an update of the status restored them. */
  groupKind: ServedKind['groupKind'];
  /** The namespace when an object was to be created in it, if other writes may happen before it is. */
  namespaceUid: string | undefined;
  /** `served` is the kind of a view of a custom resource. */
  readonly isViewOfDocument?: boolean;
}

/** Converts between an object and the view that a client updates in its place. */
export interface ViewUpdate {
  readonly kind: ServedKind;
  toView(object: ApiObject): ApiObject;
  /** The object after the update of its view. */
  fromView(view: DraftObject, live: ApiObject): DraftObject;
}

/** What a draft is written to. */
export interface WriteTarget {
  /** Undefined for a create. */
  readonly live: ApiObject | undefined;
  readonly subresource?: SubresourceStrategy | undefined;
  readonly view?: ViewUpdate | undefined;
  readonly fromUpdate?: boolean;
  /** A create starts again when its name is taken. */
  readonly retriesTakenName?: boolean;
}

/** Whether another write may happen before this one commits: a plugin, a conversion or the storage is asynchronous. */
export function mayRace({ server, served }: WriteOperation): boolean {
  if (server.store.shared !== undefined) return true;
  return server.hasUntrustedPlugins(served) || served.kind.customResourceHandler?.mayBeAsynchronous === true;
}

export function startWrite(
  context: ServerContext,
  request: ApiRequest,
  options: {
    readonly served: ServedKind;
    readonly dryRun: boolean;
    readonly warnings?: readonly string[];
    readonly deleteOptions?: Readonly<Record<string, unknown>>;
    readonly isCollectionDelete?: boolean;
  },
): WriteOperation {
  const { served, dryRun, warnings = [], deleteOptions, isCollectionDelete } = options;
  const list = new WarningList();
  append(list, warnings);
  return {
    server: context,
    request,
    served,
    dryRun,
    user: request.user ?? ADMINISTRATOR,
    namespace: served.namespaced ? (request.namespace ?? '') : '',
    hookContext: hookContext(context),
    warnings: list,
    commitEffects: [],
    deleteOptions,
    isCollectionDelete: isCollectionDelete === true,
    prunedParts: [],
    hasEmptyMetadata: false,
    groupKind: served.groupKind,
    namespaceUid: undefined,
  };
}
