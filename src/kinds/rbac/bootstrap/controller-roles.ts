/**
 * The initial ClusterRoles of the controllers, in the table format of `cluster-roles.ts`. Each is bound to the service
 * account of its controller. The names lack their common prefix.
 */
export const CONTROLLER_ROLE_TABLE = `
attachdetach-controller
 list,watch - persistentvolumeclaims,persistentvolumes
 get,list,watch - nodes
 patch,update - nodes/status
 list,watch - pods
 create,patch,update -,events~ events
 create,delete,get,list,watch storage~ volumeattachments
 get,list,watch storage~ csidrivers
 get,list,watch storage~ csinodes
clusterrole-aggregation-controller
 escalate,get,list,patch,update,watch rbac.authorization~ clusterroles
cronjob-controller
 get,list,update,watch batch cronjobs
 create,delete,get,list,patch,update,watch batch jobs
 update batch cronjobs/status
 update batch cronjobs/finalizers
 delete,list,watch - pods
 create,patch,update -,events~ events
daemon-set-controller
 get,list,watch apps,extensions daemonsets
 update apps,extensions daemonsets/status
 update apps,extensions daemonsets/finalizers
 list,watch - nodes
 create,delete,list,patch,watch - pods
 create - pods/binding
 create,delete,get,list,patch,update,watch apps controllerrevisions
 create,patch,update -,events~ events
deployment-controller
 get,list,update,watch apps,extensions deployments
 update apps,extensions deployments/status
 update apps,extensions deployments/finalizers
 create,delete,get,list,patch,update,watch apps,extensions replicasets
 get,list,update,watch - pods
 create,patch,update -,events~ events
disruption-controller
 get,list,watch apps,extensions deployments
 get,list,watch apps,extensions replicasets
 get,list,watch - replicationcontrollers
 get,list,watch policy poddisruptionbudgets
 get,list,watch apps statefulsets
 update policy poddisruptionbudgets/status
 patch,update - pods/status
 get * */scale
 create,patch,update -,events~ events
endpoint-controller
 get,list,watch - pods,services
 create,delete,get,list,update,watch - endpoints
 create - endpoints/restricted
 create,patch,update -,events~ events
endpointslice-controller
 get,list,watch - nodes,pods,services
 update - services/finalizers
 create,delete,get,list,update,watch discovery~ endpointslices
 create,patch,update -,events~ events
endpointslicemirroring-controller
 get,list,watch - endpoints,services
 update - services/finalizers
 update - endpoints/finalizers
 create,delete,get,list,update,watch discovery~ endpointslices
 create,patch,update -,events~ events
expand-controller
 get,list,patch,update,watch - persistentvolumes
 patch,update - persistentvolumeclaims/status
 get,list,watch - persistentvolumeclaims
 create,patch,update -,events~ events
 get - services
ephemeral-volume-controller
 get,list,watch - pods
 update - pods/finalizers
 create,get,list,watch - persistentvolumeclaims
 create,patch,update -,events~ events
generic-garbage-collector
 delete,get,list,patch,update,watch * *
 create,patch,update -,events~ events
horizontal-pod-autoscaler
 get,list,watch autoscaling horizontalpodautoscalers
 update autoscaling horizontalpodautoscalers/status
 get,update * */scale
 list,watch - pods
 list,watch metrics~ pods
 get,list,watch custom.metrics~ *
 get,list,watch external.metrics~ *
 create,patch,update -,events~ events
job-controller
 get,list,patch,update,watch batch jobs
 update batch jobs/status
 update batch jobs/finalizers
 create,delete,list,patch,watch - pods
 create,patch,update -,events~ events
namespace-controller
 delete,get,list,watch - namespaces
 update - namespaces/finalize,namespaces/status
 delete,deletecollection,get,list,watch * *
node-controller
 delete,get,list,patch,update,watch - nodes
 patch,update - nodes/status
 patch,update - pods/status
 delete,get,list,watch - pods
 create,patch,update -,events~ events
persistent-volume-binder
 create,delete,get,list,update,watch - persistentvolumes
 update - persistentvolumes/status
 get,list,update,watch - persistentvolumeclaims
 update - persistentvolumeclaims/status
 create,delete,get,list,watch - pods
 get,list,watch storage~ storageclasses
 list,watch - nodes
 create,patch,update -,events~ events
 watch - events
 get - services
pod-garbage-collector
 delete,list,watch - pods
 get,list,watch - nodes
 patch - pods/status
replicaset-controller
 get,list,update,watch apps,extensions replicasets
 update apps,extensions replicasets/status
 update apps,extensions replicasets/finalizers
 create,delete,list,patch,watch - pods
 create,patch,update -,events~ events
replication-controller
 get,list,update,watch - replicationcontrollers
 update - replicationcontrollers/status
 update - replicationcontrollers/finalizers
 create,delete,list,patch,watch - pods
 create,patch,update -,events~ events
resourcequota-controller
 list,watch * *
 update - resourcequotas/status
 create,patch,update -,events~ events
route-controller
 list,watch - nodes
 patch - nodes/status
 create,patch,update -,events~ events
service-account-controller
 create - serviceaccounts
 create,patch,update -,events~ events
service-controller
 get,list,watch - services
 patch,update - services/status
 list,watch - nodes
 create,patch,update -,events~ events
service-cidrs-controller
 get,list,patch,update,watch networking~ servicecidrs
 patch,update networking~ servicecidrs/finalizers
 patch,update networking~ servicecidrs/status
 get,list,watch networking~ ipaddresses
 create,patch,update -,events~ events
statefulset-controller
 list,watch - pods
 get,list,watch apps statefulsets
 update apps statefulsets/status
 update apps statefulsets/finalizers
 create,delete,get,patch,update - pods
 create,delete,get,list,patch,update,watch apps controllerrevisions
 create,get,list,watch - persistentvolumeclaims
 create,patch,update -,events~ events
 delete,update - persistentvolumeclaims
 update - pods/finalizers
ttl-controller
 list,patch,update,watch - nodes
 create,patch,update -,events~ events
certificate-controller
 delete,get,list,watch certificates~ certificatesigningrequests
 update certificates~ certificatesigningrequests/approval,certificatesigningrequests/status
 approve certificates~ signers @kube-apiserver-client-kubelet
 sign certificates~ signers @kube-apiserver-client,@kube-apiserver-client-kubelet,@kubelet-serving,@legacy-unknown
 create authorization~ subjectaccessreviews
 create,patch,update -,events~ events
pvc-protection-controller
 get,list,update,watch - persistentvolumeclaims
 get,list,watch - pods
 create,patch,update -,events~ events
pv-protection-controller
 get,list,update,watch - persistentvolumes
 create,patch,update -,events~ events
ttl-after-finished-controller
 delete,get,list,watch batch jobs
 create,patch,update -,events~ events
root-ca-cert-publisher
 create,update - configmaps
 create,patch,update -,events~ events
validatingadmissionpolicy-status-controller
 get,list,watch admissionregistration~ validatingadmissionpolicies
 get,patch,update admissionregistration~ validatingadmissionpolicies/status
 create,patch,update -,events~ events
legacy-service-account-token-cleaner
 get - configmaps kube-apiserver-legacy-service-account-token-tracking
 delete,patch - secrets
selinux-warning-controller
 create,patch,update -,events~ events
 get,list,watch - persistentvolumes
 get,list,watch - persistentvolumeclaims
 get,list,watch - pods
 get,list,watch storage~ csidrivers
`;

/** The role of the storage version migrator, which exists only if migrations are served. */
export const MIGRATOR_ROLE_TABLE = `
storage-version-migrator-controller
 create,list,patch,watch * *
 update storagemigration~ storageversionmigrations/status
`;
