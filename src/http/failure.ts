/**
 * What was thrown → what the client is told. Errors of the API pass as they are; anything else is a fault of ours or
 * of a plugin, and its text stays on this side.
 */
import { failure, StatusError } from '../meta/errors.js';

/** Told about every error that is none of the API's, because the client is not told what it was. */
export type ErrorListener = (error: unknown) => void;

/** The error to answer with. */
export function toStatusError(error: unknown, onError: ErrorListener): StatusError {
  if (StatusError.is(error)) return withHttpCode(error);
  onError(error);
  return failure({
    reason: 'InternalError',
    message: 'an error on the server ("unknown") has prevented the request from succeeding',
    details: {},
    cause: error,
  });
}

/** A failure whose code is none that HTTP has for failures is a failure of the server. */
function withHttpCode(error: StatusError): StatusError {
  const { code } = error.status;
  const warnings = Array.isArray(error.warnings) ? error.warnings : [];
  const isHttp = code !== undefined && Number.isInteger(code) && code >= 400 && code <= 599;
  if (isHttp && warnings === error.warnings) return error;
  return new StatusError({ ...error.status, code: isHttp ? code : 500 }, { warnings, cause: error });
}
