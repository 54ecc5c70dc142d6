/** Message types of the group `meta`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const meta: GroupTypes = {
  name: 'meta',
  group: serviceGroup('meta'),
  versions: [
    {
      version: 'v1',
      kinds: 'PartialObjectMetadata+',
      types: `
APIGroup name versions[]:GroupVersionForDiscovery preferredVersion:GroupVersionForDiscovery
  serverAddressByClientCIDRs[]:ServerAddressByClientCIDR
APIGroupList groups[]:APIGroup
APIResource name namespaced:bool kind verbs*:Verbs shortNames[] singularName categories[] group version
  storageVersionHash
APIResourceList groupVersion resources[]:APIResource
APIVersions versions[] serverAddressByClientCIDRs[]:ServerAddressByClientCIDR
Condition type status observedGeneration:int64 lastTransitionTime:Time reason message
CreateOptions dryRun[] fieldManager=3 fieldValidation
DeleteOptions gracePeriodSeconds*:int64 preconditions*:Preconditions orphanDependents*:bool propagationPolicy*
  dryRun[] ignoreStoreReadErrorWithClusterBreakingPotential*:bool
FieldSelectorRequirement key operator values[]
GetOptions resourceVersion
GroupVersionForDiscovery groupVersion version
GroupVersionKind group version kind
GroupVersionResource group version resource
LabelSelector matchLabels{} matchExpressions[]:LabelSelectorRequirement
LabelSelectorRequirement key operator values[]
ListMeta selfLink resourceVersion continue remainingItemCount*:int64
ListOptions labelSelector fieldSelector watch:bool resourceVersion timeoutSeconds*:int64 limit=7:int64 continue
  allowWatchBookmarks:bool resourceVersionMatch sendInitialEvents*:bool
ManagedFieldsEntry manager operation apiVersion time*:Time fieldsType=6 fieldsV1*:FieldsV1 subresource
ObjectMeta name generateName namespace selfLink uid resourceVersion generation:int64 creationTimestamp:Time
  deletionTimestamp*:Time deletionGracePeriodSeconds*:int64 labels{} annotations{} ownerReferences[]:OwnerReference
  finalizers[] managedFields=17[]:ManagedFieldsEntry
OwnerReference kind name=3 uid apiVersion controller*:bool blockOwnerDeletion*:bool
PartialObjectMetadata metadata:ObjectMeta
PatchOptions dryRun[] force*:bool fieldManager fieldValidation
Preconditions uid* resourceVersion*
ServerAddressByClientCIDR clientCIDR serverAddress
Status metadata:ListMeta status message reason details*:StatusDetails code:int32
StatusCause reason message field
StatusDetails name group kind causes[]:StatusCause retryAfterSeconds:int32 uid
UpdateOptions dryRun[] fieldManager fieldValidation
WatchEvent type object:RawExtension
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'PartialObjectMetadata PartialObjectMetadataList',
      types: `
PartialObjectMetadataList items[]:PartialObjectMetadata metadata:ListMeta
      `,
    },
  ],
};
