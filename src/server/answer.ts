/**
 * A response from its parts.
 */
import { StatusError } from '../meta/errors.js';
import type { ObjectResponse } from '../protocol/response.js';
import { type MaybePromise, rescue } from '../util/maybe-promise.js';

const NO_WARNINGS: readonly string[] = Object.freeze([]);

/** Repeated warnings are said once. */
export function answer(code: number, object: ObjectResponse['object'], warnings = NO_WARNINGS): ObjectResponse {
  return { type: 'object', code, object, warnings: warnings.length < 2 ? warnings : [...new Set(warnings)] };
}

/** Runs a write; if it fails, the failure carries the warnings that were collected up to then. */
export function warned<Result>(warnings: readonly string[], run: () => MaybePromise<Result>): MaybePromise<Result> {
  const fail = (error: unknown): never => {
    if (warnings.length === 0 || !StatusError.is(error)) throw error;
    throw new StatusError(error.status, {
      warnings: [...new Set([...warnings, ...error.warnings])],
      cause: error.cause,
    });
  };
  return rescue(run, fail);
}
