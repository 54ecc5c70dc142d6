import { expect, test } from 'vitest';
import { firstIndexOf, lastIndexOf, splitText } from '../../../src/cel/library/text-search.js';

/** All words of two letters and a length, as the fillings of a longer part. */
const words = (length: number): string[] =>
  Array.from({ length: 2 ** length }, (_, bits) =>
    bits.toString(2).padStart(length, '0').replaceAll('0', 'a').replaceAll('1', 'b'),
  );

test('finds long parts where the engine finds them', () => {
  for (const word of words(6)) {
    const part = word.repeat(3);
    const texts = words(6).map((other) => `${other}${part.slice(2)}${part}${part.slice(0, 7)}${other}${part}${word}`);
    for (const text of [...texts, part, part.slice(1), '', `${part}${part}${part}`]) {
      for (const from of [0, 1, 17, 40, text.length]) {
        expect(firstIndexOf(text, part, from)).toBe(text.indexOf(part, from));
        expect(lastIndexOf(text, part, from)).toBe(text.lastIndexOf(part, from));
      }
      expect(splitText(text, part)).toEqual(text.split(part));
    }
  }
});
