/** Message types of the group `storage`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const storage: GroupTypes = {
  name: 'storage',
  group: serviceGroup('storage'),
  versions: [
    {
      version: 'v1',
      kinds: 'CSIDriver+ CSINode+ CSIStorageCapacity+ StorageClass+ VolumeAttachment+',
      types: `
CSIDriver metadata:ObjectMeta spec:CSIDriverSpec
CSIDriverSpec attachRequired*:bool podInfoOnMount*:bool volumeLifecycleModes[] storageCapacity*:bool fsGroupPolicy*
  tokenRequests[]:TokenRequest requiresRepublish*:bool seLinuxMount*:bool nodeAllocatableUpdatePeriodSeconds*:int64
CSINode metadata:ObjectMeta spec:CSINodeSpec
CSINodeDriver name nodeID topologyKeys[] allocatable*:VolumeNodeResources
CSINodeSpec drivers[]:CSINodeDriver
CSIStorageCapacity metadata:ObjectMeta nodeTopology*:LabelSelector storageClassName capacity*:Quantity
  maximumVolumeSize*:Quantity
StorageClass metadata:ObjectMeta provisioner parameters{} reclaimPolicy* mountOptions[] allowVolumeExpansion*:bool
  volumeBindingMode* allowedTopologies[]:TopologySelectorTerm
TokenRequest audience expirationSeconds*:int64
VolumeAttachment metadata:ObjectMeta spec:VolumeAttachmentSpec status:VolumeAttachmentStatus
VolumeAttachmentSource persistentVolumeName* inlineVolumeSpec*:PersistentVolumeSpec
VolumeAttachmentSpec attacher source:VolumeAttachmentSource nodeName
VolumeAttachmentStatus attached:bool attachmentMetadata{} attachError*:VolumeError detachError*:VolumeError
VolumeError time:Time message errorCode*:int32
VolumeNodeResources count*:int32
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'CSIDriver+ CSINode+ CSIStorageCapacity+ StorageClass+ VolumeAttachment+ VolumeAttributesClass+',
      types: `
VolumeAttributesClass metadata:ObjectMeta driverName parameters{}
      `,
    },
    {
      version: 'v1alpha1',
      like: 'v1',
      kinds: 'CSIStorageCapacity+ VolumeAttachment+ VolumeAttributesClass+',
      types: `
VolumeAttributesClass metadata:ObjectMeta driverName parameters{}
      `,
    },
  ],
};
