/**
 * The contract of a journal: where a cluster keeps its writes beyond the life of its process.
 *
 * - It is read once, when the cluster is made: the last whole state, and the writes after it.
 * - `append` is called for every write just before the view changes, and is synchronous. When it throws, the write is
 *   refused and nothing has changed.
 * - Whoever is answered about a write is answered when it is on stable storage. So an acknowledged write is never lost, and
 *   nobody is shown one that may be.
 * - A failure to make something durable is final: what the device has done is unknown, so nothing is tried again. The
 *   journal is broken until it is opened anew.
 */
import type { PlacedObject } from '../state.js';
import type { ObjectKey, StoredEvent } from '../types.js';

/** One write. */
export interface JournalRecord extends Pick<StoredEvent, 'revision' | 'type' | 'object' | 'time'> {
  readonly key: ObjectKey;
}

/** Everything a cluster holds at one moment. It does not change, however long it takes to write it down. */
export interface JournalState {
  readonly revision: number;
  /** The highest revision ever given out, above `revision` after a restore; absent: the same. A watch from there is refused. */
  readonly highest?: number | undefined;
  /** The spelling of names in it; a cluster of another dialect would not find its objects. */
  readonly dialect: string;
  /** Can be gone through several times. */
  readonly objects: Iterable<PlacedObject>;
}

/** What a journal holds. */
export interface JournalContent {
  readonly checkpoint: JournalState;
  /** The writes since, in order: each one's revision is one higher than that before it. */
  readonly records: readonly JournalRecord[];
}

export interface Journal {
  /**
   * Takes the place into use, which nobody else may then, and reads it; undefined when nothing was ever kept there. Called
   * once. Throws JournalError when somebody else uses it, and when it is damaged.
   */
  load(): JournalContent | undefined;
  /** Keeps a state in place of everything before: of a new cluster, and after a restore. Throws JournalError. */
  reset(state: JournalState): void;
  /**
   * Keeps a write. `stateBefore` gives the state without it, for the journal that finds itself too long. Throws JournalError.
   */
  append(record: JournalRecord, stateBefore: () => JournalState): void;
  /** Waits until all that was appended is on stable storage; undefined when it is. Rejects with JournalError. */
  durable(): Promise<void> | undefined;
  /** Up to which revision everything is on stable storage. */
  readonly durableRevision: number;
  /** Makes everything durable and lets go of the place. */
  close(): Promise<void>;
}

/** A journal cannot be read or written. The message says what is to be done about it. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}
