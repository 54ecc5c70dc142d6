/**
 * The options of every verb as a caller writes them. How they become the options of a request stands in
 * `request-options.ts`. Words are those of the specification, but for three that are shorter here: `labels`
 * (labelSelector), `fields` (fieldSelector) and `propagation` (propagationPolicy).
 */
import type { PropagationPolicy } from '../kinds/kind.js';
import type { Preconditions, User } from '../protocol/request.js';
import type { FieldsOption, LabelsOption } from './selectors.js';

/** What the server does with fields it does not know: drops them, drops them with a warning, or refuses. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Gives up waiting. An aborted promise rejects with the signal's reason; an aborted stream ends. */
export interface AbortOptions {
  /** A write that was sent already may still happen. */
  readonly signal?: AbortSignal;
}

export interface GetOptions extends AbortOptions {
  /** Not older than this version; absent: the most recent. */
  readonly resourceVersion?: string;
}

export interface SelectOptions {
  readonly labels?: LabelsOption;
  readonly fields?: FieldsOption;
}

/** At which version a collection is read. spec: Consistent reads */
export interface VersionOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ListOptions extends SelectOptions, VersionOptions, AbortOptions {
  /** Most items to answer with; the rest is behind `metadata.continue`. */
  readonly limit?: number;
  /** The token of the page before; see `pages` for a loop that follows it. */
  readonly continue?: string;
}

export interface PagesOptions extends SelectOptions, VersionOptions, AbortOptions {
  /** Items per request; 500 unless given. */
  readonly pageSize?: number;
}

export interface WatchOptions extends SelectOptions, AbortOptions {
  /** Changes after this version; absent: everything there is as ADDED, then changes. */
  readonly resourceVersion?: string;
  /** Goes with `sendInitialEvents`, and only then. */
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /** The server ends the stream after this time. */
  readonly timeoutSeconds?: number;
}

export interface WriteOptions extends AbortOptions {
  /** Do everything but store the result. */
  readonly dryRun?: boolean;
  /** Who owns the fields that this write sets. `apply` does not go without one, here or on the client. */
  readonly fieldManager?: string;
  readonly fieldValidation?: FieldValidation;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields that others own; without it that is a Conflict. */
  readonly force?: boolean;
}

export interface EditOptions extends WriteOptions {
  /** How often to read and write before a Conflict is thrown; 10 unless given. */
  readonly attempts?: number;
}

export interface DeleteOptions extends AbortOptions {
  /** What happens to dependents. */
  readonly propagation?: PropagationPolicy;
  readonly gracePeriodSeconds?: number;
  /** What must hold of the live object; otherwise the delete fails with Conflict. */
  readonly preconditions?: Preconditions;
  readonly dryRun?: boolean;
}

export interface DeleteCollectionOptions extends SelectOptions, Omit<DeleteOptions, 'preconditions'> {
  /** Most objects to delete. */
  readonly limit?: number;
}

export interface WaitForOptions extends AbortOptions {
  /** On the transport's clock; absent: no limit. */
  readonly timeoutMs?: number;
}

/** What every call of a client assumes unless it says otherwise. */
export interface ClientDefaults {
  /** The namespace of `api(kind)`; `default` unless given. */
  readonly namespace?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: FieldValidation;
  /** Speak as this user. */
  readonly as?: User;
  /** Called with each warning that the server puts beside an answer. What it throws rejects the call. */
  readonly onWarning?: (warning: string) => void;
}
