/**
 * Recorded results of the reference implementation of RBAC for random policies: decisions with reasons, the rules of
 * users, and escalation errors. `random-policies.ts` recreates the policies.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createClusterAuthorizer } from '../../../../src/auth/authorizer.js';
import { rbac } from '../../../../src/auth/rbac/authorizer.js';
import type { StrategyContext } from '../../../../src/kinds/kind.js';
import { authorizeRole } from '../../../../src/kinds/rbac/escalation.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import type { ClusterAuthorizer } from '../../../../src/protocol/access.js';
import { fakeCluster } from './fake-cluster.js';
import { type Escalation, GROUP, makePolicySet } from './random-policies.js';

interface Recording {
  /** `+` or `-`, and the reason. */
  readonly reasons: readonly string[];
  /** Indexes into `reasons`, and hashes. */
  readonly policySets: readonly { readonly decisions: string; readonly rules: string; readonly escalations: string }[];
}

const recording = JSON.parse(readFileSync(new URL('./reference-results.json', import.meta.url), 'utf8')) as Recording;
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

const cases = recording.policySets.map((expected, index) => {
  const policySet = makePolicySet(index + 1);
  return { index, expected, policySet, access: createClusterAuthorizer(rbac(), fakeCluster(policySet)) };
});

test.each(cases)(
  'decides like the reference implementation for policy set $index',
  ({ expected, policySet, access }) => {
    const decisions = policySet.checks.map(({ user, groups, attributes }) => {
      const { allowed, reason } = access.decide({ user, groups }, attributes);
      return `${allowed ? '+' : '-'}${reason}`;
    });
    expect(decisions).toEqual(
      expected.decisions.split(' ').map((reasonIndex) => recording.reasons[Number(reasonIndex)]),
    );
  },
);

test.each(cases)(
  'lists the rules of users like the reference implementation for policy set $index',
  ({ expected, policySet, access }) => {
    const rules = policySet.escalations.map(({ user, groups, namespace }) => {
      const { resourceRules, nonResourceRules, error = '' } = access.rules({ user, groups }, namespace);
      return hash(JSON.stringify([resourceRules, nonResourceRules, error]));
    });
    expect(rules.join(' ')).toBe(expected.rules);
  },
);

test.each(cases)(
  'checks escalation like the reference implementation for policy set $index',
  ({ expected, policySet, access }) => {
    const errors = expected.escalations.split(' ');
    let decided = 0;
    for (const [index, escalation] of policySet.escalations.entries()) {
      if (mayEscalate(access, escalation)) continue;
      decided++;
      expect(hash(escalationError(access, escalation))).toBe(errors[index]);
    }
    expect(decided).toBeGreaterThan(0);
  },
);

function mayEscalate(access: ClusterAuthorizer, { user, groups, namespace }: Escalation): boolean {
  const escalateRoles = { type: 'resource', verb: 'escalate', version: '*', subresource: '', name: '' } as const;
  return access.decide({ user, groups }, { ...escalateRoles, group: GROUP, resource: 'roles', namespace }).allowed;
}

/** The escalation error for such a role, after its name; empty if it is allowed. */
function escalationError(access: ClusterAuthorizer, { user, groups, namespace, rules }: Escalation): string {
  const role = { kind: 'Role', apiVersion: `${GROUP}/v1`, metadata: { name: 'x' }, rules } as unknown as ApiObject;
  const context = { access, user: { user, groups }, namespace, request: {}, dialect: kubernetesDialect };
  try {
    authorizeRole('roles')(role, undefined, context as unknown as StrategyContext);
    return '';
  } catch (error) {
    return (error as Error).message.replace(`roles.${GROUP} "x" is forbidden: `, '');
  }
}
