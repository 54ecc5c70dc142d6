/** Message types of the group `rbac.authorization`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const rbac: GroupTypes = {
  name: 'rbac',
  group: serviceGroup('rbac.authorization'),
  versions: [
    {
      version: 'v1',
      kinds: 'ClusterRole+ ClusterRoleBinding+ Role+ RoleBinding+',
      types: `
AggregationRule clusterRoleSelectors[]:LabelSelector
ClusterRole metadata:ObjectMeta rules[]:PolicyRule aggregationRule*:AggregationRule
ClusterRoleBinding metadata:ObjectMeta subjects[]:Subject roleRef:RoleRef
PolicyRule verbs[] apiGroups[] resources[] resourceNames[] nonResourceURLs[]
Role metadata:ObjectMeta rules[]:PolicyRule
RoleBinding metadata:ObjectMeta subjects[]:Subject roleRef:RoleRef
RoleRef apiGroup kind name
Subject kind apiGroup name namespace
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'ClusterRole+ ClusterRoleBinding+ Role+ RoleBinding+',
      types: ``,
    },
    {
      version: 'v1alpha1',
      like: 'v1',
      kinds: 'ClusterRole+ ClusterRoleBinding+ Role+ RoleBinding+',
      types: `
PolicyRule verbs[] apiGroups=3[] resources[] resourceNames[] nonResourceURLs[]
Subject kind apiVersion name namespace
      `,
    },
  ],
};
