/**
 * Receives requests: impersonation, middleware, audit, dispatch. Before a response is returned, the server reconcilers have
 * run and the write is durable.
 */
import { requestUri } from '../audit/event.js';
import type { AuditLog } from '../audit/log.js';
import type { AuditRecord } from '../audit/record.js';
import { attributesOf } from '../auth/attributes.js';
import { ADMINISTRATOR, completeImpersonatedUser } from '../auth/identity.js';
import { StatusError } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse, WatchResponse } from '../protocol/response.js';
import type { ServerWatchEvent, WatchStream } from '../protocol/watch-event.js';
import type { Journal } from '../storage/journal/types.js';
import { chain, isPromise, type MaybePromise, rescue } from '../util/maybe-promise.js';
import type { ServerContext } from './context.js';
import type { dispatch } from './dispatch.js';
import { respondWhenDurable } from './durable.js';
import type { MiddlewareStack } from './middleware.js';
import type { ServerReconcilers } from './reconcilers.js';
import { handleWhenCurrent } from './shared-storage.js';

export interface ReceiverParts {
  readonly context: ServerContext;
  readonly reconcilers: ServerReconcilers;
  readonly middlewares: MiddlewareStack;
  readonly dispatch: typeof dispatch;
  readonly audit: AuditLog | undefined;
  readonly journal: Journal | undefined;
  /** Requests after `close` fail with its reason. */
  readonly closing: AbortSignal;
}

export interface Receiver {
  receive(request: ApiRequest): MaybePromise<ApiResponse>;
  /** Rejects all further requests, including those that wait in a middleware. */
  close(): void;
}

/**
 * A request passes these functions in order: `receive` → middleware → `handleIfOpen` → `handleWithAudit` → `handleDurably` →
 * `dispatch`.
 */
export function createReceiver(parts: ReceiverParts): Receiver {
  const { context, reconcilers, middlewares, dispatch: dispatchRequest, audit, closing } = parts;
  /** A plain flag, because `signal.aborted` is slow. */
  let isClosed = false;

  function receive(request: ApiRequest): MaybePromise<ApiResponse> {
    if (isClosed) throw closing.reason;
    if (request.user !== undefined) {
      const user = completeImpersonatedUser(request.user);
      if (user !== request.user) return receive({ ...request, user });
    }
    return middlewares.isEmpty ? handleWithAudit(request) : middlewares.run(request, handleIfOpen);
  }

  /** The cluster may have been closed while a middleware waited. */
  function handleIfOpen(request: ApiRequest): MaybePromise<ApiResponse> {
    if (isClosed) throw closing.reason;
    return handleWithAudit(request);
  }

  function handleWithAudit(request: ApiRequest): MaybePromise<ApiResponse> {
    if (audit !== undefined && request.audit === undefined)
      return respondWithAudit(audit, context, { request, handle: handleDurably });
    return handleDurably(request);
  }

  const handleDurably = respondWhenDurable(parts.journal, handleWhenCurrent(context, handleRequest));

  function handleRequest(request: ApiRequest): MaybePromise<ApiResponse> {
    if (request.verb === 'get' || request.verb === 'list' || request.verb === 'watch') {
      return dispatchRequest(context, request);
    }
    let response: MaybePromise<ApiResponse>;
    try {
      response = dispatchRequest(context, request);
    } catch (error) {
      reconcilers.reconcile(request);
      throw error;
    }
    if (isPromise(response)) {
      return response.finally(() => {
        reconcilers.reconcile(request);
        return reconcilers.whenIdle();
      });
    }
    reconcilers.reconcile(request);
    return response;
  }

  return {
    receive,
    close: () => {
      isClosed = true;
    },
  };
}

/** Audits a request in process. The HTTP handler audits its own requests, because it knows more about them. */
function respondWithAudit(
  log: AuditLog,
  context: Pick<ServerContext, 'ids' | 'clock' | 'dialect'>,
  call: { readonly request: ApiRequest; readonly handle: (request: ApiRequest) => MaybePromise<ApiResponse> },
): MaybePromise<ApiResponse> {
  const { request, handle } = call;
  const { ids, clock, dialect } = context;
  const record = log.begin(
    {
      attributes: attributesOf(request),
      user: request.user ?? ADMINISTRATOR,
      auditId: () => ids.uid(),
      requestURI: () => requestUri(request),
      userAgent: request.userAgent,
    },
    { dialect, now: () => clock.now() },
  );
  if (record === undefined) return handle({ ...request, audit: NO_AUDIT_RECORD });
  record.received();
  const audited = rescue(
    () => handle({ ...request, audit: record }),
    (error) => {
      if (StatusError.is(error)) record.complete({ code: error.code, object: error.status });
      else record.panic(error);
      throw error;
    },
  );
  return chain(audited, (response) => completeRecord(record, response));
}

/** For requests that the policy does not audit. */
const NO_AUDIT_RECORD = Object.freeze({ annotate: () => undefined });

function completeRecord(record: AuditRecord, response: ApiResponse): ApiResponse {
  if (response.type === 'object') {
    record.complete({ code: response.code, object: response.object });
    return response;
  }
  record.responseStarted(response.type === 'watch' ? 200 : 101);
  if (response.type === 'connection') {
    record.complete();
    return response;
  }
  return { ...response, watch: withEndCallback(response.watch, () => record.complete()) };
}

function withEndCallback(watch: WatchResponse['watch'], ended: () => void): WatchStream {
  const stream: WatchStream = {
    async next() {
      const result = await watch.next();
      if (result.done === true) ended();
      return result;
    },
    close() {
      watch.close();
      ended();
    },
    [Symbol.asyncIterator]: () => ({ next: () => stream.next(), return: closed }),
  };
  const closed = async (): Promise<IteratorResult<ServerWatchEvent, undefined>> => {
    stream.close();
    return { done: true, value: undefined };
  };
  return stream;
}
