/** The buffer of the audit log file: what happens when the disk is slow, full or does not respond. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AuditEvent } from '../../../src/audit/event.js';
import { createHandlerMetrics } from '../../../src/http/metrics.js';
import { auditLog, createCluster } from '../../../src/index.js';
import { AuditBuffer, openAuditFile } from '../../../src/node/audit-file.js';

const never = (): Promise<void> => new Promise(() => undefined);

describe('the buffer of the audit log', () => {
  test('writes lines in order, and those of one turn together', async () => {
    const written: string[] = [];
    const buffer = new AuditBuffer(async (text) => void written.push(text), fail);
    buffer.add('one\n');
    buffer.add('two\n');
    await buffer.written();
    buffer.add('three\n');
    await buffer.written();
    expect(written).toEqual(['one\ntwo\n', 'three\n']);
  });

  test('loses and counts events above 10,000 while a write never ends, with one message', () => {
    const messages: string[] = [];
    const buffer = new AuditBuffer(never, (text) => messages.push(text));
    for (let count = 0; count < 25_000; count++) buffer.add('line\n');
    expect(buffer.errors).toEqual({ buffered: 15_000, log: 0 });
    expect(messages).toEqual(['events are lost, because the audit log is written too slowly']);
  });

  test('holds at most 64 Mi characters of large events', () => {
    const buffer = new AuditBuffer(never, () => undefined);
    const large = 'x'.repeat(3 * 1024 * 1024);
    for (let count = 0; count < 100; count++) buffer.add(large);
    expect(buffer.errors.buffered).toBe(100 - 21);
  });

  test('accepts events again when the disk continues, and reports the next loss again', async () => {
    const messages: string[] = [];
    let lines = 0;
    let continueWriting = (): void => undefined;
    const append = async (text: string): Promise<void> => {
      if (lines === 0) await new Promise<void>((resolve) => (continueWriting = resolve));
      lines += text.split('\n').length - 1;
    };
    const buffer = new AuditBuffer(append, (text) => messages.push(text));
    for (let count = 0; count < 10_001; count++) buffer.add('line\n');
    await Promise.resolve();
    continueWriting();
    await buffer.written();
    expect(lines).toBe(10_000);
    buffer.add('line\n');
    await buffer.written();
    expect(lines).toBe(10_001);
    expect(messages).toHaveLength(1);
  });

  test('a failed write loses its events only, and is reported once until a write succeeds', async () => {
    const messages: string[] = [];
    const written: string[] = [];
    let isFull = true;
    const append = async (text: string): Promise<void> => {
      if (isFull) throw new Error('ENOSPC: no space left on device');
      written.push(text);
    };
    const buffer = new AuditBuffer(append, (text) => messages.push(text));
    for (const line of ['a\n', 'b\n']) {
      buffer.add(line);
      await buffer.written();
    }
    isFull = false;
    buffer.add('c\n');
    await buffer.written();
    isFull = true;
    buffer.add('d\n');
    await buffer.written();
    isFull = false;
    for (const line of ['e\n', 'f\n']) {
      buffer.add(line);
      await buffer.written();
    }
    // A write that fails may have written a part of its text.
    expect(written).toEqual(['\nc\n', '\ne\n', 'f\n']);
    expect(buffer.errors).toEqual({ buffered: 0, log: 3 });
    const message = 'the audit log cannot be written: ENOSPC: no space left on device';
    expect(messages).toEqual([message, message]);
  });

  test('does not continue a line of an earlier process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'));
    const path = join(folder, 'audit.log');
    writeFileSync(path, '{"kind":');
    const context = { writeOut: fail, warn: fail };
    for (const auditID of ['a', 'b']) {
      const log = await openAuditFile(path, context);
      log.write({ auditID, apiVersion: 'audit.k8s.io/v1' } as AuditEvent);
      await log.close();
    }
    const [torn, ...lines] = readFileSync(path, 'utf8').trim().split('\n');
    rmSync(folder, { recursive: true });
    expect(torn).toBe('{"kind":');
    expect(lines.map((line) => JSON.parse(line).auditID)).toEqual(['a', 'b']);
  });

  // Root may read every file.
  test.skipIf(process.getuid?.() === 0)('begins a line in a log that may only be written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'));
    const path = join(folder, 'audit.log');
    writeFileSync(path, '{"kind":', { mode: 0o200 });
    const log = await openAuditFile(path, { writeOut: fail, warn: fail });
    log.write({ auditID: 'a', apiVersion: 'audit.k8s.io/v1' } as AuditEvent);
    await log.close();
    chmodSync(path, 0o600);
    const lines = readFileSync(path, 'utf8').split('\n');
    rmSync(folder, { recursive: true });
    expect(lines).toEqual(['{"kind":', expect.stringContaining('"auditID":"a"'), '']);
  });

  test('/metrics counts lost events by plugin', () => {
    const audit = auditLog({
      policy: { rules: [{ level: 'Metadata' }] },
      errors: () => ({ buffered: 7, log: 0 }),
    });
    const printed = createHandlerMetrics(createCluster({ audit })).print();
    expect(printed).toContain('apiserver_audit_error_total{plugin="buffered"} 7\n');
    expect(printed).not.toContain('plugin="log"');
  });
});

function fail(text: string): never {
  throw new Error(text);
}
