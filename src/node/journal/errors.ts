/**
 * The errors of a journal in files.
 */
import { JournalError } from '../../storage/journal/types.js';
import { messageOf } from '../../util/message-of.js';

export const WRITE_FAILED = 'the journal could not be written';
export const CLOSED_ERROR = new JournalError('orchplane: the journal is closed');

export function wrapErrors<Result>(what: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw error instanceof JournalError ? error : journalError(what, error);
  }
}

export function journalError(what: string, error: unknown): JournalError {
  return new JournalError(`orchplane: ${what}: ${messageOf(error)}`, { cause: error });
}
