/**
 * All matchers, as one object for `expect.extend` of jest and vitest, and as `ensure` for runners without an `expect`.
 */
import type { StatusReason } from '../../meta/status.js';
import { isRecord } from '../../util/json.js';
import { lineDiff } from '../diff.js';
import type { LoggedRequest, RequestFilter, RequestLog } from '../request-log.js';
import { traceOf } from '../trace.js';
import { type ManifestPart, toMatchManifest } from './manifest.js';
import {
  type ExpectedCondition,
  type OwnedOptions,
  toBeOwnedBy,
  toBeReady,
  toBeStatusError,
  toHaveCondition,
} from './objects.js';
import type { MatcherResult } from './result.js';
import { resultOf, printValue } from './result.js';

const MOST_LINES = 30;

/**
 * For `expect.extend` of jest; `orchplane/vitest` has done it for vitest.
 *
 * @example
 * const { pass, message } = matchers.toBeReady(pod);
 * if (!pass) throw new Error(message());
 */
export const matchers = Object.freeze({
  toMatchManifest,
  toBeReady,
  toBeOwnedBy,
  toHaveCondition,
  toHaveRequested,
  toHaveNoOpWrites,
  toMatchTrace,
  toBeStatusError,
});

/** The matchers as a test calls them. */
export interface OrchplaneMatchers<Result = void> {
  /** It is what the manifest (YAML, JSON or an object) says, as far as that says anything. */
  toMatchManifest(manifest: ManifestPart): Result;
  /** It has become what its specification asks for: replicas, phase or conditions, by its kind. */
  toBeReady(): Result;
  toBeOwnedBy(owner: object, options?: OwnedOptions): Result;
  /** A condition of its status; its status is `True` unless said otherwise. */
  toHaveCondition(type: string, expected?: 'True' | 'False' | 'Unknown' | ExpectedCondition): Result;
  /** A request log has requests that match: so many, or at least one. */
  toHaveRequested(filter: RequestFilter, times?: number): Result;
  /** A request log has writes that changed nothing. */
  toHaveNoOpWrites(filter?: RequestFilter): Result;
  /** A request log, or its trace, reads like this. */
  toMatchTrace(expected: string): Result;
  /** What a request was refused with. */
  toBeStatusError(reason?: StatusReason, message?: string | RegExp): Result;
}

export interface Ensured extends OrchplaneMatchers {
  readonly not: OrchplaneMatchers;
}

/**
 * The matchers for `node:test` and others: throws an Error that says what is wrong.
 *
 * @example
 * ensure(pod).toBeReady();
 * ensure(log).not.toHaveNoOpWrites();
 */
export function ensure(received: unknown): Ensured {
  return { ...bound(received, true), not: bound(received, false) };
}

/** The names of runners without types are known here, so the compiler checks them once. */
function bound(received: unknown, wanted: boolean): OrchplaneMatchers {
  const checked =
    <Given extends readonly unknown[]>(matcher: (received: unknown, ...given: Given) => MatcherResult) =>
    (...given: Given): void => {
      const { pass, message, actual, expected } = matcher(received, ...given);
      if (pass === wanted) return;
      // Runners show both sides of an assertion that failed.
      throw Object.assign(new Error(message()), { name: 'AssertionError', actual, expected });
    };
  return {
    toMatchManifest: checked(toMatchManifest),
    toBeReady: checked(toBeReady),
    toBeOwnedBy: checked(toBeOwnedBy),
    toHaveCondition: checked(toHaveCondition),
    toHaveRequested: checked(toHaveRequested),
    toHaveNoOpWrites: checked(toHaveNoOpWrites),
    toMatchTrace: checked(toMatchTrace),
    toBeStatusError: checked(toBeStatusError),
  };
}

/** `times` requests that match, or at least one where no number is given. */
function toHaveRequested(received: unknown, filter: RequestFilter, times?: number): MatcherResult {
  const log = logOf('toHaveRequested', received);
  checkFilter('toHaveRequested', filter);
  if (times !== undefined && !(Number.isInteger(times) && times >= 0))
    throw new TypeError(`orchplane: toHaveRequested: times is a whole number from 0 on, not ${printValue(times)}`);
  const found = log.requests(filter);
  const isMet = times === undefined ? found.length > 0 : found.length === times;
  const wanted = times === undefined ? 'at least one request that matches' : `${times} requests that match`;
  const shown = found.length > 0 ? found : log.requests();
  const what = found.length > 0 ? 'those are' : 'the log has';
  const problems = isMet
    ? []
    : [`there ${found.length === 1 ? 'is' : 'are'} ${found.length}; ${what}:`, ...lines(shown)];
  return resultOf(
    problems,
    `expected ${wanted}:`,
    [`expected no such requests, but there are:`, ...lines(found)].join('\n  '),
  );
}

/** Writes that changed nothing. Mostly asked with `.not`, which then lists them. */
function toHaveNoOpWrites(received: unknown, filter: RequestFilter = {}): MatcherResult {
  const log = logOf('toHaveNoOpWrites', received);
  checkFilter('toHaveNoOpWrites', filter);
  const found = log.noOpWrites(filter);
  const head = `${found.length} of ${log.writes(filter).length} writes changed nothing:`;
  return found.length > 0
    ? { pass: true, message: () => [head, ...lines(found)].join('\n  ') }
    : { pass: false, message: () => 'every write changed something, and one that does not was expected' };
}

/** The trace of a log, or a text, is this one; what the lines are indented by does not count. */
function toMatchTrace(received: unknown, expected: string): MatcherResult {
  if (typeof expected !== 'string') throw new TypeError('orchplane: toMatchTrace takes the text of a trace');
  const actual = traceText(received);
  const wanted = withoutIndentation(expected);
  const diff = lineDiff(wanted.split('\n'), actual.split('\n')).map(({ sign, text }) => `${sign} ${text}`);
  return resultOf(
    actual === wanted ? [] : diff,
    'the requests are others (- expected, + received):',
    'the requests are just those, and should not be',
    { actual, expected: wanted },
  );
}

/** The trace of a log, or the text itself. */
export function traceText(received: unknown): string {
  return typeof received === 'string' ? withoutIndentation(received) : logOf('toMatchTrace', received).trace();
}

function logOf(where: string, received: unknown): RequestLog {
  if (typeof received === 'object' && received !== null && 'noOpWrites' in received) return received as RequestLog;
  throw new TypeError(`orchplane: ${where} looks at a log of recordRequests, not at ${printValue(received)}`);
}

/** Absent: every request. What an object may say is checked by the log. */
function checkFilter(where: string, filter: unknown): void {
  if (filter === undefined || isRecord(filter)) return;
  throw new TypeError(
    `orchplane: ${where} takes a kind or an object that says which requests are meant, such as { verb: 'get' }, not ${printValue(filter)}`,
  );
}

function lines(requests: readonly LoggedRequest[]): string[] {
  if (requests.length === 0) return ['(none)'];
  const text = traceOf(requests, () => true, {}).split('\n');
  return text.length > MOST_LINES ? [...text.slice(0, MOST_LINES), `… and ${text.length - MOST_LINES} more`] : text;
}

function withoutIndentation(text: string): string {
  const all = text.replaceAll('\r\n', '\n').split('\n');
  const kept = all.slice(all[0]?.trim() === '' ? 1 : 0, all.at(-1)?.trim() === '' ? -1 : undefined);
  const depths = kept.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const depth = Math.min(...depths, Number.MAX_SAFE_INTEGER);
  return kept.map((line) => line.slice(depth).trimEnd()).join('\n');
}
