import { expect, test } from 'vitest';
import { messageOf } from '../../../src/util/message-of.js';

test.each([
  [new Error('no disk'), 'no disk'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [Object.create(null), 'something that cannot be printed (object)'],
])('what is thrown has words, whatever it is (%#)', (thrown, words) => {
  expect(messageOf(thrown)).toBe(words);
});
