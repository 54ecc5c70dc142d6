/**
 * The file of `--audit-log-path`: one audit event per line, in JSON.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { AuditEvent } from '../audit/event.js';
import { printJson } from '../util/json.js';

/** An open log file. */
export interface AuditFile {
  readonly write: (event: AuditEvent) => void;
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
  if (path === '-') return { write: (event) => writeOut(lineOf(event)), close: async () => undefined };
  const file = resolve(path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  await once(stream, 'open');
  stream.on('error', (error) => warn(`the audit log cannot be written: ${error.message}`));
  return {
    write: (event) => void stream.write(lineOf(event)),
    close: () => new Promise((done) => stream.end(done)),
  };
}

function lineOf(event: AuditEvent): string {
  return `${printJson(event)}\n`;
}
