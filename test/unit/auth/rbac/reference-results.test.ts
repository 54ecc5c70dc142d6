/**
 * Recorded results of the reference implementation of RBAC for random policies: decisions with reasons, the rules of
 * users, and escalation errors. `worlds.ts` recreates the policies.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createAccessReader } from '../../../../src/auth/authorizer.js';
import { rbac } from '../../../../src/auth/rbac/authorizer.js';
import type { StrategyContext } from '../../../../src/kinds/kind.js';
import { authorizeRole } from '../../../../src/kinds/rbac/escalation.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import type { AccessReader } from '../../../../src/protocol/access.js';
import { fakeCluster } from './fake-cluster.js';
import { type Escalation, GROUP, makeWorld } from './random-policies.js';

interface Answers {
  /** `+` or `-`, and the reason. */
  readonly told: readonly string[];
  /** Indexes into `told`, and hashes. */
  readonly worlds: readonly { readonly decisions: string; readonly rules: string; readonly escalations: string }[];
}

const answers = JSON.parse(readFileSync(new URL('./reference-results.json', import.meta.url), 'utf8')) as Answers;
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

const cases = answers.worlds.map((answer, index) => {
  const world = makeWorld(index + 1);
  return { index, answer, world, access: createAccessReader(rbac(), fakeCluster(world)) };
});

test.each(cases)('decides like the reference implementation for policy set $index', ({ answer, world, access }) => {
  const decisions = world.questions.map(({ user, groups, attributes }) => {
    const { allowed, reason } = access.decide({ user, groups }, attributes);
    return `${allowed ? '+' : '-'}${reason}`;
  });
  expect(decisions).toEqual(answer.decisions.split(' ').map((place) => answers.told[Number(place)]));
});

test.each(cases)(
  'lists the rules of users like the reference implementation for policy set $index',
  ({ answer, world, access }) => {
    const rules = world.escalations.map(({ user, groups, namespace }) => {
      const { resourceRules, nonResourceRules, error = '' } = access.rules({ user, groups }, namespace);
      return hash(JSON.stringify([resourceRules, nonResourceRules, error]));
    });
    expect(rules.join(' ')).toBe(answer.rules);
  },
);

test.each(cases)(
  'checks escalation like the reference implementation for policy set $index',
  ({ answer, world, access }) => {
    const refusals = answer.escalations.split(' ');
    let decided = 0;
    for (const [index, escalation] of world.escalations.entries()) {
      if (mayEscalate(access, escalation)) continue;
      decided++;
      expect(hash(refusal(access, escalation))).toBe(refusals[index]);
    }
    expect(decided).toBeGreaterThan(0);
  },
);

function mayEscalate(access: AccessReader, { user, groups, namespace }: Escalation): boolean {
  const about = { type: 'resource', verb: 'escalate', version: '*', subresource: '', name: '' } as const;
  return access.decide({ user, groups }, { ...about, group: GROUP, resource: 'roles', namespace }).allowed;
}

/** The escalation error for such a role, after its name; empty if it is allowed. */
function refusal(access: AccessReader, { user, groups, namespace, rules }: Escalation): string {
  const role = { kind: 'Role', apiVersion: `${GROUP}/v1`, metadata: { name: 'x' }, rules } as unknown as ApiObject;
  const context = { access, user: { user, groups }, namespace, request: {}, dialect: kubernetesDialect };
  try {
    authorizeRole('roles')(role, undefined, context as unknown as StrategyContext);
    return '';
  } catch (error) {
    return (error as Error).message.replace(`roles.${GROUP} "x" is forbidden: `, '');
  }
}
