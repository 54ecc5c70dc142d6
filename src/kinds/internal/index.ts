/**
 * The group of the service's own bookkeeping.
 */
import type { Kind } from '../kind.js';
import { StorageVersion } from './v1alpha1/storage-version.js';

export * from './v1alpha1/storage-version.js';

export const internalKinds: readonly Kind[] = [StorageVersion];
