/** Message types of the group `storagemigration`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const storagemigration: GroupTypes = {
  name: 'storagemigration',
  group: serviceGroup('storagemigration'),
  versions: [
    {
      version: 'v1alpha1',
      kinds: 'StorageVersionMigration+',
      types: `
GroupVersionResource group version resource
MigrationCondition type status lastUpdateTime:Time reason message
StorageVersionMigration metadata:ObjectMeta spec:StorageVersionMigrationSpec status:StorageVersionMigrationStatus
StorageVersionMigrationSpec resource:GroupVersionResource continueToken
StorageVersionMigrationStatus conditions[]:MigrationCondition resourceVersion
      `,
    },
  ],
};
