/**
 * The checks of a node's requests to pods (mirror pods, deletion, status, eviction) and to tokens of service accounts.
 */

import type { TokenRequest } from '../../../kinds/authentication/v1/token-request.js';
import type { PersistentVolume } from '../../../kinds/core/v1/persistent-volume.js';
import type { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import type { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { mirrorKey } from '../../../kinds/core/v1/pod-spec/annotations.js';
import { referencesConfigMap, referencesSecret } from '../../../kinds/core/v1/pod-spec/references.js';
import type { PodSpec, Volume } from '../../../kinds/generated/core-v1.js';
import type { CSIDriver } from '../../../kinds/storage/v1/csi-driver.js';
import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { aggregateText } from '../../../meta/field-error.js';
import { quote } from '../../../text/go/go-text.js';
import { deepEqual } from '../../../util/json.js';
import type { ClusterView } from '../../types.js';
import type { NodeRequest } from './node-restriction.js';

export function checkPod(nodeRequest: NodeRequest): string | undefined {
  const { subresource } = nodeRequest.request;
  if (subresource === '') return checkPodObject(nodeRequest);
  if (subresource === 'status') return checkStatus(nodeRequest);
  if (subresource === 'eviction') return checkEviction(nodeRequest);
  return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`;
}

/** A stored pod. The 404 of a missing one names the resource as the reference server's lister does. */
function livePod(namespace: string, name: string, view: ClusterView): Pod {
  const found = view.get({ group: '', resource: 'pods', namespace, name });
  if (found === undefined) throw errors.notFound({ group: '', resource: 'pod' }, name);
  return found as unknown as Pod;
}

function checkPodObject(nodeRequest: NodeRequest): string | undefined {
  const { node, request, view } = nodeRequest;
  if (request.operation === 'CREATE') return mirrorProblem(request.object as unknown as Pod, nodeRequest);
  if (request.operation !== 'DELETE') {
    return `unexpected operation ${quote(request.operation)}, node ${quote(node)} can only create and delete mirror pods`;
  }
  if (livePod(request.namespace, request.sentName, view).spec.nodeName === node) return undefined;
  return `node ${quote(node)} can only delete pods with spec.nodeName set to itself`;
}

function mirrorProblem(pod: Pod, nodeRequest: NodeRequest): string | undefined {
  const { metadata, spec } = pod;
  const node = quote(nodeRequest.node);
  const key = mirrorKey(nodeRequest.view.dialect);
  if (!Object.hasOwn(metadata.annotations ?? {}, key)) {
    return `pod does not have ${quote(key)} annotation, node ${node} can only create mirror pods`;
  }
  if (spec.nodeName !== nodeRequest.node) return `node ${node} can only create pods with spec.nodeName set to itself`;
  return ownerProblem(pod, nodeRequest) ?? referenceProblem(spec, node);
}

function ownerProblem({ metadata }: Pod, { node, view }: NodeRequest): string | undefined {
  const [owner, ...others] = metadata.ownerReferences ?? [];
  const only = `node ${quote(node)} can only create pods with`;
  if (others.length > 0) return `${only} a single owner reference set to itself`;
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${only} an owner reference set to itself`;
  }
  if (owner.controller !== true) return `${only} a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true) {
    return `node ${quote(node)} must not set blockOwnerDeletion on an owner reference`;
  }
  const live = view.get({ group: '', resource: 'nodes', namespace: '', name: node });
  if (live === undefined) throw errors.notFound({ group: '', resource: 'node' }, node);
  const { uid } = live.metadata;
  return owner.uid === uid ? undefined : `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
}

/** A node must not gain access to other objects through its pods. */
function referenceProblem(spec: PodSpec, node: string): string | undefined {
  const volumes = spec.volumes ?? [];
  const projected = volumes.flatMap((volume) => volume.projected?.sources ?? []);
  const references: readonly (readonly [isNamed: boolean, what: string])[] = [
    [Boolean(spec.serviceAccountName), 'a service account'],
    [referencesSecret(spec), 'secrets'],
    [referencesConfigMap(spec), 'configmaps'],
    [projected.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined), 'clustertrustbundles'],
    [volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined), 'persistentvolumeclaims'],
    [(spec.resourceClaims ?? []).length > 0, 'resourceclaims'],
  ];
  const [, what] = references.find(([isNamed]) => isNamed) ?? [];
  return what === undefined ? undefined : `node ${node} can not create pods that reference ${what}`;
}

function checkStatus({ node, request }: NodeRequest): string | undefined {
  if (request.operation !== 'UPDATE') return `unexpected operation ${quote(request.operation)}`;
  const [next, live] = [request.object as unknown as Pod, request.oldObject as unknown as Pod];
  if (live.spec.nodeName !== node) {
    return `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!deepEqual(next.metadata.labels ?? {}, live.metadata.labels ?? {})) {
    return `node ${quote(node)} cannot update labels through pod status`;
  }
  if (deepEqual(claimsOf(next), claimsOf(live))) return undefined;
  return `node ${quote(node)} cannot update resource claim statues`;
}

function claimsOf({ status }: Pod): unknown {
  return (status.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName ?? null]);
}

function checkEviction({ node, request, view }: NodeRequest): string | undefined {
  if (request.operation !== 'CREATE') return `unexpected operation ${request.operation}`;
  if (request.sentName === '') return 'could not determine pod from request data';
  if (livePod(request.namespace, request.sentName, view).spec.nodeName === node) return undefined;
  return `node ${node} can only evict pods with spec.nodeName set to itself`;
}

export function checkToken(nodeRequest: NodeRequest): string | undefined {
  const { node, request, view } = nodeRequest;
  const { object, operation, subresource } = request;
  if (operation !== 'CREATE' || subresource !== 'token' || object === undefined) return undefined;
  const { boundObjectRef, audiences } = object['spec'] as TokenRequest['spec'];
  const { apiVersion, kind, name = '', uid = '' } = boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') return 'node requested token not bound to a pod';
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = livePod(request.namespace, name, view);
  if (uid !== pod.metadata.uid) {
    const why = 'does not match the UID in record. The object might have been deleted and then recreated';
    return `the UID in the bound object reference (${uid}) ${why}`;
  }
  if (pod.spec.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
  if (!view.features.enabled('ServiceAccountNodeAudienceRestriction')) return undefined;
  return audienceProblem(audiences ?? [], pod, nodeRequest);
}

function audienceProblem(audiences: readonly string[], pod: Pod, { request, view }: NodeRequest): string | undefined {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  const { isNamed, failures } = findAudience(audience, pod, view);
  if (isNamed) return undefined;
  if (failures.length > 0) return `error validating audience ${quote(audience)}: ${aggregateText(failures)}`;
  const { allowed, error } = view.authorize(request.user, {
    type: 'resource',
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    version: 'v1',
    // The audience takes the place of the resource, and the service account that of the name.
    resource: audience,
    subresource: '',
    namespace: request.namespace,
    name: request.sentName,
  });
  if (allowed) return undefined;
  const { user } = request.user;
  const missing = `audience ${quote(audience)} not found in pod spec volume`;
  return error === undefined
    ? `${missing}, ${user} is not authorized to request tokens for this audience`
    : `${missing}, error authorizing ${user} to request tokens for this audience: ${error}`;
}

type Reader = NodeRequest['view'];

/** An object on the path from a volume to its CSI driver does not exist. */
class MissingObject extends Error {
  override readonly name = 'MissingObject';
}

/** The CSI drivers of migrated in-tree volume sources. */
const MIGRATED_DRIVERS = {
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  awsElasticBlockStore: 'ebs.csi.aws.com',
  cinder: 'cinder.csi.openstack.org',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
  portworxVolume: 'pxd.portworx.com',
} as const;

/** Searches the projected tokens of the pod's volumes and the token requests of their CSI drivers. */
function findAudience(audience: string, pod: Pod, view: Reader): { isNamed: boolean; failures: readonly string[] } {
  const failures: string[] = [];
  for (const volume of pod.spec.volumes ?? []) {
    const tokens = (volume.projected?.sources ?? []).flatMap((source) => source.serviceAccountToken ?? []);
    if (tokens.some((token) => (token.audience ?? '') === audience)) return { isNamed: true, failures: [] };
    try {
      const driver = driverOf(volume, pod, view);
      if (driver !== '' && audiencesOf(driver, view).includes(audience)) return { isNamed: true, failures: [] };
    } catch (error) {
      if (!(error instanceof MissingObject)) throw error;
      failures.push(error.message);
    }
  }
  return { isNamed: false, failures };
}

function getOrThrow<Object>(view: Reader, address: Parameters<Reader['get']>[0], called: string): Object {
  const object = view.get(address);
  const group = view.dialect.group(address.group);
  if (object === undefined) throw new MissingObject(errors.notFound({ group, resource: called }, address.name).message);
  return object as unknown as Object;
}

/** Empty if the volume has no CSI driver. */
function driverOf(volume: Volume, { metadata }: Pod, view: Reader): string {
  const namespace = metadata.namespace ?? '';
  if (volume.ephemeral?.volumeClaimTemplate) return driverOfClaim(`${metadata.name}-${volume.name}`, namespace, view);
  if (volume.persistentVolumeClaim) return driverOfClaim(volume.persistentVolumeClaim.claimName, namespace, view);
  return volume.csi?.driver ?? migratedDriver(volume);
}

function driverOfClaim(name: string, namespace: string, view: Reader): string {
  const claims = { group: '', resource: 'persistentvolumeclaims', namespace, name };
  const claim = getOrThrow<PersistentVolumeClaim>(view, claims, 'persistentvolumeclaim');
  const volumes = { group: '', resource: 'persistentvolumes', namespace: '', name: claim.spec.volumeName ?? '' };
  const { spec } = getOrThrow<PersistentVolume>(view, volumes, 'persistentvolume');
  return spec.csi?.driver ?? migratedDriver(spec);
}

function migratedDriver(sources: { readonly [Source in keyof typeof MIGRATED_DRIVERS]?: unknown }): string {
  const source = (Object.keys(MIGRATED_DRIVERS) as (keyof typeof MIGRATED_DRIVERS)[]).find(
    (name) => sources[name] !== undefined,
  );
  return source === undefined ? '' : MIGRATED_DRIVERS[source];
}

function audiencesOf(driver: string, view: Reader): readonly string[] {
  const address = { group: serviceGroup('storage'), resource: 'csidrivers', namespace: '', name: driver };
  const { spec } = getOrThrow<CSIDriver>(view, address, 'csidriver');
  return (spec.tokenRequests ?? []).map((token) => token.audience);
}
