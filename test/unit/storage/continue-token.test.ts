/** The continue token: its encoding, and errors for invalid tokens. */
import { describe, expect, test } from 'vitest';
import { ContinueTokenError, decodeContinueToken, encodeContinueToken } from '../../../src/storage/continue-token.js';
import { parseJson } from '../../../src/text/json/parse-json.js';

const VERSION = 'meta.orch.io/v1';
const decode = (text: string) => decodeContinueToken(text, VERSION, (json) => parseJson(json).value);
const textOf = (document: unknown) => base64url(JSON.stringify(document));

function base64url(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

describe('a continue token', () => {
  test('preserves a continue token in encoding and decoding', () => {
    const token = { revision: 1200, after: 'dev/a', issuedAt: 1_893_456_000_000 };
    expect(decode(encodeContinueToken(token, VERSION))).toEqual(token);
  });

  test('encodes a continue token as unpadded base64url of the JSON of the reference server', () => {
    const text = encodeContinueToken({ revision: 1200, after: 'dev/a' }, VERSION);
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(text).toBe(textOf({ v: VERSION, rv: 1200, start: 'dev/a\u0000' }));
  });

  test('decodes a continue token without an issue time, which never expires', () => {
    expect(decode(encodeContinueToken({ revision: 7, after: 'a' }, VERSION))).toEqual({ revision: 7, after: 'a' });
  });

  test('decodes a continue token that accepts any revision', () => {
    expect(decode(encodeContinueToken({ revision: -1, after: 'a' }, VERSION)).revision).toBe(-1);
  });

  test('decodes a continue token whose key starts with a slash', () => {
    expect(decode(textOf({ v: VERSION, rv: 1, start: '/dev/a\u0000' })).after).toBe('dev/a');
  });
});

describe('an invalid continue token', () => {
  test.each([
    ['a character outside the alphabet', 'ab*d', 'illegal base64 data at input byte 2'],
    ['padding', 'YQ==', 'illegal base64 data at input byte 2'],
    ['a length that base64 cannot have', 'abcde', 'illegal base64 data at input byte 4'],
    ['text that is not JSON', base64url('nope'), "invalid character 'o' in literal null (expecting 'u')"],
    ['another version', textOf({ v: 'v9', rv: 1, start: 'a' }), 'server does not recognize this encoded version v9'],
    ['no version', textOf({ rv: 1, start: 'a' }), 'server does not recognize this encoded version '],
    ['JSON that is not an object', textOf(5), 'server does not recognize this encoded version '],
    [
      'revision zero',
      textOf({ v: VERSION, rv: 0, start: 'a' }),
      'incorrect encoded start resourceVersion (version meta.orch.io/v1)',
    ],
    [
      'no revision',
      textOf({ v: VERSION, start: 'a' }),
      'incorrect encoded start resourceVersion (version meta.orch.io/v1)',
    ],
    ['no key', textOf({ v: VERSION, rv: 1 }), 'encoded start key empty (version meta.orch.io/v1)'],
    ['an empty key', textOf({ v: VERSION, rv: 1, start: '' }), 'encoded start key empty (version meta.orch.io/v1)'],
    ['a key with a parent directory segment', textOf({ v: VERSION, rv: 1, start: 'a/../b' }), 'a/../b'],
    ['a key with a current directory segment', textOf({ v: VERSION, rv: 1, start: './b' }), './b'],
    ['a key with an empty segment', textOf({ v: VERSION, rv: 1, start: 'a//b' }), 'a//b'],
    ['a key that ends in a slash', textOf({ v: VERSION, rv: 1, start: 'a/' }), 'a/'],
  ])('rejects a continue token with %s, with the reason', (_what, text, why) => {
    expect(() => decode(text)).toThrow(new ContinueTokenError(`continue key is not valid: ${why}`));
  });
});
