/** Completion of users with implied groups. */
import { describe, expect, test } from 'vitest';
import { accountOfUserName, completeImpersonatedUser, completeUser } from '../../../../src/auth/identity.js';
import type { User } from '../../../../src/protocol/request.js';

describe('an authenticated user', () => {
  test.each<[string, User, readonly string[] | undefined]>([
    ['gets system:authenticated', { user: 'alice' }, ['system:authenticated']],
    ['keeps the given groups first', { user: 'alice', groups: ['dev', 'ops'] }, ['dev', 'ops', 'system:authenticated']],
    [
      'gets system:authenticated once',
      { user: 'alice', groups: ['system:authenticated', 'dev'] },
      ['system:authenticated', 'dev'],
    ],
    [
      'keeps an explicit system:unauthenticated',
      { user: 'alice', groups: ['system:unauthenticated'] },
      ['system:unauthenticated'],
    ],
    ['gets no groups as system:anonymous', { user: 'system:anonymous' }, undefined],
    [
      'gets no groups for a service account name',
      { user: 'system:serviceaccount:default:robot' },
      ['system:authenticated'],
    ],
  ])('an authenticated user %s', (_, user, groups) => {
    expect(completeUser(user).groups).toEqual(groups);
  });

  test('returns the same object for a user that it completes again', () => {
    const alice = { user: 'alice', uid: '2', extra: { a: ['b'] } };
    const complete = completeUser(alice);
    expect(complete).toEqual({ ...alice, groups: ['system:authenticated'] });
    expect(completeUser(alice)).toBe(complete);
    expect(completeUser(complete)).toBe(complete);
  });
});

describe('an impersonated user', () => {
  test.each<[string, User, readonly string[]]>([
    ['gets system:authenticated', { user: 'joe' }, ['system:authenticated']],
    ['has the requested groups', { user: 'joe', groups: ['crew'] }, ['crew', 'system:authenticated']],
    [
      'keeps an explicit system:unauthenticated',
      { user: 'joe', groups: ['system:unauthenticated'] },
      ['system:unauthenticated'],
    ],
    ['gets system:authenticated once', { user: 'joe', groups: ['system:authenticated'] }, ['system:authenticated']],
    ['gets system:unauthenticated as system:anonymous', { user: 'system:anonymous' }, ['system:unauthenticated']],
    [
      'gets system:unauthenticated as system:anonymous, in addition to other groups',
      { user: 'system:anonymous', groups: ['system:authenticated'] },
      ['system:authenticated', 'system:unauthenticated'],
    ],
    [
      'gets system:unauthenticated once',
      { user: 'system:anonymous', groups: ['system:unauthenticated'] },
      ['system:unauthenticated'],
    ],
    [
      'is a service account with its groups',
      { user: 'system:serviceaccount:prod:robot', groups: [] },
      ['system:serviceaccounts', 'system:serviceaccounts:prod', 'system:authenticated'],
    ],
    [
      'is a service account with other groups',
      { user: 'system:serviceaccount:prod:robot', groups: ['crew'] },
      ['crew', 'system:authenticated'],
    ],
  ])('an impersonated user %s', (_, user, groups) => {
    expect(completeImpersonatedUser(user).groups).toEqual(groups);
    expect(completeImpersonatedUser(user)).toBe(completeImpersonatedUser(user));
    expect(completeImpersonatedUser(completeImpersonatedUser(user))).toBe(completeImpersonatedUser(user));
  });
});

test.each([
  ['system:serviceaccount:default:robot', { namespace: 'default', name: 'robot' }],
  ['system:serviceaccount:default:robot.v2', { namespace: 'default', name: 'robot.v2' }],
  ['system:serviceaccount:a.b:robot', undefined],
  ['system:serviceaccount:default:Robot', undefined],
  ['system:serviceaccount:default', undefined],
  ['system:serviceaccount:default:robot:more', undefined],
  ['system:serviceaccount::robot', undefined],
  ['system:serviceaccount:default:', undefined],
  ['alice', undefined],
])('parses the service account of %s', (user, account) => {
  expect(accountOfUserName(user)).toEqual(account);
});
