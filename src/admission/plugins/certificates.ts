/**
 * Who may vouch in the name of a signer: approve its requests, sign them, and say which certificates to trust. Each is a
 * verb of its own on the resource `signers`, which exists for such questions alone.
 * spec: CertificateSigningRequest, ClusterTrustBundle
 */

import type { CertificateSigningRequest } from '../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import type { ClusterTrustBundle } from '../../kinds/certificates/v1beta1/cluster-trust-bundle.js';
import { isSameToUsers } from '../../kinds/shared/strategies.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { readCertificateRequest } from '../../text/x509/certificate.js';
import { firstPemBlock } from '../../text/x509/pem.js';
import { deepEqual } from '../../util/json.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf, refuse } from './requests.js';

const GROUP = serviceGroup('certificates');
const isRequests = kindsOf([GROUP, 'certificatesigningrequests']);

/** The signer of the live request counts: it cannot be changed on the way. */
export const certificateApproval: AdmissionPlugin = Object.freeze({
  name: 'CertificateApproval',
  looksAt: isRequests,
  isBuiltIn: true,
  validate(request: AdmissionRequest, view: ClusterView): void {
    if (request.operation !== 'UPDATE' || request.subresource !== 'approval') return;
    const { signerName } = asRequest(request.oldObject).spec;
    if (maySpeakFor(signerName, 'approve', { request, view })) return;
    throw refuse(request, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  },
});

export const certificateSigning: AdmissionPlugin = Object.freeze({
  name: 'CertificateSigning',
  looksAt: isRequests,
  isBuiltIn: true,
  validate(request: AdmissionRequest, view: ClusterView): void {
    if (request.operation !== 'UPDATE' || request.subresource !== 'status') return;
    const [next, live] = [asRequest(request.object), asRequest(request.oldObject)];
    const isSame = next.status.certificate === live.status.certificate;
    if (isSame && deepEqual(next.status.conditions ?? [], live.status.conditions ?? [])) return;
    const { signerName } = live.spec;
    if (maySpeakFor(signerName, 'sign', { request, view })) return;
    throw refuse(request, `user not permitted to sign requests with signerName ${quote(signerName)}`);
  },
});

/** Nobody becomes an administrator by a certificate. */
export const certificateSubjectRestriction: AdmissionPlugin = Object.freeze({
  name: 'CertificateSubjectRestriction',
  looksAt: isRequests,
  isBuiltIn: true,
  validate(request: AdmissionRequest, { dialect }: ClusterView): void {
    if (request.operation !== 'CREATE' || !isFor(request, GROUP, 'certificatesigningrequests')) return;
    const { signerName, request: encoded } = asRequest(request.object).spec;
    if (signerName !== dialect.key('kube-apiserver-client')) return;
    // That it can be read is a rule of the kind.
    const block = firstPemBlock(atob(encoded));
    const facts = block && readCertificateRequest(block.bytes);
    if (facts?.organizations.includes('system:masters') !== true) return;
    throw refuse(request, `use of ${signerName} signer with system:masters group is not allowed`);
  },
});

/** The signer of a bundle cannot be changed, so that either object says it. */
export const clusterTrustBundleAttest: AdmissionPlugin = Object.freeze({
  name: 'ClusterTrustBundleAttest',
  looksAt: kindsOf([GROUP, 'clustertrustbundles']),
  isBuiltIn: true,
  validate(request: AdmissionRequest, view: ClusterView): void {
    const { object, oldObject } = request;
    if (object === undefined || !view.features.enabled('ClusterTrustBundle')) return;
    const { signerName = '' } = (object as unknown as ClusterTrustBundle).spec;
    if (signerName === '') return;
    // Migration of what is stored, and the collector of garbage, vouch for nothing.
    if (oldObject !== undefined && isSameToUsers(object, oldObject)) return;
    if (maySpeakFor(signerName, 'attest', { request, view })) return;
    throw refuse(request, `user not permitted to attest for signerName ${quote(signerName)}`);
  },
});

function asRequest(object: ApiObject | undefined): CertificateSigningRequest {
  return object as unknown as CertificateSigningRequest;
}

/** By the name of the signer, or by its domain: `example.com/*`. */
function maySpeakFor(
  signerName: string,
  verb: string,
  { request, view }: { readonly request: AdmissionRequest; readonly view: ClusterView },
): boolean {
  const [domain = ''] = signerName.split('/');
  return [signerName, `${domain}/*`].some(
    (name) =>
      view.authorize(request.user, {
        type: 'resource',
        verb,
        group: view.dialect.group(GROUP),
        version: '*',
        resource: 'signers',
        subresource: '',
        namespace: '',
        name,
      }).allowed,
  );
}
