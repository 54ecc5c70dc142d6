/**
 * A cluster as a target of manifests. Its kinds are those of discovery.
 */
import { CustomResourceDefinition } from '../../crd/index.js';
import type { ApiResource } from '../../http/transport/discovery.js';
import type { ManifestKind, ManifestTarget } from '../../manifests/apply.js';
import type { OpenCluster } from './open-cluster.js';

export async function manifestTarget(cluster: OpenCluster): Promise<ManifestTarget> {
  let kinds = (await cluster.discover()).map(withDefinition);
  return {
    ...cluster.transport,
    kinds: () => kinds,
    refreshKinds: async () => {
      kinds = (await cluster.discover()).map(withDefinition);
    },
  };
}

/** CustomResourceDefinitions are awaited with their kind. */
function withDefinition(resource: ApiResource): ManifestKind {
  const { group, version, kind } = CustomResourceDefinition;
  const { gvk, dialect } = resource;
  const isDefinition = gvk.kind === kind && gvk.version === version && gvk.group === dialect.group(group);
  return isDefinition ? { ...resource, kind: CustomResourceDefinition } : resource;
}
