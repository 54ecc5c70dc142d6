/**
 * The roles within the namespaces of the system, by namespace; tables as in `cluster-roles.ts`.
 */
export const ROLE_TABLES: readonly (readonly [namespace: string, table: string])[] = [
  [
    'kube-public',
    `
system:controller:bootstrap-signer
 get,list,watch - configmaps
 update - configmaps cluster-info
 create,patch,update -,events~ events
`,
  ],
  [
    'kube-system',
    `
extension-apiserver-authentication-reader
 get,list,watch - configmaps extension-apiserver-authentication
system:controller:bootstrap-signer
 get,list,watch - secrets
system:controller:cloud-provider
 create,get,list,watch - configmaps
system:controller:token-cleaner
 delete,get,list,watch - secrets
 create,patch,update -,events~ events
system::leader-locking-kube-controller-manager
 watch - configmaps
 get,update - configmaps kube-controller-manager
 create,get,list,update,watch coordination~ leases
 create,get,list,update,watch coordination~ leasecandidates
system::leader-locking-kube-scheduler
 watch - configmaps
 get,update - configmaps kube-scheduler
 create,get,list,update,watch coordination~ leases
 create,get,list,update,watch coordination~ leasecandidates
`,
  ],
];
