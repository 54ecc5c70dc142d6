/** Formats that schemas may ask for. */
import { expect, test } from 'vitest';
import { hasFormat } from '../../../../src/kinds/apiextensions/v1/value/formats.js';

test.each<[format: string, good: string[], bad: string[]]>([
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['x', '']],
  ['uri', ['https://example.com/x', 'urn:x', '/x'], ['x y', '']],
  ['email', ['a@b.de'], ['a', '@', '']],
  ['hostname', ['a.example.com'], ['-a', '']],
  ['ipv4', ['1.2.3.4'], ['1.2.3', '::1', '']],
  ['ipv6', ['::1'], ['1.2.3.4', '']],
  ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/8/1']],
  ['mac', ['01:23:45:67:89:ab', '0123.4567.89ab'], ['01:23', '']],
  ['uuid', ['3f2504e0-4f89-11d3-9a0c-0305e82c3301', '3F2504E04F8911D39A0C0305E82C3301'], ['x', '']],
  ['uuid3', ['a3bb189e-8bf9-3888-9912-ace4e6543002'], ['a3bb189e-8bf9-4888-9912-ace4e6543002']],
  ['uuid4', ['9b2d7a66-5a0c-4d5b-8c1a-0d4ab1e2a111'], ['9b2d7a66-5a0c-4d5b-1c1a-0d4ab1e2a111']],
  ['uuid5', ['a6edc906-2f9f-5fb2-a373-efac406f0ef2'], ['a6edc906-2f9f-4fb2-a373-efac406f0ef2']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751044', '']],
  ['isbn10', ['0-321-75104-3', '080442957X'], ['978-0321751041']],
  ['isbn13', ['9780321751041'], ['9780321751042']],
  ['creditcard', ['4111-1111-1111-1111'], ['4111-1111-1111-1112', '123']],
  ['ssn', ['111-22-3333', '111 22 3333'], ['111223333']],
  ['hexcolor', ['#ff00aa', 'fff'], ['#ggg', '#12345']],
  ['rgbcolor', ['rgb(1, 2, 3)'], ['rgb(300,1,1)', 'rgba(1,2,3,0)']],
  ['byte', ['aGVsbG8='], ['aGVsbG8', '']],
  ['password', ['anything', ''], []],
  ['date', ['2024-02-29'], ['2023-02-29', '2024-1-1']],
  ['date-time', ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.5+01:00'], ['2024-01-01', 'x']],
  ['duration', ['1h30m', '1h 30m', 'P1D', '3 days'], ['x', '']],
])('%s', (format, good, bad) => {
  for (const text of good) expect(hasFormat(format, text), text).toBe(true);
  for (const text of bad) expect(hasFormat(format, text), text).toBe(false);
});

test('a format nobody knows asks for nothing', () => {
  expect(hasFormat('unheard-of', 'x')).toBeUndefined();
});
