/**
 * The internal.apiserver group.
 */
import type { Kind } from '../kind.js';
import { StorageVersion } from './v1alpha1/storage-version.js';

export * from './v1alpha1/storage-version.js';

/** The kinds of the group. */
export const internalKinds: readonly Kind[] = [StorageVersion];
