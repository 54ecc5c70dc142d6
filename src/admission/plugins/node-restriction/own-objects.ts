/**
 * Objects that a node has one of, and what it may write into those of others.
 */
import type { CertificateSigningRequest } from '../../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { quote } from '../../../text/go/go-text.js';
import { readCertificateRequest } from '../../../text/x509/certificate.js';
import { firstPemBlock } from '../../../text/x509/pem.js';
import { deepEqual } from '../../../util/json.js';
import { refuse } from '../refuse.js';
import type { NodeRequest } from './node-restriction.js';

const LEASE_NAMESPACE = 'kube-node-lease';

export function checkLease({ node, request }: NodeRequest): void {
  if (request.namespace !== LEASE_NAMESPACE) {
    throw refuse(request, `can only access leases in the ${quote(LEASE_NAMESPACE)} system namespace`);
  }
  if (request.sentName === node) return;
  throw refuse(request, 'can only access node lease with the same name as the requesting node');
}

export function checkCsiNode({ node, request }: NodeRequest): void {
  if (request.sentName === node) return;
  throw refuse(request, 'can only access CSINode with the same name as the requesting node');
}

/** Of a collection each slice is looked at by itself. */
export function checkSlice({ node, request }: NodeRequest): void {
  const { operation, object, oldObject } = request;
  if (operation !== 'CREATE' && operation !== 'DELETE') return;
  const spec = (object ?? oldObject)?.['spec'] as { readonly nodeName?: string } | undefined;
  if (spec?.nodeName === node) return;
  const verb = operation === 'CREATE' ? 'create' : 'delete';
  throw refuse(request, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
}

/** A certificate that a node asks for names the node. Others are looked at by who signs them. */
export function checkRequest({ node, request, view }: NodeRequest): void {
  const { features, dialect } = view;
  if (request.operation !== 'CREATE' || features.enabled('AllowInsecureKubeletCertificateSigningRequests')) return;
  const { signerName, request: encoded } = (request.object as unknown as CertificateSigningRequest).spec;
  if (![dialect.key('kubelet-serving'), dialect.key('kube-apiserver-client-kubelet')].includes(signerName)) return;
  const block = firstPemBlock(atob(encoded));
  if (block?.type !== 'CERTIFICATE REQUEST') {
    throw refuse(request, 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST');
  }
  const facts = readCertificateRequest(block.bytes);
  if (facts === undefined) {
    throw refuse(request, 'unable to parse csr: asn1: structure error: not a certificate request');
  }
  const name = `system:node:${node}`;
  if (facts.commonName !== name) throw refuse(request, `can only create a node CSR with CN=${name}`);
}

export function checkClaim({ node, request, view }: NodeRequest): void {
  if (request.subresource !== 'status') throw refuse(request, 'may only update PVC status');
  if (request.operation !== 'UPDATE') throw refuse(request, `unexpected operation ${quote(request.operation)}`);
  const mayRecover = view.features.enabled('RecoverVolumeExpansionFailure');
  const [next, live] = [fixedPart(request.object, mayRecover), fixedPart(request.oldObject, mayRecover)];
  if (deepEqual(next, live)) return;
  // The reference server goes on with a comparison for the eye, in a form that its library promises to change.
  const changed = Object.keys({ ...next, ...live }).filter((field) => !deepEqual(next[field], live[field]));
  throw refuse(
    request,
    `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${changed.sort().join(', ')}`,
  );
}

/** Everything but what a node reports when a volume has grown. */
function fixedPart(object: DraftObject | ApiObject | undefined, mayRecover: boolean): Record<string, unknown> {
  const { metadata, status, ...rest } = (object ?? {}) as Record<string, unknown>;
  const { resourceVersion, managedFields, ...about } = metadata as Record<string, unknown>;
  const { capacity, conditions, ...more } = (status ?? {}) as Record<string, unknown>;
  const { allocatedResources, allocatedResourceStatuses, ...reported } = more;
  return { ...rest, metadata: about, status: mayRecover ? reported : more };
}
