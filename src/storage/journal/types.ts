/**
 * The contract of a journal, which makes the writes of a cluster durable.
 *
 * - It is read once, when the cluster is created: the last checkpoint and the writes after it.
 * - `append` is called synchronously for every write, just before the store changes. If it throws, the write fails and
 *   nothing has changed.
 * - Responses are delayed until their writes are on stable storage. So an acknowledged write is never lost, and no client
 *   sees a write that may be lost.
 * - A failed sync is final: the state of the device is unknown, so nothing is retried. The journal is broken until it is
 *   opened again.
 */
import type { PlacedObject } from '../state.js';
import type { ObjectKey, StoredEvent } from '../types.js';

/** One write. */
export interface JournalRecord extends Pick<StoredEvent, 'revision' | 'type' | 'object' | 'time'> {
  readonly key: ObjectKey;
}

/** An immutable state of a cluster. */
export interface JournalState {
  readonly revision: number;
  /** The highest revision ever used, above `revision` after a restore; absent: the same. */
  readonly highest?: number | undefined;
  /** The dialect of the cluster; a cluster of another dialect cannot use the journal. */
  readonly dialect: string;
  /** Can be iterated several times. */
  readonly objects: Iterable<PlacedObject>;
}

/** The content of a journal. */
export interface JournalContent {
  readonly checkpoint: JournalState;
  /** The writes since the checkpoint, with consecutive revisions. */
  readonly records: readonly JournalRecord[];
}

export interface Journal {
  /**
   * Locks and reads the journal; undefined if it is new. Called once. Throws JournalError if another process has locked it
   * or if it is damaged.
   */
  load(): JournalContent | undefined;
  /** Replaces the content by a state: for a new cluster, and after a restore. Throws JournalError. */
  reset(state: JournalState): void;
  /** Appends a write. `stateBefore` returns the state before it, for a new checkpoint. Throws JournalError. */
  append(record: JournalRecord, stateBefore: () => JournalState): void;
  /** Waits until all appended writes are on stable storage; undefined if they are. Rejects with JournalError. */
  whenDurable(): Promise<void> | undefined;
  /** All writes up to this revision are on stable storage. */
  readonly durableRevision: number;
  /** Makes everything durable and unlocks the journal. */
  close(): Promise<void>;
}

/** A journal cannot be read or written. The message states the remedy. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}
