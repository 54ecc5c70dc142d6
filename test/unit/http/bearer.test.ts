/** Who asks. */
import { describe, expect, test } from 'vitest';
import { bearerIdentities } from '../../../src/http/bearer.js';

const anonymous = { user: 'system:anonymous', groups: ['system:unauthenticated'] };
const identify = bearerIdentities({ 'alice-token': { user: 'alice', groups: ['dev'] }, root: { user: 'root' } });

test('without a table nobody is asked: the request is the administrator’s', () => {
  expect(bearerIdentities(undefined)('Bearer nope')).toEqual({ warnings: [] });
});

describe('with a table', () => {
  test.each([['Bearer alice-token'], ['bearer alice-token'], ['  BEARER alice-token extra']])(
    '%j is known',
    (header) => {
      expect(identify(header).user).toEqual({ user: 'alice', groups: ['dev', 'system:authenticated'] });
    },
  );

  test('a user without groups is still an authenticated one', () => {
    expect(identify('Bearer root').user).toEqual({ user: 'root', groups: ['system:authenticated'] });
  });

  test.each([[''], ['Bearer'], ['Bearer  '], ['alice-token'], ['Token alice-token'], ['Basic YWxpY2U6eA==']])(
    '%j is nobody',
    (header) => {
      expect(identify(header)).toEqual({ user: anonymous, warnings: [] });
    },
  );

  test('a space too many hides the token, and the client is told', () => {
    expect(identify('Bearer  alice-token')).toEqual({
      user: anonymous,
      warnings: ['the provided Authorization header contains extra space before the bearer token, and is ignored'],
    });
  });

  test.each([['Bearer nope'], ['Bearer __proto__'], ['Bearer constructor']])('%j is refused', (header) => {
    expect(() => identify(header)).toThrow(
      expect.objectContaining({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }),
    );
  });
});
