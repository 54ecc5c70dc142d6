/**
 * The initial ClusterRoles for users and control plane components, as a table. A line is a role; an indented line below
 * it is a rule: verbs, groups, resources and optional resource names. `-` is the core group; `/` in place of the groups
 * introduces non-resource URLs. `~` stands for the dialect's domain at the end of a group, `@` for the dialect's key
 * prefix.
 */
export const CLUSTER_ROLE_TABLE = `
cluster-admin
 * * *
 * / *
system:discovery
 get / /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
system:monitoring
 get / /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*
system:basic-user
 create authorization~ selfsubjectaccessreviews,selfsubjectrulesreviews
 create authentication~ selfsubjectreviews
system:public-info-viewer
 get / /healthz,/livez,/readyz,/version,/version/
system:aggregate-to-admin
 create authorization~ localsubjectaccessreviews
 create,delete,deletecollection,get,list,patch,update,watch rbac.authorization~ rolebindings,roles
system:aggregate-to-edit
 get,list,watch - pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
 impersonate - serviceaccounts
 create,delete,deletecollection,patch,update - pods,pods/attach,pods/exec,pods/portforward,pods/proxy
 create - pods/eviction
 create,delete,deletecollection,patch,update - configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
 create - serviceaccounts/token
 create,delete,deletecollection,patch,update apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale
 create,delete,deletecollection,patch,update autoscaling horizontalpodautoscalers
 create,delete,deletecollection,patch,update batch cronjobs,jobs
 create,delete,deletecollection,patch,update extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale
 create,delete,deletecollection,patch,update policy poddisruptionbudgets
 create,delete,deletecollection,patch,update networking~ ingresses,networkpolicies
 create,delete,deletecollection,get,list,patch,update,watch coordination~ leases
system:aggregate-to-view
 get,list,watch - configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
 get,list,watch - bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status
 get,list,watch - namespaces
 get,list,watch discovery~ endpointslices
 get,list,watch apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
 get,list,watch autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status
 get,list,watch batch cronjobs,cronjobs/status,jobs,jobs/status
 get,list,watch extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale
 get,list,watch policy poddisruptionbudgets,poddisruptionbudgets/status
 get,list,watch networking~ ingresses,ingresses/status,networkpolicies
system:heapster
 get,list,watch - events,namespaces,nodes,pods
 get,list,watch extensions deployments
system:node
 create authentication~ tokenreviews
 create authorization~ localsubjectaccessreviews,subjectaccessreviews
 get,list,watch - services
 create,get,list,watch - nodes
 patch,update - nodes/status
 patch,update - nodes
 create,patch,update - events
 get,list,watch - pods
 create,delete - pods
 patch,update - pods/status
 create - pods/eviction
 get,list,watch - configmaps,secrets
 get - persistentvolumeclaims,persistentvolumes
 get - endpoints
 create,get,list,watch certificates~ certificatesigningrequests
 create,delete,get,patch,update coordination~ leases
 get storage~ volumeattachments
 create - serviceaccounts/token
 get,patch,update - persistentvolumeclaims/status
 get,list,watch storage~ csidrivers
 create,delete,get,patch,update storage~ csinodes
 get,list,watch node~ runtimeclasses
system:node-problem-detector
 get - nodes
 patch - nodes/status
 create,patch,update -,events~ events
system:node-bootstrapper
 create,get,list,watch certificates~ certificatesigningrequests
system:auth-delegator
 create authentication~ tokenreviews
 create authorization~ subjectaccessreviews
system:kube-aggregator
 get,list,watch - endpoints,services
system:kube-controller-manager
 create,patch,update -,events~ events
 create coordination~ leases
 get,update coordination~ leases kube-controller-manager
 create - secrets,serviceaccounts
 delete - secrets
 get - configmaps,namespaces,secrets,serviceaccounts
 update - secrets,serviceaccounts
 create authentication~ tokenreviews
 create authorization~ subjectaccessreviews
 list,watch * *
 create - serviceaccounts/token
system:kube-dns
 list,watch - endpoints,services
system:persistent-volume-provisioner
 create,delete,get,list,watch - persistentvolumes
 get,list,update,watch - persistentvolumeclaims
 get,list,watch storage~ storageclasses
 watch - events
 create,patch,update -,events~ events
system:certificates~:certificatesigningrequests:nodeclient
 create certificates~ certificatesigningrequests/nodeclient
system:certificates~:certificatesigningrequests:selfnodeclient
 create certificates~ certificatesigningrequests/selfnodeclient
system:volume-scheduler
 get,list,patch,update,watch - persistentvolumes
 get,list,watch storage~ storageclasses
 get,list,patch,update,watch - persistentvolumeclaims
system:certificates~:legacy-unknown-approver
 approve certificates~ signers @legacy-unknown
system:certificates~:kubelet-serving-approver
 approve certificates~ signers @kubelet-serving
system:certificates~:kube-apiserver-client-approver
 approve certificates~ signers @kube-apiserver-client
system:certificates~:kube-apiserver-client-kubelet-approver
 approve certificates~ signers @kube-apiserver-client-kubelet
system:service-account-issuer-discovery
 get / /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/
system:kubelet-api-admin
 get,list,watch - nodes
 proxy - nodes
 * - nodes/log,nodes/metrics,nodes/proxy,nodes/stats
 * - nodes/configz,nodes/healthz,nodes/pods
system:node-proxier
 list,watch - endpoints,services
 get,list,watch - nodes
 create,patch,update -,events~ events
 list,watch networking~ servicecidrs
 list,watch discovery~ endpointslices
system:kube-scheduler
 create,patch,update -,events~ events
 create coordination~ leases
 get,list,update,watch coordination~ leases kube-scheduler
 create,delete,deletecollection,get,list,patch,update,watch coordination~ leasecandidates
 get,list,watch - nodes
 delete,get,list,watch - pods
 create - bindings,pods/binding
 patch,update - pods/status
 get,list,watch - replicationcontrollers,services
 get,list,watch apps,extensions replicasets
 get,list,watch apps statefulsets
 get,list,watch policy poddisruptionbudgets
 get,list,watch - persistentvolumeclaims,persistentvolumes
 create authentication~ tokenreviews
 create authorization~ subjectaccessreviews
 get,list,watch storage~ csinodes
 get,list,watch storage~ volumeattachments
 get,list,watch - namespaces
 get,list,watch storage~ csidrivers
 get,list,watch storage~ csistoragecapacities
`;
