/**
 * StatusError, the only error that crosses the API, and one constructor for each kind of failure. The messages are those
 * of the reference server, because clients match on them. spec: Errors
 */
import { quote } from '../text/go/go-text.js';
import { causeReason, type FieldError, MAX_REPORTED_ERRORS, printFieldError } from './field-error.js';
import { type GroupResource, qualifiedKind, qualifiedResource } from './gvk.js';
import { REASON_CODES, type Status, type StatusCause, type StatusDetails, type StatusReason } from './status.js';

export interface StatusErrorOptions extends ErrorOptions {
  readonly warnings?: readonly string[];
}

const BRAND = Symbol.for('orchplane.StatusError');

/** Thrown when a request is rejected. Test it with {@link StatusError.is}, not with `instanceof`. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status;
  /** The warnings that the server sent with the failure. */
  readonly warnings: readonly string[];

  constructor(status: Status, options: StatusErrorOptions = {}) {
    super(status.message ?? 'unknown', options);
    this.status = status;
    this.warnings = options.warnings ?? [];
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Absent on the few errors that have none. */
  get reason(): StatusReason | undefined {
    return this.status.reason;
  }

  /** The HTTP code. */
  get code(): number {
    return this.status.code ?? 500;
  }

  /**
   * True when `error` is a StatusError, of the given reason if one is named. Works across copies of the library.
   *
   * @example
   * try { await pods.get('web') } catch (e) { if (!StatusError.is(e, 'NotFound')) throw e }
   */
  static is(error: unknown, reason?: StatusReason): error is StatusError {
    if (typeof error !== 'object' || error === null || !(BRAND in error)) return false;
    return reason === undefined || ('reason' in error && error.reason === reason);
  }
}

interface FailureParts {
  readonly reason?: StatusReason;
  readonly code?: number;
  readonly message: string;
  readonly details?: StatusDetails | undefined;
  readonly continueToken?: string;
  readonly cause?: unknown;
}

/** Builds a failure from its parts. The code defaults to that of the reason. */
export function failure(parts: FailureParts): StatusError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: parts.continueToken === undefined ? {} : { continue: parts.continueToken },
    status: 'Failure',
    message: parts.message,
    ...(parts.reason === undefined ? {} : { reason: parts.reason }),
    ...(parts.details === undefined ? {} : { details: parts.details }),
    code: parts.code ?? (parts.reason === undefined ? 500 : REASON_CODES[parts.reason]),
  };
  return new StatusError(status, parts.cause === undefined ? undefined : { cause: parts.cause });
}

/** Details of a named object; empty parts are remaining out. */
function detailsOf(resource: GroupResource, name: string, more: StatusDetails = {}): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    ...(resource.resource === '' ? {} : { kind: resource.resource }),
    ...more,
  };
}

function notFound(resource: GroupResource, name: string): StatusError {
  const message = `${qualifiedResource(resource)} ${quote(name)} not found`;
  return failure({ reason: 'NotFound', message, details: detailsOf(resource, name) });
}

/** `terminating`: the existing object is being deleted. */
function alreadyExists(resource: GroupResource, name: string, options: { terminating?: boolean } = {}): StatusError {
  const prefix = options.terminating === true ? 'object is being deleted: ' : '';
  const message = `${prefix}${qualifiedResource(resource)} ${quote(name)} already exists`;
  return failure({ reason: 'AlreadyExists', message, details: detailsOf(resource, name) });
}

function generateNameConflict(
  resource: GroupResource,
  name: string,
  options: { terminating?: boolean } = {},
): StatusError {
  const prefix = options.terminating === true ? 'object is being deleted: ' : '';
  const message = `${prefix}${qualifiedResource(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`;
  return failure({ reason: 'AlreadyExists', message, details: detailsOf(resource, name, { retryAfterSeconds: 1 }) });
}

function conflict(resource: GroupResource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(resource)} ${quote(name)}: ${why}`;
  return failure({ reason: 'Conflict', message, details: detailsOf(resource, name) });
}

/** A delete precondition that does not hold; it names the kind where other conflicts name the resource. */
function deleteConflict(gk: { readonly group: string; readonly kind: string }, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedKind(gk)} ${quote(name)}: ${why}`;
  return failure({ reason: 'Conflict', message, details: detailsOf({ group: gk.group, resource: gk.kind }, name) });
}

function forbidden(
  resource: GroupResource,
  name: string,
  why: string,
  causes: readonly StatusCause[] = [],
): StatusError {
  const subject = qualifiedResource(resource);
  const message =
    subject === '' ? `forbidden: ${why}` : `${subject}${name === '' ? '' : ` ${quote(name)}`} is forbidden: ${why}`;
  const details = detailsOf(resource, name, causes.length === 0 ? {} : { causes });
  return failure({ reason: 'Forbidden', message, details });
}

/**
 * A 422 from field errors. The message omits duplicate texts; the causes contain every error. `isCut`: validation ended before
 * it found all errors.
 */
function invalid(
  gk: { readonly group: string; readonly kind: string },
  name: string,
  fieldErrors: readonly FieldError[],
  { isCut = false }: { readonly isCut?: boolean } = {},
): StatusError {
  const reported = withinSizeLimit(fieldErrors);
  const texts = [...new Set(reported.map(printFieldError))];
  const remaining = fieldErrors.length - reported.length;
  if (isCut) texts.push('and more');
  else if (remaining > 0) texts.push(`and ${remaining} more`);
  const aggregate = texts.length === 0 ? '' : texts.length === 1 ? `: ${texts[0]}` : `: [${texts.join(', ')}]`;
  const causes = reported.map((e) => ({ reason: causeReason(e.type), message: e.message, field: e.field }));
  return failure({
    reason: 'Invalid',
    message: `${qualifiedKind(gk)} ${quote(name)} is invalid${aggregate}`,
    details: detailsOf({ group: gk.group, resource: gk.kind }, name, causes.length === 0 ? {} : { causes }),
  });
}

/** Limits the message size: a hostile object can have one error for each of its items. */
const MAX_ERROR_CHARACTERS = 8_000_000;

function withinSizeLimit(fieldErrors: readonly FieldError[]): readonly FieldError[] {
  let remaining = MAX_ERROR_CHARACTERS;
  const end = fieldErrors.findIndex(({ field, message }, index) => {
    remaining -= field.length + message.length;
    return remaining < 0 || index >= MAX_REPORTED_ERRORS;
  });
  // At least one error is reported.
  return end < 0 ? fieldErrors : fieldErrors.slice(0, Math.max(end, 1));
}

function methodNotSupported(resource: GroupResource, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind "${qualifiedResource(resource)}"`;
  return failure({ reason: 'MethodNotAllowed', message, details: detailsOf(resource, '') });
}

function terminatingDefinition(resource: GroupResource): StatusError {
  const message = 'create not allowed while custom resource definition is terminating';
  return failure({ reason: 'MethodNotAllowed', message, details: detailsOf(resource, '') });
}

function tooLargeResourceVersion(requested: string, current: number, retryAfterSeconds: number): StatusError {
  return failure({
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    },
  });
}

function internal(why: string, cause?: unknown): StatusError {
  return failure({
    reason: 'InternalError',
    message: `Internal error occurred: ${why}`,
    details: { causes: [{ message: why }] },
    cause,
  });
}

function serverTimeout(resource: GroupResource, operation: string, retryAfterSeconds: number): StatusError {
  const message = `The ${operation} operation against ${qualifiedResource(resource)} could not be completed at this time, please try again.`;
  const details = detailsOf(resource, operation, retryAfterSeconds > 0 ? { retryAfterSeconds } : {});
  return failure({ reason: 'ServerTimeout', message, details });
}

function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  const details = retryAfterSeconds > 0 ? { retryAfterSeconds } : {};
  return failure({ reason: 'TooManyRequests', message, details });
}

function timeout(message: string, retryAfterSeconds = 0): StatusError {
  const details = retryAfterSeconds > 0 ? { retryAfterSeconds } : {};
  return failure({ reason: 'Timeout', message: `Timeout: ${message}`, details });
}

/**
 * Constructors for all API failures. They return the error and do not throw it. The server, plugins and test faults use
 * them.
 *
 * @example
 * throw errors.notFound({ group: '', resource: 'configmaps' }, 'settings')
 */
export const errors = {
  notFound,
  alreadyExists,
  generateNameConflict,
  conflict,
  deleteConflict,
  forbidden,
  invalid,
  methodNotSupported,
  terminatingDefinition,
  tooLargeResourceVersion,
  internal,
  serverTimeout,
  tooManyRequests,
  timeout,
  badRequest: (message: string): StatusError => failure({ reason: 'BadRequest', message }),
  unauthorized: (message = 'not authorized'): StatusError => failure({ reason: 'Unauthorized', message }),
  gone: (message: string): StatusError => failure({ reason: 'Gone', message }),
  /** `continueToken` lets the client continue with an inconsistent list. */
  expired: (message: string, continueToken?: string): StatusError =>
    failure({ reason: 'Expired', message, ...(continueToken === undefined ? {} : { continueToken }) }),
  requestTooLarge: (why: string): StatusError =>
    failure({ reason: 'RequestEntityTooLarge', message: `Request entity too large: ${why}` }),
  unsupportedMediaType: (message: string): StatusError => failure({ reason: 'UnsupportedMediaType', message }),
  notAcceptable: (message: string): StatusError => failure({ reason: 'NotAcceptable', message }),
  serviceUnavailable: (message: string): StatusError => failure({ reason: 'ServiceUnavailable', message }),
  /** A failure with a message only (code 500, no reason, no details), as the reference server returns in some cases. */
  plain: (message: string): StatusError => failure({ message }),
  /**
   * Failures of the HTTP router, and JSON patches that cannot be applied: fixed messages, empty details.
   * upstream: apimachinery/pkg/api/errors/errors.go NewGenericServerResponse
   */
  genericServerResponse: (reason: 'NotFound' | 'MethodNotAllowed' | 'Invalid'): StatusError =>
    failure({ reason, message: GENERIC_SERVER_TEXT[reason], details: {} }),
} as const;

const GENERIC_SERVER_TEXT = {
  NotFound: 'the server could not find the requested resource',
  MethodNotAllowed: 'the server does not allow this method on the requested resource',
  Invalid: 'the server rejected our request due to an error in our request',
} as const;
