/**
 * orchplane: a cluster control plane that is imported, not deployed.
 *
 * In the order a newcomer needs:
 *
 * 1. `createCluster()` gives a cluster, which is its own client. Kinds come from `orchplane/kinds`, or from
 *    `defineKind` for your own.
 * 2. `cluster.api(ConfigMap)` is one kind in one namespace: get, list, create, update, edit, patch, delete, watch.
 *    `cluster.all(ConfigMap)` reads across namespaces. `cluster.with({ … })` is the same client with other defaults.
 * 3. What fails throws a `StatusError`; `StatusError.is(e, 'NotFound')` asks why. `errors` makes them.
 * 4. `cluster.snapshot()`, `restore()` and `fork()` make state cheap to set up and to throw away.
 * 5. `orchplane/http` puts a cluster behind fetch; `orchplane/testing` gives tests their own time and identities.
 */

export { defaultAdmission } from './admission/plugins/default-plugins.js';
export {
  type ClassLike,
  DeviceSelectionError,
  matchDevices,
  type SelectableAttribute,
  type SelectableCapacity,
  type SelectableDevice,
  type SelectorLike,
} from './cel/index.js';
export * from './cluster/api.js';
export { createCluster, type FullCluster as Cluster } from './cluster/full-cluster.js';
export { defineKind } from './crd/define-kind.js';
export type { SchemaLoss } from './crd/zod/context.js';
export { type DefinitionManifest, type ToCRDOptions, toCRD } from './crd/zod/to-crd.js';
export type { AppliedManifest } from './manifests/apply.js';
export type { ApplyYamlOptions } from './manifests/apply-yaml.js';
export { ManifestsError } from './manifests/apply-yaml.js';
export type { DynamicInput, DynamicKind, DynamicObject, InstallYamlOptions } from './manifests/install-yaml.js';
export { ManifestError } from './manifests/read.js';
