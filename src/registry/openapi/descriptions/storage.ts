/** What the types of this package are for; see `meta.ts` for the notation. */
export const storageDescriptions = `
StorageClass A class of storage: who makes volumes, and how.
 provisioner Who makes them.
 parameters Settings for whom.
 reclaimPolicy What becomes of volumes when their claim is gone: Delete or Retain.
 mountOptions Options of the mounts.
 allowVolumeExpansion Whether volumes can grow.
 volumeBindingMode When volumes are made: Immediate or WaitForFirstConsumer.
 allowedTopologies Where volumes may be made.
CSIDriver A driver for volumes and what it can do.
CSIDriverSpec What the driver can do.
 attachRequired Volumes must be attached to the node first. It cannot be changed.
 podInfoOnMount The driver is told about the pod when a volume is mounted.
 volumeLifecycleModes Persistent, which is meant when nothing is said, and Ephemeral. They cannot be changed.
 storageCapacity The free space that it reports counts when a node is chosen.
 fsGroupPolicy Whether ownership of files is changed: ReadWriteOnceWithFSType, File or None.
 tokenRequests Tokens of the pod's account that it is given.
 requiresRepublish Volumes are published again from time to time.
 seLinuxMount It takes the SELinux label as an option of the mount.
 nodeAllocatableUpdatePeriodSeconds How often the number of volumes per node is updated.
TokenRequest A token that a driver is given.
 audience For whom it is; no two are for the same.
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
VolumeAttachmentStatus How it went.
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
`;
