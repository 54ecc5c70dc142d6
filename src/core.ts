/**
 * orchplane/core: the same library for pages that count bytes. `createCluster` here serves Namespace and what `kinds`
 * names, so a bundle carries no other kind.
 */

export { coreAdmission as defaultAdmission } from './admission/plugins/core-plugins.js';
export * from './cluster/api.js';
export { createCluster } from './cluster/bare-cluster.js';
export { defineKind } from './kinds/define-kind.js';
