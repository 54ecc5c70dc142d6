/**
 * The OwnerReferencesPermissionEnforcement plugin: changing owner references requires permission to delete the object, and
 * setting blockOwnerDeletion requires permission to update the owner's finalizers.
 */

import { parseApiVersion } from '../../meta/gvk.js';
import type { ApiObject, OwnerReference } from '../../meta/object.js';
import type { ResourceAttributes } from '../../protocol/access.js';
import { quote } from '../../text/go/go-text.js';
import { deepEqual } from '../../util/json.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { builtIn, forbiddenError, isResource } from './requests.js';

export const ownerReferencesPermissionEnforcement = /* @__PURE__ */ builtIn('OwnerReferencesPermissionEnforcement', {
  validate,
});

function validate(request: AdmissionRequest, view: ClusterView): void {
  const { operation, object, oldObject, served, subresource } = request;
  if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
  // Old kubelets corrupt them; the pod strategy restores them.
  if (isResource(served, '', 'pods') && subresource === 'status') return;
  const [next, live] = [ownersOf(object), ownersOf(oldObject)];
  if (deepEqual(next, live)) return;
  const check = { request, view };
  // Creation needs no permission to delete.
  if (operation === 'UPDATE') checkDelete(check);
  const blocking = newlyBlocking(next, live);
  if (blocking.length === 0 || mayFinalizeAnything(check)) return;
  for (const owner of blocking) checkFinalize(owner, check);
}

function ownersOf(object: ApiObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

interface OwnerCheck {
  readonly request: AdmissionRequest;
  readonly view: ClusterView;
}

function checkDelete({ request, view }: OwnerCheck): void {
  const { served, subresource, namespace, sentName, user } = request;
  const { group, version, resource } = served.gvr;
  const attributes = { group, version, resource, subresource, namespace, name: sentName };
  const { allowed, reason, error } = view.authorize(user, { type: 'resource', verb: 'delete', ...attributes });
  if (allowed) return;
  throw forbiddenError(
    request,
    `cannot set an ownerRef on a resource you can't delete: ${reason}, ${error ?? '<nil>'}`,
  );
}

/** Owners that newly have blockOwnerDeletion. */
function newlyBlocking(next: readonly OwnerReference[], live: readonly OwnerReference[]): readonly OwnerReference[] {
  const isWaiting = new Map(live.map(({ uid, blockOwnerDeletion }) => [uid, blockOwnerDeletion === true]));
  return next.filter(({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && isWaiting.get(uid) !== true);
}

const FINALIZE = { type: 'resource', verb: 'update', subresource: 'finalizers' } as const;

function mayFinalizeAnything({ request, view }: OwnerCheck): boolean {
  const anything: ResourceAttributes = {
    ...FINALIZE,
    group: '*',
    version: '*',
    resource: '*',
    namespace: '',
    name: '*',
  };
  return view.access.decide(request.user, anything).allowed;
}

function checkFinalize({ apiVersion, kind, name }: OwnerReference, { request, view }: OwnerCheck): void {
  const parsed = parseApiVersion(apiVersion);
  const served = parsed && view.kindNamed({ ...parsed, kind });
  if (served === undefined) {
    const why =
      parsed === undefined
        ? `unexpected GroupVersion string: ${apiVersion}`
        : `no matches for kind ${quote(kind)} in version ${quote(apiVersion)}`;
    throw forbiddenError(
      request,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`,
    );
  }
  const namespace = served.namespaced ? request.namespace : '';
  const { group, version, resource } = served.gvr;
  const attributes = { ...FINALIZE, group, version, resource, namespace, name };
  const { allowed, reason, error } = view.authorize(request.user, attributes);
  if (allowed) return;
  throw forbiddenError(
    request,
    `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, ${error ?? '<nil>'}`,
  );
}
