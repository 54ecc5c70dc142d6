/**
 * Which objects belong to a node, through the pods that run there:
 *
 *   node ← pod ← Secret, ConfigMap, ServiceAccount, PersistentVolumeClaim, ResourceClaim
 *   PersistentVolumeClaim ← PersistentVolume ← Secret
 *   node ← VolumeAttachment, ResourceSlice
 *
 * Storage keeps the relations of pods and volumes in indexes, so that a lookup does not depend on the number of pods.
 */
import { mirrorKey } from '../../kinds/core/v1/pod-spec/annotations.js';
import { configMapNames, secretNames } from '../../kinds/core/v1/pod-spec/references.js';
import type { PersistentVolumeSpec, PodSpec, PodStatus } from '../../kinds/generated/core-v1.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject, DeepReadonly } from '../../meta/object.js';
import type { KeysOf } from '../../storage/types.js';
import type { AuthorizerContext } from '../authorizer.js';

const PODS: GroupResource = { group: '', resource: 'pods' };
const VOLUMES: GroupResource = { group: '', resource: 'persistentvolumes' };
const ATTACHMENTS: GroupResource = { group: serviceGroup('storage'), resource: 'volumeattachments' };
const SLICES: GroupResource = { group: serviceGroup('resource'), resource: 'resourceslices' };

/** The plurals of resources with relations to nodes. */
export type RelatedResource =
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'pods'
  | 'resourceclaims'
  | 'resourceslices'
  | 'secrets'
  | 'serviceaccounts'
  | 'volumeattachments';

type PodIndexResource = Exclude<RelatedResource, 'persistentvolumes' | 'resourceslices' | 'volumeattachments'>;

export class NodeRelations {
  readonly #context: AuthorizerContext;
  /** Storage keeps an index for each function. */
  readonly #podKeys: KeysOf<string>;

  constructor(context: AuthorizerContext) {
    this.#context = context;
    const mirror = mirrorKey(context.dialect);
    this.#podKeys = (pod) => podKeys(pod, mirror);
  }

  has(node: string, resource: RelatedResource, object: { readonly namespace: string; readonly name: string }): boolean {
    const { namespace, name } = object;
    if (resource === 'volumeattachments') return this.#nodeNameOf(ATTACHMENTS, object) === node;
    if (resource === 'resourceslices') return this.#nodeNameOf(SLICES, object) === node;
    if (resource === 'persistentvolumes') {
      const volume = this.#get(VOLUMES, object);
      const claim = volume && claimOf(volume);
      return claim !== undefined && this.#podsUse(node, 'persistentvolumeclaims', claim);
    }
    const key = `${namespace}/${name}`;
    return this.#podsUse(node, resource, key) || (resource === 'secrets' && this.#volumesUse(node, key));
  }

  #podsUse(node: string, resource: PodIndexResource, key: string): boolean {
    return this.#context.index(PODS, this.#podKeys).has(keyFor(node, resource, key));
  }

  #volumesUse(node: string, secret: string): boolean {
    for (const key of this.#context.index(VOLUMES, volumeKeys).keys()) {
      const [used, claim = ''] = key.split(' ');
      if (used === secret && this.#podsUse(node, 'persistentvolumeclaims', claim)) return true;
    }
    return false;
  }

  #nodeNameOf(resource: GroupResource, address: { readonly namespace: string; readonly name: string }): unknown {
    const spec = this.#get(resource, address)?.['spec'] as { readonly nodeName?: unknown } | undefined;
    return spec?.nodeName;
  }

  /** A cluster-scoped object. Access reviews may name a namespace, in which there is none. */
  #get(resource: GroupResource, { namespace, name }: { readonly namespace: string; readonly name: string }) {
    return namespace === '' ? this.#context.objects.get({ ...resource, namespace, name }) : undefined;
  }
}

/** Names contain no spaces. */
function keyFor(node: string, resource: PodIndexResource, key: string): string {
  return `${node} ${resource} ${key}`;
}

function podKeys({ metadata, ...pod }: ApiObject, mirror: string): string[] {
  const spec = pod['spec'] as DeepReadonly<PodSpec>;
  const { nodeName: node, serviceAccountName, volumes = [] } = spec;
  if (node === undefined || node === '') return [];
  const keys = new Set<string>();
  const add = (resource: PodIndexResource, name: string | undefined) => {
    if (name !== undefined && name !== '') keys.add(keyFor(node, resource, `${metadata.namespace}/${name}`));
  };
  add('pods', metadata.name);
  // A node creates mirror pods itself, so they must not give it access to other objects.
  if (metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, mirror)) return [...keys];
  add('serviceaccounts', serviceAccountName);
  for (const name of secretNames(spec)) add('secrets', name);
  for (const name of configMapNames(spec)) add('configmaps', name);
  for (const { name, persistentVolumeClaim, ephemeral } of volumes) {
    if (persistentVolumeClaim !== undefined) add('persistentvolumeclaims', persistentVolumeClaim.claimName);
    else if (ephemeral !== undefined) add('persistentvolumeclaims', `${metadata.name}-${name}`);
  }
  for (const name of resourceClaimNames(spec, pod['status'] as DeepReadonly<PodStatus> | undefined)) {
    add('resourceclaims', name);
  }
  return [...keys];
}

/** The status names the claims that were created from templates. */
function resourceClaimNames(
  { resourceClaims = [] }: DeepReadonly<PodSpec>,
  status: DeepReadonly<PodStatus> | undefined,
): (string | undefined)[] {
  return resourceClaims.map(({ name, resourceClaimName, resourceClaimTemplateName }) => {
    if (resourceClaimName !== undefined || resourceClaimTemplateName === undefined) return resourceClaimName;
    return status?.resourceClaimStatuses?.find((each) => each.name === name)?.resourceClaimName;
  });
}

/** The claim that a volume is bound to or reserved for. */
function claimOf(volume: ApiObject): string | undefined {
  const { claimRef } = volume['spec'] as DeepReadonly<PersistentVolumeSpec>;
  return claimRef && `${claimRef.namespace}/${claimRef.name}`;
}

/** The Secrets that kubelets need for a volume, each with the claim of the volume. */
function volumeKeys(volume: ApiObject): string[] {
  const claim = claimOf(volume);
  if (claim === undefined) return [];
  return volumeSecrets(volume['spec'] as DeepReadonly<PersistentVolumeSpec>).flatMap((secret) =>
    secret?.name ? [`${secret.namespace}/${secret.name} ${claim}`] : [],
  );
}

interface SecretName {
  readonly namespace?: string | null | undefined;
  readonly name?: string | null | undefined;
}

/** A volume has one source. The controller's Secrets of a CSI volume are not for kubelets. */
function volumeSecrets(spec: DeepReadonly<PersistentVolumeSpec>): (SecretName | null | undefined)[] {
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi, claimRef } = spec;
  const inClaimNamespace = (secret: SecretName | null | undefined) =>
    secret && { namespace: secret.namespace || claimRef?.namespace, name: secret.name };
  if (azureFile) return [inClaimNamespace({ namespace: azureFile.secretNamespace, name: azureFile.secretName })];
  const optional = cephfs ?? flexVolume ?? rbd ?? scaleIO ?? iscsi;
  if (optional) return [inClaimNamespace(optional.secretRef)];
  const required = cinder ?? storageos;
  return required
    ? [required.secretRef]
    : [csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef];
}
