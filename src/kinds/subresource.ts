/**
 * The types of subresources: strategies (`status`), views (`scale`), actions (`eviction`) and connect subresources
 * (`exec`). A kind declares its subresources; `kind.ts` has the other members of a kind.
 */
import type { ApiObject, CommonInput, CommonObject, DraftObject } from '../meta/object.js';
import type { Connection, NodeRuntime } from '../protocol/connection.js';
import type { Verb } from '../protocol/request.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Column } from './columns.js';
import type { FeatureGates } from './feature-gates.js';
import type { HookContext, Kind, MetadataStrictness, Scope, StrategyContext, ValidateUpdate } from './kind.js';
import type { ObjectReader } from './objects.js';

/** A subresource that is not a connect subresource. */
export type AnySubresource<Object = unknown> = SubresourceStrategy<Object> | SubresourceView | SubresourceAction;

/** An object of another kind that represents a part of this object: `scale`. */
export interface SubresourceView {
  readonly type: 'view';
  readonly verbs: readonly Verb[];
  /** The kind of the view. */
  readonly kind: Kind;
  /** The columns of its tables; absent: those of the view's kind. */
  readonly columns?: readonly Column[];
  /** The field of the object that `spec.replicas` of the view sets; both have the same field managers. */
  readonly replicasPath?: readonly string[];
  /** The paths of a scale subresource in a CRD. Set for user-defined kinds only. */
  readonly paths?: ScalePaths;
  /** `purpose`: a view that cannot be read may still be updated. */
  readonly read: (live: ApiObject, context: HookContext, purpose?: 'show' | 'change') => DraftObject;
  /** Applies an updated view to the object. */
  readonly write: (view: ApiObject, draft: DraftObject, context: HookContext) => void;
}

/** An action on an object, requested by creating an object of another kind: `eviction`, `binding`, `token`. */
export interface SubresourceAction {
  readonly type: 'action';
  readonly verbs: readonly Verb[];
  /** The kind of the request body. */
  readonly kind: Kind;
  /** Older apiVersions of the body that are accepted too. */
  readonly alsoAccepts?: readonly string[];
  /** Runs the action and returns the response object (201). Throws a StatusError if it fails. */
  readonly run: (body: DraftObject, context: StrategyContext) => MaybePromise<object>;
}

/** Declares an action whose `run` receives the body in the type of its kind. */
export function defineAction<Body>(
  action: Omit<SubresourceAction, 'kind' | 'run'> & {
    readonly kind: Kind<Body, CommonInput, Scope, string, CommonObject>;
    readonly run: (body: DraftObject & Body, context: StrategyContext) => MaybePromise<object>;
  },
): SubresourceAction {
  return action as unknown as SubresourceAction;
}

/** A connection to a process outside the API server: container logs, exec, proxy. */
export interface ConnectSubresource {
  readonly verbs: readonly Verb[];
  /** The kind of its options object, as in discovery. */
  readonly optionsKind: string;
  /** Paths below it are accepted and belong to the backend. */
  readonly allowsSubpaths?: boolean;
  /** The options object that admission plugins receive. Throws a StatusError if the query is invalid. */
  readonly options: (query: ConnectQuery) => object;
  /** Throws the StatusError of a failed connection. Undefined: there is no output yet. */
  readonly open: (request: ConnectRequest) => MaybePromise<Connection> | undefined;
}

/** The query parameters of a connect request. */
export type ConnectQuery = Readonly<Record<string, readonly string[]>>;

/** A request to a connect subresource. */
export interface ConnectRequest {
  /** The name in the path. For proxies it may include a scheme and a port: `https:web:443`. */
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly query: ConnectQuery;
  readonly objects: ObjectReader;
  readonly features: FeatureGates;
  /** Absent: nothing runs in the pods of the cluster. */
  readonly runtime: NodeRuntime | undefined;
}

/** A subresource that reads and writes the object itself, with its own verbs and rules. */
export interface SubresourceStrategy<Object = unknown> {
  readonly type?: undefined;
  readonly verbs: readonly Verb[];
  /** An apply to the subresource of an absent object creates the object. */
  readonly createsOnApply?: true;
  /** False: the subresource cannot be returned as a table. */
  readonly tables?: false;
  /** Fields that writes to the subresource can own; absent: all. */
  readonly ownableFields?: OwnableFields;
  /** Reads other objects before the draft is prepared; `validate` reports what it found. */
  readonly lookUp?: (draft: DraftObject & Object, live: ApiObject & Object, context: StrategyContext) => void;
  /** Resets the fields that a write to the subresource cannot change. */
  readonly prepare: (draft: DraftObject & Object, live: ApiObject & Object, context: HookContext) => void;
  readonly validate?: ValidateUpdate<Object>;
  /** Absent: strict, if the kind is built in. */
  readonly metadataValidation?: MetadataStrictness | 'inValidate';
  /** Warnings about an object that is accepted. */
  readonly warnings?: (next: ApiObject & Object, live: ApiObject & Object, context: HookContext) => readonly string[];
}

/**
 * The fields that a field manager can own by writes to an endpoint. Fields that the endpoint resets cannot be owned.
 * Path segments are separated by dots; `*` matches every list item.
 */
export type OwnableFields = { readonly except: readonly string[] } | { readonly only: readonly string[] };

/** The fields behind a scale subresource, as paths in a CRD: `.spec.replicas`. */
export interface ScalePaths {
  /** Below `.spec`. */
  readonly specReplicasPath: string;
  /** Below `.status`. */
  readonly statusReplicasPath: string;
  /** The path of a serialized label selector. */
  readonly labelSelectorPath?: string;
}
