/** Failures of requests to etcd. */
import type { status } from '@grpc/grpc-js';
import { errors } from '../meta/errors.js';

/** A request that failed in etcd or on the way. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  /** Whether etcd may have executed the request. */
  readonly mayBeDone: boolean;
  /** Whether etcd is not available, as opposed to a request that it refused. */
  readonly isUnavailable: boolean;

  constructor(message: string, { mayBeDone = false, isUnavailable = false } = {}) {
    super(message);
    this.mayBeDone = mayBeDone;
    this.isUnavailable = isUnavailable;
  }
}

/** etcd and this process do not accept each other: a certificate, a user or a password is wrong. */
export class EtcdAccessError extends EtcdError {}

/** The certificate of one member, or this process for that member, is not accepted. Nothing was sent. */
export class EtcdCertificateError extends EtcdAccessError {}

type GrpcError = Error & { readonly code?: number; readonly details?: string };

const NOT_SENT = /^No connection established|^Name resolution failed|^Channel closed before call started/;
const IS_CERTIFICATE_PROBLEM = /certificate|altnames|SSL alert/i;
/** Also without a user, if etcd wants one. */
const IS_LOGIN_PROBLEM = /authentication failed|user name is empty|permission denied/;

/** `sentBytes`: the size of the request. */
export function toEtcdError(
  error: GrpcError,
  { codes, endpoint, sentBytes }: { readonly codes: typeof status; readonly endpoint: URL; readonly sentBytes: number },
): EtcdError {
  const message = error.details === undefined || error.details === '' ? error.message : error.details;
  if (error.code === codes.DEADLINE_EXCEEDED) {
    return new EtcdError('context deadline exceeded', { mayBeDone: true, isUnavailable: true });
  }
  const isNotSent = NOT_SENT.test(message);
  if (isNotSent && IS_CERTIFICATE_PROBLEM.test(message)) {
    return new EtcdCertificateError(`etcd at ${endpoint.origin}: ${connectionProblem(message)}`);
  }
  if (IS_LOGIN_PROBLEM.test(message)) return new EtcdAccessError(message);
  // With these codes etcd says that it cannot answer now.
  const { UNAVAILABLE, CANCELLED, UNKNOWN, INTERNAL } = codes;
  const isUnavailable = [UNAVAILABLE, CANCELLED, UNKNOWN, INTERNAL].some((code) => code === error.code);
  if (!isUnavailable) return new EtcdError(refusalOf(message, codes[error.code ?? codes.UNKNOWN], sentBytes));
  return new EtcdError(isNotSent ? `etcd at ${endpoint.origin}: ${connectionProblem(message)}` : message, {
    isUnavailable,
    // Without a connection nothing was sent.
    mayBeDone: !isNotSent,
  });
}

/** The message of the reference server: errors of etcd are unchanged, those of gRPC have their code. */
function refusalOf(message: string, code: string | undefined, sentBytes: number): string {
  if (message.startsWith('etcdserver: ')) return message;
  const name = (code ?? '').toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const limit = /size larger than (\d+)/.exec(message)?.[1];
  const reason = limit === undefined ? message : `trying to send message larger than max (${sentBytes} vs. ${limit})`;
  return `rpc error: code = ${name} desc = ${reason}`;
}

/** The reason in the text of gRPC. */
function connectionProblem(message: string): string {
  const [, last = message] = message.split('Last error: ');
  const [reason = ''] = last.split('. Resolution note');
  return reason
    .replace(/^Error: /, '')
    .replaceAll('\n', ' ')
    .trim();
}

/** The member cannot be used now; another one may be. */
export function isMemberFailure(error: unknown): error is EtcdError {
  return error instanceof EtcdCertificateError || (error instanceof EtcdError && error.isUnavailable);
}

/** Whether there was no connection, or it was lost. False for errors that etcd itself reports. */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof EtcdError && error.isUnavailable && !/^etcdserver:|deadline exceeded/.test(error.message);
}

/** Nothing was written: etcd does not know the lease, such as after it was restored from a backup. */
export function isLostLease(error: unknown): boolean {
  return error instanceof EtcdError && error.message === 'etcdserver: requested lease not found';
}

/** `canRepeat`: the request has changed nothing, so that the client may send it again. */
export function toStatus(error: unknown, canRepeat: boolean): unknown {
  if (!(error instanceof EtcdError)) return error;
  return error.isUnavailable ? errors.timeout(error.message, canRepeat ? 1 : 0) : errors.plain(error.message);
}
