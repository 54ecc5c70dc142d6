/**
 * The log of one run of a container: the lines of standard output and standard error with their times.
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import { formatMicroTime } from '../../text/time/time.js';
import { concatBytes, JoinedBytes } from '../../util/bytes.js';
import type { Clock, Undo } from '../../util/clock.js';
import { getOrInsertComputed } from '../../util/once.js';

/** Old lines are dropped when a log is longer, as kubelet rotates log files at this size. */
const MAX_BYTES = 10 * 1024 * 1024;

/** All logs of a runtime together. Above that, old lines of the long ones are dropped. */
const MAX_ALL_BYTES = 256 * 1024 * 1024;
/** What a line takes beside its bytes. */
const LINE_BYTES = 256;

const MAX_LINE_BYTES = 16 * 1024;
/** A short line takes more memory than its bytes. */
const MAX_LINES = 100_000;
/** A client that does not read takes no more memory than this. */
const MAX_CHUNK_BYTES = 256 * 1024;

export interface LogReadOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** The number of lines from the end; undefined: all. */
  readonly tailLines: number | undefined;
  readonly sinceMs: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

type StreamName = 'stdout' | 'stderr';

interface LogLine {
  readonly stream: StreamName;
  readonly timeMs: number;
  /** With the line feed, if the program printed one. */
  readonly bytes: Uint8Array;
}

/** The memory of all logs of a runtime. Logs of pods that are gone count until they are collected. */
export class LogMemory {
  readonly #maxBytes: number;
  #bytes = 0;
  /** When the logs are counted again. */
  #countAt: number;
  #logs: WeakRef<ContainerLog>[] = [];

  constructor(maxBytes = MAX_ALL_BYTES) {
    this.#maxBytes = maxBytes;
    this.#countAt = maxBytes;
  }

  /** A log has a new line. */
  add(log: ContainerLog, bytes: number, isFirst: boolean): void {
    if (isFirst) this.#logs.push(new WeakRef(log));
    this.#bytes += bytes;
    if (this.#bytes <= this.#countAt) return;
    const logs = this.#logs.map((ref) => ref.deref()).filter((each) => each !== undefined);
    const before = sumOf(logs);
    if (before > this.#maxBytes) for (const each of logs) if (each.memory * logs.length >= before) each.dropHalf();
    this.#logs = logs.map((each) => new WeakRef(each));
    this.#bytes = sumOf(logs);
    // Not with each line.
    this.#countAt = Math.max(this.#maxBytes, this.#bytes + this.#maxBytes / 64);
  }
}

function sumOf(logs: readonly ContainerLog[]): number {
  return logs.reduce((sum, log) => sum + log.memory, 0);
}

const memories = new WeakMap<ControllerContext, LogMemory>();

/** The memory of the logs of a runtime, by its context. */
export function logMemoryOf(runtime: ControllerContext): LogMemory {
  return getOrInsertComputed(memories, runtime, () => new LogMemory());
}

export class ContainerLog {
  readonly #clock: Clock;
  readonly #memory: LogMemory;
  #lines: LogLine[] = [];
  #bytes = 0;
  /** The number of lines that were dropped. */
  #dropped = 0;
  /** The bytes since the last line feed. A program may write single bytes. */
  readonly #partial = { stdout: new JoinedBytes(), stderr: new JoinedBytes() };
  #isEnded = false;
  readonly #waiting = new Set<() => void>();
  readonly #taps = new Set<(stream: StreamName, bytes: Uint8Array) => void>();

  constructor(clock: Clock, memory = new LogMemory()) {
    this.#clock = clock;
    this.#memory = memory;
  }

  /** About the bytes that its lines take. */
  get memory(): number {
    return this.#bytes + this.#lines.length * LINE_BYTES;
  }

  write(stream: StreamName, bytes: Uint8Array): void {
    if (this.#isEnded) return;
    for (const tap of this.#taps) tap(stream, bytes);
    const end = this.#end;
    let from = 0;
    // Copied: a program may use its array again, and a slice of a Buffer shares it.
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, from)) {
      this.#partial[stream].add(new Uint8Array(bytes.subarray(from, at + 1)));
      this.#endLine(stream);
      from = at + 1;
    }
    if (from < bytes.length) this.#partial[stream].add(new Uint8Array(bytes.subarray(from)));
    // As container runtimes do, long lines are split.
    if (this.#partial[stream].length >= MAX_LINE_BYTES) this.#endLine(stream);
    if (this.#end > end) this.#wake();
  }

  /** Calls the function with everything that is written from now on. */
  tap(listener: (stream: StreamName, bytes: Uint8Array) => void): Undo {
    this.#taps.add(listener);
    return () => void this.#taps.delete(listener);
  }

  /** The container has ended; incomplete lines become lines. */
  end(): void {
    if (this.#isEnded) return;
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#partial[stream].length > 0) this.#endLine(stream);
    }
    this.#isEnded = true;
    this.#wake();
  }

  /** The last lines, at most `maxLines` and `maxBytes`, for a termination message. */
  tail(maxLines: number, maxBytes: number): string {
    const bytes = concatBytes(this.#lines.slice(-maxLines).map((line) => line.bytes));
    return new TextDecoder().decode(bytes.subarray(Math.max(0, bytes.length - maxBytes)));
  }

  read(options: LogReadOptions): ReadableStream<Uint8Array> {
    const { follow, limitBytes = Infinity } = options;
    let next = this.#dropped + this.#firstIndex(options);
    const end = follow ? Infinity : this.#end;
    let left = limitBytes;
    let wake: (() => void) | undefined;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          for (;;) {
            const { bytes, after } = this.#chunk(next, end, options);
            next = after;
            if (bytes.length > 0) {
              controller.enqueue(bytes.subarray(0, left));
              left -= bytes.length;
            }
            const isAtEnd = next >= Math.min(end, this.#end);
            if (left <= 0 || (isAtEnd && (!follow || this.#isEnded))) return controller.close();
            if (bytes.length > 0) return undefined;
            if (!isAtEnd) continue;
            await new Promise<void>((resolve) => {
              wake = resolve;
              this.#waiting.add(resolve);
            });
            if (left === 0) return undefined;
          }
        },
        cancel: () => {
          left = 0;
          if (wake === undefined) return;
          this.#waiting.delete(wake);
          wake();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** The number of the next line. */
  get #end(): number {
    return this.#dropped + this.#lines.length;
  }

  #firstIndex({ tailLines, sinceMs, stream }: LogReadOptions): number {
    let first = 0;
    if (sinceMs !== undefined) {
      const found = this.#lines.findIndex(({ timeMs }) => timeMs >= sinceMs);
      first = found === -1 ? this.#lines.length : found;
    }
    if (tailLines === undefined) return first;
    let count = 0;
    let at = this.#lines.length;
    while (at > first && count < tailLines) if (isShown(this.#lines[--at], stream)) count++;
    return tailLines === 0 ? this.#lines.length : at;
  }

  /** The lines from one number to another, as many as fit in a chunk, and the number of the line after them. */
  #chunk(
    from: number,
    end: number,
    { timestamps, stream }: LogReadOptions,
  ): { readonly bytes: Uint8Array; readonly after: number } {
    const encoder = new TextEncoder();
    const parts: Uint8Array[] = [];
    let length = 0;
    let at = Math.max(0, from - this.#dropped);
    const stop = Math.min(end - this.#dropped, this.#lines.length);
    for (; at < stop && length < MAX_CHUNK_BYTES; at++) {
      const line = this.#lines[at];
      if (line === undefined || !isShown(line, stream)) continue;
      if (timestamps) parts.push(encoder.encode(`${formatMicroTime(line.timeMs)} `));
      parts.push(line.bytes);
      length += line.bytes.length + (timestamps ? TIME_BYTES : 0);
    }
    return { bytes: concatBytes(parts), after: this.#dropped + at };
  }

  #endLine(stream: StreamName): void {
    this.#add(stream, this.#partial[stream].bytes());
    this.#partial[stream] = new JoinedBytes();
  }

  #add(stream: StreamName, bytes: Uint8Array): void {
    this.#lines.push({ stream, timeMs: this.#clock.now(), bytes });
    this.#bytes += bytes.length;
    this.#memory.add(this, bytes.length + LINE_BYTES, this.#end === 1);
    if (this.#bytes > MAX_BYTES || this.#lines.length > MAX_LINES) this.dropHalf();
  }

  /** Drops the older half of the lines: the cost per line stays constant. */
  dropHalf(): void {
    const dropped = this.#lines.splice(0, Math.ceil(this.#lines.length / 2));
    this.#dropped += dropped.length;
    this.#bytes -= dropped.reduce((sum, line) => sum + line.bytes.length, 0);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
    this.#waiting.clear();
  }
}

const LINE_FEED = 10;
/** The length of a time in front of a line. */
const TIME_BYTES = 28;

function isShown(line: LogLine | undefined, stream: LogReadOptions['stream']): boolean {
  return stream === 'All' || line?.stream === stream.toLowerCase();
}
