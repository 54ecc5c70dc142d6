/** Policies that change between decisions: no stale cache entries. */
import { expect, test } from 'vitest';
import { rbac } from '../../../../src/auth/rbac/authorizer.js';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from '../../../../src/kinds/rbac/role-rules.js';
import fc from '../../../property/seeded.js';
import { fakeCluster } from './fake-cluster.js';
import * as policies from './random-policies.js';
import { naiveDecision, type Policy } from './simple-rbac.js';

type Mutable<Value> = {
  -readonly [Key in keyof Value]: Value[Key] extends readonly (infer Item)[] ? Item[] : Value[Key];
};

test('decides like an uncached evaluation after every write', () => {
  let checked = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
      const policySet = policies.makePolicySet(seed);
      const random = policies.randomFrom(seed + 1);
      const cluster = fakeCluster(policySet);
      const authorizer = rbac()(cluster);
      const policy: Mutable<Policy> = { ...policySet, group: policies.GROUP };
      for (let round = 0; round < 25; round++) {
        write(policy, cluster, random);
        for (let count = 0; count < 12; count++) {
          const { attributes, ...user } = policies.accessCheck(random);
          const decision = authorizer.decide(user, attributes);
          const expected = naiveDecision(policy, user, attributes);
          // A plain comparison first, because there are many requests.
          if (JSON.stringify(decision) !== JSON.stringify(expected)) expect(decision).toEqual(expected);
          checked++;
        }
      }
    }),
    { numRuns: 120 },
  );
  expect(checked).toBe(120 * 25 * 12);
});

/** Adds, replaces or removes a role or a binding, in the objects and in the cluster. */
function write(policy: Mutable<Policy>, cluster: ReturnType<typeof fakeCluster>, random: policies.Random): void {
  const isRole = random(2) === 0;
  const namespace = random(2) === 0 ? undefined : policies.pick(random, policies.NAMESPACES);
  const roleNames = ['r0', 'r1', 'r2', 'r3'];
  // Few names, so that most writes affect existing objects, and several bindings for each subject.
  const name = isRole ? policies.pick(random, roleNames) : `b${String(random(12)).padStart(2, '0')}`;
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const resource = isRole
    ? namespace === undefined
      ? CLUSTER_ROLES
      : ROLES
    : namespace === undefined
      ? CLUSTER_ROLE_BINDINGS
      : ROLE_BINDINGS;
  const isOther = (one: { metadata: { name: string; namespace?: string } }) =>
    one.metadata.name !== name || one.metadata.namespace !== namespace;
  const field = (namespace === undefined ? 'clusterRole' : 'role') as 'role';
  const list = (isRole ? `${field}s` : `${field}Bindings`) as 'roles' | 'roleBindings';
  const others = (policy[list] as { metadata: { name: string; namespace?: string } }[]).filter(isOther);
  if (random(4) === 0) {
    cluster.remove(resource, name, namespace);
    Object.assign(policy, { [list]: others });
    return;
  }
  const kind = namespace === undefined ? 'ClusterRole' : policies.pick(random, ['Role', 'ClusterRole']);
  const object = isRole
    ? { metadata, rules: policies.rules(random, namespace === undefined) }
    : {
        metadata,
        subjects: Array.from({ length: random(4) }, () => policies.subject(random, namespace !== undefined)),
        roleRef: { apiGroup: policies.GROUP, kind, name: policies.pick(random, roleNames) },
      };
  cluster.put(resource, object);
  Object.assign(policy, { [list]: [...others, object] });
}
