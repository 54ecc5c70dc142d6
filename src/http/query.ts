/**
 * Parses a URL's query into request options. It converts values to their types (`limit=x` is a 400); the server
 * validates their meaning. Unknown parameters, and those of other verbs, are ignored. spec: Parameters
 */

import type { DialectRules } from '../meta/dialect-rules.js';
import { errors } from '../meta/errors.js';
import { readInteger, readSwitch } from '../meta/query-values.js';
import type { Preconditions, RequestOptions, Verb } from '../protocol/request.js';
import type { IncludedObject } from '../registry/table.js';
import { quote } from '../text/go/go-text.js';
import { DurationError, parseDuration } from '../text/time/duration.js';
import { percentDecode } from './path.js';

/** All values of each parameter, in order. */
export type Query = ReadonlyMap<string, readonly string[]>;

const EMPTY: Query = new Map();

/** Parses the part of a URL after `?`. A pair with a malformed escape or a semicolon is dropped. */
export function parseQuery(search: string): Query {
  if (search === '') return EMPTY;
  const query = new Map<string, string[]>();
  for (const pair of search.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const key = decodePart(equals === -1 ? pair : pair.slice(0, equals));
    const value = decodePart(equals === -1 ? '' : pair.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    const values = query.get(key);
    if (values === undefined) query.set(key, [value]);
    else values.push(value);
  }
  return query;
}

function decodePart(text: string): string | undefined {
  return percentDecode(text.replaceAll('+', ' '));
}

/** Whether a GET of a collection is a watch request. */
export function isWatchRequested(query: Query): boolean {
  return bool(query, 'watch') === true;
}

/** Whether to indent the response: as requested, else by default for interactive tools such as curl. */
export function isPrettyRequested(query: Query, userAgent: string): boolean {
  const value = query.get('pretty')?.[0] ?? '';
  return value === '' ? INTERACTIVE_USER_AGENTS.test(userAgent) : TRUE_VALUES.has(value);
}

const INTERACTIVE_USER_AGENTS = /^(?:curl|Wget|Mozilla\/5\.0)/;
const TRUE_VALUES: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** The client's `timeout` in milliseconds; undefined when it sets none. Throws 400. */
export function readTimeout(query: Query): number | undefined {
  const value = query.get('timeout')?.[0] ?? '';
  if (value === '') return undefined;
  try {
    // Round up, so that a timeout below one millisecond does not become zero.
    return Math.ceil(Number(parseDuration(value)) / 1_000_000);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw errors.badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}

/** Reads the `includeObject` option of a Table. Throws 400. */
export function readIncludedObject(query: Query): IncludedObject {
  const value = query.get('includeObject')?.[0] ?? '';
  if (value === '') return 'Metadata';
  const known = INCLUDE_OBJECT_VALUES.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  throw errors.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const INCLUDE_OBJECT_VALUES: readonly IncludedObject[] = ['None', 'Metadata', 'Object'];

/** Reads the options of a verb. Throws 400 for a malformed integer. */
export function readOptions(verb: Exclude<Verb, 'delete' | 'deletecollection'>, query: Query): RequestOptions {
  switch (verb) {
    case 'get':
      rejectExport(query);
      return text(query, ['resourceVersion']);
    case 'list':
    case 'watch':
      return listOptions(query);
    case 'create':
    case 'update':
      return writeOptions(query);
    case 'patch':
      return { ...writeOptions(query), ...flags(query, ['force']) };
  }
}

/**
 * Reads the options of a delete. Unless the dialect's rules say otherwise, a request body replaces the DeleteOptions of the
 * query, so with a body they are not parsed. The selectors of a deletecollection always apply.
 */
export function readDeleteOptions(
  verb: 'delete' | 'deletecollection',
  query: Query,
  { hasBody, rules }: { readonly hasBody: boolean; readonly rules: DialectRules },
): RequestOptions {
  const selects = verb === 'deletecollection';
  const preconditions: readonly (keyof Preconditions)[] =
    selects && rules.deleteQueryApplies ? ['uid'] : ['uid', 'resourceVersion'];
  return {
    ...(selects ? listOptions(query) : {}),
    ...(hasBody && !rules.deleteQueryApplies ? {} : deleteOptions(query, preconditions)),
  };
}

/** Whether a watch starts with initial events and marks their end with a bookmark. */
export function isInitialStateRequested(query: Query): boolean {
  if (bool(query, 'allowWatchBookmarks') !== true) return false;
  const value = bool(query, 'sendInitialEvents');
  return value ?? !['resourceVersion', 'resourceVersionMatch'].some((name) => query.get(name)?.[0]);
}

function listOptions(query: Query): RequestOptions {
  if (query.size === 0) return NO_OPTIONS;
  return {
    ...text(query, ['labelSelector', 'fieldSelector', 'resourceVersion', 'resourceVersionMatch']),
    ...flags(query, ['allowWatchBookmarks']),
    ...integers(query, ['timeoutSeconds', 'limit']),
    ...text(query, ['continue']),
    ...flags(query, ['sendInitialEvents']),
  };
}

function writeOptions(query: Query): RequestOptions {
  if (query.size === 0) return NO_OPTIONS;
  return { ...dryRun(query), ...text(query, ['fieldManager', 'fieldValidation']) };
}

function deleteOptions(query: Query, preconditions: readonly (keyof Preconditions)[]): RequestOptions {
  if (query.size === 0) return NO_OPTIONS;
  const propagationPolicy = query.get('propagationPolicy')?.[0];
  const conditions: Preconditions = text(query, preconditions);
  return {
    ...integers(query, ['gracePeriodSeconds']),
    ...flags(query, ['orphanDependents']),
    // An empty policy is invalid, whereas other empty values count as absent.
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...dryRun(query),
    ...(Object.keys(conditions).length === 0 ? {} : { preconditions: conditions }),
  };
}

const NO_OPTIONS: RequestOptions = {};

/** All values are kept, including empty ones. */
function dryRun(query: Query): Pick<RequestOptions, 'dryRun'> {
  const values = query.get('dryRun');
  return values === undefined ? {} : { dryRun: values };
}

function text<Name extends string>(query: Query, names: readonly Name[]): { [Key in Name]?: string } {
  return pick(names, (name) => query.get(name)?.[0] || undefined);
}

function flags<Name extends string>(query: Query, names: readonly Name[]): { [Key in Name]?: boolean } {
  return pick(names, (name) => bool(query, name));
}

function integers<Name extends string>(query: Query, names: readonly Name[]): { [Key in Name]?: number } {
  return pick(names, (name) => {
    const value = query.get(name)?.[0];
    return value === undefined ? undefined : readInteger(value);
  });
}

function pick<Name extends string, Value>(
  names: readonly Name[],
  read: (name: Name) => Value | undefined,
): { [Key in Name]?: Value } {
  const picked: { [Key in Name]?: Value } = {};
  for (const name of names) {
    const value = read(name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

function bool(query: Query, name: string): boolean | undefined {
  const value = query.get(name)?.[0];
  return value === undefined ? undefined : readSwitch(value);
}

function rejectExport(query: Query): void {
  if (bool(query, 'export') !== true) return;
  throw errors.badRequest('the export parameter, deprecated since v1.14, is no longer supported');
}
