/**
 * OpenAPI descriptions of volumes and claims of the core group, and of the storage group. `../definitions.ts` explains
 * the notation and parses it.
 */
export const volumeDescriptions = `
Volume A volume of a pod, with a name and exactly one source.
 name The name, a DNS label that is unique in the pod.
 emptyDir A directory that exists as long as the pod.
 secret Files from a Secret.
 configMap Files from a ConfigMap.
 downwardAPI Files with information about the pod.
 projected Files from several sources in one directory.
 persistentVolumeClaim Storage that is bound to a claim.
 ephemeral Storage from a claim that is made for the pod.
 image The files of an image.
 gitRepo Deprecated; a clone of a repository.
PersistentVolume A piece of storage in the cluster.
PersistentVolumeSpec What the storage is and how it may be used. Exactly one source is set.
 capacity How much it holds.
 claimRef The claim that has it.
 persistentVolumeReclaimPolicy How it is handled when the claim is deleted: Retain, Delete or Recycle.
 mountOptions Options of the mount.
 nodeAffinity The nodes from which it can be reached.
 local A disk or directory of one node.
Volume,PersistentVolumeSpec
 hostPath A file or directory of the node.
 nfs An NFS share.
 iscsi An iSCSI disk.
 fc A Fibre Channel disk.
 csi Storage of a CSI driver.
 awsElasticBlockStore Deprecated; an AWS disk.
 azureDisk Deprecated; an Azure disk.
 azureFile Deprecated; an Azure file share.
 gcePersistentDisk Deprecated; a Google disk.
 cephfs Deprecated; a CephFS mount.
 cinder Deprecated; an OpenStack disk.
 flexVolume Deprecated; storage of an exec driver.
 flocker Deprecated; a Flocker dataset.
 glusterfs Deprecated; a Glusterfs mount.
 photonPersistentDisk Deprecated; a Photon disk.
 portworxVolume Deprecated; a Portworx volume.
 quobyte Deprecated; a Quobyte mount.
 rbd Deprecated; a Ceph block device.
 scaleIO Deprecated; a ScaleIO volume.
 storageos Deprecated; a StorageOS volume.
 vsphereVolume Deprecated; a vSphere disk.
PersistentVolumeStatus The state of the storage.
 phase Pending, Available, Bound, Released or Failed.
 message Why, for people.
 reason Why, in one word.
 lastPhaseTransitionTime When the phase last changed.
PersistentVolumeClaim A request for storage.
PersistentVolumeClaimSpec The storage that is asked for.
 resources How much.
 selector Selects volumes that may be taken.
 dataSource What the volume starts from: a snapshot or another claim.
 dataSourceRef The same, for more kinds of sources.
 volumeName The volume that the claim has.
PersistentVolumeClaimSpec,PersistentVolumeSpec
 accessModes ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
 storageClassName The class of the storage.
 volumeMode Filesystem or Block.
 volumeAttributesClassName The class of its attributes.
PersistentVolumeClaimStatus The state of the claim.
 phase Pending, Bound or Lost.
 accessModes The access modes of the volume.
 capacity How much it holds.
 allocatedResources How much is being provided.
 allocatedResourceStatuses The progress of a change of size.
 currentVolumeAttributesClassName The class of attributes in force.
 modifyVolumeStatus The progress of a change of attributes.
ModifyVolumeStatus The progress of a change of attributes.
 status Pending, InProgress or Infeasible.
 targetVolumeAttributesClassName The class that is wanted.
PersistentVolumeClaimTemplate A claim to be made for a pod.
 metadata Labels and annotations of the claim.
 spec The claim.
VolumeResourceRequirements How much storage.
 requests The least that must be there.
 limits The most that may be there.
VolumeNodeAffinity The nodes from which a volume can be reached.
 required What must hold of them.
VolumeMount A volume in the file system of a container.
 name The name of the volume.
 mountPath Where it appears.
 subPath The part of the volume that is mounted.
 subPathExpr The same, with environment variables in it.
 mountPropagation How mounts propagate between node and container.
 recursiveReadOnly Whether mounts below are read-only too: Disabled, IfPossible or Enabled.
VolumeMountStatus A mount of a running container.
 name The name of the volume.
 mountPath Where it appears.
 recursiveReadOnly Whether mounts below are read-only too.
VolumeDevice A volume as a block device of a container.
 name The name of the claim's volume.
 devicePath Where the device appears.
ConfigMapVolumeSource,SecretVolumeSource,ConfigMapProjection,SecretProjection Files from the entries of an object.
 items Which entries, and where they go; all unless said otherwise.
 secretName The name of the Secret.
KeyToPath An entry as a file.
 key The key of the entry.
 path The path of the file, relative and without '..'.
 mode The permissions of the file.
DownwardAPIVolumeSource,DownwardAPIProjection Files with information about the pod.
 items The files.
DownwardAPIVolumeFile A file with information about the pod.
 path The path of the file, relative and without '..'.
 fieldRef The field of the pod that it holds.
 resourceFieldRef The resource of a container that it holds.
 mode The permissions of the file.
ProjectedVolumeSource Files from several sources.
 sources The sources.
VolumeProjection One source of several. Exactly one field is set.
 configMap Files from a ConfigMap.
 secret Files from a Secret.
 downwardAPI Files with information about the pod.
 serviceAccountToken A token of the pod's account.
 clusterTrustBundle Trust anchors from ClusterTrustBundles.
ClusterTrustBundleProjection Trust anchors in one file, without repetitions and in no particular order.
 name One bundle by its name; not together with a signer.
 signerName All bundles of this signer.
 labelSelector Selects among the bundles of the signer; absent selects none.
 path The path of the file.
ServiceAccountTokenProjection A token in a file.
 audience The audience of the token; the API server unless said otherwise.
 expirationSeconds How long it lasts; an hour unless said otherwise, at least ten minutes.
 path The path of the file.
EmptyDirVolumeSource A directory that starts empty and is deleted with the pod.
 medium The storage medium; Memory uses a RAM disk.
 sizeLimit How much it may hold.
EphemeralVolumeSource A claim that is made for the pod, named after pod and volume, and owned by the pod.
 volumeClaimTemplate The claim.
PersistentVolumeClaimVolumeSource The storage of a claim.
 claimName The claim, in the namespace of the pod.
HostPathVolumeSource A file or directory of the node.
 path The path on the node.
 type What must be there, or is made.
NFSVolumeSource An NFS share.
 server The server.
 path The exported path.
ImageVolumeSource The files of an image.
 reference The image.
 pullPolicy When to pull it: Always, IfNotPresent or Never.
LocalVolumeSource A disk or directory of one node.
 path The path on the node.
CSIVolumeSource,CSIPersistentVolumeSource Storage of a CSI driver.
 volumeAttributes Settings for the driver.
 volumeHandle The volume, as the driver names it.
 nodePublishSecretRef The secret for mounting.
 nodeStageSecretRef The secret for staging.
 controllerPublishSecretRef The secret for attaching.
 controllerExpandSecretRef The secret for growing on the controller.
 nodeExpandSecretRef The secret for growing on the node.
ISCSIVolumeSource,ISCSIPersistentVolumeSource An iSCSI disk.
 targetPortal The address of the target.
 iqn The name of the target.
 lun The number of the disk.
 iscsiInterface The interface to use.
 portals Further addresses of the target.
 chapAuthDiscovery Authenticates the discovery.
 chapAuthSession Authenticates the session.
 initiatorName The name of the initiator.
FCVolumeSource A Fibre Channel disk, by wwids or by targetWWNs and lun.
 targetWWNs World-wide names of the target.
 lun The number of the disk.
 wwids World-wide identifiers of the disk.
AWSElasticBlockStoreVolumeSource,GCEPersistentDiskVolumeSource A cloud disk. Deprecated.
 partition The partition; 0 for the whole disk.
 pdName The name of the disk.
AzureDiskVolumeSource An Azure disk. Deprecated.
 diskName The name of the disk.
 diskURI The address of the disk.
 cachingMode None, ReadOnly or ReadWrite.
 kind Shared, Dedicated or Managed.
AzureFileVolumeSource,AzureFilePersistentVolumeSource An Azure file share. Deprecated.
 secretName The Secret with the account.
 secretNamespace The namespace of the Secret.
 shareName The name of the share.
CephFSVolumeSource,CephFSPersistentVolumeSource,RBDVolumeSource,RBDPersistentVolumeSource Ceph storage. Deprecated.
 monitors Addresses of the monitors.
 path The directory to mount.
 secretFile The file with the key.
 image The name of the image.
 pool The pool.
 user The user.
 keyring The file with the keys.
CinderVolumeSource,CinderPersistentVolumeSource An OpenStack disk. Deprecated.
FlexVolumeSource,FlexPersistentVolumeSource Storage of an exec driver. Deprecated.
 options Settings for the driver.
FlockerVolumeSource A Flocker dataset; exactly one field is set. Deprecated.
 datasetName The name of the dataset.
 datasetUUID The identity of the dataset.
GlusterfsVolumeSource,GlusterfsPersistentVolumeSource A Glusterfs mount. Deprecated.
 endpoints The Endpoints with the servers.
 endpointsNamespace The namespace of the Endpoints.
 path The volume.
QuobyteVolumeSource A Quobyte mount. Deprecated.
 registry Addresses of the registries.
 volume The volume.
 user The user.
 group The group.
 tenant The tenant.
ScaleIOVolumeSource,ScaleIOPersistentVolumeSource A ScaleIO volume. Deprecated.
 gateway The address of the gateway.
 system The storage system.
 protectionDomain The protection domain.
 storagePool The pool.
 storageMode ThickProvisioned or ThinProvisioned.
 sslEnabled Uses TLS for the gateway.
StorageOSVolumeSource,StorageOSPersistentVolumeSource A StorageOS volume. Deprecated.
 volumeNamespace The scope of the name.
VsphereVirtualDiskVolumeSource A vSphere disk. Deprecated.
 volumePath The path of the disk.
 storagePolicyName The storage policy.
 storagePolicyID The identity of the storage policy.
PersistentVolumeClaimCondition A statement about a claim.
GitRepoVolumeSource A clone of a repository. Deprecated.
 repository The address of the repository.
 revision The commit.
 directory The directory to clone into.
TopologySelectorTerm Places where volumes may be made.
 matchLabelExpressions What must hold of the labels of nodes.
TopologySelectorLabelRequirement A label and its allowed values.
 key The label.
 values The values.
*
 fsType The file system.
 readOnly Whether it is only read.
 secretRef The secret with credentials.
 volumeID The volume, as its provider names it.
 volumeName The name of the volume.
 driver The name of the driver.
 defaultMode The permissions of files, 0 to 511 in decimal; 0644 unless said otherwise.
 optional Whether it may be absent.
`;

export const storageDescriptions: Readonly<Record<string, string>> = {
  storage: `
StorageClass A class of storage: the provisioner of volumes and its settings.
 provisioner The provisioner of the volumes.
 parameters Settings for the provisioner.
 reclaimPolicy How volumes are handled when their claim is deleted: Delete or Retain.
 mountOptions Options of the mounts.
 allowVolumeExpansion Whether volumes can grow.
 volumeBindingMode When volumes are made: Immediate or WaitForFirstConsumer.
 allowedTopologies Where volumes may be made.
CSIDriver A driver for volumes and what it can do.
CSIDriverSpec What the driver can do.
 attachRequired Volumes must be attached to the node first. It cannot be changed.
 podInfoOnMount The driver gets information about the pod when a volume is mounted.
 volumeLifecycleModes Persistent (the default) and Ephemeral. They cannot be changed.
 storageCapacity The free space that it reports counts when a node is chosen.
 fsGroupPolicy Whether ownership of files is changed: ReadWriteOnceWithFSType, File or None.
 tokenRequests Tokens of the pod's account that it is given.
 requiresRepublish Volumes are published again from time to time.
 seLinuxMount It takes the SELinux label as an option of the mount.
 nodeAllocatableUpdatePeriodSeconds How often the number of volumes per node is updated.
TokenRequest A token that a driver is given.
 audience The audience; it is unique.
 expirationSeconds How long it lasts.
CSINode The drivers of a node. It has the name of the node.
CSINodeSpec The drivers.
 drivers The drivers, by name.
CSINodeDriver A driver on a node.
 name The name of the driver.
 nodeID The node, as the driver names it.
 topologyKeys Labels of nodes that tell where they are.
 allocatable How many volumes the node can have.
VolumeNodeResources How many volumes a node can have.
 count The number; absent is without a bound.
CSIStorageCapacity How much room there is for volumes of a class in a place.
 nodeTopology Selects the nodes of the place; absent: it cannot be reached from any node.
 storageClassName The class. It cannot be changed.
 capacity How much room there is; absent is not known.
 maximumVolumeSize The largest volume; absent: capacity counts.
VolumeAttachment A volume that is to be attached to a node.
VolumeAttachmentSpec What is attached to what, by whom.
 attacher The driver.
 source The volume.
 nodeName The node.
VolumeAttachmentSource A volume.
 persistentVolumeName A volume by its name.
 inlineVolumeSpec A volume of a pod's own.
VolumeAttachmentStatus The state of the attachment.
 attached Whether it is attached.
 attachmentMetadata What the driver says about it.
 attachError What went wrong while attaching.
 detachError What went wrong while detaching.
VolumeError What went wrong.
 time When.
 message What, for people.
 errorCode The code of the driver.
VolumeAttributesClass Attributes of volumes that can be changed.
 driverName The driver.
 parameters The attributes.
`,
};
