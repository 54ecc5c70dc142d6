/**
 * The entry `orchplane`: a Kubernetes-style control plane as a library, with all built-in kinds.
 *
 * - `createCluster()` returns a cluster, which is also a client. Kinds come from `orchplane/kinds` or from `defineKind`.
 * - `cluster.api(ConfigMap)` reads and writes the objects of one kind in one namespace. `cluster.all(ConfigMap)` reads all
 *   namespaces. `cluster.with({ … })` is the same client with other defaults.
 * - Failed requests reject with a `StatusError`; `StatusError.is(error, 'NotFound')` tests the reason.
 * - `cluster.snapshot()`, `restore()` and `fork()` save, restore and copy the state.
 */

// Clusters

export { defaultAdmission } from './admission/plugins/default-plugins.js';
export { createCluster, type FullCluster as Cluster } from './cluster/full-cluster.js';

// Names that `orchplane/core` exports too

export * from './cluster/public-api.js';

// Authorization of kubelets

export { nodeAuthorizer } from './auth/node/node-authorizer.js';

// Authentication by other servers

export { type OpenIdConnectOptions, openIdConnect } from './auth/openid/openid-connect.js';
export { type TokenWebhookOptions, tokenWebhook } from './auth/tokens/token-webhook.js';

// Kinds and CRDs

export { defineKind } from './crd/define-kind-with-rules.js';
export type { SchemaLoss } from './crd/zod/context.js';
export { type DefinitionManifest, type ToCRDOptions, toCRD } from './crd/zod/to-crd.js';

// Manifests

export type { AppliedManifest } from './manifests/apply.js';
export type { ApplyYamlOptions } from './manifests/apply-yaml.js';
export { ManifestsError } from './manifests/apply-yaml.js';
export type { DynamicInput, DynamicKind, DynamicObject, InstallYamlOptions } from './manifests/install-yaml.js';
export { ManifestError } from './manifests/read.js';

// Device selectors of dynamic resource allocation

export {
  type ClassLike,
  DeviceSelectionError,
  matchDevices,
  type SelectableAttribute,
  type SelectableCapacity,
  type SelectableDevice,
  type SelectorLike,
} from './cel/index.js';
