/**
 * From a call's options to the options of its request: names are translated, selectors become text, a client's
 * defaults fill in. Nothing is judged here; that is the server's part.
 */
import type { RequestOptions } from '../protocol/request.js';
import type {
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
  return options === undefined ? defaults : withWriteOptions({ ...defaults }, options);
}

export function getOptions(options: GetOptions | undefined): RequestOptions {
  return options?.resourceVersion === undefined ? NO_OPTIONS : { resourceVersion: options.resourceVersion };
}

export function selectOptions(options: SelectOptions): RequestOptions {
  return withSelectors({}, options);
}

export function listOptions(options: ListOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  const request = withSelectors({}, options);
  if (options.limit !== undefined) request.limit = options.limit;
  if (options.continue !== undefined) request.continue = options.continue;
  if (options.resourceVersion !== undefined) request.resourceVersion = options.resourceVersion;
  if (options.resourceVersionMatch !== undefined) request.resourceVersionMatch = options.resourceVersionMatch;
  return request;
}

export function watchOptions(options: WatchOptions | undefined): RequestOptions {
  if (options === undefined) return NO_OPTIONS;
  const request = withSelectors({}, options);
  if (options.resourceVersion !== undefined) request.resourceVersion = options.resourceVersion;
  if (options.resourceVersionMatch !== undefined) request.resourceVersionMatch = options.resourceVersionMatch;
  if (options.sendInitialEvents !== undefined) request.sendInitialEvents = options.sendInitialEvents;
  if (options.allowWatchBookmarks !== undefined) request.allowWatchBookmarks = options.allowWatchBookmarks;
  if (options.timeoutSeconds !== undefined) request.timeoutSeconds = options.timeoutSeconds;
  return request;
}

export function deleteOptions(defaults: RequestOptions, options: DeleteOptions | undefined): RequestOptions {
  if (options === undefined) return defaults;
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
  const request = withSelectors({ ...deleteOptions(defaults, options) }, options);
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
