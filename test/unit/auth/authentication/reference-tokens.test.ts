/**
 * Tokens and their recorded results in the reference server's code: valid, forged and malformed ones. They are signed
 * with the key in the file or not, as their names say.
 */
import { describe, expect, test } from 'vitest';
import { createAccountTokens } from '../../../../src/auth/tokens/account-tokens.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { randomIds } from '../../../../src/util/ids.js';
import reference from './reference-tokens.json' with { type: 'json' };
import { fakeClockAt, objectsOf } from './token-context.js';

interface Case {
  readonly name: string;
  readonly token: string;
  readonly audiences?: readonly string[];
  /** For a valid token. */
  readonly for?: readonly string[];
  /** The user; the robot account by default. */
  readonly account?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** Absent if the token is neither valid nor recognized. */
  readonly error?: string;
}

const { key, issuer, audiences } = reference;
const cases: readonly Case[] = reference.cases;

const tokens = createAccountTokens(
  {
    dialect: kubernetesDialect,
    objects: objectsOf(reference.objects),
    clock: fakeClockAt('2026-01-01T00:00:00Z'),
    ids: randomIds,
  },
  { issuer, audiences, key },
);

async function outcomeOf({ token, audiences: requested = audiences }: Case) {
  try {
    return await tokens.authenticate(token, requested);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

function expected({ for: accepted, account = 'robot', extra, error }: Case) {
  if (accepted === undefined) return error;
  const user = {
    user: `system:serviceaccount:ns:${account}`,
    uid: `uid-${account}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
  };
  return { user: { ...user, ...(extra === undefined ? {} : { extra }) }, audiences: accepted };
}

describe('recorded token results of the reference server', () => {
  test.each(cases.map((each) => [each.name, each] as const))(
    'authenticates like the reference server: %s',
    async (_, each) => {
      const outcome = await outcomeOf(each);
      if (typeof outcome === 'object') expect(outcome).toMatchObject(expected(each) as object);
      else expect(outcome).toBe(expected(each));
      // A cached result is the same.
      expect(await outcomeOf(each)).toEqual(outcome);
    },
  );
});
