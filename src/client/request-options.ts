/**
 * From a call's options to the options of its request: names are translated, selectors become text, a client's
 * defaults fill in. Nothing is judged here; that is the server's part.
 */
import type { RequestOptions } from '../protocol/request.js';
import type {
  ApplyOptions,
  ClientDefaults,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  SelectOptions,
  WatchOptions,
  WriteOptions,
} from './options.js';
import { fieldSelectorText, labelSelectorText } from './selectors.js';

/** What an option is called elsewhere, and here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  labelSelector: 'labels',
  fieldSelector: 'fields',
  propagationPolicy: 'propagation',
};

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

const SELECT = ['labels', 'fields', 'signal'];
const VERSION = ['resourceVersion', 'resourceVersionMatch'];
const LIST = [...SELECT, ...VERSION, 'limit', 'continue', 'pageSize'];
const WATCH = [...SELECT, ...VERSION, 'sendInitialEvents', 'allowWatchBookmarks', 'timeoutSeconds'];
const WRITE = ['dryRun', 'fieldManager', 'fieldValidation', 'signal', 'attempts'];
const APPLY = [...WRITE, 'force'];
const DELETE = ['propagation', 'gracePeriodSeconds', 'preconditions', 'dryRun', 'signal'];
const DELETE_COLLECTION = [...SELECT, ...DELETE, 'limit'];

type Draft<Options> = { -readonly [Name in keyof Options]: Options[Name] };

/** Shared by every request without options. */
export const NO_OPTIONS: RequestOptions = Object.freeze({});

const DRY_RUN: readonly string[] = Object.freeze(['All']);

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
