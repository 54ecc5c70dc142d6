/** Samples of roles and bindings. They may have any name that is valid in a URL. */
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];
const COMMON = { badName: 'a/b', deletedAtOnce: true, unconditionalUpdate: true, createOnUpdate: true } as const;
const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const subjects = [{ kind: 'ServiceAccount', name: 's', namespace: 'n' }];
const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'r' };

export const samples: readonly KindSample[] = [
  { kind: Role, body: {}, change: { rules: [rule] }, wireOrder: [...TYPE, 'rules'], ...COMMON },
  {
    kind: ClusterRole,
    body: {},
    change: { rules: [rule], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { k: 'v' } }] } },
    wireOrder: [...TYPE, 'rules', 'aggregationRule'],
    ...COMMON,
  },
  {
    kind: RoleBinding,
    body: { roleRef },
    change: { roleRef, subjects },
    wireOrder: [...TYPE, 'subjects', 'roleRef'],
    ...COMMON,
  },
  {
    kind: ClusterRoleBinding,
    body: { roleRef },
    change: { roleRef, subjects },
    wireOrder: [...TYPE, 'subjects', 'roleRef'],
    ...COMMON,
  },
];
