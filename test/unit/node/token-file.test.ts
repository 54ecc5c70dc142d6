/** The file of --token-auth-file. */
import { expect, test } from 'vitest';
import { readTokenFile } from '../../../src/node/token-file.js';

const read = (text: string) => {
  const warnings: string[] = [];
  const table = readTokenFile(text, 'tokens.csv', (warning) => warnings.push(warning));
  return { table, warnings };
};

test('reads tokens, users, UIDs and groups', () => {
  const text = 'one,alice,1\ntwo,bob,,"dev,ops"\r\n\n"th""ree",carl,3,dev,ignored';
  expect(read(text)).toEqual({
    table: {
      one: { user: 'alice', uid: '1' },
      two: { user: 'bob', groups: ['dev', 'ops'] },
      'th"ree': { user: 'carl', uid: '3', groups: ['dev'] },
    },
    warnings: [],
  });
  expect(read('').table).toEqual({});
  expect(read('a,b,').table).toEqual({ a: { user: 'b' } });
});

test('warns about empty and repeated tokens', () => {
  expect(read(',x,1\na,alice,1\na,bob,2\n')).toEqual({
    table: { a: { user: 'bob', uid: '2' } },
    warnings: [
      "empty token has been found in token file 'tokens.csv', record number '1'",
      "duplicate token has been found in token file 'tokens.csv', record number '3'",
    ],
  });
});

test.each([
  ['a,b\n', "token file 'tokens.csv' must have at least 3 columns (token, user name, user uid), found 2"],
  ['a,,1\n', 'a token without a user name'],
  ['a,b,c\nd,"e,f\n', 'parse error on line 2'],
  ['a,b"c,d\n', 'parse error on line 1'],
])('rejects %j', (text, message) => {
  expect(() => read(text)).toThrow(message);
});
