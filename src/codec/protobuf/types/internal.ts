/** Message types of the group `internal.apiserver`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const internal: GroupTypes = {
  name: 'internal',
  group: serviceGroup('internal.apiserver'),
  versions: [
    {
      version: 'v1alpha1',
      kinds: 'StorageVersion+',
      types: `
ServerStorageVersion apiServerID encodingVersion decodableVersions[] servedVersions[]
StorageVersion metadata:ObjectMeta spec:StorageVersionSpec status:StorageVersionStatus
StorageVersionCondition type status observedGeneration:int64 lastTransitionTime:Time reason message
StorageVersionSpec
StorageVersionStatus storageVersions[]:ServerStorageVersion commonEncodingVersion*
  conditions[]:StorageVersionCondition
      `,
    },
  ],
};
