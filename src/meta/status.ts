/**
 * The Status object, the response to all failures and to some successful requests.
 */

/** The machine-readable reasons and their HTTP codes. spec: Errors */
export const REASON_CODES = {
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  Invalid: 422,
  ServerTimeout: 500,
  TooManyRequests: 429,
  BadRequest: 400,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  StorageReadError: 500,
} as const;

export type StatusReason = keyof typeof REASON_CODES;

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural resource for most reasons; the kind for Invalid and for delete preconditions. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  /** Absent on the few errors that the reference server returns without a reason. */
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** The response to a successful create of a subresource that returns no object. */
export const SUCCESS: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** A success Status; usually without a code. */
export function successStatus(details: StatusDetails, code?: number): Status {
  const metadata = Object.freeze({});
  return Object.freeze({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Success',
    details: Object.freeze(details),
    ...(code === undefined ? {} : { code }),
  });
}
