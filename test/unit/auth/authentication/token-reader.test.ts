/** The combined token reader: order of authenticators and errors for unrecognized tokens. */
import { describe, expect, test, vi } from 'vitest';
import type { TokenAuthenticator, TokenIdentity } from '../../../../src/auth/authentication.js';
import {
  createTokenReader,
  type TokenReaderParts,
  WrongAudiencesError,
} from '../../../../src/auth/tokens/token-reader.js';
import type { User } from '../../../../src/protocol/request.js';

const alice: User = { user: 'alice', uid: '2', groups: ['dev'] };

function reader(parts: Partial<TokenReaderParts> = {}) {
  return createTokenReader({ audiences: ['api'], ...parts });
}

async function outcomeOf(parts: Partial<TokenReaderParts>, token: string, audiences: string[] = []) {
  try {
    return (await reader(parts).authenticate(token, audiences)).user.user;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('static tokens', () => {
  test('recognizes a static token synchronously and completes its user', () => {
    const { authenticate } = reader({ table: { 'a-token': alice } });
    const first = authenticate('a-token', []) as TokenIdentity;
    expect(first).toEqual({ user: { ...alice, groups: ['dev', 'system:authenticated'] }, audiences: ['api'] });
    expect((authenticate('a-token', []) as TokenIdentity).user).toBe(first.user);
  });

  test.each(['', 'A-TOKEN', 'a-token ', 'constructor', '__proto__', 'toString'])(
    'does not recognize %j as a static token',
    async (token) => {
      expect(await outcomeOf({ table: { 'a-token': alice } }, token)).toBe('invalid bearer token');
    },
  );

  test('accepts a static token for the audience of the server itself', async () => {
    const parts = { table: { 'a-token': alice } };
    expect(await outcomeOf(parts, 'a-token', ['elsewhere', 'api'])).toBe('alice');
    expect(await outcomeOf(parts, 'a-token', ['elsewhere'])).toBe('invalid bearer token');
  });

  test.each([{}, { user: '' }, { user: 5 }, null, 'alice'])('rejects %j as the user of a static token', (user) => {
    expect(() => reader({ table: { token: user as User } })).toThrow(TypeError);
  });
});

describe('authenticators', () => {
  const named =
    (user: string): TokenAuthenticator =>
    () => ({ user: { user } });
  const silent: TokenAuthenticator = () => undefined;

  test('calls authenticators in order until one recognizes the token', async () => {
    const last = vi.fn(named('last'));
    expect(await outcomeOf({ table: { x: alice }, accounts: named('account'), authenticators: [last] }, 'x')).toBe(
      'alice',
    );
    expect(await outcomeOf({ table: {}, accounts: named('account'), authenticators: [last] }, 'x')).toBe('account');
    expect(last).not.toHaveBeenCalled();
    expect(await outcomeOf({ accounts: silent, authenticators: [silent, last] }, 'x')).toBe('last');
    expect(last).toHaveBeenCalledExactlyOnceWith('x', ['api'], undefined);
  });

  test.each<[string, readonly TokenAuthenticator[], string]>([
    ['none recognizes the token', [silent], 'invalid bearer token'],
    ['one rejects with a reason', [refusing('too old')], '[invalid bearer token, too old]'],
    [
      'several reject with reasons',
      [refusing('too old'), later('too new')],
      '[invalid bearer token, too old, too new]',
    ],
    [
      'several reject with the same reason',
      [refusing('no'), later('no'), refusing('no')],
      '[invalid bearer token, no]',
    ],
    ['the reason is the default message', [refusing('invalid bearer token')], 'invalid bearer token'],
    ['a non-error is thrown', [() => Promise.reject('bare')], '[invalid bearer token, bare]'],
    ['another recognizes the token', [refusing('no'), later('no'), named('bob')], 'bob'],
    ['another recognizes the token asynchronously', [refusing('no'), async () => ({ user: { user: 'bob' } })], 'bob'],
  ])('combines the results of authenticators if %s', async (_, authenticators, outcome) => {
    expect(await outcomeOf({ authenticators }, 'x')).toBe(outcome);
  });

  test('rejects an authenticator result without a user name', async () => {
    const outcome = await outcomeOf({ authenticators: [() => ({ user: {} as User })] }, 'x');
    expect(outcome).toBe(
      '[invalid bearer token, orchplane: a token authenticator must return { user: { user: "name" } }]',
    );
  });

  test('uses the audiences that an authenticator returns', async () => {
    const aware: TokenAuthenticator = () => ({ user: alice, audiences: ['vault'] });
    expect(await reader({ authenticators: [aware] }).authenticate('x', ['api', 'vault'])).toMatchObject({
      audiences: ['vault'],
    });
    const wrong = async () => reader({ authenticators: [aware, named('bob')] }).authenticate('x', ['api']);
    await expect(wrong()).rejects.toThrow(WrongAudiencesError);
    const laterWrong = async () => reader({ authenticators: [async () => aware('x', [])] }).authenticate('x', ['api']);
    await expect(laterWrong()).rejects.toThrow(WrongAudiencesError);
  });

  test('returns the warnings and annotations of an authenticator', async () => {
    const annotated: TokenAuthenticator = () => ({ user: alice, warnings: ['old'], annotations: { a: 'b' } });
    expect(await reader({ authenticators: [annotated] }).authenticate('x', [])).toMatchObject({
      warnings: ['old'],
      annotations: { a: 'b' },
    });
  });
});

function refusing(why: string): TokenAuthenticator {
  return () => {
    throw new Error(why);
  };
}

function later(why: string): TokenAuthenticator {
  return () => Promise.reject(new Error(why));
}
