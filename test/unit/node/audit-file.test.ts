/** The file of `--audit-log-path` on a disk that is slow. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AuditEvent } from '../../../src/audit/event.js';
import { openAuditFile } from '../../../src/node/audit-file.js';

const event = (size: number) => ({ kind: 'Event', requestURI: `/${'x'.repeat(size)}` }) as AuditEvent;

test('writes one event per line, whatever it contains', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'));
  const path = join(folder, 'new', 'audit.log');
  const file = await openAuditFile(path, { writeOut: () => undefined, warn: () => undefined });
  file.write({ kind: 'Event', requestURI: '/\n{"kind":"Event"}\u2028' } as AuditEvent);
  file.write(event(1));
  await file.close();
  const lines = (await readFile(path, 'utf8')).split('\n');
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[0] ?? '').requestURI).toBe('/\n{"kind":"Event"}\u2028');
  await rm(folder, { recursive: true });
});

test('drops events when 64 MiB wait for a slow disk, and reports their number', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  // Opened for both, so that neither end waits for the other. Nothing is read yet.
  const reader = await open(path, 'r+');
  const warnings: string[] = [];
  const file = await openAuditFile(path, { writeOut: () => undefined, warn: (text) => warnings.push(text) });
  for (let index = 0; index < 100; index++) file.write(event(1024 * 1024));
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 900; index++) file.write(event(1024 * 1024));
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
  const buffer = Buffer.alloc(1024 * 1024);
  while (warnings.length === 0) await reader.read(buffer);
  expect(warnings[0]).toMatch(/^the audit log has lost 93\d events: .*pipe is written too slowly$/);
  file.write(event(1));
  const closed = file.close();
  let text = '';
  while (!text.endsWith('/x"}\n')) text = buffer.subarray(0, (await reader.read(buffer)).bytesRead).toString();
  await closed;
  await reader.close();
  await rm(folder, { recursive: true });
});
