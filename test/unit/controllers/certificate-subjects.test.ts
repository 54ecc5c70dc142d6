/** Certificate signing requests with tens of thousands of names. */
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { readSigningRequest, subjectOf } from '../../../src/controllers/certificates/request.js';
import * as der from '../../../src/controllers/certificates/write-der.js';
import { TAG } from '../../../src/text/x509/der.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';

const ORGANIZATIONAL_UNIT = '55040b';
const COUNT = 50_000;

/** A request with so many organizational units, in no order. Its signature is not valid. */
function requestWithUnits(count: number): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const units = Array.from({ length: count }, (_, at) => {
    const value = der.text(TAG.utf8, ((at * 7919) % count).toString().padStart(6, '0'));
    return der.element(TAG.set, der.sequence(der.oid(ORGANIZATIONAL_UNIT), value));
  });
  const body = der.sequence(
    der.integer(Uint8Array.of(0)),
    der.sequence(...units),
    new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })),
    der.element(TAG.context0),
  );
  const request = der.sequence(body, der.sequence(der.oid('2a8648ce3d040302')), der.bitString(new Uint8Array(8)));
  const base64 = Buffer.from(request).toString('base64');
  return btoa(`-----BEGIN CERTIFICATE REQUEST-----\n${base64}\n-----END CERTIFICATE REQUEST-----\n`);
}

test('reads and writes a subject in time in proportion to its length', () => {
  const text = requestWithUnits(COUNT);
  const spentMs = cpuTimer();
  const subject = Buffer.from(subjectOf(readSigningRequest(text)));
  const tookMs = spentMs();
  const entryOf = (value: string) => der.sequence(der.oid(ORGANIZATIONAL_UNIT), der.text(TAG.printable, value));
  const [first, last] = [entryOf('000000'), entryOf(String(COUNT - 1).padStart(6, '0'))];
  expect(subject.indexOf(first)).toBeLessThan(20);
  expect(subject.subarray(-last.length).equals(last)).toBe(true);
  expect(tookMs).toBeLessThan(4_000);
});
