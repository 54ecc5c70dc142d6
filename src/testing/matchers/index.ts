/**
 * All matchers, as one object for `expect.extend` of jest and vitest, and as `ensure` for runners without an `expect`.
 */
import type { StatusReason } from '../../meta/status.js';
import type { RequestFilter } from '../request-log.js';
import { type ManifestPart, toMatchManifest } from './manifest.js';
import {
  type ExpectedCondition,
  type OwnedOptions,
  toBeOwnedBy,
  toBeReady,
  toBeStatusError,
  toHaveCondition,
} from './objects.js';
import { toHaveNoOpWrites, toHaveRequested, toMatchTrace } from './requests.js';
import type { MatcherResult } from './result.js';

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
