/**
 * Scenario: what alice may do before and after she gets a role.
 */
import type { ObjectRef } from '../session/types.js';
import { expectThat, type Scenario } from './scenario.js';

const rbac = (kind: string, name: string): ObjectRef => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  namespace: 'default',
  name,
});

export const rbacRoles: Scenario = {
  id: 'rbac',
  title: 'Permissions with RBAC',
  summary: 'alice has no permissions, then may read, then may restart Deployments; the server names the rule.',
  steps: [
    {
      title: 'alice has no permissions',
      description: 'The user `alice` has no role. Every command can impersonate a user with `--as`.',
      lines: ['get pods --as=alice', 'auth can-i list pods --as=alice'],
      async check({ results: [listed, allowed] }) {
        const isRefused = listed?.text.includes('User "alice" cannot list resource "pods"') === true;
        return expectThat(isRefused && allowed?.text === 'no', 'alice should not be allowed to list pods');
      },
    },
    {
      title: 'A role that may read',
      description:
        'A RoleBinding grants alice the ClusterRole `view`, which every cluster has, in the namespace default. The output names the binding.',
      object: rbac('RoleBinding', 'readers'),
      lines: ['create rolebinding readers --clusterrole=view --user=alice', 'auth can-i list pods --as=alice'],
      async check({ results: [, allowed] }) {
        const isAllowed =
          allowed?.code === 0 && allowed.text.includes('RoleBinding "readers/default" of ClusterRole "view"');
        return expectThat(isAllowed, 'alice should be allowed, by the binding "readers"');
      },
    },
    {
      title: 'The limits of the role',
      description:
        'The binding applies to one namespace, and `view` does not include secrets, because they can contain credentials of other users.',
      object: rbac('RoleBinding', 'readers'),
      lines: ['get pods -n kube-system --as=alice', 'get secrets --as=alice', 'get configmaps --as=alice'],
      async check({ results: [elsewhere, secrets, configMaps] }) {
        const isLimited = elsewhere?.code === 1 && secrets?.code === 1 && configMaps?.code === 0;
        return expectThat(isLimited, 'alice should read ConfigMaps here, and neither secrets nor another namespace');
      },
    },
    {
      title: 'An additional role',
      description:
        'A Role adds one permission: to patch Deployments, which is how a restart works. alice may still not delete them.',
      object: rbac('Role', 'restarter'),
      lines: [
        'create role restarter --verb=get,patch --resource=deployments.apps',
        'create rolebinding restarters --role=restarter --user=alice',
        'create deployment web --image=nginx:1.29',
        'rollout restart deployment/web --as=alice',
        'delete deployment web --as=alice',
      ],
      async check({ results }) {
        const [restarted, deleted] = results.slice(-2);
        const isLimited = restarted?.text === 'deployment.apps/web restarted' && deleted?.code === 1;
        return expectThat(isLimited, 'alice should be able to restart the Deployment, and not to delete it');
      },
    },
    {
      title: 'No privilege escalation',
      description:
        'bob may only create roles. The server rejects a role with permissions that bob does not have, such as reading secrets.',
      object: rbac('Role', 'role-writer'),
      lines: [
        'create role role-writer --verb=get,create --resource=roles.rbac.authorization.k8s.io',
        'create rolebinding role-writers --role=role-writer --user=bob',
        'create role thief --verb=get --resource=secrets --as=bob',
      ],
      async check({ results }) {
        const isRefused =
          results[2]?.code === 1 && results[2].text.includes('attempting to grant RBAC permissions not currently held');
        return expectThat(isRefused, 'the request of bob should be rejected');
      },
    },
  ],
};
