/** The limit of messages of WebSockets that are in memory. */
import { expect, test } from 'vitest';
import { HeldBytes } from '../../../src/node/held-bytes.js';

test('closes the connections that hold most when all together hold too much', () => {
  const closed: string[] = [];
  const held = new HeldBytes<string>(100);
  const set = (name: string, bytes: number) => held.set(name, bytes, () => closed.push(name));
  set('a', 40);
  set('b', 50);
  set('c', 10);
  expect(closed).toEqual([]);
  set('c', 20);
  expect(closed).toEqual(['b']);
  set('c', 60);
  expect(closed).toEqual(['b']);
  set('a', 0);
  set('d', 40);
  expect(closed).toEqual(['b']);
  set('d', 41);
  expect(closed).toEqual(['b', 'c']);
});
