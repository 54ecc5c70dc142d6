/**
 * Responses of a cluster with a journal: no client learns of a write that a crash could still undo, neither the writer nor
 * a reader.
 */
import { failure } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { type Journal, JournalError } from '../storage/journal/types.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';

type RequestHandler = (request: ApiRequest) => MaybePromise<ApiResponse>;

/** Delays each response until everything that it can reveal is durable. Without a journal, returns `handle` itself. */
export function respondWhenDurable(journal: Journal | undefined, handle: RequestHandler): RequestHandler {
  if (journal === undefined) return handle;
  return (request) => {
    try {
      const response = handle(request);
      if (!isPromise(response)) return whenDurable(journal, response);
      return response.then(
        (settled) => whenDurable(journal, settled),
        (error: unknown) => failWhenDurable(journal, error),
      );
    } catch (error) {
      return failWhenDurable(journal, error);
    }
  };
}

function whenDurable(journal: Journal, response: ApiResponse): MaybePromise<ApiResponse> {
  const waits = journal.whenDurable();
  if (waits === undefined) return response;
  return waits.then(
    () => response,
    (error: unknown) => {
      // The caller gets an error, so the watch would stay open.
      if (response.type === 'watch') response.watch.close();
      throw journalErrorToStatus(error);
    },
  );
}

/** Errors are delayed too, because they can reveal state. */
function failWhenDurable(journal: Journal, error: unknown): MaybePromise<never> {
  const waits = journal.whenDurable();
  if (waits === undefined || error instanceof JournalError) throw journalErrorToStatus(error);
  return waits.then(
    () => {
      throw error;
    },
    (failure: unknown) => {
      throw journalErrorToStatus(failure);
    },
  );
}

/** The Status for a failure of the journal. */
export function journalErrorToStatus(error: unknown): unknown {
  return error instanceof JournalError
    ? failure({ reason: 'ServiceUnavailable', message: error.message.replace(/^orchplane: /, ''), cause: error })
    : error;
}

/** Runs `make`; if it fails, closes the journal so that another cluster can open it. */
export function closeJournalOnError<Made>(journal: Journal | undefined, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    // The first error is reported; a failure to close adds nothing.
    journal?.close().catch(() => undefined);
    throw error;
  }
}
