/**
 * What a node may do to pods: make mirrors of those that it runs by itself, delete and evict its own, and say how they are.
 */
import type { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { mirrorKey } from '../../../kinds/core/v1/pod-spec/annotations.js';
import type { PodSpec } from '../../../kinds/core/v1/pod-spec/pod-spec.js';
import { errors } from '../../../meta/errors.js';
import { quote } from '../../../text/go/go-text.js';
import { deepEqual } from '../../../util/json.js';
import type { ClusterView } from '../../types.js';
import { namesConfigMap, namesSecret } from '../pod-references.js';
import { refuse } from '../refuse.js';
import type { NodeRequest } from './node-restriction.js';

export function checkPod(asked: NodeRequest): void {
  const { request } = asked;
  if (request.subresource === '') checkWhole(asked);
  else if (request.subresource === 'status') checkStatus(asked);
  else if (request.subresource === 'eviction') checkEviction(asked);
  else {
    const what = quote(request.subresource);
    throw refuse(request, `unexpected pod subresource ${what}, only 'status' and 'eviction' are allowed`);
  }
}

/** A pod of the namespace; a missing one is named as the reference server's cache names it. */
export function livePod(namespace: string, name: string, view: ClusterView): Pod {
  const found = view.get({ group: '', resource: 'pods', namespace, name });
  if (found === undefined) throw errors.notFound({ group: '', resource: 'pod' }, name);
  return found as unknown as Pod;
}

function checkWhole(asked: NodeRequest): void {
  const { node, request, view } = asked;
  if (request.operation === 'CREATE') {
    const problem = mirrorProblem(request.object as unknown as Pod, asked);
    if (problem !== undefined) throw refuse(request, problem);
  } else if (request.operation === 'DELETE') {
    if (livePod(request.namespace, request.sentName, view).spec.nodeName === node) return;
    throw refuse(request, `node ${quote(node)} can only delete pods with spec.nodeName set to itself`);
  } else {
    const operation = quote(request.operation);
    throw refuse(
      request,
      `unexpected operation ${operation}, node ${quote(node)} can only create and delete mirror pods`,
    );
  }
}

function mirrorProblem(pod: Pod, asked: NodeRequest): string | undefined {
  const { metadata, spec } = pod;
  const node = quote(asked.node);
  const key = mirrorKey(asked.view.dialect);
  if (!Object.hasOwn(metadata.annotations ?? {}, key)) {
    return `pod does not have ${quote(key)} annotation, node ${node} can only create mirror pods`;
  }
  if (spec.nodeName !== asked.node) return `node ${node} can only create pods with spec.nodeName set to itself`;
  return ownerProblem(pod, asked) ?? referenceProblem(spec, node);
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

/** A node must not get at other objects by way of its pods. */
function referenceProblem(spec: PodSpec, node: string): string | undefined {
  const volumes = spec.volumes ?? [];
  const projected = volumes.flatMap((volume) => volume.projected?.sources ?? []);
  const references: readonly (readonly [isNamed: boolean, what: string])[] = [
    [Boolean(spec.serviceAccountName), 'a service account'],
    [namesSecret(spec), 'secrets'],
    [namesConfigMap(spec), 'configmaps'],
    [projected.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined), 'clustertrustbundles'],
    [volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined), 'persistentvolumeclaims'],
    [(spec.resourceClaims ?? []).length > 0, 'resourceclaims'],
  ];
  const [, what] = references.find(([isNamed]) => isNamed) ?? [];
  return what === undefined ? undefined : `node ${node} can not create pods that reference ${what}`;
}

function checkStatus({ node, request }: NodeRequest): void {
  if (request.operation !== 'UPDATE') throw refuse(request, `unexpected operation ${quote(request.operation)}`);
  const [next, live] = [request.object as unknown as Pod, request.oldObject as unknown as Pod];
  if (live.spec.nodeName !== node) {
    throw refuse(request, `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!deepEqual(next.metadata.labels ?? {}, live.metadata.labels ?? {})) {
    throw refuse(request, `node ${quote(node)} cannot update labels through pod status`);
  }
  if (!deepEqual(claimsOf(next), claimsOf(live))) {
    throw refuse(request, `node ${quote(node)} cannot update resource claim statues`);
  }
}

function claimsOf({ status }: Pod): unknown {
  return (status.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName ?? null]);
}

function checkEviction({ node, request, view }: NodeRequest): void {
  if (request.operation !== 'CREATE') throw refuse(request, `unexpected operation ${request.operation}`);
  if (request.sentName === '') throw refuse(request, 'could not determine pod from request data');
  if (livePod(request.namespace, request.sentName, view).spec.nodeName === node) return;
  throw refuse(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
}
