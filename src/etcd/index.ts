/**
 * The entry point `orchplane/etcd`, for Node only: clusters in the format of kube-apiserver's etcd.
 */
export type { EtcdTls } from './connections.js';
export { type EtcdSnapshot, type EtcdSnapshotOptions, openEtcdSnapshot, type Skippable } from './open-snapshot.js';
export { type EtcdStorageOptions, etcdStorage } from './storage.js';
export { type SnapshotSource, type WriteSnapshotOptions, writeEtcdSnapshot } from './write-snapshot.js';
