/**
 * When a checkpoint is due: when the journals are longer than the last checkpoint.
 */
export class CheckpointSchedule {
  /** The length below which no checkpoint is written. */
  readonly #least: number;
  #checkpointBytes = 0;
  /** The size of older journals since the last checkpoint, without the current one. */
  #olderBytes = 0;
  /** The journal size at which the next checkpoint is attempted after a failed one. */
  #retryBytes = 0;

  constructor(least: number) {
    this.#least = least;
  }

  /** `current`: the size of the current journal. */
  isDue(current: number): boolean {
    return this.#olderBytes + current > Math.max(this.#least, this.#checkpointBytes, this.#retryBytes);
  }

  /** There is a checkpoint, and nothing between it and the current journal. */
  start(checkpointBytes: number, olderBytes = 0): void {
    this.#checkpointBytes = checkpointBytes;
    this.#olderBytes = olderBytes;
    this.#retryBytes = 0;
  }

  /** The current journal is continued by another one. */
  noteContinued(size: number): void {
    this.#olderBytes += size;
  }

  postpone(current: number): void {
    this.#retryBytes = 2 * (this.#olderBytes + current);
  }

  retry(): void {
    this.#retryBytes = 0;
  }
}
