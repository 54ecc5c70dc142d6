/**
 * Type aliases of the stored objects that this folder handles.
 */
import type { Stored } from '../../client/api.js';
import type { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import type { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { StorageClass } from '../../kinds/storage/v1/storage-class.js';

export type StoredVolume = Stored<typeof PersistentVolume>;
export type StoredClaim = Stored<typeof PersistentVolumeClaim>;
export type StoredPod = Stored<typeof Pod>;
export type StoredClass = Stored<typeof StorageClass>;
