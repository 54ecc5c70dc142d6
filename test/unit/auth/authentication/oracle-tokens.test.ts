/**
 * Tokens and their recorded results in the reference server's code: valid, forged and malformed ones. They are signed
 * with the key in the file or not, as their names say.
 */
import { describe, expect, test } from 'vitest';
import { createAccountTokens } from '../../../../src/auth/tokens/account-tokens.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { randomIds } from '../../../../src/util/ids.js';
import oracle from './oracle-tokens.json' with { type: 'json' };
import { fakeClockAt, objectsOf } from './setting.js';

interface Case {
  readonly name: string;
  readonly token: string;
  readonly audiences?: readonly string[];
  /** Of a token that is good. */
  readonly for?: readonly string[];
  /** Whose it is; absent: the robot's. */
  readonly account?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** Absent on a token that is neither good nor known. */
  readonly error?: string;
}

const { key, issuer, audiences } = oracle;
const cases: readonly Case[] = oracle.cases;

const tokens = createAccountTokens(
  {
    dialect: kubernetesDialect,
    objects: objectsOf(oracle.objects),
    clock: fakeClockAt('2026-01-01T00:00:00Z'),
    ids: randomIds,
  },
  { issuer, audiences, key },
);

async function outcomeOf({ token, audiences: asked = audiences }: Case) {
  try {
    return await tokens.authenticate(token, asked);
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
  test.each(cases.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    const outcome = await outcomeOf(each);
    if (typeof outcome === 'object') expect(outcome).toMatchObject(expected(each) as object);
    else expect(outcome).toBe(expected(each));
    // What is remembered of the first time changes nothing.
    expect(await outcomeOf(each)).toEqual(outcome);
  });
});
