/**
 * Selects requests for faults and request logs. The static properties are compared first, then `when` is called; among the
 * matches, `nth`, `every`, `rate` and `times` select by count.
 */

import { ADMINISTRATOR } from '../../auth/identity.js';
import type { Kind } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { type ApiRequest, sourceOf, type Verb } from '../../protocol/request.js';
import { managerOf } from '../../server/manager-name.js';
import { isRecord } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { seededRandom } from '../seeded-random.js';

/** A verb, all reading verbs, or all writing verbs. */
export type VerbMatch = Verb | 'read' | 'write';

/** An exact text, or a regular expression. */
export type TextMatch = string | RegExp;

/** Properties of a request. All are optional; an empty match selects every request. */
export interface RequestMatch {
  readonly verb?: VerbMatch | readonly VerbMatch[] | undefined;
  /** In any version. */
  readonly kind?: Kind | readonly Kind[] | undefined;
  /** `'status'`, `'scale'`, …; `''` for the object itself. Absent: both. */
  readonly subresource?: string | readonly string[] | undefined;
  readonly name?: TextMatch | undefined;
  readonly namespace?: TextMatch | undefined;
  /** The name of the user; the administrator of a local client is `system:admin`. */
  readonly user?: TextMatch | undefined;
  /** The field manager of a write. */
  readonly manager?: TextMatch | undefined;
  /** `local`, `http`, the name of a controller, or `controllers` for the informers that all controllers share. */
  readonly source?: TextMatch | undefined;
  /** A custom condition. */
  readonly when?: ((request: ApiRequest) => boolean) | undefined;
}

/** Selects among matching requests by count. */
export interface CountMatch {
  /** The first, or the first and the third: `1`, `[1, 3]`. */
  readonly nth?: number | readonly number[] | undefined;
  /** At most this many requests. */
  readonly times?: number | undefined;
  /** Every second, every third, … request. */
  readonly every?: number | undefined;
  /** The probability from 0 (never) to 1 (always); reproducible with the same `seed`. */
  readonly rate?: number | undefined;
  /** Defaults to 1. */
  readonly seed?: number | undefined;
}

/** The match of a fault. */
export interface FaultMatch extends RequestMatch, CountMatch {}

/** The match of a watch fault. */
export type WatchMatch = Omit<FaultMatch, 'verb' | 'manager'>;

const REQUEST_PARTS = [
  'verb',
  'kind',
  'subresource',
  'name',
  'namespace',
  'user',
  'manager',
  'source',
  'when',
] as const satisfies readonly (keyof RequestMatch)[];
const COUNT_PARTS = ['nth', 'times', 'every', 'rate', 'seed'] as const satisfies readonly (keyof CountMatch)[];

const READS: readonly Verb[] = ['get', 'list', 'watch'];
const WRITES: readonly Verb[] = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const VERBS: readonly VerbMatch[] = [...READS, ...WRITES, 'read', 'write'];

export type RequestPredicate = (request: ApiRequest, dialect: Dialect) => boolean;

/** Creates a predicate. Throws TypeError for an invalid match; `where` is the function name in its message. */
export function requestMatcher(where: string, match: RequestMatch): RequestPredicate {
  checkParts(where, match, REQUEST_PARTS);
  const verbs = match.verb === undefined ? undefined : verbsOf(where, match.verb);
  const kinds = match.kind === undefined ? undefined : kindsOf(where, match.kind);
  const subresources = match.subresource === undefined ? undefined : listOf<string>(match.subresource);
  const texts = (['name', 'namespace', 'user', 'manager', 'source'] as const).flatMap((part) => {
    const wanted = match[part];
    if (wanted === undefined) return [];
    if (typeof wanted !== 'string' && !(wanted instanceof RegExp))
      throw usageError(where, `${part} is a text or a regular expression, not ${printValue(wanted)}`);
    return [(request: ApiRequest) => isText(wanted, PARTS[part](request))];
  });
  const { when } = match;
  if (when !== undefined && typeof when !== 'function')
    throw usageError(where, `when is a function, not ${printValue(when)}`);
  return (request, dialect) => {
    if (verbs !== undefined && !verbs.has(request.verb)) return false;
    if (kinds !== undefined && !kinds.some((kind) => isOf(kind, request, dialect))) return false;
    if (subresources !== undefined && !subresources.includes(request.subresource ?? '')) return false;
    return texts.every((matches) => matches(request)) && (when === undefined || when(request));
  };
}

/** The same with selection by count. It is stateful: call it once for each request. */
export function faultMatcher(
  where: string,
  match: FaultMatch,
  parts: readonly string[] = FAULT_PARTS,
): RequestPredicate {
  checkParts(where, match, parts);
  const { nth, times, every, rate, seed, ...request } = match;
  const matches = requestMatcher(where, request);
  const isSelected = countSelector(where, { nth, times, every, rate, seed });
  return (asked, dialect) => matches(asked, dialect) && isSelected();
}

function checkParts(where: string, match: unknown, parts: readonly string[]): void {
  if (!isRecord(match))
    throw usageError(where, `takes an object that says which requests are meant, not ${printValue(match)}`);
  refuseUnknownOptions(where, match, parts);
}

const FAULT_PARTS: readonly string[] = [...REQUEST_PARTS, ...COUNT_PARTS];

/** The same for watch faults. */
export function watchMatcher(where: string, match: WatchMatch): RequestPredicate {
  const parts = FAULT_PARTS.filter((part) => part !== 'verb' && part !== 'manager');
  return faultMatcher(where, match, parts);
}

export function userOf({ user }: ApiRequest): string {
  return (user ?? ADMINISTRATOR).user;
}

export function isWrite(verb: Verb): boolean {
  return WRITES.includes(verb);
}

const PARTS = {
  name: ({ name, verb, body }: ApiRequest) => name ?? (verb === 'create' ? nameIn(body) : undefined),
  namespace: ({ namespace }: ApiRequest) => namespace,
  user: userOf,
  manager: (request: ApiRequest) => (isWrite(request.verb) ? managerOf(request) : undefined),
  source: sourceOf,
};

/** The name in the body of a create; undefined if the body is invalid. */
export function nameIn(body: ApiRequest['body'], field: 'name' | 'generateName' = 'name'): string | undefined {
  let value: unknown;
  try {
    value = body?.read().value;
  } catch {
    // The server parses the body again and reports the error; a fault must not preempt it.
    return undefined;
  }
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  const name = isRecord(metadata) ? metadata[field] : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function countSelector(where: string, count: CountMatch): () => boolean {
  const { nth, times = Number.POSITIVE_INFINITY, every = 1, rate, seed = 1 } = count;
  if (nth !== undefined && (count.times !== undefined || count.every !== undefined || rate !== undefined))
    throw usageError(where, 'nth names single requests, so it goes with none of times, every and rate');
  for (const [part, value] of Object.entries({ times, every })) {
    if (value !== Number.POSITIVE_INFINITY && !isCount(value))
      throw usageError(where, `${part} is a whole number from 1 on, not ${printValue(value)}`);
  }
  const chosen = nth === undefined ? undefined : listOf<number>(nth);
  if (chosen !== undefined && (chosen.length === 0 || !chosen.every(isCount)))
    throw usageError(where, `nth is a whole number from 1 on, or several, not ${printValue(nth)}`);
  if (rate !== undefined && !(rate >= 0 && rate <= 1))
    throw usageError(where, `rate is a number from 0 to 1, not ${printValue(rate)}`);
  if (count.seed !== undefined && rate === undefined) throw usageError(where, 'seed goes with rate');
  const random = seededRandom(seed);
  let seen = 0;
  let picked = 0;
  return () => {
    seen++;
    if (chosen !== undefined) return chosen.includes(seen);
    if (picked >= times || seen % every !== 0) return false;
    if (rate !== undefined && random.next() >= rate) return false;
    picked++;
    return true;
  };
}

function isOf(kind: Kind, { resource }: ApiRequest, dialect: Dialect): boolean {
  return resource.resource === kind.names.plural && resource.group === dialect.group(kind.group);
}

function isText(wanted: TextMatch, text: string | undefined): boolean {
  if (text === undefined) return false;
  // Unlike `test`, `search` ignores the lastIndex of a global expression.
  return typeof wanted === 'string' ? wanted === text : text.search(wanted) >= 0;
}

function verbsOf(where: string, verb: VerbMatch | readonly VerbMatch[]): ReadonlySet<Verb> {
  const verbs = listOf<VerbMatch>(verb);
  for (const each of verbs) {
    if (!VERBS.includes(each))
      throw usageError(where, `there is no verb ${printValue(each)}; there are ${VERBS.join(', ')}`);
  }
  return new Set(verbs.flatMap((each) => (each === 'read' ? READS : each === 'write' ? WRITES : [each])));
}

function kindsOf(where: string, kind: Kind | readonly Kind[]): readonly Kind[] {
  const kinds = listOf<Kind>(kind);
  for (const each of kinds) {
    if (isKind(each)) continue;
    throw usageError(where, `kind is a kind such as Pod of orchplane/kinds, or several, not ${printValue(each)}`);
  }
  return kinds;
}

function isKind(value: unknown): value is Kind {
  return isRecord(value) && isRecord(value['names']) && typeof value['names']['plural'] === 'string';
}

function listOf<Item>(value: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(value) ? (value as readonly Item[]) : [value as Item];
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1;
}

export function usageError(where: string, what: string): TypeError {
  return new TypeError(`orchplane: ${where}: ${what}`);
}

export function printValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'a list' : 'an object') : String(value);
}
