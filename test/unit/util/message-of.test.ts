/** Messages of thrown values. */
import { expect, test } from 'vitest';
import { messageOf } from '../../../src/util/message-of.js';

test.each([
  [new Error('no disk'), 'no disk'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [Object.create(null), 'something that cannot be printed (object)'],
])('returns a message for any thrown value (%#)', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
