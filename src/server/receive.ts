/**
 * Receives requests: impersonation, middleware, audit, dispatch. Before a response is returned, the server reconcilers have
 * run and the write is durable.
 */
import type { AuditLog } from '../audit/log.js';
import { completeImpersonatedUser } from '../auth/identity.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import type { Journal } from '../storage/journal/types.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { respondWithAudit } from './audit.js';
import type { ServerContext } from './context.js';
import type { dispatch } from './dispatch.js';
import { respondWhenDurable } from './durable.js';
import type { MiddlewareStack } from './middleware.js';
import type { ServerReconcilers } from './reconcilers.js';

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

  const handleDurably = respondWhenDurable(parts.journal, (request) => {
    if (request.verb === 'get' || request.verb === 'list' || request.verb === 'watch') {
      return dispatchRequest(context, request);
    }
    let response: MaybePromise<ApiResponse>;
    try {
      response = dispatchRequest(context, request);
    } catch (error) {
      reconcilers.reconcile();
      throw error;
    }
    if (isPromise(response)) return response.finally(() => reconcilers.reconcile());
    reconcilers.reconcile();
    return response;
  });

  return {
    receive,
    close: () => {
      isClosed = true;
    },
  };
}
