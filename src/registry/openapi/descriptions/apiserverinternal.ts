/** What the types of this package are for; see `meta.ts` for the notation. */
export const apiserverinternalDescriptions = `
StorageVersion In which versions servers store a resource.
StorageVersionSpec Empty.
StorageVersionStatus What the servers say.
 storageVersions What each server says.
 commonEncodingVersion The version in which all of them store, if there is one.
StorageVersionCondition A statement about the servers.
ServerStorageVersion What one server says.
 apiServerID The server.
 encodingVersion The version in which it stores.
 decodableVersions Versions that it can read.
 servedVersions Versions that it serves.
`;
