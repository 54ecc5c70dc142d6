/**
 * A URL's query → request options. Values get their types here (a limit becomes a number, and `limit=x` a 400); what
 * they mean is for the server to judge. Parameters of other verbs, and unknown ones, are ignored. spec: Query options
 */

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

/** Reads the part of a URL behind `?`. A pair with a malformed escape or a semicolon is dropped. */
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

/** Whether a GET of a collection is a watch. */
export function asksToWatch(query: Query): boolean {
  return bool(query, 'watch') === true;
}

/** Whether the answer should be indented: as asked for, else for the tools that people read with. */
export function asksForPretty(query: Query, userAgent: string): boolean {
  const asked = query.get('pretty')?.[0] ?? '';
  return asked === '' ? READERS.test(userAgent) : TRUTHS.has(asked);
}

const READERS = /^(?:curl|Wget|Mozilla\/5\.0)/;
const TRUTHS: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** How long the client is ready to wait, in milliseconds; absent: as long as the server is. Throws 400. */
export function readTimeout(query: Query): number | undefined {
  const asked = query.get('timeout')?.[0] ?? '';
  if (asked === '') return undefined;
  try {
    // Less than a millisecond is little time, but not none.
    return Math.ceil(Number(parseDuration(asked)) / 1_000_000);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw errors.badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}

/** What the rows of a table carry along. Throws 400. */
export function readIncludedObject(query: Query): IncludedObject {
  const asked = query.get('includeObject')?.[0] ?? '';
  if (asked === '') return 'Metadata';
  const known = INCLUDED.find((word) => word === asked);
  if (known !== undefined) return known;
  throw errors.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(asked)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const INCLUDED: readonly IncludedObject[] = ['None', 'Metadata', 'Object'];

/** The options that a verb takes. Throws 400 for an integer that is none. */
export function readOptions(verb: Exclude<Verb, 'delete' | 'deletecollection'>, query: Query): RequestOptions {
  switch (verb) {
    case 'get':
      refuseExport(query);
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
 * The options of a deletion. A request body replaces those that say how to delete, so with one they are not even
 * looked at; those that select what a collection's deletion is about always count.
 */
export function readDeleteOptions(
  verb: 'delete' | 'deletecollection',
  query: Query,
  has: { readonly body: boolean },
): RequestOptions {
  return {
    ...(verb === 'deletecollection' ? listOptions(query) : {}),
    ...(has.body ? {} : deleteOptions(query)),
  };
}

/** Whether a watch is to begin with what is there, and to say where that ends. */
export function asksForState(query: Query): boolean {
  if (bool(query, 'allowWatchBookmarks') !== true) return false;
  const asked = bool(query, 'sendInitialEvents');
  return asked ?? !['resourceVersion', 'resourceVersionMatch'].some((name) => query.get(name)?.[0]);
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

function deleteOptions(query: Query): RequestOptions {
  if (query.size === 0) return NO_OPTIONS;
  const propagationPolicy = query.get('propagationPolicy')?.[0];
  const conditions: Preconditions = text(query, ['uid', 'resourceVersion']);
  return {
    ...integers(query, ['gracePeriodSeconds']),
    ...flags(query, ['orphanDependents']),
    // An empty policy is an unknown one, where other empty texts are as good as none.
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...dryRun(query),
    ...(Object.keys(conditions).length === 0 ? {} : { preconditions: conditions }),
  };
}

const NO_OPTIONS: RequestOptions = {};

/** Every value counts, the empty one too. */
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

function refuseExport(query: Query): void {
  if (bool(query, 'export') !== true) return;
  throw errors.badRequest('the export parameter, deprecated since v1.14, is no longer supported');
}
