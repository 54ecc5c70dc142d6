/** What the types of this package are for; see `meta.ts` for the notation. */
export const storagemigrationDescriptions = `
StorageVersionMigration Writes all objects of a resource again, in the version of today.
StorageVersionMigrationSpec What is to be written again.
 resource The resource. It cannot be changed.
 continueToken Where the next part begins; it tells how far a running migration is.
StorageVersionMigrationStatus How far it has come.
 resourceVersion The version at which the migration was first seen.
MigrationCondition A statement about the migration.
GroupVersionResource A resource.
 group Its group.
 version Its version.
 resource Its name.
`;
