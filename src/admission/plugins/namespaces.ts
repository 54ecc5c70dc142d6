/**
 * The namespace plugins. NamespaceLifecycle rejects creation in missing or terminating namespaces and deletion of the
 * three system namespaces; NamespaceExists and NamespaceAutoProvision reject or create missing namespaces.
 * spec: Namespace
 */
import { NAMESPACE_FINALIZER, serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { type AnyRequest, builtIn, forbiddenError, isRequestFor } from './requests.js';

const NAMESPACES = { group: '', resource: 'namespaces' };

const PROTECTED: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** On by default. */
export const namespaceLifecycle = /* @__PURE__ */ builtIn('NamespaceLifecycle', {
  changesNothing: true,
  mutate,
  validate(request, view) {
    const { operation, served } = request;
    if (operation !== 'CREATE' || !served.namespaced || request.subresource !== '') return;
    if (isRequestFor(request, serviceGroup('authorization'), 'localsubjectaccessreviews')) return;
    // Deletion of the namespace may begin while an asynchronous plugin runs, also one that mutates.
    request.beforeCommit(() => checkNamespace(request, view));
  },
});

/** Off by default: rejects requests in missing namespaces. */
export const namespaceExists = /* @__PURE__ */ builtIn('NamespaceExists', {
  validate(request, view) {
    if (isMissing(request, view)) throw errors.notFound(NAMESPACES, request.namespace);
  },
});

/** Off by default. Must precede plugins that read the namespace: `[namespaceAutoProvision, ...defaultAdmission]`. */
export const namespaceAutoProvision: AdmissionPlugin = /* @__PURE__ */ Object.freeze({
  name: 'NamespaceAutoProvision',
  changesNothing: true,
  // It writes, but synchronously.
  mayBeAsynchronous: () => false,
  mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
    const { operation, dryRun, namespace } = request;
    if (operation === 'CREATE' && !dryRun && isMissing(request, view)) makeNamespace(namespace, view);
  },
});

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  const { operation, served, name } = request;
  const isNamespace = served.gvk.kind === 'Namespace' && served.gvk.group === '';
  if (isNamespace && operation === 'DELETE' && PROTECTED.has(name)) {
    throw forbiddenError(request, 'this namespace may not be deleted');
  }
  if (!served.namespaced || operation === 'DELETE') return;
  // The review must not reveal whether the namespace exists.
  if (isRequestFor(request, serviceGroup('authorization'), 'localsubjectaccessreviews')) return;
  checkNamespace(request, view);
}

function checkNamespace(request: AdmissionRequest<DraftObject | ApiObject>, view: ClusterView): void {
  const { operation, namespace } = request;
  const live = view.namespace(namespace);
  if (live === undefined) throw errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  if (operation === 'CREATE' && isTerminating(live['status'])) {
    throw forbiddenError(
      request,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }
}

function isTerminating(status: unknown): boolean {
  return (status as { readonly phase?: string } | undefined)?.phase === 'Terminating';
}

function isMissing({ served, namespace }: AnyRequest, view: ClusterView): boolean {
  return served.namespaced && namespace !== '' && view.namespace(namespace) === undefined;
}

function makeNamespace(name: string, view: ClusterView): void {
  const labels = { [view.dialect.key('metadata.name')]: name };
  view.create(
    { ...NAMESPACES, namespace: '', name },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
      spec: { finalizers: [NAMESPACE_FINALIZER] },
      status: { phase: 'Active' },
    },
  );
}
