/**
 * Answers of a cluster with a journal: nobody is told of a write that a crash could still undo, neither who asked for it nor
 * who reads it.
 */
import { errors } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { type Journal, JournalError } from '../storage/journal/types.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';

type Answer = (request: ApiRequest) => MaybePromise<ApiResponse>;

/** The same answers, each when everything it can tell of is durable. Without a journal they are what they were. */
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
      // Nobody will read it.
      if (response.type === 'watch') response.watch.close();
      throw asStatus(error);
    },
  );
}

/** A refusal tells of what is there, too. */
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

/** What clients are told when a journal fails. */
export function asStatus(error: unknown): unknown {
  return error instanceof JournalError ? errors.internal(error.message.replace(/^orchplane: /, ''), error) : error;
}

/** Makes something; when that fails, the journal is free for the next who tries. */
export function orRelease<Made>(journal: Journal | undefined, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    // What it could still fail with is of no interest beside what has failed.
    journal?.close().catch(() => undefined);
    throw error;
  }
}
