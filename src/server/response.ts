/**
 * Builds responses.
 */
import { StatusError } from '../meta/errors.js';
import type { ObjectResponse } from '../protocol/response.js';
import { type MaybePromise, rescue } from '../util/maybe-promise.js';
import { ConversionPending } from './versions.js';

const NO_WARNINGS: readonly string[] = Object.freeze([]);

/** Drops duplicate warnings. The result does not share the list, which may still grow. */
export function objectResponse(code: number, object: ObjectResponse['object'], warnings = NO_WARNINGS): ObjectResponse {
  return { type: 'object', code, object, warnings: warnings.length === 0 ? NO_WARNINGS : [...new Set(warnings)] };
}

/** Runs a write; if it fails, or a conversion that it waits for, its StatusError gets the warnings that were collected so far. */
export function withWarnings<Result>(
  warnings: readonly string[],
  run: () => MaybePromise<Result>,
): MaybePromise<Result> {
  const fail = (error: unknown): never => {
    if (warnings.length === 0) throw error;
    if (error instanceof ConversionPending) throw new ConversionPending(error.ready.catch(fail));
    if (!StatusError.is(error)) throw error;
    throw new StatusError(error.status, {
      warnings: [...new Set([...warnings, ...error.warnings])],
      cause: error.cause,
    });
  };
  return rescue(run, fail);
}
