/**
 * Two ways with namespaces that are not there: to refuse whatever is asked in them, and to make them.
 */
import { NAMESPACE_FINALIZER } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import type { AnyRequest } from './match.js';

const NAMESPACES = { group: '', resource: 'namespaces' };

export const namespaceExists: AdmissionPlugin = Object.freeze({
  name: 'NamespaceExists',
  isBuiltIn: true,
  validate(request: AdmissionRequest, view: ClusterView): void {
    if (isMissing(request, view)) throw errors.notFound(NAMESPACES, request.namespace);
  },
});

/** Comes before every plugin that looks at the namespace: `[namespaceAutoProvision, ...defaultAdmission]`. */
export const namespaceAutoProvision: AdmissionPlugin = Object.freeze({
  name: 'NamespaceAutoProvision',
  changesNothing: true,
  // It writes, but nothing that anybody else who asks for the same could have read before.
  mayWait: () => false,
  mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
    const { operation, dryRun, namespace } = request;
    if (operation === 'CREATE' && !dryRun && isMissing(request, view)) makeNamespace(namespace, view);
  },
});

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
