/**
 * The storagemigration group.
 */
import type { Kind } from '../kind.js';
import { StorageVersionMigration } from './v1alpha1/storage-version-migration.js';

export * from './v1alpha1/storage-version-migration.js';

/** The kinds of the group. */
export const storagemigrationKinds: readonly Kind[] = [StorageVersionMigration];
