/**
 * Who has the roles that every cluster starts with. A line is a binding: its name, which is that of its role, and its
 * subjects, `User=`, `Group=` or `ServiceAccount=` (of the namespace of the system) and a name. Where the role has
 * another name, that follows after `=`.
 */
export const CLUSTER_BINDING_TABLE = `
cluster-admin Group=system:masters
system:monitoring Group=system:monitoring
system:discovery Group=system:authenticated
system:basic-user Group=system:authenticated
system:public-info-viewer Group=system:authenticated Group=system:unauthenticated
system:node-proxier User=system:kube-proxy
system:kube-controller-manager User=system:kube-controller-manager
system:kube-dns ServiceAccount=kube-dns
system:kube-scheduler User=system:kube-scheduler
system:volume-scheduler User=system:kube-scheduler
system:node
system:service-account-issuer-discovery Group=system:serviceaccounts
`;

export const BINDING_TABLES: readonly (readonly [namespace: string, table: string])[] = [
  ['kube-public', 'system:controller:bootstrap-signer ServiceAccount=bootstrap-signer'],
  [
    'kube-system',
    `
system::extension-apiserver-authentication-reader=extension-apiserver-authentication-reader User=system:kube-controller-manager User=system:kube-scheduler
system::leader-locking-kube-controller-manager User=system:kube-controller-manager ServiceAccount=kube-controller-manager ServiceAccount=leader-election-controller
system::leader-locking-kube-scheduler User=system:kube-scheduler ServiceAccount=kube-scheduler
system:controller:bootstrap-signer ServiceAccount=bootstrap-signer
system:controller:cloud-provider ServiceAccount=cloud-provider
system:controller:token-cleaner ServiceAccount=token-cleaner
`,
  ],
];
