/**
 * The NodeRestriction plugin: restricts a kubelet's writes to its own objects: its Node, Lease and CSINode, the status of
 * its pods, its mirror pods, and tokens for its pods. RBAC rules cannot express this ownership.
 */

import type { CertificateSigningRequest } from '../../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import { type Dialect, serviceGroup } from '../../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import type { User } from '../../../protocol/request.js';
import { quote } from '../../../text/go/go-text.js';
import { readCertificateRequest } from '../../../text/x509/certificate.js';
import { firstPemBlockIn } from '../../../text/x509/pem.js';
import { deepEqual, own } from '../../../util/json.js';
import type { AdmissionRequest, ClusterView } from '../../types.js';
import { builtIn, forbiddenError, isResource } from '../requests.js';
import { checkPod, checkToken } from './pods.js';

const LEASE_NAMESPACE = 'kube-node-lease';

export interface NodeRequest {
  readonly node: string;
  readonly request: AdmissionRequest<DraftObject>;
  readonly view: ClusterView;
}

/** Returns why the request is forbidden. */
type NodeCheck = (nodeRequest: NodeRequest) => string | undefined;

/** By canonical group and plural. */
const CHECKS: readonly (readonly [group: string, resource: string, check: NodeCheck])[] = [
  ['', 'pods', checkPod],
  ['', 'nodes', checkNode],
  ['', 'persistentvolumeclaims', checkClaim],
  ['', 'serviceaccounts', checkToken],
  [serviceGroup('coordination'), 'leases', checkLease],
  [serviceGroup('storage'), 'csinodes', checkCsiNode],
  [serviceGroup('resource'), 'resourceslices', checkSlice],
  [serviceGroup('certificates'), 'certificatesigningrequests', checkSigningRequest],
];

export const nodeRestriction = builtIn('NodeRestriction', {
  changesNothing: true,
  mutate(request, view) {
    const node = nodeOf(request.user);
    if (node === undefined) return;
    if (node === '') throw forbiddenError(request, `could not determine node from user ${quote(request.user.user)}`);
    const [, , check] = CHECKS.find(([group, resource]) => isResource(request.served, group, resource)) ?? [];
    const problem = check?.({ node, request, view });
    if (problem !== undefined) throw forbiddenError(request, problem);
  },
});

const PREFIX = 'system:node:';
const NODES = 'system:nodes';

/** The name in `system:node:NAME`; undefined for other users. */
function nodeOf({ user, groups = [] }: User): string | undefined {
  return user.startsWith(PREFIX) && groups.includes(NODES) ? user.slice(PREFIX.length) : undefined;
}

function checkNode(nodeRequest: NodeRequest): string | undefined {
  const { node, request } = nodeRequest;
  if (request.sentName !== node) {
    return `node ${quote(node)} is not allowed to modify node ${quote(request.sentName)}`;
  }
  if (request.operation === 'CREATE') return createProblem(nodeRequest);
  return request.operation === 'UPDATE' ? updateProblem(nodeRequest) : undefined;
}

interface NodeSpec {
  readonly configSource?: unknown;
  readonly taints?: readonly unknown[];
}

function specOf(object: DraftObject | ApiObject | undefined): NodeSpec {
  return (object?.['spec'] ?? {}) as NodeSpec;
}

function createProblem({ node, request, view }: NodeRequest): string | undefined {
  if (specOf(request.object).configSource !== undefined) {
    return `node ${quote(node)} is not allowed to create pods with a non-nil configSource`;
  }
  const labels = forbiddenLabels(request.object?.metadata.labels ?? {}, {}, view.dialect);
  if (labels.length === 0) return undefined;
  return `node ${quote(node)} is not allowed to set the following labels: ${labels.join(', ')}`;
}

function updateProblem({ node, request, view }: NodeRequest): string | undefined {
  const { object, oldObject } = request;
  const [next, live] = [specOf(object), specOf(oldObject)];
  const mayNot = `node ${quote(node)} is not allowed to`;
  if (next.configSource !== undefined && !deepEqual(next.configSource, live.configSource)) {
    return `${mayNot} update configSource to a new non-nil configSource`;
  }
  if (!deepEqual(next.taints ?? [], live.taints ?? [])) return `${mayNot} modify taints`;
  if (!deepEqual(object?.metadata.ownerReferences ?? [], oldObject?.metadata.ownerReferences ?? [])) {
    return `${mayNot} modify ownerReferences`;
  }
  const labels = forbiddenLabels(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {}, view.dialect);
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`;
}

type Labels = Readonly<Record<string, string>>;

/** Labels that the node added, changed or removed without permission, sorted. */
function forbiddenLabels(next: Labels, live: Labels, dialect: Dialect): string[] {
  const keys = [...new Set([...Object.keys(next), ...Object.keys(live)])];
  return keys
    .filter((key) => own(next, key) !== own(live, key))
    .filter((key) => isIn(key, domainOf(dialect.subkey('node-restriction', ''))) || isReserved(key, dialect))
    .sort();
}

/** Labels in the Kubernetes domains, except those that kubelets set. */
function isReserved(key: string, dialect: Dialect): boolean {
  const domains = [domainOf(dialect.key('')), domainOf(dialect.systemKey(''))];
  if (!domains.some((domain) => isIn(key, domain))) return false;
  if (['kubelet', 'node'].some((name) => isIn(key, domainOf(dialect.subkey(name, ''))))) return false;
  return !ownLabels(dialect).includes(key);
}

function ownLabels({ key, subkey }: Dialect): string[] {
  return [
    key('hostname'),
    key('os'),
    key('arch'),
    ...['zone', 'region'].flatMap((name) => [subkey('topology', name), subkey('failure-domain.beta', name)]),
    ...['os', 'arch', 'instance-type'].map((name) => subkey('beta', name)),
  ];
}

/** Whether a key is in a domain or a subdomain of it. */
function isIn(key: string, domain: string): boolean {
  const [prefix = '', name] = key.split('/');
  return name !== undefined && (prefix === domain || prefix.endsWith(`.${domain}`));
}

/** Without the trailing slash. */
function domainOf(prefix: string): string {
  return prefix.slice(0, -1);
}

function checkLease({ node, request }: NodeRequest): string | undefined {
  if (request.namespace !== LEASE_NAMESPACE) {
    return `can only access leases in the ${quote(LEASE_NAMESPACE)} system namespace`;
  }
  if (request.sentName === node) return undefined;
  return 'can only access node lease with the same name as the requesting node';
}

function checkCsiNode({ node, request }: NodeRequest): string | undefined {
  return request.sentName === node ? undefined : 'can only access CSINode with the same name as the requesting node';
}

/** A delete of a collection is checked for each slice. */
function checkSlice({ node, request }: NodeRequest): string | undefined {
  const { operation, object, oldObject } = request;
  if (operation !== 'CREATE' && operation !== 'DELETE') return undefined;
  const spec = (object ?? oldObject)?.['spec'] as { readonly nodeName?: string } | undefined;
  if (spec?.nodeName === node) return undefined;
  return `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`;
}

/** A node may only request certificates for itself. Other signers are not checked here. */
function checkSigningRequest({ node, request, view }: NodeRequest): string | undefined {
  const { features, dialect } = view;
  const { object, operation } = request;
  if (operation !== 'CREATE' || object === undefined) return undefined;
  if (features.enabled('AllowInsecureKubeletCertificateSigningRequests')) return undefined;
  const { signerName, request: encoded } = object['spec'] as CertificateSigningRequest['spec'];
  const signers = [dialect.key('kubelet-serving'), dialect.key('kube-apiserver-client-kubelet')];
  if (!signers.includes(signerName)) return undefined;
  const block = firstPemBlockIn(encoded);
  if (block?.type !== 'CERTIFICATE REQUEST') return 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST';
  const parsed = readCertificateRequest(block.bytes);
  if (parsed === undefined) return 'unable to parse csr: asn1: structure error: not a certificate request';
  const name = `system:node:${node}`;
  return parsed.commonName === name ? undefined : `can only create a node CSR with CN=${name}`;
}

function checkClaim({ node, request, view }: NodeRequest): string | undefined {
  if (request.subresource !== 'status') return 'may only update PVC status';
  if (request.operation !== 'UPDATE') return `unexpected operation ${quote(request.operation)}`;
  const mayRecover = view.features.enabled('RecoverVolumeExpansionFailure');
  const [next, live] = [fixedPart(request.object, mayRecover), fixedPart(request.oldObject, mayRecover)];
  if (deepEqual(next, live)) return undefined;
  // The reference server appends a diff whose format is not stable.
  // upstream: plugin/pkg/admission/noderestriction/admission.go Plugin.admitPVCStatus
  const changed = Object.keys({ ...next, ...live }).filter((field) => !deepEqual(next[field], live[field]));
  return `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${changed.sort().join(', ')}`;
}

/** Everything but what a node reports about volume expansion. */
function fixedPart(object: DraftObject | ApiObject | undefined, mayRecover: boolean): Record<string, unknown> {
  const { metadata, status, ...rest } = (object ?? {}) as Record<string, unknown>;
  const { resourceVersion, managedFields, ...fixedMetadata } = metadata as Record<string, unknown>;
  const { capacity, conditions, ...more } = (status ?? {}) as Record<string, unknown>;
  const { allocatedResources, allocatedResourceStatuses, ...reported } = more;
  return { ...rest, metadata: fixedMetadata, status: mayRecover ? reported : more };
}
