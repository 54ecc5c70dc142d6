/**
 * A cluster as a target of manifests. Its kinds are those of discovery.
 */
import type { ApiResource } from '../../http/transport/discovery.js';
import type { Kind } from '../../kinds/kind.js';
import type { ManifestKind, ManifestTarget } from '../../manifests/apply.js';
import type { OpenCluster } from './open-cluster.js';

export async function manifestTarget(cluster: OpenCluster): Promise<ManifestTarget> {
  // A large part of the library, which other commands do not need.
  const { CustomResourceDefinition } = await import('../../crd/index.js');
  const discover = async (): Promise<ManifestKind[]> =>
    (await cluster.discover()).map((resource) => withDefinition(resource, CustomResourceDefinition));
  let kinds = await discover();
  return {
    ...cluster.transport,
    kinds: () => kinds,
    refreshKinds: async () => {
      kinds = await discover();
    },
  };
}

/** CustomResourceDefinitions are awaited with their kind. */
function withDefinition(resource: ApiResource, definition: Kind): ManifestKind {
  const { group, version, kind } = definition;
  const { gvk, dialect } = resource;
  const isDefinition = gvk.kind === kind && gvk.version === version && gvk.group === dialect.group(group);
  return isDefinition ? { ...resource, kind: definition } : resource;
}
