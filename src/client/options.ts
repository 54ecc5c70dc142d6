/**
 * The options of all verbs, and their conversion to request options. Names follow the specification, except for three
 * that are shorter: `labels` (labelSelector), `fields` (fieldSelector) and `propagation` (propagationPolicy).
 */
import type { PropagationPolicy } from '../kinds/deletion.js';
import type { Preconditions, RequestOptions, User } from '../protocol/request.js';
import { type FieldsOption, fieldSelectorText, type LabelsOption, labelSelectorText } from './selectors.js';

/** How the server handles unknown fields: drops them, drops them with a warning, or rejects the request. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Cancellation. An aborted promise rejects with the signal's reason; an aborted stream ends. */
export interface AbortOptions {
  /** A write that was already sent may still take effect. */
  readonly signal?: AbortSignal;
}

/** The options of `get` and `find`. */
export interface GetOptions extends AbortOptions {
  /** Not older than this resourceVersion; absent: the most recent. */
  readonly resourceVersion?: string;
}

/** Selectors of a collection. */
export interface SelectOptions {
  readonly labels?: LabelsOption;
  readonly fields?: FieldsOption;
}

/** The revision at which a collection is read. spec: Consistent reads */
export interface VersionOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

/** The options of `list`. */
export interface ListOptions extends SelectOptions, VersionOptions, AbortOptions {
  /** The maximum number of items; `metadata.continue` leads to the rest. */
  readonly limit?: number;
  /** The token of the previous page; `pages` follows it automatically. */
  readonly continue?: string;
}

/** The options of `pages` and `items`. */
export interface PagesOptions extends SelectOptions, VersionOptions, AbortOptions {
  /** Items per request; 500 by default. */
  readonly pageSize?: number;
}

/** The options of `watch`. */
export interface WatchOptions extends SelectOptions, AbortOptions {
  /** Changes after this resourceVersion; absent: all existing objects as ADDED, then changes. */
  readonly resourceVersion?: string;
  /** Requires `sendInitialEvents`. */
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /** The server ends the stream after this time. */
  readonly timeoutSeconds?: number;
}

/** The options of `create`, `update` and `patch`. */
export interface WriteOptions extends AbortOptions {
  /** Do everything except storing the result. */
  readonly dryRun?: boolean;
  /** The field manager of this write. Required for `apply`, here or in the client's defaults. */
  readonly fieldManager?: string;
  readonly fieldValidation?: FieldValidation;
}

/** The options of `apply`. */
export interface ApplyOptions extends WriteOptions {
  /** Take ownership of conflicting fields; otherwise `apply` fails with Conflict. */
  readonly force?: boolean;
}

/** The options of `edit`. */
export interface EditOptions extends WriteOptions {
  /** The number of attempts before Conflict is thrown; 10 by default. */
  readonly attempts?: number;
}

/** The options of `delete`. */
export interface DeleteOptions extends AbortOptions {
  /** How dependents are handled. */
  readonly propagation?: PropagationPolicy;
  readonly gracePeriodSeconds?: number;
  /** Preconditions on the live object; otherwise the delete fails with Conflict. */
  readonly preconditions?: Preconditions;
  readonly dryRun?: boolean;
}

/** The options of `deleteCollection`. */
export interface DeleteCollectionOptions extends SelectOptions, Omit<DeleteOptions, 'preconditions'> {
  /** The maximum number of objects to delete. */
  readonly limit?: number;
}

/** The options of `waitFor`. */
export interface WaitForOptions extends AbortOptions {
  /** On the transport's clock; absent: no limit. */
  readonly timeoutMs?: number;
}

/** The defaults of all calls of a client. */
export interface ClientDefaults {
  /** The namespace of `api(kind)`; `default` by default. */
  readonly namespace?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: FieldValidation;
  /** Impersonate this user. */
  readonly as?: User;
  /** Called with each warning of the server. An error it throws rejects the call. */
  readonly onWarning?: (warning: string) => void;
}

/** Names of other clients, and the names used here. */
const RENAMED_OPTIONS: Readonly<Record<string, string>> = {
  labelSelector: 'labels',
  fieldSelector: 'fields',
  propagationPolicy: 'propagation',
};

/**
 * Rejects unknown options: a selector under a wrong name would select everything. TypeScript checks this too, but
 * JavaScript callers have no such check.
 */
function requireKnownOptions<Options extends object>(options: Options, names: readonly string[]): Options {
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const here = Object.hasOwn(RENAMED_OPTIONS, name) ? RENAMED_OPTIONS[name] : undefined;
    const hint = here === undefined ? `there are: ${names.join(', ')}` : `it is called ${here} here`;
    throw new TypeError(`orchplane: there is no option ${name}; ${hint}`);
  }
  return options;
}

const SELECT = ['labels', 'fields', 'signal'];

const VERSION = ['resourceVersion', 'resourceVersionMatch'] as const;

const LIST = [...SELECT, ...VERSION, 'limit', 'continue', 'pageSize'];

const WATCH_ONLY = [...VERSION, 'sendInitialEvents', 'allowWatchBookmarks', 'timeoutSeconds'] as const;

const WATCH = [...SELECT, ...WATCH_ONLY];

const WRITE = ['dryRun', 'fieldManager', 'fieldValidation', 'signal', 'attempts'];

const APPLY = [...WRITE, 'force'];

const DELETE = ['propagation', 'gracePeriodSeconds', 'preconditions', 'dryRun', 'signal'];

const DELETE_COLLECTION = [...SELECT, ...DELETE, 'limit'];

type Draft<Options> = { -readonly [Name in keyof Options]: Options[Name] };

/** Shared by all requests without options. */
const NO_OPTIONS: RequestOptions = Object.freeze({});

const DRY_RUN_ALL: readonly string[] = Object.freeze(['All']);

/** The options of a write without options; computed once per client. */
export function writeDefaults(client: ClientDefaults): RequestOptions {
  return Object.freeze(withWriteOptions({}, client));
}

/** The options of a delete without options. */
export function deleteDefaults(client: ClientDefaults): RequestOptions {
  return client.dryRun === true ? Object.freeze({ dryRun: DRY_RUN_ALL }) : NO_OPTIONS;
}

export function writeOptions(defaults: RequestOptions, options: WriteOptions | undefined): RequestOptions {
  return options === undefined ? defaults : withWriteOptions({ ...defaults }, requireKnownOptions(options, WRITE));
}

export function applyOptions(defaults: RequestOptions, options: ApplyOptions | undefined): RequestOptions {
  if (options === undefined) return defaults;
  return copyDefined(withWriteOptions({ ...defaults }, requireKnownOptions(options, APPLY)), options, ['force']);
}

export function getOptions(options: GetOptions | undefined): RequestOptions {
  return options?.resourceVersion === undefined ? NO_OPTIONS : { resourceVersion: options.resourceVersion };
}

export function selectOptions(options: SelectOptions): RequestOptions {
  return withSelectors({}, options);
}

export function listOptions(options: ListOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  const request = withSelectors({}, requireKnownOptions(options, LIST));
  return copyDefined(request, options, ['limit', 'continue', ...VERSION]);
}

export function watchOptions(options: WatchOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  return copyDefined(withSelectors({}, requireKnownOptions(options, WATCH)), options, WATCH_ONLY);
}

export function deleteOptions(defaults: RequestOptions, options: DeleteOptions | undefined): RequestOptions {
  return options === undefined ? defaults : withDeleteOptions(defaults, requireKnownOptions(options, DELETE));
}

function withDeleteOptions(defaults: RequestOptions, options: DeleteOptions): Draft<RequestOptions> {
  const request = withDryRun({ ...defaults }, options.dryRun);
  if (options.propagation !== undefined) request.propagationPolicy = options.propagation;
  return copyDefined(request, options, ['gracePeriodSeconds', 'preconditions']);
}

export function deleteCollectionOptions(
  defaults: RequestOptions,
  options: DeleteCollectionOptions | undefined,
): RequestOptions {
  if (options === undefined) return defaults;
  const request = withDeleteOptions(defaults, requireKnownOptions(options, DELETE_COLLECTION));
  return copyDefined(withSelectors(request, options), options, ['limit']);
}

function withWriteOptions(request: Draft<RequestOptions>, options: WriteOptions): Draft<RequestOptions> {
  return withDryRun(copyDefined(request, options, ['fieldManager', 'fieldValidation']), options.dryRun);
}

/** Copies options that have the same name in requests. */
function copyDefined<Name extends keyof RequestOptions>(
  request: Draft<RequestOptions>,
  options: Pick<RequestOptions, Name>,
  names: readonly Name[],
): Draft<RequestOptions> {
  for (const name of names) if (options[name] !== undefined) request[name] = options[name];
  return request;
}

/** `false` overrides the client's default. */
function withDryRun(request: Draft<RequestOptions>, dryRun: boolean | undefined): Draft<RequestOptions> {
  if (dryRun === true) request.dryRun = DRY_RUN_ALL;
  else if (dryRun === false) delete request.dryRun;
  return request;
}

function withSelectors(request: Draft<RequestOptions>, options: SelectOptions): Draft<RequestOptions> {
  if (options.labels !== undefined) request.labelSelector = labelSelectorText(options.labels);
  if (options.fields !== undefined) request.fieldSelector = fieldSelectorText(options.fields);
  return request;
}
