/**
 * The entry `orchplane/core`: the library for small bundles. `createCluster` serves only Namespace and the kinds of the
 * option `kinds`, so a bundle contains no other kind.
 */

export { coreAdmission as defaultAdmission } from './admission/plugins/core-plugins.js';
export { createCluster } from './cluster/bare-cluster.js';
export * from './cluster/public-api.js';
export { defineKind } from './kinds/define-kind.js';
