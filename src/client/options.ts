/**
 * The options of every verb as a caller writes them. How they become the options of a request stands in
 * `request-options.ts`. Words are those of the specification, but for three that are shorter here: `labels`
 * (labelSelector), `fields` (fieldSelector) and `propagation` (propagationPolicy).
 */
import type { PropagationPolicy } from '../kinds/kind.js';
import type { Preconditions, RequestOptions, User } from '../protocol/request.js';
import type { FieldsOption, LabelsOption } from './selectors.js';
import { fieldSelectorText, labelSelectorText } from './selectors.js';

/** What an option is called elsewhere, and here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  labelSelector: 'labels',
  fieldSelector: 'fields',
  propagationPolicy: 'propagation',
};

const SELECT = ['labels', 'fields', 'signal'];

const VERSION = ['resourceVersion', 'resourceVersionMatch'];

const LIST = [...SELECT, ...VERSION, 'limit', 'continue', 'pageSize'];

const WATCH = [...SELECT, ...VERSION, 'sendInitialEvents', 'allowWatchBookmarks', 'timeoutSeconds'];

const WRITE = ['dryRun', 'fieldManager', 'fieldValidation', 'signal', 'attempts'];

const APPLY = [...WRITE, 'force'];

const DELETE = ['propagation', 'gracePeriodSeconds', 'preconditions', 'dryRun', 'signal'];

const DELETE_COLLECTION = [...SELECT, ...DELETE, 'limit'];

/** Shared by every request without options. */
const NO_OPTIONS: RequestOptions = Object.freeze({});

const DRY_RUN: readonly string[] = Object.freeze(['All']);

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

/**
 * Refuses options that do not exist: a selector under a wrong name would select everything. The compiler refuses them
 * too, but not everybody has one.
 */
function known<Options extends object>(options: Options, names: readonly string[]): Options {
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const here = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
    const hint = here === undefined ? `there are: ${names.join(', ')}` : `it is called ${here} here`;
    throw new TypeError(`orchplane: there is no option ${name}; ${hint}`);
  }
  return options;
}

type Draft<Options> = { -readonly [Name in keyof Options]: Options[Name] };

/** The options of a write that says nothing itself; made once per client. */
export function writeDefaults(client: ClientDefaults): RequestOptions {
  return Object.freeze(withWriteOptions({}, client));
}

/** The options of a delete that says nothing itself. */
export function deleteDefaults(client: ClientDefaults): RequestOptions {
  return client.dryRun === true ? Object.freeze({ dryRun: DRY_RUN }) : NO_OPTIONS;
}

export function writeOptions(defaults: RequestOptions, options: WriteOptions | undefined): RequestOptions {
  return options === undefined ? defaults : withWriteOptions({ ...defaults }, known(options, WRITE));
}

export function applyOptions(defaults: RequestOptions, options: ApplyOptions | undefined): RequestOptions {
  if (options === undefined) return defaults;
  const request = withWriteOptions({ ...defaults }, known(options, APPLY));
  if (options.force !== undefined) request.force = options.force;
  return request;
}

export function getOptions(options: GetOptions | undefined): RequestOptions {
  return options?.resourceVersion === undefined ? NO_OPTIONS : { resourceVersion: options.resourceVersion };
}

export function selectOptions(options: SelectOptions): RequestOptions {
  return withSelectors({}, options);
}

export function listOptions(options: ListOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  const request = withSelectors({}, known(options, LIST));
  if (options.limit !== undefined) request.limit = options.limit;
  if (options.continue !== undefined) request.continue = options.continue;
  if (options.resourceVersion !== undefined) request.resourceVersion = options.resourceVersion;
  if (options.resourceVersionMatch !== undefined) request.resourceVersionMatch = options.resourceVersionMatch;
  return request;
}

export function watchOptions(options: WatchOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  const request = withSelectors({}, known(options, WATCH));
  if (options.resourceVersion !== undefined) request.resourceVersion = options.resourceVersion;
  if (options.resourceVersionMatch !== undefined) request.resourceVersionMatch = options.resourceVersionMatch;
  if (options.sendInitialEvents !== undefined) request.sendInitialEvents = options.sendInitialEvents;
  if (options.allowWatchBookmarks !== undefined) request.allowWatchBookmarks = options.allowWatchBookmarks;
  if (options.timeoutSeconds !== undefined) request.timeoutSeconds = options.timeoutSeconds;
  return request;
}

export function deleteOptions(defaults: RequestOptions, options: DeleteOptions | undefined): RequestOptions {
  return options === undefined ? defaults : withDeleteOptions(defaults, known(options, DELETE));
}

function withDeleteOptions(defaults: RequestOptions, options: DeleteOptions): Draft<RequestOptions> {
  const request = withDryRun({ ...defaults }, options.dryRun);
  if (options.propagation !== undefined) request.propagationPolicy = options.propagation;
  if (options.gracePeriodSeconds !== undefined) request.gracePeriodSeconds = options.gracePeriodSeconds;
  if (options.preconditions !== undefined) request.preconditions = options.preconditions;
  return request;
}

export function deleteCollectionOptions(
  defaults: RequestOptions,
  options: DeleteCollectionOptions | undefined,
): RequestOptions {
  if (options === undefined) return defaults;
  const request = withSelectors(withDeleteOptions(defaults, known(options, DELETE_COLLECTION)), options);
  if (options.limit !== undefined) request.limit = options.limit;
  return request;
}

function withWriteOptions(request: Draft<RequestOptions>, options: WriteOptions): Draft<RequestOptions> {
  if (options.fieldManager !== undefined) request.fieldManager = options.fieldManager;
  if (options.fieldValidation !== undefined) request.fieldValidation = options.fieldValidation;
  return withDryRun(request, options.dryRun);
}

/** `false` takes back what the client's defaults say. */
function withDryRun(request: Draft<RequestOptions>, dryRun: boolean | undefined): Draft<RequestOptions> {
  if (dryRun === true) request.dryRun = DRY_RUN;
  else if (dryRun === false) delete request.dryRun;
  return request;
}

function withSelectors(request: Draft<RequestOptions>, options: SelectOptions): Draft<RequestOptions> {
  if (options.labels !== undefined) request.labelSelector = labelSelectorText(options.labels);
  if (options.fields !== undefined) request.fieldSelector = fieldSelectorText(options.fields);
  return request;
}
