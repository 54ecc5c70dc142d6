/** The limit of collected texts. */
import { expect, test } from 'vitest';
import { BoundedTexts } from '../../../src/util/bounded-texts.js';

test('leaves out texts after a million characters, whatever their own length', () => {
  const collected = new BoundedTexts();
  collected.add('short');
  collected.add('x'.repeat(1_000_000));
  expect(collected.isFull).toBe(true);
  collected.add('late');
  expect(collected.texts.length).toBe(2);
});
