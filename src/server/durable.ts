/**
 * Responses of a cluster with a journal: no client learns of a write that a crash could still undo, neither the writer nor
 * a reader.
 */
import { errors } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { type Journal, JournalError } from '../storage/journal/types.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';

type Answer = (request: ApiRequest) => MaybePromise<ApiResponse>;

/** Delays each response until everything that it can show is durable. Without a journal, returns `answer` itself. */
export function durably(journal: Journal | undefined, answer: Answer): Answer {
  if (journal === undefined) return answer;
  return (request) => {
    try {
      const answered = answer(request);
      if (!isPromise(answered)) return whenDurable(journal, answered);
      return answered.then(
        (response) => whenDurable(journal, response),
        (error: unknown) => failWhenDurable(journal, error),
      );
    } catch (error) {
      return failWhenDurable(journal, error);
    }
  };
}

function whenDurable(journal: Journal, response: ApiResponse): MaybePromise<ApiResponse> {
  const waits = journal.durable();
  if (waits === undefined) return response;
  return waits.then(
    () => response,
    (error: unknown) => {
      // The caller gets an error, so the watch would stay open.
      if (response.type === 'watch') response.watch.close();
      throw asStatus(error);
    },
  );
}

/** Errors are delayed too, because they can reveal state. */
function failWhenDurable(journal: Journal, error: unknown): MaybePromise<never> {
  const waits = journal.durable();
  if (waits === undefined || error instanceof JournalError) throw asStatus(error);
  return waits.then(
    () => {
      throw error;
    },
    (failure: unknown) => {
      throw asStatus(failure);
    },
  );
}

/** The Status for a failure of the journal. */
export function asStatus(error: unknown): unknown {
  return error instanceof JournalError ? errors.internal(error.message.replace(/^orchplane: /, ''), error) : error;
}

/** Runs `make`; if it fails, closes the journal so that another cluster can open it. */
export function orRelease<Made>(journal: Journal | undefined, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    // The first error is reported; a failure to close adds nothing.
    journal?.close().catch(() => undefined);
    throw error;
  }
}
