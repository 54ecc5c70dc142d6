/**
 * The file of `--audit-log-path`: one audit event per line, in JSON.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type AuditEvent, auditLine } from '../audit/event.js';
import { messageOf } from '../util/message-of.js';

/** An open log file. */
export interface AuditFile {
  readonly write: (event: AuditEvent) => void;
  /** The number of lost events, by the plugin of the reference server that counts them. */
  readonly errors: () => Readonly<Record<string, number>>;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

export interface AuditFileContext {
  /** Standard output. */
  readonly writeOut: (text: string) => void;
  /** Receives errors of later writes. */
  readonly warn: (text: string) => void;
}

/** Opens a log that new events are appended to; `-` is standard output. Missing folders are created. */
export async function openAuditFile(path: string, { writeOut, warn }: AuditFileContext): Promise<AuditFile> {
  if (path === '-') {
    return { write: (event) => writeOut(auditLine(event)), errors: () => ({}), close: async () => undefined };
  }
  const file = resolve(path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, 'a', 0o600);
  const buffer = new AuditBuffer((text) => handle.appendFile(text), warn, await mayEndWithinLine(file, handle));
  return {
    write: (event) => buffer.add(auditLine(event)),
    errors: () => buffer.errors,
    async close() {
      await buffer.written();
      await handle.close();
    },
  };
}

/**
 * Whether the last line of a log may be incomplete, as when its content may not be read. Read through a handle of its own:
 * one that could read, too, would keep a pipe open whose reader has ended. An error closes the log.
 */
async function mayEndWithinLine(file: string, log: FileHandle): Promise<boolean> {
  try {
    const { size } = await log.stat();
    return size > 0 && (await lastByte(file, size)) !== LINE_FEED;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') return true;
    await log.close();
    throw error;
  }
}

async function lastByte(file: string, size: number): Promise<number | undefined> {
  await using handle = await open(file, 'r');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 0 ? undefined : buffer[0];
}

const LINE_FEED = 0x0a;

/** The default of `--audit-log-batch-buffer-size`. */
const MAX_EVENTS = 10_000;
/** At the level RequestResponse, an event may contain two large objects. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** So many characters are written at once, to let memory go while a long queue is written. */
const MAX_WRITTEN_CHARACTERS = 1024 * 1024;

/**
 * Events that are not written yet. If the disk is too slow, new events are lost and counted, as by the batch mode of the
 * reference server: requests do not wait, and the memory is limited. A failed write loses its events only.
 * upstream: apiserver/plugin/pkg/audit/buffered/buffered.go ProcessEvents
 */
export class AuditBuffer {
  readonly #append: (text: string) => Promise<unknown>;
  readonly #warn: (text: string) => void;
  #lines: string[] = [];
  /** Including those that are being written. */
  #events = 0;
  #characters = 0;
  #writing: Promise<void> | undefined;
  /** A failed write, or an earlier process, may have ended within a line; the next event must not become a part of it. */
  #mayBeTorn: boolean;
  /** Reported once, until all events could be written. */
  readonly #reported = new Set<string>();
  readonly errors = { buffered: 0, log: 0 };

  /** `append` writes a text at the end of the log. */
  constructor(append: (text: string) => Promise<unknown>, warn: (text: string) => void, mayBeTorn = false) {
    this.#append = append;
    this.#warn = warn;
    this.#mayBeTorn = mayBeTorn;
  }

  add(line: string): void {
    if (this.#events >= MAX_EVENTS || this.#characters + line.length > MAX_CHARACTERS) {
      this.#lose('buffered', 1, 'events are lost, because the audit log is written too slowly');
      return;
    }
    this.#lines.push(line);
    this.#events++;
    this.#characters += line.length;
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when nothing waits to be written. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Events of the same turn are written together.
    await Promise.resolve();
    let hasFailed = false;
    while (this.#lines.length > 0) {
      const lines = this.#take();
      const text = lines.join('');
      try {
        await this.#append(this.#mayBeTorn ? `\n${text}` : text);
        this.#mayBeTorn = false;
      } catch (error) {
        hasFailed = true;
        this.#mayBeTorn = true;
        this.#lose('log', lines.length, `the audit log cannot be written: ${messageOf(error)}`);
      }
      this.#events -= lines.length;
      this.#characters -= text.length;
    }
    if (!hasFailed) this.#reported.clear();
    this.#writing = undefined;
  }

  #take(): string[] {
    let characters = 0;
    let count = 0;
    for (const line of this.#lines) {
      if (count > 0 && characters + line.length > MAX_WRITTEN_CHARACTERS) break;
      characters += line.length;
      count++;
    }
    return this.#lines.splice(0, count);
  }

  #lose(plugin: keyof AuditBuffer['errors'], count: number, reason: string): void {
    this.errors[plugin] += count;
    if (!this.#reported.has(plugin)) this.#warn(reason);
    this.#reported.add(plugin);
  }
}
