/** The buffer of the audit log file: what happens when the disk is slow, full or does not respond. */
import { describe, expect, test } from 'vitest';
import { createHandlerMetrics } from '../../../src/http/metrics.js';
import { auditLog, createCluster } from '../../../src/index.js';
import { AuditBuffer } from '../../../src/node/audit-file.js';

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
    expect(written).toEqual(['c\n']);
    expect(buffer.errors).toEqual({ buffered: 0, log: 3 });
    const message = 'the audit log cannot be written: ENOSPC: no space left on device';
    expect(messages).toEqual([message, message]);
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
