/** Roles that are expensive to evaluate: a user who may write them in one namespace must not stop the server. */
import { expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { Secret } from '../../../src/kinds/core/index.js';
import { Role, RoleBinding } from '../../../src/kinds/rbac/index.js';
import { StatusError } from '../../../src/meta/errors.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';

function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

interface Rule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
}

const CASES: readonly (readonly [what: string, rules: Rule[]])[] = [
  [
    '20 000 distinct rules',
    numbered('v', 20_000).map((verb) => ({ verbs: [verb], apiGroups: [''], resources: ['secrets'] })),
  ],
  [
    '20 000 rules for all resources',
    numbered('v', 20_000).map((verb) => ({ verbs: [verb], apiGroups: [''], resources: ['*'] })),
  ],
  [
    'rules that expand to billions of combinations',
    numbered('x', 10).map((extra) => ({
      verbs: [...numbered('v', 800), extra],
      apiGroups: numbered('g', 800),
      resources: ['secrets'],
      resourceNames: numbered('n', 800),
    })),
  ],
];

test.each(CASES)('evaluates %s in bounded time', async (_what, rules) => {
  const cluster = createCluster();
  const roleRef = { kind: 'Role', name: 'hostile' } as const;
  await cluster.api(Role).create({ metadata: { name: 'hostile' }, rules });
  await cluster.api(RoleBinding).create({
    metadata: { name: 'hostile' },
    roleRef,
    subjects: [{ kind: 'Group', name: 'system:authenticated' }],
  });
  const requested = async (): Promise<unknown> => {
    const secrets = cluster.with({ as: { user: 'bob' } }).api(Secret);
    return secrets.list().catch((error: unknown) => error);
  };
  const spentMs = cpuTimer();
  for (let round = 0; round < 20; round++) expect(StatusError.is(await requested(), 'Forbidden')).toBe(true);
  // An earlier implementation took a minute or ran out of memory.
  expect(spentMs()).toBeLessThan(5_000);
});

test('evaluates expanded and unexpanded rules with the same result', async () => {
  const cluster = createCluster();
  const wide = numbered('x', 12).map((extra) => ({
    verbs: [...numbered('v', 100), extra, 'get'],
    apiGroups: [...numbered('g', 100), ''],
    resources: ['secrets'],
    resourceNames: [...numbered('n', 20), `only-${extra}`],
  }));
  const narrow = numbered('y', 12).map((name) => ({
    verbs: ['get'],
    apiGroups: ['', name],
    resources: ['secrets'],
    resourceNames: [`narrow-${name}`],
  }));
  await cluster.api(Role).create({ metadata: { name: 'mixed' }, rules: [...wide, ...narrow] });
  await cluster.api(RoleBinding).create({
    metadata: { name: 'mixed' },
    roleRef: { kind: 'Role', name: 'mixed' },
    subjects: [{ kind: 'User', name: 'bob' }],
  });
  const secrets = cluster.with({ as: { user: 'bob' } }).api(Secret);
  const reason = async (name: string): Promise<unknown> => {
    const failed = await secrets.get(name).catch((error: unknown) => error);
    return StatusError.is(failed) ? failed.reason : failed;
  };
  for (const name of ['only-x0', 'only-x11', 'narrow-y0', 'narrow-y11', 'n19'])
    expect(await reason(name)).toBe('NotFound');
  for (const name of ['only-y0', 'narrow-x0', 'n20']) expect(await reason(name)).toBe('Forbidden');
});
