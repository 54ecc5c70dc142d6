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
export interface DeleteCollectionOptions extends SelectOptions, VersionOptions, Omit<DeleteOptions, 'preconditions'> {
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

/** What each option takes. Values that are only wrong for the server, such as a malformed selector, are left to it. */
const OPTION_TYPES = {
  labels: 'a string, an object or a list of requirements',
  fields: 'a string or an object',
  signal: 'an AbortSignal',
  resourceVersion: 'a string',
  resourceVersionMatch: 'a string',
  limit: 'a whole number',
  pageSize: 'a positive integer',
  continue: 'a string',
  sendInitialEvents: 'a boolean',
  allowWatchBookmarks: 'a boolean',
  timeoutSeconds: 'a whole number',
  dryRun: 'a boolean',
  fieldManager: 'a string',
  fieldValidation: 'a string',
  attempts: 'a positive integer',
  force: 'a boolean',
  propagation: 'a string',
  gracePeriodSeconds: 'a whole number',
  preconditions: 'an object with the strings uid and resourceVersion',
  timeoutMs: 'a number of milliseconds',
  indexes: 'an object',
  onError: 'a function',
  namespace: 'a string',
  as: 'an object',
  onWarning: 'a function',
} as const;

type OptionName = keyof typeof OPTION_TYPES;

const TYPE_TESTS: Readonly<Record<(typeof OPTION_TYPES)[OptionName], (value: unknown) => boolean>> = {
  'a boolean': (value) => typeof value === 'boolean',
  'a string': (value) => typeof value === 'string',
  'a function': (value) => typeof value === 'function',
  'an object': isObject,
  'an object with the strings uid and resourceVersion': (value) =>
    isObject(value) && Object.entries(value).every(([name, each]) => PRECONDITIONS.has(name) && isTextOrAbsent(each)),
  'a string or an object': isSelector,
  'a string, an object or a list of requirements': (value) => isSelector(value) || Array.isArray(value),
  // Not `instanceof`: a test environment may have its own class.
  'an AbortSignal': (value) => isObject(value) && 'aborted' in value && 'addEventListener' in value,
  'a number of milliseconds': (value) => typeof value === 'number' && value >= 0,
  'a whole number': (value) => Number.isSafeInteger(value) || typeof value === 'bigint',
  'a positive integer': (value) => Number.isSafeInteger(value) && (value as number) > 0,
};

const PRECONDITIONS: ReadonlySet<string> = new Set<keyof Preconditions>(['uid', 'resourceVersion']);

/** A Map or another instance has no members, so that it would select everything. */
function isSelector(value: unknown): boolean {
  if (typeof value === 'string') return true;
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Rejects unknown options and values of a wrong type: a selector under a wrong name would select everything, and
 * `dryRun: 'All'` would write. TypeScript checks this too, but JavaScript callers have no such check.
 */
function requireOptions<Options extends object>(options: Options, names: readonly OptionName[]): Options {
  if (!isObject(options)) throw new TypeError(`orchplane: options must be an object, not ${printed(options)}`);
  for (const [name, value] of Object.entries(options)) {
    const known = names.find((each) => each === name);
    if (known === undefined) {
      const here = Object.hasOwn(RENAMED_OPTIONS, name) ? RENAMED_OPTIONS[name] : undefined;
      const hint = here === undefined ? `there are: ${names.join(', ')}` : `it is called ${here} here`;
      throw new TypeError(`orchplane: there is no option ${name}; ${hint}`);
    }
    const type = OPTION_TYPES[known];
    if (value !== undefined && !TYPE_TESTS[type](value)) {
      throw new TypeError(`orchplane: the option ${name} takes ${type}, not ${printed(value)}`);
    }
  }
  return options;
}

function printed(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

const SELECT = ['labels', 'fields', 'signal'] as const;

const VERSION = ['resourceVersion', 'resourceVersionMatch'] as const;

const GET = ['resourceVersion', 'signal'] as const;

const LIST = [...SELECT, ...VERSION, 'limit', 'continue'] as const;

const PAGES = [...SELECT, ...VERSION, 'pageSize'] as const;

const WATCH_ONLY = [...VERSION, 'sendInitialEvents', 'allowWatchBookmarks', 'timeoutSeconds'] as const;

const WATCH = [...SELECT, ...WATCH_ONLY] as const;

const WRITE = ['dryRun', 'fieldManager', 'fieldValidation', 'signal'] as const;

const EDIT = [...WRITE, 'attempts'] as const;

const APPLY = [...WRITE, 'force'] as const;

const DELETE = ['propagation', 'gracePeriodSeconds', 'preconditions', 'dryRun', 'signal'] as const;

const DELETE_COLLECTION = [...SELECT, ...VERSION, ...DELETE, 'limit'] as const;

const WAIT_FOR = ['timeoutMs', 'signal'] as const;

const INFORMER = [...SELECT, 'indexes', 'onError'] as const;

const CLIENT_DEFAULTS = [
  'namespace',
  'fieldManager',
  'dryRun',
  'fieldValidation',
  'as',
  'onWarning',
] as const satisfies readonly (keyof ClientDefaults)[];

type Draft<Options> = { -readonly [Name in keyof Options]: Options[Name] };

/** Shared by all requests without options. */
const NO_OPTIONS: RequestOptions = Object.freeze({});

const DRY_RUN_ALL: readonly string[] = Object.freeze(['All']);

/** The options of a write without options; computed once per client. Throws TypeError for wrong defaults. */
export function writeDefaults(client: ClientDefaults): RequestOptions {
  requireOptions(client, CLIENT_DEFAULTS);
  return Object.freeze(withWriteOptions({}, client));
}

/** The options of a delete without options. */
export function deleteDefaults(client: ClientDefaults): RequestOptions {
  return client.dryRun === true ? Object.freeze({ dryRun: DRY_RUN_ALL }) : NO_OPTIONS;
}

export function writeOptions(defaults: RequestOptions, options: WriteOptions | undefined): RequestOptions {
  return options === undefined ? defaults : withWriteOptions({ ...defaults }, requireOptions(options, WRITE));
}

export function editOptions(options: EditOptions | undefined): EditOptions {
  return options === undefined ? {} : requireOptions(options, EDIT);
}

export function applyOptions(defaults: RequestOptions, options: ApplyOptions | undefined): RequestOptions {
  if (options === undefined) return defaults;
  return copyDefined(withWriteOptions({ ...defaults }, requireOptions(options, APPLY)), options, ['force']);
}

/** The options of `explain` for an apply. */
export function planOptions(options: ApplyOptions): ApplyOptions {
  return requireOptions(options, APPLY);
}

export function getOptions(options: GetOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  const { resourceVersion } = requireOptions(options, GET);
  return resourceVersion === undefined ? NO_OPTIONS : { resourceVersion };
}

export function waitForOptions(options: WaitForOptions): WaitForOptions {
  return requireOptions(options, WAIT_FOR);
}

/** The selectors of an informer. */
export function informerOptions(options: SelectOptions): RequestOptions {
  return withSelectors({}, requireOptions(options, INFORMER));
}

export function selectOptions(options: SelectOptions): RequestOptions {
  return withSelectors({}, options);
}

export function listOptions(options: ListOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  const request = withSelectors({}, requireOptions(options, LIST));
  return copyDefined(request, options, ['limit', 'continue', ...VERSION]);
}

/** The options of the first page. */
export function pagesOptions(options: PagesOptions): RequestOptions {
  return copyDefined(withSelectors({}, requireOptions(options, PAGES)), options, VERSION);
}

export function watchOptions(options: WatchOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  return copyDefined(withSelectors({}, requireOptions(options, WATCH)), options, WATCH_ONLY);
}

export function deleteOptions(defaults: RequestOptions, options: DeleteOptions | undefined): RequestOptions {
  return options === undefined ? defaults : withDeleteOptions(defaults, requireOptions(options, DELETE));
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
  const request = withDeleteOptions(defaults, requireOptions(options, DELETE_COLLECTION));
  return copyDefined(withSelectors(request, options), options, ['limit', ...VERSION]);
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
