/**
 * Audit of requests in process. The HTTP handler audits its own requests, because it knows more about them.
 */

import { requestUri } from '../audit/event.js';
import type { AuditLog } from '../audit/log.js';
import type { AuditRecord } from '../audit/record.js';
import { attributesOf } from '../auth/attributes.js';
import { ADMINISTRATOR } from '../auth/identity.js';
import { StatusError } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse, WatchResponse } from '../protocol/response.js';
import type { ServerWatchEvent, WatchStream } from '../protocol/watch-event.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import type { ServerContext } from './context.js';

export function respondWithAudit(
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
  record.responseStarted(200);
  return { ...response, watch: withEndCallback(response.watch, () => record.complete()) };
}

/** The stream, with a callback for its end. */
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
