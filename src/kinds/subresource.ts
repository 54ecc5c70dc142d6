/**
 * What can stand below an object: parts of it with rules of their own, views of it, actions on it, and lines to what runs
 * elsewhere. A kind lists its own; `kind.ts` has the rest of what a kind is.
 */
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { Verb } from '../protocol/request.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Column } from './columns.js';
import type { FeatureGates } from './feature-gates.js';
import type { Kind, MetadataStrictness, StrategyContext, UpdateRules, WriteContext } from './kind.js';
import type { ObjectReader } from './objects.js';
import type { ScalePaths } from './scale-paths.js';

/** A path below an object. */
export type AnySubresource = SubresourceStrategy | SubresourceView | SubresourceAction;

/** Another object that shows a part of this one, and changes it: `scale`. */
export interface SubresourceView {
  readonly type: 'view';
  readonly verbs: readonly Verb[];
  /** Of what is shown. */
  readonly kind: Kind;
  /** Of its tables; absent: those of what is shown. */
  readonly columns?: readonly Column[];
  /** The field of the object that `spec.replicas` of the view stands for; who owns one owns the other. */
  readonly replicasPath?: readonly string[];
  /** Where a scale looks, as a definition says it; users' kinds only. */
  readonly paths?: ScalePaths;
  /** `purpose`: what cannot be shown may still be changed. */
  readonly read: (live: ApiObject, context: WriteContext, purpose?: 'show' | 'change') => DraftObject;
  /** Does to the object what a changed view asks for. */
  readonly write: (view: ApiObject, draft: DraftObject, context: WriteContext) => void;
}

/** Something to be done with an object, asked for by creating another: `eviction`, `binding`, `token`. */
export interface SubresourceAction {
  readonly type: 'action';
  readonly verbs: readonly Verb[];
  /** Of the body. */
  readonly kind: Kind;
  /** Older versions in which the body may be written as well. */
  readonly alsoAccepts?: readonly string[];
  /** Answers with an object, 201. Failures are thrown. */
  readonly run: (body: DraftObject, context: StrategyContext) => MaybePromise<object>;
}

/** A line to something that runs elsewhere: the output of a container, a shell in it. Nothing runs here. */
export interface ConnectSubresource {
  readonly verbs: readonly Verb[];
  /** The kind of the options that go with it, as discovery names it. */
  readonly optionsKind: string;
  /** Paths below it are the other end's affair. */
  readonly allowsSubpaths?: boolean;
  /** What the address asks for, as plugins see it. Throws a StatusError where it cannot be read. */
  readonly options: (query: ConnectQuery) => object;
  /** Throws why there is no line; comes back when there is nothing to be heard at its end yet. */
  readonly open: (line: ConnectRequest) => void;
}

/** The parameters of a line's address. */
export type ConnectQuery = Readonly<Record<string, readonly string[]>>;

export interface ConnectRequest {
  /** As it was asked for: proxies let a scheme and a port stand around it. */
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly query: ConnectQuery;
  readonly objects: ObjectReader;
  readonly features: FeatureGates;
}

/** The same object, with its own verbs and its own idea of what a write may change. */
export interface SubresourceStrategy {
  readonly type?: undefined;
  readonly verbs: readonly Verb[];
  /** It cannot be had as a table, though the object can. */
  readonly tables?: false;
  /** What writes there can own; absent: all. */
  readonly ownableFields?: OwnableFields;
  readonly prepare: (draft: DraftObject, live: ApiObject, context: WriteContext) => void;
  readonly validate?: UpdateRules;
  /** Absent: strict, if the kind is built in. */
  readonly metadata?: MetadataStrictness | 'placed';
  /** What to tell the client about an object that is accepted all the same. */
  readonly warnings?: (next: ApiObject, live: ApiObject, context: WriteContext) => readonly string[];
}

/**
 * Of which fields a writer can become the owner at some address: not of those that a write there has no say in. Paths
 * have dots between their names; `*` is every item of a list.
 */
export type OwnableFields = { readonly except: readonly string[] } | { readonly only: readonly string[] };
