/** What the types of this package are for; see `meta.ts` for the notation. */
export const rbacDescriptions = `
Role Rights in one namespace, to be given by a binding.
ClusterRole Rights in the whole cluster, or in whatever namespace they are given.
 aggregationRule Makes up the rules from those of other roles.
Role,ClusterRole
 rules The rights. They add up.
PolicyRule Verbs on resources, or on paths that are no resources; never on both.
 verbs What may be done; * is everything.
 apiGroups Groups of the resources; the empty text is the core group, * is all groups.
 resources The resources; * is all of them.
 resourceNames Names of the objects; empty means all.
 nonResourceURLs Paths; * may be the last part. For roles of the whole cluster only.
RoleBinding Gives a role to subjects in one namespace.
ClusterRoleBinding Gives a role to subjects in the whole cluster.
RoleBinding,ClusterRoleBinding
 subjects Who gets the role.
 roleRef The role. It cannot be changed.
RoleRef A reference to a role.
 kind Role or ClusterRole.
Subject A user, a group or an account.
 kind User, Group or ServiceAccount.
 namespace The namespace of an account.
AggregationRule Which roles make up another one.
 clusterRoleSelectors Select the roles; one of them is enough.
*
 apiGroup The group of its kind.
 name The name.
`;
