/**
 * The way of a request into a cluster: whom it speaks for, middleware, the audit log, the answer. Whatever it changed is
 * seen to, and durable, before anybody is answered.
 */
import type { AuditLog } from '../audit/log.js';
import { completeImpersonatedUser } from '../auth/identity.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import type { Journal } from '../storage/journal/types.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { audited } from './audited.js';
import type { ServerContext } from './context.js';
import type { dispatch } from './dispatch.js';
import { durably } from './durable.js';
import type { MiddlewareStack } from './middleware.js';
import type { ServerReconcilers } from './reconcilers.js';

export interface ReceiverParts {
  readonly context: ServerContext;
  readonly attendants: ServerReconcilers;
  readonly middlewares: MiddlewareStack;
  readonly respond: typeof dispatch;
  readonly audit: AuditLog | undefined;
  readonly journal: Journal | undefined;
  /** Its reason is what requests fail with after `close`. */
  readonly closing: AbortSignal;
}

export interface Receiver {
  send(request: ApiRequest): MaybePromise<ApiResponse>;
  /** From now on everything is refused, also what waits in a middleware. */
  close(): void;
}

export function receiver(parts: ReceiverParts): Receiver {
  const { context, attendants, middlewares, respond, audit, closing } = parts;
  /** Asked with every request, which a signal takes long to answer. */
  let isClosed = false;

  function send(request: ApiRequest): MaybePromise<ApiResponse> {
    if (isClosed) throw closing.reason;
    if (request.user !== undefined) {
      const user = completeImpersonatedUser(request.user);
      if (user !== request.user) return send({ ...request, user });
    }
    return middlewares.isEmpty ? handle(request) : middlewares.run(request, handleIfOpen);
  }

  /** A middleware may have waited for so long that the cluster is closed. */
  function handleIfOpen(request: ApiRequest): MaybePromise<ApiResponse> {
    if (isClosed) throw closing.reason;
    return handle(request);
  }

  function handle(request: ApiRequest): MaybePromise<ApiResponse> {
    if (audit !== undefined && request.audit === undefined) return audited(audit, context, { request, handle });
    return answer(request);
  }

  const answer = durably(parts.journal, (request) => {
    if (request.verb === 'get' || request.verb === 'list' || request.verb === 'watch') return respond(context, request);
    let answered: MaybePromise<ApiResponse>;
    try {
      answered = respond(context, request);
    } catch (error) {
      attendants.settle();
      throw error;
    }
    if (isPromise(answered)) return answered.finally(() => attendants.settle());
    attendants.settle();
    return answered;
  });

  return {
    send,
    close: () => {
      isClosed = true;
    },
  };
}
