/**
 * Links of the playground: encoding, decoding, and errors of damaged links.
 */
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  decodeShare,
  encodeShare,
  MAX_LINK_LENGTH,
  type SharedState,
  ShareError,
} from '../../../examples/playground/src/share/share-link.js';
import fc from '../../property/seeded.js';

const web = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default', uid: 'u' } };
const state: SharedState = {
  text: 'a: 1 # ü €\n',
  panel: 'watch',
  objects: [web as never],
  resourceVersion: '12',
};

const linkOf = (value: unknown) => `s1.${deflateRawSync(JSON.stringify(value)).toString('base64url')}`;

test('decodes an encoded state', async () => {
  const fragment = await encodeShare(state);
  expect(fragment).toMatch(/^s1\.[A-Za-z0-9_-]+$/);
  expect(await decodeShare(`#${fragment}`)).toEqual(state);
  expect(await decodeShare(await encodeShare({ text: '' }))).toEqual({ text: '' });
});

test('ignores other fragments', async () => {
  for (const fragment of ['', '#', '#top', '#s', 'panel=watch']) expect(await decodeShare(fragment)).toBeUndefined();
});

test('rejects a state that is too long for a link', async () => {
  // Random characters do not compress.
  let seed = 1;
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (seed % 90));
  };
  const text = Array.from({ length: MAX_LINK_LENGTH }, next).join('');
  await expect(encodeShare({ text })).rejects.toThrow(
    /^The link would be too long: \d+ characters, the limit is 32000\./,
  );
});

describe('damaged links', () => {
  test.each([
    ['another version', 's2.AAAA', /another version of the playground/],
    ['invalid characters', 's1.!!!!', /damaged/],
    ['an invalid length', 's1.AAAAA', /damaged/],
    ['no content', 's1.', /damaged/],
    ['no compressed content', 's1.AAAA', /damaged/],
    ['a null document', linkOf(null), /damaged/],
    ['no text', linkOf({ panel: 'x' }), /damaged/],
    ['an invalid panel', linkOf({ text: '', panel: 1 }), /damaged/],
    ['invalid objects', linkOf({ text: '', objects: [1], resourceVersion: '1' }), /damaged/],
    [
      'objects without names',
      linkOf({ text: '', objects: [{ ...web, metadata: {} }], resourceVersion: '1' }),
      /damaged/,
    ],
    ['an invalid resourceVersion', linkOf({ text: '', objects: [web], resourceVersion: 'x' }), /damaged/],
    ['too much content', linkOf({ text: 'a'.repeat(20_000_000) }), /contains more data/],
  ])('rejects a link with %s', async (_name, fragment, message) => {
    await expect(decodeShare(fragment)).rejects.toThrow(message);
  });

  test('decodes a changed link or rejects it with a ShareError', async () => {
    const fragment = await encodeShare(state);
    await fc.assert(
      fc.asyncProperty(fc.nat(fragment.length - 4), fc.constantFrom('', 'A', '-', '%', 'é'), async (at, put) => {
        const changed = `s1.${fragment.slice(3, 3 + at)}${put}${put === '' ? '' : fragment.slice(4 + at)}`;
        const outcome = await decodeShare(changed).catch((error: unknown) => error);
        const isFine = outcome instanceof ShareError || typeof (outcome as SharedState | undefined)?.text === 'string';
        expect(isFine, String(outcome)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
