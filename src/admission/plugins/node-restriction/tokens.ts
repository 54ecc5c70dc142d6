/**
 * A node may have tokens for the accounts of its pods, bound to the pod, and for audiences that the pod asks for.
 */
import type { TokenRequest } from '../../../kinds/authentication/v1/token-request.js';
import type { PersistentVolume } from '../../../kinds/core/v1/persistent-volume.js';
import type { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import type { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { Volume } from '../../../kinds/core/v1/pod-spec/volume.js';
import type { CSIDriver } from '../../../kinds/storage/v1/csi-driver.js';
import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { quote } from '../../../text/go/go-text.js';
import { refuse } from '../refuse.js';
import type { NodeRequest } from './node-restriction.js';
import { livePod } from './pods.js';

export function checkToken(asked: NodeRequest): void {
  const { node, request, view } = asked;
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const { boundObjectRef, audiences } = (request.object as unknown as TokenRequest).spec;
  const { apiVersion, kind, name = '', uid = '' } = boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') {
    throw refuse(request, 'node requested token not bound to a pod');
  }
  if (uid === '') throw refuse(request, 'node requested token with a pod binding without a uid');
  const pod = livePod(request.namespace, name, view);
  if (uid !== pod.metadata.uid) {
    const why = 'does not match the UID in record. The object might have been deleted and then recreated';
    throw refuse(request, `the UID in the bound object reference (${uid}) ${why}`);
  }
  if (pod.spec.nodeName !== node) {
    throw refuse(request, 'node requested token bound to a pod scheduled on a different node');
  }
  if (!view.features.enabled('ServiceAccountNodeAudienceRestriction')) return;
  const problem = audienceProblem(audiences ?? [], pod, asked);
  if (problem !== undefined) throw refuse(request, problem);
}

function audienceProblem(audiences: readonly string[], pod: Pod, { request, view }: NodeRequest): string | undefined {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  const { isNamed, failures } = lookFor(audience, pod, view);
  if (isNamed) return undefined;
  if (failures.length > 0) {
    const why = failures.length === 1 ? failures.join() : `[${failures.join(', ')}]`;
    return `error validating audience ${quote(audience)}: ${why}`;
  }
  const { allowed, error } = view.authorize(request.user, {
    type: 'resource',
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    version: 'v1',
    // What is asked about is an audience of an account, in the places of a resource and of its name.
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

/** In the pod's own volumes, or in what the drivers of its volumes want. */
function lookFor(audience: string, pod: Pod, view: Reader): { isNamed: boolean; failures: readonly string[] } {
  const failures = new Set<string>();
  for (const volume of pod.spec.volumes ?? []) {
    const tokens = (volume.projected?.sources ?? []).flatMap((source) => source.serviceAccountToken ?? []);
    if (tokens.some((token) => (token.audience ?? '') === audience)) return { isNamed: true, failures: [] };
    try {
      const driver = driverOf(volume, pod, view);
      if (driver !== '' && audiencesOf(driver, view).includes(audience)) return { isNamed: true, failures: [] };
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      failures.add(error.message);
    }
  }
  return { isNamed: false, failures: [...failures] };
}

/** An object on the way to a driver is not there. */
class Missing extends Error {
  override readonly name = 'Missing';
}

function found<Object>(view: Reader, address: Parameters<Reader['get']>[0], called: string): Object {
  const object = view.get(address);
  const group = view.dialect.group(address.group);
  if (object === undefined) throw new Missing(errors.notFound({ group, resource: called }, address.name).message);
  return object as unknown as Object;
}

/** Empty where there is none. */
function driverOf(volume: Volume, { metadata }: Pod, view: Reader): string {
  const namespace = metadata.namespace ?? '';
  if (volume.ephemeral?.volumeClaimTemplate) return driverOfClaim(`${metadata.name}-${volume.name}`, namespace, view);
  if (volume.persistentVolumeClaim) return driverOfClaim(volume.persistentVolumeClaim.claimName, namespace, view);
  return volume.csi?.driver ?? driverInPlaceOf(volume);
}

function driverOfClaim(name: string, namespace: string, view: Reader): string {
  const claims = { group: '', resource: 'persistentvolumeclaims', namespace, name };
  const claim = found<PersistentVolumeClaim>(view, claims, 'persistentvolumeclaim');
  const volumes = { group: '', resource: 'persistentvolumes', namespace: '', name: claim.spec.volumeName ?? '' };
  const { spec } = found<PersistentVolume>(view, volumes, 'persistentvolume');
  return spec.csi?.driver ?? driverInPlaceOf(spec);
}

/** Sources that drivers have taken over. */
const TAKEN_OVER = {
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  awsElasticBlockStore: 'ebs.csi.aws.com',
  cinder: 'cinder.csi.openstack.org',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
  portworxVolume: 'pxd.portworx.com',
} as const;

function driverInPlaceOf(sources: { readonly [Source in keyof typeof TAKEN_OVER]?: unknown }): string {
  const source = (Object.keys(TAKEN_OVER) as (keyof typeof TAKEN_OVER)[]).find((name) => sources[name] !== undefined);
  return source === undefined ? '' : TAKEN_OVER[source];
}

function audiencesOf(driver: string, view: Reader): readonly string[] {
  const address = { group: serviceGroup('storage'), resource: 'csidrivers', namespace: '', name: driver };
  const { spec } = found<CSIDriver>(view, address, 'csidriver');
  return (spec.tokenRequests ?? []).map((token) => token.audience);
}
