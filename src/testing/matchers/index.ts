/**
 * The matchers as an object for `expect.extend` of jest and vitest, and as `ensure` for runners without `expect`. Also the
 * matchers for request logs.
 */

import { lineDiff } from '../../meta/format-diff.js';
import type { StatusReason } from '../../meta/status.js';
import { isRecord } from '../../util/json.js';
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
import { type MatcherResult, printValue, resultOf } from './result.js';

const MOST_LINES = 30;

/**
 * The matchers for `expect.extend` of jest; `orchplane/vitest` registers them for vitest.
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

/** The matchers as methods of `expect`. */
export interface OrchplaneMatchers<Result = void> {
  /** The object has all fields of the manifest (YAML, JSON or an object) with the same values. */
  toMatchManifest(manifest: ManifestPart): Result;
  /** The object is ready according to its kind: by replicas, phase or conditions. */
  toBeReady(): Result;
  toBeOwnedBy(owner: object, options?: OwnedOptions): Result;
  /** The object has a condition; its expected status defaults to `True`. */
  toHaveCondition(type: string, expected?: 'True' | 'False' | 'Unknown' | ExpectedCondition): Result;
  /** A request log has `times` matching requests; without a number, at least one. */
  toHaveRequested(filter: RequestFilter, times?: number): Result;
  /** A request log has writes that changed nothing. */
  toHaveNoOpWrites(filter?: RequestFilter): Result;
  /** A request log, or its trace, equals a text. */
  toMatchTrace(expected: string): Result;
  /** The value is the StatusError of a rejected request. */
  toBeStatusError(reason?: StatusReason, message?: string | RegExp): Result;
}

/** The matchers for test runners that store snapshots. */
export interface SnapshotMatchers<Result = void> extends Omit<OrchplaneMatchers<Result>, 'toMatchTrace'> {
  /** Compares a request log, or its trace, with a text; without an argument, with the stored snapshot. */
  toMatchTrace(expected?: string): Result;
}

export interface Ensured extends OrchplaneMatchers {
  readonly not: OrchplaneMatchers;
}

/**
 * The matchers for `node:test` and other runners: throws an Error that describes the mismatch.
 *
 * @example
 * ensure(pod).toBeReady();
 * ensure(log).not.toHaveNoOpWrites();
 */
export function ensure(received: unknown): Ensured {
  return { ...bound(received, true), not: bound(received, false) };
}

/** Binds the matchers to a value. */
function bound(received: unknown, wanted: boolean): OrchplaneMatchers {
  const checked =
    <Given extends readonly unknown[]>(matcher: (received: unknown, ...given: Given) => MatcherResult) =>
    (...given: Given): void => {
      const { pass, message, actual, expected } = matcher(received, ...given);
      if (pass === wanted) return;
      // Test runners print `actual` and `expected`.
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

/** Passes if the log has `times` matching requests; without a number, at least one. */
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

/** Passes if the log has writes that changed nothing. Usually used with `.not`, whose message lists them. */
function toHaveNoOpWrites(received: unknown, filter: RequestFilter = {}): MatcherResult {
  const log = logOf('toHaveNoOpWrites', received);
  checkFilter('toHaveNoOpWrites', filter);
  const found = log.noOpWrites(filter);
  const head = `${found.length} of ${log.writes(filter).length} writes changed nothing:`;
  return found.length > 0
    ? { pass: true, message: () => [head, ...lines(found)].join('\n  ') }
    : { pass: false, message: () => 'every write changed something, and one that does not was expected' };
}

/** Compares the trace of a log, or a text, with an expected text, ignoring indentation. */
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

/** Throws TypeError unless the filter is absent or an object; the log checks its properties. */
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
